#!/usr/bin/env python3
"""`tracebake validate` says of a file what its consumer makes of it.

CASES holds small files, one for each rule and border: what is wrong with it by
the names of our rules, and nothing else. Each is given to the classes that
`aiperf profile --custom-dataset-type mooncake_trace` uses: file to rows, rows
to conversations, hash ids to prompts, and what follows timestamps when the
first row has one. Exit status 1 must mean that one of them refuses. Then all
rows that our own converters write from tests/data: the loader takes them, and
validate finds nothing that ends a run. DYNAMO_CASES are given to Dynamo's own
replay.
"""
import argparse
import asyncio
import gzip
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import aiperf_check
import harness

BLOCK_SIZE = 4  # tokens, of the cases
OWN_BLOCK_SIZE = 64
OWN_FORMS = (["--rows", "whole"], ["--rows", "delta"],
             ["--rows", "whole", "--timestamps", "session", "--delay",
              "recorded"],
             ["--rows", "messages"], ["--for", "aiperf"],
             ["--for", "dynamo"])


def row(**fields):
    """A good row, with these fields put in or changed."""
    whole = {"input_length": 4, "output_length": 2, "hash_ids": [1]} | fields
    return json.dumps({key: value for key, value in whole.items()
                       if value != "absent"}) + "\n"


def raw(text):
    """A good row with `text` behind its last field."""
    return row()[:-2] + text + "}\n"


def chat(**fields):
    return row(input_length="absent", hash_ids="absent", **fields)


def length(text):
    return f'{{"input_length": {text}}}\n'


def one_id(text):
    return f'{{"input_length": 4, "hash_ids": [{text}]}}\n'


def zstd(data):
    """A frame with one block as it is, by RFC 8878."""
    block = (len(data) << 3 | 1).to_bytes(3, "little") + data
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + block


USER = [{"role": "user", "content": "x"}]
WHOLE = (row(session_id="a", input_length=6, hash_ids=[1, 2]) +
         row(session_id="a", input_length=10, hash_ids=[1, 3, 4]))
DELTA = (row(session_id="a", input_length=6, hash_ids=[1, 2]) +
         row(session_id="a", input_length=5, hash_ids=[3, 4]))

