/* What the page tells of the rows. All was counted before (analysis_page.h);
 * here it is only drawn. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const figures = data.figures;
const curves = data.curves;
const calls = figures.calls; // null: only the rows are known

/* ---- what the figures are of --------------------------------------------- */

const shareOf = (tokens) =>
    figures.prompt_tokens ? 100 * tokens / figures.prompt_tokens : 0;

function addHead() {
    const name = figures.path === "-" ? "standard input" : figures.path;
    const more = figures.files > 1
        ? " and " + counted(figures.files - 1, "more file") : "";
    document.title = name + " – tracebake analyze";
    document.getElementById("title").textContent = name + more;
    document.getElementById("about").textContent =
        counted(figures.rows, "row") + " in " +
        counted(figures.sessions, "session") + "; blocks of " +
        counted(figures.block_size, "token") +
        {given: "", meta: ", as FILE.meta.json says",
         guess: ", which fits the first rows",
         default: ", unless options say otherwise"}[
            figures.block_size_origin] + "; rows " +
        (figures.row_meaning === "delta"
            ? "hold what a turn adds to its session" : "are whole prompts") +
        {given: "", meta: ", as FILE.meta.json says",
         default: ", unless options say otherwise"}[
            figures.row_meaning_origin] + ".";
}

function notes() {
    const found = [];
    const note = (count, one, many) => {
        if (count > 0)
            found.push(whole(count) + " " + (count === 1 ? one : many));
    };
    note(figures.lost_lines, "line is no row and was lost.",
         "lines are no rows and were lost.");
    note(figures.lengthless_rows,
         "row without an input_length is left out of all figures.",
         "rows without an input_length are left out of all figures.");
    note(figures.unfit_rows,
         "row has more or fewer ids than blocks: shares are not what they " +
         "seem unless the block size is right.",
         "rows have more or fewer ids than blocks: shares are not what they " +
         "seem unless the block size is right.");
    note(figures.idless_rows, "row has no ids, so that no cache serves it.",
         "rows have no ids, so that no cache serves them.");
    note(figures.negative_times, "gap below 0 between turns is left out.",
         "gaps below 0 between turns are left out.");
    if (calls) {
        note(calls.unfit,
             "call has a row that is not there, or is not as long: are these " +
             "the calls of these rows?",
             "calls have rows that are not there, or are not as long: are " +
             "these the calls of these rows?");
        note(calls.timeless,
             "call has no known start and end: it is left out of times.",
             "calls have no known start and end: they are left out of times.");
    }
    for (const text of found)
        main.append(make("p", {class: "note", role: "note"}, text));
}

function tiles() {
    const cache = figures.prefix_cache;
    const shown = [
        ["Rows", whole(figures.rows)],
        ["Sessions", whole(figures.sessions)],
        ["Prompt tokens", whole(figures.prompt_tokens)],
        ["Prompt, p50", whole(figures.prompt_length.p50)],
        ["Prompt, p90", whole(figures.prompt_length.p90)],
        ["Output, p50", figures.output_length.count
            ? whole(figures.output_length.p50) : "–"],
        ["Output, p90", figures.output_length.count
            ? whole(figures.output_length.p90) : "–"],
        ["A cache without limits serves", percent(100 * cache.share)],
        ["LRU blocks for 90 % of it",
         whole(figures.working_set.blocks_for_90)],
        ["Had by the same session", percent(shareOf(cache.same_session))]];
    if (calls)
        shown.push(["Calls", whole(calls.calls)],
                   ["Calls at once, most", whole(calls.in_flight.most)],
                   ["Service, p50", calls.service_ms.count
                       ? duration(calls.service_ms.p50) : "–"],
                   ["Calls without a row", whole(calls.calls - calls.rows)]);
    const list = make("dl", {class: "tiles"});
    for (const [name, value] of shown)
        list.append(make("div", {}, make("dt", {}, name),
                         make("dd", {}, value)));
    main.append(list);
}

/* ---- prefix cache -------------------------------------------------------- */

function gibOf(size) {
    return size.gib === null ? "–" : fine.format(size.gib);
}

