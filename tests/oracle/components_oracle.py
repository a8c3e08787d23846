#!/usr/bin/env python3
"""Every component of tokenizer.json against Hugging Face `tokenizers`.

Small files are made for it, by hand and by training on corpus.txt, and the
ids of `tracebake tokenize` are compared on texts of characters that matter.
Normalizers and pre-tokenizers stand before a model that spells out the bytes
of each word and marks where a word begins, so that ids tell all that they do.
Then components are put together at random until time is up.
"""
import argparse
import base64
import json
import os
import random
import struct
import tempfile
import time
from pathlib import Path

import added_cases
import harness
import ids_oracle

os.environ.setdefault("RUST_BACKTRACE", "0")

CORPUS = Path(__file__).with_name("corpus.txt")
TEXTS = 400  # for each file made at random


# ------------------------------------------------------------ small files


def tokenizer_json(model, normalizer=None, pre_tokenizer=None, added=(),
                   **others):
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": list(added), "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer, "post_processor": None,
            "decoder": None, "model": model, **others}


def probe():
    """Bytes of each word; two # before all characters but the first."""
    return {"type": "BPE", "dropout": None, "unk_token": None,
            "continuing_subword_prefix": "##", "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": True, "ignore_merges": False,
            "vocab": {f"<0x{byte:02X}>": byte for byte in range(256)},
            "merges": []}


def sequence(kind, *parts):
    return {"type": "Sequence", kind: list(parts)}


def normalizers(*parts):
    return sequence("normalizers", *parts)


def pre_tokenizers(*parts):
    return sequence("pretokenizers", *parts)


def bert(clean=False, chinese=False, accents=None, lower=False):
    return {"type": "BertNormalizer", "clean_text": clean,
            "handle_chinese_chars": chinese, "strip_accents": accents,
            "lowercase": lower}


def replace(content, **pattern):
    return {"type": "Replace", "pattern": pattern, "content": content}


def strip(left, right):
    return {"type": "Strip", "strip_left": left, "strip_right": right}


NORMALIZERS = {
    **{kind: {"type": kind} for kind in
       ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents",
        "ByteLevel")},
    "strip": strip(True, True),
    "strip_left": strip(True, False),
    "strip_right": strip(False, True),
    "prepend": {"type": "Prepend", "prepend": "\u2581"},
    "bert_clean": bert(clean=True),
    "bert_chinese": bert(chinese=True),
    "bert_accents": bert(accents=True),
    "bert_lower": bert(lower=True),
    "bert_lower_only": bert(lower=True, accents=False),
    "bert": bert(True, True, None, True),
    "replace_text": replace("\u2581", String=" "),
    "replace_longer": replace("<->", String="a"),
    "replace_empty_text": replace("-", String=""),
    "replace_special_text": replace("X", String="."),
    "replace_spaces": replace(" ", Regex=r"\s+"),
    "replace_ends": replace("", Regex=r"^\s+|\s+$"),
    "replace_digits": replace("0", Regex=r"\d"),
    "replace_empty_match": replace("-", Regex="a*"),
    "replace_group": replace("$1", Regex=r"(\w)\1"),
    "nested": normalizers(
        normalizers({"type": "NFD"}, {"type": "StripAccents"}),
        normalizers(), {"type": "Lowercase"}),
}

BEHAVIORS = ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext",
             "Contiguous")


def split(behavior="Isolated", invert=False, **pattern):
    return {"type": "Split", "pattern": pattern, "behavior": behavior,
            "invert": invert}


def metaspace(scheme="always", cuts=True, replacement="\u2581"):
    return {"type": "Metaspace", "replacement": replacement,
            "prepend_scheme": scheme, "split": cuts}


def byte_level(prefix=False, regex=True):
    return {"type": "ByteLevel", "add_prefix_space": prefix,
            "trim_offsets": True, "use_regex": regex}


def digits(alone):
    return {"type": "Digits", "individual_digits": alone}


