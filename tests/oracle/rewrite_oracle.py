#!/usr/bin/env python3
"""`tracebake rewrite` beside the converter.

For each trace in tests/data, several block sizes and ways to convert, rows in
one form and their calls are rewritten for each consumer: byte for byte what the
converter writes of the trace with --for that consumer, and the meta file says
the same of the rows. What cannot be told from rows and calls must be refused,
and nothing may be written.

Random traces of short conversations, many of which begin alike and go on alike
or not, look for increments of which that cannot be told: these are refused, and
never wrong. All others must be accepted where no two conversations begin alike.
"""
import argparse
import gzip
import json
import random
import tempfile
from pathlib import Path

import harness

CONSUMERS = ("mooncake", "aiperf", "dynamo")
WAYS = ([], ["--keep-failed"], ["--lengths", "tokens"],
        ["--session-prefix", "always"])
REFUSAL = b"goes on from the same turns, is not in the rows"


def convert(tracebake, trace, rows, arguments):
    """True when the trace has rows."""
    command = "telemetry" if ".jsonl" in trace.name else "nat"
    process = harness.run(tracebake, [
        command, trace, "--tokenizer", "builtin", "--quiet", "--output-file",
        rows, "--calls", f"{rows}.calls", *arguments], check=False)
    if process.returncode and b"no rows" not in process.stderr:
        raise harness.Failure(harness.describe(process))
    return process.returncode == 0


def meta_of(rows):
    meta = json.loads(Path(f"{rows}.meta.json").read_text())
    counts = meta["counts"]
    return (meta["rows"], meta["block_size"], meta["inputs"],
            meta["tokenizer"], counts)


def compare(options, rows, wanted, consumer, what, times=()):
    """None when it is refused, else whether it is the same."""
    made = rows.parent / "made.jsonl"
    made.unlink(missing_ok=True)
    process = harness.run(options.tracebake, [
        "rewrite", rows, "--for", consumer, "--calls", f"{rows}.calls",
        "--output-file", made, "--quiet", *times], check=False)
    if process.returncode == 1 and REFUSAL in process.stderr and \
            not made.exists():
        return None
    if process.returncode:
        raise harness.Failure(f"{what}: {harness.describe(process)}")
    if made.read_bytes() != wanted.read_bytes():
        print(f"DIFFERENT: {what}")
        harness.print_first_difference(wanted.read_bytes(), made.read_bytes())
        return False
    if meta_of(made) != meta_of(wanted):
        print(f"DIFFERENT: meta of {what}\n{meta_of(wanted)}\n{meta_of(made)}")
        return False
    return True


def check_trace(options, trace, folder, arguments, counts):
    rows = {}
    for consumer in CONSUMERS:
        path = folder / f"{consumer}.jsonl"
        if not convert(options.tracebake, trace, path,
                       [*arguments, "--for", consumer]):
            return True
        rows[consumer] = path
    for given in CONSUMERS:
        for consumer in CONSUMERS:
            if consumer == "mooncake" and given != "mooncake":
                continue  # increments have no whole prompts
            what = f"{trace.name} {arguments} {given} -> {consumer}"
            equal = compare(options, rows[given], rows[consumer], consumer,
                            what)
            if equal is False:
                return False
            counts[equal] += 1
    return True


def check_times(options, folder):
    """Gaps and times that the conversion changes, given again."""
    times = ["--max-delay", "700", "--speedup", "2.5"]
    whole, wanted = folder / "whole.jsonl", folder / "wanted.jsonl"
    found = 0
    for trace in sorted(harness.DATA.glob("*.gz")):
        if not convert(options.tracebake, trace, whole, []):
            continue
        for consumer in ("aiperf", "dynamo"):
            convert(options.tracebake, trace, wanted,
                    ["--for", consumer, *times])
            what = f"{trace.name} {times} -> {consumer}"
            if not compare(options, whole, wanted, consumer, what, times):
                return False
            found += 1
    print(f"times: {found} files are the same")
    return found > 10


def check_data(options, folder):
    counts = {True: 0, None: 0}
    for trace in sorted(harness.DATA.glob("*.gz")):
        ways = WAYS[:1] + WAYS[2:] if ".jsonl" in trace.name else WAYS
        for way in ways:
            for size in (16,) if options.quick else (1, 16, 128):
                if not check_trace(options, trace, folder,
                                   [*way, "--block-size", size], counts):
                    return False
    print(f"data: {counts[True]} files are the same, {counts[None]} refused")
    return counts[True] > 50 and counts[None] == 0


# ------------------------------------------------------------- by chance


