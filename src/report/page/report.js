/* The page of `tracebake analyze --report`: charts and tables of the data that
 * stands in it. What is counted was counted before (analysis_page.h); here it
 * is only drawn. Texts of the data reach the page by textContent and nothing
 * else, since they are names out of somebody's trace. */
(function () {
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const figures = data.figures;
const curves = data.curves;
const calls = figures.calls; // null: only the rows are known
const main = document.getElementById("main");

/* ---- texts --------------------------------------------------------------- */

const grouping = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});
const compact = new Intl.NumberFormat("en-US", {
    notation: "compact", maximumSignificantDigits: 3});
const fine = new Intl.NumberFormat("en-US", {maximumSignificantDigits: 3});

const whole = (value) => grouping.format(value);
const short = (value) =>
    Math.abs(value) >= 1e15 ? value.toExponential(2)
    : value === 0 || Math.abs(value) >= 1 ? compact.format(value)
    : fine.format(value);
const percent = (value) => value.toFixed(1) + "\u00a0%";
const counted = (value, noun) =>
    whole(value) + " " + noun + (value === 1 ? "" : "s");

/* 1,500 -> "1.5 s" */
function duration(ms) {
    const units = [[1, "ms", 1e3], [1e3, "s", 120e3], [60e3, "min", 7200e3],
                   [3600e3, "h", 172800e3], [86400e3, "d", Infinity]];
    const [size, unit] = units.find(([, , end]) => ms < end);
    return short(ms / size) + "\u00a0" + unit;
}

/* ---- elements ------------------------------------------------------------ */

function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        element.setAttribute(name, value);
    element.append(...children);
    return element;
}

function tableOf(caption, head, rows) {
    const top = make("tr");
    for (const text of head)
        top.append(make("th", {scope: "col"}, text));
    const body = make("tbody");
    for (const row of rows) {
        const line = make("tr", {},
            make("th", {scope: "row", title: String(row[0])}, String(row[0])));
        for (const cell of row.slice(1))
            line.append(make("td", {}, String(cell)));
        body.append(line);
    }
    const table = make("table", {}, make("caption", {}, caption),
                       make("thead", {}, top), body);
    // It scrolls, so that it must be reachable by keyboard.
    return make("div", {class: "scroll", tabindex: "0", role: "region",
                        "aria-label": caption}, table);
}

function addSection(id, title, decision) {
    const section = make("section", {id, "aria-labelledby": id + "-title"},
        make("h2", {id: id + "-title"}, title),
        make("p", {class: "decision", id: id + "-decision"}, decision));
    main.append(section);
    document.getElementById("contents").append(
        make("li", {}, make("a", {href: "#" + id}, title)));
    return section;
}

function addTables(section, tables, isOpen) {
    const details = make("details", {}, make("summary", {},
        tables.length > 1 ? "Tables" : "Table"), ...tables);
    details.open = isOpen === true;
    section.append(details);
}

function say(text) {
    document.getElementById("said").textContent = text;
}

/* ---- scales -------------------------------------------------------------- */

/* A logarithmic axis is a linear one of logarithms: zooming and moving are
 * then the same for all charts. */
function niceStep(span, most) {
    const rough = span / most;
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    for (const factor of [1, 2, 5])
        if (factor * power >= rough)
            return factor * power;
    return 10 * power;
}

function linearTicks(min, max, most) {
    const step = niceStep(max - min, most);
    const ticks = [];
    for (let i = Math.ceil(min / step - 1e-9); i * step <= max; i++)
        ticks.push(i * step + 0); // never -0
    return ticks;
}

/* Steps that people count time in. */
function timeTicks(min, max, most) {
    const steps = [1e3, 2e3, 5e3, 10e3, 20e3, 30e3, 60e3, 120e3, 300e3, 600e3,
                   1200e3, 1800e3, 3600e3, 7200e3, 14400e3, 21600e3, 43200e3,
                   86400e3];
    const rough = (max - min) / most;
    if (rough < steps[0] / 2 || rough > steps[steps.length - 1])
        return linearTicks(min, max, most);
    const step = steps.find((one) => one >= rough);
    const ticks = [];
    for (let i = Math.ceil(min / step - 1e-9); i * step <= max; i++)
        ticks.push(i * step + 0);
    return ticks;
}