PRE_TOKENIZERS = {
    **{kind: {"type": kind} for kind in
       ("Whitespace", "WhitespaceSplit", "BertPreTokenizer",
        "UnicodeScripts")},
    **{f"punctuation_{b}": {"type": "Punctuation", "behavior": b}
       for b in BEHAVIORS},
    **{f"split_text_{b}": split(b, String="a") for b in BEHAVIORS},
    **{f"split_text_inverted_{b}": split(b, True, String=" ")
       for b in BEHAVIORS},
    **{f"split_regex_{b}": split(b, Regex=r"\w") for b in BEHAVIORS},
    **{f"split_regex_inverted_{b}": split(b, True, Regex=r"\w+|[^\w\s]+")
       for b in BEHAVIORS},
    **{f"split_empty_{b}": split(b, Regex="a*") for b in BEHAVIORS},
    "split_no_text": split(String=""),
    "digits": digits(False),
    "digits_alone": digits(True),
    "delimiter": {"type": "CharDelimiterSplit", "delimiter": "\u2581"},
    "delimiter_ascii": {"type": "CharDelimiterSplit", "delimiter": "a"},
    "metaspace": metaspace(),
    "metaspace_first": metaspace("first"),
    "metaspace_never": metaspace("never"),
    "metaspace_whole": metaspace(cuts=False),
    "metaspace_first_whole": metaspace("first", cuts=False),
    "metaspace_never_whole": metaspace("never", cuts=False),
    "metaspace_line": metaspace(replacement="_"),
    "metaspace_legacy": {"type": "Metaspace", "replacement": "\u2581",
                         "add_prefix_space": True},
    "byte_level": byte_level(),
    "byte_level_prefix": byte_level(True),
    "byte_level_whole": byte_level(False, False),
    "byte_level_prefix_whole": byte_level(True, False),
    "fixed_1": {"type": "FixedLength", "length": 1},
    "fixed_3": {"type": "FixedLength", "length": 3},
    "fixed_default": {"type": "FixedLength"},
    "nested": pre_tokenizers(
        pre_tokenizers({"type": "WhitespaceSplit"}, digits(True)),
        pre_tokenizers(), {"type": "Punctuation", "behavior": "Isolated"}),
    "metaspace_behind": pre_tokenizers(digits(True), metaspace("first")),
    "byte_level_inside": pre_tokenizers(byte_level(), digits(False)),
    "byte_level_twice": pre_tokenizers(byte_level(), byte_level(True)),
}

