"""Rows, replays and prompts looked at: the program's analyze, validate, verify
and render, whose answers are JSON.

Each call is one run of the program that lies in this package; other threads go
on meanwhile, and Ctrl-C ends it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any, Iterable, Sequence

from . import _library
from ._library import StrPath
from ._program import PROGRAM
from .errors import Error, NotFoundError, UsageError

_USAGE = 2  # exit status of the program
_PLACE = re.compile(r"(\d+):(\d+): (?:(\$\S*): )?")


def analyze(paths: StrPath | Iterable[StrPath], **options: Any) -> dict[str, Any]:
    """What load rows make, and what a prefix cache would serve of it: the
    figures of `tracebake analyze --json` (docs/METRICS.md). Several files are
    one trace. `options` are the command's: block_size=, rows="delta",
    block_sizes="1024,2048", report="page.html", ..."""
    answers, failure = _ask("analyze", options, _library.paths_of(paths))
    return _only(answers, failure)


def validate(
    paths: StrPath | Iterable[StrPath], **options: Any
) -> list[dict[str, Any]]:
    """Would a load tester take these rows, and replay them as meant? An answer
    for each file, as `tracebake validate --json` gives it; `options` are the
    command's: for_="dynamo", block_size=, max_messages=."""
    operands = _library.paths_of(paths)
    answers, failure = _ask("validate", options, operands)
    if len(answers) < len(operands) - 1:
        raise failure
    return answers


def verify(run: StrPath, *, calls: StrPath, **options: Any) -> dict[str, Any]:
    """Was the replay the recorded load? The answer of `tracebake verify --json`
    for aiperf's artifact folder `run`; `calls` is what convert(..., calls=)
    wrote. `options`: rows=, tolerance=, late=."""
    answers, failure = _ask("verify", {"calls": calls, **options},
                            _library.paths_of(run))
    return _only(answers, failure)


def render(
    messages: Sequence[dict[str, Any]],
    tools: Sequence[dict[str, Any]] | None = None,
    *,
    tokenizer: StrPath | None = None,
    fetch: bool = False,
    **options: Any,
) -> str:
    """The prompt that a model's chat template makes of messages, as
    transformers' apply_chat_template gives it with add_generation_prompt=True.

    `tokenizer` is the folder with the template, or a name in the Hugging Face
    cache; `options` are those of `tracebake render`: chat_template=,
    chat_template_kwargs={...}, special_tokens={...}, now=.
    """
    request: dict[str, Any] = {"messages": list(messages)}
    if tools is not None:
        request["tools"] = list(tools)
    answers, failure = _ask(
        "render", {"tokenizer": tokenizer, **options}, [],
        text=json.dumps(request).encode() + b"\n", may_fetch=fetch)
    if not answers or answers[0] is None:
        raise failure
    return str(answers[0])


# ---- the program ------------------------------------------------------------


def _ask(
    command: str,
    options: dict[str, Any],
    operands: list[bytes],
    *,
    text: bytes = b"",
    may_fetch: bool = False,
) -> tuple[list[Any], Error]:
    """The answers, one a line, and what was said besides: an error that is to
    be raised when there are too few of them."""
    words = [os.fsencode(PROGRAM), command.encode()]
    if command != "render":
        words.append(b"--json")
    words += _library.words_of(options) + operands
    environment = dict(os.environ)
    if not may_fetch:
        environment["HF_HUB_OFFLINE"] = "1"
    done = subprocess.run(words, input=text, capture_output=True,
                          env=environment)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    said = os.fsdecode(done.stderr).strip().removeprefix("tracebake: ")
    return answers, _failure(said, done.returncode, operands[1:])


def _only(answers: list[Any], failure: Error) -> dict[str, Any]:
    if not answers:
        raise failure
    answer: dict[str, Any] = answers[0]
    return answer


def _failure(said: str, status: int, paths: list[bytes]) -> Error:
    """An error of what the program says first, which is the fault:
    "path:line:offset: $.json: fault", or "line 1: fault" of a template."""
    said = said.split("\n")[0].removeprefix("line 1: ")
    file = next((path for path in map(os.fsdecode, paths)
                 if said.startswith(path + ":")), None)
    message = said[len(file) + 1:].lstrip() if file else said
    place = _PLACE.match(message)
    if place:
        message = message[place.end():]
    is_missing = file is not None and file != "-" and not os.path.exists(file)
    kind = (UsageError if status == _USAGE else
            NotFoundError if is_missing else Error)
    return kind(
        said,
        status="usage" if status == _USAGE else
               "not found" if is_missing else "",
        message=message, file=file,
        line=int(place[1]) if place else None,
        offset=int(place[2]) if place else None,
        json_path=place[3] if place else None)
