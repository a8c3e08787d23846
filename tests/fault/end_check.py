#!/usr/bin/env python3
"""However a run ends, its rows are whole or they are the old ones.

Runs are killed, stopped by signals, starved of disk, and started with standard
files that are closed, full, or do not wait. After each of them the output is
what a clean run gives or what was there before, to the byte; what a killed run
left beside it is gone after the next run. Other commands that write files:
command_check.py.

--kills N   how many runs are killed (50 in CI, 1000 by hand)
"""
import argparse
import ctypes
import fcntl
import gzip
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
RUN_TIMEOUT = 120  # seconds
OLD = b'{"old": "rows"}\n'
META = ".meta.json"
ROW = b'{"input_length": 5, "output_length": 1, "hash_ids": [1]}\n'


class Bench:
    """A folder with a trace, and what a clean run makes of it."""

    block_size = "16"

    def __init__(self, tracebake, folder):
        self.tracebake = tracebake
        self.folder = Path(folder)
        self.rows = self.folder / "rows.jsonl"
        self.meta = self.folder / ("rows.jsonl" + META)
        self.trace = self.folder / "trace.json"
        self.trace.write_bytes(gzip.decompress(
            (DATA / "1.9.0_nested_err_8req.json.gz").read_bytes()))
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "HF_HUB_OFFLINE": "1", "LC_ALL": "C.UTF-8"}
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.run()  # compiles the tokenizer
        started = time.monotonic()
        self.run()
        self.seconds = time.monotonic() - started
        self.whole = self.rows.read_bytes()

    def command(self, output=None, *more):
        return [str(self.tracebake), "nat", str(self.trace), "--tokenizer",
                "builtin", "--block-size", self.block_size, "--output-file",
                str(output or self.rows), *more]

    def run(self, output=None, more=(), **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.run(self.command(output, *more),
                              env=self.environment, cwd=self.folder,
                              timeout=RUN_TIMEOUT, **options)

    def start(self):
        return subprocess.Popen(
            self.command(), env=self.environment, cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE)

    def begin(self, is_old):
        """The folder as it is before a run."""
        for path in (self.rows, self.meta):
            path.unlink(missing_ok=True)
        if is_old:
            self.rows.write_bytes(OLD)

    def left(self):
        return sorted(path.name for path in self.folder.iterdir()
                      if ".tracebake-" in path.name)

    def state(self):
        """new, old or none; anything else is a failure."""
        if self.meta.exists():
            json.loads(self.meta.read_text())
        if not self.rows.exists():
            return "none"
        content = self.rows.read_bytes()
        if content == self.whole:
            return "new" if self.meta.exists() else "rows without a meta file"
        return "old" if content == OLD else "broken"


def expect(what, is_true, detail=""):
    if not is_true:
        raise AssertionError(f"{what}: {detail}")


def check_signals(bench, generator, numbers, count):
    """Signals at random times; returns how often each state was found."""
    found = {}
    for i in range(count):
        number = numbers[i % len(numbers)]
        bench.begin(is_old=i % 2 == 0)
        before = "old" if i % 2 == 0 else "none"
        process = bench.start()
        time.sleep(generator.random() * bench.seconds * 1.1)
        process.send_signal(number)
        _, message = process.communicate(timeout=RUN_TIMEOUT)
        state = bench.state()
        what = f"{number.name} {i}, exit status {process.returncode}"
        expect(what, state in ("new", before), state)
        found[state] = found.get(state, 0) + 1
        if number == signal.SIGKILL:
            continue
        expect(what, not bench.left(), bench.left())
        # Before there is a handler, the signal ends the process.
        stopped = (128 + number, -number)
        wanted = (0,) if state == "new" else stopped
        expect(what, process.returncode in wanted, (state, message))
    return found


def check_kills(bench, generator, count):
    most = 0
    found = {}
    for _ in range(count):
        for state, times in check_signals(bench, generator,
                                          [signal.SIGKILL], 1).items():
            found[state] = found.get(state, 0) + times
        most = max(most, len(bench.left()))
    expect("kills", most <= 2, f"{most} files were left at a time")
    bench.run()
    expect("the next run", not bench.left(), bench.left())
    expect("the next run", bench.state() == "new", bench.state())
    print(f"{count} kills: {found}, at most {most} files left")


def check_two_at_once(bench):
    """A run does not take away what another one is writing."""
    for _ in range(10):
        bench.begin(is_old=False)
        runs = [bench.start() for _ in range(3)]
        for process in runs:
            _, message = process.communicate(timeout=RUN_TIMEOUT)
            expect("three at once", process.returncode == 0, message)
        expect("three at once", bench.state() == "new", bench.state())
        expect("three at once", not bench.left(), bench.left())
    print("10 times three runs to one output")


def check_memory(bench):
    """A limit holds, is told, and costs no old rows."""
    found = {0: 0, 1: 0}
    for size in (16, 17, 18, 20, 24, 32, 64, 256):
        bench.begin(is_old=True)
        process = bench.run(more=("--max-memory", f"{size}M"))
        what = f"--max-memory {size}M"
        expect(what, process.returncode in (0, 1), process)
        expect(what, process.returncode == 0 or
               b"out of memory" in process.stderr, process)
        expect(what, bench.state() == ("old" if process.returncode else "new"),
               bench.state())
        found[process.returncode] += 1
    expect("256 MB", process.returncode == 0, process)
    print(f"{found[0]} limits of memory that do, {found[1]} that do not")


def limit_files(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def check_full_disk(bench):
    """No file may grow beyond a size, as with a quota or a full disk."""
    size = len(bench.whole)
    meta = bench.meta.stat().st_size
    steps = sorted({0, 1, meta - 1, size // 2, size - 1,
                    *range(0, size, max(size // 10, 1))})
    for i, limit in enumerate(steps):
        bench.begin(is_old=i % 2 == 0)
        process = bench.run(preexec_fn=limit_files(limit))
        what = f"files of at most {limit} bytes"
        expect(what, process.returncode == 1, process)
        expect(what, b"File too large" in process.stderr, process.stderr)
        expect(what, bench.state() == ("old" if i % 2 == 0 else "none"),
               bench.state())
        expect(what, not bench.left(), bench.left())
        expect(what, not bench.meta.exists(), "a meta file without its rows")
    process = bench.run("/dev/full")
    expect("/dev/full", process.returncode == 1 and
           b"No space left" in process.stderr, process)
    print(f"{len(steps) + 1} full disks")


def obey_permissions():
    """Root may write anywhere: a program without this capability may not."""
    drop, override = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(drop, override, 0, 0, 0)


def check_read_only_folder(bench):
    folder = bench.folder / "owned"
    folder.mkdir()
    rows = folder / "rows.jsonl"
    rows.write_bytes(OLD)
    folder.chmod(0o555)
    process = bench.run(rows, preexec_fn=obey_permissions)
    what = "a read-only folder"
    expect(what, process.returncode == 1 and
           b"Permission denied" in process.stderr, process)
    expect(what, rows.read_bytes() == OLD, "other rows")
    expect(what, [*folder.iterdir()] == [rows], "files are left")
    folder.chmod(0o755)


def check_full_summary(bench):
    """The rows are there, so the exit status says so."""
    with open("/dev/full", "wb") as full:
        for more, wanted in (((), 0), (("--stats", "json"), 1)):
            bench.begin(is_old=True)
            process = bench.run(more=more, stdout=full)
            expect("full summary", process.returncode == wanted, process)
            expect("full summary",
                   b"the rows are written" in process.stderr, process)
            expect("full summary", bench.state() == "new", bench.state())


def check_full_texts(bench):
    """What goes to standard output alone: the reason is the system's."""
    rows = bench.folder / "rows"
    rows.write_bytes(ROW)
    wanted = b"tracebake: standard output: cannot write: No space left on device"
    runs = (("--help",), ("--version",), ("nat", "--help"),
            ("tokenizer", "list"), ("analyze", rows),
            ("analyze", rows, "--json"), ("validate", rows),
            ("validate", rows, "--json"))
    for arguments in runs:
        with open("/dev/full", "wb") as full:
            process = subprocess.run([bench.tracebake, *arguments],
                                     stdout=full, stderr=subprocess.PIPE,
                                     env=bench.environment,
                                     timeout=RUN_TIMEOUT)
        expect(f"{arguments} to a full disk", process.returncode == 1 and
               process.stderr.strip() == wanted, process)


def check_analyze_pipe(bench):
    """A pipe that has a name can be read once, as standard input can."""
    path = bench.folder / "pipe"
    os.mkfifo(path)
    process = subprocess.Popen([bench.tracebake, "analyze", "--json", path],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=bench.environment)
    path.write_bytes(ROW)
    printed, said = process.communicate(timeout=RUN_TIMEOUT)
    expect("analyze a named pipe", process.returncode == 0 and
           json.loads(printed)["rows"] == 1, said)


def close_files(numbers):
    def close():
        for number in numbers:
            os.close(number)
    return close


def check_closed_files(bench):
    """What is printed must not end up in the rows."""
    for mask in range(1, 8):
        numbers = [number for number in range(3) if mask >> number & 1]
        bench.begin(is_old=True)
        process = bench.run(preexec_fn=close_files(numbers))
        expect(f"closed {numbers}", process.returncode == 0, process)
        expect(f"closed {numbers}", bench.state() == "new", bench.state())
    process = bench.run("-", preexec_fn=close_files([1]))
    expect("rows to a closed output", process.returncode == 1, process)
    process = subprocess.run(
        [str(bench.tracebake), "nat", "-", "--tokenizer", "builtin"],
        preexec_fn=close_files([0]), capture_output=True)
    expect("a closed input", process.returncode == 1 and
           b"standard input" in process.stderr, process)
    print("9 ways to close standard files")


def set_nonblocking(fd):
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_NONBLOCK)


def check_pipes(bench):
    """Pipes that do not wait, are slow, or are closed early."""
    command = bench.command("-", "--quiet")
    command[2] = "-"
    input_end, feed = os.pipe()
    taken, output_end = os.pipe()
    set_nonblocking(input_end)
    set_nonblocking(output_end)
    fcntl.fcntl(taken, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen(command, stdin=input_end, stdout=output_end,
                               env=bench.environment)
    os.close(input_end)
    os.close(output_end)
    content = bench.trace.read_bytes()

    def give():
        with os.fdopen(feed, "wb") as file:
            for at in range(0, len(content), 100000):
                file.write(content[at:at + 100000])
                time.sleep(0.001)
    threading.Thread(target=give).start()
    rows = b""
    while piece := os.read(taken, 1000):
        rows += piece
    expect("pipes that do not wait", process.wait(RUN_TIMEOUT) == 0)
    expect("pipes that do not wait", rows == bench.whole, "other rows")
    process = subprocess.Popen(bench.command("-"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=bench.environment)
    process.stdout.read(10)
    process.stdout.close()
    message = process.stderr.read()
    expect("a reader that had enough", process.wait(RUN_TIMEOUT) == 0, message)
    bench.begin(True)
    process = subprocess.Popen(bench.command(None, "--report", "-"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=bench.environment)
    process.stdout.read(10)
    process.stdout.close()
    message = process.stderr.read()
    expect("a page that nobody reads on", process.wait(RUN_TIMEOUT) == 1
           and b"no rows are written" in message, message)
    expect("a page that nobody reads on", bench.state() == "old",
           bench.state())


def check_full_pipe(bench):
    """A signal stops a run that waits for the reader of its rows."""
    taken, output_end = os.pipe()
    fcntl.fcntl(taken, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen(bench.command("-"), stdout=output_end,
                               stderr=subprocess.PIPE, env=bench.environment)
    os.close(output_end)
    time.sleep(bench.seconds + 0.5)
    process.send_signal(signal.SIGTERM)
    message = process.communicate(timeout=RUN_TIMEOUT)[1]
    os.close(taken)
    expect("a pipe that is full", process.returncode == 128 + signal.SIGTERM,
           message)


def wait_until_asleep(process):
    """The process waits for somebody else, not for the processor."""
    for _ in range(RUN_TIMEOUT * 10):
        time.sleep(0.1)
        state = Path(f"/proc/{process.pid}/stat")
        if not state.exists():  # no Linux
            time.sleep(1)
            return
        fields = state.read_text().rsplit(")", 1)[1].split()
        ticks = fields[11:13]
        if fields[0] == "S" and ticks == getattr(process, "ticks", None):
            return
        process.ticks = ticks


def check_first_signal(bench, what, command, number, **options):
    """One signal ends a run that waits; no second one is needed."""
    process = subprocess.Popen(
        [str(bench.tracebake), *command], env=bench.environment,
        cwd=bench.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        **options)
    wait_until_asleep(process)
    expect(what, process.poll() is None, "it did not wait")
    process.send_signal(number)
    try:
        message = process.communicate(timeout=10)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AssertionError(f"{what}: it survives {number.name}") from None
    expect(what, process.returncode == 128 + number,
           (process.returncode, message))
    expect(what, not bench.left(), bench.left())


def check_waiting(bench):
    """A signal stops a run whose pipes have nobody at the other end yet."""
    fifo = bench.folder / "fifo"
    os.mkfifo(fifo)
    taken, given = os.pipe()  # nothing is ever written
    builtin = ("--tokenizer", "builtin")
    rows = bench.folder / "other.jsonl"
    rows.write_bytes(bench.whole)
    cases = {
        "an input that nobody writes":
            ["nat", str(fifo), *builtin, "--output-file", str(bench.rows)],
        "an output that nobody reads":
            ["nat", str(bench.trace), *builtin, "--output-file", str(fifo)],
        "rows that nobody writes": ["validate", str(fifo)],
        "figures of rows that nobody writes": ["analyze", str(fifo)],
        "a page that nobody reads":
            ["analyze", str(rows), "--report", str(fifo)],
        "calls that nobody writes":
            ["verify", str(fifo), "--calls", str(fifo)],
        "an input without a first byte":
            ["nat", "-", *builtin, "--output-file", str(bench.rows)],
        "rows without a first byte": ["validate", "-"],
        "figures of rows without a first byte": ["analyze", "-"],
    }
    for i, (what, command) in enumerate(cases.items()):
        number = (signal.SIGTERM, signal.SIGINT)[i % 2]
        check_first_signal(bench, what, command, number, stdin=taken)
    os.close(taken)
    os.close(given)
    fifo.unlink()
    rows.unlink()
    print(f"{len(cases)} waits that a signal ends")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="end-") as folder:
        bench = Bench(options.tracebake.resolve(), folder)
        check_full_disk(bench)
        check_read_only_folder(bench)
        check_full_summary(bench)
        check_full_texts(bench)
        check_analyze_pipe(bench)
        check_memory(bench)
        check_closed_files(bench)
        check_pipes(bench)
        check_full_pipe(bench)
        check_waiting(bench)
        check_two_at_once(bench)
        check_kills(bench, generator, options.kills)
        found = check_signals(
            bench, generator,
            [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], options.kills)
        print(f"{options.kills} signals to stop: {found}")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as problem:
        sys.exit(f"FAILED: {problem}")