# Patterns; those that have a scanner are here in a form that has none.
PATTERNS = [
    r"(?:'s|'t|'re|'ve|'m|'ll|'d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|"
    r"\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|"
    r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,4}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}&&[^\p{Han}]]*"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+",
    r"[^(\s|[.,!?…。，、।۔،])]+", r" ?[^(\s|[.,!?…。，、।۔،])]+",
    r"\d{1,3}(?=(?:\d{3})*\b)", r"(?=(\d{3})+(?!\d))", r"\b", r"\B", r"\b\w",
    r"\w+", r"\W+", r"\s", r"\S+", r"\d+", r"\D+", r"\h+", r"[\w-]+",
    r"[^\W\d]+", r"\p{L}", r"\P{L}+", r"\p{^L}+", r"[\P{L}]+", r"[^\P{Nd}]",
    r"\p{Letter}+", r"\p{Uppercase_Letter}+", r"\p{lowercase letter}+",
    r"\p{LC}+", r"\p{M}", r"\p{Mn}+", r"\p{N}", r"\p{No}+", r"\p{Nl}",
    r"\p{P}", r"\p{Punctuation}+", r"\p{Punct}+", r"\p{Po}", r"\p{S}",
    r"\p{Sc}+", r"\p{So}", r"\p{Z}+", r"\p{Zs}", r"\p{C}+", r"\p{Cn}",
    r"\p{Cf}+", r"\p{Co}", r"\p{Cs}", r"\p{Any}", r"\p{Assigned}+",
    r"\p{Alpha}+", r"\p{Alphabetic}+", r"\p{Alnum}+", r"\p{Upper}+",
    r"\p{Uppercase}+", r"\p{Lower}+", r"\p{Lowercase}+", r"\p{Space}",
    r"\p{White_Space}+", r"\p{Word}+", r"\p{Graph}+", r"\p{Print}+",
    r"\p{Cntrl}", r"\p{Blank}+", r"\p{Digit}+", r"\p{XDigit}+",
    r"\p{ASCII}+", r"\p{Emoji}", r"\p{Extended_Pictographic}+",
    r"\p{Ideographic}+", r"\p{Latin}+", r"\p{Cyrillic}", r"\p{Greek}+",
    r"\p{Hiragana}+", r"\p{Katakana}+", r"\p{Hangul}", r"\p{Arab}+",
    r"\p{Common}+", r"\p{Inherited}", r"\p{Thai}", r"[\p{Han}\p{Hira}]+",
    r"[[:alpha:]]+", r"[[:^alpha:]]+", r"[[:alnum:]_]+", r"[[:punct:]]",
    r"[[:space:][:digit:]]+", r"[[:upper:]][[:lower:]]*", r"[[:word:]]+",
    r"(?i)\p{Lu}", r"(?i:ss|k)", r"(?i)[a-z]+", r"(?i)ÄÉ",
    r"(?x) a \s b # [", r"(?m:a.b)", r"a.b", r"^", r"$", r"\A\s+|\s+\z",
    r"^\w+$", r"(?<=a)b", r"(?<!\s)\p{L}", r"(?<=\p{N})\p{L}+", r"a|",
    r"(a)\1", r"(?<x>\w)\k<x>", r"(?>a+)b", r"a*+a", r"a+?", r"x{2,}",
    r"[]a]", r"[^]a]", r"[a\]b]", r"[a[bc]]+", r"[a-z&&[^aeiou]]+", r"\R",
    r"\x41|\x{e9}|\u00E9", r"\t|\n|\r", r"[\t\n]", r"[\x{4E00}-\x{9FFF}]+",
    r"[一-龥぀-ゟ゠-ヿ]+", r"\/|\.|\*", r"[\b]", r"[\p{Word}.]+",
    r"[\W]+", r"[\p{Punct}a]+", r"(?~ab)", r"\p{Ll}*\p{Lu}",
    "(?i)\ua7cb\\x{1C8A}?", r"(?i:[\p{Lu}])", r"(?i)[^\p{Lu}]+",
    "(?i)[\u0250-\u02af]+", r"(?i:x|[\x{10D50}-\x{10D60}])",
    r"a(?i)b|[\p{Ll}]", r"(?i:a)[\p{Lu}]", r"(?i)((?-i)[\p{Lu}])|[[:lower:]]1",
    "(?i)(?-i:\u019b)|\ua7da", r"(?i)\u1c89|\x{A7DD}",
    r"a\Kb", r"(?#\)[)a", r"\N+", r"(?:a|b)?", r"(?=a)", "é", "é+",
]


# ------------------------------------------- SentencePiece's character map


def charsmap(replacements):
    """The bytes of a trie in a double array, and the texts behind it."""
    texts, places, root = b"", {}, {}
    for key, text in replacements.items():
        if text not in places:
            places[text] = len(texts)
            texts += text.encode() + b"\0"
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = places[text]
    units = {0: 0}
    place_children(units, root, 0)
    size = (max(units) | 0xFF) + 1
    array = [units.get(at, 0) for at in range(size)]
    blob = struct.pack(f"<{size}I", *array)
    return struct.pack("<I", len(blob)) + blob + texts


def place_children(units, node, at):
    base = 1
    while any((base ^ byte) in units or (base ^ byte) == 0 for byte in node):
        base += 1
    units[at] |= (at ^ base) << 10 | (1 << 8 if 0 in node else 0)
    for byte in node:
        units[base ^ byte] = byte
    for byte, child in node.items():
        if byte == 0:
            units[base] = 1 << 31 | child
        else:
            place_children(units, child, base ^ byte)


def precompiled(replacements):
    raw = charsmap(replacements)
    return {"type": "Precompiled",
            "precompiled_charsmap": base64.b64encode(raw).decode()}


