#!/usr/bin/env python3
"""Traces at random, converted and compared with two slow twins, for as long as
one likes; memory is watched.

Each round makes a trace of either kind and of one of several shapes (long
conversations, many short ones, much that nobody needs), every third of them
damaged (tests/oracle/damage.py), and converts it with a tokenizer that has one
token for each byte. It holds

    --compat        to the rows of tests/oracle/rows_reference.py, to the byte;
    options         for rows, lengths, times and consumers, taken at random, to
                    those of tests/oracle/default_reference.py, to the byte
                    (not for damaged traces);
    another way     (threads, a pipe, gzip, zstd, --no-reuse) to the same rows;
    peak memory     to a bound that does not grow with the file.

    soak.py --tracebake build/release/tracebake --bytes 10G --jobs 2 \
        --state soak.json

A round is made from its number (--seed). With --state what was done is kept in
that file after every round of every job, and the next run goes on behind it.
"""
import argparse
import gzip
import hashlib
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "oracle"))
import damage  # noqa: E402
import default_reference  # noqa: E402
import rows_reference  # noqa: E402

MEMORY_MAX = 400 << 20  # bytes, far above what these sessions need
RUN_TIMEOUT = 600  # seconds
POOL = 400_000  # characters of text that messages are cut from
TOOLS = [{"type": "function", "function": {
    "name": "search", "description": "finds things", "parameters": {
        "properties": {"query": {"type": "string"}}, "type": "object"}}}]
WORDS = ("the", "a", "request", "café", "日本語", "emoji 😀", "tab\there",
         "line\nbreak", "quote \"q\"", "back\\slash", "\u2028", "null\x00byte",
         '"request_number": 7, "intermediate_steps": [', "</think>", "{}", "é")
# The peak that the system tells of a process begins with that of its parent;
# so the parent is a small one.
MEASURED = """
import os, sys
pid = os.spawnv(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    print(usage.ru_maxrss << 10, file=file)
sys.exit(os.waitstatus_to_exitcode(status))
"""
# Of a trace: how many sessions there may be, how many turns each has, how long
# a message is, and how much stands between two calls.
SMALL_BLOCKS = (1, 4, 16, 64, 512)
LARGE_BLOCKS = (64, 128, 512, 1024)  # small ones take the twins hours
SHAPES = {
    "mixed": (25, 12, 400, 200),
    "prompt heavy": (12, 60, 4000, 100),
    "step heavy": (40, 6, 300, 60000),
    "many tiny": (700, 2, 40, 40),
}


class Bytes:
    """The twin of the tokenizer below."""

    @staticmethod
    def encode(text):
        return text.encode()


