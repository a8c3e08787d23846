"""Traces to rows."""

from __future__ import annotations

import json
import os
import threading
from ctypes import byref, c_void_p, sizeof
from typing import TYPE_CHECKING, Any, BinaryIO, Callable, Iterable, Iterator

from . import _library
from ._library import StrPath, lib
from .errors import Error

if TYPE_CHECKING:
    import pyarrow

Row = dict[str, Any]
OnProgress = Callable[[dict[str, Any]], object]

# Seconds for a conversion that was told to stop, and may wait for its input.
_PATIENCE = 5


def convert(
    paths: StrPath | Iterable[StrPath],
    *,
    kind: str | None = None,
    fetch: bool = False,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> Conversion:
    """A conversion of traces, whose rows are dicts when it is iterated.

    `kind` is the command of the program: "nat" or "telemetry"; None goes by
    the first path's name, *.jsonl (also .gz, .zst) being telemetry. `options`
    are the command's, with underscores: block_size=64, for_="aiperf",
    chat_template_kwargs={"enable_thinking": False}. With `fetch` a tokenizer
    that is not on this machine may come from the Hugging Face hub.

    Nothing runs yet, unless output_file= says where the rows go: then they are
    there, whole, when this returns. `on_progress` is called with a dict now and
    then; what it raises ends the conversion, and so does Ctrl-C.
    """
    operands = _library.paths_of(paths)
    files = options.get("files_from") is not None
    if len(operands) == 1 and not files:
        raise ValueError("no trace given")
    if kind is None:
        kind = _kind_of(os.fsdecode(operands[1]) if len(operands) > 1 else "")
    output = options.pop("output_file", None)
    words = _library.words_of(options) + operands
    conversion = Conversion(kind, words, fetch, on_progress)
    return conversion if output is None else conversion.write(output)


def _kind_of(path: str) -> str:
    for ending in (".gz", ".zst"):
        if path.endswith(ending):
            path = path[:-len(ending)]
    return "telemetry" if path.endswith(".jsonl") else "nat"


class Conversion:
    """What is to be converted, and how. Each iteration is a run of its own,
    and reads the traces anew."""

    def __init__(
        self,
        kind: str,
        words: list[bytes],
        fetch: bool,
        on_progress: OnProgress | None,
    ) -> None:
        """Not for users: convert makes conversions."""
        self.kind = kind
        self._words = words
        self._fetch = fetch
        self._on_progress = on_progress
        self._summary: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Row]:
        for line in self.lines():
            yield json.loads(line)

    def lines(self) -> Iterator[bytes]:
        """The rows as lines of JSON, as the program writes them.

        They come while the conversion runs, in a thread of its own, that waits
        for whoever iterates. A failure is raised when it happens, so that rows
        may have come before it; write() gives rows whole or not at all.
        """
        with _Stream(self) as rows:
            yield from rows.file
            rows.finish()

    def write(self, path: StrPath) -> Conversion:
        """Writes the rows to `path`, whole or not at all, and <path>.meta.json
        beside them; compressed when it ends in .gz or .zst."""
        watch = _library.Watch(self._on_progress)
        self._run(["--output-file", path], watch)
        return self

    def table(self) -> pyarrow.Table:
        """The rows as an Arrow table. Needs pyarrow."""
        import pyarrow.json

        from ._schema import known_fields

        with _Stream(self) as rows:
            first = rows.file.peek(1)[:1]  # type: ignore[attr-defined]
            if not first:
                rows.finish()
                return known_fields().empty_table()
            table = pyarrow.json.read_json(
                rows.file,
                # One row must fit into a block.
                read_options=pyarrow.json.ReadOptions(block_size=1 << 26),
                parse_options=pyarrow.json.ParseOptions(
                    explicit_schema=known_fields(),
                    unexpected_field_behavior="infer"))
            rows.finish()
        present = [name for name, column in zip(table.column_names,
                                                table.columns)
                   if column.null_count < len(column)]
        return table.select(present)

    @property
    def summary(self) -> dict[str, Any]:
        """The figures of the last run that ended, as --stats json prints them;
        when there was none, of a run that writes nothing."""
        if self._summary is None:
            self._run(["--dry-run"], _library.Watch(self._on_progress))
        assert self._summary is not None
        return self._summary

    def _run(self, more: list[Any], watch: _library.Watch) -> None:
        """Runs in this thread until it is done."""
        words = [*map(_library.word_of, more), *self._words]
        options = _library.ConversionOptions(
            size=sizeof(_library.ConversionOptions),
            command=self.kind.encode(),
            arguments=_library.array_of(words),
            argument_count=len(words),
            may_fetch=self._fetch,
            on_progress=watch.on_conversion,
            on_fetch=watch.on_fetch)
        conversion = c_void_p()
        detail = _library.ErrorDetail()
        try:
            with watch:
                status = lib.tb_conversion_run(
                    byref(options), byref(conversion), byref(detail))
            text = lib.tb_conversion_summary(conversion) if conversion else b""
        finally:
            lib.tb_conversion_free(conversion)
        summary = json.loads(text) if text else None
        try:
            watch.check(status, detail)
        except Error as error:
            error.summary = summary
            raise
        self._summary = summary


class _Stream:
    """A conversion that runs in a thread and writes its rows into a pipe, so
    that it waits while they are not read."""

    def __init__(self, conversion: Conversion) -> None:
        self._conversion = conversion
        self._watch = _library.Watch(conversion._on_progress)
        self._failure: BaseException | None = None
        reading, self._writing = os.pipe()
        self.file: BinaryIO = os.fdopen(reading, "rb", 1 << 18)
        self._thread = threading.Thread(
            target=self._run, name="tracebake", daemon=True)

    def _run(self) -> None:
        try:
            self._conversion._run(
                ["--output-file", f"/dev/fd/{self._writing}"], self._watch)
        except BaseException as failure:
            self._failure = failure
        finally:
            os.close(self._writing)

    def finish(self) -> None:
        """All has been read: raises what went wrong."""
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def __enter__(self) -> _Stream:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.is_stopped = True
        self.file.close()
        self._thread.join(_PATIENCE)
