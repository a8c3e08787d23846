"""analyze, validate, verify, render: what the program says, and its errors."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import tracebake

ROOT = Path(__file__).resolve().parent.parent.parent
TRACE = ROOT / "examples" / "toolcall_trace.json"
PROGRAM = Path(tracebake.__file__).parent / "bin" / "tracebake"
TEMPLATE = ("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
            "{% if tools %}{{ tools | length }} tools{% endif %}"
            "{% if bad %}{{ raise_exception('no good') }}{% endif %}")


class InspectionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.rows = self.folder / "rows.jsonl"
        tracebake.convert(TRACE, tokenizer="builtin", output_file=self.rows)

    def by_program(self, *words):
        done = subprocess.run([PROGRAM, *words], capture_output=True)
        return json.loads(done.stdout.splitlines()[0])

    def test_analyze(self):
        found = tracebake.analyze(self.rows, block_sizes="256")
        self.assertEqual(found, self.by_program(
            "analyze", "--json", "--block-sizes", "256", self.rows))

    def test_analyze_fails(self):
        none = self.folder / "none.jsonl"
        with self.assertRaises(tracebake.NotFoundError) as caught:
            tracebake.analyze(none)
        self.assertEqual(caught.exception.file, str(none))
        with self.assertRaises(tracebake.UsageError):
            tracebake.analyze(self.rows, block_sise=3)
        none.write_text("")
        with self.assertRaises(tracebake.Error) as caught:
            tracebake.analyze(none)
        self.assertIn("no rows", caught.exception.message)

    def test_validate(self):
        broken = self.folder / "broken.jsonl"
        broken.write_text("{]\n")
        found = tracebake.validate([self.rows, broken], for_="mooncake")
        self.assertEqual(found[0], self.by_program(
            "validate", "--json", "--for", "mooncake", self.rows))
        self.assertEqual(found[1], self.by_program(
            "validate", "--json", "--for", "mooncake", broken))
        with self.assertRaises(tracebake.NotFoundError):
            tracebake.validate(self.folder / "none.jsonl")

    def test_verify_needs_a_run(self):
        with self.assertRaises(tracebake.Error):
            tracebake.verify(self.folder / "run", calls=self.rows)

    def test_render(self):
        template = self.folder / "template.jinja"
        template.write_text(TEMPLATE)
        messages = [{"role": "user", "content": "Grüß dich\n"}]
        tool = {"type": "function", "function": {"name": "f"}}
        self.assertEqual(
            tracebake.render(messages, chat_template=template),
            "<user>Grüß dich\n")
        self.assertEqual(
            tracebake.render(messages, [tool, tool], chat_template=template),
            "<user>Grüß dich\n2 tools")

    def test_render_refused(self):
        template = self.folder / "template.jinja"
        template.write_text(TEMPLATE)
        with self.assertRaises(tracebake.Error) as caught:
            tracebake.render([{"role": "user", "content": "Hi"}],
                             chat_template=template,
                             chat_template_kwargs={"bad": True})
        self.assertEqual(str(caught.exception), "no good")
        with self.assertRaises(tracebake.UsageError):
            tracebake.render([])


if __name__ == "__main__":
    unittest.main()
