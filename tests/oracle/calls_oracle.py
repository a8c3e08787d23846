#!/usr/bin/env python3
"""The figures of `tracebake analyze --calls` are those of a plain program.

For the random rows of analyze_oracle.py calls are made up: times that overlap,
touch, are missing or run backwards, agents, models, counts, calls without a
row. Each figure and each point of a chart is computed here the long way: calls
in flight by asking at every moment at which something changes, gaps by looking
at all calls before. Last, the calls that our converters write have the figures
that their summary tells, and `--report` of a converter holds the page that
`analyze` makes of its files.
"""
import argparse
import json
import math
import random
import tempfile
from fractions import Fraction
from pathlib import Path

import analyze_oracle as plain
import harness
import report_oracle as page_of

SKIPS = {"no_end": "started but never ended",
         "no_start": "ended but never started", "odd <b>": "odd <b>"}
LANES, LANE_CALLS, BINS = 24, 200, 512


# ------------------------------------------------------------ calls


def times(rng, clock, scale):
    """start, first_token, end; some are missing, some make no sense."""
    start = round(clock, 6)
    end = round(start + rng.choice([0, 0.0004, 0.25, 1, 7.3]) * scale, 6)
    if rng.random() < 0.05:
        end = start - 1
    times = {"start": start, "end": end,
             "first_token": round((start + end) / 2, 6)}
    for key in list(times):
        if rng.random() < 0.07 or (key == "first_token"
                                   and rng.random() < 0.4):
            del times[key]
    return times


def counts(rng, call, row):
    call["counted_tokens"] = max(
        0, row["input_length"] + rng.choice([0, 0, 3, -2]))
    recorded = {}
    if rng.random() < 0.8:
        recorded["prompt_tokens"] = row["input_length"] * rng.choice([1, 1, 2])
    if rng.random() < 0.6:
        recorded["cached_tokens"] = rng.randrange(row["input_length"] + 1)
    return recorded


def make_calls(rows, seed):
    rng = random.Random(seed)
    calls, clock = [], 1.7e9 + rng.random()
    scale = rng.choice([1, 1, 400, 1e6])
    names = rng.sample(["planner", "math", "</script>", "é", "a", "b", "c",
                        "d", "e", "f", "g"], rng.randint(1, 11))
    at = 0
    while at < len(rows):
        clock += rng.choice([0, 0, 0.1, 0.5, 2, 60]) * scale * rng.random()
        call = {"recorded_session": f"s{rng.randrange(rng.randint(1, 40))}"}
        if rng.random() < 0.9:
            call["agent"] = rng.choice(names)
        if rng.random() < 0.9:
            call["model"] = rng.choice(["small", "large"])
        call |= times(rng, clock, scale)
        if rng.random() < 0.15:
            call |= {"skipped": rng.choice(list(SKIPS)), "recorded": {}}
        else:
            row = rows[at]
            at += 1
            call |= {"row": at, "session_id": "x", "turn": 0,
                     "input_length": row["input_length"],
                     "output_length": 1, "prompt_tokens": 7,
                     "recorded": counts(rng, call, row)}
            if rng.random() < 0.02:
                call["input_length"] += 1
        if call.get("skipped") == "no_end" or rng.random() < 0.03:
            call["failed"] = True
            call.pop("end", None)
            if rng.random() < 0.5:
                call["tried_again"] = True
        calls.append(call)
    return calls


# ----------------------------------------------------- the long way


def micros(seconds):
    """Times are in whole microseconds."""
    return math.floor(seconds * 1e6 + 0.5)


def millis(begin, end):
    """Whole ms between two times."""
    return (micros(end) - micros(begin) + 500) // 1000


def is_answered(call):
    return "start" in call and call.get("end", -1) >= call["start"]


def differences(calls):
    for call in calls:
        usage = call["recorded"]["prompt_tokens"]
        difference = abs(usage - call["counted_tokens"])
        if difference:
            yield difference, math.floor(difference / usage * 1e6 + 0.5)


def share(part, whole):
    return round(part / whole, 6) if whole else 0