def random_trace(random_, do_begin_alike):
    """Conversations of a few turns whose texts come from few words."""
    requests, clock = [], 1.7e9
    for number in range(random_.randrange(1, 6)):
        steps, texts, end, agent = [], [], clock, random_.choice("ab")
        texts.append("system " * random_.choice((3, 9)))
        for turn in range(random_.randrange(1, 5)):
            if random_.random() < 0.15:
                texts = texts[:1]  # a history that was thrown away
            texts.append(random_.choice(("yes", "no", "maybe " * 5))
                         + ("" if do_begin_alike else f" {number} {turn}"))
            start = end + random_.random()
            if random_.random() < 0.1:
                start = end - 0.001  # before the answer
            end = start + random_.random()
            answer = random_.choice(("one two", "two one", "three four five"))
            common = {"UUID": f"{number}-{turn}", "name": "m"}
            if random_.random() < 0.1:
                agent = random_.choice("ab")
            ancestry = {"function_name": agent, "function_id": "f"}
            steps.append({"payload": {
                **common, "event_type": "LLM_START", "event_timestamp": start,
                "metadata": {"chat_inputs": [{"content": text}
                                             for text in texts]}},
                "function_ancestry": ancestry})
            if random_.random() < 0.9:
                steps.append({"payload": {
                    **common, "event_type": "LLM_END", "event_timestamp": end,
                    "data": {"output": answer}},
                    "function_ancestry": ancestry})
            texts.append(answer)
        requests.append({"request_number": number,
                         "intermediate_steps": steps})
        clock = end + random_.random()
    return requests


def check_random(options, folder):
    counts = {True: 0, None: 0}
    for seed in range(20 if options.quick else 80):
        random_ = random.Random(seed)
        do_begin_alike = seed % 2 == 0
        trace = folder / "trace.json"
        trace.write_text(json.dumps(random_trace(random_, do_begin_alike)))
        arguments = ["--block-size", random_.choice((1, 2, 4, 16))]
        if seed % 3 == 0:
            arguments.append("--keep-failed")
        before = counts[None]
        if not check_trace(options, trace, folder, arguments, counts):
            print(f"seed {seed}")
            return False
        if not do_begin_alike and counts[None] > before:
            print(f"REFUSED: seed {seed}, where no two begin alike")
            return False
    print(f"random: {counts[True]} files are the same, {counts[None]} refused")
    return counts[True] > 0 and counts[None] > 0


# -------------------------------------------------------------- refused


def check_refused(options, folder):
    trace = harness.DATA / "1.9.0_toolcall_3req.json.gz"
    cases = {
        "messages": (["--rows", "messages"], "dynamo"),
        "compat": (["--compat"], "dynamo"),
        "content": (["--ids", "content"], "dynamo"),
        "delta": (["--rows", "delta"], "mooncake"),
        "template": (["--tokenizer", options.tokenizers / "qwen3"], "aiperf"),
        "endpoint": (["--tokenizer", options.tokenizers / "qwen3",
                      "--endpoint", "chat"], "dynamo"),
    }
    for name, (arguments, consumer) in cases.items():
        rows = folder / f"{name}.jsonl"
        if not convert(options.tracebake, trace, rows, arguments):
            raise harness.Failure(f"no rows: {name}")
        made = folder / "refused.jsonl"
        process = harness.run(options.tracebake, [
            "rewrite", rows, "--for", consumer, "--calls", f"{rows}.calls",
            "--output-file", made], check=False)
        if process.returncode not in (1, 2) or made.exists():
            print(f"NOT REFUSED: {name}")
            return False
    rows, other = folder / "a.jsonl", folder / "b.jsonl"
    convert(options.tracebake, trace, rows, [])
    convert(options.tracebake, trace, other, ["--skip-requests", 1])
    for one, calls in ((rows, other), (other, rows)):
        process = harness.run(options.tracebake, [
            "rewrite", one, "--for", "dynamo", "--calls", f"{calls}.calls",
            "--output-file", made], check=False)
        if process.returncode != 1 or made.exists() or \
                b"calls are those of other rows" not in process.stderr:
            print("NOT REFUSED: calls of other rows")
            return False
    print(f"refused: {len(cases) + 2} runs")
    return True


def check_template(options, folder):
    """Prompts by a template, for whom no endpoint adds one."""
    trace, rows = harness.DATA / "1.9.0_toolcall_3req.json.gz", {}
    for consumer in ("mooncake", "dynamo"):
        rows[consumer] = folder / f"q_{consumer}.jsonl"
        convert(options.tracebake, trace, rows[consumer], [
            "--tokenizer", options.tokenizers / "qwen3", "--for", consumer])
    return compare(options, rows["mooncake"], rows["dynamo"], "dynamo",
                   "by a template") is True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()

    def job():
        with tempfile.TemporaryDirectory() as folder:
            return (check_data(options, Path(folder))
                    and check_times(options, Path(folder))
                    and check_random(options, Path(folder))
                    and check_template(options, Path(folder))
                    and check_refused(options, Path(folder)))
    harness.main(job)


if __name__ == "__main__":
    main()
