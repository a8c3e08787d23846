/* What the page tells of the recorded calls, where they are known. */
"use strict";

/* ---- recorded calls ------------------------------------------------------ */

function flightTable(flight) {
    const count = flight.most.length, rows = [];
    const together = Math.max(1, Math.ceil(count / TABLE_ROWS));
    for (let at = 0; at < count; at += together) {
        const part = (list) => list.slice(at, at + together);
        const means = part(flight.mean);
        rows.push([duration(at * flight.width_ms),
                   whole(Math.min(...part(flight.least))),
                   short(means.reduce((sum, one) => sum + one, 0) /
                         means.length),
                   whole(Math.max(...part(flight.most)))]);
    }
    return tableOf("From each time on, " +
                   duration(together * flight.width_ms),
                   ["from", "least", "mean", "most"], rows);
}

function addInFlight() {
    const flight = curves.calls.in_flight;
    addChart({
        id: "in-flight", title: "Calls in flight over time",
        decision: "Decides how many calls must be served at once, by batch " +
            "size and replicas. " + (flight.most.length
                ? "Each bar is " + duration(flight.width_ms) + " wide; the " +
                  "most is a peak however short." : ""),
        absent: "No call has a start and an end.",
        x: flight.most.map((_, i) => i * flight.width_ms), xName: "From",
        axis: time(), end: flight.most.length * flight.width_ms,
        xLabel: "since the first call", yLabel: "calls at once", value: short,
        bars: {size: [1, Infinity], align: 1}, perTick: 90,
        series: [{name: "most", color: "--s1", values: flight.most},
                 {name: "mean", color: "--s5", values: flight.mean},
                 {name: "least", color: "--s4", values: flight.least}],
        tables: [flightTable(flight)]});
}

function addService() {
    const curve = curves.calls.service, series = [];
    curve.curves.forEach((one, i) => {
        if (one.count > 0)
            series.push({name: i === 0 ? "all calls" : one.name,
                         color: "--s" + i, values: sharesOf(one)});
    });
    if (series.length === 2 && curves.calls.agents === 1)
        series.pop();
    const left = curves.calls.agents - (curve.curves.length - 1);
    const rows = (key) => [["all calls", ...lengthCells(calls[key])],
        ...calls.agents.map((agent) =>
            [agent.name, ...lengthCells(agent[key])])];
    addChart({
        id: "service", title: "Service times",
        decision: "Decides time limits, and how long a call holds its place: " +
            "the share of calls that take at least so long from start to end.",
        absent: "No call has a start and an end.",
        x: series.length ? curve.at : [], xName: "At least",
        axis: log(duration, duration), xLabel: "service time, at least",
        yLabel: "% of calls", yMax: 100, value: percent, series, perTick: 84,
        step: HOLDS_SINCE_LAST,
        remarks: left > 0 ? ["Curves are of the " +
            counted(curve.curves.length - 1, "agent") + " with most calls; " +
            whole(left) + " more have none."] : [],
        tables: [tableOf("Service times, ms", ["agent", ...LENGTHS],
                         rows("service_ms")),
                 tableOf("To the first token, ms", ["agent", ...LENGTHS],
                         rows("first_token_ms"))]});
}

/* ---- sessions as swim lanes ---------------------------------------------- */

const LANE_DEPTH = 16;
const NEVER_ENDED = 1, MADE_AGAIN = 2; // states of a call

/* Each call beside those that it overlaps: the first track that is free. */
function tracksOf(shown) {
    const ends = [];
    return shown.map(([start, end]) => {
        let track = ends.findIndex((one) => one <= start);
        if (track < 0)
            track = ends.length;
        ends[track] = end === null ? start : end;
        return track;
    });
}

function laneFigures(lane) {
    const shown = lane.shown, first = shown[0][0];
    const tracks = tracksOf(shown);
    const last = shown.reduce((most, [start, end]) =>
        Math.max(most, end === null ? start : end), first);
    const count = (state) =>
        shown.filter((one) => one[2] >= state).length;
    return {lane, first, tracks, lasts: last - first,
            atOnce: Math.max(...tracks) + 1,
            ended: count(NEVER_ENDED), again: count(MADE_AGAIN)};
}

function laneText(figure) {
    const parts = [counted(figure.lane.calls, "call"),
                   duration(figure.lasts),
                   figure.atOnce > 1 ? "up to " + figure.atOnce + " at once"
                                     : "one after the other"];
    if (figure.ended > 0)
        parts.push(figure.ended + " never ended");
    if (figure.again > 0)
        parts.push(figure.again + " made again");
    return parts.join(", ");
}

