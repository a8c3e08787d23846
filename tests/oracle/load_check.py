#!/usr/bin/env python3
"""The replayed load is the recorded load, on real traces with Qwen 3.

The traces were recorded against a server that counted prompts with Qwen 3's
tokenizer and chat template, and had a prefix cache of blocks of 16 tokens.

whole   Our count of each prompt is the server's, and so is the share of prompt
        tokens that a prefix cache serves.
wire    Rows of messages hold what the client sent to the server.
replay  Rows for aiperf are sent as aiperf does it: the conversation so far,
        with answers of the recorded length, and the row. A server that counts
        with the template (rendered by transformers) gets the recorded lengths.
"""
import argparse
import gzip
import json
import tempfile
from pathlib import Path

import harness

TOKENIZER = "qwen3"
BLOCK_SIZE = 16
# In the others the server's cache also saw calls that failed, or prompts of
# which nothing but the joined text was recorded.
TRACES = {
    "1.2.1_react_2req": False,  # no cached tokens recorded
    "1.3.1_toolcall_5req": False,
    "1.9.0_toolcall_3req": True,
    "1.9.0_nested_2req": True,
    "1.9.0_error_7req": True,
    "1.9.0_fanout_2req": True,
    "1.9.0_nan_2req": True,
    "1.9.0_nested_err_8req": False,
}


def recorded_lengths(trace):
    """prompt_tokens of all calls that have a start and an end."""
    with gzip.open(trace) as file:
        requests = json.load(file)
    lengths = []
    for request in requests:
        payloads = [step["payload"] for step in request["intermediate_steps"]]
        started = {one["UUID"] for one in payloads
                   if one["event_type"] == "LLM_START"}
        lengths += [one["usage_info"]["token_usage"]["prompt_tokens"]
                    for one in payloads
                    if one["event_type"] == "LLM_END"
                    and one["UUID"] in started]
    return sorted(lengths)


class Template:
    """What the chat template adds to a conversation, by transformers."""

    def __init__(self, folder):
        self.tokenizer = harness.FileTokenizer(folder / "tokenizer.json")
        config = json.loads((folder / "tokenizer_config.json").read_text())
        self.source = config["chat_template"]
        self.known = {}

    def added(self, turns):
        """Tokens beside the contents when user message `turns` is sent."""
        if turns not in self.known:
            self.known[turns] = self.render(turns)
        return self.known[turns]

    def render(self, turns):
        from transformers.utils.chat_template_utils import (
            render_jinja_template)
        content = "hello"
        messages = [{"role": ("user", "assistant")[i % 2], "content": content}
                    for i in range(2 * turns - 1)]
        rendered, _ = render_jinja_template(
            conversations=[messages], tools=None, chat_template=self.source,
            add_generation_prompt=True)
        count = len(self.tokenizer.encode(rendered[0]))
        return count - len(messages) * len(self.tokenizer.encode(content))


def convert(options, trace, folder, *more):
    output = Path(folder, "rows.jsonl")
    process = harness.run(options.tracebake, [
        "nat", trace, "--output-file", output, "--stats", "json",
        "--tokenizer", options.tokenizers / TOKENIZER,
        "--block-size", BLOCK_SIZE, *more])
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    return rows, json.loads(process.stdout)


def check_whole(options, trace, folder, has_cache):
    rows, figures = convert(options, trace, folder)
    if figures["rendered"] != len(rows) or figures["counts"]["differing"]:
        yield (f"{figures['counts']['differing']} of {len(rows)} prompts are "
               f"not the server's, {figures['rendered']} rendered")
    if sorted(row["input_length"] for row in rows) != recorded_lengths(trace):
        yield "input lengths are not the recorded ones"
    ours = figures["prefix_cache"]["share"]
    theirs = figures["recorded_cache"]["share"]
    if has_cache and abs(ours - theirs) > 0.0005:
        yield f"share of the prefix cache {ours:.4f}, recorded {theirs:.4f}"


def sent_requests():
    """What went over the wire, by trace."""
    requests = {}
    with gzip.open(harness.DATA / "requests.jsonl.gz", "rt") as file:
        for request in map(json.loads, file):
            requests.setdefault(request["trace"], []).append(request)
    return requests


def body(request):
    """A request's messages and tools, in a form that can be sorted."""
    return json.dumps([request["messages"], request.get("tools")],
                      sort_keys=True)


def check_wire(options, trace, folder, requests):
    rows, _ = convert(options, trace, folder, "--rows", "messages")
    sent = sorted(map(body, requests))
    if sorted(map(body, rows)) != sent:
        same = len(set(map(body, rows)) & set(sent))
        yield f"{same} of {len(sent)} rows hold the messages that were sent"


def check_replay(options, trace, folder, template):
    rows, _ = convert(options, trace, folder, "--for", "aiperf")
    sessions, counted = {}, []
    for row in rows:
        session = sessions.setdefault(row["session_id"], [])
        session.append(row)
        contents = sum(one["input_length"] for one in session)
        answers = sum(one["output_length"] for one in session[:-1])
        counted.append(contents + answers + template.added(len(session)))
    if sorted(counted) != recorded_lengths(trace):
        yield (f"the server would count {sorted(counted)}, recorded is "
               f"{recorded_lengths(trace)}")
    if any("delay" in session[0] or "timestamp" not in session[0]
           for session in sessions.values()):
        yield "a session's first row has a delay or no timestamp"
    if any("delay" not in row
           for session in sessions.values() for row in session[1:]):
        yield "a later row has no delay"


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    template = Template(options.tokenizers / TOKENIZER)
    requests = sent_requests()
    bad, calls = 0, 0
    for name, has_cache in TRACES.items():
        trace = harness.DATA / f"{name}.json.gz"
        with tempfile.TemporaryDirectory() as folder:
            found = [*check_whole(options, trace, folder, has_cache),
                     *check_replay(options, trace, folder, template)]
            if name in requests:
                found += check_wire(options, trace, folder, requests[name])
        for problem in found:
            print(f"DIFFERENT: {name}: {problem}")
        bad += bool(found)
        calls += len(recorded_lengths(trace))
        print(f"  {name}: {len(recorded_lengths(trace))} calls")
    print(f"load: {len(TRACES) - bad} of {len(TRACES)} traces as recorded, "
          f"{calls} calls")
    return not bad


if __name__ == "__main__":
    harness.main(job)
