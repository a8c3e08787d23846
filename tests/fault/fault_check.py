#!/usr/bin/env python3
"""Every call to the system fails once, and nothing is lost or left behind.

A clean run of each case tells how often it allocates, opens, reads, writes,
renames and so on (fault_shim.c counts). Then it is run again for each of these
calls, which fails: once alone, and once with all that follow. Each time

    the program ends by itself, with 0 or 1, never by a signal;
    0: the rows are those of the clean run, to the byte;
    1: there is a message, and the old rows (or none) are untouched;
    no file is left beside the rows, and none that could mislead the next run.

Then it is killed, and stopped by a signal, just before each call that has to do
with files: each file that it makes is the old one or the new one, the rows last
of all; what a killed run left is gone after the next one, a stopped one leaves
nothing, and says 128 + N when nothing was written.

--brief tries only some of the calls, spread evenly; that is for every day.
"""
import argparse
import collections
import concurrent.futures
import errno
import gzip
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import commands

HERE = Path(__file__).resolve().parent
SEEDS = HERE.parent.parent / "fuzz" / "corpus"
GOLDEN = HERE.parent / "golden"
RUN_TIMEOUT = 60  # seconds
OLD = b'{"old": "rows"}\n'

# What the system may say to each call.
ERRORS = {
    "malloc": (errno.ENOMEM,), "mmap": (errno.ENOMEM,),
    "open": (errno.EMFILE, errno.EACCES), "close": (errno.EIO,),
    "read": (errno.EIO,), "pread": (errno.EIO,),
    "write": (errno.ENOSPC, errno.EDQUOT), "fsync": (errno.EIO,),
    "rename": (errno.EACCES,), "unlink": (errno.EACCES,),
    "mkdir": (errno.EROFS,), "symlink": (errno.EPERM,), "mkstemp": (errno.ENOSPC,),
    "ftruncate": (errno.EIO,), "stat": (errno.EIO,),
    "fchmod": (errno.EPERM,), "flock": (errno.ENOLCK, errno.EAGAIN),
    "dup": (errno.EMFILE,), "opendir": (errno.EMFILE,),
    "thread": (errno.EAGAIN,),
}

# Before which of them a run is killed or stopped, and by what: all that change
# files, and what it may wait for.
ENDED = ("open", "read", "write", "fsync", "rename", "unlink", "mkdir")
SIGNALS = (signal.SIGKILL, signal.SIGTERM)

TEMPLATE = """{% for m in messages %}{{ m.role }}: {{ m['content'] | trim }}
{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"""


class Case:
    """A run: its arguments, what it reads, and where its rows go."""

    def __init__(self, name, arguments, files=(), stdin=b"", output=None,
                 is_cold=False, beside=None):
        self.name, self.arguments = name, arguments
        self.files, self.stdin = dict(files), stdin
        self.output, self.is_cold = output, is_cold
        # Files that a good run writes before it.
        self.beside = ([] if not output else [output + commands.META]
                       if beside is None else beside)

    def made(self):
        """The names of all that it writes; the first is placed last."""
        return [self.output, *self.beside] if self.output else []


def tokenizer(name):
    """The files of a tokenizer's folder: a seed, and a chat template."""
    return {"tok/tokenizer.json": (SEEDS / "tokenizer_json" / name).read_bytes(),
            "tok/tokenizer_config.json": b'{"bos_token": "<s>"}',
            "tok/chat_template.jinja": TEMPLATE.encode()}


def of_command(command):
    """What makes files of files."""
    output, *beside = command.made
    return Case(command.name, command.arguments, command.files, output=output,
                beside=beside)