/* Ticks of values whose log2 lies from `min` to `max`; as logarithms. */
function logTicks(min, max, most) {
    const low = Math.pow(2, min), high = Math.pow(2, max);
    if (high / low < 8)
        return linearTicks(low, high, most).filter((v) => v > 0)
            .map(Math.log2);
    let ticks = [];
    for (const factors of [[1], [1, 3], [1, 2, 5]]) {
        const denser = [];
        for (let power = Math.floor(Math.log10(low));
             Math.pow(10, power) <= high; power++)
            for (const factor of factors) {
                const value = factor * Math.pow(10, power);
                if (value >= low * 0.999 && value <= high * 1.001)
                    denser.push(Math.log2(value));
            }
        if (denser.length > most && ticks.length > 1)
            break;
        ticks = denser;
    }
    const every = Math.ceil(ticks.length / most);
    return ticks.filter((_, i) => i % every === 0);
}

/* How an x axis is laid out, labelled and told: `place` puts a value on it,
 * `text` tells it, `tick` labels it. */
const log = (text, tick) => ({
    place: Math.log2, text,
    splits: logTicks, tick: (v) => (tick || short)(Math.pow(2, v))});
const time = () => ({
    place: (v) => v, text: duration, splits: timeTicks, tick: duration});
const ordinal = (names) => ({
    place: (v) => v, text: (v) => names[v], pad: 0.5,
    splits: (min, max, most) => {
        const every = Math.max(1, Math.ceil((max - min) / most));
        return names.map((_, i) => i).filter(
            (i) => i % every === 0 && i >= min && i <= max);
    },
    tick: (v) => names[v]});

/* ---- charts -------------------------------------------------------------- */

const charts = [];
const css = (name) => getComputedStyle(document.documentElement)
    .getPropertyValue(name).trim();
const HOLDS_UP_TO_NEXT = 1, HOLDS_SINCE_LAST = -1; // as uPlot has it
const PER_TICK = {x: 72, y: 44}; // pixels
const WIDTH_OF_Y = 64;

function fullRange(chart) {
    const pad = chart.axis.pad || 0;
    const first = chart.axis.place(chart.x[0]);
    const last = chart.end !== undefined
        ? chart.end : chart.axis.place(chart.x[chart.x.length - 1]);
    return last > first || pad > 0 ? [first - pad, last + pad]
                                   : [first - 0.5, last + 0.5];
}

function seriesOf(chart, series) {
    const made = {
        label: series.name,
        stroke: () => css(series.color),
        width: series.isReference ? 1.5 : 2,
        points: {show: Boolean(chart.hasPoints), size: 7,
                 fill: () => css(series.color)},
        value: (_, value) => value === null || value === undefined
            ? "–" : chart.value(value)};
    if (series.isReference) {
        made.dash = [6, 4];
        made.points = {show: false};
    }
    // Between two points nothing is known but their order: the curve takes
    // the lower one, and jumps where whole numbers do.
    if (chart.step)
        made.paths = uPlot.paths.stepped({align: chart.step});
    if (chart.bars) {
        made.paths = uPlot.paths.bars(chart.bars);
        made.fill = () => css(series.color);
        made.width = 0;
        made.points = {show: false};
    }
    return made;
}

function axisOf(chart, isX) {
    const stroke = () => css("--faint");
    const grid = {stroke: () => css("--grid"), width: 1};
    const made = {stroke, grid, ticks: grid, font: "13px system-ui, sans-serif",
                  labelFont: "13px system-ui, sans-serif",
                  label: isX ? chart.xLabel : chart.yLabel, labelSize: 20};
    if (isX) {
        made.size = 34;
        made.splits = (u, _, min, max) => chart.axis.splits(min, max,
            Math.max(2, Math.floor(u.bbox.width / devicePixelRatio /
                                   (chart.perTick || PER_TICK.x))));
        made.values = (_, splits) => splits.map(chart.axis.tick);
    } else {
        made.size = WIDTH_OF_Y;
        made.splits = (u, _, min, max) => linearTicks(min, max,
            Math.max(2, Math.floor(u.bbox.height / devicePixelRatio /
                                   PER_TICK.y)));
        made.values = (_, splits) => splits.map(chart.yTick || short);
    }
    return made;
}