MAP = {"\u00e9": "e'", "e\u0301": "e'", "\u00a0": " ", "\u3000": " ",
       "\ufb01": "fi", "\u2163": "IV", "\x01": "", "\x7f": "", "\ufeff": "",
       "\u00ad": "", "a": "AA", "\u0301": "", "\u0308": "..", "\uff11": "1",
       "\r": "", "\n": " ", "\u00a9": "(c)", "\u0915": "k", "\u1100": "g",
       "\uac00": "ga", "\u0600": "#", "\U0001f600": ":)", "\u200d": "+"}
NORMALIZERS["charsmap"] = precompiled(MAP)


def sentencepiece_maps():
    """The maps that SentencePiece itself has, where it is installed."""
    try:
        import io
        import sentencepiece
        from sentencepiece import sentencepiece_model_pb2
    except ImportError:
        return {}
    found = {}
    for rule in ("nmt_nfkc", "nmt_nfkc_cf"):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(corpus_lines() * 3), model_writer=model,
            vocab_size=1500, normalization_rule_name=rule,
            hard_vocab_limit=False, minloglevel=2)
        proto = sentencepiece_model_pb2.ModelProto()
        proto.ParseFromString(model.getvalue())
        raw = proto.normalizer_spec.precompiled_charsmap
        found[rule] = {"type": "Precompiled", "precompiled_charsmap":
                       base64.b64encode(raw).decode()}
    return found


# ---------------------------------------------------------------- models


def corpus_lines():
    return CORPUS.read_text(encoding="utf-8").splitlines()


def trained(model, trainer, pre_tokenizer):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(corpus_lines() * 2, trainer)
    return json.loads(tokenizer.to_str())["model"]


def trained_models():
    from tokenizers import models, pre_tokenizers as cuts, trainers
    quiet = {"show_progress": False}
    found = {
        "unigram": trained(
            models.Unigram(), trainers.UnigramTrainer(
                vocab_size=1800, unk_token="<unk>", special_tokens=["<unk>"],
                **quiet), cuts.Metaspace()),
        "word_piece": trained(
            models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(
                vocab_size=1500, special_tokens=["[UNK]"], **quiet),
            cuts.BertPreTokenizer()),
        "word_level": trained(
            models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(
                special_tokens=["[UNK]"], **quiet), cuts.Whitespace()),
        "bpe_suffix": trained(
            models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
            trainers.BpeTrainer(vocab_size=1500, end_of_word_suffix="</w>",
                                special_tokens=["<unk>"], **quiet),
            cuts.Whitespace()),
        "bpe_prefix": trained(
            models.BPE(unk_token="<unk>", continuing_subword_prefix="##"),
            trainers.BpeTrainer(vocab_size=1500, special_tokens=["<unk>"],
                                continuing_subword_prefix="##", **quiet),
            cuts.Whitespace()),
        "bpe_bytes": trained(
            models.BPE(), trainers.BpeTrainer(
                vocab_size=700, initial_alphabet=cuts.ByteLevel.alphabet(),
                **quiet), cuts.ByteLevel(add_prefix_space=False)),
        "bpe_bytes_unknown": trained(
            models.BPE(unk_token="<unk>"), trainers.BpeTrainer(
                vocab_size=500, special_tokens=["<unk>"], **quiet),
            cuts.ByteLevel(add_prefix_space=False)),
        "bpe": trained(
            models.BPE(unk_token="<unk>"), trainers.BpeTrainer(
                vocab_size=1500, special_tokens=["<unk>"], **quiet),
            cuts.Metaspace()),
    }
    return {**found, **hand_made_models(found)}


