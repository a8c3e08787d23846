"""Many traces on a Ray cluster: converted apart by its workers, and merged.

    import tracebake.ray

    tracebake.ray.convert(paths, "rows.jsonl", kind="nat",
                          options=["--tokenizer", "org/model"])

Needs `pip install ray`, and fsspec for paths that are URLs. docs/SCALE.md says
what may be in a part, and when the rows are those of one run.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tempfile
from typing import Any, Iterable, NamedTuple, Sequence

_RETRIES = 8  # of a part whose worker died


def convert(
    paths: Iterable[str],
    output: str,
    *,
    kind: str,
    options: Sequence[str] = (),
    parts: str | None = None,
    num_cpus: float = 1,
    requests: int | None = None,
) -> None:
    """Converts the traces at `paths`, and writes their rows to `output`.

    Paths may be URLs that fsspec knows (s3://, gs://, https://): a worker
    copies such a trace to its own disk first. `kind` and `options` are the
    words of the command line; --ids, --session-prefix, --threads and
    --output-file are this function's. Sessions are named after the path.

    Rows of each trace go to the folder `parts` (OUTPUT.parts when not given),
    which all workers must see: whole, or not at all, and what is there is not
    made again. So a worker may die at any time, and after a failure the same
    call goes on where it was. Other options need another folder; rows of
    several are refused when they are merged.

    A trace is converted by one worker, with `num_cpus` threads; with
    `requests`, for profiler traces, so many of its requests by one worker, so
    that a trace that is far longer than the others keeps all workers busy.
    Each reads past the requests before its own. A trace that fails raises
    RuntimeError with what the program said, once all others are done.
    """
    import ray

    traces = list(paths)
    folder = os.path.abspath(parts or output + ".parts")
    os.makedirs(folder, exist_ok=True)
    task = ray.remote(max_retries=_RETRIES, num_cpus=num_cpus)(_convert_part)
    words = [*options, "--threads", str(max(1, int(num_cpus)))]

    def begin(part: _Part) -> Any:
        return task.remote(kind, part, folder, words, os.getcwd())

    ahead = 1
    if requests:
        workers = ray.cluster_resources().get("CPU", 1) / num_cpus
        ahead = max(1, int(workers / max(1, len(traces))))
    waiting = {
        begin(part): part for trace in traces
        for part in _first_parts(trace, requests, ahead)}
    made, failures = [], []
    while waiting:
        done, _ = ray.wait(list(waiting))
        part = waiting.pop(done[0])
        said, has_more = ray.get(done[0])
        made.append(part)
        if said:
            failures.append(said)
        elif requests and has_more:
            following = part._replace(first=part.first + ahead * requests)
            waiting[begin(following)] = following
    if failures:
        raise RuntimeError("\n".join(failures))
    _merge(folder, made, output)


class _Part(NamedTuple):
    trace: str
    first: int
    count: int | None  # requests; None: the whole trace


def _first_parts(trace: str, requests: int | None,
                 ahead: int) -> list[_Part]:
    return [_Part(trace, i * (requests or 0), requests) for i in range(ahead)]


def part_of(folder: str, trace: str, first: int = 0,
            count: int | None = None) -> str:
    """Where the rows of a trace, or of some of its requests, go: found again
    by its path."""
    name = hashlib.sha256(os.fsencode(trace)).hexdigest()[:16]
    if count is not None:
        name += f"-{first}-{count}"
    return os.path.join(folder, name + ".jsonl.zst")


def _program() -> str:
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin",
                        "tracebake")


def _run(words: list[str], folder: str) -> tuple[str, bytes]:
    """What the program said when it failed, else nothing; its output."""
    process = subprocess.run([_program(), *words], cwd=folder,
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    said = process.stderr.decode("utf-8", "replace").strip()
    if process.returncode == 0:
        return "", process.stdout
    return said or f"exit status {process.returncode} of {words}", b""


def _convert_part(kind: str, part: _Part, parts: str, words: list[str],
                  folder: str) -> tuple[str, bool]:
    """In a worker: what went wrong, or nothing; were there any requests? The
    meta file is put in place before the rows, so rows that are there are all
    that is needed."""
    rows = part_of(parts, *part)
    if os.path.exists(rows) and (part.count is None or _has_sessions(rows)):
        return "", True
    fixed = ["--ids", "content", "--session-prefix", "path", "--quiet",
             "--stats", "json", "--output-file", rows]
    if part.count is not None:
        fixed += ["--skip-requests", str(part.first),
                  "--num-requests", str(part.count)]
    if "://" not in part.trace:
        said, figures = _run([kind, part.trace, *words, *fixed], folder)
    else:
        with tempfile.TemporaryDirectory(prefix="tracebake-") as copies:
            # Named as in the URL, since sessions are named after it.
            name = part.trace.replace("://", "/", 1)
            _copy(part.trace, os.path.join(copies, name))
            said, figures = _run([kind, name, *words, *fixed], copies)
    return said, not said and _had_requests(json.loads(figures))


def _has_sessions(rows: str) -> bool:
    with open(rows + ".meta.json", encoding="utf-8") as file:
        return bool(json.load(file)["counts"]["sessions"])


def _had_requests(figures: dict[str, Any]) -> bool:
    losses = figures["losses"]
    return any([figures["sessions"], losses["empty_sessions"],
                losses["cut_sessions"], losses["records"]])


def _copy(url: str, path: str) -> None:
    import fsspec

    os.makedirs(os.path.dirname(path), exist_ok=True)
    source: Any
    with fsspec.open(url, "rb") as source, open(path, "wb") as copy:
        while piece := source.read(1 << 22):
            copy.write(piece)


def _merge(folder: str, parts: list[_Part], output: str) -> None:
    listed = os.path.join(folder, "merged")
    with open(listed, "w", encoding="utf-8",
              errors="surrogateescape") as file:
        file.writelines(part_of(folder, *part) + "\n" for part in parts)
    said, _ = _run(["merge", "--files-from", listed, "--output-file",
                 os.path.abspath(output), "--quiet"], folder)
    if said:
        raise RuntimeError(said)
