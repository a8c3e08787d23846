#!/usr/bin/env python3
"""Measure tracebake beside other programs, in one interleaved run.

    bench/run.py [--quick] [--only CONVERT,TOKENIZE,LINEAR,WORST,ROWS]
                 [--rounds N] [--docs]

Makes its inputs of real text of this machine (texts.py, traces.py) and of rows
(rows.py), and its own Python environment with the peers of requirements.txt,
under build/bench.
Results are held equal before anything is timed: ids against Hugging Face
tokenizers, rows of one thread against those of two. Ours and theirs then run
by turns; what counts are medians of ratios within a round. Raw samples and the
machine's description go to bench/results/, a table to standard output, with
--docs also into docs/PERFORMANCE.md.
"""
import argparse
import datetime
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from texts import SOURCES  # noqa: E402
from traces import recipe  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "bench"
INPUTS = WORK / "inputs"
PYTHON = WORK / "venv" / "bin" / "python"
BUILD = WORK / "release"
TRACEBAKE = BUILD / "tracebake"
TOKENIZE = BUILD / "bench" / "bench_tokenize"
TOKENIZERS = ROOT / "build" / "tokenizers"
LLAMA = TOKENIZERS / "llama3_1"
O200K = TOKENIZERS / "gpt4o"
MEGABYTE = 1 << 20
MARKS = ("<!-- TABLE: begin -->", "<!-- TABLE: end -->")
GROUPS = ("convert", "tokenize", "linear", "worst", "rows")


def say(*words):
    print("bench:", *words, file=sys.stderr, flush=True)


# ------------------------------------------------------------- getting ready

def build():
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=Release", "-DTB_TESTS=ON"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "tracebake",
                    "bench_tokenize"], check=True, stdout=subprocess.DEVNULL)


def install_peers():
    wanted = (ROOT / "bench" / "requirements.txt").read_text()
    stamp = WORK / "venv" / "requirements.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    venv.create(WORK / "venv", with_pip=True, clear=True, symlinks=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "-r",
                    ROOT / "bench" / "requirements.txt"], check=True)
    stamp.write_text(wanted)


def helper(name, *arguments):
    """What one of our generators prints."""
    return subprocess.run(
        [sys.executable, ROOT / "bench" / name, *map(str, arguments)],
        check=True, capture_output=True, text=True).stdout.strip()


def get_trace(shape, size):
    """Its kind, path and figures; made when it is not there."""
    kind = "telemetry" if shape == "telemetry" else "nat"
    suffix = ".jsonl" if kind == "telemetry" else ".json"
    path, figures = json.loads(
        helper("traces.py", INPUTS, shape, size, suffix))
    say(shape, figures)
    return kind, path, figures


