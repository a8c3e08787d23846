#!/usr/bin/env python3
"""Print what stands out in the C sources; fail on what is banned.

Banned: functions that cannot be used safely, memory from anywhere but
src/base, printing outside src/cli, includes that climb out of their layer.
Told only: long functions, long files, wide lines. Generated tables are
exempt from those (their first lines say "generated").
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("include", "src", "tests", "fuzz", "bench", "tools")
MAX_COLUMNS = 80
MAX_FUNCTION = 80
MAX_FILE = 1000

UNSAFE = "strcpy strcat sprintf vsprintf atoi strtok gets"
MEMORY = "malloc calloc realloc reallocarray aligned_alloc free strdup"
PRINTING = "printf fprintf vprintf vfprintf puts fputs putchar perror"


def call_of(names):
    """Matches a call of one of the functions, not of members so named."""
    return re.compile(r"(?<![\w.>])(%s)\s*\(" % "|".join(names.split()))


# what, pattern, folder it is banned in, folder where it is at home
BANNED = (
    ("unsafe function", call_of(UNSAFE), "", None),
    ("memory outside src/base", call_of(MEMORY), "src/", "src/base/"),
    ("printing outside src/cli", call_of(PRINTING), "src/", "src/cli/"),
    ("include that climbs", re.compile(r'#\s*include\s+("\.\./)'), "", None),
)

COMMENT_OR_LITERAL = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_comments(text):
    """Comments and the insides of literals as blanks, lines kept."""
    def blank(match):
        found = match.group()
        kept = found if found.startswith('"../') else ""
        return kept or re.sub(r"[^\n]", " ", found)
    return COMMENT_OR_LITERAL.sub(blank, text)


def banned_in(name, text):
    """(line, message) of everything that is banned."""
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        for what, pattern, folder, home in BANNED:
            match = pattern.search(line)
            if not match or not name.startswith(folder):
                continue
            if home is None or not name.startswith(home):
                yield number, f"{what}: {match.group(1)}"


def is_generated(text):
    return "generated" in text[:600].lower()


def notable_in(text):
    """(line, message) of what a reader stumbles over."""
    if is_generated(text):
        return
    lines = text.split("\n")
    if len(lines) - 1 > MAX_FILE:
        yield 1, f"file of {len(lines) - 1} lines"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield number, f"line of {len(line)} columns"
    yield from long_functions(lines)


def long_functions(lines):
    """A function's braces stand alone at the left edge."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            length = number - start - 1
            if length > MAX_FUNCTION:
                yield start, f"function of {length} lines"
            start = None


def self_test():
    """The rules on examples of their own; a rule that sleeps is worse."""
    bad = {
        "src/json/a.c": "x = strcpy(a, b);",
        "src/json/b.c": "p = malloc(3);",
        "src/base/c.c": 'sprintf(a, "x");',
        "src/json/d.c": "  free (p);",
        "src/json/e.c": 'printf("x");',
        "tests/unit/f.c": '#include "../base/span.h"',
    }
    good = {
        "src/base/a.c": "p = malloc(3); free(p);",
        "src/json/b.c": "tb_model_free(m); pool->free(p); x = snprintf(a);",
        "src/json/c.c": '/* malloc( */ // gets(\ns = "strcpy(";',
        "src/cli/d.c": "printf(\"x\");\n'\"'; f(\"atoi(\");",
        "tests/unit/e.c": "free(p);",
        "src/json/f.c": '#include "span.h"',
    }
    for name, text in bad.items():
        assert list(banned_in(name, text)), f"{name}: {text}"
    for name, text in good.items():
        assert not list(banned_in(name, text)), f"{name}: {text}"
    body = ["int f(void)", "{", *["    x();"] * 81, "}"]
    assert list(long_functions(body)) == [(2, "function of 81 lines")]
    assert not list(long_functions(body[:-2] + ["}"]))
    assert list(notable_in("x" * 81)) == [(1, "line of 81 columns")]
    assert list(notable_in("\n" * 1001)) == [(1, "file of 1001 lines")]
    assert not list(notable_in("/* Generated. */\n" + "x" * 99))


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            yield path.relative_to(ROOT).as_posix(), path


def main():
    self_test()
    banned = notable = files = 0
    for name, path in sources():
        text = path.read_text(encoding="utf-8")
        files += 1
        for number, message in banned_in(name, text):
            print(f"{name}:{number}: banned: {message}")
            banned += 1
        for number, message in notable_in(text):
            print(f"{name}:{number}: {message}")
            notable += 1
    print(f"style: {files} files, {banned} banned, {notable} stand out")
    sys.exit(1 if banned or not files else 0)


if __name__ == "__main__":
    main()
