#!/usr/bin/env python3
"""`tracebake share` gives nothing away that it should not.

secrets     A word that stands in every text of the rows, in names of fields,
            in the meta file and in the names of files is nowhere in what is
            written, plain, compressed, keyed, nor in what a second look at the
            bytes shows once escapes are resolved; nor is any number that the
            rows hide in fields of nobody's.
rows        A few lines of Python make the same rows of random ones, and of
            those of the telemetry in tests/data.
keyed       Names and ids made with a secret are HMAC-SHA256 of theirs; two
            files that are shared apart have the same ones for the same blocks.
refused     Rows of messages, of texts, of payloads; ids that fit together in no
            file are not made with a secret.
"""
import argparse
import gzip
import hashlib
import hmac
import json
import random
import tempfile
from pathlib import Path

import harness

SECRET = "tomato"
NUMBER = 77777123
KEY = b"0123456789abcdefghijklmnop"
FIELDS = {"session_id", "agent_type", "input_length", "output_length",
          "hash_ids", "priority", "timestamp", "delay", "extra",
          "parent_session_id"}


def said(text):
    return f"{SECRET} {text}"


def random_rows(random_):
    rows = []
    for _ in range(random_.randrange(1, 40)):
        row = {
            said("unknown"): said("value"), "session_id":
            said(random_.randrange(5)), "agent_type":
            said(random_.randrange(3)), "input_length":
            random_.randrange(1, 900), "output_length":
            random_.randrange(1, 90),
            "hash_ids": [random_.randrange(9) + 2 ** random_.choice((0, 62))
                         for _ in range(random_.randrange(5))],
            "priority": random_.choice(("HIGH", "low", said("x"), 3, NUMBER
                                        * 10 ** 6, None)),
            "timestamp": 1.7e12 + random_.randrange(10 ** 7) / 8,
            "delay": random_.choice((5, 2.5, 0, -3)),
            "extra": {"ignore_eos": True, "min_tokens": 7,
                      "metadata": {said("k"): said("v")}, said("n"): NUMBER},
            "parent_session_id": said(random_.randrange(7)),
            "request_id": said("r"), "policy_class": said("p"),
            "type": said("t"), "x": [{said("deep"): [said("deeper"), NUMBER]}],
            "tomat\u00f6": "\u0074omato", "number": NUMBER,
        }
        for key in list(row):
            if random_.random() < 0.2 and key != "input_length":
                del row[key]
        rows.append(row)
    return rows


def priority_of(value):
    if isinstance(value, int) and value < 2 ** 31:
        return value
    if isinstance(value, str) and value.upper() in (
            "LOW", "MEDIUM", "HIGH", "CRITICAL"):
        return value.upper()
    return None


def keyed(kind, data):
    return hmac.new(KEY, kind.encode() + b": " + data, hashlib.sha256).digest()


class Names:
    def __init__(self, kind, is_keyed):
        self.kind, self.is_keyed, self.known = kind, is_keyed, {}

    def __getitem__(self, name):
        if self.is_keyed:
            number = int.from_bytes(keyed(self.kind, name.encode())[:8],
                                    "little")
            return f"{self.kind}-{number:016x}"
        return self.known.setdefault(name, f"{self.kind}{len(self.known) + 1}")


def shared(rows, is_keyed):
    """What is to be written of the rows."""
    sessions, agents, ids = Names("s", is_keyed), Names("agent", is_keyed), {}
    first = min((row["timestamp"] for row in rows if "timestamp" in row),
                default=0)
    made = []

    def id_of(one):
        if is_keyed:
            digest = keyed("id", one.to_bytes(8, "little"))
            return int.from_bytes(digest[:8], "little") >> 1
        return ids.setdefault(one, len(ids))

    for row in rows:
        new = {}
        if "session_id" in row:
            new["session_id"] = sessions[row["session_id"]]
        if "agent_type" in row:
            new["agent_type"] = agents[row["agent_type"]]
        for key in ("input_length", "output_length"):
            if key in row:
                new[key] = row[key]
        if "hash_ids" in row:
            new["hash_ids"] = [id_of(one) for one in row["hash_ids"]]
        if priority_of(row.get("priority")) is not None:
            new["priority"] = priority_of(row["priority"])
        if "timestamp" in row:
            new["timestamp"] = round(row["timestamp"] - first, 3)
        if row.get("delay", -1) >= 0:
            new["delay"] = row["delay"]
        if "extra" in row and "min_tokens" in row["extra"]:
            new["extra"] = {key: row["extra"][key]
                            for key in ("ignore_eos", "min_tokens")}
        if "parent_session_id" in row:
            new["parent_session_id"] = sessions[row["parent_session_id"]]
        made.append(new)
    return made


def meta_of(rows):
    return {"meta_format": 1, "tracebake": said("v"), "command": said("c"),
            "rows": {"prompt": "delta", "explanation": said("e"),
                     "prompt_text": said("p"), said("k"): 1},
            "ids": "content", "salt": said("s"), "block_size": 64,
            "tokenizer": {"name": said("n"), "fingerprint": said("f")},
            "format": said("f"), "inputs": [{"path": said("p")}],
            "counts": {"rows": len(rows), said("x"): NUMBER},
            said("k"): [said("v")]}


def texts_of(value):
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from texts_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts_of(one)
    else:
        yield str(value)


