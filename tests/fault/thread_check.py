#!/usr/bin/env python3
"""Rows are the same for every number of threads and every order in which they
run: threads give way at random (yield_shim.c), many times over.

--times N   how many runs (10 in CI, 500 by hand under the thread sanitizer)
"""
import argparse
import gzip
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
        wanted = subprocess.run(command(options.tracebake, trace, 1),
                                env=environment, capture_output=True,
                                check=True).stdout
        environment["LD_PRELOAD"] = str(options.shim.resolve())
        for seed in range(1, options.times + 1):
            environment["TB_YIELD"] = str(seed)
            threads = generator.randint(2, 9)
            run = subprocess.run(command(options.tracebake, trace, threads),
                                 env=environment, capture_output=True,
                                 timeout=RUN_TIMEOUT)
            if run.returncode != 0 or run.stdout != wanted:
                sys.exit(f"FAILED: seed {seed}, {threads} threads, exit status "
                         f"{run.returncode}: {run.stderr.decode()[-4000:]}")
    print(f"{options.times} runs of 2 to 9 threads: {wanted.count(b'{')} rows, "
          "the same each time")


if __name__ == "__main__":
    main()
