"""Tokenizer: ids, arrays, texts back, errors, threads."""
import json
import threading
import time
import unittest

import tracebake

SMALL = {
    "added_tokens": [{"id": 3, "content": "<s>", "special": True}],
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2},
              "merges": ["a b"]},
}
TEXTS = ["There and back again", "", "zażółć 🦄", "x" * 5000]


def small():
    return tracebake.Tokenizer.from_(json.dumps(SMALL).encode())


class TokenizerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.builtin = tracebake.Tokenizer.from_("builtin")

    def test_known_ids(self):
        self.assertEqual(self.builtin.encode("unbelievable"),
                         [373, 9880, 45794])
        self.assertEqual(small().encode("aab<s>b"), [0, 2, 3, 1])
        self.assertEqual(small().count("aab"), 2)

    def test_there_and_back(self):
        for text in TEXTS:
            ids = self.builtin.encode(text)
            self.assertEqual(self.builtin.count(text), len(ids))
            self.assertEqual(self.builtin.decode(ids), text)

    def test_pieces_of_a_character(self):
        ids = self.builtin.encode("🦄䚄")
        self.assertGreater(len(ids), 2)
        pieces = [self.builtin.decode_bytes([one]) for one in ids]
        self.assertEqual(b"".join(pieces).decode(), "🦄䚄")

    def test_special_tokens_are_left_out(self):
        self.assertEqual(small().decode([0, 3, 1]), "a <s> b")
        self.assertEqual(small().decode([0, 3, 1], skip_special_tokens=True),
                         "a b")

    def test_what_it_is(self):
        self.assertEqual(self.builtin.vocab_size, 200019)
        self.assertRegex(self.builtin.fingerprint, "^[0-9a-f]{32}$")
        self.assertNotEqual(self.builtin.fingerprint, small().fingerprint)
        self.assertEqual(self.builtin.origin, "built in")
        self.assertEqual(small().origin, "")

    def test_batch(self):
        ids, offsets = self.builtin.encode_batch(TEXTS)
        self.assertEqual(len(offsets), len(TEXTS) + 1)
        self.assertEqual(len(ids), offsets[-1])
        for i, text in enumerate(TEXTS):
            self.assertEqual(list(ids[offsets[i]:offsets[i + 1]]),
                             self.builtin.encode(text))
        ids, offsets = self.builtin.encode_batch([])
        self.assertEqual((len(ids), list(offsets)), (0, [0]))

    def test_batch_with_more_ids_than_bytes(self):
        """A normalizer that makes eight letters of one."""
        spread = dict(SMALL, normalizer={
            "type": "Replace", "pattern": {"String": "a"},
            "content": "abababab"})
        tokenizer = tracebake.Tokenizer.from_(json.dumps(spread).encode())
        texts = ["a" * n for n in (100, 3, 0, 200)]
        ids, offsets = tokenizer.encode_batch(texts)
        self.assertEqual([offsets[i + 1] - offsets[i] for i in range(4)],
                         [400, 12, 0, 800])
        self.assertEqual(set(ids), {2})

    def test_errors_say_where(self):
        with self.assertRaises(tracebake.Error) as caught:
            tracebake.Tokenizer.from_(b'{\n "model": {"type": "Odd"}}')
        error = caught.exception
        self.assertEqual((error.status, error.line), ("unsupported", 2))
        self.assertEqual(error.json_path, "$.model.type")
        self.assertIn("'Odd'", error.message)
        with self.assertRaises(tracebake.NotFoundError) as caught:
            tracebake.Tokenizer.from_("no/such-model")
        self.assertIn("no/such-model", str(caught.exception))
        with self.assertRaises(UnicodeEncodeError):
            self.builtin.encode("\ud800")
        with self.assertRaises(ValueError):
            tracebake.Tokenizer.from_("a\0b")

    def test_threads_run_while_c_works(self):
        """Another thread goes on counting during one call: it could not if
        the call kept the GIL."""
        text = "".join(chr(0x4E00 + i % 20000) for i in range(2000000))
        counted = []
        done = threading.Event()

        def count():
            while not done.is_set():
                counted.append(time.monotonic())
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        begin = time.monotonic()
        self.builtin.count(text)
        end = time.monotonic()
        done.set()
        thread.join()
        within = [at for at in counted if begin < at < end]
        self.assertGreater(len(within), 2)

    def test_many_threads_share_one(self):
        expected = [self.builtin.encode(text) for text in TEXTS]
        found = []

        def work():
            found.append([self.builtin.encode(text) for text in TEXTS])

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 8)


if __name__ == "__main__":
    unittest.main()
