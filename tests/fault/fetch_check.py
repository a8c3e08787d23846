#!/usr/bin/env python3
"""Lets each call to the system fail once while a tokenizer is fetched.

As fault_check.py, with fault_shim.c, but for `tokenizer pull` from a hub on
this machine. Each faulty run must succeed, or fail with a message; and whatever
it left behind, the next run must succeed and have every file as it is, also
when the first was killed just before a call that changes files. Of
calls that are many (libcurl's and the C library's own among them) a sample is
made to fail: LIMIT of each kind. Questions about a file fail from one on for good
too: to what waits for a lock, its file is another one each time then.
"""
import argparse
import concurrent.futures
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "oracle"))
from hub_server import Hub, Model  # noqa: E402

MODEL = Model(files={
    "tokenizer.json": (HERE.parent / "golden" / "tokenizer_show_json" /
                       "model" / "tokenizer.json").read_bytes(),
    "tokenizer_config.json": b"{}"})
FAULTS = {"malloc": errno.ENOMEM, "mmap": errno.ENOMEM, "open": errno.EMFILE,
          "ftruncate": errno.ENOSPC, "fsync": errno.EIO, "mkdir": errno.EACCES,
          "flock": errno.EAGAIN, "rename": errno.EACCES}
KILLED = ("open", "write", "ftruncate", "fsync", "mkdir", "rename", "symlink",
          "unlink")
MODEL_FOLDER = ".cache/huggingface/hub/models--org--model"
TIMEOUT = 60  # seconds


def names_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


class Check:
    def __init__(self, options, hub, folder):
        self.options, self.hub, self.folder = options, hub, folder
        self.whole = set()  # names in the model's folder after a good run

    def home(self):
        return Path(tempfile.mkdtemp(dir=self.folder))

    def pull(self, home, **env):
        env |= {"PATH": os.environ["PATH"], "HOME": str(home), "no_proxy": "*",
                "HF_ENDPOINT": self.hub.address(), "TRACEBAKE_NO_CACHE": "1"}
        return subprocess.run(
            [self.options.tracebake, "tokenizer", "pull", "org/model"], env=env,
            capture_output=True, text=True, timeout=TIMEOUT)

    def counts(self):
        home = self.home()
        process = self.pull(home, LD_PRELOAD=self.options.shim,
                            TB_FAULT_COUNTS=str(home / "counts"))
        assert process.returncode == 0, process.stderr
        self.whole = names_in(home / MODEL_FOLDER)
        lines = (home / "counts").read_text().split("\n")
        return {line.split()[0]: int(line.split()[1]) for line in lines if line}

    def faulty(self, fault):
        """What is wrong with the run in which this fault happens, or None."""
        call, number, is_sticky, killer = fault
        home = self.home()
        try:
            process = self.pull(home, LD_PRELOAD=self.options.shim,
                                TB_FAULT_CALL=call, TB_FAULT_AT=str(number),
                                TB_FAULT_STICKY=str(int(is_sticky)),
                                TB_FAULT_SIGNAL=str(killer),
                                TB_FAULT_ERRNO=str(FAULTS.get(call, errno.EIO)),
                                TB_FAULT_SPARE="libcrypto")
            problem = self.judge(home, process, killer)
        except subprocess.TimeoutExpired:
            problem = "does not end"
        shutil.rmtree(home)
        return problem and f"{call} {number} {is_sticky=} {killer=}: {problem}"

    def judge(self, home, process, killer):
        told = process.stderr.startswith("tracebake: ")
        if process.returncode != (-killer if killer else told):
            return f"exit {process.returncode}, {process.stderr!r}"
        again = self.pull(home)
        if again.returncode != 0:
            return f"the next run fails: {again.stderr!r}"
        model = home / MODEL_FOLDER
        left = names_in(model) - self.whole
        if left:
            return f"the next run leaves {sorted(left)}"
        for name, data in MODEL.files.items():
            if (model / "snapshots" / MODEL.commit / name).read_bytes() != data:
                return f"{name} is not what it was"
        return None


def chosen(counts, limit):
    pick = random.Random(1)
    for call, count in counts.items():
        numbers = range(count)
        if count > limit:
            numbers = sorted(pick.sample(numbers, limit))
        yield from ((call, number, False, 0) for number in numbers)
        if call == "stat":
            yield from ((call, number, True, 0) for number in numbers)
        if call in KILLED:
            yield from ((call, number, False, signal.SIGKILL.value)
                        for number in numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracebake", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--limit", type=int, default=300)
    options = parser.parse_args()
    hub = Hub({"org/model": MODEL})
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(4) as pool:
        check = Check(options, hub, folder)
        faults = list(chosen(check.counts(), options.limit))
        problems = [found for found in pool.map(check.faulty, faults) if found]
    hub.close()
    print(*problems, f"{len(faults)} faults, {len(problems)} not good",
          sep="\n")
    sys.exit(1 if problems or len(faults) < 20 else 0)


if __name__ == "__main__":
    main()
