#!/usr/bin/env python3
"""Token ids of `tracebake tokenize` against the original tokenizers.

For every tokenizer folder the original is Hugging Face `tokenizers` on the
same tokenizer.json; for `builtin` it is tiktoken's o200k_base. Equal means
the same ids for every text. The first difference of a tokenizer is shrunken
to a small text, printed, and ends that tokenizer's comparison.
"""
import argparse
import base64
import functools
import gzip
import json
import random
import sysconfig
import time
from pathlib import Path

import harness

BATCH_TEXTS = 4000
BATCH_CHARACTERS = 3_000_000
SHRINK_ROUNDS = 60
SHRINK_CANDIDATES = 1500
LAST_CODE_POINT = 0x10FFFF
SURROGATES = range(0xD800, 0xE000)
# Ideographs that have no other form, Hangul syllables, what is not assigned,
# private use.
ALIKE = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xAC00, 0xD7A4),
         range(0xE000, 0xF900), range(0x17000, 0x18D00),
         range(0x20000, 0x2F800), range(0x2FA20, 0xE0000),
         range(0xF0000, LAST_CODE_POINT + 1))


# ------------------------------------------------------------- the texts


class Effort:
    """How much to compare: all, what there is time for on every change, or a
    part that suits a slow build."""

    def __init__(self, quick, seconds, is_daily=False):
        self.quick = quick
        self.seconds = seconds if seconds else (
            3 if quick else 6 if is_daily else 30)
        self.prose_characters = (300_000 if quick else
                                 1_000_000 if is_daily else 4_000_000)
        self.first_step = 4 if quick else 1
        self.code_point_step = 29 if quick else 1
        self.alike_step = 16 if is_daily else 1
        self.alone_step = 997 if quick else 97
        self.long_length = (5_000 if quick else
                            30_000 if is_daily else 100_000)
        self.longest_word = 1_000_003
        self.folder = None  # of more texts, all of which are taken


def prose(rng, effort, _):
    """Real text: our lines in many scripts, sources, documents, traces."""
    corpus = Path(__file__).with_name("corpus.txt")
    text = corpus.read_text(encoding="utf-8")
    yield text
    yield from text.split("\n")
    yield from cut(rng, text)
    yield from cut(rng, text.encode().decode("unicode_escape", "replace"))
    left = effort.prose_characters
    paths = texts_in(effort.folder) if effort.folder else list(found_texts())
    rng.shuffle(paths)
    for path in paths:
        text = read_text(path)[:200_000]
        left -= len(text)
        if left < 0:
            return
        yield text
        yield from cut(rng, text)


@functools.cache
def found_texts():
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(library.glob("*.py")) + sorted(library.glob("*/*.py"))
    for folder, pattern in (("common-licenses", "*"), ("doc", "*/*"),
                            ("i18n/locales", "*"), ("perl5", "*/*.pm")):
        paths += sorted(Path("/usr/share", folder).glob(pattern))[:800]
    paths += sorted(harness.DATA.glob("*.gz"))
    return tuple(path for path in paths if path.is_file())


def texts_in(folder):
    """All files below a folder that look like text by their names."""
    ends = {".py", ".md", ".txt", ".rst", ".json", ".js", ".c", ".h", ".html"}
    return sorted(path for path in Path(folder).rglob("*")
                  if path.suffix in ends and path.is_file())


def read_text(path):
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            return file.read(400_000).decode("utf-8", "replace")
    except OSError:
        return ""


def cut(rng, text):
    """Pieces of a text, cut at random places, short and long."""
    at = 0
    while at < len(text):
        end = at + rng.choice((3, 20, 100, 700, 4000))
        yield text[at:end]
        at = end + rng.randrange(40)


def code_points(rng, effort, _):
    """Every code point, alone and between letters, digits and spaces."""
    packed = []
    start = rng.randrange(max(effort.code_point_step, effort.alike_step))
    for code in wanted_code_points(start, effort.code_point_step,
                                   effort.alike_step, effort.first_step):
        packed.append(framed(chr(code), brief=code >= 0x40000))
        if len(packed) == 64:
            yield "".join(packed)
            packed = []
    yield "".join(packed)


def wanted_code_points(start, step, alike_step=1, first_step=1):
    """One in `first_step` of those below U+3000, one in `step` of the others,
    and where one is like the next, of those one in `alike_step`."""
    at = 0x3000
    yield from one_in(first_step, start, 0, at)
    for alike in ALIKE:
        yield from one_in(step, start, at, alike.start)
        yield from one_in(max(step, alike_step), start, alike.start,
                          alike.stop)
        at = alike.stop


