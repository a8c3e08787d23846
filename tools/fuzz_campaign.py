#!/usr/bin/env python3
"""All fuzz targets by turns, for as long as one likes.

    tools/fuzz_campaign.py --hours 8 [--jobs 2] [--only json,nat]
    tools/fuzz_campaign.py --table

Runs the programs of build/fuzz (`./dev fuzz all HOURS` builds them), the one
with the least processor time so far first, until all together have had so many
hours of it, counted from when the log was begun. What is found goes on from one to the next: inputs in
build/fuzz/found/TARGET, failures in build/fuzz/TARGET-*. Each visit of a target
is a line of JSON in build/fuzz/campaign.jsonl, written when it ends, so that a
campaign can be stopped at any time.

--keep adds the sums of that file to fuzz/campaigns.tsv, which is in the tree,
and empties it; --table prints that table in Markdown, for docs/RELIABILITY.md.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/fuzz"
LOG = BUILD / "campaign.jsonl"
SUMS = ROOT / "fuzz/campaigns.tsv"
COLUMNS = ("date", "target", "seconds", "runs", "edges", "failures")


def targets():
    return sorted(path.name for path in (ROOT / "fuzz/corpus").iterdir())


# ------------------------------------------------------------------ one visit


def visit(target, seconds):
    """Runs a target once. What it did, as a line of the log has it."""
    found = BUILD / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    before = artifacts(target)
    command = [
        BUILD / "fuzz" / f"fuzz_{target}", f"-max_total_time={seconds}",
        f"-artifact_prefix={BUILD}/{target}-", "-max_len=8192",
        "-timeout=60", "-rss_limit_mb=3000", "-print_final_stats=1",
        found, ROOT / "fuzz/corpus" / target]
    process = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
        env={**os.environ, "TRACEBAKE_NO_CACHE": "1"})
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return {"date": time.strftime("%Y-%m-%d"), "target": target,
            "seconds": round(usage.ru_utime + usage.ru_stime, 1),
            "runs": number(r"number_of_executed_units:\s*(\d+)", said),
            "edges": number(r"cov: (\d+)", said),
            "failures": int(status != 0 and
                            is_real(target, artifacts(target) - before))}


def artifacts(target):
    return {path for path in BUILD.glob(f"{target}-*-*")
            if "-slow-unit-" not in path.name}


def is_real(target, left):
    """Does a visit that failed and left these inputs tell of a fault? One whose
    time was up, but not when it runs alone, was stopped by others while its
    clock went on: it is taken away. No input: another fault."""
    delayed = []
    for path in left:
        process = subprocess.run(
            [BUILD / "fuzz" / f"fuzz_{target}", "-timeout=60", path],
            capture_output=True, env={**os.environ, "TRACEBAKE_NO_CACHE": "1"})
        if "-timeout-" in path.name and process.returncode == 0:
            delayed.append(path)
            path.unlink()
    return not left or len(delayed) < len(left)


def number(pattern, said):
    """The last number that libFuzzer printed there, 0 when it did not."""
    return int((re.findall(pattern, said) or [0])[-1])


# --------------------------------------------------------------- the campaign


def neediest(had, busy):
    return min((name for name in had if name not in busy), key=had.get)


def campaign(options):
    names = options.only.split(",") if options.only else targets()
    had = dict.fromkeys(names, 0.0)
    for line in read_log():
        if line["target"] in had:
            had[line["target"]] += line["seconds"]
    end = options.hours * 3600
    done, running, failures = sum(had.values()), {}, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        while done < end or running:
            while done < end and len(running) < min(options.jobs, len(names)):
                name = neediest(had, running.values())
                running[pool.submit(visit, name, options.visit)] = name
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                line = future.result()
                del running[future]
                had[line["target"]] += line["seconds"]
                done += line["seconds"]
                failures += line["failures"]
                with LOG.open("a") as log:
                    log.write(json.dumps(line) + "\n")
                print(json.dumps(line), flush=True)
    return failures


def read_log():
    if not LOG.exists():
        return []
    return [json.loads(line) for line in LOG.read_text().splitlines()]


# ----------------------------------------------------------------------- sums


def summed(lines, *keys):
    """Lines of one target (and date) as one; edges: the most of any visit."""
    sums = {}
    for line in lines:
        key = tuple(line[name] for name in keys)
        one = sums.setdefault(key, {**line, "seconds": 0.0, "runs": 0,
                                    "edges": 0, "failures": 0})
        for name in ("seconds", "runs", "failures"):
            one[name] += line[name]
        one["edges"] = max(one["edges"], line["edges"])
    return [sums[key] for key in sorted(sums)]


def read_sums():
    rows = [line.split("\t") for line in SUMS.read_text().splitlines()[1:]]
    return [dict(zip(COLUMNS, (date, target, float(seconds), *map(int, rest))))
            for date, target, seconds, *rest in rows]


def keep():
    lines = read_sums() if SUMS.exists() else []
    lines = summed(lines + read_log(), "date", "target")
    text = ["\t".join(COLUMNS)]
    text += ["\t".join(f"{line[name]:.0f}" if name == "seconds"
                       else str(line[name]) for name in COLUMNS)
             for line in lines]
    SUMS.write_text("\n".join(text) + "\n")
    LOG.unlink(missing_ok=True)


def print_table():
    lines = summed(read_sums(), "target")
    total = defaultdict(float)
    print("| target | minutes | thousand runs | edges | failures |")
    print("|---|---|---|---|---|")
    for line in lines:
        print(f"| `{line['target']}` | {line['seconds'] / 60:.0f} "
              f"| {line['runs'] // 1000:,} | {line['edges']:,} "
              f"| {line['failures']} |")
        for name in ("seconds", "runs", "failures"):
            total[name] += line[name]
    print(f"| all | {total['seconds'] / 60:.0f} "
          f"| {total['runs'] / 1000:,.0f} | | {total['failures']:.0f} |")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hours", type=float, default=1,
                        help="processor time of this campaign")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--visit", type=int, default=60,
                        help="seconds until it is another target's turn")
    parser.add_argument("--only", help="these targets, by commas")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.keep:
        keep()
    elif options.table:
        print_table()
    elif campaign(options):
        sys.exit("failures are in build/fuzz")


if __name__ == "__main__":
    main()
