"""Traces for benchmarks, in the shapes that toolkits write.

    prompt_heavy   NAT: sessions of about ten calls, each prompt the one before
                   and a little more; one system prompt for all; a sub-agent
                   with a history of its own now and then
    step_heavy     NAT: recorded traces again and again with other texts, in
                   which most bytes are steps that nobody needs
    nothing_shared NAT: every prompt new from its first word
    telemetry      one line per call, in random order
    long_session   NAT: one session of very many turns
    many_tiny      NAT: very many sessions of one short call

Each generator takes a path and a size and returns what it made: bytes, calls,
bytes of prompt text, and of new prompt text. Made the same every time.
"""
import glob
import gzip
import hashlib
import json
import os
import random
import sys
import uuid

from texts import Texts

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "tests", "data")
MODEL = "meta/llama-3.1-8b-instruct"
USAGE_NONE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class Figures(dict):
    """What a generator made. Counts texts that it is shown."""

    def __init__(self):
        super().__init__(bytes=0, sessions=0, calls=0, prompt_bytes=0, new_bytes=0)

    def call(self, prompt_bytes, new_bytes):
        self["calls"] += 1
        self["prompt_bytes"] += prompt_bytes
        self["new_bytes"] += new_bytes


class NatFile:
    """Writes sessions as NAT does: one list, indented by two."""

    def __init__(self, path, seed):
        self.file = open(path, "w", encoding="ascii")
        self.file.write("[")
        self.random = random.Random(seed)
        self.figures = Figures()
        self.time = 1790000000.0

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.file.write("\n]\n")
        self.figures["bytes"] = self.file.tell()
        self.file.close()

    def write(self, request):
        text = json.dumps(request, indent=2)
        self.file.write("\n" if self.figures["sessions"] == 0 else ",\n")
        self.file.write("  " + text.replace("\n", "\n  "))
        self.figures["sessions"] += 1

    def size(self):
        return self.file.tell()

    def step(self, kind, ident, name, metadata=None, data=None, usage=None,
             function="<workflow>"):
        self.time += self.random.uniform(0.01, 0.4)
        return {
            "parent_id": "root",
            "function_ancestry": {
                "function_id": ident, "function_name": function,
                "parent_id": "root", "parent_name": "root"},
            "payload": {
                "event_type": kind, "event_timestamp": self.time,
                "span_event_timestamp": None, "framework": "langchain",
                "name": name, "tags": None, "metadata": metadata,
                "data": data, "usage_info": usage, "UUID": ident}}

    def call(self, messages, answer, function="<workflow>"):
        """The steps of one call: its start, some tokens of its answer, its
        end, and the tool's answer that follows."""
        ident = str(uuid.UUID(int=self.random.getrandbits(128)))
        listed = [{"content": content, "additional_kwargs": {},
                   "response_metadata": {}, "type": role, "name": None,
                   "id": None, "example": False} for role, content in messages]
        last = messages[-1][1]
        yield self.step("LLM_START", ident, MODEL, function=function, metadata={
            "chat_responses": None, "chat_inputs": listed, "tool_inputs": None,
            "tool_outputs": None, "tool_info": None, "span_inputs": None,
            "span_outputs": None, "provided_metadata": None, "tools_schema": []},
            data={"input": last[:1500], "output": None, "chunk": None})
        for word in answer.split()[:1]:
            yield self.step("LLM_NEW_TOKEN", ident, MODEL, function=function,
                            data={"input": last[:200], "output": None,
                                  "chunk": word}, usage={
                                      "token_usage": USAGE_NONE,
                                      "num_llm_calls": 0,
                                      "seconds_between_calls": 0})
        yield self.step("LLM_END", ident, MODEL, function=function, metadata={
            "chat_responses": [{"text": answer, "message": {
                "content": answer, "type": "ai"}}], "chat_inputs": None},
            data={"input": last[:800], "output": answer, "chunk": None},
            usage={"token_usage": {
                "prompt_tokens": 0, "completion_tokens": max(1, len(answer) // 4),
                "total_tokens": 0}, "num_llm_calls": 1,
                "seconds_between_calls": 0})


def text_len(messages):
    return sum(len(content.encode()) + 1 for _, content in messages)


def add_calls(file, texts, messages, count, function, steps, known):
    """`count` calls, each with the answer to and the result of the one
    before. Returns how much text they had in the end; `known` bytes of it were
    there before."""
    for _ in range(count):
        answer = texts.mixed(file.random.randint(200, 2000))
        result = texts.mixed(file.random.randint(2000, 14000))
        steps.extend(file.call(messages, answer, function))
        steps.append(file.step("TOOL_END", str(file.time), "search", data={
            "input": answer[:80], "output": {"content": result, "type": "tool"},
            "chunk": None}))
        size = text_len(messages)
        file.figures.call(size, size - known)
        known = size
        messages += [("ai", answer), ("tool", result)]
    return known


def prompt_heavy(path, size, seed=11):
    texts = Texts(seed)
    system = texts.take("english", 3000)
    with NatFile(path, seed) as file:
        while file.size() < size:
            steps = []
            question = texts.take("english", file.random.randint(300, 5000))
            messages = [("system", system), ("human", question)]
            count = file.random.randint(6, 11)
            has_sub_agent = file.random.random() < 0.35
            before = file.random.randint(2, count - 1) if has_sub_agent else count
            known = add_calls(file, texts, messages, before, "<workflow>", steps,
                              len(system))
            if has_sub_agent:
                other = [("system", system), ("human", texts.mixed(3000))]
                add_calls(file, texts, other, 3, "researcher", steps, len(system))
                add_calls(file, texts, messages, count - before, "<workflow>",
                          steps, known)
            file.write({"request_number": file.figures["sessions"],
                        "intermediate_steps": steps})
    return file.figures


def nothing_shared(path, size, seed=12):
    texts = Texts(seed)
    with NatFile(path, seed) as file:
        while file.size() < size:
            steps = []
            for _ in range(10):
                messages = [("human", texts.mixed(file.random.randint(4000, 40000)))]
                length = text_len(messages)
                file.figures.call(length, length)
                steps.extend(file.call(messages, texts.mixed(400)))
            file.write({"request_number": file.figures["sessions"],
                        "intermediate_steps": steps})
    return file.figures


def long_session(path, size, turns=5000, seed=13):
    """As many turns as are given, unless the file has its size before. The
    history is cut at 40,000 characters, as agents do that go on for long."""
    texts = Texts(seed)
    steps = []
    with NatFile(path, seed) as file:
        messages = [("system", texts.take("english", 2000))]
        written = 0
        for _ in range(turns):
            messages += [("human", texts.mixed(300)), ("ai", texts.mixed(200))]
            while text_len(messages) > 40000:
                del messages[1:len(messages) // 2]
            steps.extend(file.call(messages, "yes"))
            written += text_len(messages)
            file.figures.call(text_len(messages), 500)
            if written > size:
                break
        file.write({"request_number": 0, "intermediate_steps": steps})
    return file.figures


def many_tiny(path, size, seed=14):
    texts = Texts(seed)
    with NatFile(path, seed) as file:
        while file.size() < size:
            messages = [("human", texts.take("english", 60))]
            file.figures.call(61, 61)
            file.write({"request_number": file.figures["sessions"],
                        "intermediate_steps": list(file.call(messages, "ok"))})
    return file.figures


def step_heavy(path, size, seed=15):
    """Recorded sessions, each time with other words in their messages."""
    texts = Texts(seed)
    recorded = []
    for name in sorted(glob.glob(os.path.join(DATA, "1.9.0_*.json.gz"))):
        with gzip.open(name) as data:
            recorded += [request for request in json.load(data)
                         if len(request.get("intermediate_steps") or []) > 3]
    with NatFile(path, seed) as file:
        while file.size() < size:
            number = file.figures["sessions"]
            request = json.loads(json.dumps(recorded[number % len(recorded)]))
            said = texts.take("english", 200)
            for step in request["intermediate_steps"]:
                metadata = step["payload"].get("metadata") or {}
                for message in metadata.get("chat_inputs") or []:
                    if isinstance(message, dict) and message.get("content"):
                        message["content"] = f"{message['content']}\n{said}"
                file.figures["calls"] += step["payload"]["event_type"] == "LLM_START"
            request["request_number"] = number
            file.write(request)
    return file.figures


def telemetry(path, size, seed=16):
    """Lines in random order: sessions are made a thousand at a time, and their
    lines are mixed."""
    texts = Texts(seed)
    chance = random.Random(seed)
    figures = Figures()
    system = texts.take("english", 3000)
    with open(path, "w", encoding="ascii") as file:
        while file.tell() < size:
            lines = []
            for _ in range(min(1000, 1 + (size - file.tell()) // 400000)):
                lines += telemetry_session(texts, chance, system, figures)
            chance.shuffle(lines)
            file.writelines(lines)
        figures["bytes"] = file.tell()
    return figures


def telemetry_session(texts, chance, system, figures):
    ident = str(uuid.UUID(int=chance.getrandbits(128)))
    figures["sessions"] += 1
    start = 1780000000 + chance.random() * 1e6
    messages = [("system", system), ("user", texts.mixed(2000))]
    known = 0
    for turn in range(chance.randint(6, 14)):
        answer = texts.mixed(chance.randint(200, 1600))
        size = text_len(messages)
        figures.call(size, size - known)
        known = size
        yield json.dumps({
            "event_type": "llm_call", "timestamp": start + turn * 20,
            "session_id": ident, "latency_priority": "MEDIUM",
            "latency_ms": 900.5, "request_payload": {
                "model": "gpt-5.2", "temperature": 0.1, "messages": [
                    {"role": role, "content": content}
                    for role, content in messages]},
            "response_payload": {"choices": [{"message": {
                "role": "assistant", "content": answer}}],
                "usage": {"prompt_tokens": size // 4,
                          "completion_tokens": len(answer) // 4 + 1}}}) + "\n"
        messages += [("assistant", answer),
                     ("user", texts.mixed(chance.randint(1000, 7200)))]


GENERATORS = {made.__name__: made for made in (
    prompt_heavy, step_heavy, nothing_shared, telemetry, long_session, many_tiny)}


def recipe():
    """Changes when the generators do."""
    digest = hashlib.sha256()
    for name in ("texts.py", "traces.py"):
        with open(os.path.join(HERE, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]


def get(folder, name, size, suffix="", **options):
    """The path of a trace in `folder`, and its figures; made when it is not
    there."""
    stem = f"{name}-{size >> 20}MB-{recipe()}{suffix}"
    path = os.path.join(folder, stem)
    if not os.path.exists(path + ".figures"):
        os.makedirs(folder, exist_ok=True)
        figures = GENERATORS[name](path, size, **options)
        with open(path + ".figures", "w", encoding="ascii") as file:
            json.dump(figures, file)
    with open(path + ".figures", encoding="ascii") as file:
        return path, json.load(file)


if __name__ == "__main__":
    # In a process of its own: what a parent holds counts as its children's
    # peak memory.
    folder, name, size, suffix = sys.argv[1:]
    print(json.dumps(get(folder, name, int(size), suffix)))
