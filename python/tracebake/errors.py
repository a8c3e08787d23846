"""What the package raises."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """A failure of tracebake, with the place it concerns as far as known.

    status     what kind it is, a short word: "syntax", "not found", "empty", ..
    message    the fault in words
    file       path of the file concerned, or None
    line       from 1 on, or None
    offset     bytes from the start of the file (or of the text), or None
    json_path  for example $[3].payload.UUID, or None
    summary    of a conversion: its figures as far as it came, or None
    """

    def __init__(
        self,
        text: str,
        *,
        status: str = "",
        message: str = "",
        file: str | None = None,
        line: int | None = None,
        offset: int | None = None,
        json_path: str | None = None,
    ) -> None:
        super().__init__(text)
        self.status = status
        self.message = message or text
        self.file = file
        self.line = line
        self.offset = offset
        self.json_path = json_path
        self.summary: dict[str, Any] | None = None


class UsageError(Error, ValueError):
    """Options that there are not, or that contradict each other."""


class NotFoundError(Error, LookupError):
    """No such file or tokenizer; the message says what was tried."""
