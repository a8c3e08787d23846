#!/usr/bin/env python3
"""From end to end: a trace, our rows, aiperf, a server that counts.

Each trace is converted with --for aiperf; the command that the summary ends
with is run against a model server on loopback (model_server.py). What arrives
must be what was recorded:

lengths  the server counts just the recorded prompt tokens on every call,
         within one token from the second turn of a session on
outputs  it is asked for just the recorded tokens
turns    those of a session come in order, each after the answer before
shared   the share of prompt tokens that its prefix cache serves is the recorded
         one, where no call had to start a session of its own in the middle of
         a history: then what the live answers follow is new text
gaps     no turn comes earlier than its recorded gap; how much later is told,
         and with --late MS no later than that (for a machine that is at rest)
labels   agent type and priority of telemetry are in the request
verify   says of each run that it was the recorded load, with the figures that
         the server has

Then runs are made as they should not be, and verify must say so, and why.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import typing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import harness
from model_server import ModelServer

TOKENIZER = "qwen3"
NAME = "Qwen/Qwen3-8B"  # under which aiperf finds it in a cache of the hub
COMMIT = "0" * 40
EARLY_MS = 5.0
SHARE_CLOSE = 0.001
REPLAY_TIMEOUT = 300  # seconds
REFUSED_AT_ONCE = 2  # they need not be in time


class Trace(typing.NamedTuple):
    command: str
    name: str
    options: tuple = ()
    is_shared: bool = True  # the replay's cache can be as good
    is_daily: bool = True

    def __str__(self):
        return " ".join((self.command, self.name, *self.options))


TRACES = [
    Trace("nat", "1.9.0_toolcall_3req.json.gz"),
    # Answers with reasoning that does not come back: some calls cannot be
    # sent behind the answer before, and begin sessions of their own.
    Trace("nat", "1.9.0_nested_2req.json.gz", is_shared=False,
          is_daily=False),
    Trace("nat", "1.9.0_nested_2req.json.gz", ("--rows", "messages")),
    Trace("telemetry", "tel8.jsonl.gz", ("--speedup", "20")),
]


class Refused(typing.NamedTuple):
    """A run that is not the recorded load."""
    cause: str  # that verify must see
    options: tuple = ()  # of the conversion
    without: str = ""  # an option that the command is then without
    output_max: int | None = None  # of the server's answers, tokens
    is_daily: bool = True


REFUSED_TRACE = TRACES[0]
REFUSED = [
    Refused("block-size", without="--isl-block-size"),
    Refused("whole-rows", ("--rows", "whole"), is_daily=False),
    Refused("few-requests", ("--timestamps", "none"),
            without="--num-conversations", is_daily=False),
    # The endpoint that is called is set to chat below.
    Refused("template", ("--endpoint", "completions")),
    Refused("output", output_max=20),
]


def make_hub_cache(tokenizer, home):
    """The tokenizer as Python's libraries keep one from the hub."""
    model = home / "hub" / ("models--" + NAME.replace("/", "--"))
    snapshot = model / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(COMMIT)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (snapshot / name).symlink_to((tokenizer / name).resolve())
    (snapshot / "config.json").write_text('{"model_type": "qwen3"}')


def convert(options, trace, folder):
    """The command that replays the rows, and a line for each call."""
    rows, calls = folder / "rows.jsonl", folder / "calls.jsonl"
    process = harness.run(options.tracebake, [
        trace.command, harness.DATA / trace.name, "--output-file", rows,
        "--for", "aiperf", "--tokenizer", NAME, "--block-size", 64,
        "--calls", calls, *trace.options])
    summary = process.stdout.decode()
    replay = summary[summary.index("aiperf profile"):]
    lines = [json.loads(line) for line in calls.read_text().splitlines()]
    return replay, [line for line in lines if "row" in line]


def replay(command, url, folder, without=""):
    """Runs the command; returns aiperf's process."""
    words = shlex.split(command.replace("\\\n", " "))
    words[words.index("MODEL")] = "model"
    words[words.index("URL")] = url
    words[words.index("--endpoint-type") + 1] = "chat"
    words[0] = str(Path(sys.executable).with_name("aiperf"))
    if without:
        at = words.index(without)
        del words[at:at + 2]
    words += ["--ui", "none", "--artifact-dir", str(folder / "artifacts"),
              "--no-gpu-telemetry", "--no-server-metrics"]
    return subprocess.run(words, capture_output=True, cwd=folder,
                          timeout=REPLAY_TIMEOUT)


def replay_well(command, url, folder):
    process = replay(command, url, folder)
    if process.returncode != 0:
        raise harness.Failure(harness.describe(process)
                              + process.stdout.decode()[-3000:])


def verify(options, folder):
    """The exit status of verify, and what it says."""
    process = harness.run(options.tracebake, [
        "verify", folder / "artifacts", "--calls", folder / "calls.jsonl",
        "--rows", folder / "rows.jsonl", "--json"], check=False)
    if process.returncode not in (0, 1) or not process.stdout:
        raise harness.Failure(harness.describe(process))
    return process.returncode, json.loads(process.stdout)


def check_verified(options, folder, requests):
    status, told = verify(options, folder)
    if status != 0 or not told["equal"] or told["causes"]:
        yield f"verify ends with {status} and says {json.dumps(told)}"
    prompt, output = told["prompt_tokens"], told["output_tokens"]
    for name, figure, key in (("prompts", prompt["replayed"], "prompt_tokens"),
                              ("answers", output["replayed"], "output")):
        counts = sorted(request[key] for request in requests)
        if (figure["count"], figure["max"]) != (len(counts), counts[-1]):
            yield f"verify says of {name} {figure}, the server has {counts}"
    cached = sum(request["cached"] for request in requests)
    if told["cached"]["calls"] and told["cached"]["replayed_tokens"] != cached:
        yield f"verify says of the cache {told['cached']}, not {cached}"


