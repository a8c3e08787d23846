#!/usr/bin/env python3
"""Rows of tracebake against the reference behaviour.

With --compat: byte for byte what rows_reference.py gives, for every trace,
several block sizes, delays, skipped requests, cut files and damaged files.
Without: what must hold for any rows, and that threads, pipes and
compression change nothing. With --ids content: the ids that the reference
hashes, and for each session the rows that it has when it is converted alone.
"""
import argparse
import gzip
import json
import random
import tempfile
from pathlib import Path

import content_ids
import damage
import harness
import rows_reference

TOKENIZERS = ("llama3_1", "qwen3", "gpt4o", "gemma3", "claude")
CUT_TRACE = "1.3.1_toolcall_5req"
VARIANT_TRACES = (CUT_TRACE, "1.9.0_fanout_2req", "1.9.0fw_llama_index_6req")
TELEMETRY_TRACE = "tel8"
# The reference writes lists as Python shows them, and roles of texts, which
# only --compat does.
OTHER_TEXT = ("1.9.0_fanout_2req", "1.9.0fw_llama_index_6req")


class Trace:
    """A trace of the tests: its kind, bytes and what they mean."""

    def __init__(self, path):
        self.name = path.name.split(".json")[0]
        self.kind = "telemetry" if ".jsonl" in path.name else "nat"
        self.data = rows_reference.read_bytes(path)
        if self.kind == "nat":
            self.records = json.loads(self.data)
        else:
            self.records = rows_reference.read_events(self.data)

    def calls(self):
        """Calls that the file tells of, whole or not."""
        if self.kind == "telemetry":
            return sum(event.get("event_type") == "llm_call"
                       for event in self.records)
        return sum(map(calls_of_request, self.records))


def calls_of_request(request):
    """Starts, and the ends that have none."""
    payloads = [step["payload"] for step in request["intermediate_steps"]]
    ids = {event_type: [payload["UUID"] for payload in payloads
                        if payload["event_type"] == event_type]
           for event_type in ("LLM_START", "LLM_END")}
    unknown = [one for one in ids["LLM_END"] if one not in ids["LLM_START"]]
    return len(ids["LLM_START"]) + len(unknown)


class Check:
    """One tokenizer: files are converted by both sides and compared."""

    def __init__(self, name, options, folder):
        self.name = name
        self.tracebake = options.tracebake
        self.argument = harness.tokenizer_argument(name, options.tokenizers)
        self.encode = rows_reference.Encoder(
            harness.original(name, options.tokenizers))
        self.folder = Path(folder)
        self.compared = {}
        self.bad = 0

    def count(self, what, rows):
        files, sum_of_rows = self.compared.get(what, (0, 0))
        self.compared[what] = (files + 1, sum_of_rows + rows)

    def fault(self, what, message):
        self.bad += 1
        print(f"DIFFERENT: {self.name}, {what}: {message}", flush=True)

    def write(self, data, name):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def arguments(self, kind, source, target, block_size, *more):
        return [kind, "--input-file", source, "--output-file", target,
                "--tokenizer", self.argument, "--block-size", block_size,
                *more]

    def convert(self, kind, source, block_size, *more, check=True):
        """The finished process and the rows it wrote."""
        target = self.folder / "rows.jsonl"
        target.unlink(missing_ok=True)
        process = harness.run(self.tracebake, self.arguments(
            kind, source, target, block_size, *more), check=check)
        return process, target.read_bytes() if target.exists() else b""

    def expect(self, what, expected, kind, source, block_size, *more):
        """Convert with --compat; the rows must be the expected lines."""
        wanted = "".join(expected).encode()
        try:
            _, got = self.convert(kind, source, block_size, "--compat", *more)
        except harness.Failure as failure:
            return self.fault(what, failure)
        if got != wanted:
            self.fault(what, f"block size {block_size}")
            harness.print_first_difference(wanted, got)
        self.count(what.split(":")[0], len(expected))

    def reference(self, trace, block_size, delay=None, skip=0, limit=None,
                  numbering=None):
        if trace.kind == "telemetry":
            return rows_reference.telemetry_lines(
                trace.records, self.encode, block_size, delay, numbering)
        return sum(rows_reference.nat_lines(
            trace.records, self.encode, block_size, delay, skip, limit,
            numbering), [])