function callText([start, end, state], first) {
    return duration(start - first) + (end === null
        ? state ? ": never ended" + (state === MADE_AGAIN ? ", made again" : "")
                : ": end not known"
        : " to " + duration(end - first) + (state ? ": never ended" : ""));
}

function drawLane(figure, most) {
    const height = Math.min(figure.atOnce, LANE_DEPTH);
    const svg = drawing(height, {class: "lane", role: "img",
        "aria-label": figure.lane.session + ": " + laneText(figure)});
    const across = (ms) => most > 0 ? ACROSS * ms / most : 0;
    svg.style.height = 10 * height + "px";
    // Marks are above the calls that they would be hidden by.
    const order = [...figure.lane.shown.keys()].sort((a, b) =>
        figure.lane.shown[a][2] - figure.lane.shown[b][2]);
    for (const i of order) {
        const call = figure.lane.shown[i], [start, end, state] = call;
        const track = Math.min(figure.tracks[i], LANE_DEPTH - 1);
        svg.append(draws("rect", {
            class: ["call", "failed", "again"][state],
            x: across(start - figure.first), y: track + 0.1,
            // Without a width nothing is drawn, not even its line.
            width: Math.max(0.01, end === null ? 0 : across(end - start)),
            height: state === MADE_AGAIN ? 0.45 : 0.8},
            draws("title", {}, callText(call, figure.first))));
    }
    return svg;
}

function laneRemarks(lanes) {
    const remarks = [], left = curves.calls.sessions - lanes.length;
    const cut = lanes.filter((lane) => lane.calls > lane.shown.length);
    if (left > 0)
        remarks.push("The " + counted(lanes.length, "session") +
                     " with most calls, of " + whole(curves.calls.sessions) +
                     ".");
    if (cut.length > 0)
        remarks.push("Of " + counted(cut.length, "session") +
                     " with more calls than that, the first " +
                     whole(cut[0].shown.length) + " are drawn and counted.");
    return remarks;
}

function addLanes() {
    const lanes = curves.calls.lanes;
    const section = addSection("lanes", "Sessions as swim lanes",
        "Decides whether a session needs one place or several at once, and " +
        "how long its cache waits between calls. Each from its own start, " +
        "calls that overlap below each other.");
    if (lanes.length === 0) {
        section.append(make("p", {class: "faint"}, "No call has a start."));
        return;
    }
    const found = lanes.map(laneFigures);
    const most = Math.max(...found.map((figure) => figure.lasts));
    const list = make("div", {class: "lanes"});
    for (const figure of found)
        list.append(
            make("span", {class: "name", title: figure.lane.session},
                 figure.lane.session),
            make("div", {}, drawLane(figure, most),
                 make("span", {class: "faint"}, laneText(figure))));
    list.append(make("span"), make("div", {class: "ticks faint"},
        ...[0, 0.5, 1].map((part) => make("span", {}, duration(part * most)))));
    const legend = make("p", {class: "legend"});
    for (const [kind, text] of [["call", "a call"], ["failed", "never ended"],
                                ["again", "never ended, made again"]])
        legend.append(make("span", {class: "key " + kind}), text + " ");
    section.append(legend, list);
    for (const remark of laneRemarks(lanes))
        section.append(make("p", {class: "faint"}, remark));
    addTables(section, [tableOf("Sessions with most calls", ["session",
        "calls", "drawn", "begins", "lasts", "at once", "never ended",
        "made again"], found.map((figure) => [figure.lane.session,
            whole(figure.lane.calls), whole(figure.lane.shown.length),
            duration(figure.first), duration(figure.lasts),
            whole(figure.atOnce), whole(figure.ended), whole(figure.again)]))]);
}

/* ---- what was counted, cached and lost ----------------------------------- */

const MOST_BARS = 9; // all calls, and agents
const LEAST_OFF = 5; // %, a whole bar: what is next to nothing looks so

function callGroups(isTold) {
    return [Object.assign({}, calls, {name: "all calls"}), ...calls.agents]
        .filter(isTold);
}

function addRecordedCache() {
    const groups = callGroups((one) => one.recorded_cache.calls > 0);
    const section = addSection("recorded-cache",
        "Recorded cached share beside ours",
        "Decides what a better cache or routing could still gain: the " +
        "server's cache as it told, and what a prefix cache without limits " +
        "serves of the same rows.");
    if (groups.length === 0) {
        section.append(make("p", {class: "faint"},
            "No call with a row tells what the server's cache had."));
        return;
    }
    section.append(...barsOf(groups.slice(0, MOST_BARS).map((one) =>
        [one.name, [100 * one.recorded_cache.share,
                    100 * one.recorded_cache.own_share]]),
        [["recorded", "s1"], ["ours", "s2"]], 100, percent));
    addTables(section, [tableOf("Cached prompt tokens by agent", ["agent",
        "calls", "recorded", "ours", "prompt tokens", "cached tokens",
        "served tokens"], groups.map((one) => [one.name,
            whole(one.recorded_cache.calls),
            percent(100 * one.recorded_cache.share),
            percent(100 * one.recorded_cache.own_share),
            whole(one.recorded_cache.prompt_tokens),
            whole(one.recorded_cache.cached_tokens),
            whole(one.recorded_cache.own_tokens)]))]);
}

