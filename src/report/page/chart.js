/* How the page of a trace's figures draws and says what it is given: texts of
 * numbers, elements, tables, charts with axes that zoom, bars. Texts of the
 * data reach the page by textContent and nothing else, since they are names out
 * of somebody's trace. The scripts of the page share their names: chart.js,
 * rows.js, calls.js, and report.js, which puts all together. */
"use strict";

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
        width: chart.width, height: heightOf(chart),
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
    return (chart.width < 520 ? 250 : 330) + (chart.upper ? 40 : 0);
}

/* Once all sections are there: to ask for a width after each change of the page
 * would lay all of it out anew each time. */
function measure() {
    for (const chart of charts)
        chart.width = chart.box.clientWidth;
    for (const chart of charts)
        chart.box.style.minHeight = heightOf(chart) + "px";
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
    new ResizeObserver(() => {
        chart.width = chart.box.clientWidth;
        if (chart.plot && chart.width !== chart.plot.width)
            chart.plot.setSize({width: chart.width, height: heightOf(chart)});
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
