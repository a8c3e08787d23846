#!/usr/bin/env python3
"""The figures of `tracebake analyze` are those of a second, plain program.

Traces are made at random: agents with system prompts of their own, sessions
that grow, alternate between agents, branch and start over; rows of whole
prompts and of increments, with and without sessions, agents and times. Each
figure is computed here the long way: prefix caches as sets and as an LRU list,
percentiles of sorted lists. aiperf's own analyzer is asked for the two rates
that carry its name. Last, rows that we write have the share here that the
conversion told.
"""
import argparse
import json
import math
import random
import tempfile
from collections import Counter, OrderedDict, defaultdict
from pathlib import Path

import harness

BLOCK = 4
CACHES = [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16, 20, 25, 31, 40, 60, 90, 150, 400,
          5000]
MULTIPLES = [2, 3]


# ------------------------------------------------------------ traces


class Numbers:
    """Ids by first appearance, of blocks that are known by their prefix."""

    def __init__(self):
        self.known = {}

    def of(self, parent, tokens, size):
        """(ids, key of the last block)"""
        ids = []
        for at in range(0, len(tokens), size):
            parent = (parent, tuple(tokens[at:at + size]))
            ids.append(self.known.setdefault(parent, len(self.known)))
        return ids, parent


def make_rows(seed, is_delta):
    """Rows, and the tokens of each."""
    rng = random.Random(seed)
    numbers = Numbers()
    fresh = iter(range(1, 10**9))

    def text(count):
        return [next(fresh) for _ in range(count)]

    common = text(rng.randint(0, 30))
    agents = [common[:rng.randint(0, len(common))] + text(rng.randint(1, 40))
              for _ in range(rng.randint(1, 4))]
    has_sessions, has_agents = rng.random() < 0.8, rng.random() < 0.7
    has_times = rng.random() < 0.5
    sessions = [{"name": f"s{i}", "parts": {}, "chain": None, "answer": 0}
                for i in range(rng.randint(1, 12))]
    rows, clock = [], 0.0
    for _ in range(rng.randint(1, 150)):
        session = rng.choice(sessions)
        agent = rng.randrange(len(agents))
        output = rng.randint(0, 9)
        if is_delta:
            is_first = session["chain"] is None
            tokens = (agents[agent] if is_first else []) + text(
                rng.randint(1, 14))
            if rng.random() < 0.2:
                tokens = agents[agent] + [0] * rng.randint(1, 6)
            parent = ((session["chain"], "answer", session["answer"])
                      if not is_first else None)
            ids, session["chain"] = numbers.of(parent, tokens, BLOCK)
            session["answer"] = output
        else:
            before = session["parts"].get(agent, agents[agent])
            if rng.random() < 0.1:
                before = before[:rng.randint(0, len(before))]
            tokens = before + text(rng.randint(0, 14))
            if rng.random() < 0.15:
                tokens = tokens + [0] * 3
            tokens = tokens or [0]
            session["parts"][agent] = tokens + text(output)
            ids, _ = numbers.of(None, tokens, BLOCK)
        row = {"input_length": len(tokens), "output_length": output,
               "hash_ids": ids}
        if has_sessions:
            row["session_id"] = session["name"]
        if has_agents and rng.random() < 0.95:
            row["agent_type"] = f"agent{agent}"
        if rng.random() < 0.5:
            row["priority"] = rng.choice(["LOW", "HIGH"])
        if has_times:
            clock += rng.choice([0, 1, 2.5, 1000.25])
            row["timestamp"] = clock
        if rng.random() < 0.4:
            row["delay"] = rng.choice([0, 1, 499.6, 1500])
        if rng.random() < 0.03:
            del row["output_length"]
        rows.append(row)
    return rows


# ----------------------------------------------------- the long way


def cut(ids, length, multiple):
    """[(block, tokens)] of a piece at a multiple of the block size."""
    size = BLOCK * multiple
    return [(tuple(ids[at:at + multiple]),
             min(size, length - at * BLOCK))
            for at in range(0, len(ids), multiple)]


def prompts(rows, is_delta, multiple):
    """Each row's whole prompt as [(key, tokens)], keys known by prefix."""
    known = {}
    state = {}
    for index, row in enumerate(rows):
        session = row.get("session_id", index)
        blocks = cut(row["hash_ids"], row["input_length"], multiple)
        path = []
        if is_delta and session in state:
            path, answer = state[session]
            path = list(path)
            size = BLOCK * multiple
            pieces = [(("answer", answer, at), min(size, answer - at))
                      for at in range(0, answer, size)]
            blocks = pieces + blocks
        for block, tokens in blocks:
            parent = path[-1][0] if path else None
            key = known.setdefault((parent, block), len(known))
            path.append((key, tokens))
        state[session] = path, row.get("output_length", 0)
        yield path


