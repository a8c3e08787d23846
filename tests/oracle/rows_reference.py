#!/usr/bin/env python3
"""The Python converters' behaviour, written anew and as simply as possible.

What `tracebake nat --compat` and `tracebake telemetry --compat` must write,
byte for byte. Slow and in memory: it is the yardstick, not a product.
"""
import argparse
import gzip
import json
from pathlib import Path

import harness

AGENT_PREFIXES = (
    ("You are a Deep Research agent", "deep_coordinator"),
    ("Gather and synthesize comprehe", "research_worker"),
    ("For the given task, generate a", "research_planner"),
    ("Current date and time:", "shallow_agent"),
)
AGENT_WORDS = (
    ("Classify the user message", "classifier"),
    ("complexity analyzer", "complexity_analyzer"),
)
# What the converters' own code raises on a call it does not understand.
PYTHON_STOPS = (AttributeError, KeyError, TypeError, UnicodeEncodeError)


class Numbering:
    """Block ids by first appearance; a block is its parent and its tokens."""

    def __init__(self, block_size):
        self.block_size = block_size
        self.numbers = {}

    def ids(self, tokens):
        parent, result = None, []
        tokens = tokens if isinstance(tokens, bytes) else tuple(tokens)
        for at in range(0, len(tokens), self.block_size):
            block = (parent, tokens[at:at + self.block_size])
            parent = self.numbers.setdefault(block, len(self.numbers))
            result.append(parent)
        return result


class Encoder:
    """An original tokenizer that remembers what it has seen."""

    def __init__(self, original):
        self.original = original
        self.seen = {}

    def __call__(self, text):
        if text not in self.seen:
            text.encode("utf-8")  # a lone surrogate stops here
            self.seen[text] = self.original.encode(text)
        return self.seen[text]


def line(row, delay, sessions):
    """The row as JSON; a delay on all but the first of its session."""
    if delay is not None and row["session_id"] in sessions:
        row["delay"] = delay
    sessions.add(row["session_id"])
    return json.dumps(row) + "\n"


# ------------------------------------------------------------------ nat


def nat_lines(requests, encode, block_size, delay=None, skip=0, limit=None,
              numbering=None):
    """One list of lines for each request that is taken."""
    numbering, sessions = numbering or Numbering(block_size), set()
    end = None if limit is None else skip + limit
    return [nat_session(request, encode, numbering, delay, sessions)
            for request in requests[skip:end]]


def nat_session(request, encode, numbering, delay, sessions):
    lines = []
    session_id = f"conv_{request.get('request_number', 0)}"
    for start, end in nat_calls(request):
        try:
            usage = end.get("usage_info", {}).get("token_usage", {})
            prompt_tokens = usage.get("prompt_tokens", 0)
            text = nat_text(start.get("metadata", {}))
            tokens = encode(text)
        except PYTHON_STOPS:
            continue  # the converter would end here; --compat goes on
        if prompt_tokens and text:
            row = {"session_id": session_id,
                   "input_length": prompt_tokens,
                   "output_length": usage.get("completion_tokens", 0),
                   "hash_ids": numbering.ids(tokens)}
            lines.append(line(row, delay, sessions))
    return lines


def nat_calls(request):
    """Pairs of start and end payload in order of their end."""
    payloads = [step.get("payload") or {}
                for step in request.get("intermediate_steps") or []]
    starts = {payload["UUID"]: payload for payload in payloads
              if payload.get("event_type") == "LLM_START"
              and payload.get("UUID")}
    ends = [payload for payload in payloads
            if payload.get("event_type") == "LLM_END"
            and payload.get("UUID") in starts]
    ends.sort(key=lambda end: end.get("event_timestamp") or 0)
    return [(starts[end["UUID"]], end) for end in ends]


def nat_text(metadata):
    parts = []
    for message in metadata.get("chat_inputs") or []:
        if isinstance(message, str):
            parts.append(message)
        elif isinstance(message, dict) and message.get("content"):
            parts.append(str(message["content"]))
    return "\n".join(parts)


# ------------------------------------------------------------ telemetry


def telemetry_lines(events, encode, block_size, delay=None, numbering=None):
    numbering, sessions, lines = numbering or Numbering(block_size), set(), []
    calls = [event for event in events
             if event.get("event_type") == "llm_call"]
    calls.sort(key=lambda call: (call["session_id"], call["timestamp"]))
    for call in calls:
        messages = member(call, "request_payload").get("messages") or []
        try:
            tokens = encode(telemetry_text(messages))
        except PYTHON_STOPS:
            continue
        usage = member(member(call, "response_payload"), "usage")
        row = {"session_id": call["session_id"],
               "agent_type": agent_type(messages),
               "input_length": len(tokens),
               "output_length": usage.get("completion_tokens", 0),
               "hash_ids": numbering.ids(tokens),
               "priority": call.get("latency_priority", "MEDIUM")}
        lines.append(line(row, delay, sessions))
    return lines


def member(owner, name):
    """A member that is an object; anything else counts as an empty one."""
    value = owner.get(name)
    return value if isinstance(value, dict) else {}


def telemetry_text(messages):
    parts = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            parts.append(content)
        elif isinstance(content, list):
            parts += content_texts(content)
    return "\n".join(parts)


def content_texts(content):
    for part in content:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("text"):
            yield part["text"]


def agent_type(messages):
    system = first_content(messages, "system")
    if isinstance(system, list):
        texts = (part["text"] for part in system
                 if isinstance(part, dict) and part.get("text"))
        system = next(texts, None)
    if system:
        return next((agent for prefix, agent in AGENT_PREFIXES
                     if system.startswith(prefix)), "unknown")
    user = first_content(messages, "user")
    user = user if isinstance(user, str) else str(user or "")
    return next((agent for words, agent in AGENT_WORDS if words in user),
                "unknown")


def first_content(messages, role):
    return next((message.get("content") for message in messages
                 if message.get("role") == role), None)


# ---------------------------------------------------------------- files


def read_bytes(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rb") as file:
        return file.read()


def read_events(data):
    """The objects of JSON lines; a line that is none costs itself."""
    events = []
    for text in data.decode("utf-8-sig").split("\n"):
        try:
            event = json.loads(text)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events


def element_ends(text):
    """Offset behind each element of a JSON array of objects."""
    decoder, at, ends = json.JSONDecoder(), text.index("[") + 1, []
    while True:
        while text[at] in " \t\r\n,":
            at += 1
        if text[at] == "]":
            return ends
        _, at = decoder.raw_decode(text, at)
        ends.append(at)


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=("nat", "telemetry"))
    parser.add_argument("input", type=Path)
    parser.add_argument("--tokenizers", required=True, type=Path)
    parser.add_argument("--tokenizer", required=True, metavar="NAME")
    parser.add_argument("--block-size", type=int, required=True)
    parser.add_argument("--delay", type=int)
    options = parser.parse_args()
    encode = Encoder(harness.original(options.tokenizer, options.tokenizers))
    data = read_bytes(options.input)
    if options.kind == "nat":
        requests = json.loads(data.decode("utf-8-sig"))
        lines = sum(nat_lines(requests, encode, options.block_size,
                              options.delay), [])
    else:
        lines = telemetry_lines(read_events(data), encode,
                                options.block_size, options.delay)
    print("".join(lines), end="")
    return True


if __name__ == "__main__":
    harness.main(job)
