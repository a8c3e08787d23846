"""Tokenizers: exact ids of Hugging Face `tokenizers` and tiktoken, and back."""

from __future__ import annotations

import ctypes
import threading
from array import array
from ctypes import byref, c_size_t, c_uint32, c_void_p
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, cast

from . import _library
from ._library import StrPath, lib

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    Ids = numpy.typing.NDArray[numpy.uint32]
    Offsets = numpy.typing.NDArray[numpy.int64]

_SPARE = 16  # ids of a text beyond its bytes, at first


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


class _Handle:
    """A tokenizer of the library. Codecs keep it alive."""

    def __init__(self) -> None:
        self.pointer = c_void_p()

    def __del__(self) -> None:
        lib.tb_tokenizer_free(self.pointer)


class _Codec:
    """Working memory of one thread."""

    def __init__(self, handle: _Handle) -> None:
        self.handle = handle
        self.pointer = c_void_p()
        detail = _library.ErrorDetail()
        status = lib.tb_codec_new(handle.pointer, byref(self.pointer),
                                  byref(detail))
        if status != _library.OK:
            raise _library.error_of(status, detail)

    def __del__(self) -> None:
        lib.tb_codec_free(self.pointer)

    def count(self, text: str) -> int:
        data = text.encode()
        count = c_size_t()
        detail = _library.ErrorDetail()
        status = lib.tb_codec_count(self.pointer, data, len(data),
                                    byref(count), byref(detail))
        if status != _library.OK:
            raise _library.error_of(status, detail)
        return count.value

    def ids(self, count: int) -> Any:
        """Those of the text that was counted last, in the library's memory."""
        address = lib.tb_codec_ids(self.pointer) if count else None
        return (c_uint32 * count).from_address(address) if address else []