def hand_made_models(found):
    bytes_of_all = [f"<0x{byte:02X}>" for byte in range(256)]
    unigram = found["unigram"]["vocab"]
    half = [[name, -9.0] for name in bytes_of_all[:128]]
    return {
        "unigram_bytes": {
            **found["unigram"], "byte_fallback": True,
            "vocab": unigram + [[name, -9.0] for name in bytes_of_all]},
        "unigram_half": {**found["unigram"], "byte_fallback": True,
                         "vocab": unigram + half},
        "unigram_ties": {
            "type": "Unigram", "unk_id": 1, "byte_fallback": False,
            "vocab": [["a", -1.0], ["<unk>", 0.0], ["aa", -2.0],
                      ["aaa", -3.0], ["b", -1.5], ["ab", -2.5],
                      ["ba", -2.5], ["aba", -3.5], ["\u2581", -1.0],
                      ["\u2581a", -2.0], ["the", -0.1], ["", -0.5],
                      ["\u00e9", 0.3], ["1", -1e-7], ["12", -2.3e-7]]},
        "word_piece_short": {
            **found["word_piece"], "max_input_chars_per_word": 5},
        "word_piece_odd": {
            **found["word_piece"], "continuing_subword_prefix": "a"},
        "bpe_fused": {**found["bpe"], "fuse_unk": True},
        "bpe_whole": {**found["bpe"], "ignore_merges": True},
        "bpe_strings": as_strings(found["bpe"]),
        "bpe_bytes_strings": as_strings(found["bpe_bytes"]),
        "bpe_both": both_affixes(),
        **spaced_models(bytes_of_all),
        "bpe_suffix_bytes": with_bytes(found["bpe_suffix"], bytes_of_all),
        "bpe_prefix_bytes": with_bytes(found["bpe_prefix"], bytes_of_all),
    }


def with_bytes(model, names):
    vocab = dict(model["vocab"])
    for name in names:
        vocab.setdefault(name, len(vocab))
    return {**model, "vocab": vocab, "byte_fallback": True}


def as_strings(model):
    """Merges as files had them before tokens could contain spaces."""
    return {**model, "merges": [" ".join(pair) for pair in model["merges"]]}


def both_affixes():
    tokens = ["<unk>"]
    for letter in "abc1.\u00e9":
        tokens += [letter, "@" + letter, letter + "$", "@" + letter + "$"]
    tokens += ["ab", "@ab", "abc$", "@bc$", "ab$", "abab"]
    merges = [["a", "@b"], ["@b", "@c$"], ["ab", "@c$"], ["a", "@b$"],
              ["@a", "@b"], ["ab", "@ab"]]
    return {"type": "BPE", "dropout": None, "unk_token": "<unk>",
            "continuing_subword_prefix": "@", "end_of_word_suffix": "$",
            "fuse_unk": True, "byte_fallback": False, "ignore_merges": False,
            "vocab": {token: at for at, token in enumerate(tokens)},
            "merges": merges}


def spaced_models(names):
    """Spaces inside the word: what merges across them, and with what."""
    pairs = ["\u2581 a", "\u2581 b", "a b", "\u2581a b", "\u2581 \u2581",
             "\u2581\u2581 a", "a a", ". .", "b a", "ab ab"]
    joined = pairs + [". \u2581a", "b. \u2581", "\u00e9 \u2581b", "a. \u2581ab"]
    unknown = joined + ["<unk> \u2581a", "<unk> <unk>"]
    fallen = joined + ["<0xC3> <0xA9>", "<0x0A> \u2581a", "<0xE4> \u2581"]
    return {
        "spaced": spaced(pairs, fuse_unk=True),
        "spaced_joined": spaced(joined, fuse_unk=True),
        "spaced_whole": spaced(joined, ignore_merges=True),
        "spaced_unknown": spaced(unknown),
        "spaced_bytes": spaced(fallen, names, byte_fallback=True),
        "spaced_some_bytes": spaced(joined, names[:128] + names[200:],
                                    byte_fallback=True, fuse_unk=True),
        "spaced_vanishing": spaced(joined, unk_token=None),
        "spaced_vanishing_plain": spaced(pairs, unk_token=None),
        "spaced_suffix": spaced(pairs, ["a</w>", "\u2581</w>"],
                                end_of_word_suffix="</w>"),
    }


def spaced(pairs, more=(), **settings):
    tokens = ["<unk>", *"ab.\u00e9\u2581", "a.", "b.", *more]
    merges = [pair.split(" ") for pair in pairs]
    tokens += [left + right for left, right in merges]
    return {"type": "BPE", "dropout": None, "unk_token": "<unk>",
            "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
            "vocab": {token: at for at, token in
                      enumerate(dict.fromkeys(tokens))},
            "merges": [["a", "."], ["b", "."]] + merges, **settings}


