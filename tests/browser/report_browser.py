#!/usr/bin/env python3
"""The page of `tracebake analyze --report` in a real browser.

Values are read out of the page, from tables, legends and what is said to a
screen reader, and compared with `analyze --json`; charts are zoomed and read
by mouse and by keyboard; nothing may be asked of the network or written to the
console; light and dark, wide and narrow. `--pictures FOLDER` keeps what it
looked like: figures are checked here, looks only by who looks.
"""
import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import Browser

NAMES = ["planner", "</script><img src=x onerror=document.title=1>", "&amp;",
         "a name that is much too long for a table " * 3]
WIDE, NARROW = 1400, 380
CHARTS = ["cache", "turns", "prompt", "new", "output", "calls", "tokens",
          "open", "gaps", "in-flight", "service", "block-size", "prefixes"]
MODELS = ["small", "large"]
LANES, LANE_CALLS = 24, 200
LOAD_MOST = 1000  # ms


class Faults:
    def __init__(self):
        self.count = 0

    def check(self, what, is_good, *detail):
        if not is_good:
            self.count += 1
            print("WRONG:", what, *detail)

    def equal(self, what, expected, found):
        self.check(what, expected == found, f"expected {expected!r}, found "
                                            f"{found!r}")


def make_rows(path, sessions):
    """Sessions that grow, of agents with system prompts of their own."""
    rng = random.Random(7)
    fresh = iter(range(1000, 10**9))
    with open(path, "w", encoding="utf-8") as file:
        for session in range(sessions):
            agent = rng.randrange(len(NAMES))
            ids = list(range(agent * 20, agent * 20 + 4 + agent))
            clock = rng.random() * 600e3
            for turn in range(rng.choice([1, 2, 3, 5, 9, 20])):
                ids = ids + [next(fresh) for _ in range(rng.randint(1, 9))]
                row = {"session_id": f"s{session}", "agent_type": NAMES[agent],
                       "input_length": 64 * len(ids) - rng.randrange(64),
                       "output_length": int(rng.lognormvariate(5, 1)) + 1,
                       "hash_ids": ids, "timestamp": int(clock)}
                if turn:
                    row["delay"] = int(rng.lognormvariate(7, 1.5))
                file.write(json.dumps(row) + "\n")
                clock += rng.lognormvariate(9, 1)
        file.write("no row\n")


def failed_call(rng, row, start):
    return {"skipped": rng.choice(["no_end", "no_end", "no_start"]),
            "recorded_session": row["session_id"], "agent": row["agent_type"],
            "model": MODELS[0], "start": start, "recorded": {},
            "failed": True, "tried_again": rng.random() < 0.5}


