#!/usr/bin/env python3
"""Golden cases: each folder here is one run of tracebake, exact to the byte.

    <case>/args              the arguments, quoted as in a shell
    <case>/stdin             standard input (absent: empty)
    <case>/expected.stdout   absent: nothing may be printed
    <case>/expected.stderr   absent: nothing may be printed
    <case>/expected.exit     absent: 0
    <case>/expected.NAME     the file `output.NAME` that the run must write;
                             without it the run must not write that file
    all other files          inputs

A case runs in a fresh copy of its folder. In `args` and in what is printed
`{data}` stands for tests/data and `{tokenizers}` for the folder of
tokenizers; in what is printed or written `{home}` stands for the home folder,
`{seconds}`, `{version}` and `{size}` (of a compiled tokenizer) for what is
another number each time or with each version. --update
writes down what the program does now; look at it before it is committed.
"""
import argparse
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
PRINTED = {"stdout": b"", "stderr": b"", "exit": b"0\n"}  # when absent
RUN_TIMEOUT = 120  # seconds

# What differs from run to run, and what stands for it.
UNSTABLE = (
    (re.compile(rb'("seconds": )[0-9.e-]+'), rb"\1{seconds}"),
    (re.compile(rb"( [MG]B, )[0-9.]+( s)$", re.M), rb"\1{seconds}\2"),
    (re.compile(rb'("tracebake": ")[0-9.]+(")'), rb"\1{version}\2"),
    (re.compile(rb"(^  )[0-9]+\.[0-9]+\.[0-9]+$", re.M), rb"\1{version}"),
    (re.compile(rb"(^compiled form +)[0-9.]+( MB)$", re.M), rb"\1{size}\2"),
)


class Places:
    """Absolute paths, and the names that stand for them in a case."""

    def __init__(self, tokenizers):
        self.names = {"{data}": str(DATA),
                      "{tokenizers}": str(tokenizers.resolve())}

    def filled(self, text):
        for name, path in self.names.items():
            text = text.replace(name, path)
        return text

    def named(self, data, home):
        for name, path in [*self.names.items(), ("{home}", str(home))]:
            data = data.replace(path.encode(), name.encode())
        for pattern, stable in UNSTABLE:
            data = pattern.sub(stable, data)
        return data


def environment(home):
    """The same for everybody: no network, no locale, no settings."""
    kept = ("PATH", "ASAN_OPTIONS", "TSAN_OPTIONS",
            "UBSAN_OPTIONS", "LSAN_OPTIONS")
    result = {name: os.environ[name] for name in kept if name in os.environ}
    result.update(HOME=str(home), LC_ALL="C.UTF-8", TZ="UTC",
                  HF_HUB_OFFLINE="1")
    return result


def run_case(case, tracebake, places):
    """What the case gives now: {"stdout": bytes, ..., "jsonl": bytes}."""
    with tempfile.TemporaryDirectory() as work:
        folder, home = Path(work, "case"), Path(work, "home")
        shutil.copytree(case, folder)
        home.mkdir()
        for path in folder.glob("expected.*"):
            path.unlink()
        stdin = case / "stdin"
        arguments = places.filled((case / "args").read_text())
        process = subprocess.run(
            [tracebake, *shlex.split(arguments)], cwd=folder,
            input=stdin.read_bytes() if stdin.exists() else b"",
            capture_output=True, env=environment(home), timeout=RUN_TIMEOUT)
        found = {"stdout": places.named(process.stdout, home),
                 "stderr": places.named(process.stderr, home),
                 "exit": b"%d\n" % process.returncode}
        for path in folder.glob("output.*"):
            suffix = path.name.removeprefix("output.")
            found[suffix] = places.named(path.read_bytes(), home)
        return found


def expected_of(case):
    wanted = dict(PRINTED)
    for path in case.glob("expected.*"):
        wanted[path.name.removeprefix("expected.")] = path.read_bytes()
    return wanted


def print_difference(case, name, wanted, got):
    print(f"DIFFERENT: {case.name}: {name}")
    if wanted is None or got is None:
        print("  not written" if got is None else "  not expected")
        return
    lines = difflib.unified_diff(
        wanted.decode("utf-8", "replace").splitlines(keepends=True),
        got.decode("utf-8", "replace").splitlines(keepends=True),
        "expected", "got")
    for number, line in enumerate(lines):
        if number < 40:
            print(f"  {line.rstrip()[:500]}")


def check(case, found):
    """True when the case gives what it should; prints what does not."""
    wanted, good = expected_of(case), True
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            print_difference(case, name, wanted.get(name), found.get(name))
            good = False
    return good


def update(case, found):
    """Write down what was found; what is as by default needs no file."""
    for path in case.glob("expected.*"):
        if path.name.removeprefix("expected.") not in found:
            path.unlink()
            print(f"removed {case.name}/{path.name}")
    for name, data in found.items():
        path = case / f"expected.{name}"
        if PRINTED.get(name) == data:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
            print(f"wrote {case.name}/{path.name}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--tokenizers", required=True, type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("cases", nargs="*", help="names; else all")
    options = parser.parse_args()
    tracebake = str(options.tracebake.resolve())
    places = Places(options.tokenizers)
    cases = [path.parent for path in sorted(HERE.glob("*/args"))
             if not options.cases or path.parent.name in options.cases]
    good = 0
    for case in cases:
        found = run_case(case, tracebake, places)
        if options.update:
            update(case, found)
        good += check(case, found)
    print(f"golden cases: {good} of {len(cases)} as expected")
    sys.exit(0 if cases and good == len(cases) else 1)


if __name__ == "__main__":
    main()