# name, content, names of the rules that are broken
CASES = [
    ("a good row", row(), ""),
    ("all that a row can have", row(session_id="s", timestamp=0, priority="HIGH",
                                    agent_type="a", extra={"min_tokens": 2}),
     ""),
    # the file
    ("no row", "", "rows"),
    ("blank lines only", "\n \t\n\n", "rows"),
    ("blank lines between", "\n" + row() + "  \n" + row(), ""),
    ("no end of the last line", row().strip(), ""),
    ("CRLF", row().replace("\n", "\r\n") * 2, ""),
    ("CR alone", row().replace("\n", "\r") * 2, ""),
    ("white space of Unicode around", "\u2003\u00a0\x0c" + row().strip() +
     "\x85\x1c\u3000\n", ""),
    ("a line separator inside", row().strip() + "\u2028" + row(), "json"),
    ("gzip", gzip.compress(row().encode()), ""),
    ("gzip that is cut off", gzip.compress(row().encode() * 99)[:-9], "file"),
    ("gzip with a wrong sum", gzip.compress(row().encode())[:-8] + b"12345678",
     "file"),
    ("zstd", zstd(row().encode()), "file"),
    # JSON
    ("a byte order mark", "\ufeff" + row(), "json"),
    ("a cut line", row() + row()[:-9], "json"),
    ("two rows on a line", row().strip() + row(), "json"),
    ("NaN", raw(', "x": NaN'), "json"),
    ("-Infinity", raw(', "x": -Infinity'), "json"),
    ("a number beyond doubles", raw(', "x": 1e309'), "json-value"),
    ("the largest number", raw(', "x": 1.7976931348623158e308'), ""),
    ("digits beyond doubles", raw(', "x": 1' + "0" * 309), "json-value"),
    ("a zero in front", raw(', "x": 01'), "json"),
    ("a point without digits", raw(', "x": 1.'), "json"),
    ("minus zero", raw(', "x": -0'), ""),
    ("a plus in front", raw(', "x": +1'), "json"),
    ("half a surrogate pair", raw(r', "x": "\ud83d"'), "json-value"),
    ("the other half", raw(r', "x": "\ude00"'), "json-value"),
    ("halves in the wrong order", raw(r', "x": "\ude00\ud83d"'), "json-value"),
    ("a surrogate pair", raw(r', "x": "\ud83d\ude00"'), ""),
    ("an escape that is none", raw(r', "x": "\x41"'), "json"),
    ("a half escape", raw(r', "x": "\u12G4"'), "json"),
    ("a control character", raw(', "x": "\x01"'), "json"),
    ("a tab in a string", raw(', "x": "\t"'), "json"),
    ("DEL in a string", raw(', "x": "\x7f"'), ""),
    ("a zero byte", row() + "\0\n", "json"),
    ("no UTF-8 in a string", raw(', "x": "?"').encode().replace(b"?", b"\xff"),
     "json"),
    ("UTF-8 of a surrogate",
     raw(', "x": "?"').encode().replace(b"?", b"\xed\xa0\x80"), "json"),
    ("a comma too many", row()[:-2] + ",}\n", "json"),
    ("a comma too few", row().replace(", ", " ", 1), "json"),
    ("single quotes", row().replace('"', "'"), "json"),
    ("a key without quotes", '{input_length: 4}\n', "json"),
    ("1024 levels", raw(', "x": ' + "[" * 1023 + "]" * 1023), ""),
    ("1025 levels", raw(', "x": ' + "[" * 1024 + "]" * 1024), "json"),
    ("a list", "[1]\n", "object"),
    ("a number", "5\n", "object"),
    ("null", "null\n", "object"),
    # lengths
    ("no prompt", "{}\n", "prompt"),
    ("length null", length("null"), "prompt"),
    ("length 4.0", length("4.0"), ""),
    ("length 4e0", length("4e0"), ""),
    ("length 4.5", length("4.5"), "field-type"),
    ("length text", length('"4"'), ""),
    ("length text with a point", length('" +4_0.00 "'), ""),
    ("length text of a fraction", length('"4.5"'), "field-type"),
    ("length text with an exponent", length('"1e2"'), "field-type"),
    ("length text of letters", length('"x"'), "field-type"),
    ("length text, empty", length('""'), "field-type"),
    ("length true", length("true"), ""),
    ("length list", length("[4]"), "field-type"),
    ("length 0 without ids", length("0"), "empty-prompt"),
    ("length -1 without ids", length("-1"), "empty-prompt"),
    ("length 0 with ids", row(input_length=0), "input-length"),
    ("length -1 with ids", row(input_length=-1), "input-length"),
    ("length 0 with an empty list", row(input_length=0, hash_ids=[]),
     "empty-prompt"),
    ("length 2^64", length(str(2**64)), "field-type"),
    ("length twice, the last good",
     '{"input_length": "x", "input_length": 4}\n', ""),
    ("length twice, the last bad",
     '{"input_length": 4, "input_length": "x"}\n', "field-type"),
    ("a key with an escape", r'{"input\u005flength": 4}' + "\n", ""),
    ("another name", '{"input_tokens": 4}\n', "prompt"),
    ("output absent", row(output_length="absent"), ""),
    ("output null", row(output_length=None), ""),
    ("output 1", row(output_length=1), ""),
    ("output 0", row(output_length=0), "output-length"),
    ("output -1", row(output_length=-1), "output-length"),
    ("output false", row(output_length=False), "output-length"),
    ("output 1.5", row(output_length=1.5), "field-type"),
    ("output 2^64 - 1", row(output_length=2**64 - 1), ""),
    ("output 2^64", row(output_length=2**64), "field-type"),
    # ids
    ("ids null", row(hash_ids=None), ""),
    ("ids an object", row(hash_ids={}), "field-type"),
    ("ids a text", row(hash_ids="1"), "field-type"),
    ("id 2^64 - 1", one_id(2**64 - 1), ""),
    ("id 2^64", one_id(2**64), "field-type"),
    ("id 2^64 as text", one_id(f'"{2**64}"'), ""),
    ("id -1", one_id("-1"), ""),
    ("id -2^63", one_id(-2**63), ""),
    ("id below -2^63", one_id(-2**63 - 1), "field-type"),
    ("id 4.0", one_id("4.0"), ""),
    ("id 1e18", one_id("1e18"), ""),
    ("id 1e19", one_id("1e19"), "field-type"),
    ("id 1.5", one_id("1.5"), "field-type"),
    ("id null", one_id("null"), "field-type"),
    ("id true", one_id("true"), ""),
    ("id in a list", one_id("[1]"), "field-type"),
    ("ids without length", chat(text_input="x") [:-2] + ', "hash_ids": [1]}\n',
     "ids-alone"),
    ("no ids without length",
     chat(text_input="x")[:-2] + ', "hash_ids": []}\n', "ids-alone"),
    ("just enough ids", row(input_length=8, hash_ids=[1, 2]), ""),
    ("a partial last block", row(input_length=5, hash_ids=[1, 2]), ""),
    ("an id too many", row(hash_ids=[1, 2]), "ids-more block-size"),
    ("an id too few", row(input_length=9, hash_ids=[1, 2]),
     "ids-fewer block-size"),
    ("an id at two sizes",
     row() + row(input_length=6, hash_ids=[2, 1]), "id-size id-prefix"),
    ("an id at one size",
     row() + row(input_length=6, hash_ids=[1, 2]), ""),
    ("a partial block that grows", row(input_length=3) + row(input_length=4),
     "id-size"),
    ("a partial block of equal size", row(input_length=3) * 2, ""),
    ("an id twice in a row", row(input_length=8, hash_ids=[1, 1]), "id-prefix"),
    ("an id twice in a row, once partial",
     row(input_length=6, hash_ids=[1, 1]), "id-size id-prefix"),
    ("a text and a number are one id",
     row(hash_ids=["1"]) + row(input_length=2), "id-size"),
    ("1.0 and 1 are one id", row(hash_ids=[1.0]) + row(input_length=2),
     "id-size"),
    ("-1 and 2^64 - 1 are two ids",
     row(hash_ids=[-1]) + row(input_length=2, hash_ids=[2**64 - 1]), ""),
    ("ids that begin anew in each session",
     row(session_id="a", input_length=12, hash_ids=[1, 2, 3]) +
     row(session_id="b", input_length=12, hash_ids=[2, 1, 3]), "id-prefix"),
    ("made with blocks of 16",
     row(input_length=40, hash_ids=[1, 2, 3]) +
     row(input_length=33, hash_ids=[1, 2, 4]), "ids-fewer block-size"),
    # texts
    ("session null", row(session_id=None), ""),
    ("session 5", row(session_id=5), "field-type"),
    ("session empty", row(session_id="") * 2, ""),
    ("type", row(type="mooncake_trace"), ""),
    ("another type", row(type="single_turn"), "field-type"),
    ("type null", row(type=None), "field-type"),
    ("extra null", row(extra=None), ""),
    ("extra empty", row(extra={}), ""),
    ("extra a list", row(extra=[]), "field-type"),
    # other kinds of prompts
    ("text", chat(text_input="hi"), ""),
    ("text empty", chat(text_input=""), "empty-prompt"),
    ("text a number", chat(text_input=5), "field-type"),
    ("text and length", row(text_input="hi"), "prompt"),
    ("messages", chat(messages=USER), ""),
    ("messages and length", row(messages=USER, hash_ids="absent"), "prompt"),
    ("messages null and length", row(messages=None), ""),
    ("messages empty", chat(messages=[]), "messages"),
    ("a message without role", chat(messages=USER + [{}]), "messages"),
    ("a role of null", chat(messages=[{"role": None}]), ""),
    ("a message that is no object", chat(messages=[5]), "field-type"),
    ("messages an object", chat(messages={}), "field-type"),
    ("tools", chat(messages=USER, tools=[{}]), ""),
    ("tools null", chat(messages=USER, tools=None), ""),
    ("tools empty", chat(messages=USER, tools=[]), "tools"),
    ("tools without messages", row(tools=[{}]), "tools"),
    ("a tool that is no object", chat(messages=USER, tools=[1]), "field-type"),
    ("payload", chat(payload={"a": 1}), ""),
    ("payload empty", chat(payload={}), "messages"),
    ("payload a list", chat(payload=[]), "field-type"),
    # sessions
    ("lengths and text in a session", row(session_id="a") +
     chat(session_id="a", text_input="x"), ""),
    ("lengths and messages in a session", row(session_id="a") +
     chat(session_id="a", messages=USER), "session-kinds"),
    ("messages and payload in a session",
     chat(session_id="a", messages=USER) +
     chat(session_id="a", payload={"a": 1}), "session-kinds"),
    ("lengths and messages without a session", row() + chat(messages=USER), ""),
    ("increments", DELTA, ""),
    ("whole prompts", WHOLE, "whole-rows"),
    ("whole prompts, each a session",
     WHOLE.replace('"a"', '"b"', 1), ""),
    # times
    ("timestamp 0", row(timestamp=0), ""),
    ("timestamp negative", row(timestamp=-5), ""),
    ("timestamp 1.5", row(timestamp=1.5), ""),
    ("timestamp text", row(timestamp="1.5"), ""),
    ("timestamp text of letters", row(timestamp="x"), "field-type"),
    ("timestamp hexadecimal", row(timestamp="0x5"), "field-type"),
    ("timestamp text of a word", row(timestamp="infinity"), "time-value"),
    ("timestamp list", row(timestamp=[]), "field-type"),
    ("timestamp 2^64", row(timestamp=2**64), ""),
    ("a session without a timestamp",
     row(session_id="a", timestamp=0) + row(session_id="b"), "first-time"),
    ("a row without session and timestamp", row(timestamp=0) + row(),
     "first-time"),
    ("a later row without a timestamp",
     row(session_id="a", timestamp=0, input_length=2, hash_ids=[9]) +
     row(session_id="a"), ""),
    ("a timestamp that comes late", row() + row(timestamp=5), "unused-times"),
    ("timestamp null first", row(timestamp=None) + row(timestamp=5),
     "unused-times"),
    ("turns back in time",
     row(session_id="a", timestamp=9, input_length=2, hash_ids=[9]) +
     row(session_id="a", timestamp=5), "time-order"),
    ("a delay beside a timestamp",
     row(session_id="a", timestamp=0, input_length=2, hash_ids=[9]) +
     row(session_id="a", timestamp=5, delay=1), "delay-unused"),
    ("delay", row(session_id="a", input_length=2, hash_ids=[9]) +
     row(session_id="a", delay=1.5), ""),
    ("delay text of letters", row(delay="x"), "field-type"),
    ("delay negative", row(session_id="a", input_length=2, hash_ids=[9]) +
     row(session_id="a", delay=-5), "time-value"),
    ("a delay on the first row", row(session_id="a", delay=5), "first-delay"),
]