def make_calls(rows_path, path):
    """The calls of the rows: some overlap, fail, or are made again."""
    rng = random.Random(8)
    rows = [json.loads(line) for line in rows_path.read_text().splitlines()
            if line != "no row"]
    with open(path, "w", encoding="utf-8") as file:
        for number, row in enumerate(rows, 1):
            start = 1.7e9 + row["timestamp"] / 1000
            length = row["input_length"]
            call = {"row": number, "session_id": row["session_id"], "turn": 0,
                    "input_length": length, "output_length": 1,
                    "prompt_tokens": length, "model": rng.choice(MODELS),
                    "counted_tokens": length + rng.choice([0, 0, 5]),
                    "recorded_session": row["session_id"],
                    "agent": row["agent_type"], "start": start,
                    "first_token": start + 0.2 * rng.random(),
                    "end": start + rng.lognormvariate(1, 1),
                    "recorded": {"prompt_tokens": length,
                                 "cached_tokens": length // 3}}
            if rng.random() < 0.05:
                failed = failed_call(rng, row, start - 0.5)
                file.write(json.dumps(failed) + "\n")
            file.write(json.dumps(call) + "\n")


def analyze(tracebake, path, calls, page):
    process = subprocess.run(
        [tracebake, "analyze", path, "--report", page, "--json", "--calls",
         calls,
         "--block-sizes", "128,256", "--kv-bytes-per-token", "131072"],
        capture_output=True, timeout=300, check=True)
    return json.loads(process.stdout)


# ------------------------------------------------------------ the page

TABLE = """[...document.querySelectorAll("#%s .scroll table")].map((table) =>
    [...table.querySelectorAll("tbody tr")].map((row) =>
        [...row.children].map((cell) => cell.textContent)))"""
LEGEND = """[...document.querySelectorAll("#%s .u-series")].map((entry) =>
    [entry.querySelector(".u-label").textContent,
     entry.querySelector(".u-value").textContent])"""
PLACE = """(() => {
    const chart = document.querySelector("#%s .chart");
    chart.scrollIntoView({block: "center"});
    const box = chart.querySelector(".u-over").getBoundingClientRect();
    return [box.left, box.top, box.width, box.height];
})()"""
SAID = "document.getElementById('said').textContent"
DRAWN = "document.documentElement.dataset.drawn === 'all'"
FOCUS = "document.querySelector('#%s .chart').focus()"


def whole(value):
    return f"{round(value):,}"


def percent(value):
    return f"{100 * value:.1f}\u00a0%"


async def check_texts(page, told, faults):
    tiles = dict(await page.evaluate(
        "[...document.querySelectorAll('.tiles > div')].map((tile) =>"
        " [...tile.children].map((one) => one.textContent))"))
    faults.equal("tile of rows", whole(told["rows"]), tiles["Rows"])
    faults.equal("tile of the share", percent(told["prefix_cache"]["share"]),
                 tiles["A cache without limits serves"])
    faults.equal("tile of prompts", whole(told["prompt_length"]["p90"]),
                 tiles["Prompt, p90"])
    faults.equal("notes", ["1 line is no row and was lost."],
                 await page.evaluate("[...document.querySelectorAll('main "
                                     "> .note')].map((n) => n.textContent)"))
    faults.equal("charts", CHARTS, await page.evaluate(
        "[...document.querySelectorAll('.chart')].map((c) =>"
        " c.closest('section').id)"))
    faults.check("title", "tracebake" in await page.evaluate("document.title"))


async def check_tables(page, told, faults):
    sizes, parts, *_ = await page.evaluate(TABLE % "cache")
    faults.equal("table of caches", [
        [whole(one["blocks"]), percent(one["share"]), whole(one["tokens"])]
        for one in told["cache_sizes"]],
        [[one[0], one[2], one[3]] for one in sizes])
    cache = told["prefix_cache"]
    faults.equal("table of who had it",
                 [whole(cache[key]) for key in ("same_session", "same_agent",
                                                "other_agents", "tokens")],
                 [one[2] for one in parts])
    turns = (await page.evaluate(TABLE % "turns"))[0]
    faults.equal("table of turns",
                 [[whole(one["prompt_length"][key]) for key in ("p50", "p90")]
                  for one in told["turns"]], [one[3:5] for one in turns])
    agents = (await page.evaluate(TABLE % "agents"))[0]
    expected = sorted(told["agents"], key=lambda one: -one["rows"])
    faults.equal("table of agents",
                 [[one["name"], whole(one["rows"]), percent(one["share"])]
                  for one in expected], [one[:3] for one in agents])
    prefixes = (await page.evaluate(TABLE % "prefixes"))[0]
    faults.equal("table of prefixes",
                 [whole(one["saved_tokens"])
                  for one in told["shared_prefixes"]],
                 [one[5] for one in prefixes])
    blocks = (await page.evaluate(TABLE % "block-size"))[0]
    faults.equal("table of block sizes",
                 [percent(told["prefix_cache"]["share"]),
                  *(percent(one["share"]) for one in told["block_sizes"])],
                 [one[1] for one in blocks])
    calls = (await page.evaluate(TABLE % "calls"))[0]
    faults.equal("rows over time", told["timestamps"]["rows"],
                 sum(int(one[1].replace(",", "")) for one in calls))


async def check_calls(page, told, faults):
    """Tables and drawings of what was recorded of the calls."""
    calls = told["calls"]
    flight = (await page.evaluate(TABLE % "in-flight"))[0]
    faults.equal("most at once", calls["in_flight"]["most"],
                 max(int(one[3]) for one in flight))
    times, first = await page.evaluate(TABLE % "service")
    faults.equal("service of all", [whole(calls["service_ms"][key])
                                    for key in ("count", "p50", "max")],
                 [times[0][at] for at in (1, 4, 7)])
    faults.equal("first token of all", whole(calls["first_token_ms"]["p99"]),
                 first[0][6])
    gaps = (await page.evaluate(TABLE % "gaps"))[0]
    faults.equal("recorded gaps", ["recorded", whole(calls["gap_ms"]["count"])],
                 gaps[2][:2])
    groups = [calls | {"name": "all calls"},
              *sorted(calls["agents"], key=lambda one: -one["calls"])]
    cached = (await page.evaluate(TABLE % "recorded-cache"))[0]
    faults.equal("cached shares", [
        [one["name"], percent(one["recorded_cache"]["share"]),
         percent(one["recorded_cache"]["own_share"])] for one in groups],
        [[one[0], *one[2:4]] for one in cached])
    bars = await page.evaluate("""[...document.querySelectorAll(
        "#recorded-cache .bar rect")].map((one) =>
        Number(one.getAttribute("width")))""")
    faults.check("bars are as long as shares", len(bars) == 2 * len(groups)
                 and all(abs(bar - 1000 * share) < 0.01 for bar, share in zip(
                     bars, (one["recorded_cache"][key] for one in groups
                            for key in ("share", "own_share")))), bars)
    counts = (await page.evaluate(TABLE % "counts"))[0]
    faults.equal("counts", [
        [whole(one["counts"]["recorded_tokens"]),
         percent(one["counts"]["difference_tokens"]
                 / one["counts"]["recorded_tokens"]),
         whole(one["counts"]["differing"])] for one in groups],
        [[one[2], *one[4:6]] for one in counts])
    lost, states = await page.evaluate(TABLE % "losses")
    faults.equal("losses", [["calls " + one["text"], whole(one["calls"])]
                            for one in calls["without_row"]], lost[:-1])
    faults.equal("lost lines", ["lines that are no rows", "1"], lost[-1])
    faults.equal("states", [whole(calls[key]) for key in (
        "calls", "rows", "never_ended", "tried_again", "overlaps")],
        [one[1] for one in states[:5]])
    agents, models = await page.evaluate(TABLE % "callers")
    faults.equal("callers", [whole(one["service_ms"]["p50"])
                             for one in groups[1:]],
                 [one[5] for one in agents])
    faults.equal("models", sorted(one["name"] for one in calls["models"]),
                 sorted(one[0] for one in models))


async def check_lanes(page, calls_path, faults):
    sessions = {}
    for line in calls_path.read_text().splitlines():
        call = json.loads(line)
        sessions.setdefault(call["recorded_session"], []).append(call)
    busy = sorted(sessions.items(), key=lambda one: -len(one[1]))[:LANES]
    table = (await page.evaluate(TABLE % "lanes"))[0]
    expected = []
    for name, calls in busy:
        shown = sorted(calls, key=lambda call: call["start"])[:LANE_CALLS]
        expected.append([name, whole(len(calls)), whole(len(shown)),
                         str(sum("failed" in call for call in shown)),
                         str(sum(call.get("tried_again", False)
                                 for call in shown))])
    faults.equal("lanes", expected, [[*one[:3], *one[6:8]] for one in table])
    faults.equal("rectangles of lanes", [int(one[2]) for one in expected],
                 await page.evaluate(
                     "[...document.querySelectorAll('#lanes svg')].map((one) "
                     "=> one.querySelectorAll('rect').length)"))
    names = await page.evaluate(
        "[...document.querySelectorAll('#lanes svg')].map((one) =>"
        " one.getAttribute('aria-label'))")
    faults.check("lanes have names", all(
        name.startswith(one[0] + ": " + one[1] + " call")
        for name, one in zip(names, expected)), names)
    wide = await page.evaluate(
        "Math.max(...[...document.querySelectorAll('#lanes rect')].map((one)"
        " => Number(one.getAttribute('x')) + Number(one.getAttribute("
        "'width'))))")
    faults.equal("calls of lanes that are not drawn", 0, await page.evaluate(
        "[...document.querySelectorAll('#lanes rect')].filter((one) =>"
        " !(one.getBBox().width > 0)).length"))
    faults.check("lanes fill their width", abs(wide - 1000) < 0.01, wide)


async def check_keys(page, told, faults):
    """Each chart is read and zoomed without a mouse."""
    await page.evaluate(FOCUS % "turns")
    await page.key("End")
    last = told["turns"][-1]["prompt_length"]
    said = await page.evaluate(SAID)
    faults.check("last turn is said", f"prompt, p50 {whole(last['p50'])}"
                 in said and f"prompt, p90 {whole(last['p90'])}" in said, said)
    legend = dict(await page.evaluate(LEGEND % "turns"))
    faults.equal("legend follows", whole(last["p90"]), legend["prompt, p90"])
    await page.key("ArrowLeft")
    before = told["turns"][-2]["prompt_length"]
    said = await page.evaluate(SAID)
    faults.check("turn before is said", whole(before["p50"]) in said, said)
    await page.evaluate(FOCUS % "cache")
    await page.key("Home")
    said = await page.evaluate(SAID)
    faults.check("smallest cache is said", said.startswith(
        f"Blocks 1: LRU cache {percent(told['cache_sizes'][0]['share'])}"),
        said)
    await page.key("+")
    zoomed = await page.evaluate(SAID)
    faults.check("zoomed by key", "from 1 to " in zoomed, zoomed)
    await page.key("0")
    faults.equal("all by key", "Share served against cache size: all is shown",
                 await page.evaluate(SAID))
    await page.key("End")
    said = await page.evaluate(SAID)
    faults.check("largest cache is said",
                 percent(told["prefix_cache"]["share"]) in said, said)


async def check_every_chart_reads(page, faults):
    for chart in CHARTS:
        await page.evaluate(FOCUS % chart)
        await page.key("Home")
        said = await page.evaluate(SAID)
        faults.check(f"{chart} says its first point",
                     ": " in said and len(said) > 8, said)
        values = await page.evaluate(LEGEND % chart)
        faults.check(f"{chart} has values in its legend",
                     all(value != "–" for _, value in values), values)


async def check_mouse(page, told, faults):
    left, top, width, height = await page.evaluate(PLACE % "cache")
    middle = top + height / 2
    await page.mouse("mouseMoved", left + width - 1, middle)
    await page.settle()
    legend = dict(await page.evaluate(LEGEND % "cache"))
    faults.equal("hover at the end",
                 percent(told["prefix_cache"]["share"]), legend["LRU cache"])
    ticks = "document.querySelector('#cache .uplot canvas').toDataURL()"
    before = await page.evaluate(ticks)
    await page.drag((left + width / 4, middle), (left + width / 2, middle))
    faults.check("drag zooms", before != await page.evaluate(ticks))
    await page.evaluate(
        "document.querySelector('#cache .u-over').dispatchEvent("
        "new MouseEvent('dblclick', {bubbles: true}))")
    await page.settle()
    await page.evaluate("[...document.querySelectorAll('#cache button')]"
                        ".find((b) => b.textContent === 'Zoom in').click()")
    said = await page.evaluate(SAID)
    faults.check("button zooms", "from " in said, said)
    await page.evaluate("[...document.querySelectorAll('#cache button')]"
                        ".find((b) => b.textContent === 'Show all').click()")


async def check_legend(page, faults):
    pressed = ("document.querySelectorAll('#turns .u-series th')[1]"
               ".getAttribute('aria-pressed')")
    faults.equal("line is shown", "true", await page.evaluate(pressed))
    await page.evaluate(
        "document.querySelectorAll('#turns .u-series th')[1].focus()")
    await page.key("Enter")
    faults.equal("line is hidden by key", "false",
                 await page.evaluate(pressed))
    await page.key("Enter")


async def check_reach(page, faults):
    """Tab leads to each chart, and each has a name and a description."""
    found = set()
    await page.evaluate("document.activeElement.blur();"
                        "document.querySelector('.skip').focus()")
    for _ in range(400):
        await page.call("Input.dispatchKeyEvent", type="keyDown", key="Tab",
                        windowsVirtualKeyCode=9)
        where = await page.evaluate(
            "document.activeElement.matches('.chart') ?"
            " document.activeElement.closest('section').id :"
            " document.activeElement === document.body ? 'end' : ''")
        if where == "end":
            break
        found.add(where)
    faults.equal("charts that Tab leads to", set(CHARTS), found - {""})
    faults.equal("charts without a description", [], await page.evaluate(
        "[...document.querySelectorAll('.chart')].filter((chart) =>"
        " !chart.getAttribute('aria-label') ||"
        " chart.getAttribute('aria-describedby').split(' ').some((id) =>"
        " !document.getElementById(id))).map((c) => c.outerHTML)"))


async def check_colors(page, faults):
    """Texts and lines stand out from what is behind them."""
    weak = await page.evaluate("""(() => {
        const probe = document.createElement("canvas").getContext("2d");
        const light = (name) => {
            probe.fillStyle = getComputedStyle(document.documentElement)
                .getPropertyValue(name).trim();
            const parts = probe.fillStyle.match(/[0-9a-f]{2}/g).map((hex) => {
                const value = parseInt(hex, 16) / 255;
                return value <= 0.04045 ? value / 12.92
                    : Math.pow((value + 0.055) / 1.055, 2.4);
            });
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
        };
        const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) /
            (Math.min(light(a), light(b)) + 0.05);
        const weak = [];
        for (const name of ["--ink", "--faint", "--accent"])
            for (const behind of ["--paper", "--panel"])
                if (contrast(name, behind) < 4.5)
                    weak.push([name, behind, contrast(name, behind)]);
        if (contrast("--warn", "--warn-paper") < 4.5)
            weak.push(["--warn"]);
        for (let i = 0; i <= 8; i++)
            if (contrast("--s" + i, "--panel") < 3)
                weak.push(["--s" + i, contrast("--s" + i, "--panel")]);
        return weak;
    })()""")
    faults.equal("weak colours", [], weak)


async def check_look(page, path, width, dark, faults, pictures):
    name = f"{width}-{'dark' if dark else 'light'}"
    faults.check(f"{name}: nothing sticks out", await page.evaluate(
        "document.documentElement.scrollWidth <= innerWidth"))
    faults.equal(f"{name}: requests", [Path(path).resolve().as_uri()],
                 page.requests)
    await check_colors(page, faults)
    empty = await page.evaluate("""[...document.querySelectorAll(
        ".uplot canvas")].filter((canvas) => {
            const pixels = canvas.getContext("2d").getImageData(
                0, 0, canvas.width, canvas.height).data;
            return pixels.every((value) => value === 0);
        }).length""")
    faults.equal(f"{name}: empty charts", 0, empty)
    if pictures:
        await page.picture(Path(pictures, f"report-{name}.png"))


async def check_load(browser, path, faults):
    """The fastest of some: what else the machine does only adds to it."""
    times = []
    for _ in range(4):
        page = await browser.open(path)
        await page.until("document.querySelector('#cache canvas') !== null")
        times.append(await page.evaluate(
            "performance.getEntriesByType('navigation')[0].duration"))
    print("report: loaded in", ", ".join(f"{time:.0f}" for time in times),
          "ms")
    faults.check("load time", min(times) < LOAD_MOST, times)


async def check_rows_alone(browser, path, faults):
    """Without calls there are no sections of them."""
    page = await browser.open(path)
    await page.until(DRAWN)
    found = await page.evaluate(
        "[...document.querySelectorAll('section')].map((one) => one.id)")
    faults.check("no calls, no sections of them", "gaps" in found and not
                 {"in-flight", "service", "lanes", "losses"} & set(found),
                 found)
    faults.equal("console of rows alone", [], page.complaints)


def convert_nothing(tracebake, folder):
    """The page of a conversion that gave no rows."""
    trace, page = Path(folder, "none.jsonl"), Path(folder, "none.html")
    trace.write_text('{"event": "other"}\n')
    subprocess.run([tracebake, "telemetry", trace, "--tokenizer", "builtin",
                    "--compat", "--output-file", Path(folder, "none-rows.jsonl"),
                    "--report", page, "--quiet"], timeout=60, check=True)
    return page


async def check_no_rows(browser, path, faults):
    """What is not there is said in words."""
    page = await browser.open(path)
    await page.until(DRAWN)
    text = await page.evaluate("document.body.innerText")
    faults.check("text without rows", "There are no rows." in text
                 and "undefined" not in text and "NaN" not in text, text)
    faults.equal("console without rows", [], page.complaints)


async def look_at(options, folder, told, path, faults):
    calls = Path(folder, "calls.jsonl")
    async with Browser(folder) as browser:
        await check_load(browser, path, faults)
        await check_rows_alone(browser, Path(folder, "alone.html"), faults)
        await check_no_rows(browser, convert_nothing(options.tracebake, folder),
                            faults)
        for width in (WIDE, NARROW):
            for dark in (False, True):
                page = await browser.open(path, width, 900, dark)
                await page.until(DRAWN)
                await check_look(page, path, width, dark, faults,
                                 options.pictures)
                await check_texts(page, told, faults)
                await check_tables(page, told, faults)
                await check_calls(page, told, faults)
                await check_lanes(page, calls, faults)
                await check_keys(page, told, faults)
                await check_every_chart_reads(page, faults)
                await check_mouse(page, told, faults)
                await check_legend(page, faults)
                faults.equal("console", [], page.complaints)
        await check_reach(page, faults)
        before = await page.evaluate(
            "document.querySelector('#turns canvas').toDataURL()")
        await page.look(WIDE, 900, False)
        await page.settle()
        faults.check("colours and sizes follow", before != await page.evaluate(
            "document.querySelector('#turns canvas').toDataURL()"))
        faults.equal("console", [], page.complaints)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tracebake", required=True)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--pictures", help="folder for pictures of the page")
    options = parser.parse_args()
    faults = Faults()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        rows, page = Path(folder, "rows.jsonl"), Path(folder, "report.html")
        make_rows(rows, options.sessions)
        calls = Path(folder, "calls.jsonl")
        make_calls(rows, calls)
        told = analyze(options.tracebake, rows, calls, page)
        subprocess.run([options.tracebake, "analyze", rows, "--report",
                        Path(folder, "alone.html"), "--json"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"report: {told['rows']} rows, {page.stat().st_size} bytes")
        asyncio.run(look_at(options, folder, told, page, faults))
    print(f"report: {faults.count} faults")
    sys.exit(faults.count > 0)


if __name__ == "__main__":
    main()
