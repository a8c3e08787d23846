#!/usr/bin/env python3
"""Ids back to text: the library against the originals.

For the tokenizers in build/tokenizers and the built-in one, and for rank files,
tekken.json and SentencePiece models against their own libraries: every third id
alone (or one in --step), texts there and back, random ids, ids that no token has. And every decoder
that a tokenizer.json can name, alone and in random chains, over a vocabulary
of what decoders look at. Equal means the same bytes, with and without special
tokens; what is refused must be said by name.
"""
import argparse
import contextlib
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import files_oracle
import harness

SKIP_SPECIAL, RAW = 1, 2
LISTS = 2000
FEW_LISTS = 100
REFUSED = ("CTC", "Regex")  # what is not built
# For a slow build: each decoder that the tokenizers have, and one in so many of
# the files of other kinds.
FEW = ("llama2", "gemma3", "claude", harness.BUILTIN)
FILES_STEP = 3


class Library:
    """The driver with one tokenizer."""

    def __init__(self, driver, tokenizer):
        self.command = [driver, str(tokenizer)]

    def decode_all(self, lists, flags):
        lines = "".join(f"{flags} {' '.join(map(str, ids))}\n" if ids else
                        f"{flags}\n" for ids in lists)
        process = subprocess.run(self.command, input=lines.encode(),
                                 capture_output=True,
                                 timeout=harness.RUN_TIMEOUT)
        if process.returncode != 0:
            raise harness.Failure(harness.describe(process))
        answers = process.stdout.decode().split("\n")[:-1]
        if len(answers) != len(lists):
            raise harness.Failure(f"{len(answers)} answers, not {len(lists)}")
        return [answer if answer.startswith("!") else bytes.fromhex(answer)
                for answer in answers]


def decoded_by(original, ids, flags):
    """What the original says; None where it panics, as Strip does when there
    is less than it shall strip."""
    try:
        text = original.decode(ids, skip_special_tokens=flags != 0)
    except BaseException as problem:
        if type(problem).__name__ != "PanicException":
            raise
        return None
    return text.encode()


@contextlib.contextmanager
def without_panics_shown():
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)


def compare(name, lists, wanted, got):
    """Are all answers equal? Prints the shortest list where they are not."""
    wrong = [at for at, one in enumerate(wanted)
             if one is not None and one != got[at]]
    if not wrong:
        return True
    at = min(wrong, key=lambda place: len(lists[place]))
    print(f"FAILED: {name}: {len(wrong)} of {len(lists)} lists")
    print(f"  ids      {lists[at][:20]}")
    print(f"  expected {wanted[at]!r}"[:400])
    print(f"  got      {got[at]!r}"[:400])
    return False


# --------------------------------------------------- real tokenizers


def id_lists(rng, original, options):
    """Ids alone; texts; and what no text leads to."""
    step = 97 if options.quick else options.step
    size = original.size
    lists = [[]] + [[one] for one in range(0, size, step)]
    corpus = Path(__file__).with_name("corpus.txt").read_text(encoding="utf-8")
    lines = corpus.split("\n")
    texts = [corpus] + lines + [
        token + line + token for token, line in
        zip(original.added_tokens(), lines)]
    lists += original.encode_all(texts)
    for _ in range(FEW_LISTS if options.quick else LISTS):
        count = rng.randrange(1, 12)
        lists.append([rng.randrange(size) for _ in range(count)])
        line = rng.choice(lists[1:])
        cut = rng.randrange(len(line) + 1)
        lists.append(line[cut:] + [rng.randrange(size)] + line[:cut])
    return lists


def check_json(name, file, original, options):
    """A tokenizer.json, whose decoder says how tokens become text."""
    rng = random.Random(1)
    lists = id_lists(rng, original, options)
    beyond = [original.size, original.size + 7, 2**31, 2**32 - 1]
    lists += [one + [rng.choice(beyond)] + one[::-1] for one in lists[-200:]]
    library = Library(options.driver, file)
    good = True
    for flags in (0, SKIP_SPECIAL):
        wanted = [text.encode() for text in original.model.decode_batch(
            lists, skip_special_tokens=flags != 0)]
        good &= compare(f"{name}, flags {flags}", lists, wanted,
                        library.decode_all(lists, flags))
    return good, len(lists)


def check_file(name, options):
    path = options.tokenizers / name / "tokenizer.json"
    return check_json(name, path, harness.FileTokenizer(path), options)