function cacheTables() {
    const cache = figures.prefix_cache, set = figures.working_set;
    const rows = [...figures.cache_sizes, ...figures.chosen_sizes]
        .sort((a, b) => a.blocks - b.blocks)
        .map((size) => [whole(size.blocks), gibOf(size),
                        percent(100 * size.share), whole(size.tokens)]);
    const parts = [["same session", cache.same_session],
                   ["other sessions of the same agent", cache.same_agent],
                   ["other agents only", cache.other_agents],
                   ["all", cache.tokens]].map(
        ([name, tokens]) => [name, percent(shareOf(tokens)), whole(tokens)]);
    const needs = [["90 %", set.blocks_for_90], ["99 %", set.blocks_for_99],
                   ["all", set.blocks_for_all],
                   ["distinct blocks of the trace", set.blocks]].map(
        ([name, blocks]) => [name, whole(blocks)]);
    return [
        tableOf("By cache size, LRU", ["blocks", "GiB", "served", "tokens"],
                rows),
        tableOf("Served without limits, by who had it before",
                ["had by", "served", "tokens"], parts),
        tableOf("Smallest cache that serves a part of that",
                ["part", "blocks"], needs),
        tableOf("Hit rates as others count them", ["name", "share"],
                Object.entries(figures.hit_rates).map(
                    ([name, share]) => [name, share.toFixed(4)]))];
}

function addCache() {
    const curve = curves.caches[0], cache = figures.prefix_cache;
    const level = (name, tokens, color) => ({
        name, color, isReference: true,
        values: curve.blocks.map(() => shareOf(tokens))});
    const known = figures.cache_sizes.find((size) => size.gib);
    addChart({
        id: "cache", title: "Share served against cache size",
        decision: "Decides how much KV cache is worth its memory: behind the " +
            "bend more blocks serve little. What the same session had is the " +
            "most that routing by session can serve.",
        absent: "No prompt begins like an earlier one: no cache serves " +
            "anything.",
        x: curve.blocks, xName: "Blocks", axis: log(whole),
        xLabel: "blocks in an LRU cache", yLabel: "served, % of prompt tokens",
        upper: known && {label: "GiB", factor: known.gib / known.blocks},
        yMax: 100, value: percent, step: HOLDS_UP_TO_NEXT,
        series: [
            {name: "LRU cache", color: "--s1",
             values: curve.tokens.map(shareOf)},
            level("same session", cache.same_session, "--s3"),
            level("same session or agent",
                  cache.same_session + cache.same_agent, "--s4"),
            level("without limits", cache.tokens, "--s2")],
        tables: cacheTables()});
}

function addBlockSizes() {
    const sizes = [{block_size: figures.block_size,
                    tokens: figures.prefix_cache.tokens,
                    share: figures.prefix_cache.share,
                    blocks: figures.working_set.blocks},
                   ...figures.block_sizes]
        .sort((a, b) => a.block_size - b.block_size);
    addChart({
        id: "block-size", title: "Share served against block size",
        decision: "Decides the block size: larger blocks are fewer to keep " +
            "account of, and serve less of prompts that part in their middle.",
        absent: "Only the rows' own block size was asked for: --block-sizes " +
            "N,N,.. adds multiples of it.",
        x: sizes.length > 1 ? sizes.map((_, i) => i) : [],
        xName: "Block size",
        axis: ordinal(sizes.map((size) => whole(size.block_size))),
        xLabel: "tokens in a block", yLabel: "served, % of prompt tokens",
        yMax: 100, value: percent, hasPoints: true, perTick: 44,
        series: [{name: "without limits", color: "--s1",
                  values: sizes.map((size) => 100 * size.share)}],
        tables: [tableOf("By block size", ["tokens in a block", "served",
                                           "tokens", "distinct blocks"],
            sizes.map((size) => [whole(size.block_size),
                                 percent(100 * size.share),
                                 whole(size.tokens), whole(size.blocks)]))]});
}

function addPrefixes() {
    const list = figures.shared_prefixes;
    addChart({
        id: "prefixes", title: "Shared prefixes that save most",
        decision: "Decides which beginnings of prompts (system prompts, " +
            "tools, documents) to keep in the cache, or to warm it with.",
        absent: "No two sessions have a beginning in common.",
        x: list.map((_, i) => i), xName: "Prefix",
        axis: ordinal(list.map((_, i) => whole(i + 1))),
        xLabel: "prefix, as in the table", yLabel: "tokens saved",
        value: whole, bars: {size: [0.7, 80]}, perTick: 30,
        series: [{name: "saved tokens", color: "--s1",
                  values: list.map((prefix) => prefix.saved_tokens)}],
        tables: [tableOf("Shared prefixes", ["prefix", "first in row", "rows",
            "tokens", "blocks", "saved tokens", "agent"],
            list.map((prefix, i) => [whole(i + 1), whole(prefix.first_row), whole(prefix.rows),
                whole(prefix.tokens), whole(prefix.blocks),
                whole(prefix.saved_tokens), prefix.agent || "–"]))]});
}

