"""convert: rows, files, tables, options, errors, interruption."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import tracebake

ROOT = Path(__file__).resolve().parent.parent.parent
TRACE = ROOT / "examples" / "toolcall_trace.json"
TELEMETRY = ROOT / "tests" / "data" / "tel8.jsonl.gz"
PROGRAM = Path(tracebake.__file__).parent / "bin" / "tracebake"


def convert(*paths, **options):
    return tracebake.convert(paths, tokenizer="builtin", **options)


class ConversionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def by_program(self, command, *words):
        output = self.folder / "program.jsonl"
        subprocess.run(
            [PROGRAM, command, "--tokenizer", "builtin", "--quiet",
             "--output-file", output, *words], check=True)
        return output.read_bytes()

    def test_rows_are_the_program_s(self):
        for command, path in (("nat", TRACE), ("telemetry", TELEMETRY)):
            expected = self.by_program(command, path, "--for", "aiperf")
            found = convert(path, for_="aiperf")
            self.assertEqual(found.kind, command)
            self.assertEqual(b"".join(found.lines()), expected)
            self.assertEqual(
                list(found), [json.loads(row) for row in expected.splitlines()])

    def test_each_iteration_is_a_run(self):
        rows = convert(TRACE)
        self.assertEqual(list(rows), list(rows))

    def test_one_path(self):
        rows = tracebake.convert(str(TRACE), tokenizer="builtin")
        self.assertEqual(len(list(rows)), 3)

    def test_options(self):
        rows = list(convert(TRACE, block_size=16, delay=7, num_requests=1))
        self.assertEqual([row.get("delay") for row in rows], [None, 7, 7])
        self.assertEqual(len(rows[0]["hash_ids"]), -(-342 // 16))
        self.assertEqual(list(convert(TRACE, compat=False, delay=None)),
                         list(convert(TRACE)))

    def test_summary(self):
        rows = convert(TRACE)
        self.assertEqual(rows.summary["rows"], 3)
        first = next(iter(rows))
        self.assertEqual(first["input_length"], 342)
        list(rows)
        self.assertEqual(rows.summary["block_size"], 128)

    def test_files(self):
        path = self.folder / "rows.jsonl"
        rows = convert(TRACE, output_file=path)
        self.assertEqual(path.read_bytes(), self.by_program("nat", TRACE))
        meta = json.loads(Path(f"{path}.meta.json").read_text())
        self.assertEqual(meta["block_size"], rows.summary["block_size"])
        convert(TRACE).write(f"{path}.gz")
        self.assertEqual(Path(f"{path}.gz").read_bytes()[:2], b"\x1f\x8b")

    def test_table(self):
        try:
            import pyarrow
        except ImportError:
            with self.assertRaises(ImportError):
                convert(TRACE).table()
            return
        rows = convert(TRACE)
        table = rows.table()
        self.assertEqual(table.to_pylist(), list(rows))
        self.assertEqual(table.schema.field("hash_ids").type,
                         pyarrow.list_(pyarrow.uint64()))

    def test_nothing_to_read(self):
        with self.assertRaises(ValueError):
            tracebake.convert([])
        with self.assertRaises(tracebake.NotFoundError) as caught:
            list(convert(self.folder / "none.json"))
        self.assertEqual(caught.exception.file,
                         str(self.folder / "none.json"))

    def test_wrong_option(self):
        with self.assertRaises(tracebake.UsageError) as caught:
            list(convert(TRACE, block_sise=7))
        self.assertIn("--block-size", str(caught.exception))
        self.assertIsInstance(caught.exception, ValueError)

    def test_strict_says_why(self):
        path = self.folder / "cut.json"
        path.write_bytes(TRACE.read_bytes()[:-40])
        output = self.folder / "rows.jsonl"
        with self.assertRaises(tracebake.Error) as caught:
            convert(path, strict=True, output_file=output)
        self.assertFalse(output.exists())
        self.assertEqual(caught.exception.summary["losses"]["cut_sessions"], 1)

    def test_who_stops_reading_stops_the_conversion(self):
        before = threading.active_count()
        for _ in convert(TELEMETRY):
            break
        rows = convert(TELEMETRY).lines()
        next(rows)
        rows.close()
        self.assertEqual(threading.active_count(), before)

    def test_progress_may_end_it(self):
        class Enough(Exception):
            pass

        def refuse(progress):
            self.assertEqual(progress["path"], str(TELEMETRY))
            raise Enough

        output = self.folder / "rows.jsonl"
        with self.assertRaises(Enough):
            convert(TELEMETRY, on_progress=refuse, output_file=output)
        self.assertFalse(output.exists())
        with self.assertRaises(Enough):
            list(convert(TELEMETRY, on_progress=refuse))

    def interrupt(self, code, *paths):
        """What a conversion prints that gets Ctrl-C until it ends."""
        process = subprocess.Popen(
            [sys.executable, "-c",
             "import sys, tracebake\n"
             "try:\n"
             "    print('begins', flush=True)\n"
             f"    tracebake.convert({code}, tokenizer='builtin')\n"
             "except KeyboardInterrupt:\n"
             "    print('interrupted')\n", *paths],
            stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "begins\n")
        time.sleep(0.5)  # until C waits: before, Python stops by itself
        for _ in range(100):
            if process.poll() is not None:
                break
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
        process.kill()
        said = process.stdout.read()
        process.stdout.close()
        process.wait()
        return said

    def test_interrupt(self):
        """Ctrl-C while C waits for a pipe: for more, for a first byte, for
        whoever writes or reads it."""
        pipe, rows = self.folder / "pipe", self.folder / "rows.jsonl"
        os.mkfifo(pipe)
        code = "sys.argv[1], output_file=sys.argv[2]"
        for sent in (b"[" + b" " * 1000, b""):
            writer = os.open(pipe, os.O_RDWR)
            os.write(writer, sent)
            self.assertEqual(self.interrupt(code, pipe, rows),
                             "interrupted\n")
            os.close(writer)
        self.assertEqual(self.interrupt(code, pipe, rows), "interrupted\n")
        self.assertEqual(self.interrupt(code, TELEMETRY, pipe),
                         "interrupted\n")
        self.assertFalse(rows.exists())


class ProgramTest(unittest.TestCase):
    def test_module_is_the_program(self):
        said = subprocess.run([sys.executable, "-m", "tracebake", "--version"],
                              capture_output=True, text=True, check=True)
        self.assertEqual(said.stdout, f"tracebake {tracebake.__version__}\n")

    def test_import_is_lazy(self):
        code = ("import sys, tracebake\n"
                "assert 'ctypes' not in sys.modules\n")
        subprocess.run([sys.executable, "-c", code], check=True)


if __name__ == "__main__":
    unittest.main()