NOBODY = raw(', "timestamp": 0')


def dynamo(**fields):
    return row(**({"timestamp": 0} | fields))


DYNAMO_CASES = [
    ("a good row", dynamo(), ""),
    ("all that a row can have", dynamo(
        session_id="s", request_id="r", priority=-3, strict_priority=1,
        policy_class="p", delay=0, agent_type="a"), ""),
    ("other names", '{"input_tokens": 4, "output_tokens": 2, "hash_ids": [1], '
     '"created_time": 0}\n' , ""),
    ("no row", "\n", "rows"),
    ("gzip", gzip.compress(dynamo().encode()), "file"),
    ("CRLF", dynamo().replace("\n", "\r\n") * 2, ""),
    ("CR alone", dynamo().replace("\n", "\r") * 2, "json"),
    ("white space of Unicode around", "\u00a0" + dynamo(), "json"),
    ("a form feed behind", dynamo().strip() + "\x0c\n", "json"),
    ("a byte order mark", "\ufeff" + dynamo(), "json"),
    ("NaN", NOBODY[:-2] + ', "x": NaN}\n', "json"),
    ("a number beyond doubles that nobody reads",
     NOBODY[:-2] + ', "x": 1e309}\n', "json-value"),
    ("a number beyond doubles", raw(', "timestamp": 1e309'),
     "json-value field-type"),
    ("half a surrogate pair that nobody reads",
     NOBODY[:-2] + r', "x": "\ud83d"}' + "\n", "json-value"),
    ("half a surrogate pair", NOBODY[:-2] + r', "session_id": "\ud83d"}' + "\n",
     "json-value field-type"),
    ("a control character", NOBODY[:-2] + ', "x": "\x01"}\n', "json"),
    ("no UTF-8", NOBODY.replace("}", ', "x": "?"}').encode()
     .replace(b"?", b"\xff"), "json"),
    ("a key twice", NOBODY[:-2] + ', "input_length": 4}\n', "key-twice"),
    ("a field by both names", NOBODY[:-2] + ', "input_tokens": 4}\n',
     "key-twice"),
    ("another key twice", NOBODY[:-2] + ', "x": 4, "x": 5}\n', ""),
    ("length absent", dynamo(input_length="absent"), ""),
    ("length null", dynamo(input_length=None), ""),
    ("length 0", dynamo(input_length=0), "input-length"),
    ("length 4.0", dynamo(input_length=4.0), "field-type"),
    ("length 4e0", raw(', "timestamp": 0').replace("4", "4e0"), "field-type"),
    ("length text", dynamo(input_length="4"), "field-type"),
    ("output absent", dynamo(output_length="absent"), "missing"),
    ("output 0", dynamo(output_length=0), ""),
    ("ids absent", dynamo(hash_ids="absent"), "missing"),
    ("ids empty", dynamo(hash_ids=[]), "input-length"),
    ("id -1", dynamo(hash_ids=[-1]), "field-type"),
    ("id 2^64 - 1", dynamo(hash_ids=[2**64 - 1]), ""),
    ("id 2^64", dynamo(hash_ids=[2**64]), "field-type"),
    ("id 1.0", dynamo(hash_ids=[1.0]), "field-type"),
    ("an id too many", dynamo(hash_ids=[1, 2]), "ids-more block-size"),
    ("an id too few", dynamo(input_length=9), "ids-fewer block-size"),
    ("an id at two sizes", dynamo() + dynamo(input_length=2), "id-size"),
    ("priority text", dynamo(priority="HIGH"), "field-type"),
    ("priority 2^31", dynamo(priority=2**31), "field-type"),
    ("priority 1.0", dynamo(priority=1.0), "field-type"),
    ("strict_priority -1", dynamo(strict_priority=-1), "field-type"),
    ("policy_class 5", dynamo(policy_class=5), "field-type"),
    ("request_id 5", dynamo(request_id=5), "field-type"),
    ("session 5", dynamo(session_id=5), "field-type"),
    ("session empty", dynamo(session_id="") * 2, ""),
    ("timestamp absent", row(), "first-time"),
    ("timestamp negative", dynamo(timestamp=-1), ""),
    ("timestamp text", dynamo(timestamp="1"), "field-type"),
    ("a later row without timestamp",
     dynamo(session_id="a") + row(session_id="a"), ""),
    ("a later row back in time", dynamo(session_id="a", timestamp=5) +
     dynamo(session_id="a", timestamp=4), "time-order"),
    ("a later row back in time, with a delay",
     dynamo(session_id="a", timestamp=5) +
     dynamo(session_id="a", timestamp=4, delay=1), ""),
    ("a delay on the first row", dynamo(delay=1), "first-delay"),
    ("delay negative", dynamo(session_id="a") + row(session_id="a", delay=-1),
     "time-value"),
]