WHITESPACE = {"type": "Whitespace"}
BEFORE_MODEL = {
    "unigram": metaspace(), "unigram_bytes": metaspace(),
    "unigram_half": metaspace("first"), "unigram_ties": None,
    "word_piece": {"type": "BertPreTokenizer"}, "bpe": metaspace(),
    "bpe_fused": metaspace(cuts=False), "bpe_whole": metaspace(),
    "bpe_bytes": byte_level(), "bpe_bytes_unknown": byte_level(),
    "bpe_strings": metaspace(), "bpe_bytes_strings": byte_level(),
}


# ----------------------------------------------------------------- cases


def fixed_cases():
    for name, part in NORMALIZERS.items():
        yield f"normalizer {name}", tokenizer_json(probe(), part)
    for name, part in sentencepiece_maps().items():
        yield f"normalizer {name}", tokenizer_json(probe(), part)
    for name, part in PRE_TOKENIZERS.items():
        yield f"pre_tokenizer {name}", tokenizer_json(probe(), None, part)
    for pattern in PATTERNS:
        yield f"pattern {pattern}", tokenizer_json(
            probe(), None, split(Regex=pattern))
    models = trained_models()
    for name, model in models.items():
        cut = (metaspace(cuts=False) if name.startswith("spaced") else
               BEFORE_MODEL.get(name, WHITESPACE))
        yield f"model {name}", tokenizer_json(model, None, cut)
    yield "model word_piece bytes", tokenizer_json(
        models["word_piece"], None, byte_level())
    yield "model unigram bytes", tokenizer_json(
        models["unigram"], None, byte_level())
    yield "model word_level scripts", tokenizer_json(
        models["word_level"], NORMALIZERS["bert"],
        pre_tokenizers({"type": "UnicodeScripts"}, WHITESPACE))


def cases_of_tokens(rng, effort):
    """Added tokens, and parts of a file that no id depends on."""
    for name, added in added_cases.pairs(rng, effort):
        yield f"added {name}", tokenizer_json(
            probe(), NORMALIZERS["bert_lower"], None, added)
    for name, others in added_cases.IGNORED.items():
        yield f"ignored {name}", tokenizer_json(
            probe(), None, byte_level(), added_cases.SPECIAL, **others)


# Characters that join, change places with or come apart from their neighbours.
NEIGHBOURS = ("a", "x", "1", " ", "e\u0301", "\u00e9", "\u0130", "\u0301",
              "\u0307", "\u0323", "\u0344", "\u0345", "\u064e", "\u093c",
              "\u0958", "\u1112", "\u1161", "\u11a8", "\u11ab", "\uac00",
              "\u1e69", "\u304b", "\u3099", "\ufb01", "\ufdfa")


def cases_of_origins():
    """What stands for the text's first character, through two normalizers: each
    character is a piece, and those that do begin with U+2581."""
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        for before in ("prepend", "Lowercase"):
            yield f"origin {before} {form}", tokenizer_json(
                probe(), normalizers(NORMALIZERS[before], NORMALIZERS[form]),
                pre_tokenizers(split(Regex="."), metaspace("first", False)))


def texts_of_neighbours(rng):
    for _ in range(500):
        yield "".join(rng.choices(NEIGHBOURS, k=rng.randint(1, 6)))


def random_case(rng, models):
    name = rng.choice([*models, "probe", "probe", "probe"])
    model = probe() if name == "probe" else models[name]
    normalizer = random_chain(rng, "normalizers", NORMALIZERS)
    return tokenizer_json(
        model, normalizer, random_chain(rng, "pretokenizers", PRE_TOKENIZERS),
        random_added(rng, normalizer))


