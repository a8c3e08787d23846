"""libtracebake by ctypes: include/tracebake.h in Python's words.

Every call releases the GIL for as long as it is in C. What is private to the
package is here; users see tokenizer.py, conversion.py and inspection.py.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from ctypes import (
    CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double,
    c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p,
)
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Union

from .errors import Error, NotFoundError, UsageError

StrPath = Union[str, "os.PathLike[str]"]

OK = 0
MEMORY = 1
LIMIT = 2
NOT_FOUND = 10
USAGE = 11
INTERRUPTED = 13

DECODE_SKIP_SPECIAL = 1
DECODE_RAW = 2


class ErrorDetail(Structure):
    _fields_ = [
        ("status", c_int),
        ("path", c_char * 256),
        ("line", c_uint64),
        ("offset", c_uint64),
        ("json_path", c_char * 128),
        ("message", c_char * 512),
    ]


class LoadProgress(Structure):
    _fields_ = [
        ("repo", c_char_p),
        ("file", c_char_p),
        ("bytes_done", c_uint64),
        ("bytes_total", c_uint64),
        ("is_waiting", c_bool),
    ]


class ConversionProgress(Structure):
    _fields_ = [
        ("path", c_char_p),
        ("bytes_done", c_uint64),
        ("bytes_total", c_uint64),
        ("row_count", c_uint64),
        ("seconds", c_double),
    ]


OnFetch = CFUNCTYPE(c_bool, c_void_p, POINTER(LoadProgress))
OnConversion = CFUNCTYPE(c_bool, c_void_p, POINTER(ConversionProgress))


class LoadOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("may_fetch", c_bool),
        ("on_progress", OnFetch),
        ("context", c_void_p),
    ]


class ConversionOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("command", c_char_p),
        ("arguments", POINTER(c_char_p)),
        ("argument_count", c_size_t),
        ("may_fetch", c_bool),
        ("on_progress", OnConversion),
        ("on_fetch", OnFetch),
        ("context", c_void_p),
    ]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "tb_version": (c_char_p, []),
    "tb_status_name": (c_char_p, [c_int]),
    "tb_error_format": (None, [POINTER(ErrorDetail), c_char_p, c_size_t]),
    "tb_tokenizer_load": (c_int, [
        c_char_p, POINTER(LoadOptions), POINTER(c_void_p),
        POINTER(ErrorDetail)]),
    "tb_tokenizer_load_json": (c_int, [
        c_char_p, c_size_t, POINTER(c_void_p), POINTER(ErrorDetail)]),
    "tb_tokenizer_free": (None, [c_void_p]),
    "tb_tokenizer_origin": (c_char_p, [c_void_p]),
    "tb_tokenizer_fingerprint": (c_char_p, [c_void_p]),
    "tb_tokenizer_vocab_size": (c_uint32, [c_void_p]),
    "tb_codec_new": (c_int, [
        c_void_p, POINTER(c_void_p), POINTER(ErrorDetail)]),
    "tb_codec_free": (None, [c_void_p]),
    "tb_codec_count": (c_int, [
        c_void_p, c_char_p, c_size_t, POINTER(c_size_t),
        POINTER(ErrorDetail)]),
    "tb_codec_ids": (c_void_p, [c_void_p]),
    "tb_codec_encode_batch": (c_int, [
        c_void_p, POINTER(c_char_p), POINTER(c_size_t), c_size_t, c_void_p,
        c_size_t, c_void_p, POINTER(c_size_t), POINTER(ErrorDetail)]),
    "tb_codec_decode": (c_int, [
        c_void_p, c_void_p, c_size_t, c_uint, c_void_p, c_size_t,
        POINTER(c_size_t), POINTER(ErrorDetail)]),
    "tb_codec_text": (c_void_p, [c_void_p]),
    "tb_conversion_run": (c_int, [
        POINTER(ConversionOptions), POINTER(c_void_p),
        POINTER(ErrorDetail)]),
    "tb_conversion_summary": (c_char_p, [c_void_p]),
    "tb_conversion_free": (None, [c_void_p]),
}


def _load() -> ctypes.CDLL:
    suffix = ".dylib" if sys.platform == "darwin" else ".so"
    library = ctypes.CDLL(str(Path(__file__).with_name("libtracebake" + suffix)))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _load()


def version() -> str:
    return bytes(lib.tb_version()).decode()


# ---- failures ---------------------------------------------------------------


def _text(value: bytes) -> str | None:
    return os.fsdecode(value) if value else None


def error_of(status: int, detail: ErrorDetail) -> Exception:
    """The exception for a status that is not OK."""
    if status == MEMORY:
        return MemoryError(os.fsdecode(detail.message))
    kind = {USAGE: UsageError, NOT_FOUND: NotFoundError}.get(status, Error)
    shown = ctypes.create_string_buffer(1024)
    lib.tb_error_format(byref(detail), shown, len(shown))
    has_place = detail.line > 0 or (detail.offset > 0 and not detail.path)
    return kind(
        os.fsdecode(shown.value),
        status=bytes(lib.tb_status_name(status)).decode(),
        message=os.fsdecode(detail.message),
        file=_text(detail.path),
        line=detail.line or None,
        offset=detail.offset if has_place else None,
        json_path=_text(detail.json_path),
    )


# ---- callbacks --------------------------------------------------------------


class Watch:
    """Calls of C back into Python. An exception cannot pass through C: it is
    kept, ends the run, and is raised when C has returned. Python handles
    signals here too, so that Ctrl-C arrives while C works."""

    def __init__(self, on_progress: Callable[[Any], object] | None) -> None:
        self.on_progress = on_progress
        self.is_stopped = False
        self.failure: BaseException | None = None
        self._handler: Callable[[int, Any], object] | None = None
        self.on_fetch = OnFetch(self._call)
        self.on_conversion = OnConversion(self._call)

    def _call(self, context: Any, progress: Any) -> bool:
        try:
            if self.on_progress is not None and not self.is_stopped:
                self.on_progress(plain(progress.contents))
        except BaseException as failure:
            self.failure = failure
        return not self.is_stopped and self.failure is None

    def __enter__(self) -> Watch:
        """While C runs in the main thread, what SIGINT's handler raises is
        kept too: it would be raised where it is lost."""
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)

    def _on_signal(self, number: int, frame: Any) -> None:
        try:
            assert self._handler is not None
            self._handler(number, frame)
        except BaseException as failure:
            self.failure = failure

    def check(self, status: int, detail: ErrorDetail) -> None:
        if self.failure is not None:
            raise self.failure
        if status != OK:
            raise error_of(status, detail)


def plain(progress: Structure) -> dict[str, Any]:
    """A C struct of numbers and texts as a dict."""
    found = {}
    for field in progress._fields_:
        value = getattr(progress, field[0])
        found[field[0]] = os.fsdecode(value) if isinstance(value, bytes) else value
    return found


# ---- words of a command line ------------------------------------------------


def words_of(options: Mapping[str, Any]) -> list[bytes]:
    """Keyword arguments as the options of the program: block_size=64 is
    --block-size 64. True is an option without a value, None and False are
    none, a list is the option once for each item, a dict is JSON. A name that
    Python has taken ends in an underscore: for_."""
    import json

    words: list[bytes] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        items = value if isinstance(value, (list, tuple)) else [value]
        for item in items:
            if item is None or item is False:
                continue
            words.append(option.encode())
            if isinstance(item, dict):
                words.append(json.dumps(item).encode())
            elif item is not True:
                words.append(word_of(item))
    return words


def word_of(value: Any) -> bytes:
    word = os.fsencode(value if isinstance(value, (str, bytes, os.PathLike))
                       else str(value))
    if b"\0" in word:
        raise ValueError("a zero byte in an option")
    return word


def paths_of(paths: StrPath | Iterable[StrPath]) -> list[bytes]:
    """One path or many, as operands: behind them nothing is an option."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    return [b"--", *map(word_of, paths)]


def array_of(words: list[bytes]) -> Any:
    return (c_char_p * len(words))(*words)