def group(calls, rows, served):
    """Figures of some calls; `served`: per row (prompt, served)."""
    told = [call for call in calls if "row" in call
            and call["recorded"].get("prompt_tokens", 0) > 0]
    cached = [call for call in told if "cached_tokens" in call["recorded"]]
    ours = [served[call["row"] - 1] for call in cached
            if rows[call["row"] - 1]["input_length"] == call["input_length"]]
    apart = list(differences(told))
    usage = sum(call["recorded"]["prompt_tokens"] for call in told)
    cached_usage = sum(call["recorded"]["prompt_tokens"] for call in cached)
    had = sum(call["recorded"]["cached_tokens"] for call in cached)
    prompts, hits = (sum(one[i] for one in ours) for i in (0, 1))
    return {
        "calls": len(calls),
        "rows": sum("row" in call for call in calls),
        "never_ended": sum("failed" in call for call in calls),
        "tried_again": sum("tried_again" in call for call in calls),
        "service_ms": plain.tally([millis(call["start"], call["end"])
                                   for call in calls if is_answered(call)]),
        "first_token_ms": plain.tally([
            millis(call["start"], call["first_token"]) for call in calls
            if call.get("first_token", -1) >= call.get("start", math.inf)]),
        "counts": {
            "calls": len(told), "recorded_tokens": usage,
            "own_tokens": sum(call["counted_tokens"] for call in told),
            "differing": len(apart),
            "difference_tokens": sum(one[0] for one in apart),
            "difference": plain.tally([one[1] for one in apart])},
        "recorded_cache": {
            "calls": len(cached), "prompt_tokens": cached_usage,
            "cached_tokens": had, "share": share(had, cached_usage),
            "own_prompt_tokens": prompts, "own_tokens": hits,
            "own_share": share(hits, prompts)}}


def groups(calls, rows, served, field):
    names = list(dict.fromkeys(call[field] for call in calls
                               if field in call))
    return [{"name": name} | group(
        [call for call in calls if call.get(field) == name], rows, served)
        for name in names]


def by_session(calls):
    """Sessions in the order they came; calls with a start, by it."""
    sessions = {}
    for call in calls:
        sessions.setdefault(call["recorded_session"], []).append(call)
    for name, own in sessions.items():
        yield name, sorted((call for call in own if "start" in call),
                           key=lambda call: call["start"])


def gaps(calls):
    """In ms, and how many calls began before one had ended."""
    found, overlaps = [], 0
    for _, own in by_session(calls):
        for at, call in enumerate(own):
            ends = [other["end"] for other in own[:at] if is_answered(other)]
            if not ends:
                continue
            gap = call["start"] - max(ends)
            overlaps += gap < 0
            if gap >= 0:
                found.append(millis(max(ends), call["start"]))
    return found, overlaps


def origin(calls):
    return min((call["start"] for call in calls if "start" in call),
               default=0)


def spans(calls):
    """[(start, end)] in whole microseconds since the first start."""
    first = origin(calls)
    found = [(micros(call["start"]) - micros(first),
              micros(call["end"]) - micros(first))
             for call in calls if is_answered(call)]
    return [(start, end) for start, end in found if end > start]


