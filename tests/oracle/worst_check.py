#!/usr/bin/env python3
"""What the worst texts take: for every tokenizer, four times the text is four
times the work, and a stack of 256 KB is enough.

The driver encodes runs of one letter, dots, spaces, combining marks and such;
first half a megabyte of each, then two lengths under valgrind, which counts
instructions: what a busy machine does to a clock changes nothing in them.
"""
import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import files_oracle
import harness

LONG = 500_000  # bytes
LENGTHS = (8192, 32768)
# n log n is 4.6 for these, the square 16, and memory that is moved about 7
# where nothing else is slow.
MOST = 6


def tokenizers(folder):
    """By name: what the driver is given."""
    for name in harness.tokenizer_names(folder):
        yield name, harness.tokenizer_argument(name, folder)
    for name, place in files_oracle.PUBLISHED.items():
        yield name, files_oracle.in_wheel(*place)
    yield "j2", files_oracle.in_wheel(*files_oracle.J2)
    yield "mistral", files_oracle.in_wheel(
        "mistral_common", "data/mistral_instruct_tokenizer_240323.model.v3")


def run(command):
    process = subprocess.run([str(part) for part in command],
                             capture_output=True, timeout=harness.RUN_TIMEOUT)
    if process.returncode != 0:
        raise harness.Failure(harness.describe(process))
    return process.stdout.decode().splitlines()


def instructions(folder, process):
    """Of one process, all that it and those before it took."""
    text = Path(folder, f"out.{process}").read_text()
    return int(re.search(r"^summary: (\d+)", text, re.M)[1])


def counted(driver, argument):
    """By text: the instructions that each of LENGTHS takes. What a process
    took before it was a process of its own, another like it took, too."""
    with tempfile.TemporaryDirectory() as folder:
        lines = run(["valgrind", "--tool=cachegrind", "--cache-sim=no",
                     f"--cachegrind-out-file={folder}/out.%p",
                     driver, argument, *LENGTHS])
        taken = {}
        for line in lines:
            name, _, without, with_it = line.split()
            taken.setdefault(name, []).append(
                instructions(folder, with_it) - instructions(folder, without))
    return taken


def check(driver, name, argument, length):
    """The largest ratio, after a line on each text whose work grows faster."""
    done = run([driver, argument, length])
    ratios = {}
    for text, (short, long) in counted(driver, argument).items():
        if min(short, long) < LENGTHS[0]:
            raise harness.Failure(f"{text}: {short} and {long} instructions "
                                  "are too few to be true")
        ratios[text] = long / short
        if ratios[text] > MOST:
            print(f"TOO MUCH: {name}, {text}: {short:,} instructions for "
                  f"{LENGTHS[0]} bytes, {long:,} for {LENGTHS[1]}")
    worst = max(ratios, key=ratios.get)
    print(f"{name}: {len(done)} texts, four times the length is at most "
          f"{ratios[worst]:.2f} times the work ({worst})", flush=True)
    return ratios[worst]


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--driver", required=True, type=Path)
    parser.add_argument("--tokenizers", required=True, type=Path,
                        help="folder of <name>/tokenizer.json")
    parser.add_argument("--length", type=int, default=LONG, metavar="BYTES",
                        help=f"of the long texts (default: {LONG})")
    parser.add_argument("--only", metavar="NAME", action="append",
                        help="only this tokenizer (may be repeated)")
    options = parser.parse_args()
    ratios = [check(options.driver, name, argument, options.length)
              for name, argument in tokenizers(options.tokenizers)
              if not options.only or name in options.only]
    good = [ratio for ratio in ratios if ratio <= MOST]
    print(f"worst: {len(good)} of {len(ratios)} tokenizers take work that "
          "grows with the text alone")
    return ratios != [] and good == ratios


if __name__ == "__main__":
    harness.main(job)
