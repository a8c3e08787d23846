"""python -m tracebake.convert: a profiler trace to rows, as the Python
converter of that name does it (_dropin.py)."""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import _dropin
from .conversion import convert

_BLOCK_SIZE = 64
_DELAY = 500  # ms
_REQUEST = re.compile(rb'"request_number":\s*(\d+)')
# Calls without a row that the original does not count as calls.
_HALF = ("no_end", "no_start")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tracebake.convert",
        description="Convert profiler traces of NeMo Agent Toolkit to mooncake "
                    "rows.")
    parser.add_argument("--input-file", required=True,
                        help="all_requests_profiler_traces.json")
    parser.add_argument("--output-file",
                        help="default: <input>_mooncake.jsonl")
    parser.add_argument("--tokenizer",
                        help="name or path (default: by the recorded model)")
    parser.add_argument("--block-size", type=int, default=_BLOCK_SIZE,
                        help="tokens per block (default: %(default)s)")
    parser.add_argument("--num-requests", type=int,
                        help="convert only so many requests (default: all)")
    parser.add_argument("--skip-requests", type=int, default=0,
                        help="leave out so many first (default: %(default)s)")
    parser.add_argument("--delay", type=int, default=_DELAY,
                        help="ms between the calls of a session "
                             "(default: %(default)s)")
    return parser.parse_args()


# ---- what the original prints of a trace ------------------------------------


def _read(path: str) -> bytes:
    data = Path(path).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _numbers(data: bytes) -> list[int]:
    """Of the requests in the trace."""
    return [int(one[1]) for one in _REQUEST.finditer(data)]


def _salvage(data: bytes) -> bytes:
    """A trace of what the original can read of a damaged one, with a line for
    each request that it cannot."""
    print("Warning: JSON file appears truncated, attempting partial parse...")
    found = list(_REQUEST.finditer(data))
    begins = [data.rfind(b"{", 0, one.start()) for one in found]
    good = []
    for one, begin, end in zip(found, begins, [*begins[1:], len(data)]):
        request = data[begin:end].rstrip().rstrip(b",")
        try:
            json.loads(request)
            good.append(request)
        except ValueError:
            print(f"Warning: Could not parse request {int(one[1])}, skipping...")
    print(f"Successfully parsed {len(good)} complete requests")
    return b"[" + b",".join(good) + b"]"


def _print_tokenizer(args: argparse.Namespace, summary: dict[str, Any]) -> None:
    name = summary["tokenizer"]["name"]
    inferred = re.match("inferred from model '(.*)'$",
                        summary["tokenizer"]["reason"], re.S)
    if not args.tokenizer and inferred:
        print(f"Inferred tokenizer from model '{inferred[1].lower()}': {name}")
    elif not args.tokenizer:
        print(f"Could not infer tokenizer, using default: {name}")
    print(f"Using tokenizer: {args.tokenizer or name}")
    print(f"Block size: {args.block_size}")


def _print_requests(requests: list[int], calls: list[dict[str, Any]]) -> None:
    print(f"Processing {len(requests)} requests...")
    fates: dict[str, list[str]] = {}
    for call in calls:
        fate = call.get("skipped", "")
        if fate not in _HALF:
            fates.setdefault(call["recorded_session"], []).append(fate)
    for number in requests:
        found = fates.get(f"conv_{number}")
        if found is None:
            print(f"Warning: No LLM calls found in request {number}")
        for fate in found or []:
            if fate == "empty_prompt":
                print(f"Warning: Empty text in request {number}, "
                      "skipping LLM call")


def _print_rows(rows: list[dict[str, Any]]) -> None:
    if rows:
        print(f"Hashing {len(rows)} texts...")
        _dropin.print_head("Sessions (conversations)", rows)
        _dropin.print_lengths(("prompt_tokens", "completion_tokens"), rows)
    else:
        print("No valid LLM calls found")
        print("No data to report statistics on.")


# ---- the conversion ---------------------------------------------------------


class _Run:
    """A conversion with its rows and calls."""

    def __init__(self, args: argparse.Namespace, trace: str) -> None:
        self.output = _dropin.output_path(args)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "calls.jsonl"
            conversion = convert(
                trace, kind="nat", compat=True, fetch=True, calls=path,
                tokenizer=args.tokenizer, block_size=args.block_size,
                num_requests=args.num_requests,
                skip_requests=args.skip_requests, delay=args.delay)
            self.rows = _dropin.write_rows(conversion, self.output)
            with open(path, "rb") as file:
                self.calls = [json.loads(line) for line in file]
        self.summary = conversion.summary


def _rerun(args: argparse.Namespace, data: bytes) -> _Run:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(data)
        file.flush()
        return _Run(args, file.name)


def _job(args: argparse.Namespace) -> None:
    print(f"Loading {args.input_file}...")
    run = _Run(args, args.input_file)
    _dropin.print_losses(run.summary)
    data = _read(args.input_file)
    losses = run.summary["losses"]
    is_whole = data.rstrip().endswith(b"]")
    # What stands behind a broken place is not the same for both.
    if losses["cut_sessions"] or losses["records"] or not is_whole:
        data = _salvage(data)
        run = _rerun(args, data)
    requests = _numbers(data)
    print(f"Loaded {len(requests)} requests")
    _print_tokenizer(args, run.summary)
    requests = requests[args.skip_requests:][:args.num_requests]
    _print_requests(requests, run.calls)
    _print_rows(run.rows)
    print(f"\nSaved {len(run.rows)} entries to {run.output}")


def main() -> int:
    args = _parse()
    return _dropin.run(lambda: _job(args))


if __name__ == "__main__":
    sys.exit(main())
else:
    # The package has a function of this name, which stays what
    # `tracebake.convert` means.
    sys.modules[__name__] = convert  # type: ignore[assignment]