/* ---- lengths ------------------------------------------------------------- */

const LENGTHS = ["count", "min", "mean", "p50", "p90", "p99", "max"];
const lengthCells = (length) => LENGTHS.map((key) => whole(length[key]));

function addTurns() {
    const turns = figures.turns;
    const names = turns.map((turn) => turn.first === turn.last
        ? whole(turn.first) : whole(turn.first) + "–" + whole(turn.last));
    const line = (name, length, key, color) => ({
        name, color, values: turns.map((turn) => turn[length][key])});
    addChart({
        id: "turns", title: "Prompt tokens against turn",
        decision: "Decides the longest context a server must take and how " +
            "many turns fit: new tokens are what is left to compute when " +
            "all that was seen before is cached.",
        absent: "There are no rows.",
        x: turns.map((_, i) => i), xName: "Turn", axis: ordinal(names),
        xLabel: "turn of the session", yLabel: "tokens", value: whole,
        hasPoints: true, perTick: 56,
        series: [line("prompt, p90", "prompt_length", "p90", "--s2"),
                 line("prompt, p50", "prompt_length", "p50", "--s1"),
                 line("new, p90", "new_length", "p90", "--s5"),
                 line("new, p50", "new_length", "p50", "--s3")],
        tables: [tableOf("By turn", ["turn", "rows", "served", "prompt p50",
            "prompt p90", "prompt p99", "new p50", "new p90", "output p50"],
            turns.map((turn, i) => [names[i], whole(turn.rows),
                percent(100 * turn.share), whole(turn.prompt_length.p50),
                whole(turn.prompt_length.p90), whole(turn.prompt_length.p99),
                whole(turn.new_length.p50), whole(turn.new_length.p90),
                whole(turn.output_length.p50)])),
            tableOf("Turns per session", LENGTHS,
                    [lengthCells(figures.turns_per_session)])]});
}

/* Of what is counted, how much is at least as large as each point. */
const sharesOf = (curve) =>
    curve.rows.map((rows) => 100 * rows / curve.count);

/* Share of rows that are at least so long, for all rows and by agent. */
function addLengths(key, id, title, decision) {
    const curve = curves[key];
    const series = [];
    curve.curves.forEach((one, i) => {
        if (one.count > 0)
            series.push({name: i === 0 ? "all rows" : one.name,
                         color: "--s" + i,
                         values: sharesOf(one)});
    });
    // With one agent its curve is the curve of all rows.
    if (series.length === 2 && curves.agents === 1)
        series.pop();
    const rows = [["all rows", ...lengthCells(figures[key])]];
    for (const agent of figures.agents)
        rows.push([agent.name || "–", ...lengthCells(agent[key])]);
    const left = curves.agents - (curve.curves.length - 1);
    addChart({
        id, title, decision, absent: "No row has this length.",
        x: series.length ? curve.at : [], xName: "At least",
        axis: log((v) => counted(v, "token")), xLabel: "tokens, at least",
        yLabel: "% of rows", yMax: 100, value: percent, series,
        step: HOLDS_SINCE_LAST,
        remarks: left > 0 ? ["Curves are of the " +
            counted(curve.curves.length - 1, "agent") + " with most rows; " +
            whole(left) + " more have none."] : [],
        tables: [tableOf(title, ["agent", ...LENGTHS], rows)]});
}

/* ---- time ---------------------------------------------------------------- */

const TABLE_ROWS = 32;

/* Bins of the table: neighbours together, so that it can be read. */
function timeTable() {
    const times = curves.times, count = times.rows.length;
    const together = Math.max(1, Math.ceil(count / TABLE_ROWS));
    const sum = (list, at) => list.slice(at, at + together)
        .reduce((all, value) => all + value, 0);
    const rows = [];
    for (let at = 0; at < count; at += together)
        rows.push([duration(at * times.width_ms), whole(sum(times.rows, at)),
                   whole(sum(times.prompt_tokens, at)),
                   whole(sum(times.new_tokens, at)),
                   whole(Math.max(...times.sessions.slice(at, at + together)))
        ]);
    return tableOf("From each time on, " + duration(together * times.width_ms),
                   ["from", "rows", "prompt tokens", "new tokens",
                    "sessions, most"], rows);
}