/* A second x axis, above: the same places in another unit. */
function upperAxisOf(chart) {
    const {label, factor} = chart.upper;
    const shift = Math.log2(factor);
    const made = axisOf(chart, true);
    return Object.assign(made, {
        side: 0, scale: "x", label, grid: {show: false},
        splits: (u, _, min, max) => logTicks(min + shift, max + shift,
            Math.max(2, Math.floor(u.bbox.width / devicePixelRatio /
                                   PER_TICK.x))).map((v) => v - shift),
        values: (_, splits) =>
            splits.map((v) => short(Math.pow(2, v + shift)))});
}

function yRange(chart, max) {
    if (chart.yMax !== undefined)
        return [0, chart.yMax];
    return [0, max > 0 ? max * 1.08 : 1];
}

function draw(chart) {
    if (chart.plot)
        chart.plot.destroy();
    const options = {
        width: chart.box.clientWidth, height: heightOf(chart),
        cursor: {drag: {x: true, y: false, dist: 4},
                 points: {size: 9}, focus: {prox: 24}},
        focus: {alpha: 0.45},
        legend: {live: true},
        scales: {
            x: {time: false,
                range: (u, min, max) => chart.range
                    ? clamp(chart, [min, max]) : fullRange(chart)},
            y: {range: (u, min, max) => yRange(chart, max)}},
        axes: [axisOf(chart, true), axisOf(chart, false)],
        series: [{label: chart.xName,
                  value: (u, value, _, i) =>
                      i === null || i === undefined
                          ? "–" : chart.axis.text(chart.x[i])}],
        hooks: {setScale: [(u, key) => {
            if (key === "x")
                chart.range = [u.scales.x.min, u.scales.x.max];
        }]}};
    for (const series of chart.series)
        options.series.push(seriesOf(chart, series));
    if (chart.upper)
        options.axes.push(upperAxisOf(chart));
    const columns = [chart.x.map(chart.axis.place),
                     ...chart.series.map((series) => series.values)];
    chart.plot = new uPlot(options, columns, chart.box);
    chart.plot.over.addEventListener("dblclick", () => zoomTo(
        chart, fullRange(chart)));
    makeLegendReachable(chart);
}

function heightOf(chart) {
    return (chart.box.clientWidth < 520 ? 250 : 330) + (chart.upper ? 40 : 0);
}

/* The legend's entries turn lines on and off; by keyboard too. */
function makeLegendReachable(chart) {
    const entries = chart.plot.root.querySelectorAll(".u-legend .u-series");
    chart.plot.root.querySelector(".u-legend").setAttribute(
        "role", "presentation");
    entries.forEach((entry, i) => {
        if (i === 0)
            return;
        const head = entry.querySelector("th");
        const isShown = () => chart.plot.series[i].show;
        const mark = () => head.setAttribute("aria-pressed", isShown());
        head.setAttribute("tabindex", "0");
        head.setAttribute("role", "button");
        head.setAttribute("title", "Show or hide " +
                          chart.series[i - 1].name);
        head.addEventListener("click", mark);
        head.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" && event.key !== " ")
                return;
            event.preventDefault();
            chart.plot.setSeries(i, {show: !isShown()});
            mark();
        });
        mark();
    });
}

/* ---- moving about -------------------------------------------------------- */

function clamp(chart, [min, max]) {
    const [low, high] = fullRange(chart);
    const span = Math.min(max - min, high - low);
    const from = Math.min(Math.max(min, low), high - span);
    return [from, from + span];
}

function zoomTo(chart, range) {
    const [min, max] = clamp(chart, range);
    chart.range = [min, max];
    chart.plot.setScale("x", {min, max});
}

