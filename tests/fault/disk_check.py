#!/usr/bin/env python3
"""Disks that are full, have no inode left, or may not be written: the rows are
whole or the old ones, the message is the system's, nothing is left behind, and
what is only a cache is done without.

The disks are small ones in memory, mounted in a mount namespace of our own
(unshare); where that may not be done, the check fails and says so.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import command_check
import commands
import end_check
from end_check import expect

PAGE = 4096  # bytes, what such a disk gives out at a time
TRIES = 12  # sizes of the room that is left
FULL = b"No space left on device"


def enter_namespace():
    """Runs this program again where it may mount."""
    if "DISK_CHECK_INSIDE" in os.environ:
        return
    os.environ["DISK_CHECK_INSIDE"] = "1"
    command = ["unshare", "--mount"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    os.execvp(command[0], [*command, sys.executable, *sys.argv])


def mount(folder, options):
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs",
                           str(folder)], capture_output=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: nothing may be mounted here, so nothing of this is "
                 f"tested: {done.stderr.decode().strip()}")


def unmount(folder):
    subprocess.run(["umount", str(folder)], check=True)


class Disk:
    """A folder on a disk of its own, with old rows in it."""

    def __init__(self, bench, pages, more=""):
        self.bench, self.folder = bench, bench.folder / "disk"
        mount(self.folder, f"size={pages * PAGE}{more}")
        self.rows = self.folder / "rows.jsonl"
        self.meta = self.folder / "rows.jsonl.meta.json"
        self.rows.write_bytes(end_check.OLD)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        unmount(self.folder)

    def fill(self, free_pages):
        """Takes all pages but these."""
        free = os.statvfs(self.folder).f_bavail - free_pages
        (self.folder / "filler").write_bytes(b"x" * (free * PAGE))

    def expect_old(self, what, process, message, *names):
        """It failed, said why, and left what was there."""
        expect(what, process.returncode == 1, process)
        expect(what, message in process.stderr, process.stderr)
        expect(what, self.rows.read_bytes() == end_check.OLD, "other rows")
        found = sorted(path.name for path in self.folder.iterdir())
        expect(what, found == sorted(["rows.jsonl", *names]), found)


def pages_of(path):
    return -(-path.stat().st_size // PAGE)


def check_full(bench):
    """From no room at all to just enough, for rows that are written at once
    and for such that are written in pieces."""
    check_full_with(bench, ())
    usual, bench.block_size = bench.block_size, "1"
    check_full_with(bench, map(str, end_check.DATA.glob("*_*req.json.gz")))
    bench.block_size = usual


def check_full_with(bench, inputs):
    calls = bench.folder / "calls.jsonl"
    inputs = tuple(inputs)
    bench.run(more=(*inputs, "--calls", str(calls)))
    whole = bench.rows.read_bytes()
    needed = sum(map(pages_of, (bench.rows, bench.meta, calls)))
    tries = sorted({*range(0, needed, max(needed // TRIES, 1)), needed - 1,
                    needed})
    for free in tries:
        with Disk(bench, 4 * needed + 8) as disk:
            disk.fill(free)
            more = (*inputs, "--calls", str(disk.folder / "calls.jsonl"))
            process = bench.run(disk.rows, more)
            what = f"{free} pages free of {needed} needed"
            if free < needed:
                disk.expect_old(what, process, FULL, "filler")
            else:
                expect(what, process.returncode == 0, process.stderr)
                expect(what, disk.rows.read_bytes() == whole, "rows")
    print(f"{len(tries)} full disks, from 0 to {needed} free pages")


def check_packed(bench):
    """Compressed rows are written when their stream is ended, too."""
    for name in ("rows.gz", "rows.zst"):
        with Disk(bench, 64) as disk:
            disk.fill(0)
            disk.expect_old(name, bench.run(disk.folder / name), FULL,
                            "filler")


def check_inodes(bench):
    """Room, but not for one more file."""
    with Disk(bench, 1024, ",nr_inodes=3") as disk:
        (disk.folder / "filler").touch()
        disk.expect_old("no inode", bench.run(disk.rows), FULL, "filler")


def check_read_only(bench):
    with Disk(bench, 64) as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk.folder)],
                       check=True)
        disk.expect_old("a read-only disk", bench.run(disk.rows),
                        b"Read-only file system")


def check_cache(bench):
    """A tokenizer that cannot be kept is compiled each time."""
    usual = bench.environment["XDG_CACHE_HOME"]
    for what in ("full", "read-only"):
        with Disk(bench, 64) as disk:
            if what == "full":
                disk.fill(0)
            else:
                subprocess.run(["mount", "-o", "remount,ro",
                                str(disk.folder)], check=True)
            bench.environment["XDG_CACHE_HOME"] = str(disk.folder / "cache")
            bench.begin(is_old=True)
            process = bench.run()
            expect(f"a {what} cache", process.returncode == 0, process.stderr)
            expect(f"a {what} cache", bench.state() == "new", bench.state())
    bench.environment["XDG_CACHE_HOME"] = usual


def check_commands(tracebake, folder):
    """All that write files and are no conversions."""
    count = 0
    for command in commands.commands():
        mount(folder, f"size={1024 * PAGE}")
        try:
            bench = command_check.Bench(tracebake, command, folder)
            needed = sum(pages_of(folder / name) for name in command.made)
            for free in sorted({0, 1, needed - 1}):
                check_command(bench, folder, free)
                count += 1
            bench.begin(is_old=True)
            before = bench.contents()
            subprocess.run(["mount", "-o", "remount,ro", str(folder)],
                           check=True)
            bench.expect_old("a read-only disk", before, bench.run(),
                             b"Read-only file system")
        finally:
            unmount(folder)
    print(f"{count} full disks of other commands")


def check_command(bench, folder, free):
    filler = folder / "filler"
    bench.begin(is_old=True)
    before = bench.contents()
    pages = os.statvfs(folder).f_bavail - free
    filler.write_bytes(b"x" * (pages * PAGE))
    process = bench.run()
    filler.unlink()
    bench.expect_old(f"{free} pages free", before, process, FULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="disk-") as folder:
        bench = end_check.Bench(options.tracebake.resolve(), folder)
        check_full(bench)
        check_packed(bench)
        check_inodes(bench)
        check_read_only(bench)
        check_cache(bench)
        check_commands(bench.tracebake, bench.folder / "disk")
    print("disks that are full, without inodes, read-only: rows, page, cache")


if __name__ == "__main__":
    enter_namespace()
    try:
        main()
    except AssertionError as problem:
        sys.exit(f"FAILED: {problem}")