function timeChart(chart) {
    const times = curves.times;
    addChart(Object.assign({
        absent: "Rows have no timestamps.",
        x: times.rows.map((_, i) => i * times.width_ms), xName: "From",
        axis: time(),
        end: times.rows.length * times.width_ms,
        xLabel: "since the first row", value: short,
        bars: {size: [1, Infinity], align: 1}, perTick: 90,
        tables: [timeTable()]}, chart));
}

function addTimes() {
    const times = curves.times;
    const perSecond = (values) =>
        values.map((value) => value * 1000 / times.width_ms);
    const width = duration(times.width_ms);
    timeChart({
        id: "calls", title: "Calls over time",
        decision: "Decides the request rate that must be borne at the worst " +
            "moment, not on average." +
            (times.rows.length ? " Each bar is " + width + " wide." : ""),
        yLabel: "calls started per s",
        series: [{name: "calls per s", color: "--s1",
                  values: perSecond(times.rows)}]});
    if (times.rows.length === 0)
        return;
    timeChart({
        id: "tokens", title: "Prompt tokens over time",
        decision: "Decides how many tokens of prefill a second are needed: " +
            "all of them without a cache, the new ones with one.",
        yLabel: "tokens per s",
        series: [{name: "prompt tokens per s", color: "--s6",
                  values: perSecond(times.prompt_tokens)},
                 {name: "new tokens per s", color: "--s2",
                  values: perSecond(times.new_tokens)}]});
    if (figures.sessions === figures.rows)
        return;
    timeChart({
        id: "open", title: "Sessions open over time",
        decision: "Decides how many sessions a server keeps caches for at " +
            "once. A session is open from its first row to its last" +
            (calls ? "." : "; rows hold no durations, so that calls in " +
                           "flight are known with --calls only."),
        yLabel: "sessions", value: whole,
        series: [{name: "open sessions", color: "--s3",
                  values: times.sessions}]});
}

function addGaps() {
    const curve = curves.gaps, colors = ["--s1", "--s2", "--s3"];
    const series = [];
    curve.curves.forEach((one, i) => {
        if (one.count > 0)
            series.push({name: one.name, color: colors[i],
                         values: sharesOf(one)});
    });
    addChart({
        id: "gaps", title: "Gaps between turns",
        decision: "Decides how long a session's blocks must stay cached until " +
            "its next turn asks for them. Delay: from an answer to the next " +
            "turn, as rows say; interval: between timestamps" +
            (calls ? "; recorded: from the end of the calls before in the " +
                     "session to a start." : "."),
        absent: "Rows have neither delays nor timestamps within a session.",
        x: series.length ? curve.at : [], xName: "At least",
        axis: log(duration, duration), xLabel: "gap, at least",
        yLabel: "% of gaps", yMax: 100, value: percent, series, perTick: 84,
        step: HOLDS_SINCE_LAST,
        tables: [tableOf("Gaps, ms", ["gap", ...LENGTHS],
            [["delay", ...lengthCells(figures.delay_ms)],
             ["interval", ...lengthCells(figures.interval_ms)],
             ...(calls ? [["recorded", ...lengthCells(calls.gap_ms)]]
                       : [])])]});
}

/* ---- groups -------------------------------------------------------------- */

function addGroups(id, title, decision, groups, count) {
    if (groups.length === 0)
        return;
    const section = addSection(id, title, decision);
    if (count > groups.length)
        section.append(make("p", {class: "faint"},
            "The " + whole(groups.length) + " with most rows, of " +
            whole(count) + "."));
    addTables(section, [tableOf(title, ["name", "rows", "served", "prompt p50",
        "prompt p90", "new p50", "new p90", "output p50", "output p90"],
        groups.map((group) => [group.name, whole(group.rows),
            percent(100 * group.share), whole(group.prompt_length.p50),
            whole(group.prompt_length.p90), whole(group.new_length.p50),
            whole(group.new_length.p90), whole(group.output_length.p50),
            whole(group.output_length.p90)]))], true);
}