def dynamo_refuses(path, block_size):
    """What Dynamo's replay says of a file, or None when it replays it."""
    from dynamo.replay import run_trace_replay
    try:
        run_trace_replay(str(path), trace_format="mooncake",
                         trace_block_size=block_size)
    except Exception as refusal:  # whatever Dynamo raises is a refusal
        return str(refusal)
    return None


def schedule_refuses(conversations):
    """What aiperf's fixed schedule says of conversations, or None."""
    from aiperf.timing.strategies import fixed_schedule
    metadata = [SimpleNamespace(
        conversation_id=one.session_id,
        turns=[SimpleNamespace(timestamp_ms=turn.timestamp)
               for turn in one.turns]) for one in conversations]
    sampled = SimpleNamespace(build_first_turn=lambda: None)
    strategy = object.__new__(fixed_schedule.FixedScheduleStrategy)
    strategy._conversation_source = SimpleNamespace(
        dataset_metadata=SimpleNamespace(conversations=metadata),
        session_for_conversation=lambda *_, **__: sampled)
    strategy._config = SimpleNamespace(
        auto_offset_timestamps=True, fixed_schedule_start_offset=None)
    strategy.info = lambda *_: None
    try:
        asyncio.run(strategy.setup_phase())
    except ValueError as refusal:
        return str(refusal)
    return None


