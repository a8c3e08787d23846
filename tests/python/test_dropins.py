"""The drop-ins print what the Python converters print, line by line.

expected/ has what those printed for these traces, with Hugging Face's
tokenizer of o200k_base for `builtin`. That rows of --compat are theirs is held
by golden.reference.
"""
import gzip
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tracebake

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"
ERRORS = "1.9.0_error_7req.json.gz"
PROGRAM = Path(tracebake.__file__).parent / "bin" / "tracebake"


def read(name):
    return gzip.decompress((DATA / name).read_bytes())


class DropInTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_dropin(self, module, *words):
        return subprocess.run(
            [sys.executable, "-m", module, *words], cwd=self.folder,
            capture_output=True, text=True)

    def check(self, name, module, data, *words):
        file = "trace.jsonl" if "telemetry" in module else "trace.json"
        (self.folder / file).write_bytes(data)
        process = self.run_dropin(module, "--input-file", file, "--tokenizer",
                                  "builtin", *words)
        expected = (HERE / "expected" / f"{name}.txt").read_text()
        self.assertEqual(process.stdout, expected)
        self.assertEqual(process.returncode, 0)
        made = {path.name for path in self.folder.iterdir()}
        self.assertEqual(made, {file, "trace_mooncake.jsonl"})
        return (self.folder / "trace_mooncake.jsonl").read_bytes()

    def compat(self, *words):
        return subprocess.run(
            [PROGRAM, *words, "--compat", "--tokenizer", "builtin", "--quiet",
             "--output-file", "-"], cwd=self.folder, check=True,
            capture_output=True).stdout

    def test_traces(self):
        rows = self.check("react", "tracebake.convert",
                          read("1.2.1_react_2req.json.gz"))
        self.assertEqual(rows, self.compat(
            "nat", "trace.json", "--block-size", "64", "--delay", "500"))

    def test_options(self):
        rows = self.check("error", "tracebake.convert", read(ERRORS),
                          "--block-size", "16", "--delay", "0")
        self.assertEqual(rows, self.compat(
            "nat", "trace.json", "--block-size", "16", "--delay", "0"))
        self.check("part", "tracebake.convert", read(ERRORS),
                   "--skip-requests", "2", "--num-requests", "3")

    def test_nothing_to_convert(self):
        rows = self.check("no_pairs", "tracebake.convert",
                          read("1.9.0fw_crewai_6req.json.gz"))
        self.assertEqual(rows, b"")

    def test_damaged_traces(self):
        self.check("cut", "tracebake.convert", read(ERRORS)[:3000000])
        broken = read(ERRORS).replace(b'"request_number": 3,',
                                      b'"request_number": 3 3,')
        self.check("broken", "tracebake.convert", broken)

    def test_telemetry(self):
        rows = self.check("telemetry", "tracebake.convert_telemetry",
                          read("tel8.jsonl.gz"))
        self.assertEqual(rows, self.compat("telemetry", "trace.jsonl"))

    def test_telemetry_without_calls(self):
        self.check("no_events", "tracebake.convert_telemetry",
                   b'{"event_type": "tool_call"}\n')

    def test_failures_leave_what_was_there(self):
        output = self.folder / "rows.jsonl"
        output.write_text("old")
        process = self.run_dropin(
            "tracebake.convert", "--input-file", "none.json", "--tokenizer",
            "builtin", "--output-file", "rows.jsonl")
        self.assertEqual(process.returncode, 1)
        self.assertIn("none.json", process.stderr)
        self.assertEqual(output.read_text(), "old")
        self.assertEqual([path.name for path in self.folder.iterdir()],
                         ["rows.jsonl"])
        process = self.run_dropin("tracebake.convert")
        self.assertEqual(process.returncode, 2)

    def test_the_name_stays_the_function_s(self):
        code = ("import tracebake.convert\n"
                "from tracebake import convert\n"
                "assert tracebake.convert is convert\n"
                "assert callable(convert)\n")
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
