#!/usr/bin/env python3
"""What the corpora of the fuzz targets reach: a table in Markdown.

    tools/fuzz_coverage.py [--found build/fuzz/found] [--jobs 2]

Builds build/coverage with clang and counts of lines, replays the corpus of each
target (with --found, also what FOLDER/<target> holds) and prints for each of
them how many of the lines were run, of those files of the target's layer that
the corpus enters; then for each layer what all targets together run of all its
lines. `./dev coverage` installs what it needs.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/coverage"
FLAGS = "-O1 -g -fprofile-instr-generate -fcoverage-mapping"


def run(*command, **options):
    done = subprocess.run([str(part) for part in command],
                          capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


def build(jobs):
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja",
        "-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
        f"-DCMAKE_C_FLAGS_RELWITHDEBINFO={FLAGS}", "-DTB_TESTS=ON")
    run("cmake", "--build", BUILD, "-j", jobs, "--target",
        *(f"fuzz_{target}" for target in targets()))


def targets():
    return sorted(path.name for path in (ROOT / "fuzz/corpus").iterdir())


def layers():
    """Which layer a target is about: the first that it names."""
    lines = (ROOT / "fuzz/CMakeLists.txt").read_text().splitlines()
    words = [line.removeprefix("fuzz(").rstrip(")").split() for line in lines
             if line.startswith("fuzz(")]
    return {word[0]: word[2] for word in words}


def replay(target, found, folder):
    """The profile of one target's corpus, and how many inputs it has."""
    profile = Path(folder, f"{target}.profraw")
    inputs = [ROOT / "fuzz/corpus" / target]
    if found and (found / target).is_dir():
        inputs.append(found / target)
    run(BUILD / "fuzz" / f"fuzz_{target}", *inputs, env={
        "LLVM_PROFILE_FILE": str(profile), "TRACEBAKE_NO_CACHE": "1",
        "TMPDIR": folder, "PATH": "/usr/bin:/bin"})
    return profile, sum(len([*one.iterdir()]) for one in inputs)


def lines_of(programs, profiles, folder):
    """Lines of each file of src/: how many there are, how many were run."""
    merged = Path(folder, "merged.profdata")
    run("llvm-profdata", "merge", "-sparse", *profiles, "-o", merged)
    first, *others = programs
    objects = [part for one in others for part in ("-object", one)]
    report = json.loads(run(
        "llvm-cov", "export", "-summary-only", "-instr-profile", merged,
        first, *objects))
    return {Path(file["filename"]).relative_to(ROOT / "src"): (
        file["summary"]["lines"]["count"],
        file["summary"]["lines"]["covered"])
        for file in report["data"][0]["files"]
        if file["filename"].startswith(str(ROOT / "src"))}


def line(name, *figures):
    print(f"| {name} | " + " | ".join(map(str, figures)) + " |")


def percent(lines):
    count = sum(one for one, _ in lines)
    covered = sum(one for _, one in lines)
    return f"{covered:,} of {count:,}", f"{100 * covered / count:.0f} %"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--found", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    build(options.jobs)
    with tempfile.TemporaryDirectory() as folder:
        programs, profiles = [], []
        print("| target | inputs | layer | files | lines | |")
        print("|---|---|---|---|---|---|")
        for target in targets():
            layer = layers()[target]
            profile, count = replay(target, options.found, folder)
            programs.append(BUILD / "fuzz" / f"fuzz_{target}")
            profiles.append(profile)
            lines = lines_of(programs[-1:], [profile], folder)
            entered = [figures for path, figures in lines.items()
                       if path.parts[0] == layer and figures[1] > 0]
            line(f"`{target}`", count, f"`{layer}`", len(entered),
                 *percent(entered))
        print("\n| layer | lines that all targets run | |\n|---|---|---|")
        lines = lines_of(programs, profiles, folder)
        for layer in sorted({path.parts[0] for path in lines}):
            line(f"`{layer}`", *percent(
                [figures for path, figures in lines.items()
                 if path.parts[0] == layer]))


if __name__ == "__main__":
    main()
