#!/usr/bin/env python3
"""The scripts of examples/ that convert many traces, against one run over them:
with GNU parallel and with xargs, after a failure in the middle, with options
that a shell could take apart wrongly, and as the tasks of a Slurm array."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "oracle"))
import soak  # noqa: E402

EXAMPLES = HERE.parent / "examples"
TRACES = ("a/trace.json", "a b/trace.json", "c/it's a $trace.json")
# What a shell must not take apart.
OPTIONS = ("--tokenizer", "the tokenizer.json", "--block-size", "16",
           "--lengths", "tokens")
TASKS = 5


class Check:
    def __init__(self, tracebake, folder):
        self.folder = Path(folder)
        self.tracebake = str(tracebake)
        self.environment = dict(os.environ, TRACEBAKE=self.tracebake, JOBS="2",
                                XDG_CACHE_HOME=folder, HF_HUB_OFFLINE="1")

    def run(self, *command, path=None, status=0, **more):
        environment = dict(self.environment, **more)
        if path:
            environment["PATH"] = path
        process = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True,
            input="".join(f"{trace}\n" for trace in TRACES), text=True,
            timeout=600)
        if (process.returncode != 0) != (status != 0):
            sys.exit(f"FAILED: {process.returncode} of {command}: "
                     f"{process.stdout}{process.stderr}")

    def same(self, what, name):
        wanted = (self.folder / "one").read_bytes()
        if (self.folder / name).read_bytes() != wanted:
            sys.exit(f"FAILED: {what} gives other rows than one run")
        print(f"{what}: the {wanted.count(10)} rows of one run")

    def make_traces(self):
        (self.folder / "the tokenizer.json").write_text(soak.tokenizer())
        for seed, trace in enumerate(TRACES):
            path = self.folder / trace
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(soak.Maker(seed + 5).nat()))

    def one_run(self):
        self.run(self.tracebake, "nat", *sorted(TRACES), "--session-prefix",
                 "path", *OPTIONS, "--quiet", "--output-file", "one")

    def without_parallel(self):
        """A PATH with all that is there but GNU parallel."""
        programs = self.folder / "bin"
        programs.mkdir()
        for folder in os.environ["PATH"].split(":"):
            for program in Path(folder).glob("*"):
                link = programs / program.name
                if program.name != "parallel" and not link.exists():
                    link.symlink_to(program)
        return str(programs)

    def parts(self, what, output, path=None):
        script = str(EXAMPLES / "convert_parts.sh")
        broken = self.folder / TRACES[1]
        content = broken.read_bytes()
        broken.rename(self.folder / "away")
        self.run(script, "nat", output, *OPTIONS, path=path, status=1)
        if (self.folder / output).exists():
            sys.exit(f"FAILED: {what} has rows without a trace")
        broken.write_bytes(content)
        self.run(script, "nat", output, *OPTIONS, path=path)
        self.same(what, output)
        self.run(script, "nat", output, *OPTIONS, "--keep-failed", path=path,
                 status=2)

    def array(self):
        (self.folder / "list").write_text(
            "".join(f"{trace}\n" for trace in sorted(TRACES)))
        for task in range(TASKS):
            self.run(str(EXAMPLES / "slurm_convert.sh"), "nat", "list", "tasks",
                     *OPTIONS, SLURM_ARRAY_TASK_ID=str(task),
                     SLURM_ARRAY_TASK_COUNT=str(TASKS))
        parts = sorted(str(part.relative_to(self.folder)) for part in
                       (self.folder / "tasks").glob("*.zst"))
        self.run(self.tracebake, "merge", *parts, "--output-file", "array")
        self.same("an array", "array")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parts-") as folder:
        check = Check(options.tracebake.resolve(), folder)
        check.make_traces()
        check.one_run()
        check.parts("GNU parallel", "parallel.jsonl")
        check.parts("xargs", "xargs.jsonl", check.without_parallel())
        check.array()


if __name__ == "__main__":
    main()