function zoomBy(chart, factor) {
    const {min, max} = chart.plot.scales.x;
    const index = chart.plot.cursor.idx;
    const held = index === null || index === undefined ||
        chart.plot.cursor.left < 0
        ? (min + max) / 2 : chart.plot.data[0][index];
    const least = (fullRange(chart)[1] - fullRange(chart)[0]) / 1024;
    const wanted = Math.max((max - min) * factor, least) / (max - min);
    zoomTo(chart, [held - (held - min) * wanted, held + (max - held) * wanted]);
    say(chart.title + ": " + shownRange(chart));
}

function shownRange(chart) {
    const {min, max} = chart.plot.scales.x;
    const shown = chart.x.filter((value) => {
        const place = chart.axis.place(value);
        return place >= min && place <= max;
    });
    if (shown.length === 0)
        return "between two points";
    return "from " + chart.axis.text(shown[0]) + " to " +
        chart.axis.text(shown[shown.length - 1]);
}

function point(chart, index) {
    const plot = chart.plot, place = plot.data[0][index];
    const {min, max} = plot.scales.x;
    if (place < min || place > max) {
        const half = (max - min) / 2;
        zoomTo(chart, [place - half, place + half]);
    }
    chart.index = index;
    // The range is applied in a microtask; the place is known after it.
    queueMicrotask(() => {
        plot.setCursor({left: plot.valToPos(place, "x"),
                        top: plot.over.clientHeight / 2});
        say(told(chart, index));
    });
}

/* What stands at a point, in words. */
function told(chart, index) {
    const parts = [];
    chart.series.forEach((series, i) => {
        const value = series.values[index];
        if (chart.plot.series[i + 1].show && value !== null &&
            value !== undefined)
            parts.push(series.name + " " + chart.value(value));
    });
    return chart.xName + " " + chart.axis.text(chart.x[index]) + ": " +
        parts.join(", ");
}

function onKey(chart, event) {
    if (event.ctrlKey || event.metaKey || event.altKey ||
        event.target !== chart.box)
        return;
    const last = chart.x.length - 1;
    const at = chart.index === undefined ? -1 : chart.index;
    const by = event.shiftKey ? 10 : 1;
    const actions = {
        ArrowRight: () => point(chart, Math.min(last, at + by)),
        ArrowLeft: () => point(chart, Math.max(0, at < 0 ? last : at - by)),
        Home: () => point(chart, 0),
        End: () => point(chart, last),
        "+": () => zoomBy(chart, 0.5),
        "=": () => zoomBy(chart, 0.5),
        "-": () => zoomBy(chart, 2),
        "0": () => reset(chart),
        Escape: () => reset(chart)};
    if (!Object.hasOwn(actions, event.key))
        return;
    event.preventDefault();
    drawn(chart);
    actions[event.key]();
}

function reset(chart) {
    zoomTo(chart, fullRange(chart));
    say(chart.title + ": all is shown");
}

function toolsOf(chart) {
    const tools = make("div", {class: "tools"});
    const actions = [["Zoom in", () => zoomBy(chart, 0.5)],
                     ["Zoom out", () => zoomBy(chart, 2)],
                     ["Show all", () => reset(chart)]];
    for (const [text, action] of actions) {
        const button = make("button", {type: "button",
            "aria-label": text + ": " + chart.title}, text);
        button.addEventListener("click", () => {
            drawn(chart);
            action();
        });
        tools.append(button);
    }
    tools.append(make("span", {class: "faint", id: chart.id + "-keys"},
        "Drag to zoom. Keys: arrows to read, + and − to zoom, 0 for all."));
    return tools;
}

/* What is seen first is drawn at once, the rest in turns of its own, so that
 * the page answers from the beginning; what is used or printed does not wait. */
const FIRST_SEEN = 2;

function drawn(chart) {
    if (!chart.plot)
        draw(chart);
    return chart;
}

function drawRest() {
    const chart = charts.find((one) => !one.plot);
    if (chart) {
        draw(chart);
        setTimeout(drawRest);
    } else {
        document.documentElement.dataset.drawn = "all";
    }
}

/* chart: id, title, decision, x, xName, xLabel, yLabel, axis, series (name,
 * color, values, isReference), value (tells a y), tables. */