function addCounts() {
    const groups = callGroups((one) => one.counts.calls > 0);
    const off = ({counts}) => counts.recorded_tokens
        ? 100 * counts.difference_tokens / counts.recorded_tokens : 0;
    const section = addSection("counts", "Own count against usage",
        "Decides whether rows are as long as what the server saw: where the " +
        "counts are apart, tokenizer, chat template or tools are others than " +
        "the recorded ones.");
    if (groups.length === 0) {
        section.append(make("p", {class: "faint"},
            "Of no call with a row the server's count is known."));
        return;
    }
    const shown = groups.slice(0, MOST_BARS).map((one) =>
        [one.name, [off(one)]]);
    section.append(
        make("p", {class: "faint"}, "Tokens that the counts differ by, % of " +
             "what the server counted."),
        ...barsOf(shown, [["off", "s1"]],
                  Math.max(LEAST_OFF, ...shown.map((row) => row[1][0])),
                  percent));
    const ppm = (value) => percent(value / 1e4);
    addTables(section, [tableOf("Counts by agent", ["agent", "calls",
        "recorded tokens", "own tokens", "off", "differing", "median",
        "p90", "max"], groups.map((one) => [one.name, whole(one.counts.calls),
            whole(one.counts.recorded_tokens), whole(one.counts.own_tokens),
            percent(off(one)), whole(one.counts.differing),
            ...["p50", "p90", "max"].map((key) =>
                ppm(one.counts.difference[key]))]))]);
}

function addLosses() {
    const rows = calls.without_row.map((one) =>
        ["calls " + one.text, one.calls]);
    const more = [["records that could not be read", calls.lost_records],
                  ["sessions that were cut off", calls.cut_sessions],
                  ["lines that are no calls", calls.lost_lines],
                  ["lines that are no rows", figures.lost_lines]];
    rows.push(...more.filter(([, count]) => count > 0));
    const section = addSection("losses", "What was lost",
        "Decides whether a replay of the rows is the recorded load: what has " +
        "no row makes none.");
    section.append(...(rows.length === 0
        ? [make("p", {class: "faint"}, "Nothing: every call has a row.")]
        : barsOf(rows.map(([name, count]) => [name, [count]]),
                 [["calls", "s2"]],
                 Math.max(...rows.map(([, count]) => count)), whole)));
    const states = [["calls", calls.calls], ["calls with a row", calls.rows],
                    ["never ended", calls.never_ended],
                    ["of them made again", calls.tried_again],
                    ["began before one before had ended", calls.overlaps],
                    ["without a known start and end", calls.timeless],
                    ["whose row is another", calls.unfit]];
    const cells = (list) => list.map(([name, count]) => [name, whole(count)]);
    addTables(section, [tableOf("Lost", ["what", "count"], cells(rows)),
                        tableOf("Calls", ["which", "count"], cells(states))]);
}

function addCallers() {
    const section = addSection("callers", "Calls by agent and model",
        "Decides which agents and models are slow or fail, and to look at " +
        "first.");
    for (const [kind, groups, count] of [
        ["agent", calls.agents, curves.calls.agents],
        ["model", calls.models, curves.calls.models]]) {
        if (groups.length === 0) {
            section.append(make("p", {class: "faint"},
                                "No call names its " + kind + "."));
            continue;
        }
        if (count > groups.length)
            section.append(make("p", {class: "faint"},
                "The " + counted(groups.length, kind) +
                " with most calls, of " + whole(count) + "."));
        section.append(tableOf("By " + kind + ", times in ms", [kind, "calls",
            "without row", "never ended", "made again", "service p50",
            "service p90", "first token p50"],
            groups.map((one) => [one.name, whole(one.calls),
                whole(one.calls - one.rows), whole(one.never_ended),
                whole(one.tried_again), whole(one.service_ms.p50),
                whole(one.service_ms.p90), whole(one.first_token_ms.p50)])));
    }
}

function addCalls() {
    addInFlight();
    addService();
    addLanes();
    addRecordedCache();
    addCounts();
    addLosses();
    addCallers();
}
