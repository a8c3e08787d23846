#!/usr/bin/env python3
"""What `cmake --install` puts somewhere can be used from there.

The tree is installed, moved, and then used by a project that is not ours: by
pkg-config and as a CMake package, shared and static, in C and C++. What the
library shows must be what the header declares and the version script names.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT = 300  # seconds
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class Failure(Exception):
    pass


def run(*command, **more):
    environment = {**os.environ, **more.pop("env", {})}
    process = subprocess.run([str(word) for word in command], text=True,
                             capture_output=True, timeout=TIMEOUT,
                             env=environment, **more)
    if process.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}\n{process.stdout[-3000:]}"
                      f"{process.stderr[-3000:]}")
    return process.stdout


def must(is_true, message):
    if not is_true:
        raise Failure(message)


class Tree:
    """An installed tree and how to build for it."""

    def __init__(self, prefix, options):
        self.prefix = prefix
        self.options = options
        self.flags = ([f"-fsanitize={options.sanitize}"]
                      if options.sanitize else [])
        self.lib = next(prefix.rglob("tracebake.pc")).parent.parent
        self.work = Path(tempfile.mkdtemp(dir=prefix.parent))

    def pkg_config(self, *words):
        path = self.lib / "pkgconfig"
        return run("pkg-config", *words, "tracebake",
                   env={"PKG_CONFIG_PATH": str(path)}).split()


def check_names(tree):
    header = (ROOT / "include" / "tracebake.h").read_text()
    header = re.sub(r"/\*.*?\*/|^#.*?$", "", header, flags=re.S | re.M)
    declared = {re.search(r"\b(tb_\w+)\(", one).group(1)
                for one in header.split("TB_API")[1:]}
    listed = (ROOT / "cmake" / "tracebake.map").read_text()
    listed = set(re.findall(r"^\s+(tb_\w+);", listed, re.M))
    must(declared == listed, f"header and version script differ: "
         f"{sorted(declared ^ listed)}")
    shared = next(tree.lib.glob("libtracebake.so.*.*.*"))
    shown = run("nm", "-D", "--defined-only", shared).split("\n")
    shown = {line.split()[2] for line in shown if " A " not in line and line}
    must({one.split("@@")[0] for one in shown} == declared,
         f"shown, but not declared, or not shown: "
         f"{sorted({one.split('@@')[0] for one in shown} ^ declared)}")
    must(all("@@TRACEBAKE_" in one for one in shown), "symbols have no version")
    must("SONAME" in (head := run("objdump", "-p", shared)) and
         re.search(r"SONAME\s+libtracebake\.so\.0\n", head), "the SONAME")
    archive = run("nm", "-g", "--defined-only", tree.lib / "libtracebake.a")
    strange = [line for line in archive.split("\n")
               if len(line.split()) == 3 and
               not re.match(r"(tb_|_?_?(asan|odr_asan|tsan))",
                            line.split()[2])]
    must(not strange, f"the static library has {strange[:5]}")
    return len(shown)


def check_pkg_config(tree):
    source = HERE / "foreign.c"
    program = tree.work / "shared"
    cc = [tree.options.cc, *tree.flags, "-std=c11", *STRICT]
    run(*cc, source, "-o", program, *tree.pkg_config("--cflags", "--libs"),
        f"-Wl,-rpath,{tree.lib}")
    said = run(program)
    # Where there is no shared one, -ltracebake is the static one.
    hidden = tree.work / "hidden"
    hidden.mkdir()
    for one in tree.lib.glob("libtracebake.so*"):
        one.rename(hidden / one.name)
    # The machine code of its objects; CMake's test below takes what they hold
    # for the link's optimiser, where that is there.
    program = tree.work / "static"
    run(*cc, "-fno-lto", source, "-o", program,
        *tree.pkg_config("--static", "--cflags", "--libs"))
    must(run(program) == said, "static and shared say different things")
    for one in hidden.iterdir():
        one.rename(tree.lib / one.name)


def check_cmake(tree):
    options = tree.options
    flags = " ".join([*tree.flags, *STRICT])
    build = tree.work / "foreign"
    common = [options.cmake, "-S", HERE, "-G", options.generator,
              f"-DCMAKE_PREFIX_PATH={tree.prefix}",
              f"-DCMAKE_C_COMPILER={options.cc}",
              f"-DCMAKE_CXX_COMPILER={options.cxx}",
              f"-DCMAKE_C_FLAGS={flags}", f"-DCMAKE_CXX_FLAGS={flags}"]
    run(*common, "-B", build, "-DWANTED_VERSION=0.1")
    run(options.cmake, "--build", build)
    said = {run(build / name) for name in
            ("foreign_tracebake", "foreign_static")}
    must(len(said) == 1, "static and shared say different things")
    run(build / "header")
    try:
        run(*common, "-B", tree.work / "later", "-DWANTED_VERSION=0.2")
    except Failure as problem:
        must("0.2" in str(problem), str(problem))
        return
    raise Failure("version 0.2 was found, which is not there")


def check_header(tree):
    header = tree.prefix / "include" / "tracebake.h"
    for language, standard, compiler in (
            ("c", "c99", tree.options.cc), ("c", "c2x", tree.options.cc),
            ("c++", "c++11", tree.options.cxx),
            ("c++", "c++20", tree.options.cxx)):
        run(compiler, "-x", language, f"-std={standard}", *STRICT,
            "-fsyntax-only", header)


def check_program(tree):
    program = tree.prefix / "bin" / "tracebake"
    must(run(program, "--version").startswith("tracebake 0."), "--version")
    share = tree.prefix / "share"
    for source, target in (
            ("docs/man", "man/man1"),
            ("completions/tracebake", "bash-completion/completions/tracebake"),
            ("completions/_tracebake", "zsh/site-functions/_tracebake"),
            ("completions/tracebake.fish",
             "fish/vendor_completions.d/tracebake.fish")):
        source, target = ROOT / source, share / target
        names = [""] if source.is_file() else [
            one.name for one in source.iterdir()]
        must(all((source / name).read_bytes() == (target / name).read_bytes()
                 for name in names), f"{target} is not {source}")


def check(folder, options):
    first = folder / "first"
    run(options.cmake, "--install", options.build, "--prefix", first)
    prefix = folder / "moved"
    shutil.move(first, prefix)
    tree = Tree(prefix, options)
    count = check_names(tree)
    check_header(tree)
    check_program(tree)
    check_pkg_config(tree)
    check_cmake(tree)
    print(f"installed and used; {count} functions")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--generator", default="Ninja")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--sanitize", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(Path(folder).resolve(), options)
        except Failure as problem:
            sys.exit(f"FAILED: {problem}")


if __name__ == "__main__":
    main()
