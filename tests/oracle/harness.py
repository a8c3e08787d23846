"""What every oracle script shares: how to start tracebake, and the originals.

The originals are Hugging Face `tokenizers` for a folder with a tokenizer.json
and tiktoken's o200k_base for the name `builtin`.
"""
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

DATA = Path(__file__).resolve().parent.parent / "data"
GOLDEN = Path(__file__).resolve().parent.parent / "golden_reference"

BUILTIN = "builtin"
O200K_URL = (
    "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
)
O200K_SHA256 = (
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
)
O200K_RANKS = 199998
RUN_TIMEOUT = 600  # seconds, far beyond what any call here may take


class Failure(Exception):
    """The program under test did something that ends the comparison."""


def add_arguments(parser):
    parser.add_argument("--tracebake", required=True, type=Path,
                        help="the program under test")
    parser.add_argument("--tokenizers", required=True, type=Path,
                        help="folder of <name>/tokenizer.json")


def tokenizer_names(tokenizers):
    """All names that can be compared, the embedded one last."""
    found = sorted(p.parent.name for p in tokenizers.glob("*/tokenizer.json"))
    if not found:
        raise Failure(f"no <name>/tokenizer.json in {tokenizers}")
    return found + [BUILTIN]


def tokenizer_argument(name, tokenizers):
    """What --tokenizer is given for this name."""
    return BUILTIN if name == BUILTIN else str(tokenizers / name)


def run(tracebake, arguments, stdin=b"", check=True):
    """Run tracebake; returns the finished process, its output as bytes."""
    command = [str(tracebake), *map(str, arguments)]
    process = subprocess.run(command, input=stdin, capture_output=True,
                             timeout=RUN_TIMEOUT)
    if check and process.returncode != 0:
        raise Failure(describe(process))
    return process


def describe(process):
    shown = " ".join(map(str, process.args))
    tail = process.stderr.decode("utf-8", "replace")[-4000:]
    return f"exit status {process.returncode} of: {shown}\n{tail}"


def main(job):
    """Run a script's job; its answer is True when all was equal."""
    try:
        good = job()
    except (Failure, OSError, subprocess.TimeoutExpired) as problem:
        print(f"FAILED: {problem}")
        good = False
    sys.exit(0 if good else 1)


def print_first_difference(expected, got):
    """The first line in which two outputs differ."""
    wanted, found = expected.split(b"\n"), got.split(b"\n")
    for number in range(max(len(wanted), len(found))):
        want = wanted[number] if number < len(wanted) else None
        have = found[number] if number < len(found) else None
        if want != have:
            print(f"  line {number + 1}")
            print(f"    expected {abridged_line(want)}")
            print(f"    got      {abridged_line(have)}")
            return


def abridged_line(line):
    if line is None:
        return "(no such line)"
    text = line.decode("utf-8", "replace")
    return text if len(text) <= 400 else f"{text[:250]} ... {text[-140:]}"


# ------------------------------------------------------- the originals


class FileTokenizer:
    """Hugging Face `tokenizers` on a tokenizer.json."""

    def __init__(self, path):
        from tokenizers import Tokenizer
        self.model = Tokenizer.from_file(str(path))
        # A whole text's ids and nothing else, as transformers asks for them,
        # whatever the file was saved with.
        self.model.no_truncation()
        self.model.no_padding()
        self.size = self.model.get_vocab_size(with_added_tokens=True)

    def encode(self, text):
        return self.model.encode(text, add_special_tokens=False).ids

    def encode_all(self, texts):
        found = self.model.encode_batch(texts, add_special_tokens=False)
        return [one.ids for one in found]

    def decode(self, ids):
        return self.model.decode(ids, skip_special_tokens=False)

    def added_tokens(self):
        added = self.model.get_added_tokens_decoder()
        return [token.content for token in added.values()]


class BuiltinTokenizer:
    """tiktoken's o200k_base, special tokens allowed in the text."""

    def __init__(self, tokenizers):
        provide_tiktoken_ranks(tokenizers)
        import tiktoken
        self.model = tiktoken.get_encoding("o200k_base")
        self.size = O200K_RANKS

    def encode(self, text):
        return self.model.encode(text, allowed_special="all")

    def encode_all(self, texts):
        return [self.encode(text) for text in texts]

    def decode(self, ids):
        return self.model.decode(ids)

    def added_tokens(self):
        return sorted(self.model.special_tokens_set)


def original(name, tokenizers):
    if name == BUILTIN:
        return BuiltinTokenizer(tokenizers)
    return FileTokenizer(tokenizers / name / "tokenizer.json")


def provide_tiktoken_ranks(tokenizers):
    """Let tiktoken find o200k_base without a network.

    The ranks are those of gpt4o's tokenizer.json, whose vocabulary spells
    bytes as printable characters. tiktoken looks in TIKTOKEN_CACHE_DIR for
    a file named by the SHA-1 of the address it would load.
    """
    folder = tokenizers / "tiktoken"
    name = hashlib.sha1(O200K_URL.encode()).hexdigest()
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    target = folder / name
    if target.exists() and sha256(target.read_bytes()) == O200K_SHA256:
        return
    ranks = o200k_ranks(tokenizers / "gpt4o" / "tokenizer.json")
    if sha256(ranks) != O200K_SHA256:
        raise Failure("gpt4o/tokenizer.json does not hold o200k_base")
    folder.mkdir(exist_ok=True)
    write_atomically(target, ranks)


def o200k_ranks(tokenizer_json):
    import json
    with open(tokenizer_json, encoding="utf-8") as file:
        vocabulary = json.load(file)["model"]["vocab"]
    byte_of = {shown: byte for byte, shown in enumerate(byte_characters())}
    lines = []
    for token, rank in sorted(vocabulary.items(), key=lambda item: item[1]):
        if rank < O200K_RANKS:
            raw = bytes(byte_of[character] for character in token)
            lines.append(base64.b64encode(raw) + b" %d\n" % rank)
    return b"".join(lines)


def byte_characters():
    """The character that byte-level vocabularies show for each byte."""
    printable = (set(range(0x21, 0x7F)) | set(range(0xA1, 0x100))) - {0xAD}
    shown, spare = [], 0x100
    for byte in range(256):
        if byte in printable:
            shown.append(chr(byte))
        else:
            shown.append(chr(spare))
            spare += 1
    return shown


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def write_atomically(target, data):
    handle, name = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    os.replace(name, target)
