#!/usr/bin/env python3
"""One session of very many turns costs what is new in it: counted, not timed.

Each prompt repeats all of the history and adds a turn of a few words, so that
all prompts together have tokens by the square of the turns. Encoded may be
what a turn adds and at most one piece in front of it (prompt_cache.c keeps
places where it can go on every 1,024 bytes), whichever turn it is. The trace
comes through a pipe: it has hundreds of megabytes.
"""
import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import harness

# Tokens that a turn may encode beside what it adds: of a piece of 1,024 bytes,
# where a token has more than three, half on average, and some for the way to
# the next place to cut. All of the history is more from 400 turns on.
PIECE_TOKENS = 200
WORDS = ("go", "on", "then", "look", "again", "there", "and", "tell", "more")


def turn_text(number):
    return f"{WORDS[number % 9]} {WORDS[number // 9 % 9]} {number}."


def nat(turns):
    """Parts of a trace with one session of so many calls."""
    head = ('{"payload": {"event_type": "%s", "event_timestamp": %d.5, '
            '"UUID": "%d", "framework": "langchain", "name": "m"')
    yield b'[{"request_number": 0, "intermediate_steps": ['
    history = b""
    for number in range(turns):
        history += (b", " if number else b"") + json.dumps(
            {"type": "human", "content": turn_text(number)}).encode()
        start = head % ("LLM_START", 2 * number, number)
        end = head % ("LLM_END", 2 * number + 1, number)
        yield (b", " if number else b"") + start.encode() + \
            b', "metadata": {"chat_inputs": [' + history + b"]}}}, "
        yield end.encode() + (
            b', "data": {"output": "yes"}}, "usage_info": {"token_usage": '
            b'{"prompt_tokens": 0, "completion_tokens": 1, "total_tokens": 1}}}')
    yield b"]}]\n"


def telemetry(turns):
    """The same calls, a line each."""
    history = b""
    for number in range(turns):
        history += (b", " if number else b"") + json.dumps(
            {"role": "user", "content": turn_text(number)}).encode()
        yield (b'{"event_type": "llm_call", "timestamp": %d.5, "session_id": '
               b'"s", "latency_ms": 5, "request_payload": {"model": "m", '
               b'"messages": [' % (2 * number)) + history + (
            b']}, "response_payload": {"choices": [{"message": {"content": '
            b'"yes"}}], "usage": {"completion_tokens": 1}}}\n')


def run_figures(arguments, kind, trace, folder, threads):
    """What --stats json says of a run over a trace in a pipe."""
    process = subprocess.Popen(
        [arguments.tracebake, kind.__name__, "-", "--output-file",
         folder / "rows.jsonl", "--tokenizer", harness.BUILTIN, "--stats",
         "json", "--threads", str(threads), "--prompt", "join"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for part in trace:
        process.stdin.write(part)
    process.stdin.close()
    told = json.load(process.stdout)
    if process.wait() != 0:
        raise harness.Failure(f"{kind.__name__}: exit {process.returncode}")
    return told


def check(arguments, kind, turns, folder, threads):
    told = run_figures(arguments, kind, kind(turns), folder, threads)
    run = told["run"]
    added = sum(len(turn_text(number)) for number in range(turns))
    encoded = run["encoded_tokens"]
    print(f"{kind.__name__}, {turns} turns, {threads} threads: "
          f"{run['bytes'] / 1e6:.0f} MB, {run['prompt_tokens']} tokens, "
          f"{encoded} encoded, {encoded / turns:.1f} a turn")
    good = told["rows"] == turns and run["prompt_tokens"] >= turns * turns
    # Each worker encodes what is new, which has no more tokens than bytes.
    good &= encoded <= threads * added + turns * PIECE_TOKENS
    if not good:
        print(f"FAILED: {added} bytes are new in {told['rows']} rows")
    return good


def job(arguments):
    # Encoding all of the history is seen from 400 turns on.
    longest = 1000 if arguments.quick else 2000 if arguments.daily else 5000
    good = True
    with tempfile.TemporaryDirectory() as name:
        for kind in (nat, telemetry):
            for threads in (1, 2):
                for turns in (500, longest):
                    good &= check(arguments, kind, turns, Path(name), threads)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    parser.add_argument("--daily", action="store_true",
                        help="2,000 turns and not 5,000")
    arguments = parser.parse_args()
    harness.main(lambda: job(arguments))


if __name__ == "__main__":
    main()
