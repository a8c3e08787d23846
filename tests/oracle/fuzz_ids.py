#!/usr/bin/env python3
"""Token ids of texts that are made worse and worse, against the originals.

    fuzz_ids.py --tracebake build/release/tracebake \\
        --tokenizers build/tokenizers [--seconds 20] [--log FILE]
        [--found build/fuzz/found]

ids_oracle.py has the texts that somebody thought of. Here a pool of texts
(corpus.txt, what the fuzz targets start with, and with --found what they have
come upon) is mutated: bytes of its UTF-8 are changed, lost and doubled, code
points become their neighbours, pieces are repeated, moved into other texts and
put in another case. What comes out goes back into the pool, so that mutations
add up. The tokenizers take turns; each text goes to one of them.

--seconds is the time for all of them, the loading of tokenizers left out. FILE
gets a line of JSON for each turn; the next run with the same FILE goes on with
other texts, and tells the sums of all runs. A difference is shrunken, printed,
and ends its tokenizer's turns.
"""
import argparse
import json
import random
import time
from pathlib import Path

import harness
import ids_oracle

CORPUS = Path(__file__).resolve().parent.parent.parent / "fuzz" / "corpus"
POOL_TEXTS = 6000
TEXT_MAX = 1500  # characters: what is wrong is mostly wrong in a few
TURN_TEXTS = 500
PLANES = ((0, 0x80), (0, 0x250), (0x300, 0x370), (0x2000, 0x2100),
          (0x3000, 0x3400), (0xAC00, 0xD7A4), (0xF900, 0x10000),
          (0x10000, 0x20000), (0xE0000, 0xE0200), (0, 0x110000))


# ---------------------------------------------------------------- the texts


def first_texts(folders):
    """Lines of all languages, and what fuzz targets were given."""
    corpus = Path(__file__).with_name("corpus.txt")
    texts = corpus.read_text(encoding="utf-8").split("\n")
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                texts.append(path.read_bytes()[:4 * TEXT_MAX]
                             .decode("utf-8", "replace")[:TEXT_MAX])
    return [text for text in texts if text]


def code_point(rng):
    while True:
        first, last = rng.choice(PLANES)
        code = rng.randrange(first, last)
        if code not in ids_oracle.SURROGATES:
            return chr(code)


def change_byte(rng, text, _):
    raw = bytearray(text.encode())
    at = rng.randrange(len(raw))
    raw[at] ^= 1 << rng.randrange(8)
    return raw.decode("utf-8", "replace")


def lose_bytes(rng, text, _):
    raw = text.encode()
    at = rng.randrange(len(raw))
    return (raw[:at] + raw[at + rng.choice((1, 1, 2, 5, 40)):]).decode(
        "utf-8", "replace")


def repeat_piece(rng, text, _):
    at = rng.randrange(len(text))
    piece = text[at:at + rng.choice((1, 1, 2, 3, 8, 50))]
    return text[:at] + piece * rng.choice((2, 2, 3, 9, 70)) + text[at:]


def take_neighbour(rng, text, _):
    at = rng.randrange(len(text))
    code = ord(text[at]) + rng.choice((-0x20, -2, -1, 1, 2, 0x20, 0x40))
    if not 0 <= code <= ids_oracle.LAST_CODE_POINT or (
            code in ids_oracle.SURROGATES):
        return text
    return text[:at] + chr(code) + text[at + 1:]


def put_in(rng, text, _):
    at = rng.randrange(len(text) + 1)
    piece = (code_point(rng) if rng.random() < 0.4
             else rng.choice(ids_oracle.SPECIAL_PIECES))
    return text[:at] + piece + text[at + rng.randrange(2):]


def put_in_added(rng, text, fragments):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(fragments) + text[at:]


def turn_case(rng, text, _):
    at = rng.randrange(len(text))
    end = at + rng.choice((1, 1, 3, 20))
    return text[:at] + text[at:end].swapcase() + text[end:]