def check_refused(options, refused, home):
    folder = home / refused.cause
    folder.mkdir()
    trace = REFUSED_TRACE._replace(
        options=REFUSED_TRACE.options + refused.options)
    command, _ = convert(options, trace, folder)
    with ModelServer(options.tokenizers / TOKENIZER,
                     output_max=refused.output_max) as server:
        replay(command, server.url, folder, refused.without)
    status, told = verify(options, folder)
    causes = [one["cause"] for one in told["causes"]
              if one["cause"] != "no-requests"]  # which is why there are none
    print(f"  {refused.cause}: exit status {status}, {told['requests']} "
          f"requests, causes {causes}")
    if status != 1 or causes != [refused.cause]:
        print(f"DIFFERENT: {refused.cause}: {json.dumps(told)}")
        return False
    return True


def by_conversation(requests):
    conversations = {}
    for request in requests:
        conversations.setdefault(request["conversation"], []).append(request)
    return list(conversations.values())


def by_session(calls):
    sessions = {}
    for call in calls:
        sessions.setdefault(call["session_id"], []).append(call)
    return list(sessions.values())


def is_replay_of(requests, calls):
    """Could this conversation be that session?"""
    return len(requests) == len(calls) and all(
        request["output"] == call["output_length"]
        and abs(request["prompt_tokens"] - call["prompt_tokens"])
        <= (call["turn"] > 0)
        for request, call in zip(requests, calls))


def pair_up(requests, calls):
    """Each session with the conversation that it became, or None."""
    left = by_conversation(requests)
    for session in by_session(calls):
        found = next((one for one in left if is_replay_of(one, session)), None)
        if found:
            left.remove(found)
        yield session, found


def check_turns(session, requests, late):
    for before, request, call in zip(requests, requests[1:], session[1:]):
        gap = (request["arrival"] - before["end"]) * 1000
        late.append(gap - call["delay"])
        if gap < call["delay"] - EARLY_MS:
            yield (f"row {call['row']}: {gap:.1f} ms after the answer before, "
                   f"recorded are {call['delay']}")


def check_labels(session, requests):
    for request, call in zip(requests, session):
        expected = {"agent_type": call["agent"],
                    "priority": call.get("priority", "MEDIUM")}
        if request["body"].get("metadata") != expected:
            yield (f"row {call['row']}: labels are "
                   f"{request['body'].get('metadata')}, not {expected}")


def recorded_share(calls):
    shares = [(call["recorded"]["cached_tokens"], call["prompt_tokens"])
              for call in calls if call["recorded"].get("cached_tokens")
              is not None]
    tokens = sum(prompt for _, prompt in shares)
    return sum(cached for cached, _ in shares) / tokens if tokens else None


def check(options, trace, requests, calls):
    if len(requests) != len(calls):
        yield f"{len(requests)} requests of {len(calls)} rows"
    late, exact = [], 0
    for session, conversation in pair_up(requests, calls):
        if not conversation:
            yield (f"session {session[0]['session_id']} did not arrive as "
                   f"{[call['prompt_tokens'] for call in session]}")
            continue
        exact += sum(request["prompt_tokens"] == call["prompt_tokens"]
                     for request, call in zip(conversation, session))
        yield from check_turns(session, conversation, late)
        if trace.command == "telemetry":
            yield from check_labels(session, conversation)
    share = (sum(request["cached"] for request in requests)
             / sum(request["prompt_tokens"] for request in requests))
    recorded = recorded_share(calls)
    is_known = recorded is not None
    if is_known and trace.is_shared and abs(share - recorded) > SHARE_CLOSE:
        yield f"the cache serves {share:.4f}, recorded is {recorded:.4f}"
    if options.late and max(late, default=0) > options.late:
        yield f"a turn came {max(late):.1f} ms late"
    print(f"  {trace}: {len(requests)} requests in "
          f"{len(by_session(calls))} sessions, {exact} of the recorded length "
          f"exactly, cache {share:.4f}"
          + (f" (recorded {recorded:.4f})" if is_known else "")
          + f", late by {statistics.median(late):.1f} ms in the median and "
          f"{max(late):.1f} at most")


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    parser.add_argument("--late", type=float, metavar="MS",
                        help="no turn may come later than this")
    parser.add_argument("--daily", action="store_true",
                        help="without some of the runs, of which each starts "
                             "aiperf")
    options = parser.parse_args()
    traces, refusals = ([one for one in all_of_them
                         if one.is_daily or not options.daily]
                        for all_of_them in (TRACES, REFUSED))
    options.tracebake = options.tracebake.resolve()
    good = True
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(HF_HOME=home, HF_HUB_OFFLINE="1",
                          HF_HUB_CACHE=str(Path(home, "hub")))
        make_hub_cache(options.tokenizers / TOKENIZER, Path(home))
        for number, trace in enumerate(traces):
            folder = Path(home, str(number))
            folder.mkdir()
            command, calls = convert(options, trace, folder)
            with ModelServer(options.tokenizers / TOKENIZER) as server:
                replay_well(command, server.url, folder)
                for problem in (
                        *check(options, trace, server.requests, calls),
                        *check_verified(options, folder, server.requests)):
                    print(f"DIFFERENT: {trace}: {problem}")
                    good = False
        with ThreadPoolExecutor(REFUSED_AT_ONCE) as pool:
            good &= all(list(pool.map(
                lambda one: check_refused(options, one, Path(home)), refusals)))
    return good


if __name__ == "__main__":
    harness.main(job)