def leading(path, has):
    count = 0
    while count < len(path) and has(path[count][0]):
        count += 1
    return count


def tokens_of(path, count):
    return sum(tokens for _, tokens in path[:count])


def infinite(rows, paths):
    """Per row: tokens served, by session, by agent, by others."""
    seen, sessions, agents = set(), defaultdict(set), defaultdict(set)
    for index, (row, path) in enumerate(zip(rows, paths)):
        mine = sessions[row.get("session_id", index)]
        same = agents[row.get("agent_type")]
        by_session = leading(path, mine.__contains__)
        by_agent = max(by_session, leading(path, (mine | same).__contains__))
        by_all = leading(path, seen.__contains__)
        yield (tokens_of(path, by_session), tokens_of(path, by_agent),
               tokens_of(path, by_all), by_all)
        keys = [key for key, _ in path]
        for group in (seen, mine, same):
            group.update(keys)


def lru(paths, size):
    """Tokens that a cache of so many blocks serves."""
    cache, served = OrderedDict(), 0
    for path in paths:
        served += tokens_of(path, leading(path, cache.__contains__))
        for key, _ in reversed(path):
            cache[key] = True
            cache.move_to_end(key)
            if len(cache) > size:
                cache.popitem(last=False)
    return served


def shared(rows, paths):
    """(saved, rows, tokens, blocks) of beginnings that two sessions have."""
    count, users, tokens, extended = Counter(), defaultdict(set), {}, {}
    for index, (row, path) in enumerate(zip(rows, paths)):
        total, above = 0, None
        for depth, (key, length) in enumerate(path, 1):
            total += length
            count[key] += 1
            users[key].add(row.get("session_id", index))
            tokens[key] = total, depth
            if above is not None:
                extended.setdefault(above, set()).add(key)
            above = key
    found = []
    for key, rows_of in count.items():
        longer = extended.get(key, ())
        if len(users[key]) < 2 or any(count[one] == rows_of for one in longer):
            continue
        total, depth = tokens[key]
        found.append((total * (rows_of - 1), rows_of, total, depth))
    found.sort(key=lambda one: (-one[0], -one[2]))
    return found[:10]


def tally(values):
    values = sorted(values)

    def at(fraction):
        rank = math.ceil(fraction * len(values) - 1e-9)
        return values[max(rank, 1) - 1] if values else 0
    return {"count": len(values), "min": at(0), "p50": at(0.5), "p90": at(0.9),
            "p99": at(0.99), "max": at(1),
            "mean": round(sum(values) / len(values), 6) if values else 0}


def groups(rows, lengths, field):
    names = list(dict.fromkeys(row[field] for row in rows if field in row))
    return [{"name": name} | lengths_of(
        [one for row, one in zip(rows, lengths) if row.get(field) == name])
        for name in names]


def lengths_of(lengths):
    prompt = sum(one[0] for one in lengths)
    served = prompt - sum(one[1] for one in lengths)
    return {"rows": len(lengths),
            "share": round(served / prompt, 6) if prompt else 0,
            "prompt_length": tally([one[0] for one in lengths]),
            "new_length": tally([one[1] for one in lengths]),
            "output_length": tally([one[2] for one in lengths
                                    if one[2] is not None])}


