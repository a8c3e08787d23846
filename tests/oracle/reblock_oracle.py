#!/usr/bin/env python3
"""`tracebake reblock` beside two others.

converter   Rows of every trace in tests/data, whole and as increments, at a
            larger block size are byte for byte what the converter writes with
            that block size.
plain       Rows of nobody's making, with fields in any order, spaces, ids as
            texts and numbers of any size: a few lines of Python give the same
            ids, and every byte outside hash_ids stays.
"""
import argparse
import json
import random
import re
import tempfile
from pathlib import Path

import harness

SIZES = ((16, 32), (16, 48), (64, 512), (128, 128), (128, 1024))


def converted(tracebake, trace, kind, size, folder):
    """The converter's rows; None when the trace has none."""
    rows = folder / f"{size}.jsonl"
    command = "telemetry" if ".jsonl" in trace.name else "nat"
    process = harness.run(tracebake, [
        command, trace, "--tokenizer", "builtin", "--quiet", "--rows", kind,
        "--block-size", size, "--output-file", rows], check=False)
    if b"no rows" in process.stderr:
        return None
    if process.returncode != 0:
        raise harness.Failure(harness.describe(process))
    return rows


def check_converter(options, folder):
    count = 0
    for trace in sorted(harness.DATA.glob("*.gz")):
        for kind in ("whole", "delta"):
            for size, larger in SIZES:
                wanted = converted(options.tracebake, trace, kind, larger,
                                   folder)
                if wanted is None:
                    continue
                wanted = wanted.read_bytes()
                rows = converted(options.tracebake, trace, kind, size, folder)
                made = folder / "made.jsonl"
                harness.run(options.tracebake, [
                    "reblock", rows, "--block-size", larger, "--quiet",
                    "--output-file", made])
                if made.read_bytes() != wanted:
                    print(f"DIFFERENT: {trace.name} {kind} {size} {larger}")
                    harness.print_first_difference(wanted, made.read_bytes())
                    return False
                meta = json.loads(Path(f"{made}.meta.json").read_text())
                if meta["block_size"] != larger or \
                        meta["rows"]["prompt"] != kind:
                    print(f"DIFFERENT: meta of {trace.name} {kind}")
                    return False
                count += 1
    print(f"converter: {count} files are the same")
    return count > 0


# ---------------------------------------------------------------- by hand


def random_row(random_, ids):
    """A row as text, its list of ids as text, and its ids as numbers."""
    fields = {"session_id": f"s{random_.randrange(3)}",
              "input_length": random_.randrange(1, 999),
              "hash_ids": None, "\u00fcber": {"hash_ids": [1, 2]},
              "x": [1.50, "a\u2028b"], "timestamp": 10.0}
    keys = list(fields)
    random_.shuffle(keys)
    spaces = random_.choice(("", " ", "  \t"))
    how = random_.choice((str, lambda n: f'"{n}"', lambda n: f"{n}.0"))
    # Only what a double holds may be written as one.
    if ids and max(ids) >= 2 ** 53:
        how = str
    written = "[" + f",{spaces}".join(map(how, ids)) + "]"
    parts = [json.dumps(key, ensure_ascii=random_.random() < 0.5)
             + f":{spaces}"
             + (written if key == "hash_ids" else json.dumps(fields[key]))
             for key in keys]
    return f"{{{spaces}" + f"{spaces},".join(parts) + f"{spaces}}}", written


def reblocked(rows, multiple):
    numbers, made = {}, []
    for text, written, ids in rows:
        groups = [tuple(ids[at:at + multiple])
                  for at in range(0, len(ids), multiple)]
        new = [numbers.setdefault(group, len(numbers)) for group in groups]
        at = re.search(r'"hash_ids":\s*' + re.escape(written), text).end()
        made.append(text[:at - len(written)] + json.dumps(new) + text[at:])
    return "".join(f"{row}\n" for row in made).encode()


def check_plain(options, folder):
    count = 40 if options.quick else 200
    for seed in range(count):
        random_ = random.Random(seed)
        most = random_.choice((2, 5, 2 ** 64 - 1))
        multiple = random_.choice((1, 2, 3, 7))
        rows = []
        for _ in range(random_.randrange(1, 30)):
            ids = [random_.randrange(most + 1)
                   for _ in range(random_.randrange(0, 20))]
            rows.append((*random_row(random_, ids), ids))
        wanted = reblocked(rows, multiple)
        text = "".join(f"{row[0]}{random_.choice((chr(10), chr(13) + chr(10)))}"
                       for row in rows).encode()
        got = harness.run(options.tracebake, [
            "reblock", "-", "--from", 16, "--block-size", 16 * multiple],
            stdin=text).stdout
        if got != wanted:
            print(f"DIFFERENT: seed {seed}")
            harness.print_first_difference(wanted, got)
            return False
    print(f"plain: {count} files are the same")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    harness.add_arguments(parser)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()

    def job():
        with tempfile.TemporaryDirectory() as folder:
            return (check_converter(options, Path(folder))
                    and check_plain(options, Path(folder)))
    harness.main(job)


if __name__ == "__main__":
    main()