def aiperf_refuses(loader, path, block_size):
    """What aiperf says of a file, or None when it takes it."""
    from aiperf.config.flags._converter_profiling import (
        _first_record_has_timestamp)
    try:
        conversations = loader.conversations(path, block_size)
    except Exception as refusal:  # whatever aiperf raises is a refusal
        return f"{type(refusal).__name__}: {str(refusal)[:200]}"
    if not conversations:
        return "no conversations"
    if _first_record_has_timestamp(path):
        return schedule_refuses(conversations)
    return None


def validate(tracebake, path, block_size, consumer="aiperf"):
    process = harness.run(tracebake, [
        "validate", path, "--block-size", block_size, "--json",
        "--for", consumer], check=False)
    if process.returncode not in (0, 1) or process.stderr:
        raise harness.Failure(harness.describe(process))
    return process.returncode, json.loads(process.stdout)


def content_of(content):
    return content if isinstance(content, bytes) else content.encode()


def check_case(options, folder, case, consumer, refuses):
    name, content, expected = case
    path = Path(folder, "case.jsonl")
    path.write_bytes(content_of(content))
    refusal = refuses(path, BLOCK_SIZE)
    status, found = validate(options.tracebake, path, BLOCK_SIZE, consumer)
    is_good = True
    if (refusal is not None) != (status == 1):
        print(f"WRONG: {name}: {consumer}: {refusal or 'takes it'}; "
              f"validate: exit status {status}")
        is_good = False
    if sorted(found["rules"]) != sorted(expected.split()):
        print(f"WRONG: {name} ({consumer}): expected {expected or 'nothing'}, "
              f"found {found['rules']}")
        is_good = False
    return is_good