def finds_secret(data, what):
    """Looks at bytes, and at all that they say."""
    texts = [data.decode()]
    for line in data.decode().splitlines():
        try:
            texts += texts_of(json.loads(line))
        except ValueError:
            pass
    for text in texts:
        if SECRET in text.lower() or "tomat" in text.lower() or \
                str(NUMBER) in text:
            print(f"FOUND in {what}: {text[:200]}")
            return True
    return False


def check_random(options, folder):
    count = 40 if options.quick else 200
    inner = folder / said("folder")
    inner.mkdir()
    (folder / "key").write_bytes(KEY)
    for seed in range(count):
        random_ = random.Random(seed)
        rows = random_rows(random_)
        is_keyed, is_gzip = seed % 2 == 1, seed % 3 == 0
        path = inner / said("rows.jsonl")
        path.write_text("".join(
            json.dumps(row, ensure_ascii=random_.random() < 0.5) + "\n"
            for row in rows))
        meta = meta_of(rows)
        Path(f"{path}.meta.json").write_text(json.dumps(meta))
        out = folder / ("out.jsonl.gz" if is_gzip else "out.jsonl")
        process = harness.run(options.tracebake, [
            "share", path, "--output-file", out,
            *(["--salt-file", folder / "key"] if is_keyed else [])])
        data = out.read_bytes()
        if is_gzip:
            data = gzip.decompress(data)
        beside = Path(f"{out}.meta.json").read_bytes()
        if finds_secret(data, "rows") or finds_secret(beside, "meta") or \
                finds_secret(process.stdout, "what is told"):
            return False
        got = [json.loads(line) for line in data.splitlines()]
        wanted = shared(rows, is_keyed)
        if got != wanted:
            print(f"DIFFERENT: seed {seed}")
            harness.print_first_difference(
                *("\n".join(map(json.dumps, some)).encode()
                  for some in (wanted, got)))
            return False
        listed = {line.strip() for line in process.stdout.decode().split("\n")}
        for text in texts_of([got, json.loads(beside)]):
            is_number = text.replace(".", "").isdigit() or text == "True"
            is_session = text.startswith("s") and text[1:2] in "-0123456789"
            if not (is_number or is_session or text in listed):
                print(f"NOT LISTED: {text}")
                return False
        if {key for row in got for key in row} - FIELDS:
            print("DIFFERENT: unknown fields")
            return False
        meta = json.loads(beside)
        if meta["block_size"] != 64 or meta["rows"]["prompt"] != "delta" or \
                meta["counts"]["rows"] != len(rows):
            print("DIFFERENT: meta file")
            return False
    print(f"secrets, rows, keyed: {count} files are as they should be")
    return True


def check_apart(options, folder):
    """Two halves that are shared apart have the ids of the whole."""
    made = {}
    with gzip.open(harness.DATA / "tel8.jsonl.gz") as file:
        lines = file.readlines()
    for name, some in (("all", lines), ("a", lines[:90]), ("b", lines[90:])):
        trace, rows = folder / name, folder / f"{name}.jsonl"
        trace.write_bytes(b"".join(some))
        harness.run(options.tracebake, [
            "telemetry", trace, "--tokenizer", "builtin", "--ids", "content",
            "--quiet", "--output-file", rows, "--session-prefix", "never"])
        out = folder / f"{name}.shared"
        harness.run(options.tracebake, [
            "share", rows, "--salt-file", folder / "key", "--output-file",
            out])
        made[name] = sorted(
            (json.dumps(json.loads(line)) for line in
             out.read_text().splitlines()))
        salt = json.loads(Path(f"{out}.meta.json").read_text())["salt"]
        if made.setdefault("salt", salt) != salt:
            print("DIFFERENT: names of the secret")
            return False
    if sorted(made["a"] + made["b"]) != made["all"]:
        print("DIFFERENT: halves shared apart")
        return False
    print(f"apart: {len(made['all'])} rows fit together")
    return len(made["all"]) > 0


def check_refused(options, folder):
    lengths = {"session_id": "a", "input_length": 5, "hash_ids": [0]}
    cases = [{"session_id": "a", "messages": [{"role": "user"}]},
             {**lengths, "text_input": "x"}, {**lengths, "payload": {"a": 1}},
             {**lengths, "tools": [1]}, {"session_id": "a"},
             {**lengths, "hash_ids": ["x"]}, {**lengths, "hash_ids": {}}]
    path, out = folder / "refused.jsonl", folder / "refused.out"
    for case in cases:
        path.write_text(json.dumps(lengths) + "\n" + json.dumps(case) + "\n")
        process = harness.run(options.tracebake, [
            "share", path, "--output-file", out], check=False)
        if process.returncode != 1 or out.exists() or \
                b"refused.jsonl:2:" not in process.stderr:
            print(f"NOT REFUSED: {case}\n{process.stderr.decode()}")
            return False
    path.write_text(json.dumps(lengths) + "\n")
    process = harness.run(options.tracebake, [
        "share", path, "--output-file", out, "--salt-file", folder / "key"],
        check=False)
    if process.returncode != 2 or out.exists():
        print("NOT REFUSED: ids by first appearance, with a secret")
        return False
    print(f"refused: {len(cases) + 1} files")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()

    def job():
        with tempfile.TemporaryDirectory() as folder:
            return (check_random(options, Path(folder))
                    and check_apart(options, Path(folder))
                    and check_refused(options, Path(folder)))
    harness.main(job)


if __name__ == "__main__":
    main()