function addChart(chart) {
    const section = addSection(chart.id, chart.title, chart.decision);
    if (chart.x.length === 0) {
        section.append(make("p", {class: "faint"}, chart.absent));
        return;
    }
    chart.box = make("div", {
        class: "chart", tabindex: "0", role: "application",
        "aria-roledescription": "chart", "aria-label": chart.title,
        "aria-describedby": chart.id + "-decision " + chart.id + "-keys"});
    section.append(chart.box, toolsOf(chart));
    for (const remark of chart.remarks || [])
        section.append(make("p", {class: "faint"}, remark));
    addTables(section, chart.tables);
    chart.box.addEventListener("keydown", (event) => onKey(chart, event));
    charts.push(chart);
    chart.box.style.minHeight = heightOf(chart) + "px";
    new ResizeObserver(() => {
        if (chart.plot && chart.box.clientWidth !== chart.plot.width)
            chart.plot.setSize({width: chart.box.clientWidth,
                                height: heightOf(chart)});
    }).observe(chart.box);
}

/* ---- bars ---------------------------------------------------------------- */

/* Drawings of few rectangles, in units of their own that fill whatever width
 * there is; texts stand beside them. */
const ACROSS = 1000;

function draws(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes))
        element.setAttribute(name, value);
    element.append(...children);
    return element;
}

function drawing(height, attributes) {
    return draws("svg", Object.assign({
        viewBox: "0 0 " + ACROSS + " " + height,
        preserveAspectRatio: "none"}, attributes));
}

/* rows: [name, values]; kinds: name and class of each value; `most` is a whole
 * bar. The table beside them has the same for who cannot see them. */
function barsOf(rows, kinds, most, text) {
    const list = make("div", {class: "bars", "aria-hidden": "true"});
    for (const [name, values] of rows) {
        const bars = make("div", {class: "pair"});
        values.forEach((value, i) => {
            const svg = drawing(1, {class: "bar"});
            svg.append(draws("rect", {class: kinds[i][1], height: 1,
                width: most > 0 ? ACROSS * value / most : 0}));
            bars.append(svg, make("span", {class: "value"}, text(value)));
        });
        list.append(make("span", {class: "name", title: name}, name), bars);
    }
    const legend = make("p", {class: "legend"});
    for (const [name, kind] of kinds)
        legend.append(make("span", {class: "key " + kind}), name + " ");
    return kinds.length > 1 ? [legend, list] : [list];
}

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
    figure.lane.shown.forEach((call, i) => {
        const [start, end, state] = call;
        const track = Math.min(figure.tracks[i], LANE_DEPTH - 1);
        svg.append(draws("rect", {
            class: ["call", "failed", "again"][state],
            x: across(start - figure.first), y: track + 0.1,
            // Without a width nothing is drawn, not even its line.
            width: Math.max(0.01, end === null ? 0 : across(end - start)),
            height: state === MADE_AGAIN ? 0.45 : 0.8},
            draws("title", {}, callText(call, figure.first))));
    });
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

/* ---- the page ------------------------------------------------------------ */

addHead();
notes();
tiles();
addCache();
addTurns();
addLengths("prompt_length", "prompt", "Prompt tokens",
    "Decides the longest context to serve, and which agents are worth a " +
    "server of their own: the share of rows that are at least so long.");
addLengths("new_length", "new", "New tokens",
    "Decides how much prefill a call leaves when a cache without limits " +
    "serves the rest: the share of rows with at least so many new tokens.");
addLengths("output_length", "output", "Output tokens",
    "Decides the most tokens to allow an answer, and how long a call holds " +
    "its place in a batch: the share of rows with answers at least so long.");
addTimes();
addGaps();
if (calls)
    addCalls();
addBlockSizes();
addPrefixes();
addGroups("agents", "Agents",
    "Decides which agents gain from a cache, and which to route apart.",
    figures.agents, curves.agents);
addGroups("priorities", "Priorities",
    "Decides whether what is urgent is also what is short.",
    figures.priorities, curves.priorities);

window.matchMedia("(prefers-color-scheme: dark)").addEventListener(
    "change", () => charts.filter((chart) => chart.plot).forEach(draw));
window.addEventListener("beforeprint", () => charts.forEach(drawn));
charts.slice(0, FIRST_SEEN).forEach(draw);
setTimeout(drawRest);
})();
