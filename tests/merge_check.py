#!/usr/bin/env python3
"""Traces cut into parts, converted apart and merged, against one run over the
whole.

Each round makes a trace of either kind, cuts it, converts the parts with
--ids content in any order and number of threads, and merges them in three
orders, in memory and on the disk. All three must be the same bytes, those of
the whole converted with --ids content and merged alone, and where our count of
tokens leads also those of a plain run.

    merge_check.py --tracebake build/release/tracebake --seconds 600
    merge_check.py --tracebake build/release/tracebake --gigabytes 2 --parts 64
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "oracle"))
sys.path.insert(0, str(HERE.parent / "bench"))
import damage  # noqa: E402
import soak  # noqa: E402

BLOCK = 1 << 20  # bytes that are compared at a time


class Difference(Exception):
    pass


class Runner:
    """Runs of tracebake in a folder."""

    def __init__(self, tracebake, folder):
        self.tracebake, self.folder = tracebake, Path(folder)
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(folder),
                                HF_HUB_OFFLINE="1")
        self.seconds = 0

    def run(self, *arguments):
        """What it printed. Keeps what it took in `seconds`."""
        begun = time.monotonic()
        process = subprocess.run(
            [str(self.tracebake), *map(str, arguments)], cwd=self.folder,
            env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        self.seconds = time.monotonic() - begun
        if process.returncode != 0:
            raise Difference(
                f"{process.returncode} of {arguments}: {process.stdout}")
        return process.stdout

    def same(self, what, a, b):
        with open(self.folder / a, "rb") as one, open(self.folder / b,
                                                      "rb") as other:
            while True:
                left, right = one.read(BLOCK), other.read(BLOCK)
                if left != right:
                    raise Difference(f"{what}: {a} is not {b}")
                if not left:
                    return


# ------------------------------------------------------- random traces


def cut(rng, kind, records):
    """Parts of a trace: of a profiler's by request, in their order; of
    telemetry by session."""
    count = rng.randint(1, 9)
    if kind == "telemetry":
        names = sorted({record["session_id"] for record in records})
        part_of = {name: rng.randrange(count) for name in names}
        return [[record for record in records
                 if part_of[record["session_id"]] == part]
                for part in range(count)]
    if rng.random() < 0.5:  # any request to any part
        parts = [[] for _ in range(count)]
        for record in records:
            rng.choice(parts).append(record)
        return parts
    places = sorted(rng.randint(0, len(records)) for _ in range(count - 1))
    return [records[a:b] for a, b in zip([0, *places],
                                         [*places, len(records)])]


def write(folder, name, kind, records):
    (folder / name).write_bytes(
        damage.telemetry_bytes(records) if kind == "telemetry"
        else damage.dumped(records))


def options_of(rng, folder):
    """Options of all runs, and those of runs with --ids content."""
    common = ["--tokenizer", "tokenizer.json", "--quiet", "--block-size",
              rng.choice((1, 4, 16, 64)),
              "--lengths", rng.choice(("tokens", "usage")),
              "--rows", rng.choice(("whole", "delta")),
              "--timestamps", rng.choice(("none", "session", "all")),
              "--delay", rng.choice(("none", "recorded"))]
    content = ["--ids", "content"]
    if rng.random() < 0.3:
        (folder / "salt").write_text("sixteen letters.")
        content += ["--salt-file", "salt"]
    return common, content


def check_trace(runner, seed):
    rng, maker = random.Random(seed), soak.Maker(seed, "mixed")
    kind = rng.choice(("nat", "telemetry"))
    records = getattr(maker, kind)()
    common, content = options_of(rng, runner.folder)
    parts = cut(rng, kind, records)
    names = []
    for number, part in enumerate(parts):
        write(runner.folder, f"{number}.in", kind, part)
        names.append(f"{number}.jsonl")
    write(runner.folder, "whole.in", kind, records)
    for number in rng.sample(range(len(parts)), len(parts)):
        runner.run(kind, f"{number}.in", *common, *content, "--output-file",
                   names[number], "--threads", rng.randint(1, 4))
    runner.run(kind, "whole.in", *common, *content, "--output-file", "alone")
    runner.run("merge", "alone", "--output-file", "wanted")
    for memory in ("2M", "64M", "1G"):  # the least holds the longest row
        rng.shuffle(names)
        runner.run("merge", *names, "--output-file", "merged", "--max-memory",
                   memory)
        runner.same(f"{kind}, {len(parts)} parts, {memory}", "merged", "wanted")
    if "tokens" in common:
        runner.run(kind, "whole.in", *common, "--output-file", "plain")
        runner.same(f"{kind}, one run", "merged", "plain")
    return len(parts)


def check_traces(runner, options):
    end, seed, parts = time.monotonic() + options.seconds, options.seed, 0
    (runner.folder / "tokenizer.json").write_text(soak.tokenizer())
    while time.monotonic() < end or seed == options.seed:
        try:
            parts += check_trace(runner, seed)
        except Difference as problem:
            sys.exit(f"FAILED: seed {seed}: {problem}")
        seed += 1
    print(f"{seed - options.seed} traces in {parts} parts, no difference")


# ----------------------------------------------------------- a large one


def cut_file(path, folder, count):
    """Cuts a file of bench/traces.py at requests into files of equal size."""
    names, size = [], path.stat().st_size
    with open(path, encoding="ascii") as whole:
        whole.readline()  # [
        for number in range(count):
            name = folder / f"part-{number}.json"
            names.append(name.name)
            copy_requests(whole, name, size * (number + 1) // count)
    return names


def copy_requests(whole, name, end):
    """Copies requests until the file is read up to byte `end`."""
    with open(name, "w", encoding="ascii") as part:
        part.write("[\n")
        separator = ""
        while whole.tell() < end:
            request = next_request(whole)
            if request is None:
                break
            part.write(separator + request)
            separator = ",\n"
        part.write("\n]\n")


def next_request(whole):
    lines = []
    for line in iter(whole.readline, ""):
        if line.startswith("]"):
            return None
        if line.startswith("  }"):
            return "".join(lines) + "  }"
        lines.append(line)
    return None


def check_large(runner, options):
    import traces
    whole, rng = runner.folder / "whole.json", random.Random(options.seed)
    made = traces.prompt_heavy(str(whole), int(options.gigabytes * 1e9))
    names = cut_file(whole, runner.folder, options.parts)
    common = ["--tokenizer", options.tokenizer, "--quiet"]
    print(f"{made['bytes'] / 1e9:.2f} GB, {made['sessions']} sessions, "
          f"{made['calls']} calls in {len(names)} parts", flush=True)
    runner.run("nat", "whole.json", *common, "--output-file", "plain")
    print(f"one run: {runner.seconds:.1f} s", flush=True)
    shards, seconds = [], 0
    for name in rng.sample(names, len(names)):
        shards.append(name + "l")
        runner.run("nat", name, *common, "--ids", "content", "--output-file",
                   shards[-1])
        seconds += runner.seconds
    print(f"parts: {seconds:.1f} s", flush=True)
    for memory in ("1G", "16M", "4M"):
        rng.shuffle(shards)
        said = runner.run("merge", *shards, "--output-file", "merged",
                          "--max-memory", memory)
        print(f"merge, {memory}: {runner.seconds:.1f} s: {said.strip()}",
              flush=True)
        runner.same(f"{len(shards)} parts, {memory}", "merged", "plain")
    rows = (runner.folder / "plain").stat().st_size
    print(f"the same {rows / 1e6:.0f} MB of rows each time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gigabytes", type=float,
                        help="one trace of this size instead, cut --parts ways")
    parser.add_argument("--parts", type=int, default=64)
    parser.add_argument("--tokenizer", default="builtin",
                        help="of the large trace")
    parser.add_argument("--folder", type=Path,
                        help="for temporary files; else $TMPDIR or /tmp")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="merge-",
                                     dir=options.folder) as folder:
        runner = Runner(options.tracebake.resolve(), folder)
        try:
            if options.gigabytes:
                check_large(runner, options)
            else:
                check_traces(runner, options)
        except Difference as problem:
            sys.exit(f"FAILED: {problem}")


if __name__ == "__main__":
    main()
