"""What the two drop-ins share: they take the place of the Python converters of
Dynamo's benchmarks (nat_trace), with their options, rows and printed lines, so
that a script around them notices nothing but the time. The rows are those of
--compat. What the originals have no words for goes to standard error."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from typing import Any, Callable, Iterable

from .conversion import Conversion
from .errors import Error

_RULE = "=" * 60


def output_path(args: Any) -> str:
    return str(args.output_file or
               os.path.splitext(args.input_file)[0] + "_mooncake.jsonl")


def write_rows(conversion: Conversion, path: str) -> list[dict[str, Any]]:
    """Writes the rows, whole or not at all, and returns them."""
    rows = []
    folder = os.path.dirname(os.path.abspath(path))
    fd, beside = tempfile.mkstemp(dir=folder, prefix=".tracebake-")
    try:
        with os.fdopen(fd, "wb") as file:
            for line in conversion.lines():
                file.write(line)
                rows.append(json.loads(line))
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
    return rows


def print_losses(summary: dict[str, Any]) -> None:
    """What the originals would have stopped at, or passed over in silence."""
    for message in summary["messages"]:
        print(f"tracebake: {message}", file=sys.stderr)
    more = summary["message_count"] - len(summary["messages"])
    if more > 0:
        print(f"tracebake: and {more} more", file=sys.stderr)


def print_head(sessions_title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{_RULE}\nCONVERSION STATISTICS\n{_RULE}")
    turns = Counter(row["session_id"] for row in rows).values()
    print(f"\n{sessions_title}: {len(turns)}")
    print(f"Turns per session: min={min(turns)}, max={max(turns)}, "
          f"avg={_mean(turns):.1f}")
    print(f"Total LLM calls: {len(rows)}")


def print_lengths(names: tuple[str, str], rows: list[dict[str, Any]]) -> None:
    _print_range(f"Input Length ({names[0]})",
                 [row["input_length"] for row in rows])
    _print_range(f"Output Length ({names[1]})",
                 [row["output_length"] for row in rows])
    _print_range("Hash IDs per entry", [len(row["hash_ids"]) for row in rows])
    print(_RULE)


def print_counts(title: str, values: Iterable[Any]) -> None:
    print(f"\n{title}:")
    for value, count in Counter(values).most_common():
        print(f"  {value}: {count}")


def _print_range(title: str, values: list[Any]) -> None:
    print(f"\n{title}:")
    print(f"  Min: {min(values)}")
    print(f"  Max: {max(values)}")
    print(f"  Avg: {_mean(values):.1f}")


def _mean(values: Any) -> float:
    return float(sum(values) / len(values))


def run(job: Callable[[], None]) -> int:
    """Exit status of a drop-in."""
    try:
        job()
    except (Error, OSError) as failure:
        sys.stdout.flush()
        print(f"tracebake: {failure}", file=sys.stderr)
        return 1
    return 0