def random_chain(rng, kind, parts):
    count = rng.choice((0, 1, 1, 2, 2, 3))
    chosen = [parts[name] for name in rng.sample(sorted(parts), count)]
    if kind == "normalizers":
        # The reference breaks down on text put before the first character.
        chosen = [part for part in chosen
                  if part not in (NORMALIZERS["replace_empty_text"],
                                  NORMALIZERS["replace_empty_match"])]
    elif rng.random() < 0.3:
        chosen.append(split(rng.choice(BEHAVIORS), rng.random() < 0.5,
                            Regex=rng.choice(PATTERNS)))
    if not chosen:
        return None
    return chosen[0] if len(chosen) == 1 else sequence(kind, *chosen)


def random_added(rng, normalizer):
    contents = rng.sample(["<s>", "</s>", "<|a|>", "the", "The", "a", "ab",
                           "\u00e9", "e\u0301", " x", "\u2581", "1", "<s",
                           "don't", "\u4e00", "AB", "."],
                          rng.choice((0, 0, 2, 4)))
    added = [{"id": 5000 + number, "content": content,
              "single_word": rng.random() < 0.3, "lstrip": rng.random() < 0.3,
              "rstrip": rng.random() < 0.3, "normalized": rng.random() < 0.5,
              "special": rng.random() < 0.3}
             for number, content in enumerate(contents)]
    # Of two that normalise alike the reference takes one or the other.
    seen = {}
    for token in added:
        shown = normalized(token["content"], normalizer)
        seen.setdefault((token["normalized"], shown), token)
    return list(seen.values())


def normalized(text, normalizer):
    from tokenizers import Tokenizer
    if normalizer is None:
        return text
    whole = tokenizer_json(probe(), normalizer)
    try:
        loaded = Tokenizer.from_str(json.dumps(whole))
        return loaded.normalizer.normalize_str(text)
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt):
            raise
        return text


# ----------------------------------------------------------------- texts


MORE_PIECES = ids_oracle.SPECIAL_PIECES + [
    "\u2581", "a.", "b.", "a ", "\u00e9 b", "\n a", ". a", "ab ab", "abab", "abc", "aaa", "aba", "ab.", "##", "@a", "$", "caf\u00e9",
    "\u0130", "\u0130I", "\u1e9e\u00df", "\u03a3\u03c3\u03c2", "\ufb01x",
    "\u0301a", "a\u0301\u0327", "\u2163", "\u4e00\u4e8c", "\uac00\u11a8",
    "\u1100\u1161\u0301", "\u0915\u094d\u0915\u0301", "\u0600a", "\u0600\u0301",
    "\u00a9\u200d", "\u00a9\u200d\u2764\u0301", "\u00a9\u0301", "\r\n\u0301",
    "\u00ae\ufe0f", "\U00016d63\u11a8\u0301", "\u200b", "\u200e", "\x08",
    "\x0b", "\x0c", "\u0085", "\x8f", "\x9f", "\u180e", "\u2e5d", "\u061b",
    "<unk>", "[UNK]", "<0x41>", "<s>", "</s>", "<|a|>", "don't", "\u0378",
    "\u1c89", "\u1c8a", "\ua7dc", "\u019b", "\ua7cb", "\u0264",
    "\ua7db", "\U00010d51", "\U00010d71", "\U00016ea0", "\U0001f1e9",
    "\u0e33", "\u0967",
]


def some_texts(rng, count):
    for _ in range(count):
        few = rng.sample(MORE_PIECES, rng.choice((2, 4, 10, 40)))
        yield "".join(rng.choices(few, k=rng.choice((1, 2, 3, 5, 9, 20, 40))))


def thorough_texts(rng, effort):
    yield ""
    yield from corpus_lines()
    if effort.brief:
        yield from some_texts(rng, 60)
        return
    yield from ids_oracle.cut(rng, CORPUS.read_text(encoding="utf-8"))
    yield from some_texts(rng, 300 if effort.quick else 5000)
    yield from ids_oracle.code_points(rng, effort, None)


class Comparison(ids_oracle.Comparison):
    """Leaves out texts on which the reference itself breaks down."""

    def check(self, texts):
        try:
            expected = self.original.encode_all(texts)
        except BaseException as problem:  # a panic is no Exception
            if isinstance(problem, KeyboardInterrupt):
                raise
            texts = [text for text in texts if self.has_answer(text)]
            expected = self.original.encode_all(texts)
        return self.compare(texts, expected) if texts else 0

    def has_answer(self, text):
        try:
            self.original.encode(text)
            return True
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt):
                raise
            return False


