#!/usr/bin/env python3
"""Rows are the same whether or not what a prompt repeats is taken over from
an earlier one (--no-reuse), on 1, 2, 3 and 8 threads: for recorded traces, and
for made ones of the shapes that bench/ measures.
"""
import argparse
import gzip
import sys
import tempfile
from pathlib import Path

import harness

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "bench"))
import traces  # noqa: E402

MADE = ("prompt_heavy", "step_heavy", "nothing_shared", "long_session",
        "telemetry")
THREADS = (1, 2, 3, 8)
WAYS = ((), ("--rows", "messages"), ("--prompt", "join"))


def kind_of(path):
    return "telemetry" if "tel" in path.name else "nat"


# The rows, or why there are none.
def rows(arguments, path, folder, tokenizer, *more):
    output = folder / "rows.jsonl"
    output.unlink(missing_ok=True)
    process = harness.run(arguments.tracebake, [
        kind_of(path), "--input-file", path, "--output-file", output,
        "--tokenizer", tokenizer, "--quiet", *more], check=False)
    return output.read_bytes() if output.exists() else process.stderr


def check(arguments, path, folder, name, threads, ways):
    tokenizer = harness.tokenizer_argument(name, arguments.tokenizers)
    good = True
    for way in ways:
        expected = rows(arguments, path, folder, tokenizer, "--no-reuse",
                        "--threads", 1, *way)
        for count in threads:
            for reuse in ((), ("--no-reuse",)):
                got = rows(arguments, path, folder, tokenizer, *reuse, *way,
                           "--threads", count)
                if got != expected:
                    print(f"FAILED: {path.name}, {name}, {count} threads, "
                          f"{' '.join(map(str, (*way, *reuse)))}")
                    harness.print_first_difference(expected, got)
                    good = False
    return good


def recorded(folder):
    for source in sorted(harness.DATA.glob("*.gz")):
        path = folder / source.name.removesuffix(".gz")
        path.write_bytes(gzip.decompress(source.read_bytes()))
        yield path


def job(arguments):
    size = 1 << (19 if arguments.quick else 21)
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in recorded(folder):
            good &= check(arguments, path, folder, "qwen3",
                          (1, 3) if arguments.quick else THREADS,
                          WAYS[:1] if arguments.quick else WAYS)
        for shape in MADE:
            path, _ = traces.get(name, shape, size)
            for tokenizer in ("llama3_1", harness.BUILTIN):
                good &= check(arguments, Path(path), folder, tokenizer,
                              (2,) if arguments.quick else THREADS,
                              WAYS[:1])
            good &= check(arguments, Path(path), folder, "qwen3", (2,), WAYS)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true", help="less of each")
    arguments = parser.parse_args()
    harness.main(lambda: job(arguments))


if __name__ == "__main__":
    main()