def check_builtin(options):
    original = harness.BuiltinTokenizer(options.tokenizers)
    model = original.model
    special = sorted(model._special_tokens.values())
    lists = id_lists(random.Random(1), original, options)
    lists += [[one] for one in special] + [special + [1000] + special]
    library = Library(options.driver, harness.BUILTIN)
    good = compare("builtin", lists, [model.decode(ids).encode()
                                      for ids in lists],
                   library.decode_all(lists, 0))
    good &= compare("builtin, raw", lists,
                    [model.decode_bytes(ids) for ids in lists],
                    library.decode_all(lists, RAW))
    plain = [[one for one in ids if one not in special] for ids in lists]
    good &= compare("builtin, without special", lists,
                    [model.decode(ids).encode() for ids in plain],
                    library.decode_all(lists, SKIP_SPECIAL))
    return good, len(lists)


def check_pieces(name, file, original, options):
    """Files of bytes or pieces; what is no UTF-8 becomes U+FFFD."""
    lists = id_lists(random.Random(1), original, options)
    library = Library(options.driver, file)
    good = True
    for flags in (0, SKIP_SPECIAL):
        wanted = [original.decode_bytes(ids, flags != 0)
                  .decode("utf-8", "replace").encode() for ids in lists]
        good &= compare(f"{name}, flags {flags}", lists, wanted,
                        library.decode_all(lists, flags))
    return good, len(lists)


def check_kind(kind, options):
    """The files that files_oracle.py has of a kind."""
    good, count = True, 0
    settings = argparse.Namespace(**vars(options), only=None)
    check = check_json if kind == "json" else check_pieces
    with tempfile.TemporaryDirectory() as folder:
        cases = files_oracle.KINDS[kind](Path(folder), settings)
        if options.quick:
            cases = itertools.islice(cases, 0, None, FILES_STEP)
        for name, file, original in cases:
            is_equal, compared = check(f"{kind} {name}", file, original,
                                       options)
            good &= is_equal
            count += compared
    return good, count


# --------------------------------------------------- decoders by themselves

SPACE = "\u2581"
TEXTS = ["a", "b", " ", "  ", SPACE, SPACE + "a", SPACE * 3, "a" + SPACE + "b",
         "##a", "##", "####b", "a##", "</w>", "a</w>", "a</w></w>b</w>", "\u00e9",
         "\u0120a", "\u0120", "\u00c3", "\u00a9", "\u010a", "\u6587", "<0x41>",
         "<0xE6>", "<0x96>", "<0x87>", "<0xFF>", "<0x+5>", "<0xg1>", "<0x4>",
         "<0x414>", "<0x\u00e9>", ".", " .", "?", "!", ",", "'", " ' ", "n't",
         "'m", "do not", " do not", "'s", "'ve", "'re", "HHa", "aHH", "HHH",
         "H", "", "_", "a_b", "\U0001f600", "<unk>", "<s>", "</s>", "new\u00e9",
         SPACE + "s"]
SPECIAL = ["<s>", "</s>", "a b", "\u0120x", SPACE + "s", "x" + SPACE]
PLAIN_ADDED = ["new\u00e9", "a</w>", "##z"]


def replace(pattern, content):
    return {"type": "Replace", "pattern": pattern, "content": content}


def strip(content, start, stop):
    return {"type": "Strip", "content": content, "start": start, "stop": stop}


def metaspace(scheme, replacement=SPACE):
    return {"type": "Metaspace", "replacement": replacement,
            "prepend_scheme": scheme, "split": True}


DECODERS = [
    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
     "use_regex": True},
    {"type": "ByteFallback"}, {"type": "Fuse"},
    strip(" ", 1, 0), strip("H", 1, 2), strip("H", 0, 1), strip("\u00e9", 3, 3),
    strip(SPACE, 2, 2),
    metaspace("always"), metaspace("first"), metaspace("never"),
    metaspace("always", "_"),
    {"type": "WordPiece", "prefix": "##", "cleanup": True},
    {"type": "WordPiece", "prefix": "##", "cleanup": False},
    {"type": "WordPiece", "prefix": SPACE, "cleanup": True},
    {"type": "BPEDecoder", "suffix": "</w>"},
    {"type": "BPEDecoder", "suffix": SPACE},
    replace({"String": SPACE}, " "), replace({"String": "a"}, "aa"),
    replace({"String": "HH"}, ""), replace({"String": " "}, SPACE),
    replace({"Regex": "[ab]"}, "x"),
    {"type": "CTC", "pad_token": "<s>", "word_delimiter_token": "_",
     "cleanup": True},
]


def bpe():
    vocabulary = {text: at for at, text in enumerate(TEXTS)}
    return {"type": "BPE", "vocab": vocabulary, "merges": [], "dropout": None,
            "unk_token": "<unk>"}