def one_in(step, start, at, end):
    for code in range(at + (start - at) % step, end, step):
        if code not in SURROGATES:
            yield code


def framed(c, brief):
    if brief:
        return f"{c} a{c}"
    return f"{c}\n {c} x{c}y {c}{c}A{c}'1{c}2\n"


def code_points_alone(rng, effort, _):
    """A sample of the code points, one to a text."""
    step = effort.alone_step
    for code in wanted_code_points(rng.randrange(step), step,
                                   first_step=effort.first_step):
        yield chr(code)


SPECIAL_PIECES = (
    [" ", "  ", "   ", "\n", "\n\n", "\r", "\r\n", "\t", "\u00a0", "\u3000"]
    + ["\u2003", "\u200b", "\u200d", "\ufeff", "\u0085", "\u2028", "\x0b"]
    + ["'", "''", "\u2019", "'s", "'S", "'t", "'T", "'re", "'RE", "'rE"]
    + ["'ve", "'VE", "'m", "'M", "'ll", "'LL", "'lL", "'d", "'D", "'r"]
    + ["'v", "'l", "'\u017f", "\u017f", "\u212a", "s", "t", "re", "ll"]
    + ["0", "1", "12", "123", "1234", "99999", "\u0661", "\u0967", "\u0e52"]
    + ["\u00b2", "\u00bd", "\u2167", "\uff11", "\u4e00", "\u4e8c\u4e09"]
    + ["\u9fa5", "\u9fa6", "\u3042", "\u30ab", "\u309d", "\u30fc", "\uac00"]
    + ["\u1112\u1161\u11ab", "\u1100", "\u11a8", "\u0301", "\u0308\u0323"]
    + ["\u093f", "\u094d", "\u0e33", "\u20dd", "\ufe0f", "\U0001f3fd"]
    + [".", ",", "!", "?", ";", ":", "-", "_", "/", "//", "\\", "(", ")"]
    + ["[", "]", "{", "}", "<", ">", "|", "=", "==", "+", "*", "#", "$", "`"]
    + ["~", "^", "&", "%", "@", '"', "\u3002", "\u300c", "\u00bf", "\u20ac"]
    + ["\u2581", "\u2581\u2581", "\u0120", "\u010a", "\u00ad", "\u00c4"]
    + ["\U0001f600", "\U0001f1e9\U0001f1ea", "\u2764", "\U0001f469\u200d"]
    + ["a", "b", "z", "A", "Z", "AB", "Ab", "aB", "the", "The", "THE", "don"]
    + ["\u00e9", "\u00c9", "\u00df", "\u1e9e", "\u01c5", "\u1f88", "\u02b0"]
    + ["\u00aa", "\u0430", "\u0410", "\u03c3", "\u03a3", "\u0130", "\u0131"]
    + ["\u05d0", "\u05bc", "\u0627", "\u064e", "\ufb01", "\ufb2c", "\u0958"]
    + ["\u212b", "\u2126", "\uf900", "\ufa0e", "\U0002f800", "\u1e0b\u0323"]
    + ["\U0001e900", "\U00010400", "\U0001d7d8", "\U00016d40", "\u1c8a"]
    + ["\u0897", "\U00010d4e", "\U0001e5d0", "\ue000", "\U000f0000", "\x00"]
    + ["\x01", "\x7f", "\ufffd", "\uffff", "\U0010ffff"]
)


def special_strings(rng, effort, original):
    """Random strings of what patterns and added tokens treat specially."""
    fragments = added_fragments(rng, original)
    started = time.monotonic()
    while time.monotonic() - started < effort.seconds / 2:
        for _ in range(500):
            yield special_string(rng, fragments)


def special_string(rng, fragments):
    few = rng.sample(SPECIAL_PIECES, rng.choice((2, 4, 10, 40)))
    share = rng.choice((0, 0, 0.1, 0.4))
    pieces = []
    for _ in range(rng.choice((1, 2, 3, 5, 9, 17, 40))):
        pool = fragments if rng.random() < share else few
        pieces.append(rng.choice(pool))
    return "".join(pieces)


def added_fragments(rng, original):
    """Added tokens, whole, cut, doubled, in another case, with spaces."""
    names = original.added_tokens()
    if len(names) > 300:
        names = rng.sample(names, 300)
    names += ["<|im_end|>", "<|im_start|>", "<|eot_id|>", "</s>", "<bos>"]
    fragments = []
    for name in names:
        middle = rng.randrange(len(name) + 1)
        fragments += [name, name[:middle], name[middle:], name + name,
                      " " + name, name + " ", name.upper(), "\n" + name]
    return [fragment for fragment in fragments if fragment]


