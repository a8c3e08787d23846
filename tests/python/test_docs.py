"""The examples of docs/PYTHON.md."""
import doctest
import os
import shutil
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class DocsTest(unittest.TestCase):
    def test_examples(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        shutil.copy(ROOT / "examples" / "toolcall_trace.json", "trace.json")
        Path("template.jinja").write_text(
            "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
        failed, tried = doctest.testfile(
            str(ROOT / "docs" / "PYTHON.md"), module_relative=False)
        self.assertGreater(tried, 10)
        self.assertEqual(failed, 0)


if __name__ == "__main__":
    unittest.main()
