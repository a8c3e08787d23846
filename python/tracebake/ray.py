"""Many traces on a Ray cluster: converted apart by its workers, and merged.

    import tracebake.ray

    tracebake.ray.convert(paths, "rows.jsonl", kind="nat",
                          options=["--tokenizer", "org/model"])

Needs `pip install ray`, and fsspec for paths that are URLs. docs/SCALE.md says
what may be in a part, and when the rows are those of one run.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from typing import Any, Iterable, Sequence

_RETRIES = 8  # of a part whose worker died


def convert(
    paths: Iterable[str],
    output: str,
    *,
    kind: str,
    options: Sequence[str] = (),
    parts: str | None = None,
    num_cpus: float = 1,
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

    A trace is converted by one worker, with `num_cpus` threads. A trace that
    fails raises RuntimeError with what the program said, once all others are
    done.
    """
    import ray

    traces = list(paths)
    folder = os.path.abspath(parts or output + ".parts")
    os.makedirs(folder, exist_ok=True)
    task = ray.remote(max_retries=_RETRIES, num_cpus=num_cpus)(_convert_part)
    words = [*options, "--threads", str(max(1, int(num_cpus)))]
    waiting = [
        task.remote(kind, trace, part_of(folder, trace), words, os.getcwd())
        for trace in traces]
    failures = [said for said in ray.get(waiting) if said]
    if failures:
        raise RuntimeError("\n".join(failures))
    _merge(folder, traces, output)


def part_of(folder: str, trace: str) -> str:
    """Where the rows of a trace go: found again by its path."""
    name = hashlib.sha256(os.fsencode(trace)).hexdigest()[:16]
    return os.path.join(folder, name + ".jsonl.zst")


def _program() -> str:
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin",
                        "tracebake")


def _run(words: list[str], folder: str) -> str:
    """What the program said when it failed, else nothing."""
    process = subprocess.run([_program(), *words], cwd=folder,
                             stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    said = process.stderr.decode("utf-8", "replace").strip()
    if process.returncode == 0:
        return ""
    return said or f"exit status {process.returncode} of {words}"


def _convert_part(kind: str, trace: str, part: str, words: list[str],
                  folder: str) -> str:
    """In a worker. The meta file is put in place before the rows, so rows that
    are there are all that is needed."""
    if os.path.exists(part):
        return ""
    fixed = ["--ids", "content", "--session-prefix", "path", "--quiet",
             "--output-file", part]
    if "://" not in trace:
        return _run([kind, trace, *words, *fixed], folder)
    with tempfile.TemporaryDirectory(prefix="tracebake-") as copies:
        # Named as in the URL, since sessions are named after it.
        name = trace.replace("://", "/", 1)
        _copy(trace, os.path.join(copies, name))
        return _run([kind, name, *words, *fixed], copies)


def _copy(url: str, path: str) -> None:
    import fsspec

    os.makedirs(os.path.dirname(path), exist_ok=True)
    source: Any
    with fsspec.open(url, "rb") as source, open(path, "wb") as copy:
        while piece := source.read(1 << 22):
            copy.write(piece)


def _merge(folder: str, traces: list[str], output: str) -> None:
    listed = os.path.join(folder, "merged")
    with open(listed, "w", encoding="utf-8",
              errors="surrogateescape") as file:
        file.writelines(part_of(folder, trace) + "\n" for trace in traces)
    said = _run(["merge", "--files-from", listed, "--output-file",
                 os.path.abspath(output), "--quiet"], folder)
    if said:
        raise RuntimeError(said)
