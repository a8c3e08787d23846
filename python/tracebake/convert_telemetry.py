"""python -m tracebake.convert_telemetry: telemetry to rows, as the Python
converter of that name does it (_dropin.py)."""

from __future__ import annotations

import argparse
import sys

from . import _dropin
from .conversion import convert

_TOKENIZER = "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"
_BLOCK_SIZE = 64


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tracebake.convert_telemetry",
        description="Convert telemetry JSONL to mooncake rows.")
    parser.add_argument("--input-file", required=True,
                        help="telemetry, one event a line")
    parser.add_argument("--output-file",
                        help="default: <input>_mooncake.jsonl")
    parser.add_argument("--tokenizer", default=_TOKENIZER,
                        help="name or path (default: %(default)s)")
    parser.add_argument("--block-size", type=int, default=_BLOCK_SIZE,
                        help="tokens per block (default: %(default)s)")
    return parser.parse_args()


def _job(args: argparse.Namespace) -> None:
    print(f"Loading {args.input_file}...")
    conversion = convert(
        args.input_file, kind="telemetry", compat=True, fetch=True,
        tokenizer=args.tokenizer, block_size=args.block_size)
    output = _dropin.output_path(args)
    rows = _dropin.write_rows(conversion, output)
    _dropin.print_losses(conversion.summary)
    print(f"Loaded {conversion.summary['calls']} llm_call events")
    print(f"Using tokenizer: {args.tokenizer}")
    print(f"Block size: {args.block_size}")
    print(f"Tokenizing and hashing {conversion.summary['calls']} texts...")
    if rows:
        _dropin.print_head("Sessions", rows)
        _dropin.print_counts("Agent types", (row["agent_type"] for row in rows))
        _dropin.print_counts("Priorities", (row["priority"] for row in rows))
        _dropin.print_lengths(("tokens", "tokens"), rows)
    else:
        print("No data to report statistics on.")
    print(f"\nSaved {len(rows)} entries to {output}")


def main() -> int:
    args = _parse()
    return _dropin.run(lambda: _job(args))


if __name__ == "__main__":
    sys.exit(main())