def machine():
    def first(path, key):
        with open(path, encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file
                         if line.startswith(key)), "")
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True).stdout.strip()
    return {
        "cpu": first("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": first("/proc/meminfo", "MemTotal"),
        "system": platform.platform(), "python": platform.python_version(),
        "load": os.getloadavg(), "commit": commit,
        "texts": helper("texts.py"), "recipe": recipe(),
    }


# ----------------------------------------------------------------- measuring

class Job:
    """One thing that is timed: a command, and how its seconds are had."""

    def __init__(self, name, command, stdin=None, is_inside=False):
        self.name, self.command, self.stdin = name, command, stdin
        self.is_inside = is_inside  # it prints its own seconds
        self.samples = []

    def run(self):
        with open(self.stdin or os.devnull, "rb") as source:
            begun = time.perf_counter()
            process = subprocess.Popen(
                [str(word) for word in self.command], stdin=source,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begun
        process.stdout.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"bench: failed: {' '.join(map(str, self.command))}")
        sample = {"seconds": wall, "cpu": usage.ru_utime + usage.ru_stime,
                  "peak_kb": usage.ru_maxrss}
        if self.is_inside:
            sample.update(json.loads(output.splitlines()[0]))
        self.samples.append(sample)

    def median(self, what):
        return statistics.median(sample[what] for sample in self.samples)


def interleave(jobs, rounds):
    for number in range(rounds):
        for job in (jobs if number % 2 == 0 else jobs[::-1]):
            job.run()


def ratios(job, base, what="seconds"):
    """Of this job to the base, within each round: median, least, most."""
    each = [mine[what] / other[what]
            for mine, other in zip(job.samples, base.samples)]
    return statistics.median(each), min(each), max(each)


class Report:
    def __init__(self):
        self.tables, self.raw = [], []

    def add(self, title, jobs, size=None, base=None, note=""):
        """A table; ratios are to `base`, else to the first job."""
        base = base or jobs[0]
        lines = [f"**{title}**" + (f" {note}" if note else ""), "",
                 "| | seconds | CPU s | MB/s | peak MB | time / first "
                 "| CPU / first |", "|---|---|---|---|---|---|---|"]
        for job in jobs:
            wall, cpu = ratios(job, base), ratios(job, base, "cpu")
            speed = f"{size / 1e6 / job.median('seconds'):.0f}" if size else ""
            lines.append(
                f"| {job.name} | {job.median('seconds'):.3f} "
                f"| {job.median('cpu'):.3f} | {speed} "
                f"| {job.median('peak_kb') / 1024:.0f} "
                f"| {wall[0]:.2f} ({wall[1]:.2f}-{wall[2]:.2f}) "
                f"| {cpu[0]:.2f} ({cpu[1]:.2f}-{cpu[2]:.2f}) |")
        self.tables.append("\n".join(lines))
        print("\n".join(lines), "\n", flush=True)
        self.raw.append({"title": title, "size": size, "note": note, "jobs": [
            {"name": job.name, "samples": job.samples} for job in jobs]})


# ------------------------------------------------------------------- convert

def convert(kind, path, *more, name, tokenizer=LLAMA, stdin=None):
    return Job(name, [TRACEBAKE, kind, "--input-file", path, "--output-file",
                      WORK / "rows.jsonl", "--tokenizer", tokenizer, "--quiet",
                      *more], stdin=stdin)


def rows_hash(job):
    job.run()
    job.samples.clear()
    return hashlib.sha256((WORK / "rows.jsonl").read_bytes()).hexdigest()


def check_rows(kind, path):
    """Rows do not depend on threads and reuse."""
    wanted = rows_hash(convert(kind, path, "--threads", 1, "--no-reuse", name=""))
    for more in (("--threads", 1), ("--threads", 2)):
        if rows_hash(convert(kind, path, *more, name="")) != wanted:
            raise SystemExit(f"bench: rows of {path} differ with {more}")


def bench_convert(report, sizes, rounds):
    for shape in ("prompt_heavy", "step_heavy", "nothing_shared", "telemetry"):
        kind, path, figures = get_trace(shape, sizes["trace"])
        check_rows(kind, path)
        jobs = [Job("orjson.loads alone", [PYTHON, ROOT / "bench" / "peer.py",
                                           "orjson", path], is_inside=True)]
        if kind == "nat":
            jobs.append(Job("simdjson parse alone",
                            [PYTHON, ROOT / "bench" / "peer.py", "simdjson",
                             path], is_inside=True))
        if shape == "nothing_shared":
            jobs += [peer("gigatoken_prompts", LLAMA / "tokenizer.json", path),
                     peer("toktok_prompts", "o200k_base", path)]
        jobs += [
            convert(kind, path, "--threads", 2, name="tracebake, 2 threads"),
            convert(kind, path, "--threads", 1, name="tracebake, 1 thread"),
            convert(kind, path, "--threads", 1, "--no-reuse",
                    name="tracebake, 1 thread, no reuse"),
        ]
        interleave(jobs, rounds)
        note = (f"{figures['bytes'] / 1e6:.1f} MB, {figures['sessions']} sessions, "
                f"{figures['calls']} calls")
        if figures["prompt_bytes"]:
            note += (f", {figures['prompt_bytes'] / 1e6:.1f} MB of prompts, "
                     f"{figures['new_bytes'] / 1e6:.1f} MB of them new")
        report.add(shape, jobs, figures["bytes"], note=note)


# ------------------------------------------------------------------ tokenize

def sample_path(kind, size):
    path = INPUTS / f"{kind}-{size}-{recipe()}.txt"
    if not path.exists():
        INPUTS.mkdir(parents=True, exist_ok=True)
        helper("texts.py", kind, size, path)
    return path


def peer(name, tokenizer, path):
    return Job(name, [PYTHON, ROOT / "bench" / "peer.py", name, tokenizer, path],
               is_inside=True)


def ids_hash(tokenizer, path):
    output = WORK / "ids.bin"
    subprocess.run([TOKENIZE, tokenizer, path, "1", output], check=True,
                   stdout=subprocess.DEVNULL)
    return hashlib.sha256(output.read_bytes()).hexdigest()[:16]


def check_ids(tokenizer, path, others):
    for job in others:
        job.run()
        found = job.samples.pop()["hash"]
        if found != ids_hash(tokenizer, path):
            raise SystemExit(f"bench: ids of {path} differ from {job.name}'s")


def bench_tokenize(report, sizes, rounds):
    for kind in SOURCES:
        small, path = (sample_path(kind, size)
                       for size in (sizes["check"], sizes["text"]))
        for name, tokenizer, encoding in (("Llama 3.1", LLAMA, None),
                                          ("o200k", O200K, "o200k_base")):
            json_path = tokenizer / "tokenizer.json"
            check_ids(tokenizer, small, [peer("hf", json_path, small)])
            others = [peer("gigatoken", json_path, path)]
            if encoding:
                others.append(peer("toktok", encoding, path))
            else:
                others.append(peer("fastokens", json_path, path))
            check_ids(tokenizer, path, others)
            ours = Job("tracebake", [TOKENIZE, tokenizer, path], is_inside=True)
            interleave([*others, ours], rounds)
            report.add(f"{name}, {kind}", [*others, ours], path.stat().st_size,
                       note=f"{path.stat().st_size / 1e6:.0f} MB as one text, "
                            "one thread, empty caches")


# -------------------------------------------------------------------- linear

def bench_linear(report, sizes, rounds):
    base = sizes["linear"][0]
    jobs, note = [], []
    for size in sizes["linear"]:
        _, path, figures = get_trace("prompt_heavy", size)
        jobs.append(convert("nat", path, name=f"{figures['bytes'] / 1e6:.0f} MB"))
        note.append(f"{figures['bytes'] / 1e6:.0f}")
    interleave(jobs, max(2, rounds // 2))
    report.add("the same shape, larger", jobs, note="MB: " + ", ".join(note))
    for shape in ("long_session", "many_tiny"):
        jobs = []
        for part in (base // 2, base):
            _, path, figures = get_trace(shape, part)
            jobs.append(convert("nat", path, name=f"{figures['calls']} calls, "
                                f"{figures['bytes'] / 1e6:.0f} MB"))
        interleave(jobs, rounds)
        report.add(shape, jobs)
    bench_ways_in(report, base, rounds)


def bench_ways_in(report, size, rounds):
    """File, pipe, compressed; and telemetry, which is read twice."""
    for shape in ("prompt_heavy", "telemetry"):
        kind, path, figures = get_trace(shape, size)
        for ending, program in ((".gz", "gzip"), (".zst", "zstd")):
            if not os.path.exists(path + ending):
                subprocess.run([program, "-kq3", path], check=True)
        shell = f"{{}} '{path}{{}}' | '{TRACEBAKE}' {kind} --input-file - " \
                f"--output-file '{WORK}/rows.jsonl' --tokenizer '{LLAMA}' --quiet"
        jobs = [convert(kind, path, name="file"),
                convert(kind, "-", name="standard input", stdin=path)]
        for ending, feeder in ((".gz", "zcat"), (".zst", "zstdcat")):
            jobs.append(convert(kind, path + ending, name=ending))
            jobs.append(Job(f"{feeder} |", [
                "sh", "-c", shell.format(feeder, ending)]))
        interleave(jobs, rounds)
        report.add(f"ways in, {shape}", jobs, figures["bytes"])


# --------------------------------------------------------------------- worst

WORST = {"letters": "a", "dots": ".", "spaces": " ", "newlines": "\n",
         "quotes": "'", "ideographs": "\u4e2d", "marks": "e\u0301"}


def bench_worst(report, sizes, rounds):
    for tokenizer in (LLAMA, O200K):
        for name, piece in WORST.items():
            jobs = []
            for part in (sizes["worst"] // 2, sizes["worst"]):
                path = INPUTS / f"worst-{name}-{part}.txt"
                INPUTS.mkdir(parents=True, exist_ok=True)
                path.write_bytes(piece.encode() * (part // len(piece.encode())))
                jobs.append(Job(f"{part} bytes", [TOKENIZE, tokenizer, path],
                                is_inside=True))
            interleave(jobs, rounds)
            report.add(f"{name}, {tokenizer.name}", jobs)


# ---------------------------------------------------------------------- rows

def bench_rows(report, sizes, rounds):
    """What reads rows, beside parsing their lines."""
    for shape in ("agents", "published", "fresh", "hashes", "deltas"):
        figures = json.loads(helper("rows.py", INPUTS, shape, sizes["rows"]))
        path = figures["path"]
        kind = "delta" if shape == "deltas" else "whole"
        jobs = [Job("orjson, its lines alone",
                    [PYTHON, ROOT / "bench" / "peer.py", "orjson_lines", path],
                    is_inside=True),
                Job("analyze", [TRACEBAKE, "analyze", path, "--rows", kind])]
        interleave(jobs, rounds)
        report.add(f"rows, {shape}", jobs, figures["bytes"], note=(
            f"{figures['bytes'] / 1e6:.0f} MB, {figures['rows']} rows, "
            f"{figures['blocks']} distinct blocks"))


# ---------------------------------------------------------------------- main

def write_results(report, described, rounds):
    folder = ROOT / "bench" / "results"
    folder.mkdir(exist_ok=True)
    described["load_after"] = os.getloadavg()
    day = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    path = folder / f"{day}-{described['commit']}.json"
    path.write_text(json.dumps({"machine": described, "rounds": rounds,
                                "measured": report.raw}, indent=1) + "\n")
    say("raw samples in", path.relative_to(ROOT))


def write_docs(report, described, rounds):
    path = ROOT / "docs" / "PERFORMANCE.md"
    text = path.read_text(encoding="utf-8")
    head, _, rest = text.partition(MARKS[0])
    tail = rest.partition(MARKS[1])[2]
    about = (f"{described['cpu']}, {described['cores']} cores, "
             f"{described['system']}, commit {described['commit']}, "
             f"{rounds} rounds, load {described['load'][0]:.1f} before and "
             f"{described['load_after'][0]:.1f} after. Medians; of ratios within "
             "a round also least and most.")
    path.write_text(head + "\n\n".join([MARKS[0], about, *report.tables,
                                        MARKS[1]]) + tail, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="small inputs")
    parser.add_argument("--only", default=",".join(GROUPS),
                        help="groups, of " + ", ".join(GROUPS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--docs", action="store_true",
                        help="write the tables into docs/PERFORMANCE.md")
    arguments = parser.parse_args()
    sizes = {"trace": 109 * MEGABYTE, "text": 20_000_000, "check": 1_000_000,
             "worst": 2_000_000, "rows": 1_000_000_000,
             "linear": [10 * MEGABYTE, 109 * MEGABYTE, 1000 * MEGABYTE]}
    if arguments.quick:
        sizes = {"trace": 10 * MEGABYTE, "text": 2_000_000, "check": 200_000,
                 "worst": 200_000, "rows": 50_000_000, "linear": [5 * MEGABYTE, 20 * MEGABYTE]}
    build()
    install_peers()
    described, report = machine(), Report()
    for group in arguments.only.split(","):
        globals()[f"bench_{group}"](report, sizes, arguments.rounds)
    write_results(report, described, arguments.rounds)
    if arguments.docs:
        write_docs(report, described, arguments.rounds)


if __name__ == "__main__":
    main()
