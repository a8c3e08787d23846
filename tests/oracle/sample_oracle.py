#!/usr/bin/env python3
"""`tracebake sample` and `tracebake partition` beside a plain program.

sample      Random rows, and the rows of traces in tests/data: a few lines of
            Python draw the same sessions by their definition, from a file, a
            pipe and compressed, and what is told of the mix is right.
partition   Random lines, whole, broken and without a session, in several files:
            Python deals them out the same way. Then the telemetry in
            tests/data, its lines dealt out to log files that cut its sessions:
            the parts convert to the rows that the whole file converts to.
"""
import argparse
import gzip
import json
import random
import tempfile
from pathlib import Path

import harness
import xxhash


# ------------------------------------------------------------------ sample


def sessions_of(rows):
    """Number of each row's session, and of each session what orders it."""
    names, agents, numbers, kinds = {}, {}, [], []
    for row in rows:
        name = row.get("parent_session_id") or row.get("session_id")
        if name is None:
            number = len(kinds)
        else:
            number = names.setdefault(name, len(kinds))
        if number == len(kinds):
            kinds.append([0, 0, 0, number])
        numbers.append(number)
        agent = row.get("agent_type")
        if agent:
            bit = min(agents.setdefault(agent, len(agents)), 63)
            kinds[number][0] |= 1 << bit
        kinds[number][1] += 1
        kinds[number][2] += (row.get("input_length") or 0) + \
            (row.get("output_length") or 0)
    return numbers, kinds


def drawn(kinds, seed, count):
    ordered, taken = sorted(kinds), set()
    for i in range(count):
        low = i * len(ordered) // count
        high = (i + 1) * len(ordered) // count
        number = xxhash.xxh3_64_intdigest(
            seed.to_bytes(8, "little") + i.to_bytes(8, "little"))
        taken.add(ordered[low + number % (high - low)][3])
    return taken