def is_accepted(content):
    """Does the reference load it?"""
    from tokenizers import Tokenizer
    try:
        Tokenizer.from_str(content)
        return True
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt):
            raise
        return False


def check_case(name, case, texts, folder, options):
    """Ids that were equal, or None."""
    content = json.dumps(case)
    path = folder / "case" / "tokenizer.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    if not is_accepted(content):
        return 0
    options.tokenizers = folder
    comparison = Comparison("case", options)
    ids = 0
    before = ids_oracle.COMPARED.get("case", (0, 0, 0))
    try:
        for batch in ids_oracle.batches(texts):
            ids += comparison.check(batch)
        if ids:  # now from its compiled form
            ids += comparison.check(batch[:50])
    except ids_oracle.Difference as difference:
        ids_oracle.report(name, difference, comparison)
        shown = json.dumps({**case, "model": case["model"].get("type")})
        print(f"  {shown[:1500]}", flush=True)
        return None
    if options.table:
        texts, size, _ = map(int.__sub__, ids_oracle.COMPARED.get(
            "case", before), before)
        print(f"{name!r:60.60} {texts:8,} texts {size:12,} bytes {ids:12,} ids",
              flush=True)
    return ids


def check_fixed(folder, options, effort):
    results = {}
    for name, case in fixed_cases():
        if is_wanted(name, options):
            rng = random.Random(f"{options.seed} {name}")
            results[name] = check_case(
                name, case, thorough_texts(rng, effort), folder, options)
    rng = random.Random(f"{options.seed} origins")
    for name, case in cases_of_origins():
        if is_wanted(name, options):
            results[name] = check_case(
                name, case, list(texts_of_neighbours(rng)), folder, options)
    rng = random.Random(f"{options.seed} tokens")
    for name, case in cases_of_tokens(rng, effort):
        if is_wanted(name, options):
            results[name] = check_case(
                name, case, added_cases.texts(rng, effort), folder, options)
            if not results[name]:  # every one of them is a file that loads
                results[name] = None
    return results


def is_wanted(name, options):
    return not options.only or any(part in name for part in options.only)


def check_random(folder, options, seconds):
    rng = random.Random(f"{options.seed} random")
    models = trained_models()
    started, results = time.monotonic(), {}
    while time.monotonic() - started < seconds:
        name = f"random {len(results)}"
        case = random_case(rng, models)
        texts = list(some_texts(rng, TEXTS))
        results[name] = check_case(name, case, texts, folder, options)
    return results


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    parser.add_argument("--only", metavar="PART", action="append",
                        help="only cases with this in their name, or 'random'")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float,
                        help="time for components put together at random")
    parser.add_argument("--quick", action="store_true",
                        help="a part of the texts, for slow builds")
    parser.add_argument("--brief", action="store_true",
                        help="a few texts for each case")
    parser.add_argument("--table", action="store_true",
                        help="say of each case how much was equal")
    options = parser.parse_args()
    seconds = options.seconds or (10 if options.quick else 60)
    effort = ids_oracle.Effort(options.quick, 1)
    effort.brief = options.brief
    effort.first_step = 8 if options.quick else 1
    effort.code_point_step = 997 if options.quick else 3
    with tempfile.TemporaryDirectory() as name:
        results = check_fixed(Path(name), options, effort)
        if not options.only or "random" in options.only:
            results.update(check_random(Path(name), options, seconds))
    bad = [name for name, ids in results.items() if ids is None]
    good = [ids for ids in results.values() if ids is not None]
    refused = sum(ids == 0 for ids in good)
    print(f"components: {len(good)} of {len(results)} equal "
          f"(the reference refuses {refused}), "
          f"{sum(good):,} ids"
          + (f"; different: {', '.join(bad)}" if bad else ""))
    return not bad


if __name__ == "__main__":
    harness.main(job)