def token_strings(rng, effort, original):
    """Texts of random ids: far nastier to merge than what people write."""
    started = time.monotonic()
    while time.monotonic() - started < effort.seconds / 2:
        for _ in range(500):
            top = rng.choice((300, 2000, 20000, original.size))
            ids = [rng.randrange(min(top, original.size))
                   for _ in range(rng.choice((2, 3, 5, 10, 60)))]
            text = decoded(original, ids)
            yield text.replace(" ", "") if rng.random() < 0.2 else text


def decoded(original, ids):
    try:
        return original.decode(ids)
    except (KeyError, OverflowError):  # an id that no token has
        return ""


def long_words(rng, effort, _):
    """Words and runs without an end in sight."""
    n = effort.long_length
    yield "a" * effort.longest_word
    noise = base64.b64encode(rng.randbytes(n)).decode()
    yield noise
    yield noise.lower()
    for unit in ("ab", "=", "9", "\u4e2d", "\u3042\u30ab", "\u00e9", "aB",
                 "\U0001f600", "x'", "\u0e01\u0e33", "_-", "\u2581"):
        yield (unit * n)[:n]
        yield " " + (unit * n)[:n] + "\n"
    for unit in (" ", "\n", "\t", " \n", "\r\n", "\u00a0"):
        yield "a" + unit * (n // 20) + "b"
        yield unit * (n // 20)
    yield "a" + "\u0301\u0323" * 500


STAGES = {stage.__name__: stage for stage in (
    prose, code_points, code_points_alone, special_strings, token_strings,
    long_words)}


# ---------------------------------------------------------- the comparison


class Difference(Exception):
    def __init__(self, text, expected, got):
        super().__init__()
        self.text, self.expected, self.got = text, expected, got


COMPARED = {}  # by tokenizer: texts, their bytes and ids that were equal


class Comparison:
    """One tokenizer: ours and the original side by side."""

    def __init__(self, name, options, original=None, argument=None):
        self.name = name
        self.tracebake = options.tracebake
        self.original = original or harness.original(name, options.tokenizers)
        self.argument = argument or harness.tokenizer_argument(
            name, options.tokenizers)

    def ours(self, texts):
        """Ids of each text; the JSON lines are ASCII and UTF-8 in turn."""
        lines = [json.dumps(text, ensure_ascii=bool(number % 2))
                 for number, text in enumerate(texts)]
        process = harness.run(
            self.tracebake, ["tokenize", "--tokenizer", self.argument],
            stdin="".join(line + "\n" for line in lines).encode(),
            check=False)
        return self.answers(process, texts)

    def answers(self, process, texts):
        rows = process.stdout.decode("utf-8", "replace").splitlines()
        if process.returncode != 0:
            raise harness.Failure(harness.describe(process))
        if len(rows) != len(texts):
            raise harness.Failure(
                f"{len(rows)} answers for {len(texts)} texts")
        return [json.loads(row) for row in rows]

    def check(self, texts):
        return self.compare(texts, self.original.encode_all(texts))

    def compare(self, texts, expected):
        try:
            answers = self.ours(texts)
        except harness.Failure as failure:
            self.raise_culprit(texts, failure)
        for text, want, got in zip(texts, expected, answers):
            if want != got:
                raise Difference(text, want, got)
        return self.count(texts, sum(map(len, expected)))

    def count(self, texts, ids):
        more = len(texts), sum(map(len, map(str.encode, texts))), ids
        before = COMPARED.get(self.name, (0, 0, 0))
        COMPARED[self.name] = tuple(map(sum, zip(before, more)))
        return ids

    def raise_culprit(self, texts, failure):
        """Find the one text that brings the program down."""
        while len(texts) > 1:
            half = texts[:len(texts) // 2]
            try:
                self.ours(half)
                texts = texts[len(half):]
            except harness.Failure as smaller:
                texts, failure = half, smaller
        raise Difference(texts[0], self.original.encode(texts[0]), failure)

    def shrink(self, difference):
        """A smaller text that still differs."""
        for _ in range(SHRINK_ROUNDS):
            smaller = self.first_that_differs(shorter_texts(difference.text))
            if smaller is None:
                break
            difference = smaller
        return difference

    def first_that_differs(self, texts):
        try:
            if texts:
                self.check(texts)
        except Difference as difference:
            return difference
        return None


def shorter_texts(text):
    """The text without one of its halves, quarters, ... characters."""
    room = min(SHRINK_CANDIDATES, BATCH_CHARACTERS // max(1, len(text)))
    result, size = [], (len(text) + 1) // 2
    while size and len(result) + len(text) // size <= max(4, room):
        result += [text[:at] + text[at + size:]
                   for at in range(0, len(text), size)]
        size //= 2
    return result


def batches(texts):
    batch, size = [], 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if len(batch) >= BATCH_TEXTS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def check_stage(comparison, stage, rng, effort):
    """Texts and ids that were compared; raises on a difference."""
    texts = characters = ids = 0
    for batch in batches(STAGES[stage](rng, effort, comparison.original)):
        ids += comparison.check(batch)
        texts += len(batch)
        characters += sum(map(len, batch))
    print(f"  {stage:17} {texts:8,} texts {characters:11,} characters "
          f"{ids:11,} ids equal", flush=True)
    return texts, ids


def check_surrogates(comparison):
    """Half a surrogate pair in JSON reads as U+FFFD."""
    texts = [r'"a\ud83d b"', r'"\ude00\ud83d"', r'"\ud83d\ude00 \ud83d"']
    means = ["a\ufffd b", "\ufffd\ufffd", "\U0001f600 \ufffd"]
    process = harness.run(
        comparison.tracebake, ["tokenize", "--tokenizer", comparison.argument],
        stdin="".join(text + "\n" for text in texts).encode(), check=False)
    got = comparison.answers(process, texts)
    for text, want, ids in zip(means, comparison.original.encode_all(means),
                               got):
        if want != ids:
            raise Difference(text, want, ids)
    print(f"  {'lone surrogates':17} {len(texts):8,} texts", flush=True)


def check_tokenizer(name, options):
    effort = Effort(options.quick, options.seconds, options.daily)
    return check_all(Comparison(name, options), effort, options)


def check_all(comparison, effort, options):
    """All stages; texts and ids that were compared, None on a difference."""
    name = comparison.name
    print(f"{name} (seed {options.seed})", flush=True)
    texts = ids = 0
    try:
        for stage in options.stage or STAGES:
            rng = random.Random(f"{options.seed} {name} {stage}")
            more = check_stage(comparison, stage, rng, effort)
            texts, ids = texts + more[0], ids + more[1]
        check_surrogates(comparison)
    except Difference as difference:
        report(name, difference, comparison)
        return None
    return texts, ids


def report(name, difference, comparison):
    print(f"DIFFERENT: {name}, text {abridged(difference.text)}", flush=True)
    small = comparison.shrink(difference)
    print(f"  shrunken {abridged(small.text)}")
    if isinstance(small.got, harness.Failure):
        print(f"  {small.got}")
        return
    at = first_difference(small.expected, small.got)
    print(f"  expected {around(small.expected, at)}")
    print(f"  got      {around(small.got, at)}")
    print(f"  first difference at id {at}")


def first_difference(expected, got):
    for at, (want, have) in enumerate(zip(expected, got)):
        if want != have:
            return at
    return min(len(expected), len(got))


def abridged(text):
    shown = json.dumps(text)
    if len(shown) > 700:
        return f"{shown[:350]} ... {shown[-350:]} ({len(text)} characters)"
    return shown


def around(ids, at):
    start = max(0, at - 8)
    shown = ", ".join(map(str, ids[start:at + 8]))
    dots = "... " if start else ""
    return f"{dots}[{shown}] of {len(ids)} ids"


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    parser.add_argument("--only", metavar="NAME", action="append",
                        help="only this tokenizer (may be repeated)")
    parser.add_argument("--stage", choices=STAGES, action="append",
                        help="only this kind of text (may be repeated)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float,
                        help="time for the random texts of a tokenizer")
    parser.add_argument("--daily", action="store_true",
                        help="texts of all kinds, in a third of the time")
    parser.add_argument("--quick", action="store_true",
                        help="a part of the texts, for slow builds")
    options = parser.parse_args()
    names = options.only or harness.tokenizer_names(options.tokenizers)
    results = {name: check_tokenizer(name, options) for name in names}
    good = [result for result in results.values() if result is not None]
    bad = [name for name, result in results.items() if result is None]
    print(f"ids: {len(good)} of {len(names)} tokenizers equal, "
          f"{sum(texts for texts, _ in good):,} texts, "
          f"{sum(ids for _, ids in good):,} ids"
          + (f"; different: {', '.join(bad)}" if bad else ""))
    return not bad


if __name__ == "__main__":
    harness.main(job)
