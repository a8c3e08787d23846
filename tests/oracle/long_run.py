#!/usr/bin/env python3
"""All comparisons of ids with the originals, for as long as one likes.

    long_run.py --tracebake build/release/tracebake \\
        --tokenizers build/tokenizers --log FILE --hours 8

Rounds of ids_oracle.py (tokenizer.json and the built-in one), files_oracle.py
(tiktoken, mistral-common, sentencepiece) and components_oracle.py (components
put together at random), each with another seed, until the time is up or so much
text was compared. FILE has a line of JSON for each part of a round: what was
compared and whether it was equal. A run that was stopped goes on where it
stopped when it is started with the same FILE; the sums are those of all runs.
A difference does not end the run, but its exit status says so.
"""
import argparse
import json
import tempfile
import time
from argparse import Namespace
from pathlib import Path

import components_oracle
import files_oracle
import harness
import ids_oracle


# ------------------------------------------------------------ what is done


def settings_of(options, seed):
    """What the other scripts have as their options."""
    return Namespace(**{**vars(options), "seed": seed, "stage": None,
                        "only": None, "table": False})


def check_ids(options, seed, name):
    effort = ids_oracle.Effort(False, options.seconds)
    settings = settings_of(options, seed)
    comparison = ids_oracle.Comparison(name, settings)
    return ids_oracle.check_all(comparison, effort, settings) is not None


def check_files(options, seed, kind):
    """All cases of a kind, each as thoroughly as a tokenizer.json."""
    settings = settings_of(options, seed)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name, argument, original in files_oracle.KINDS[kind](
                Path(folder), settings):
            effort = ids_oracle.Effort(False, options.seconds / 4)
            effort.code_point_step = 7
            effort.long_length = 20_000
            comparison = ids_oracle.Comparison(f"{kind} {name}", settings,
                                               original, str(argument))
            good &= ids_oracle.check_all(comparison, effort,
                                         settings) is not None
    return good


def check_components(options, seed, _):
    settings = settings_of(options, seed)
    with tempfile.TemporaryDirectory() as folder:
        results = components_oracle.check_random(Path(folder), settings,
                                                 options.seconds * 4)
    print(f"components: {len(results)} put together at random", flush=True)
    return None not in results.values()


def parts_of_round(options):
    """Each part: its name, and what to call with which argument."""
    for name in harness.tokenizer_names(options.tokenizers):
        yield f"ids {name}", check_ids, name
    for kind in files_oracle.KINDS:
        yield f"files {kind}", check_files, kind
    yield "components", check_components, None


def all_parts(options):
    """Parts of round after round, each with its seed."""
    seed = options.seed
    while True:
        for name, check, argument in parts_of_round(options):
            yield f"{name} seed {seed}", check, seed, argument
        seed += 1


# ------------------------------------------------------------------ the log


class Log:
    """What has been done, by this run and those before it."""

    def __init__(self, path):
        self.path = path
        self.rows = []
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self.rows = [json.loads(line) for line in lines]
        self.done = {row["part"] for row in self.rows}

    def add(self, part, good, started):
        compared = {name: dict(zip(("texts", "bytes", "ids"), counts))
                    for name, counts in ids_oracle.COMPARED.items()}
        ids_oracle.COMPARED.clear()
        row = {"part": part, "equal": good, "compared": compared,
               "seconds": round(time.monotonic() - started, 1)}
        self.rows.append(row)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def sums(self):
        """By tokenizer: texts, bytes, ids."""
        sums = {}
        for row in self.rows:
            for name, counts in row["compared"].items():
                before = sums.get(name, (0, 0, 0))
                sums[name] = tuple(map(sum, zip(before, counts.values())))
        return sums

    def bytes(self):
        return sum(counts[1] for counts in self.sums().values())

    def different(self):
        return [row["part"] for row in self.rows if not row["equal"]]

    def report(self):
        for name, (texts, size, ids) in sorted(self.sums().items()):
            shown = "components" if name == "case" else name
            print(f"{shown:45} {texts:11,} texts {size / 1e6:10,.1f} MB "
                  f"{ids:13,} ids")
        print(f"long run: {self.bytes() / 1e6:,.1f} MB in {len(self.rows)} "
              f"parts, different: {', '.join(self.different()) or 'none'}",
              flush=True)


def job():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--log", required=True, type=Path, metavar="FILE")
    parser.add_argument("--hours", type=float, default=float("inf"),
                        help="begin no further part after so long")
    parser.add_argument("--megabytes", type=float, default=float("inf"),
                        help="... or when so much was compared in all runs")
    parser.add_argument("--seconds", type=float, default=30,
                        help="time for the random texts of a tokenizer "
                             "(default: 30)")
    parser.add_argument("--seed", type=int, default=1000,
                        help="of the first round (default: 1000)")
    options = parser.parse_args()
    log, started = Log(options.log), time.monotonic()
    for part, check, seed, argument in all_parts(options):
        if part in log.done:
            continue
        if (log.bytes() >= options.megabytes * 1e6
                or time.monotonic() - started >= options.hours * 3600):
            break
        print(f"--- {part}", flush=True)
        before = time.monotonic()
        log.add(part, check(options, seed, argument), before)
    log.report()
    return not log.different()


if __name__ == "__main__":
    harness.main(job)