def byte_bpe():
    """A vocabulary in GPT-2's alphabet, with tokens outside of it."""
    texts = harness.byte_characters()
    texts += [text for text in TEXTS if text not in texts]
    return {"type": "BPE", "vocab": {text: at for at, text in enumerate(texts)},
            "merges": [], "dropout": None}


def unigram():
    return {"type": "Unigram", "unk_id": TEXTS.index("<unk>"),
            "vocab": [[text, -1.0] for text in TEXTS]}


def word_piece():
    return {**bpe(), "type": "WordPiece", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100}


def word_level():
    return {**bpe(), "type": "WordLevel"}


def added(start, content, special, normalized):
    return {"id": start, "content": content, "single_word": False,
            "lstrip": False, "rstrip": False, "normalized": normalized,
            "special": special}


def tokenizer_json(model, decoder):
    is_bytes = model["type"] == "BPE" and "unk_token" not in model
    size = len(model["vocab"])
    tokens = [(text, True) for text in SPECIAL]
    tokens += [(text, False) for text in PLAIN_ADDED]
    byte_level = {**DECODERS[0], "add_prefix_space": False}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added(size + at, text, special, not special)
                             for at, (text, special) in enumerate(tokens)],
            "normalizer": {"type": "Lowercase"},
            "pre_tokenizer": byte_level if is_bytes else None,
            "post_processor": None, "decoder": decoder, "model": model}


def chains(rng, count):
    yield None
    yield {"type": "Sequence", "decoders": []}
    yield from DECODERS
    for _ in range(count):
        parts = [rng.choice(DECODERS) for _ in range(rng.randrange(1, 5))]
        if rng.random() < 0.2:
            parts.append({"type": "Sequence", "decoders": [parts.pop()]})
        yield {"type": "Sequence", "decoders": parts}


def is_refused(decoder):
    return any(name in json.dumps(decoder) for name in REFUSED)


def check_decoder(model, decoder, options, rng, folder):
    from tokenizers import Tokenizer
    text = json.dumps(tokenizer_json(model, decoder))
    path = Path(folder, "tokenizer.json")
    path.write_text(text)
    original = Tokenizer.from_str(text)
    size = original.get_vocab_size(with_added_tokens=True)
    lists = [[]] + [[one] for one in range(size)]
    lists += [[rng.randrange(size + 2) for _ in range(rng.randrange(2, 9))]
              for _ in range(FEW_LISTS)]
    library = Library(options.driver, path)
    name = f"{model['type']} {json.dumps(decoder)}"
    if is_refused(decoder):
        answers = library.decode_all(lists, 0)
        if all(str(one).startswith("! cannot decode") for one in answers):
            return True
        print(f"FAILED: {name}: not refused but {answers[0]!r}")
        return False
    good = True
    for flags in (0, SKIP_SPECIAL):
        with without_panics_shown():
            wanted = [decoded_by(original, ids, flags) for ids in lists]
        good = good and compare(name, lists, wanted,
                                library.decode_all(lists, flags))
    return good


def check_decoders(options):
    rng = random.Random(2)
    models = [bpe(), byte_bpe(), unigram(), word_piece(), word_level()]
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        for decoder in chains(rng, 20 if options.quick else
                              40 if options.daily else 80):
            for model in models:
                if not check_decoder(model, decoder, options, rng, folder):
                    return False, done
                done += 1
    return True, done


def job():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("driver", type=Path)
    parser.add_argument("--tokenizers", required=True, type=Path)
    parser.add_argument("--step", type=int, default=3, metavar="N",
                        help="one in N ids alone (default: 3)")
    parser.add_argument("--daily", action="store_true",
                        help="fewer chains of decoders")
    parser.add_argument("--quick", action="store_true",
                        help="fewer ids and files, for a slow build")
    options = parser.parse_args()
    good, done = check_decoders(options)
    print(f"decoders: {done} of a model and a chain")
    names = harness.tokenizer_names(options.tokenizers)
    for name in FEW if options.quick else names:
        check = check_builtin if name == harness.BUILTIN else check_file
        arguments = [options] if name == harness.BUILTIN else [name, options]
        is_equal, count = check(*arguments)
        print(f"{name}: {count} lists {'equal' if is_equal else 'DIFFER'}",
              flush=True)
        good &= is_equal
    for kind in files_oracle.KINDS:
        is_equal, count = check_kind(kind, options)
        print(f"{kind}: {count} lists {'equal' if is_equal else 'DIFFER'}",
              flush=True)
        good &= is_equal
    return good


if __name__ == "__main__":
    harness.main(job)
