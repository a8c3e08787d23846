#!/usr/bin/env python3
"""The Python package, installed into a fresh environment, under its tests.

By default it is installed from a build of the tree; with --wheel, from a
wheel by pip. The tests run twice: without anything else, and with the wheels
of another environment (numpy, pyarrow) in sight.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TIMEOUT = 300  # seconds


def run(*command, **more):
    subprocess.run([str(word) for word in command], check=True,
                   timeout=TIMEOUT, **more)


def packages_of(python):
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run([python, "-c", code], check=True, text=True,
                          capture_output=True).stdout.strip()


def install(options, venv):
    python = venv / "bin" / "python"
    if options.wheel:
        run(options.python, "-m", "venv", venv)
        run(python, "-m", "pip", "install", "--quiet", "--no-index",
            "--disable-pip-version-check", options.wheel)
        run(venv / "bin" / "tracebake", "--version")
    else:
        run(options.python, "-m", "venv", "--without-pip", venv)
        run(options.cmake, "--install", options.build, "--component", "python",
            "--prefix", packages_of(python), stdout=subprocess.DEVNULL)
    return python


def test(python, others):
    environment = {**os.environ, "PYTHONPATH": others or "",
                   "PYTHONDONTWRITEBYTECODE": "1"}
    run(python, "-m", "unittest", "discover", "-s", HERE, env=environment,
        cwd=HERE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, help="built tree")
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--python", default=sys.executable,
                        help="makes the environment")
    parser.add_argument("--others", type=Path,
                        help="python of an environment with numpy and pyarrow")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = install(options, Path(folder) / "venv")
        test(python, None)
        if options.others:
            test(python, packages_of(options.others))


if __name__ == "__main__":
    main()