def drawn_by_tokens(kinds, seed, most):
    tokens = {kind[3]: kind[2] for kind in kinds}
    total = sum(tokens.values())
    count = len(kinds) * most // total if most < total else len(kinds)
    count = max(count, 1)
    while count:
        taken = drawn(kinds, seed, count)
        own = sum(tokens[number] for number in taken)
        if own <= most:
            return taken
        count = min(count - 1, count * most // own)
    return set()


def random_rows(random_):
    rows = []
    for _ in range(random_.randrange(1, 60)):
        row = {"session_id": f"s{random_.randrange(12)}",
               "input_length": random_.randrange(1, 2000),
               "output_length": random_.randrange(1, 90),
               "hash_ids": [1, 2]}
        if random_.random() < 0.1:
            del row["session_id"]
        if random_.random() < 0.2:
            row["parent_session_id"] = f"s{random_.randrange(12)}"
        if random_.random() < 0.7:
            row["agent_type"] = f"a{random_.randrange(4)}"
        rows.append(row)
    return rows


def told(text, label):
    """The two figures behind a label."""
    line = next(line for line in text.splitlines() if line.startswith(label))
    return [float(figure.strip("%").replace(",", ""))
            for figure in line[len(label):].split()]


def check_told(text, rows, numbers, taken):
    kept = [row for row, number in zip(rows, numbers) if number in taken]
    wanted = {
        "sessions": [len(set(numbers)), len(taken)],
        "rows": [len(rows), len(kept)],
        "rows per session, mean": [len(rows) / len(set(numbers)),
                                   len(kept) / len(taken)],
        "prompt tokens, mean": [sum(r["input_length"] for r in some)
                                / len(some) for some in (rows, kept)],
    }
    for agent in {row.get("agent_type") for row in rows} - {None}:
        wanted[f"rows of {agent}"] = [
            100 * sum(r.get("agent_type") == agent for r in some) / len(some)
            for some in (rows, kept)]
    for label, figures in wanted.items():
        found = told(text, label + " ")
        # One digit behind the point, none from 1,000 on.
        if any(abs(a - b) > (0.51 if b >= 1000 else 0.051)
               for a, b in zip(found, figures)):
            print(f"DIFFERENT: {label}: told {found}, is {figures}")
            return False
    return True


def check_sample(options, folder):
    count = 40 if options.quick else 200
    for seed in range(count):
        random_ = random.Random(seed)
        rows = random_rows(random_)
        lines = [json.dumps(row) for row in rows]
        data = "".join(f"{line}\n" for line in lines).encode()
        path = folder / "rows.jsonl"
        path.write_bytes(data if seed % 3 else gzip.compress(data))
        numbers, kinds = sessions_of(rows)
        draw_seed = random_.choice((0, 1, 2 ** 64 - 1))
        if seed % 2:
            amount = random_.randrange(1, len(kinds) + 1)
            taken = drawn(kinds, draw_seed, amount)
            how = ["--sessions", amount]
        else:
            amount = random_.randrange(1, sum(kind[2] for kind in kinds) + 9)
            taken = drawn_by_tokens(kinds, draw_seed, amount)
            how = ["--max-tokens", amount]
        wanted = "".join(f"{line}\n" for line, number in zip(lines, numbers)
                         if number in taken).encode()
        is_pipe = seed % 5 == 0
        process = harness.run(options.tracebake, [
            "sample", "-" if is_pipe else path, *how, "--seed", draw_seed,
            "--output-file", "-"], stdin=data if is_pipe else b"", check=False)
        if process.stdout != wanted or (process.returncode == 0) != bool(taken):
            print(f"DIFFERENT: seed {seed}\n{process.stderr.decode()}")
            harness.print_first_difference(wanted, process.stdout)
            return False
        if taken and not check_told(process.stderr.decode(), rows, numbers,
                                    taken):
            return False
    print(f"sample: {count} files are the same")
    return True


# --------------------------------------------------------------- partition


def part_of(line, parts):
    try:
        name = json.loads(line).get("session_id")
    except (ValueError, AttributeError):
        name = None
    named = isinstance(name, (str, int, float)) and \
        not isinstance(name, bool)
    key = str(name).encode() if named else line.rstrip(b"\r\n")
    return xxhash.xxh3_64_intdigest(key) % parts


def random_line(random_):
    name = random_.choice(("a", "b", "c\u00e9", "d\\", 5, 5.5, None, [1]))
    event = {"event_type": "x", "session_id": name, "text": "\u2028 \n"}
    if random_.random() < 0.1:
        del event["session_id"]
    line = json.dumps(event, ensure_ascii=random_.random() < 0.5).encode()
    if random_.random() < 0.1:
        line = line[:random_.randrange(1, len(line))]
    return line + random_.choice((b"\n", b"\r\n"))


def check_partition(options, folder):
    count = 30 if options.quick else 100
    for seed in range(count):
        random_ = random.Random(seed)
        parts = random_.randrange(1, 6)
        ending = random_.choice(("none", "gz"))
        files, wanted = [], [b""] * parts
        for number in range(random_.randrange(1, 4)):
            lines = [random_line(random_)
                     for _ in range(random_.randrange(1, 30))]
            for line in lines:
                wanted[part_of(line, parts)] += line
            path = folder / f"log{number}"
            data = b"\xef\xbb\xbf" * (number % 2) + b"".join(lines)
            path.write_bytes(gzip.compress(data) if number == 2 else data)
            files.append(path)
        made = folder / f"parts{seed}"
        harness.run(options.tracebake, [
            "partition", *files, "--parts", parts, "--output-dir", made,
            "--compress", ending])
        for number, one in enumerate(wanted):
            path = made / f"part-{number + 1}-of-{parts}.jsonl"
            got = path.read_bytes() if ending == "none" else \
                gzip.decompress(Path(f"{path}.gz").read_bytes())
            if got != one:
                print(f"DIFFERENT: seed {seed}, part {number + 1}")
                harness.print_first_difference(one, got)
                return False
    print(f"partition: {count} runs are the same")
    return True


def without_ids(path):
    """Rows with each session's ids numbered anew, in order of sessions."""
    sessions = {}
    for line in path.read_text().splitlines():
        row = json.loads(line)
        sessions.setdefault(row["session_id"], []).append(row)
    for rows in sessions.values():
        numbers = {}
        for row in rows:
            row["hash_ids"] = [numbers.setdefault(one, len(numbers))
                               for one in row["hash_ids"]]
    return sessions


def check_conversion(options, folder):
    with gzip.open(harness.DATA / "tel8.jsonl.gz") as file:
        lines = file.readlines()
    logs = [folder / f"cut{number}" for number in range(3)]
    for number, log in enumerate(logs):
        log.write_bytes(b"".join(lines[number::3]))
    made = folder / "made"
    harness.run(options.tracebake, ["partition", *logs, "--parts", 4,
                                    "--output-dir", made])
    whole, parts = folder / "whole.jsonl", {}
    (folder / "all").write_bytes(b"".join(lines))
    arguments = ["--tokenizer", "builtin", "--quiet", "--output-file"]
    harness.run(options.tracebake,
                ["telemetry", folder / "all", *arguments, whole])
    for part in sorted(made.iterdir()):
        if part.stat().st_size:
            rows = folder / f"{part.name}.rows"
            harness.run(options.tracebake,
                        ["telemetry", part, *arguments, rows])
            parts.update(without_ids(rows))
    if parts != without_ids(whole):
        print("DIFFERENT: rows of the parts")
        return False
    print(f"partition: {len(parts)} sessions convert alike")
    return len(parts) > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()

    def job():
        with tempfile.TemporaryDirectory() as folder:
            return (check_sample(options, Path(folder))
                    and check_partition(options, Path(folder))
                    and check_conversion(options, Path(folder)))
    harness.main(job)


if __name__ == "__main__":
    main()
