#!/usr/bin/env python3
"""Dynamo's own replay (mocker, offline) of our rows is the recorded load.

Each trace is converted with --for dynamo and replayed by `python -m
dynamo.replay`, which tells of every request what it was. The prompts must have
the recorded lengths, the answers theirs; a session's first turn arrives at its
recorded time, each later one its recorded gap after the end of the one before.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import harness

TOKENIZER = "qwen3"
BLOCK_SIZE = 16
TRACES = ["nat 1.9.0_toolcall_3req.json.gz", "nat 1.9.0_nested_2req.json.gz",
          "nat 1.9.0_fanout_2req.json.gz", "telemetry tel8.jsonl.gz"]
CLOSE_MS = 1.0


def convert(options, trace, folder):
    command, name = trace.split()
    output, calls = Path(folder, "rows.jsonl"), Path(folder, "calls.jsonl")
    harness.run(options.tracebake, [
        command, harness.DATA / name, "--output-file", output, "--quiet",
        "--tokenizer", options.tokenizers / TOKENIZER, "--for", "dynamo",
        "--block-size", BLOCK_SIZE, "--calls", calls])
    lines = [json.loads(line) for line in calls.read_text().splitlines()]
    return output, [line for line in lines if "row" in line]


def replay(rows, folder):
    """What dynamo.replay says of each request."""
    report = Path(folder, "requests.jsonl")
    environment = {**os.environ, "TRANSFORMERS_VERBOSITY": "error"}
    process = subprocess.run(
        [sys.executable, "-m", "dynamo.replay", rows, "--trace-format",
         "mooncake-delta", "--trace-block-size", str(BLOCK_SIZE),
         "--report-json", Path(folder, "report.json"),
         "--report-jsonl", report],
        capture_output=True, timeout=harness.RUN_TIMEOUT, env=environment)
    if process.returncode != 0:
        raise harness.Failure(harness.describe(process))
    return [json.loads(line) for line in report.read_text().splitlines()]


def take(requests, call, arrival):
    """Takes the request that this call became, or None."""
    for request in requests:
        if ((request["input_length"], request["output_length"])
                == (call["prompt_tokens"], call["output_length"])
                and abs(request["arrival_time_ms"] - arrival) <= CLOSE_MS):
            requests.remove(request)
            return request
    return None


def check(options, trace, folder):
    rows, calls = convert(options, trace, folder)
    requests = replay(rows, folder)
    if len(requests) != len(calls):
        yield f"{len(requests)} requests of {len(calls)} rows"
    first = min(call["timestamp"] for call in calls if "timestamp" in call)
    ends = {}
    for call in calls:
        if call["turn"] == 0:
            arrival = call["timestamp"] - first
        else:
            arrival = ends[call["session_id"]] + call["delay"]
        request = take(requests, call, arrival)
        if not request:
            yield (f"row {call['row']}: no request of "
                   f"{call['prompt_tokens']} + {call['output_length']} tokens "
                   f"at {arrival:.1f} ms")
            return
        ends[call["session_id"]] = request["terminal_time_ms"]
    print(f"  {trace}: {len(calls)} requests in {len(ends)} sessions")


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    good = True
    for trace in TRACES:
        with tempfile.TemporaryDirectory() as folder:
            for problem in check(options, trace, folder):
                print(f"DIFFERENT: {trace}: {problem}")
                good = False
    return good


if __name__ == "__main__":
    harness.main(job)