def tokenizer():
    """One token for each byte, named as GPT-2 names bytes."""
    plain = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    vocab = {chr(byte): byte for byte in plain}
    vocab.update({chr(256 + i): byte for i, byte in enumerate(others)})
    return json.dumps({
        "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False,
                          "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "merges": [], "vocab": vocab}})


class Maker:
    """A trace at random, from a seed; of a shape of SHAPES, or any."""

    def __init__(self, seed, shape=None):
        self.random = random.Random(seed)
        self.pool = " ".join(self.random.choices(WORDS, k=POOL // 8))
        self.kind = self.random.choice(("nat", "telemetry"))
        self.shape = shape or self.random.choice(list(SHAPES))
        self.sessions, self.turns, self.length, self.between = (
            SHAPES[self.shape])
        self.overhead = self.random.choice((0, 0, 7, 300))
        self.is_damaged = self.random.random() < 1 / 3

    def text(self, length):
        length = min(int(self.random.expovariate(1 / length)) + 1,
                     len(self.pool))
        at = self.random.randrange(len(self.pool) - length + 1)
        return self.pool[at:at + length]

    def count(self, most):
        return self.random.randint(1, most)

    def history(self):
        """Growing lists of messages, as an agent sends them."""
        system = self.random.choice((
            "", "Current date and time: ", "For the given task, generate a "))
        messages = [{"role": "system",
                     "content": system + self.text(5 * self.length)}]
        if self.random.random() < 0.2:
            messages = []
        for _ in range(self.count(self.turns)):
            messages.append({"role": "user", "content": self.text(
                self.length)})
            yield list(messages)
            messages.append({"role": "assistant", "content": self.text(
                self.length)})
            if self.random.random() < 0.05:
                del messages[self.random.randint(0, 1):-1]  # compacted

    def usage(self, messages):
        """What a server counts: sometimes nothing, sometimes otherwise."""
        chance = self.random.random()
        if chance < 0.1 and not self.is_damaged:
            return self.random.choice((None, {}, {"prompt_tokens": 0}))
        length = sum(len(message["content"].encode()) + 1
                     for message in messages) - 1 + self.overhead
        if chance < 0.4:
            length = max(length + self.random.randint(-20, 90), 1)
        return {"prompt_tokens": length,
                "completion_tokens": self.random.choice(
                    (0, 1, self.random.randint(1, 300))),
                "total_tokens": 0}

    def nat(self):
        return [self.request(number)
                for number in range(self.count(self.sessions))]

    def request(self, number):
        now, steps = 1.7e9 + number, []
        for agent in range(self.random.choice((1, 1, 1, 2, 3))):
            steps += self.agent(f"{number}-{agent}", now + agent * 0.7)
        if self.random.random() < 0.5:  # agents at the same time
            steps.sort(key=lambda step: step["payload"]["event_timestamp"])
        return {"request_number": number, "intermediate_steps": steps}

    def agent(self, run, now):
        name = self.random.choice(("<workflow>", "agent"))
        tools = self.random.choice((None, TOOLS))
        for turn, messages in enumerate(self.history()):
            uuid = f"{run}-{turn}"
            start = {"event_type": "LLM_START", "event_timestamp": now,
                     "name": "m", "metadata": {"chat_inputs": messages,
                                               "tools_schema": tools},
                     "data": {"input": self.text(50)}, "UUID": uuid}
            noise = {"event_type": "TOOL_START", "UUID": "t" + uuid,
                     "event_timestamp": now + 0.001,
                     "metadata": {"tool_inputs": self.text(self.between)}}
            end = {"event_type": "LLM_END",
                   "event_timestamp": now + self.random.random(),
                   "data": {"output": self.text(40)},
                   "usage_info": {"token_usage": self.usage(messages)},
                   "UUID": uuid}
            if self.random.random() < 0.02:
                end["event_type"] = "LLM_NEW_TOKEN"  # then there is no end
            yield from ({"payload": payload, "function_ancestry":
                         {"function_name": name, "function_id": run}}
                        for payload in (start, noise, end))
            now += self.random.random() * 3

    def telemetry(self):
        events = []
        for session in range(self.count(self.sessions)):
            now = 1_700_000_000_000 + session
            for messages in self.history():
                event = {
                    "event_type": "llm_call", "session_id": f"s{session}",
                    "timestamp": now, "latency_ms": self.random.randint(
                        0, 2000),
                    "latency_priority": self.random.choice(
                        default_reference.PRIORITIES),
                    "request_payload": {"model": "m", "messages": messages},
                    "response_payload": {
                        "choices": [{"message": {"content": self.text(9)}}],
                        "usage": self.usage(messages)},
                    "trail": self.text(self.between)}
                if self.random.random() < 0.1:
                    del event["latency_ms"]
                events.append(event)
                now += self.random.randint(0, 3000)
        self.random.shuffle(events)
        return events

    def form(self):
        """Options for rows."""
        pick = self.random.choice
        return default_reference.Form(
            block_size=pick(SMALL_BLOCKS if self.sessions * self.turns < 400
                            else LARGE_BLOCKS),
            rows=pick(("whole", "delta", "messages")),
            lengths=pick(("usage", "usage", "tokens")),
            delay=pick((None, "recorded", 500)),
            max_delay=pick((float("inf"), 1000)),
            speedup=pick((1, 3, 2.5)),
            timestamps=pick(("none", "session", "all")),
            keep_failed=self.kind == "nat" and pick((False, True)),
            consumer=pick(("mooncake", "mooncake", "aiperf", "dynamo")))

    def damaged(self, records, changes):
        """The same, but for one change; messages are shared no more."""
        records = json.loads(json.dumps(records))
        self.random.choice(changes)(records)
        return records

    def trace(self):
        """Content, and what it says."""
        records = getattr(self, self.kind)()
        # Half a pair has no UTF-8: it stands in a file as an escape.
        is_ascii = self.is_damaged or self.random.random() < 0.5
        if self.kind == "nat":
            if self.is_damaged:
                records = self.damaged(records, damage.NAT_CHANGES)
            return damage.dumped(
                records, indent=self.random.choice((None, 1)),
                ensure_ascii=is_ascii), records
        if self.is_damaged:
            records = self.damaged(records, damage.TELEMETRY_CHANGES)
        return damage.telemetry_bytes(
            records, ensure_ascii=is_ascii), records


def compat_lines(kind, records, size):
    encode = rows_reference.Encoder(Bytes)
    if kind == "nat":
        return sum(rows_reference.nat_lines(records, encode, size), [])
    return rows_reference.telemetry_lines(records, encode, size)


class Soak:
    """Rounds of one job; what was done is in `done`."""

    def __init__(self, tracebake, work):
        self.tracebake, self.work = tracebake, Path(work)
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(work),
                                HF_HUB_OFFLINE="1")
        (self.work / "tokenizer.json").write_text(tokenizer())
        self.done = dict.fromkeys(
            ("traces", "bytes", "rows", "runs", "peak"), 0)

    def run(self, kind, path, more, stdin=None):
        """Rows of a run; the peak of its memory is noted."""
        rows = self.work / "rows"
        rows.unlink(missing_ok=True)
        peak = self.work / "peak"
        process = subprocess.run(
            [sys.executable, "-I", "-S", "-c", MEASURED, str(peak),
             str(self.tracebake), kind, str(path), "--tokenizer",
             str(self.work / "tokenizer.json"),
             "--output-file", str(rows), "--quiet", *more],
            stdin=stdin or subprocess.DEVNULL, capture_output=True,
            env=self.environment, timeout=RUN_TIMEOUT)
        message = process.stderr.decode("utf-8", "replace")
        self.done["runs"] += 1
        self.done["peak"] = max(self.done["peak"], int(peak.read_text()))
        if process.returncode == 1 and "no rows" in message:
            return b""
        if process.returncode != 0:
            raise AssertionError(f"{process.returncode}: {message}")
        return rows.read_bytes()

    def round(self, seed):
        maker = Maker(seed)
        kind = maker.kind
        content, records = maker.trace()
        path = self.work / "trace"
        path.write_bytes(content)
        form = maker.form()
        size = ["--block-size", str(form.block_size)]
        self.compare(maker, kind, path, [*size, "--compat"], compat_lines(
            kind, records, form.block_size))
        if maker.is_damaged:
            self.compare(maker, kind, path, size)
        else:
            self.compare(maker, kind, path, form.arguments(),
                         default_reference.lines(kind, records, form))
        self.done["traces"] += 1
        self.done["bytes"] += len(content)

    def compare(self, maker, kind, path, more, lines=None):
        """One way and another give the same rows: the twin's, if any."""
        rows = self.run(kind, path, [*more, "--threads", "1"])
        if lines is not None and rows != "".join(lines).encode():
            raise AssertionError(f"{kind} {more}: other rows than the twin's")
        self.done["rows"] += rows.count(b"\n")
        name = maker.random.choice(list(WAYS))
        if WAYS[name](self, maker, kind, path, more) != rows:
            raise AssertionError(f"{kind} {more}: other rows with {name}")

    def with_threads(self, maker, kind, path, more):
        count = str(maker.random.randint(2, 9))
        return self.run(kind, path, [*more, "--threads", count])

    def without_reuse(self, _, kind, path, more):
        return self.run(kind, path, [*more, "--no-reuse"])

    def packed(self, maker, kind, path, more):
        packed = self.work / "packed"
        if maker.random.random() < 0.5:
            packed.write_bytes(gzip.compress(path.read_bytes(), 1))
        else:
            import zstandard
            packed.write_bytes(zstandard.ZstdCompressor(1).compress(
                path.read_bytes()))
        return self.run(kind, packed, more)

    def through_pipe(self, _, kind, path, more):
        with path.open("rb") as file:
            cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
            rows = self.run(kind, "-", more, stdin=cat.stdout)
            cat.stdout.close()
            cat.wait()
        return rows


WAYS = {"threads": Soak.with_threads, "--no-reuse": Soak.without_reuse,
        "a compressed file": Soak.packed, "a pipe": Soak.through_pipe}


# ------------------------------------------------------- rounds and jobs


class State:
    """What all runs did so far, and which round comes next."""

    def __init__(self, path, tracebake, seed):
        self.path = path
        self.done = {"program": hashlib.sha256(
            tracebake.read_bytes()).hexdigest(), "next": seed, "traces": 0,
            "bytes": 0, "rows": 0, "runs": 0, "peak": 0, "seconds": 0.0}
        if path and path.exists():
            before = json.loads(path.read_text())
            if before["program"] != self.done["program"]:
                sys.exit(f"{path} is of another program: remove it")
            self.done = before

    def add(self, done, next_seed, seconds):
        for key in ("traces", "bytes", "rows", "runs"):
            self.done[key] += done[key]
        self.done["peak"] = max(self.done["peak"], done["peak"])
        self.done["seconds"] += seconds
        self.done["next"] = next_seed
        if self.path:
            beside = self.path.with_suffix(".part")
            beside.write_text(json.dumps(self.done) + "\n")
            beside.replace(self.path)

    def __str__(self):
        return ("{traces} traces of {megabytes:.1f} MB, {runs} runs, {rows} "
                "rows, no difference, {seconds:.0f} s; at most {peak_mb:.0f} "
                "MB of memory").format(
                    megabytes=self.done["bytes"] / 1e6,
                    peak_mb=self.done["peak"] / 1e6, **self.done)


def do_rounds(task):
    """A few rounds in a process of their own: what was done, or a problem."""
    tracebake, seeds = task
    with tempfile.TemporaryDirectory(prefix="soak-") as work:
        soak = Soak(tracebake, work)
        for seed in seeds:
            try:
                soak.round(seed)
            except AssertionError as problem:
                kept = Path(tempfile.gettempdir(), f"soak-{seed}.trace")
                kept.write_bytes((soak.work / "trace").read_bytes())
                return soak.done, f"seed {seed}, {kept}: {problem}"
    return soak.done, None


def soak(options, state):
    """Rounds in order, `jobs` at a time; the first problem ends it."""
    started = before = time.monotonic()
    step = options.jobs * options.rounds
    with multiprocessing.Pool(options.jobs) as pool:
        while (time.monotonic() - started < options.seconds
               and state.done["bytes"] < options.bytes):
            first = state.done["next"]
            tasks = [(options.tracebake, range(first + job, first + step,
                                               options.jobs))
                     for job in range(options.jobs)]
            for done, problem in pool.imap_unordered(do_rounds, tasks):
                if problem:
                    sys.exit(f"FAILED: {problem}")
                state.add(done, first, 0)
            now = time.monotonic()
            state.add(dict.fromkeys(done, 0), first + step, now - before)
            before = now
            if options.state:
                print(state, flush=True)


def size_of(text):
    unit = {"K": 1e3, "M": 1e6, "G": 1e9}.get(text[-1:])
    return float(text[:-1]) * unit if unit else float(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--bytes", type=size_of, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1,
                        help="of a job, before what was done is kept")
    parser.add_argument("--state", type=Path)
    parser.add_argument("--any-memory", action="store_true",
                        help="no bound: sanitizers take several times as much")
    options = parser.parse_args()
    options.tracebake = options.tracebake.resolve()
    if options.seconds == options.bytes == float("inf"):
        options.seconds = 10
    state = State(options.state, options.tracebake, options.seed)
    soak(options, state)
    print(state)
    if state.done["peak"] > MEMORY_MAX and not options.any_memory:
        sys.exit("FAILED: too much memory")


if __name__ == "__main__":
    main()
