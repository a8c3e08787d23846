#!/usr/bin/env python3
"""Rows, and figures of rows, are the same for every number of threads and every
order in which they run: threads give way at random (yield_shim.c), many times
over.

--times N   how many runs (10 in CI, 500 by hand under the thread sanitizer)
"""
import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
RUN_TIMEOUT = 300  # seconds


def command(tracebake, trace, threads):
    return [str(tracebake), "nat", *[str(trace)] * 3, "--tokenizer", "builtin",
            "--block-size", "16", "--output-file", "-", "--quiet",
            "--threads", str(threads)]


def analyze(tracebake, rows, threads):
    return [str(tracebake), "analyze", str(rows), "--json",
            "--threads", str(threads)]


BROKEN = ['{"input_length": 7, "hash_ids": [1, 2}', "", "[]", '{"a": 1}',
          '{"input_length": "9"}', '{"input_length": 8589934592}']


def make_rows(path):
    """Rows in several batches, with lines between that are none."""
    generator = random.Random(2)
    with open(path, "w", encoding="ascii", newline="") as file:
        for number in range(6000):
            ids = [generator.randrange(4 ** i + 1) for i in range(12)]
            file.write(json.dumps({
                "session_id": f"s{generator.randrange(500)}",
                "input_length": 512 * len(ids) - generator.randrange(512),
                "output_length": generator.randrange(300),
                "timestamp": number, "hash_ids": ids}))
            file.write(generator.choice(["\n", "\n", "\r\n", "\r"]))
            if generator.random() < 0.05:
                file.write(generator.choice(BROKEN) + "\n")


def run(words, environment):
    """Exit status, output, messages."""
    done = subprocess.run(words, env=environment, capture_output=True,
                          timeout=RUN_TIMEOUT)
    return done.returncode, done.stdout, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--shim", required=True, type=Path)
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    generator = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="threads-") as folder:
        trace = Path(folder, "trace.json")
        trace.write_bytes(gzip.decompress(
            (DATA / "1.9.0_nested_err_8req.json.gz").read_bytes()))
        environment = dict(os.environ, XDG_CACHE_HOME=folder)
        rows = Path(folder, "rows.jsonl")
        make_rows(rows)
        jobs = [(command, trace), (analyze, rows)]
        wanted = [run(make(options.tracebake, path, 1), environment)
                  for make, path in jobs]
        environment["LD_PRELOAD"] = str(options.shim.resolve())
        for seed in range(1, options.times + 1):
            environment["TB_YIELD"] = str(seed)
            threads = generator.randint(2, 9)
            for (make, path), told in zip(jobs, wanted):
                found = run(make(options.tracebake, path, threads), environment)
                if found != told or found[0] != 0:
                    sys.exit(f"FAILED: {make.__name__}, seed {seed}, {threads} "
                             f"threads, exit status {found[0]}: "
                             f"{found[2].decode()[-4000:]}")
    lost = wanted[1][2].count(b"rows.jsonl:")
    if lost < 5:
        sys.exit(f"FAILED: {lost} lines that are no rows were told")
    print(f"{options.times} runs of 2 to 9 threads: {wanted[0][1].count(b'{')} "
          "rows, and what analyze tells of rows and broken lines, the same "
          "each time")


if __name__ == "__main__":
    main()
