#!/usr/bin/env python3
"""The recorded rows of the Python converters, reproduced byte for byte."""
import argparse
import tempfile
from pathlib import Path

import harness


def expected_files():
    """(trace, kind, tokenizer, block size, file) of every recorded file."""
    for path in sorted(harness.GOLDEN.glob("*.jsonl")):
        trace, tokenizer, block_size = path.stem.rsplit(".", 2)
        if trace.startswith("nat_"):
            trace = f"{trace.removeprefix('nat_')}.json.gz"
            yield trace, "nat", tokenizer, block_size, path
        else:
            yield f"{trace}.jsonl.gz", "telemetry", tokenizer, block_size, path


def convert(options, folder, case):
    trace, kind, tokenizer, block_size, path = case
    output = Path(folder, path.name)
    harness.run(options.tracebake, [
        kind, "--compat", "--input-file", harness.DATA / trace,
        "--output-file", output, "--block-size", block_size,
        "--tokenizer",
        harness.tokenizer_argument(tokenizer, options.tokenizers)])
    return output.read_bytes()


def count_rows(data):
    return data.count(b"\n")


def is_equal(name, expected, got):
    if expected == got:
        print(f"  {name}: {count_rows(expected)} rows equal")
        return True
    print(f"DIFFERENT: {name}")
    harness.print_first_difference(expected, got)
    return False


def job():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    options = parser.parse_args()
    good = rows = 0
    cases = list(expected_files())
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            expected = case[-1].read_bytes()
            got = convert(options, folder, case)
            if is_equal(case[-1].name, expected, got):
                good += 1
                rows += count_rows(expected)
    print(f"golden: {good} of {len(cases)} files equal, {rows} rows")
    return bool(cases) and good == len(cases)


if __name__ == "__main__":
    harness.main(job)