def cases():
    nat = (GOLDEN / "nat_summary" / "trace.json").read_bytes()
    forms = (GOLDEN / "nat_content_forms" / "trace.json").read_bytes()
    cut = (GOLDEN / "nat_cut_off" / "trace.json").read_bytes()
    tel = (GOLDEN / "telemetry_agents" / "trace.jsonl").read_bytes()
    to = ["--output-file", "rows.jsonl"]
    tok = ["--tokenizer", "tok"]
    byte = tokenizer("bytes")
    yield Case("nat", ["nat", "t.json", *tok, *to, "--threads", "1"],
               {"t.json": gzip.compress(nat), **byte}, output="rows.jsonl",
               is_cold=True)
    yield Case("nat.builtin",
               ["nat", "t.json", "--tokenizer", "builtin", *to,
                "--for", "aiperf", "--threads", "3"],
               {"t.json": nat}, output="rows.jsonl")
    yield Case("nat.report",
               ["nat", "t.json", *tok, *to, "--calls", "calls.jsonl",
                "--report", "page.html", "--threads", "1"],
               {"t.json": nat, **byte}, output="rows.jsonl",
               beside=["rows.jsonl.meta.json", "calls.jsonl", "page.html"])
    yield Case("nat.cut", ["nat", "t.json", *tok, *to, "--threads", "1"],
               {"t.json": cut, **byte}, output="rows.jsonl")
    yield Case("nat.compat.gz",
               ["nat", "t.json", "u.json", *tok, "--compat",
                "--output-file", "rows.gz", "--threads", "2"],
               {"t.json": forms, "u.json": nat, **byte}, output="rows.gz")
    yield Case("telemetry",
               ["telemetry", "t.jsonl", *tok, *to, "--threads", "1"],
               {"t.jsonl": tel, **byte}, output="rows.jsonl")
    yield Case("telemetry.stdin.zst",
               ["telemetry", "-", *tok, "--output-file", "rows.zst",
                "--threads", "2"],
               byte, stdin=gzip.compress(tel), output="rows.zst")
    yield Case("telemetry.stream",
               ["telemetry", "t.jsonl", *tok, "--output-file", "-",
                "--prompt", "template", "--endpoint", "chat"],
               {"t.jsonl": tel, **byte})
    yield Case("tokenize", ["tokenize", *tok, "-"], byte,
               stdin=b'"some words"\n"more \\ud83d"\n', is_cold=True)
    yield Case("render", ["render", *tok, "-"], byte,
               stdin=b'{"messages": [{"role": "user", "content": "a"}]}\n')
    verify = GOLDEN / "verify_equal"
    yield Case("verify", ["verify", "run", "--calls", "calls.jsonl"],
               {str(path.relative_to(verify)): path.read_bytes()
                for path in verify.rglob("*.json*")})
    yield from map(of_command, commands.commands())
    yield Case("validate",
               ["validate", "rows.jsonl", "--json", "--block-size", "4"],
               commands.golden_files("validate_good"))
    for seed in ("metaspace", "unigram", "word_piece", "word_level", "bert",
                 "sentencepiece", "regex", "split", "affixes", "scripts"):
        yield Case(f"tokenize.{seed}", ["tokenize", *tok, "-"],
                   tokenizer(seed), stdin='"some words é"\n'.encode(),
                   is_cold=True)


class Bench:
    """Runs a case in a folder of its own, with calls that fail."""

    def __init__(self, options, case):
        self.options, self.case = options, case
        self.cache = None  # of compiled tokenizers, from a clean run
        self.whole = {}  # what a clean run makes, by name

    def folder(self):
        work = Path(tempfile.mkdtemp(prefix="fault-"))
        for name, content in self.case.files.items():
            path = work / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (work / "in").mkdir(exist_ok=True)
        (work / "tmp").mkdir()
        if self.cache and not self.case.is_cold:
            # Compiled forms are known by their source's inode and time, so
            # one that is not found again is made again.
            shutil.copytree(self.cache, work / "cache")
        return work

    def run(self, work, **faults):
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(work), "LC_ALL": "C.UTF-8",
            "TMPDIR": str(work / "tmp"), "XDG_CACHE_HOME": str(work / "cache"),
            "HF_HUB_OFFLINE": "1", "LD_PRELOAD": str(self.options.shim),
            # Oniguruma 6.9.8 frees twice when it runs out of memory while it
            # compiles a pattern: not ours to mend.
            "TB_FAULT_SPARE": "libonig"}
        environment.update({f"TB_FAULT_{name.upper()}": str(value)
                            for name, value in faults.items()})
        return subprocess.run(
            [str(self.options.tracebake), *self.case.arguments],
            cwd=work / "in", input=self.case.stdin, capture_output=True,
            timeout=RUN_TIMEOUT, env=environment)

    def result(self, work, process):
        """Rows, as a reader would have them."""
        if not self.case.output:
            return process.stdout
        path = work / "in" / self.case.output
        return path.read_bytes() if path.exists() else None

    def clean(self):
        """What a run gives in which nothing fails, and what it calls."""
        work = self.folder()
        process = self.run(work, counts=work / "counts")
        if process.returncode != 0:
            raise RuntimeError(f"{self.case.name}: {process.stderr.decode()}")
        counts = dict(line.split()
                      for line in (work / "counts").read_text().splitlines())
        wanted = self.result(work, process)
        self.whole = self.contents(work)
        shutil.rmtree(work)
        return wanted, {name: int(count) for name, count in counts.items()}

    def contents(self, work):
        """Of all that is made; None where there is nothing."""
        paths = {name: work / "in" / name for name in self.case.made()}
        return {name: path.read_bytes() if path.exists() else None
                for name, path in paths.items()}

    def faulty(self, wanted, **faults):
        """What is wrong after a run with this fault; nothing: None."""
        work = self.folder()
        old = faults["at"] % 2 == 0 and self.case.output is not None
        if old:
            path = work / "in" / self.case.output
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(OLD)
        try:
            process = self.run(work, **faults)
            problem = self.judge(work, process, wanted, OLD if old else None,
                                 faults)
        except subprocess.TimeoutExpired:
            problem = "does not end"
        shutil.rmtree(work)
        return problem

    def ended(self, number, call, at):
        """What is wrong after a run that got a signal; nothing: None."""
        work = self.folder()
        for name in self.case.made() if at % 2 == 0 else ():
            path = work / "in" / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(OLD)
        before = self.contents(work)
        try:
            process = self.run(work, call=call, at=at, signal=int(number))
            problem = self.judge_ended(work, process, number, before)
        except subprocess.TimeoutExpired:
            problem = "does not end"
        shutil.rmtree(work)
        return problem

    def judge_ended(self, work, process, number, before):
        names, now = self.case.made(), self.contents(work)
        for name, content in now.items():
            if content not in (before[name], self.whole[name]):
                return f"{name} is neither the old nor the new one"
        is_new = now == self.whole
        if now[names[0]] != before[names[0]] and not is_new:
            return "the last file is new, and another one is not"
        if number == signal.SIGKILL:
            return self.judge_next(work)
        if not is_new and now != before:
            return "stopped, and some files are new"
        # Before there is a handler, the signal ends the process.
        wanted = (0,) if is_new else (128 + number, -number)
        if process.returncode not in wanted:
            return (f"exit status {process.returncode}, {is_new=}: "
                    f"{process.stderr.decode()}")
        left = self.files(work) - {*self.case.files, *names}
        return f"leaves {sorted(left)}" if left else None

    def judge_next(self, work):
        """After a kill: the next run succeeds, and takes away what is left."""
        process = self.run(work)
        if process.returncode != 0:
            return f"the next run fails: {process.stderr.decode()}"
        if self.contents(work) != self.whole:
            return "the next run makes something else"
        left = self.files(work) - {*self.case.files, *self.case.made()}
        return f"the next run leaves {sorted(left)}" if left else None

    def judge(self, work, process, wanted, old, faults):
        got = self.result(work, process)
        message = process.stderr.decode("utf-8", "replace")
        if process.returncode not in (0, 1):
            return f"exit status {process.returncode}: {message[-2000:]}"
        if process.returncode == 0 and got != wanted:
            return f"exit status 0 with other rows; {message}"
        if process.returncode == 1 and "tracebake: " not in message:
            return "fails without a message"
        if process.returncode == 1 and self.case.output and got != old:
            return f"exit status 1 but there are other rows; {message}"
        return self.left_over(work, process, faults)

    @staticmethod
    def files(work):
        return {str(path.relative_to(work / "in"))
                for path in (work / "in").rglob("*") if not path.is_dir()}

    def left_over(self, work, process, faults):
        names = self.files(work)
        allowed = {*self.case.files, self.case.output}
        meta = f"{self.case.output}{commands.META}"
        if meta in names and process.returncode == 0:
            json.loads((work / "in" / meta).read_text())
        if process.returncode == 0:
            allowed.update(self.case.beside)
        # When removing is what fails, the next run has to do it.
        if faults["call"] == "unlink":
            self.run(work)
            names = self.files(work)
            allowed.update(self.case.beside)
        if names - allowed:
            return f"leaves {sorted(names - allowed)}"
        if any((work / "tmp").iterdir()) and faults["call"] != "unlink":
            return "leaves a temporary file"
        return self.is_cache_good(work)

    def is_cache_good(self, work):
        """The compiled form is whole or absent: it must serve the next run."""
        if not self.case.is_cold or not (work / "cache").exists():
            return None
        after = self.run(work)
        return None if after.returncode == 0 else "spoils the next run"


