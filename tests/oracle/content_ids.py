"""Ids of --ids content, made independently."""
import hmac
import struct

import xxhash


class ContentIds:
    """Ids that are the same in every run: a chain of XXH3 hashes of 128 bits
    behind a root that the tokenizer and the block size make, of which 63 bits
    are written; with a secret those of their HMAC."""

    def __init__(self, block_size, fingerprint, secret=None):
        self.block_size = block_size
        self.secret = secret
        self.root = self.hash(
            f"tracebake content ids 1 {fingerprint} {block_size}".encode(), 0)

    @staticmethod
    def hash(data, seed):
        number = xxhash.xxh3_128_intdigest(data, seed)
        return number.to_bytes(16, "little")

    def ids(self, tokens):
        parent, result = self.root, []
        for at in range(0, len(tokens), self.block_size):
            block = tokens[at:at + self.block_size]
            own = self.hash(struct.pack(f"<{len(block)}I", *block), len(block))
            parent = self.hash(parent + own, 0)
            result.append(self.id(parent))
        return result

    def id(self, block):
        if self.secret is not None:
            block = hmac.digest(self.secret, block, "sha256")
        return int.from_bytes(block[:8], "little") >> 1