# -------------------------------------------------------- with --compat


def check_traces(check, traces, sizes):
    for trace in traces:
        source = check.write(trace.data, f"{trace.name}.in")
        for size in sizes:
            check.expect(f"trace: {trace.name}", check.reference(trace, size),
                         trace.kind, source, size)
        check.expect(f"delay: {trace.name}",
                     check.reference(trace, 64, delay=500),
                     trace.kind, source, 64, "--delay", 500)


def check_parts(check, traces):
    """--skip-requests and --num-requests, also beyond the end."""
    for trace in traces:
        if trace.kind != "nat":
            continue
        source = check.write(trace.data, "part.in")
        for skip, limit in ((1, None), (0, 1), (1, 1), (2, 3), (99, None)):
            more = ["--skip-requests", skip]
            if limit is not None:
                more += ["--num-requests", limit]
            check.expect(f"part: {trace.name} skip {skip} limit {limit}",
                         check.reference(trace, 64, None, skip, limit),
                         "nat", source, 64, *more)


def check_cuts(check, trace, count, rng):
    """A file that ends too early keeps what is whole."""
    cuts = sorted(rng.randrange(1, len(trace.data)) for _ in range(count))
    for cut in cuts:
        data = trace.data[:cut]
        source = check.write(data, "cut.in")
        expected = cut_reference(check, trace, cut)
        if expected:
            check.expect(f"cut {trace.kind}: at byte {cut}", expected,
                         trace.kind, source, 64)
        else:
            check_nothing_whole(check, trace, source, cut)


def check_nothing_whole(check, trace, source, cut):
    """Nothing to keep: success or failure, but no rows and no crash."""
    process, rows = check.convert(trace.kind, source, 64, "--compat",
                                  check=False)
    if rows or process.returncode not in (0, 1):
        check.fault(f"cut at byte {cut}, nothing is whole",
                    harness.describe(process))
    check.count(f"cut {trace.kind}", 0)


def cut_reference(check, trace, cut):
    if trace.kind == "telemetry":
        events = rows_reference.read_events(trace.data[:cut])
        return rows_reference.telemetry_lines(events, check.encode, 64)
    ends = rows_reference.element_ends(trace.data.decode("ascii"))
    whole = sum(end <= cut for end in ends)
    return sum(rows_reference.nat_lines(
        trace.records[:whole], check.encode, 64), [])


def variants(trace):
    """(name, bytes, what they mean) of each damaged file."""
    if trace.kind == "nat":
        yield from damage.nat_variants(trace.records)
        return
    for name, data in damage.telemetry_variants(trace.records):
        yield name, data, rows_reference.read_events(
            data.replace(b"\r\n", b"\n"))


def check_variants(check, trace):
    for name, data, meaning in variants(trace):
        source = check.write(data, "variant.in")
        if trace.kind == "nat":
            expected = sum(rows_reference.nat_lines(
                meaning, check.encode, 64), [])
        else:
            expected = rows_reference.telemetry_lines(
                meaning, check.encode, 64)
        what = f"damaged {trace.kind}: {trace.name}, {name}"
        check.expect(what, expected, trace.kind, source, 64)
        check_rules(check, what, trace.kind, source, 64, not expected)


# ------------------------------------------------------ without --compat


def check_rules(check, what, kind, source, block_size, may_be_empty,
                calls=None):
    """What holds for rows of any origin, and that nothing is lost.

    A conversion without any row is a failure of its own, unless --compat.
    `calls` is how many the file tells of, where that is known.
    """
    process, data = check.convert(kind, source, block_size,
                                  "--stats", "json", check=False)
    if process.returncode == 1 and may_be_empty and not data:
        return check.count("no rows", 0)
    if process.returncode != 0:
        return check.fault(f"rules, {what}", harness.describe(process))
    rows = [json.loads(line) for line in data.decode().splitlines()]
    for message in (*broken_rules(rows, block_size),
                    *broken_sum(process.stdout, rows, calls)):
        check.fault(f"rules, {what}", message)
    check.count("rules", len(rows))