def by_turn(rows, lengths):
    turns, found = Counter(), defaultdict(list)
    for index, (row, one) in enumerate(zip(rows, lengths)):
        session = row.get("session_id", index)
        turns[session] += 1
        found[(turns[session] - 1).bit_length()].append(one)
    return [{"first": 2**group // 2 + 1 if group else 1, "last": 2**group}
            | lengths_of(found[group]) for group in sorted(found)]


def times(rows):
    last, count = {}, Counter()
    delays, intervals = [], []
    for index, row in enumerate(rows):
        session = row.get("session_id", index)
        count[session] += 1
        if count[session] > 1 and "delay" in row:
            delays.append(math.floor(row["delay"] + 0.5))
        if "timestamp" in row:
            if session in last:
                gap = row["timestamp"] - last[session]
                intervals.append(math.floor(gap + 0.5))
            last[session] = row["timestamp"]
    stamps = [row["timestamp"] for row in rows if "timestamp" in row]
    return {"turns_per_session": tally(count.values()),
            "delay_ms": tally(delays), "interval_ms": tally(intervals),
            "timestamps": {"rows": len(stamps),
                           "first_ms": min(stamps, default=0),
                           "last_ms": max(stamps, default=0)}}


def figures(rows, is_delta):
    """What analyze should say, by the keys of its JSON."""
    paths = list(prompts(rows, is_delta, 1))
    served = list(infinite(rows, paths))
    totals = [tokens_of(path, len(path)) for path in paths]
    lengths = [(total, total - one[2], row.get("output_length"))
               for total, one, row in zip(totals, served, rows)]
    hits = sum(one[2] for one in served)
    blocks = sum(map(len, paths))
    keys = Counter(key for path in paths for key, _ in path)
    sizes = dict(tokens for path in paths for tokens in path)
    return {
        "rows": len(rows),
        "sessions": len({row.get("session_id", index)
                         for index, row in enumerate(rows)}),
        "prompt_tokens": sum(totals),
        "prefix_cache": {
            "tokens": hits, "share": round(hits / sum(totals), 6),
            "same_session": sum(one[0] for one in served),
            "same_agent": sum(one[1] - one[0] for one in served),
            "other_agents": sum(one[2] - one[1] for one in served)},
        "hit_rates": {
            "tokens": round(hits / sum(totals), 6),
            "blocks": round(sum(one[3] for one in served) / blocks, 6),
            "aiperf": round(sum(one[3] / len(path) for one, path
                                in zip(served, paths)) / len(rows), 6),
            "any-block": round((blocks - len(keys)) / blocks, 6),
            "reuse": round(sum(count for count in keys.values() if count > 1)
                           / blocks, 6)},
        "distinct": (len(keys), sum(sizes.values())),
        "chosen": [lru(paths, size) for size in CACHES],
        "block_sizes": [multiple_of(rows, is_delta, multiple)
                        for multiple in MULTIPLES],
        "agents": groups(rows, lengths, "agent_type"),
        "priorities": groups(rows, lengths, "priority"),
        "turns": by_turn(rows, lengths),
        "shared": shared(rows, paths),
    } | {key: value for key, value in lengths_of(lengths).items()
         if key.endswith("length")} | times(rows)


def multiple_of(rows, is_delta, multiple):
    paths = list(prompts(rows, is_delta, multiple))
    hits = sum(one[2] for one in infinite(rows, paths))
    return (BLOCK * multiple, hits,
            len({key for path in paths for key, _ in path}),
            [lru(paths, size) for size in CACHES])


# ------------------------------------------------------- comparison


def analyze(tracebake, path, *options):
    process = harness.run(tracebake, ["analyze", path, "--json", *options])
    return json.loads(process.stdout)


def told(found):
    """What analyze says, in the form of `figures`."""
    found["distinct"] = (found["working_set"]["blocks"],
                         found["working_set"]["tokens"])
    found["chosen"] = [one["tokens"] for one in found["chosen_sizes"]]
    found["block_sizes"] = [
        (one["block_size"], one["tokens"], one["blocks"],
         [size["tokens"] for size in one["chosen_sizes"]])
        for one in found["block_sizes"]]
    found["shared"] = [
        (one["saved_tokens"], one["rows"], one["tokens"], one["blocks"])
        for one in found["shared_prefixes"]]
    return found


def is_same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return abs(a - b) <= 2e-6 * max(1, abs(a))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(is_same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(is_same, a, b))
    return a == b


def check_needs(found):
    """The smallest cache for a part of the tokens, by its own curve."""
    served = found["prefix_cache"]["tokens"]
    all_blocks = found["working_set"]["blocks_for_all"]
    sizes = {one["blocks"]: one["tokens"] for one in found["cache_sizes"]}
    return all((tokens == served) == (blocks >= all_blocks or served == 0)
               for blocks, tokens in sizes.items())


def check_random(options, folder, seed):
    is_delta = seed % 3 == 0
    rows = make_rows(seed, is_delta)
    path = Path(folder, "rows.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = told(analyze(
        options.tracebake, path, "--block-size", BLOCK,
        "--rows", "delta" if is_delta else "whole",
        "--cache-blocks", ",".join(map(str, CACHES)),
        "--block-sizes", ",".join(str(BLOCK * one) for one in MULTIPLES)))
    good = check_needs(found)
    for key, value in figures(rows, is_delta).items():
        if not is_same(value, found[key]):
            print(f"DIFFERENT: seed {seed}, {key}:\n  expected {value}\n"
                  f"  found    {found[key]}")
            good = False
    if not is_delta:
        good &= check_aiperf(path, found, f"seed {seed}")
    return good