def in_flight(calls):
    """(figures, chart): at every moment at which something changes."""
    own = spans(calls)
    last = max((end for _, end in own), default=0)
    width = 1
    while own and (last - 1) // (width * 1000) >= BINS:
        width *= 2
    count = (last - 1) // (width * 1000) + 1 if own else 0
    edges = {at * width * 1000 for at in range(count + 1)}
    moments = sorted(edges | {moment for span in own for moment in span})
    levels = [sum(start <= moment < end for start, end in own)
              for moment in moments]
    bins = [[] for _ in range(count)]
    for moment, after, level in zip(moments, moments[1:], levels):
        bins[moment // (width * 1000)].append((level, after - moment))
    busy = sum(end - start for start, end in own)
    return ({"most": max(levels, default=0),
             "mean": float(Fraction(busy, last)) if last else 0,
             "seconds": last / 1e6},
            {"width_ms": width if own else 0,
             "least": [min(one[0] for one in parts) for parts in bins],
             "most": [max(one[0] for one in parts) for parts in bins],
             "mean": [sum(level * length for level, length in parts)
                      / (width * 1000) for parts in bins]})


def is_timeless(call):
    return "start" not in call or ("failed" not in call
                                   and not is_answered(call))


def figures(calls, rows, served):
    lost = [call["skipped"] for call in calls if "skipped" in call]
    between, overlaps = gaps(calls)
    return group(calls, rows, served) | {
        "lost_lines": 1,
        "without_row": [{"reason": reason, "text": SKIPS[reason],
                         "calls": lost.count(reason)}
                        for reason in dict.fromkeys(lost)],
        "overlaps": overlaps,
        "unfit": sum("row" in call and call["input_length"]
                     != rows[call["row"] - 1]["input_length"]
                     for call in calls),
        "timeless": sum(map(is_timeless, calls)),
        "gap_ms": plain.tally(between),
        "in_flight": in_flight(calls)[0],
        "agents": groups(calls, rows, served, "agent"),
        "models": groups(calls, rows, served, "model")}


# ------------------------------------------------------- the charts


def service(calls):
    return [millis(call["start"], call["end"])
            for call in calls if is_answered(call)]


def service_curves(calls):
    names = list(dict.fromkeys(call["agent"] for call in calls
                               if "agent" in call))
    own = {name: [call for call in calls if call.get("agent") == name]
           for name in names}
    names.sort(key=lambda name: -len(own[name]))
    return [("", service(calls))] + [(name, service(own[name]))
                                     for name in names[:8]]


def lanes(calls):
    first = origin(calls)
    found = [{"session": name, "calls": len(own), "shown": [
        [(micros(call["start"]) - micros(first)) / 1000,
         (micros(call["end"]) - micros(first)) / 1000 if is_answered(call) else None,
         ("failed" in call) + ("tried_again" in call)]
        for call in own[:LANE_CALLS]]}
        for name, own in by_session(calls) if own]
    found.sort(key=lambda lane: -lane["calls"])
    return found[:LANES]


def check_charts(found, gaps_found, calls):
    yield from page_of.check_curve("service", found["service"],
                                   service_curves(calls))
    recorded = gaps_found["curves"][2:]
    values = gaps(calls)[0]
    expected = [{"name": "recorded", "count": len(values),
                 "rows": page_of.at_least(values, gaps_found["at"])}]
    if recorded != expected:
        yield f"gaps: expected {expected}, found {recorded}"
    expected = {
        "agents": len({call["agent"] for call in calls if "agent" in call}),
        "models": len({call["model"] for call in calls if "model" in call}),
        "sessions": len({call["recorded_session"] for call in calls}),
        "in_flight": in_flight(calls)[1], "lanes": lanes(calls)}
    for key, value in expected.items():
        if not plain.is_same(value, found[key]):
            yield f"{key}: expected {value}, found {found[key]}"


# ------------------------------------------------------- comparison


def write_lines(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def check_trace(options, folder, seed):
    is_delta = seed % 3 == 0
    rows = plain.make_rows(seed, is_delta)
    calls = make_calls(rows, seed)
    paths = [Path(folder, name) for name in ("rows.jsonl", "calls.jsonl",
                                             "page.html")]
    write_lines(paths[0], rows)
    write_lines(paths[1], [*calls, {"neither": "row nor reason"}])
    told = plain.analyze(
        options.tracebake, paths[0], "--block-size", plain.BLOCK, "--rows",
        "delta" if is_delta else "whole", "--calls", paths[1], "--report",
        paths[2])
    whole = list(plain.prompts(rows, is_delta, 1))
    served = [(plain.tokens_of(path, len(path)), hit[2])
              for path, hit in zip(whole, plain.infinite(rows, whole))]
    found = told["calls"]
    for key, value in figures(calls, rows, served).items():
        if not plain.is_same(value, found[key]):
            yield f"{key}:\n  expected {value}\n  found    {found[key]}"
    parts = page_of.Parts(paths[2].read_text())
    yield from page_of.check_form(parts)
    shown = parts.data["figures"]["calls"]
    for key in ("agents", "models"):
        found[key].sort(key=lambda one: -one["calls"])
    if shown != found:
        yield "the page's figures are not those of --json"
    curves = parts.data["curves"]
    yield from check_charts(curves["calls"], curves["gaps"], calls)


def check_random(options, folder, seed):
    faults = list(check_trace(options, folder, seed))
    for fault in faults:
        print(f"DIFFERENT: seed {seed}: {fault}")
    return not faults


# ------------------------------------------------------------ ours


def check_own(options, folder, trace):
    """Calls as our converters write them."""
    kind = "telemetry" if ".jsonl" in trace.name else "nat"
    rows, calls = Path(folder, "own.jsonl"), Path(folder, "own.calls")
    process = harness.run(options.tracebake, [
        kind, trace, "--output-file", rows, "--calls", calls, "--tokenizer",
        harness.BUILTIN, "--stats", "json"], check=False)
    if process.returncode != 0:
        return True
    said = json.loads(process.stdout)
    found = plain.analyze(options.tracebake, rows, "--calls", calls)["calls"]
    skipped = {key: count for key, count in said["skipped"].items() if count}
    expected = {
        "calls": said["calls"], "rows": said["rows"], "unfit": 0,
        "lost_lines": 0, "never_ended": said["skipped"]["no_end"],
        "tried_again": said["tried_again"]}
    faults = [f"{key}: expected {value}, found {found[key]}"
              for key, value in expected.items() if found[key] != value]
    if {one["reason"]: one["calls"] for one in found["without_row"]} != skipped:
        faults.append(f"without a row: {found['without_row']}, {skipped}")
    pairs = [(said["counts"]["rows"], found["counts"]["calls"]),
             (said["counts"]["differing"], found["counts"]["differing"]),
             (said["recorded_cache"]["cached_tokens"],
              found["recorded_cache"]["cached_tokens"])]
    faults += [f"summary {a}, calls {b}" for a, b in pairs if a != b]
    for fault in faults:
        print(f"DIFFERENT: {trace.name}: {fault}")
    return not faults


FORMS = [[], ["--for", "aiperf"], ["--for", "dynamo", "--keep-failed"],
         ["--compat"], ["--ids", "content"],
         ["--timestamps", "all", "--delay", "recorded"]]
# What a converter knows and a reader of its files does not, or the reverse.
ORIGINS = ("block_size_origin", "row_meaning_origin")


def data_of(page):
    """What a page holds, but where it has it from."""
    parts = page_of.Parts(page.read_text())
    figures, calls = parts.data["figures"], parts.data["figures"]["calls"]
    for key in ORIGINS:
        del figures[key]
    for key in ("path", "lost_records", "cut_sessions"):
        del calls[key]
    return parts.data


def check_page(options, folder, trace, form):
    """The page of a converter is that of its files."""
    kind = "telemetry" if ".jsonl" in trace.name else "nat"
    if kind == "telemetry" and "--keep-failed" in form:
        form = form[:-1]
    rows, calls, ours, theirs = (Path(folder, name) for name in (
        "own.jsonl", "own.calls", "ours.html", "theirs.html"))
    process = harness.run(options.tracebake, [
        kind, trace, "--output-file", rows, "--calls", calls, "--report", ours,
        "--tokenizer", harness.BUILTIN, "--stats", "json", *form], check=False)
    if process.returncode != 0:
        return True
    if rows.stat().st_size == 0:  # which analyze refuses; see golden.cases
        return True
    harness.run(options.tracebake, ["analyze", rows, "--calls", calls,
                                    "--report", theirs, "--json"])
    same = data_of(ours) == data_of(theirs)
    if not same:
        print(f"DIFFERENT: {trace.name} {form}: the page is not that of its "
              f"files")
    return same


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--traces", type=int)
    options = parser.parse_args()
    count = options.traces or (20 if options.quick else 100)
    with tempfile.TemporaryDirectory() as folder:
        good = sum(check_random(options, folder, seed)
                   for seed in range(count))
        traces = sorted(harness.DATA.glob("*.json*.gz"))
        every = (1 + len(FORMS)) * len(traces)
        own = sum(check_own(options, folder, trace)
                  + sum(check_page(options, folder, trace, form)
                        for form in FORMS) for trace in traces)
    print(f"calls: {good} of {count} random traces, {own} of {every} "
          f"of ours")
    return good == count and own == every


if __name__ == "__main__":
    harness.main(job)