def broken_rules(rows, block_size):
    """The first thing that is wrong with rows, if any."""
    length_of, known = {}, 0
    for number, row in enumerate(rows, 1):
        length, ids = row["input_length"], row["hash_ids"]
        if length < 1 or len(ids) != -(-length // block_size):
            yield f"row {number}: {len(ids)} ids for length {length}"
            return
        for index, block in enumerate(ids):
            if block > known:
                yield f"row {number}: id {block} before {known}"
                return
            known = max(known, block + 1)
            size = min(block_size, length - index * block_size)
            if length_of.setdefault(block, size) != size:
                yield (f"row {number}: id {block} has {size} tokens, "
                       f"before {length_of[block]}")
                return


def broken_sum(stdout, rows, calls):
    """Rows and skipped calls make up all calls, says the summary."""
    try:
        stats = json.loads(stdout)
        said, written = stats["calls"], stats["rows"]
        skipped = sum(stats["skipped"].values())
    except (ValueError, KeyError) as problem:
        yield f"summary in JSON: {type(problem).__name__} {problem}"
        return
    if written != len(rows) or written + skipped != said:
        yield (f"{said} calls, {written} rows said, {len(rows)} written, "
               f"{skipped} skipped")
    if calls is not None and said != calls:
        yield f"{said} calls said, {calls} in the file"


def check_same_rows(check, trace):
    """Threads, pipes and compression change nothing."""
    if not check.reference(trace, 64):
        return
    plain = check.write(trace.data, "same.in")
    zipped = check.write(gzip.compress(trace.data, 1), "same.in.gz")
    packed = check.write(zstd_compress(trace.data), "same.in.zst")
    _, wanted = check.convert(trace.kind, plain, 64)
    for what, source, more in (("one thread", plain, ("--threads", 1)),
                               ("three threads", plain, ("--threads", 3)),
                               (".gz", zipped, ()), (".zst", packed, ())):
        _, got = check.convert(trace.kind, source, 64, *more)
        compare_same(check, trace, what, wanted, got)
    compare_same(check, trace, "pipe", wanted, through_pipe(check, trace))
    for what, unpack in ((".gz", gzip.decompress), (".zst", zstd_decompress)):
        target = check.folder / f"rows.jsonl{what}"
        harness.run(check.tracebake,
                    check.arguments(trace.kind, plain, target, 64))
        compare_same(check, trace, f"written as {what}", wanted,
                     unpack(target.read_bytes()))


# ----------------------------------------------------- with --ids content


def by_session(lines):
    """The ids of all rows of each session, in an order of their own."""
    sessions = {}
    for text in lines:
        row = json.loads(text)
        sessions.setdefault(row["session_id"], []).append(row["hash_ids"])
    return {name: sorted(ids) for name, ids in sessions.items()}


def by_first_appearance(data):
    """Rows whose ids are numbered anew."""
    rows, known = [json.loads(text) for text in data.splitlines()], {}
    for row in rows:
        row["hash_ids"] = [known.setdefault(block, len(known))
                           for block in row["hash_ids"]]
    return rows


def check_content_structure(check, trace, block_size):
    """They share what numbers by first appearance share."""
    source = check.write(trace.data, "structure.in")
    for more in ((), ("--rows", "delta")):
        more = ("--lengths", "tokens", *more)
        process, order = check.convert(trace.kind, source, block_size, *more,
                                       check=False)
        if process.returncode != 0:
            return
        _, content = check.convert(trace.kind, source, block_size, "--ids",
                                   "content", *more)
        if by_first_appearance(content) != [
                json.loads(text) for text in order.splitlines()]:
            check.fault(f"content structure: {trace.name}", " ".join(more))
        check.count("content structure", order.count(b"\n"))


def check_content_ids(check, trace, block_size):
    """What the reference hashes. Rows stand in another order there."""
    if trace.name in OTHER_TEXT:
        return
    source = check.write(trace.data, "content.in")
    secret = check.write(b"sixteen letters.", "salt")
    for more, key in (((), None), (("--salt-file", secret),
                                   secret.read_bytes())):
        process, data = check.convert(
            trace.kind, source, block_size, "--ids", "content", "--prompt",
            "join", "--lengths", "tokens", "--stats", "json", *more,
            check=False)
        if process.returncode == 1 and not data:
            return check.count("content ids", 0)
        stats = json.loads(process.stdout)
        numbering = content_ids.ContentIds(
            block_size, stats["tokenizer"]["fingerprint"], key)
        expected = by_session(check.reference(trace, block_size,
                                              numbering=numbering))
        got = by_session(data.decode().splitlines())
        if got != expected:
            check.fault(f"content ids: {trace.name}",
                        f"block size {block_size}")
        check.count("content ids", stats["rows"])


def check_sessions_alone(check, trace, *more):
    """A session has the same rows, whatever else is in the run."""
    source = check.write(trace.data, "alone.in")
    more = ("--ids", "content", *more)
    process, whole = check.convert("nat", source, 64, *more, check=False)
    if process.returncode != 0:
        return
    apart = b"".join(
        check.convert("nat", source, 64, "--skip-requests", at,
                      "--num-requests", 1, *more, check=False)[1]
        for at in range(len(trace.records)))
    if apart != whole:
        check.fault(f"sessions alone: {trace.name}", " ".join(more))
        harness.print_first_difference(whole, apart)
    check.count("sessions alone", whole.count(b"\n"))


def through_pipe(check, trace):
    process = harness.run(
        check.tracebake, check.arguments(trace.kind, "-", "-", 64),
        stdin=trace.data)
    return process.stdout


def compare_same(check, trace, what, wanted, got):
    if got != wanted:
        check.fault(f"{trace.name}, {what}", "other rows than from the file")
        harness.print_first_difference(wanted, got)
    check.count("same rows", wanted.count(b"\n"))


def zstd_compress(data):
    import zstandard
    return zstandard.ZstdCompressor(level=1).compress(data)


def zstd_decompress(data):
    import zstandard
    return zstandard.ZstdDecompressor().decompressobj().decompress(data)


# ------------------------------------------------------------------- job


def check_tokenizer(name, options, traces):
    with tempfile.TemporaryDirectory() as folder:
        check = Check(name, options, folder)
        rng = random.Random(f"{options.seed} {name}")
        cuts = 20 if options.quick else options.cuts
        sizes = (64,) if options.quick else (1, 16, 64, 128, 512)
        by_name = {trace.name: trace for trace in traces}
        check_traces(check, traces, sizes)
        if not options.whole:
            check_parts(check, traces)
            check_cuts(check, by_name[CUT_TRACE], cuts, rng)
            check_cuts(check, by_name[TELEMETRY_TRACE], cuts // 4, rng)
        for trace in traces:
            source = check.write(trace.data, "rules.in")
            for size in (16, 512):
                check_rules(check, trace.name, trace.kind, source, size,
                            not check.reference(trace, size),
                            trace.calls())
            check_same_rows(check, trace)
            check_content_ids(check, trace, 64)
            check_content_structure(check, trace, 64)
            if trace.kind == "nat":
                check_sessions_alone(check, trace)
                check_sessions_alone(check, trace, "--for", "aiperf")
        for variant in (() if options.whole else
                        (*VARIANT_TRACES, TELEMETRY_TRACE)):
            check_variants(check, by_name[variant])
    print(f"{name} (seed {options.seed})")
    for what, (files, rows) in check.compared.items():
        print(f"  {what:18} {files:5} conversions {rows:8,} rows")
    return check.bad


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    parser.add_argument("--only", metavar="NAME", action="append",
                        help="only this tokenizer (may be repeated); "
                             f"else {', '.join(TOKENIZERS)}")
    parser.add_argument("--cuts", type=int, default=200, metavar="N",
                        help="files that end too early (default: 200)")
    parser.add_argument("--quick", action="store_true",
                        help="fewer cuts and block sizes, for slow builds")
    parser.add_argument("--whole", action="store_true",
                        help="traces as they are: none cut, none damaged")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    traces = [Trace(path) for path in sorted(harness.DATA.glob("*.json*.gz"))]
    names = options.only or TOKENIZERS
    bad = sum(check_tokenizer(name, options, traces) for name in names)
    print(f"rows: {len(names)} tokenizers, {len(traces)} traces, "
          f"{bad} differences")
    return bad == 0


if __name__ == "__main__":
    harness.main(job)
