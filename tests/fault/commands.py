"""Commands that write files, as their golden cases run them, for all checks of
this folder: what they read, what they make, and in which order it is put in
place."""
import json
import random
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
META = ".meta.json"
ROWS, IDS = 28, 500  # of each file that is merged


class Command:
    """`files` by name are what it reads; `made` are the names of what it
    writes, the last to be put in place first. `is_asked`: for what it prints,
    too, so that it fails when it cannot print."""

    def __init__(self, name, arguments, files, made, is_asked=False):
        self.name, self.arguments = name, list(arguments)
        self.files, self.made = dict(files), list(made)
        self.is_asked = is_asked

    def put(self, folder):
        """Writes what it reads."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def to_standard_output(self):
        """The same arguments, with the first of what it makes printed; None
        for what makes several files of one kind."""
        if self.made[0] not in self.arguments:
            return None
        return ["-" if word == self.made[0] else word
                for word in self.arguments]


def golden_files(name):
    folder = GOLDEN / name
    return {path.name: path.read_bytes() for path in folder.iterdir()
            if ".jsonl" in path.name and not path.name.startswith("expected")}


def golden_arguments(name):
    return (GOLDEN / name / "args").read_text().split()


def of_golden(name, *made):
    return Command(name, golden_arguments(name), golden_files(name), made)


def row_commands():
    """What makes rows of rows: each a file of rows with a meta file."""
    for name in ("reblock", "rewrite", "sample", "share", "merge"):
        yield of_golden(name, "output.jsonl", "output.jsonl" + META)


def large_merge():
    """So many blocks that they are sorted in temporary files."""
    files, generator = {}, random.Random(1)
    meta = {"meta_format": 1, "rows": {"prompt": "whole"}, "block_size": 4,
            "ids": "content", "first_ms": 0, "format": "nat"}
    for part in range(2):
        rows = [{"session_id": f"conv_{part * ROWS + i}",
                 "input_length": 4 * IDS, "output_length": 1,
                 "hash_ids": [generator.getrandbits(40) for _ in range(IDS)]}
                for i in range(ROWS)]
        name = f"part{part}.jsonl"
        files[name] = "".join(json.dumps(row) + "\n" for row in rows).encode()
        files[name + META] = json.dumps(
            {**meta, "counts": {"rows": len(rows)}}).encode()
    return Command("merge.large",
                   ["merge", "part0.jsonl", "part1.jsonl", "--max-memory",
                    "1M", "--output-file", "output.jsonl"],
                   files, ["output.jsonl", "output.jsonl" + META])


def commands():
    """All that write a file and are no conversion."""
    yield from row_commands()
    yield large_merge()
    parts = ("parts/part-2-of-2.jsonl", "parts/part-1-of-2.jsonl")
    yield of_golden("partition", *parts)
    yield Command("analyze",
                  [*golden_arguments("analyze_calls"), "--report",
                   "page.html"], golden_files("analyze_calls"), ["page.html"],
                  is_asked=True)
