#!/usr/bin/env python3
"""aiperf's own loader accepts the rows, and makes the prompts they ask for.

Each trace is converted with the embedded tokenizer and given to the classes
that `aiperf profile --custom-dataset-type mooncake_trace` uses: file to rows,
rows to conversations, hash ids to prompts. No server is needed.
"""
import argparse
import json
import os
import tempfile
from pathlib import Path

import harness

BLOCK_SIZES = (64, 512)
FORMS = ("mooncake", "aiperf")


class Loader:
    """The part of aiperf that stands before the first request."""

    def __init__(self, tokenizers):
        harness.provide_tiktoken_ranks(tokenizers)
        os.environ["HF_HUB_OFFLINE"] = "1"
        from aiperf.common import random_generator
        from aiperf.common.tokenizer import Tokenizer
        from aiperf.dataset.generator.prompt import PromptGenerator
        random_generator.init(1)
        self.tokenizer = Tokenizer.from_pretrained(harness.BUILTIN)
        self.prompts = PromptGenerator(
            prompts=None, prefix_prompts=None, tokenizer=self.tokenizer)

    def conversations(self, path, block_size):
        from aiperf.dataset.loader import mooncake_trace
        loader = mooncake_trace.MooncakeTraceDatasetLoader(
            filename=str(path), prompt_generator=self.prompts,
            default_block_size=block_size)
        return loader.convert_to_conversations(loader.load_dataset())


def rows_by_session(path):
    sessions = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        sessions.setdefault(row["session_id"], []).append(row)
    return sessions


def problems(conversations, sessions):
    """What the loader made of the rows that it should not have."""
    turns = {one.session_id: one.turns for one in conversations}
    if set(turns) != set(sessions):
        yield f"{len(sessions)} sessions became {len(turns)}"
        return
    for session_id, rows in sessions.items():
        if len(turns[session_id]) != len(rows):
            yield (f"{session_id}: {len(rows)} rows became "
                   f"{len(turns[session_id])} turns")
            continue
        for row, turn in zip(rows, turns[session_id]):
            if turn.max_tokens != row["output_length"]:
                yield (f"{session_id}: output {row['output_length']} "
                       f"became {turn.max_tokens}")


def check_trace(options, loader, trace, block_size, form, folder):
    """Rows that were accepted; None when one was not."""
    kind = "telemetry" if ".jsonl" in trace.name else "nat"
    path = Path(folder, f"{trace.name}.{block_size}.{form}.jsonl")
    process = harness.run(options.tracebake, [
        kind, "--input-file", trace, "--output-file", path,
        "--block-size", block_size, "--tokenizer", harness.BUILTIN,
        "--for", form],
        check=False)
    label = f"{trace.name}, block size {block_size}, for {form}"
    if not path.exists() and process.returncode == 1:
        print(f"  {label}: no rows")
        return 0
    if process.returncode != 0:
        raise harness.Failure(harness.describe(process))
    sessions = rows_by_session(path)
    try:
        found = list(problems(loader.conversations(path, block_size),
                              sessions))
    except Exception as refusal:  # whatever aiperf raises is a refusal
        found = [f"{type(refusal).__name__}: {str(refusal)[:600]}"]
    for problem in found[:5]:
        print(f"REFUSED: {label}: {problem}")
    rows = sum(map(len, sessions.values()))
    if not found:
        print(f"  {label}: {len(sessions)} sessions, {rows} rows accepted")
    return None if found else rows


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    loader = Loader(options.tokenizers)
    traces = sorted(harness.DATA.glob("*.json*.gz"))
    with tempfile.TemporaryDirectory() as folder:
        results = [
            check_trace(options, loader, trace, block_size, form, folder)
            for trace in traces for block_size in BLOCK_SIZES
            for form in FORMS]
    refused = results.count(None)
    rows = sum(result or 0 for result in results)
    print(f"aiperf: {len(results) - refused} of {len(results)} files "
          f"accepted, {rows} rows")
    return rows > 0 and not refused


if __name__ == "__main__":
    harness.main(job)
