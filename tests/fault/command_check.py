#!/usr/bin/env python3
"""However a command ends that makes files of files, each of them is whole or the
old one: what end_check.py holds for conversions, for all others that write
(commands.py). fault_check.py kills and stops them at each call to the system.

--kills N   how many runs of each are killed and stopped at random times
            (5 in CI, 200 by hand)
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import commands
from end_check import (OLD, RUN_TIMEOUT, close_files, expect, limit_files,
                       obey_permissions, wait_until_asleep)

FULL = b"No space left on device"


class Bench:
    """A command in a folder of its own, and what a clean run of it makes."""

    def __init__(self, tracebake, command, folder):
        self.tracebake, self.command, self.folder = tracebake, command, folder
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder),
            "HF_HUB_OFFLINE": "1", "LC_ALL": "C.UTF-8"}
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        command.put(folder)
        started = time.monotonic()
        process = self.run()
        self.seconds = time.monotonic() - started
        expect(command.name, process.returncode == 0, process)
        self.whole = self.contents()

    def start(self, arguments=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.DEVNULL)
        return subprocess.Popen(
            [str(self.tracebake), *(arguments or self.command.arguments)],
            cwd=self.folder, env=self.environment, stderr=subprocess.PIPE,
            **options)

    def run(self, arguments=None, **options):
        process = self.start(arguments, **options)
        printed, said = process.communicate(timeout=RUN_TIMEOUT)
        return subprocess.CompletedProcess(process.args, process.returncode,
                                           printed, said)

    def begin(self, is_old):
        for name in self.command.made:
            path = self.folder / name
            path.unlink(missing_ok=True)
            if is_old:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(OLD)

    def contents(self):
        paths = {name: self.folder / name for name in self.command.made}
        return {name: path.read_bytes() if path.exists() else None
                for name, path in paths.items()}

    def left(self):
        names = {str(path.relative_to(self.folder))
                 for path in self.folder.rglob("*") if not path.is_dir()}
        return sorted(names - {*self.command.files, *self.command.made})

    def expect_old(self, what, before, process, message, status=1):
        what = f"{self.command.name}: {what}"
        expect(what, process.returncode == status, process)
        expect(what, message in process.stderr, process.stderr)
        expect(what, self.contents() == before, "other files")
        expect(what, not self.left(), self.left())

    def expect_new(self, what, process):
        what = f"{self.command.name}: {what}"
        expect(what, process.returncode == 0, process)
        expect(what, self.contents() == self.whole, "other files")
        expect(what, not self.left(), self.left())


def check_full_disk(bench):
    """No file may grow beyond a size, as with a quota or a full disk."""
    sizes = [len(content) for content in bench.whole.values()]
    most = max(sizes)
    for i, limit in enumerate(sorted({0, 1, most // 2, most - 1,
                                      *(size - 1 for size in sizes)})):
        bench.begin(is_old=i % 2 == 0)
        before = bench.contents()
        process = bench.run(preexec_fn=limit_files(limit))
        bench.expect_old(f"files of at most {limit} bytes", before, process,
                         b"File too large")


def check_read_only_folder(bench):
    for is_old in (True, False):
        bench.begin(is_old)
        before = bench.contents()
        folders = {(bench.folder / name).parent for name in before}
        for folder in folders:
            folder.chmod(0o555)
        process = bench.run(preexec_fn=obey_permissions)
        for folder in folders:
            folder.chmod(0o755)
        bench.expect_old("a read-only folder", before, process,
                         b"Permission denied")


def check_standard_files(bench):
    """Closed ones, a full one, and one whose reader went away or sleeps."""
    command = bench.command
    for mask in range(1, 8):
        numbers = [number for number in range(3) if mask >> number & 1]
        bench.begin(is_old=True)
        before = bench.contents()
        process = bench.run(preexec_fn=close_files(numbers))
        if command.is_asked and 1 in numbers:
            bench.expect_old(f"closed {numbers}", before, process, b"")
        else:
            bench.expect_new(f"closed {numbers}", process)
    bench.begin(is_old=True)
    bench.expect_new("figures nobody reads", run_unheard(bench, "left"))
    for name, status in (("full", 1), ("asleep", 128 + signal.SIGTERM)):
        bench.begin(is_old=True)
        before = bench.contents()
        process = run_unheard(bench, name)
        if command.is_asked:
            bench.expect_old(f"figures to one who is {name}", before, process,
                             FULL if name == "full" else b"", status)
        else:
            bench.expect_new(f"figures to one who is {name}", process)
            expect(f"{command.name}: {name}",
                   b"all files are written" in process.stderr, process.stderr)


def run_unheard(bench, name, arguments=None):
    """A run whose standard output is full, has no reader, or one who sleeps,
    which a signal ends."""
    if name == "full":
        with open("/dev/full", "wb") as full:
            return bench.run(arguments, stdout=full)
    taken, given = os.pipe()
    if name == "left":
        os.close(taken)
        process = bench.run(arguments, stdout=given)
        os.close(given)
        return process
    os.set_blocking(given, False)
    for size in (4096, 1):
        try:
            while True:
                os.write(given, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(given, True)
    process = bench.start(arguments, stdout=given)
    wait_until_asleep(process)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=RUN_TIMEOUT)[1]
    os.close(taken)
    os.close(given)
    return subprocess.CompletedProcess(process.args, process.returncode, b"",
                                       said)


def check_standard_output(bench):
    """What it makes, printed: rows that nobody takes."""
    arguments = bench.command.to_standard_output()
    if not arguments:
        return
    bench.begin(is_old=False)
    process = bench.run(arguments, stdout=subprocess.PIPE)
    expect(f"{bench.command.name} to a pipe",
           process.stdout == bench.whole[bench.command.made[0]], process)
    for name, status, message in (
            ("full", 1, FULL), ("left", 0, b""),
            ("asleep", 128 + signal.SIGTERM, b"")):
        process = run_unheard(bench, name, arguments)
        what = f"{bench.command.name} to standard output: {name}"
        expect(what, process.returncode == status and
               message in process.stderr, process)
        expect(what, not bench.left(), bench.left())


def check_at_once(bench):
    bench.begin(is_old=False)
    runs = [bench.start() for _ in range(3)]
    said = [process.communicate(timeout=RUN_TIMEOUT)[1] for process in runs]
    for process, text in zip(runs, said):
        expect(f"three of {bench.command.name} at once",
               process.returncode == 0, text)
    expect(f"three of {bench.command.name} at once",
           bench.contents() == bench.whole and not bench.left(), bench.left())


def check_signals(bench, generator, count):
    """Killed and stopped at random times."""
    for i in range(2 * count):
        number = (signal.SIGKILL, signal.SIGTERM)[i % 2]
        bench.begin(is_old=i % 4 < 2)
        before = bench.contents()
        process = bench.start()
        time.sleep(generator.random() * bench.seconds * 1.1)
        process.send_signal(number)
        said = process.communicate(timeout=RUN_TIMEOUT)[1]
        what = f"{bench.command.name}: {number.name} {i}"
        now = bench.contents()
        for name, content in now.items():
            expect(what, content in (before[name], bench.whole[name]), name)
        if number == signal.SIGKILL:
            bench.expect_new(f"the run after {what}", bench.run())
            continue
        expect(what, now in (before, bench.whole), said)
        expect(what, not bench.left(), bench.left())
        is_stopped = process.returncode in (128 + number, -number)
        expect(what, is_stopped == (now != bench.whole), process.returncode)


def check(tracebake, command, generator, kills):
    with tempfile.TemporaryDirectory(prefix="command-") as folder:
        bench = Bench(tracebake, command, Path(folder))
        check_full_disk(bench)
        check_read_only_folder(bench)
        check_standard_files(bench)
        check_standard_output(bench)
        check_at_once(bench)
        check_signals(bench, generator, kills)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    names = []
    for command in commands.commands():
        check(options.tracebake.resolve(), command, generator, options.kills)
        names.append(command.name)
    print(f"{', '.join(names)}: full disks, closed files, "
          f"{2 * options.kills} signals each")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as problem:
        sys.exit(f"FAILED: {problem}")