MUTATIONS = (change_byte, change_byte, lose_bytes, repeat_piece,
             take_neighbour, put_in, put_in, put_in_added, turn_case)


class Pool:
    """Texts, of which the oldest give way to those that came of them."""

    def __init__(self, rng, texts):
        self.rng = rng
        rng.shuffle(texts)
        self.texts = texts[:POOL_TEXTS]
        self.first = list(self.texts)

    def next(self, fragments):
        rng = self.rng
        text = rng.choice(self.texts)
        if rng.random() < 0.2:
            other = rng.choice(self.texts)
            text = text[:rng.randrange(len(text) + 1)] + (
                other[rng.randrange(len(other) + 1):])
        for _ in range(rng.choice((1, 1, 2, 3, 6))):
            if text:
                text = rng.choice(MUTATIONS)(rng, text, fragments)
        at = rng.randrange(max(1, len(text) - TEXT_MAX))
        text = text[at:at + TEXT_MAX]
        self.keep(text)
        return text

    def keep(self, text):
        """Now and then one from the beginning, lest all become noise."""
        new = text if self.rng.random() < 0.8 else self.rng.choice(self.first)
        if new:
            self.texts[self.rng.randrange(len(self.texts))] = new


# ----------------------------------------------------------------- the turns


def read_log(path):
    if not path or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_log(path, line):
    if path:
        with path.open("a") as log:
            log.write(json.dumps(line) + "\n")


def turn(comparison, pool, fragments):
    """Texts, bytes and the difference of one turn, or None."""
    texts = [pool.next(fragments) for _ in range(TURN_TEXTS)]
    line = {"tokenizer": comparison.name, "texts": len(texts),
            "bytes": sum(len(text.encode()) for text in texts)}
    try:
        line["ids"] = comparison.check(texts)
        line["difference"] = None
    except ids_oracle.Difference as difference:
        ids_oracle.report(comparison.name, difference, comparison)
        line |= {"ids": 0, "difference": comparison.shrink(difference).text}
    return line


def take_turns(options, seed):
    rng = random.Random(f"{seed} texts")
    pool = Pool(rng, first_texts([CORPUS, *options.found]))
    names = options.only or harness.tokenizer_names(options.tokenizers)
    comparisons = [ids_oracle.Comparison(name, options) for name in names]
    fragments = {one.name: ids_oracle.added_fragments(rng, one.original)
                 for one in comparisons}
    lines, ends = [], time.monotonic() + options.seconds
    while comparisons and (time.monotonic() < ends or
                           len(lines) < len(names)):  # one turn at least
        one = comparisons.pop(0)
        line = {"seed": seed} | turn(one, pool, fragments[one.name])
        lines.append(line)
        write_log(options.log, line)
        if line["difference"] is None:
            comparisons.append(one)
    return lines


def told(lines):
    names = {line["tokenizer"] for line in lines}
    return (f"{sum(line['texts'] for line in lines):,} texts, "
            f"{sum(line['bytes'] for line in lines):,} bytes, "
            f"{sum(line['ids'] for line in lines):,} ids, "
            f"{len(names)} tokenizers, "
            f"{sum(line['difference'] is not None for line in lines)} "
            "differences")


def job():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    harness.add_arguments(parser)
    parser.add_argument("--only", metavar="NAME", action="append",
                        help="only this tokenizer (may be repeated)")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--found", type=Path, action="append", default=[],
                        help="a folder of more texts (may be repeated)")
    options = parser.parse_args()
    before = read_log(options.log)
    seed = max([options.seed, *(line["seed"] + 1 for line in before)])
    lines = take_turns(options, seed)
    print(f"seed {seed}: {told(lines)}")
    if before:
        print(f"all runs: {told(before + lines)}")
    return bool(lines) and all(line["difference"] is None for line in lines)


if __name__ == "__main__":
    harness.main(job)
