#!/usr/bin/env python3
"""The program is built as it should be against faults that nobody knows of
yet: position independent, its tables read-only once it runs, no stack that can
be executed, calls that check their buffers. It starts no other program and
listens to nobody.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path


# What starts a program or opens a port. libcurl, which makes connections, is
# loaded when a tokenizer is fetched, and not before.
FORBIDDEN = r"\b(system|popen|v?fork|posix_spawnp?|exec[vl]p?e?|listen|bind)@"


def readelf(tracebake, *options):
    return subprocess.run(["readelf", "--wide", *options, str(tracebake)],
                          capture_output=True, check=True).stdout.decode()


def problems(tracebake):
    header = readelf(tracebake, "--file-header")
    segments = readelf(tracebake, "--program-headers")
    dynamic = readelf(tracebake, "--dynamic")
    symbols = readelf(tracebake, "--dyn-syms")
    stack = re.search(r"GNU_STACK.*", segments)
    if not re.search(r"Type:\s+DYN", header):
        yield "no position independent program"
    if "GNU_RELRO" not in segments:
        yield "no tables that become read-only"
    if not re.search(r"\(FLAGS_1\).*NOW|BIND_NOW", dynamic):
        yield "symbols are bound late, so that their table stays writable"
    if not stack or "E" in stack.group().split()[-2]:
        yield "a stack that can be executed"
    if re.search(r"LOAD.*\bRWE\b", segments):
        yield "memory that can be written and executed"
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        yield "libraries from a folder of the build"
    if "__stack_chk_fail" not in symbols:
        yield "no stack protector"
    if not re.search(r"__\w+_chk\b(?<!__stack_chk)", symbols):
        yield "no calls that check their buffers (_FORTIFY_SOURCE)"
    for name in re.findall(FORBIDDEN, symbols):
        yield f"it calls {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    found = list(problems(parser.parse_args().tracebake))
    for problem in found:
        print(f"FAILED: {problem}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
