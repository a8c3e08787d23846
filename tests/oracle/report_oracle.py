#!/usr/bin/env python3
"""The page of `tracebake analyze --report` holds what a second program counts.

Its figures are those of --json; its curves are counted here the long way, on
the random traces of analyze_oracle.py. Its policy admits its own scripts and
styles, by their hashes, and nothing else; uPlot is the one that data/README.md
names. What a browser makes of it is looked at by tests/browser/.
"""
import argparse
import base64
import hashlib
import json
import math
import re
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import analyze_oracle as plain
import harness

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "&lt;b&gt;",
           "\"'`}]\\", "\u2028\u202e<img src=x onerror=alert(1)>"]
LISTS = ("agents", "priorities")  # those with most rows first on the page


class Parts(HTMLParser):
    """Scripts, styles and metas of a page, and tags that load something."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.scripts, self.styles, self.metas, self.loads = [], [], [], []
        self.data = None
        self.open = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.open = (tag, attributes)
        if tag == "meta":
            self.metas.append(attributes)
        for name in ("src", "href", "srcset", "action", "style"):
            value = attributes.get(name, "")
            if value and not value.startswith(("#", "data:,")):
                self.loads.append((tag, name, value))
        if any(name.startswith("on") for name in attributes):
            self.loads.append((tag, attributes))

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, text):
        tag, attributes = self.open or (None, None)
        if tag == "script" and attributes.get("type"):
            self.data = json.loads(text)
        elif tag == "script":
            self.scripts.append(text)
        elif tag == "style":
            self.styles.append(text)


def sha(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-" + base64.b64encode(digest).decode() + "'"


def policy_of(parts):
    text = next(meta["content"] for meta in parts.metas
                if meta.get("http-equiv") == "Content-Security-Policy")
    return {rule.split()[0]: rule.split()[1:] for rule in text.split(";")}


def check_form(parts):
    """Faults of the page itself."""
    policy = policy_of(parts)
    if policy["default-src"] != ["'none'"] or "connect-src" in policy:
        yield f"the policy is open: {policy}"
    if sorted(policy["script-src"]) != sorted(map(sha, parts.scripts)):
        yield "the policy's hashes are not those of the scripts"
    if sorted(policy["style-src"]) != sorted(map(sha, parts.styles)):
        yield "the policy's hashes are not those of the styles"
    if parts.loads:
        yield f"loads something: {parts.loads}"


def check_uplot():
    said = (ROOT / "data/README.md").read_text()
    for path in sorted((ROOT / "data/uplot").iterdir()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if not re.search(rf"{re.escape(path.name)}`.*{digest}", said):
            yield f"data/README.md does not say {digest} of {path.name}"


# ----------------------------------------------------- the long way


def points(first, last):
    """All that an axis may have: closer than 1/32 of their value."""
    point = 1
    while point <= last:
        if point >= first:
            yield point
        point += 2 ** max(point.bit_length() - 6, 0)


def at_least(values, at):
    return [sum(value >= point for value in values) for point in at]


def check_curve(what, found, values_of):
    """`values_of`: for each curve its name and values."""
    everything = [value for _, values in values_of for value in values]
    if not everything:
        if found["at"]:
            yield f"{what}: points without values"
        return
    at = found["at"]
    if at != list(points(at[0], at[-1])):
        yield f"{what}: points {at}"
    if (at[0] > max(min(everything), 1) or at[-1] <= max(everything)
            or (len(at) > 1 and at[1] <= min(everything))):
        yield f"{what}: from {at[0]} to {at[-1]} of {min(everything)} to " \
              f"{max(everything)}"
    expected = [{"name": name, "count": len(values),
                 "rows": at_least(values, at)} for name, values in values_of]
    if expected != found["curves"]:
        yield f"{what}: expected {expected}, found {found['curves']}"


def top_agents(rows):
    names = list(dict.fromkeys(row["agent_type"] for row in rows
                               if "agent_type" in row))
    count = {name: sum(row.get("agent_type") == name for row in rows)
             for name in names}
    return sorted(names, key=lambda name: -count[name])[:8]


def check_lengths(curves, rows, lengths):
    for index, key in enumerate(("prompt_length", "new_length",
                                 "output_length")):
        values = [("", [one[index] for one in lengths
                        if one[index] is not None])]
        for name in top_agents(rows):
            values.append((name, [one[index] for row, one in zip(rows, lengths)
                                  if row.get("agent_type") == name
                                  and one[index] is not None]))
        yield from check_curve(key, curves[key], values)


def gaps_of(rows):
    last, count = {}, {}
    delays, intervals = [], []
    for index, row in enumerate(rows):
        session = row.get("session_id", index)
        if session in count and "delay" in row:
            delays.append(math.floor(row["delay"] + 0.5))
        if "timestamp" in row:
            if session in last:
                intervals.append(math.floor(
                    row["timestamp"] - last[session] + 0.5))
            last[session] = row["timestamp"]
        count[session] = True
    return [("delay", delays), ("interval", intervals)]


def check_times(found, rows, lengths):
    stamps = [row["timestamp"] for row in rows if "timestamp" in row]
    if not stamps:
        if found["rows"]:
            yield "times: bins without rows"
        return
    width = 1
    while max(stamps) // width - min(stamps) // width >= 512:
        width *= 2
    first = min(stamps) // width
    count = int(max(stamps) // width - first) + 1
    bins = [[0, 0, 0, set()] for _ in range(count)]
    spans = {}
    for index, (row, one) in enumerate(zip(rows, lengths)):
        if "timestamp" not in row:
            continue
        place = int(row["timestamp"] // width - first)
        bins[place][0] += 1
        bins[place][1] += one[0]
        bins[place][2] += one[1]
        spans.setdefault(row.get("session_id", index), []).append(place)
    for session, places in spans.items():
        for place in range(min(places), max(places) + 1):
            bins[place][3].add(session)
    expected = {"width_ms": width, "first_ms": first * width,
                "rows": [one[0] for one in bins],
                "prompt_tokens": [one[1] for one in bins],
                "new_tokens": [one[2] for one in bins],
                "sessions": [len(one[3]) for one in bins]}
    if expected != found:
        yield f"times: expected {expected}, found {found}"


def check_caches(curves, paths_of):
    for curve, paths in zip(curves["caches"], paths_of):
        # A cache that is played through takes its time: some, and the last.
        told = list(zip(curve["blocks"], curve["tokens"]))
        told = told[:4] + told[4:-1:9] + told[-1:]
        expected = [(size, plain.lru(paths, size)) for size, _ in told]
        if expected != told:
            yield f"cache of {curve['block_size']}: expected {expected}, " \
                  f"found {told}"
        needed = curve["blocks"][-1] if curve["blocks"] else 0
        if curve["blocks"] != [*(point for point in points(1, needed)
                                 if point < needed), *[needed] * bool(needed)]:
            yield f"cache sizes {curve['blocks']}"


def by_rows(figures):
    figures = dict(figures)
    for key in LISTS:
        figures[key] = sorted(figures[key], key=lambda one: -one["rows"])[:100]
    return figures


def check_trace(tracebake, path, page, rows, is_delta, sizes):
    arguments = ["analyze", path, "--block-size", plain.BLOCK, "--rows",
                 "delta" if is_delta else "whole", "--report", page, "--json",
                 *sizes]
    told = json.loads(harness.run(tracebake, arguments).stdout)
    parts = Parts(page.read_text())
    yield from check_form(parts)
    if parts.data["figures"] != by_rows(told):
        yield "figures are not those of --json"
    paths_of = [list(plain.prompts(rows, is_delta, multiple))
                for multiple in [1, *(plain.MULTIPLES if sizes else [])]]
    served = list(plain.infinite(rows, paths_of[0]))
    lengths = [(plain.tokens_of(one, len(one)),
                plain.tokens_of(one, len(one)) - hit[2],
                row.get("output_length"))
               for row, one, hit in zip(rows, paths_of[0], served)]
    curves = parts.data["curves"]
    yield from check_caches(curves, paths_of)
    yield from check_lengths(curves, rows, lengths)
    yield from check_curve("gaps", curves["gaps"], gaps_of(rows))
    yield from check_times(curves["times"], rows, lengths)


def check_random(options, folder, seed):
    is_delta = seed % 2 == 1
    rows = plain.make_rows(seed, is_delta)
    for row in rows:
        if "agent_type" in row and seed % 3 == 0:
            row["agent_type"] = HOSTILE[int(row["agent_type"][5:])]
        if "timestamp" in row and seed % 4 == 0:
            row["timestamp"] *= 1000
    path, page = Path(folder, "rows.jsonl"), Path(folder, "page.html")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sizes = [] if seed % 5 == 0 else ["--block-sizes", ",".join(
        str(plain.BLOCK * multiple) for multiple in plain.MULTIPLES)]
    faults = list(check_trace(options.tracebake, path, page, rows, is_delta,
                              sizes))
    for fault in faults:
        print(f"DIFFERENT: seed {seed}: {fault}")
    return not faults


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--traces", type=int)
    options = parser.parse_args()
    count = options.traces or (6 if options.quick else 30)
    faults = list(check_uplot())
    for fault in faults:
        print(f"DIFFERENT: {fault}")
    with tempfile.TemporaryDirectory() as folder:
        good = sum(check_random(options, folder, seed)
                   for seed in range(count))
    print(f"report: {good} of {count} random traces")
    return good == count and not faults


if __name__ == "__main__":
    harness.main(job)