def check_cases(options, folder, cases, consumer, refuses):
    good = sum(check_case(options, folder, case, consumer, refuses)
               for case in cases)
    print(f"validate: {good} of {len(cases)} cases as {consumer} has them")
    return good == len(cases)


def expected_of_own(form, found):
    """Rules that rows of ours break for whoever they are not for."""
    has_turns = found["rows"] > found["sessions"]
    if "whole" in form and has_turns:
        return {"whole-rows"}
    # Its replay can be told to read increments.
    if "dynamo" in form and has_turns:
        return {"delta-rows"}
    return set()


def check_own(options, refusals, folder, trace, form):
    """Rows that were taken by both; None when something is wrong."""
    kind = "telemetry" if ".jsonl" in trace.name else "nat"
    path = Path(folder, "own.jsonl")
    path.unlink(missing_ok=True)
    harness.run(options.tracebake, [
        kind, trace, "--output-file", path, "--tokenizer", harness.BUILTIN,
        "--block-size", OWN_BLOCK_SIZE, *form], check=False)
    if not path.exists():
        return 0
    consumer = "dynamo" if "dynamo" in form else "aiperf"
    refusal = refusals[consumer](path, OWN_BLOCK_SIZE)
    status, found = validate(options.tracebake, path, OWN_BLOCK_SIZE, consumer)
    rules = set(found["rules"])
    if refusal or status or rules != expected_of_own(form, found):
        print(f"WRONG: {trace.name} {' '.join(form)}: {consumer}: {refusal}, "
              f"validate: {status} {rules}")
        return None
    return found["rows"]


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    options = parser.parse_args()
    loader = aiperf_check.Loader(options.tokenizers)
    traces = sorted(harness.DATA.glob("*.json*.gz"))
    refusals = {
        "aiperf": lambda path, size: aiperf_refuses(loader, path, size),
        "dynamo": dynamo_refuses}
    with tempfile.TemporaryDirectory() as folder:
        good = check_cases(options, folder, CASES, "aiperf",
                           refusals["aiperf"])
        good &= check_cases(options, folder, DYNAMO_CASES, "dynamo",
                            refusals["dynamo"])
        own = [check_own(options, refusals, folder, trace, form)
               for trace in traces for form in OWN_FORMS]
    wrong = own.count(None)
    rows = sum(count or 0 for count in own)
    print(f"validate: {rows} rows of ours taken, {wrong} files not")
    return good and rows > 0 and not wrong


if __name__ == "__main__":
    harness.main(job)