def chosen(count, limit):
    """Up to `limit` numbers below `count`, evenly, ends included."""
    if limit is None or count <= limit:
        return range(count)
    return sorted({i * (count - 1) // (limit - 1) for i in range(limit)})


def faults_of(counts, limit):
    for call, numbers in ERRORS.items():
        for at in chosen(counts.get(call, 0), limit):
            for number, sticky in itertools.product(numbers, (0, 1)):
                yield {"call": call, "at": at, "errno": number,
                       "sticky": sticky}


def ends_of(counts, limit):
    for call in ENDED:
        for at in chosen(counts.get(call, 0), limit):
            for number in SIGNALS:
                yield number, call, at


def check(options, case, pool, totals):
    bench = Bench(options, case)
    wanted, counts = bench.clean()
    limit = 5 if options.brief else None
    faults = list(faults_of(counts, limit))
    failures = 0
    short = bench.faulty(wanted, call="", at=0, short=1)
    problems = [({"short": 1}, short)]
    problems += zip(faults, pool.map(
        lambda fault: bench.faulty(wanted, **fault), faults))
    ends = (list(ends_of(counts, 3 if options.brief else None))
            if case.output else [])
    problems += zip(
        ({"call": f"{number.name} before {call}", "at": at}
         for number, call, at in ends),
        pool.map(lambda end: bench.ended(*end), ends))
    for fault, problem in problems:
        totals[fault.get("call", "short")] += 1
        if problem:
            failures += 1
            if failures <= 5:
                print(f"{case.name}: {fault}: {problem}")
    print(f"{case.name}: {len(problems)} faults, {failures} failures")
    return failures == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--shim", required=True, type=Path)
    parser.add_argument("--only", help="the case of this name")
    parser.add_argument("--brief", action="store_true")
    options = parser.parse_args()
    options.tracebake = options.tracebake.resolve()
    options.shim = options.shim.resolve()
    totals = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = [check(options, case, pool, totals) for case in cases()
                   if options.only in (None, case.name)]
    print(", ".join(f"{name} {count}" for name, count in totals.items()))
    print(f"{sum(totals.values())} faults in {len(results)} cases")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
