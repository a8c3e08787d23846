#!/usr/bin/env python3
"""What bash offers for a command line that is not finished.

The completion file is sourced by a bash without anything else, and asked as
bash asks it: the words, of which the last is being typed.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent.parent / "completions/tracebake"

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

SCRIPT = r'''
set -u
. "$1"
shift
COMP_WORDS=(tracebake "$@")
COMP_CWORD=$#
_tracebake
printf '%s\n' "${COMPREPLY[@]+"${COMPREPLY[@]}"}"
'''


def offered(words, folder):
    process = subprocess.run(
        ["bash", "--norc", "-c", SCRIPT, "bash", FILE, *words], cwd=folder,
        capture_output=True, text=True, timeout=60)
    if process.returncode != 0 or process.stderr:
        sys.exit(f"FAILED: {words}: {process.stderr}")
    return set(process.stdout.split("\n")) - {""}


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.json").touch()
        Path(folder, "b c").mkdir()
        for words, wanted, unwanted in CASES:
            got = offered(words, folder)
            if wanted - got or unwanted & got:
                wrong += 1
                print(f"FAILED: {words}: {sorted(got)}")
    registered = subprocess.run(
        ["bash", "--norc", "-c", f". {FILE}; complete -p tracebake"],
        capture_output=True, text=True, timeout=60).stdout
    if "-F _tracebake tracebake" not in registered:
        wrong += 1
        print(f"FAILED: registered as {registered!r}")
    print(f"{len(CASES)} lines, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
