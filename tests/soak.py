#!/usr/bin/env python3
"""Traces at random, converted and compared with the slow twin, for as long as
one likes; memory is watched.

Each round makes a trace of either kind, often damaged (tests/oracle/damage.py),
and converts it with a tokenizer that has one token for each byte. It holds

    --compat        to the rows of tests/oracle/rows_reference.py, to the byte;
    other ways      (threads, a pipe, gzip, zstd, --no-reuse) to each other;
    peak memory     to a bound that does not grow with the file.

    soak.py --tracebake build/release/tracebake --seconds 1200
"""
import argparse
import copy
import gzip
import json
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
import rows_reference  # noqa: E402

MEMORY_MAX = 400 << 20  # bytes, far above what these sessions need
WORDS = ("the", "a", "request", "café", "日本語", "emoji 😀", "tab\there",
         "line\nbreak", "quote \"q\"", "back\\slash", "\u2028", "null\x00byte",
         '"request_number": 7, "intermediate_steps": [', "</think>", "{}", "é")


class Bytes:
    """The twin of the tokenizer below."""

    @staticmethod
    def encode(text):
        return list(text.encode())


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
    """Traces at random, from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self, words):
        count = int(self.random.expovariate(1 / words)) + 1
        return " ".join(self.random.choices(WORDS, k=count))

    def history(self):
        """Growing lists of messages, as an agent sends them."""
        messages = [{"role": "system", "content": self.text(200)}]
        for _ in range(self.random.randint(1, 12)):
            messages.append({"role": "user", "content": self.text(60)})
            yield list(messages)
            messages.append({"role": "assistant", "content": self.text(40)})
            if self.random.random() < 0.1:
                del messages[1:]  # compacted

    def usage(self, messages):
        length = sum(len(message["content"]) for message in messages)
        return {"prompt_tokens": length + self.random.randint(-20, 90),
                "completion_tokens": self.random.randint(0, 300),
                "total_tokens": 0}

    def nat(self):
        return [self.request(number)
                for number in range(self.random.randint(1, 25))]

    def request(self, number):
        steps, now = [], 1.7e9 + number
        for turn, messages in enumerate(self.history()):
            uuid = f"{number}-{turn}"
            start = {"event_type": "LLM_START", "event_timestamp": now,
                     "name": "m", "metadata": {"chat_inputs": messages},
                     "data": {"input": self.text(50)}, "UUID": uuid}
            end = {"event_type": "LLM_END",
                   "event_timestamp": now + self.random.random(),
                   "data": {"output": self.text(30)},
                   "usage_info": {"token_usage": self.usage(messages)},
                   "UUID": uuid}
            noise = {"event_type": "TOOL_START", "UUID": "t" + uuid,
                     "metadata": {"tool_inputs": self.text(100)}}
            steps += [{"payload": payload, "function_ancestry":
                       {"function_name": "agent"}}
                      for payload in (start, noise, end)]
            now += self.random.random() * 3
        return {"request_number": number, "intermediate_steps": steps}

    def telemetry(self):
        events = []
        for session in range(self.random.randint(1, 25)):
            now = 1.7e9 + session
            for messages in self.history():
                events.append({
                    "event_type": "llm_call", "session_id": f"s{session}",
                    "timestamp": now, "latency_priority": "HIGH",
                    "request_payload": {"model": "m", "messages": messages},
                    "response_payload": {
                        "choices": [{"message": {"content": self.text(9)}}],
                        "usage": self.usage(messages)}})
                now += self.random.random() * 3
        self.random.shuffle(events)
        return events

    def trace(self):
        """Kind, content, and the twin's lines."""
        kind = self.random.choice(("nat", "telemetry"))
        records = getattr(self, kind)()
        size = self.random.choice((1, 4, 16, 64))
        encode = rows_reference.Encoder(Bytes)
        if kind == "nat":
            if self.random.random() < 0.5:
                records = copy.deepcopy(records)
                self.random.choice(damage.NAT_CHANGES)(records)
            content = damage.dumped(
                records, indent=self.random.choice((None, 1)))
            parsed = json.loads(content)
            lines = rows_reference.nat_lines(parsed, encode, size)
            return kind, size, content, [l for part in lines for l in part]
        if self.random.random() < 0.5:
            records = copy.deepcopy(records)
            self.random.choice(damage.TELEMETRY_CHANGES)(records)
        content = damage.telemetry_bytes(records)
        events = [json.loads(l) for l in content.split(b"\n") if l]
        return kind, size, content, rows_reference.telemetry_lines(
            events, encode, size)


