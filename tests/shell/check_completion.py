#!/usr/bin/env python3
"""What bash or fish offers for a command line that is not finished.

    check_completion.py bash|fish

The completion file is sourced by a shell without anything else, and asked as
the shell asks it: bash by the words, of which the last is being typed, fish by
the line.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = Path(__file__).resolve().parent.parent.parent / "completions"

# words, what must be offered, what must not
CASES = [
    ([""], {"nat", "tokenizer", "--version"}, {"list", "--tokenizer"}),
    (["te"], {"telemetry"}, {"nat", "tokenize"}),
    (["tokenizer", ""], {"list", "pull", "show", "clear"}, {"nat"}),
    (["tokenizer", "sh"], {"show"}, {"list"}),
    (["nat", "--to"], {"--tokenizer"}, {"--for"}),
    (["nat", "--num"], {"--num-requests"}, set()),
    (["telemetry", "--num"], set(), {"--num-requests"}),
    (["nat", "--for", ""], {"mooncake", "aiperf", "dynamo"}, {"a.json"}),
    (["nat", "--for", "=", "a"], {"aiperf"}, {"mooncake", "a.json"}),
    (["nat", "--for", "="], {"aiperf", "mooncake"}, {"a.json"}),
    (["nat", "--delay", ""], {"none", "recorded"}, {"MS", "a.json"}),
    (["nat", "--block-size", ""], set(), {"a.json", "nat"}),
    (["nat", "--tokenizer", ""], {"builtin", "a.json", "b c"}, set()),
    (["nat", "--tokenizer", "=", "a"], {"a.json"}, {"builtin"}),
    (["nat", ""], {"a.json", "b c"}, {"--for", "nat"}),
    (["nat", "a.json", "--q"], {"--quiet"}, set()),
    (["tokenizer", "list", "--"], {"--json", "--help"}, {"--quiet"}),
    (["tokenizer", "list", ""], set(), {"a.json"}),
    (["tokenizer", "show", "a"], {"a.json"}, set()),
    (["nonsense", ""], set(), {"a.json", "nat"}),
]

BASH = r'''
set -u
. "$1"
shift
COMP_WORDS=(tracebake "$@")
COMP_CWORD=$#
_tracebake
printf '%s\n' "${COMPREPLY[@]+"${COMPREPLY[@]}"}"
'''
FISH = "source $argv[1]; complete -C $argv[2]"


def answer(command, folder):
    """Lines that a shell prints, which complains of nothing."""
    process = subprocess.run(command, cwd=folder, capture_output=True,
                             text=True, timeout=60)
    if process.returncode != 0 or process.stderr:
        sys.exit(f"FAILED: {command[-1]}: {process.stderr}")
    return set(process.stdout.split("\n")) - {""}


def bash(words, folder):
    return answer(["bash", "--norc", "-c", BASH, "bash", FILES / "tracebake",
                   *words], folder)


def fish(words, folder):
    """Without what fish adds: descriptions, the option, a folder's slash."""
    line = " ".join(["tracebake", *words]).replace(" = ", "=")
    lines = answer(["fish", "--no-config", "-c", FISH,
                    FILES / "tracebake.fish", line.replace(" =", "=")],
                   folder)
    offered = {one.split("\t")[0].rstrip("/") for one in lines}
    if "=" in line:
        offered = {one.split("=")[-1] for one in offered}
    elif not words[-1]:
        offered.add("--version")  # fish offers options behind a '-' only
    return offered


def is_registered():
    """Does bash know whose completion it is?"""
    registered = subprocess.run(
        ["bash", "--norc", "-c",
         f". {FILES}/tracebake; complete -p tracebake"],
        capture_output=True, text=True, timeout=60).stdout
    return "-F _tracebake tracebake" in registered


def main():
    offered = {"bash": bash, "fish": fish}[sys.argv[1]]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.json").touch()
        Path(folder, "b c").mkdir()
        for words, wanted, unwanted in CASES:
            got = offered(words, folder)
            if wanted - got or unwanted & got:
                wrong += 1
                print(f"FAILED: {words}: {sorted(got)}")
    if offered is bash and not is_registered():
        wrong += 1
        print("FAILED: not registered")
    print(f"{len(CASES)} lines, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