def long_rows(turns):
    """Two long sessions of increments by turns, with the same beginning, and
    short ones in between; pieces end in blocks of any length."""
    rng = random.Random(11)
    fresh = iter(range(1000, 10**9))
    rows = []
    for turn in range(turns):
        for name in ("a", "b"):
            length = rng.randint(1, 9) if turn > 3 else 7
            ids = ([next(fresh) for _ in range((length + BLOCK - 1) // BLOCK)]
                   if turn > 3 else [turn * 2, turn * 2 + 1])
            rows.append({"session_id": name, "input_length": length,
                         "output_length": rng.randint(0, 5) if turn > 3 else 3,
                         "agent_type": rng.choice("xy"), "hash_ids": ids})
        if turn % 7 == 0:
            rows.append({"session_id": f"c{turn % 3}", "input_length": 7,
                         "output_length": 1, "hash_ids": [0, 1]})
    return rows


def check_long(options, folder):
    """Where sessions have so many turns that runs are counted at the end."""
    rows = long_rows(300)
    sizes = [1, 20, 150, 333, 700, 1000, 1400, 2000]
    path = Path(folder, "long.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = analyze(options.tracebake, path, "--block-size", BLOCK, "--rows",
                    "delta", "--cache-blocks", ",".join(map(str, sizes)))
    paths = list(prompts(rows, True, 1))
    served = list(infinite(rows, paths))
    wanted = {"chosen_sizes": [lru(paths, size) for size in sizes],
              "prefix_cache": [sum(one[2] for one in served),
                               sum(one[0] for one in served),
                               sum(one[1] - one[0] for one in served)]}
    told_of = {"chosen_sizes": [one["tokens"]
                                for one in found["chosen_sizes"]],
               "prefix_cache": [found["prefix_cache"][key] for key in
                                ("tokens", "same_session", "same_agent")]}
    needed = found["working_set"]["blocks_for_90"]
    share = 0.9 * wanted["prefix_cache"][0]
    good = (wanted == told_of and check_needs(found)
            and lru(paths, needed) >= share > lru(paths, needed - 1))
    if not good:
        print(f"DIFFERENT: long sessions: expected {wanted}\n"
              f"  found    {told_of}, {found['working_set']}")
    return good


def check_aiperf(path, found, name):
    from aiperf.dataset.synthesis.prefix_analyzer import PrefixAnalyzer
    stats = PrefixAnalyzer(block_size=BLOCK).analyze_file(path)
    rates = found["hit_rates"]
    if (is_same(round(stats.cache_hit_rate, 6), rates["aiperf"])
            and is_same(round(stats.prefix_reuse_ratio, 6), rates["reuse"])):
        return True
    print(f"DIFFERENT: {name}: aiperf {stats.cache_hit_rate} "
          f"{stats.prefix_reuse_ratio}, found {rates}")
    return False


def check_own(options, folder, trace):
    """Our rows have the share that the conversion told."""
    kind = "telemetry" if ".jsonl" in trace.name else "nat"
    path = Path(folder, "own.jsonl")
    process = harness.run(options.tracebake, [
        kind, trace, "--output-file", path, "--tokenizer", harness.BUILTIN,
        "--block-size", 16, "--stats", "json"], check=False)
    if process.returncode != 0:
        return True
    said = json.loads(process.stdout)["prefix_cache"]
    found = analyze(options.tracebake, path)
    same = (said["seen_tokens"] == found["prefix_cache"]["tokens"]
            and said["prompt_tokens"] == found["prompt_tokens"])
    if not same:
        print(f"DIFFERENT: {trace.name}: {said}, {found['prefix_cache']}")
    return same and check_aiperf(path, found, trace.name)


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--traces", type=int)
    options = parser.parse_args()
    count = options.traces or (20 if options.quick else 120)
    with tempfile.TemporaryDirectory() as folder:
        good = sum(check_random(options, folder, seed)
                   for seed in range(count))
        is_long_good = check_long(options, folder)
        traces = sorted(harness.DATA.glob("*.json*.gz"))
        own = sum(check_own(options, folder, trace) for trace in traces)
    print(f"analyze: {good} of {count} random traces, {own} of {len(traces)} "
          f"of ours, long sessions {'good' if is_long_good else 'bad'}")
    return good == count and own == len(traces) and is_long_good


if __name__ == "__main__":
    harness.main(job)
