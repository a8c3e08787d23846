#!/usr/bin/env python3
"""The README's example shows what the program prints.

    check_readme.py --tracebake build/release/tracebake [--update]

Between its two marks stands the output of `./dev run` on the trace of
examples/, indented; seconds may differ. --update writes it anew.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
EXAMPLE = ROOT / "examples" / "toolcall_trace.json"
ROWS = Path("build", "toolcall_trace_mooncake.jsonl")
BEGIN = "<!-- OUTPUT OF THE EXAMPLE: begin -->\n"
END = "<!-- OUTPUT OF THE EXAMPLE: end -->\n"


def example_output(tracebake):
    with tempfile.TemporaryDirectory() as work:
        Path(work, ROWS).parent.mkdir()
        process = subprocess.run(
            [tracebake.resolve(), "nat", "--input-file", EXAMPLE,
             "--output-file", ROWS, "--tokenizer", "builtin"],
            cwd=work, check=True, capture_output=True, text=True)
        rows = Path(work, ROWS).read_text().splitlines()
    return f"{process.stdout}\nrows are in {ROWS}\n", rows


def indented(text):
    return "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())


def without_seconds(text):
    return re.sub(r"[0-9.]+ s$", "_ s", text, flags=re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    text = README.read_text()
    before, rest = text.split(BEGIN)
    shown, behind = rest.split(END)
    output, rows = example_output(options.tracebake)
    block = f"\n{indented(output)}\n"
    if options.update:
        README.write_text(before + BEGIN + block + END + behind)
    elif without_seconds(shown) != without_seconds(block):
        sys.exit("README: the example prints something else: --update")
    missing = [row for row in re.findall(r'^    (\{"session_id.*)', behind,
                                         re.M) if row not in rows]
    if missing:
        sys.exit(f"README: no such rows: {missing}")


if __name__ == "__main__":
    main()