class Soak:
    def __init__(self, tracebake, work):
        self.tracebake, self.work = tracebake, Path(work)
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(work),
                                HF_HUB_OFFLINE="1")
        (self.work / "tokenizer.json").write_text(tokenizer())
        self.bytes = self.rows = self.runs = self.peak = 0

    def run(self, kind, size, path, *more, stdin=None):
        """Rows of a run; the peak of its memory is noted."""
        rows = self.work / "rows"
        rows.unlink(missing_ok=True)
        process = subprocess.Popen(
            [str(self.tracebake), kind, str(path), "--tokenizer",
             str(self.work / "tokenizer.json"), "--block-size", str(size),
             "--output-file", str(rows), "--quiet", *more],
            stdin=stdin or subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=self.environment)
        message = process.stderr.read().decode("utf-8", "replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        self.runs += 1
        self.peak = max(self.peak, usage.ru_maxrss << 10)
        if process.returncode == 1 and "no rows" in message:
            return b""
        if process.returncode != 0:
            raise AssertionError(f"{process.returncode}: {message}")
        return rows.read_bytes()

    def round(self, maker):
        kind, size, content, lines = maker.trace()
        path = self.work / "trace"
        path.write_bytes(content)
        self.bytes += len(content)
        wanted = "".join(lines).encode()
        if self.run(kind, size, path, "--compat") != wanted:
            raise AssertionError(f"{kind}: other rows than the twin's")
        rows = self.run(kind, size, path, "--threads", "1")
        self.rows += rows.count(b"\n")
        for name, got in self.other_ways(maker, kind, size, path, content):
            if got != rows:
                raise AssertionError(f"{kind}: other rows with {name}")

    def other_ways(self, maker, kind, size, path, content):
        threads = str(maker.random.randint(2, 9))
        yield "threads", self.run(kind, size, path, "--threads", threads)
        yield "--no-reuse", self.run(kind, size, path, "--no-reuse")
        packed = self.work / "packed"
        packed.write_bytes(gzip.compress(content, 1))
        yield "gzip", self.run(kind, size, packed)
        with path.open("rb") as file:
            cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
            yield "a pipe", self.run(kind, size, "-", stdin=cat.stdout)
            cat.stdout.close()
            cat.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tracebake", required=True, type=Path)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--any-memory", action="store_true",
                        help="no bound: sanitizers take several times as much")
    options = parser.parse_args()
    end, seed = time.monotonic() + options.seconds, options.seed
    with tempfile.TemporaryDirectory(prefix="soak-") as work:
        soak = Soak(options.tracebake.resolve(), work)
        while time.monotonic() < end:
            try:
                soak.round(Maker(seed))
            except AssertionError as problem:
                kept = Path(tempfile.gettempdir(), f"soak-{seed}.trace")
                kept.write_bytes((soak.work / "trace").read_bytes())
                sys.exit(f"FAILED: seed {seed}, {kept}: {problem}")
            seed += 1
        print(f"{seed - options.seed} traces of {soak.bytes / 1e6:.1f} MB, "
              f"{soak.runs} runs, {soak.rows} rows, no difference; "
              f"at most {soak.peak / 1e6:.0f} MB of memory")
        if soak.peak > MEMORY_MAX and not options.any_memory:
            sys.exit("FAILED: too much memory")


if __name__ == "__main__":
    main()
