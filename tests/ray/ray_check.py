#!/usr/bin/env python3
"""tracebake.ray on eight workers of a Ray on this machine, two of which are
killed while they convert: the rows must be those of one process. Then a trace
that is missing, the same call again, and traces by URL.

The package is put together in a temporary folder from python/ and the program;
conversions are made slow enough to be killed in the middle.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
sys.path.insert(0, str(ROOT / "tests"))
import soak  # noqa: E402

WORKERS, KILLED, TRACES = 8, 2, 24
# Says who runs it, then waits as a long trace would.
SLOW = """#!/bin/sh
if [ "$1" = nat ]; then echo "$PPID" >>"{folder}/workers"; sleep 2; fi
exec "{program}" "$@"
"""


def put_together(folder, program):
    """A package that Ray's workers find, with a slow program."""
    package = folder / "package"
    shutil.copytree(ROOT / "python" / "tracebake", package / "tracebake")
    slow = package / "tracebake" / "bin" / "tracebake"
    slow.parent.mkdir()
    slow.write_text(SLOW.format(folder=folder, program=program))
    slow.chmod(0o755)
    sys.path.insert(0, str(package))
    os.environ["PYTHONPATH"] = str(package)
    # A Ray of this test alone: nothing of it is told, or kept in the home.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")


def make_traces(folder):
    (folder / "tokenizer.json").write_text(soak.tokenizer())
    names = []
    for seed in range(TRACES):
        path = folder / "traces" / f"{seed:02}" / "trace.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(soak.Maker(seed).nat()))
        names.append(str(path.relative_to(folder)))
    return names


class Killer(threading.Thread):
    """Kills the first workers that are seen at work."""

    def __init__(self, seen):
        super().__init__(daemon=True)
        self.seen, self.killed = seen, []

    def run(self):
        while len(self.killed) < KILLED:
            time.sleep(0.05)
            if not self.seen.exists():
                continue
            for worker in self.seen.read_text().split():
                if worker not in self.killed and len(self.killed) < KILLED:
                    os.kill(int(worker), signal.SIGKILL)
                    self.killed.append(worker)


def expect(what, holds):
    print(f"{what}: {'yes' if holds else 'NO'}", flush=True)
    if not holds:
        sys.exit("FAILED")


def one_process(program, folder, traces, options, name):
    subprocess.run([program, "nat", *traces, *options, "--session-prefix",
                    "path", "--quiet", "--output-file", name], cwd=folder,
                   check=True)
    return (folder / name).read_bytes()


def check(program, folder):
    put_together(folder, program)
    traces = make_traces(folder)
    options = ["--tokenizer", str(folder / "tokenizer.json"), "--block-size",
               "16", "--lengths", "tokens"]
    wanted = one_process(program, folder, traces, options, "one")
    os.chdir(folder)
    import ray
    import tracebake.ray
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)

    killer = Killer(folder / "workers")
    killer.start()
    tracebake.ray.convert(traces, "rows", kind="nat", options=options)
    expect(f"{KILLED} workers were killed", len(killer.killed) == KILLED)
    expect("the rows are those of one process",
           (folder / "rows").read_bytes() == wanted)

    begun = (folder / "workers").read_text().split()
    expect("killed conversions were made again", len(begun) > TRACES)
    tracebake.ray.convert(traces, "rows", kind="nat", options=options)
    expect("nothing is made twice",
           (folder / "workers").read_text().split() == begun)
    try:
        tracebake.ray.convert([*traces, "none.json"], "more", kind="nat",
                              options=options, parts="rows.parts")
    except RuntimeError as problem:
        expect("a trace that is missing is told", "none.json" in str(problem))
    expect("and there are no rows", not (folder / "more").exists())

    tracebake.ray.convert(traces, "by-requests", kind="nat", options=options,
                          requests=100)
    expect("requests converted apart give the rows of one process",
           (folder / "by-requests").read_bytes() == wanted)
    expect("from many parts",
           len(list((folder / "by-requests.parts").glob("*.zst"))) > TRACES)

    urls = [f"file://{folder}/{trace}" for trace in traces[:3]]
    tracebake.ray.convert(urls, "by-url", kind="nat", options=options)
    names = [url.replace("://", "/", 1) for url in urls]
    copies = folder / "copies"
    for trace, name in zip(traces, names):
        (copies / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / trace, copies / name)
    expect("URLs give the rows of one process",
           (folder / "by-url").read_bytes()
           == one_process(program, copies, names, options, "one"))
    ray.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ray-") as folder:
        check(arguments.tracebake.resolve(), Path(folder))


if __name__ == "__main__":
    main()
