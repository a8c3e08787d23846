"""The fields of rows (docs/FORMATS.md) as Arrow has them."""

from __future__ import annotations

import pyarrow


def known_fields() -> pyarrow.Schema:
    return pyarrow.schema([
        ("session_id", pyarrow.string()),
        ("agent_type", pyarrow.string()),
        ("input_length", pyarrow.int64()),
        ("output_length", pyarrow.int64()),
        ("hash_ids", pyarrow.list_(pyarrow.uint64())),
        ("timestamp", pyarrow.int64()),
        ("delay", pyarrow.int64()),
        ("parent_session_id", pyarrow.string()),
    ])
