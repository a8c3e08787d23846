"""Recorded LLM agent traces to mooncake JSONL, and exact tokenizers.

    import tracebake

    for row in tracebake.convert("trace.json", tokenizer="builtin"):
        print(row["session_id"], row["input_length"], row["hash_ids"])

    tokenizer = tracebake.Tokenizer.from_("builtin")
    ids = tokenizer.encode("There and back again")

docs/PYTHON.md is the manual, with more examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._library import version as _version
    from .conversion import Conversion as Conversion, convert as convert
    from .errors import (
        Error as Error, NotFoundError as NotFoundError,
        UsageError as UsageError,
    )
    from .inspection import (
        analyze as analyze, render as render, validate as validate,
        verify as verify,
    )
    from .tokenizer import Tokenizer as Tokenizer

    __version__ = _version()

__all__ = [
    "Conversion", "Error", "NotFoundError", "Tokenizer", "UsageError",
    "analyze", "convert", "render", "validate", "verify",
]

# Loaded when it is used: the program starts through this package too.
_HOMES = {
    "Conversion": "conversion",
    "Error": "errors",
    "NotFoundError": "errors",
    "Tokenizer": "tokenizer",
    "UsageError": "errors",
    "analyze": "inspection",
    "convert": "conversion",
    "render": "inspection",
    "validate": "inspection",
    "verify": "inspection",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        value = import_module("._library", __name__).version()
    elif name in _HOMES:
        value = getattr(import_module("." + _HOMES[name], __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__, "__version__"]