class Tokenizer:
    """One tokenizer, to be used by any number of threads at once."""

    def __init__(self, handle: _Handle) -> None:
        """Not for users: from_ makes tokenizers."""
        self._handle = handle
        self._local = threading.local()

    @classmethod
    def from_(
        cls,
        source: StrPath | bytes,
        *,
        fetch: bool = False,
        on_progress: Callable[[dict[str, Any]], object] | None = None,
    ) -> Tokenizer:
        """The tokenizer that `source` means.

        A str or path is, the first that there is of: "builtin" (o200k_base), a
        file (tokenizer.json, tekken.json, rank file of tiktoken's,
        SentencePiece model) or a folder with one, "org/model" or
        "org/model@revision" in the Hugging Face cache, a name of tiktoken's.
        With `fetch` it may come from the Hugging Face hub; `on_progress` gets a
        dict now and then meanwhile. bytes are the content of a tokenizer.json.
        """
        handle = _Handle()
        detail = _library.ErrorDetail()
        watch = _library.Watch(on_progress)
        if isinstance(source, bytes):
            status = lib.tb_tokenizer_load_json(
                source, len(source), byref(handle.pointer), byref(detail))
        else:
            options = _library.LoadOptions(
                size=ctypes.sizeof(_library.LoadOptions), may_fetch=fetch,
                on_progress=watch.on_fetch)
            with watch:
                status = lib.tb_tokenizer_load(
                    _library.word_of(source), byref(options),
                    byref(handle.pointer), byref(detail))
        watch.check(status, detail)
        return cls(handle)

    @property
    def fingerprint(self) -> str:
        """XXH3-128 of the file it was made from, 32 hex digits."""
        return bytes(lib.tb_tokenizer_fingerprint(self._handle.pointer)).decode()

    @property
    def origin(self) -> str:
        """Where it came from: a path, "built in", or "" for a content."""
        import os

        return os.fsdecode(lib.tb_tokenizer_origin(self._handle.pointer))

    @property
    def vocab_size(self) -> int:
        """The largest id + 1, added tokens included."""
        return int(lib.tb_tokenizer_vocab_size(self._handle.pointer))

    def __repr__(self) -> str:
        return f"<Tokenizer {self.origin or 'of a content'}>"

    # ---- texts to ids -------------------------------------------------------

    def _codec(self) -> _Codec:
        codec = getattr(self._local, "codec", None)
        if codec is None:
            codec = self._local.codec = _Codec(self._handle)
        return cast(_Codec, codec)

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without special tokens around it."""
        codec = self._codec()
        return list(codec.ids(codec.count(text)))

    def encode_numpy(self, text: str) -> Ids:
        """The same as an array of uint32."""
        ids, _ = self.encode_batch([text])
        return ids

    def count(self, text: str) -> int:
        """How many ids `text` has."""
        return self._codec().count(text)

    def encode_batch(self, texts: Iterable[str]) -> tuple[Ids, Offsets]:
        """The ids of many texts in one flat array of uint32, and where each
        begins: those of text i are ids[offsets[i]:offsets[i + 1]].

        They are written where they stay, without a copy, and the GIL is free
        meanwhile. Without numpy both are array.array.
        """
        data = [text.encode() for text in texts]
        lens = [len(one) for one in data]
        numpy = _numpy()
        batch = _Batch(numpy, len(data), sum(lens) + _SPARE * len(data))
        while batch.done < len(data):
            batch.encode(self._codec(), data[batch.done:], lens[batch.done:])
        return batch.finish()

    # ---- ids to texts -------------------------------------------------------

    def decode_bytes(
        self, ids: Sequence[int] | Any, *, skip_special_tokens: bool = False
    ) -> bytes:
        """What `ids` are written as; bytes that are no UTF-8 stay as they are,
        for a stream of ids that is decoded in pieces."""
        return self._decode(ids, skip_special_tokens, _library.DECODE_RAW)

    def decode(
        self, ids: Sequence[int] | Any, *, skip_special_tokens: bool = False
    ) -> str:
        """What Hugging Face gives for decode(ids, skip_special_tokens)."""
        return self._decode(ids, skip_special_tokens, 0).decode()

    def _decode(self, ids: Any, skip_special_tokens: bool, flags: int) -> bytes:
        codec = self._codec()
        if skip_special_tokens:
            flags |= _library.DECODE_SKIP_SPECIAL
        tokens = (c_uint32 * len(ids))(*ids)
        size = c_size_t()
        detail = _library.ErrorDetail()
        status = lib.tb_codec_decode(
            codec.pointer, tokens, len(ids), flags, None, 0, byref(size),
            byref(detail))
        # No room was given, so that text of any length is in the codec.
        if status != _library.OK and not (
                status == _library.LIMIT and size.value):
            raise _library.error_of(status, detail)
        if not size.value:
            return b""
        return ctypes.string_at(lib.tb_codec_text(codec.pointer), size.value)


class _Batch:
    """Room for the ids of many texts; grows when texts have more ids than
    bytes, which takes a normalizer that makes them longer."""

    def __init__(self, numpy: Any, text_count: int, capacity: int) -> None:
        self.numpy = numpy
        self.done = 0
        self.count = 0
        self.capacity = capacity
        self.ids: Any
        self.offsets: Any
        if numpy:
            self.ids = numpy.empty(capacity, numpy.uint32)
            self.offsets = numpy.zeros(text_count + 1, numpy.int64)
        else:
            self.ids = (c_uint32 * capacity)()
            self.offsets = (ctypes.c_int64 * (text_count + 1))()

    def _address(self, items: Any, at: int) -> int:
        if self.numpy:
            return int(items.ctypes.data) + at * int(items.itemsize)
        return ctypes.addressof(items) + at * ctypes.sizeof(items._type_)

    def encode(self, codec: _Codec, data: list[bytes], lens: list[int]) -> None:
        """As many of `data`, which are what is still to be done, as fit."""
        done = c_size_t()
        detail = _library.ErrorDetail()
        at = self.done
        status = lib.tb_codec_encode_batch(
            codec.pointer, _library.array_of(data),
            (c_size_t * len(lens))(*lens), len(lens),
            self._address(self.ids, self.count), self.capacity - self.count,
            self._address(self.offsets, at), byref(done), byref(detail))
        self._settle(at, done.value)
        if status == _library.LIMIT:
            self._grow()
        elif status != _library.OK:
            raise _library.error_of(status, detail)

    def _settle(self, at: int, done: int) -> None:
        """Offsets of one call are from its own beginning."""
        begin = self.count
        if begin:
            for i in range(at, at + done + 1):
                self.offsets[i] += begin
        self.done += done
        self.count = int(self.offsets[self.done])

    def _grow(self) -> None:
        self.capacity *= 2
        old = self.ids
        if self.numpy:
            self.ids = self.numpy.empty(self.capacity, self.numpy.uint32)
        else:
            self.ids = (c_uint32 * self.capacity)()
        ctypes.memmove(self._address(self.ids, 0), self._address(old, 0),
                       4 * self.count)

    def finish(self) -> tuple[Any, Any]:
        if self.numpy:
            self.ids.resize(self.count, refcheck=False)
            return self.ids, self.offsets
        view = memoryview(self.ids).cast("B")[:4 * self.count]
        return array("I", view.tobytes()), array("q", self.offsets)
