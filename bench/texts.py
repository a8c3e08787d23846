"""Real text of this machine for benchmarks: English prose, program code, and
text in many languages.

What stands where differs from machine to machine; `Texts.fingerprint` tells
two machines' texts apart, so that results say what they were measured on.
"""
import gettext
import glob
import gzip
import hashlib
import random
import re
import sys
import sysconfig

PIECE_MIN_LEN = 400  # characters; shorter files are left out


def read(path):
    """The file's text, or nothing when it is none."""
    try:
        opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
        with opened as file:
            return file.read(1 << 20).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError):
        return ""


def without_markup(text):
    """A manual page's text without its requests and escapes."""
    lines = (line for line in text.splitlines() if not line.startswith((".", "'")))
    return re.sub(r"\\(f.|&|-)", lambda m: "-" if m[1] == "-" else "", "\n".join(lines))


def files(*patterns):
    for pattern in patterns:
        yield from sorted(glob.glob(pattern, recursive=True))


def english():
    for path in files("/usr/share/doc/**/*.gz", "/usr/share/doc/**/*.txt",
                      "/usr/share/doc/**/*.md", "/usr/share/doc/**/README*",
                      "/usr/share/vim/**/doc/*.txt"):
        yield read(path)
    for path in files("/usr/share/man/man*/*.gz"):
        yield without_markup(read(path))


def code():
    library = sysconfig.get_paths()["stdlib"]
    for path in files(f"{library}/**/*.py", "/usr/lib/python3/**/*.py",
                      "/usr/share/perl/**/*.pm", "/usr/include/**/*.h",
                      "/usr/lib/node_modules/**/*.js"):
        if "/idlelib/" not in path and "encodings" not in path:
            yield read(path)


def multilingual():
    for path in files("/usr/share/locale/*/LC_MESSAGES/*.mo"):
        if "/en" in path:
            continue
        try:
            with open(path, "rb") as file:
                catalog = gettext.GNUTranslations(file)._catalog
        except (OSError, UnicodeError, ValueError, LookupError):
            continue
        yield "\n".join(str(text) for text in catalog.values() if text)


SOURCES = {"english": english, "code": code, "multilingual": multilingual}


class Texts:
    """Pieces of text, each of which is given out once."""

    def __init__(self, seed=1, most=40 << 20):
        self.random = random.Random(seed)
        self.pieces = {}
        digest = hashlib.sha256()
        for kind, source in SOURCES.items():
            found, size = [], 0
            for text in source():
                if len(text) < PIECE_MIN_LEN or "\0" in text:
                    continue
                found.append(text)
                digest.update(text.encode())
                size += len(text)
                if size > most:
                    break
            self.random.shuffle(found)
            self.pieces[kind] = found
        self.fingerprint = digest.hexdigest()[:16]
        self.next = dict.fromkeys(SOURCES, 0)
        self.left = dict.fromkeys(SOURCES, "")

    def take(self, kind, count):
        """The next `count` characters of a kind. When all were given out, they
        come again, each time cut at other places and with other numbers."""
        parts, have = [], 0
        while have < count:
            if not self.left[kind]:
                number = self.next[kind]
                self.next[kind] += 1
                pieces = self.pieces[kind]
                text = pieces[number % len(pieces)]
                around = number // len(pieces)
                if around:
                    text = f"{text[around * 97 % 300:]}\n[{around}]\n"
                self.left[kind] = text
            part = self.left[kind][:count - have]
            self.left[kind] = self.left[kind][len(part):]
            parts.append(part)
            have += len(part)
        return "".join(parts)

    def mixed(self, count):
        """As agents see it: mostly prose and code, now and then another
        language."""
        kind = self.random.choices(list(SOURCES), (51, 48, 1))[0]
        return self.take(kind, count)


def sample(kind, size):
    """`size` bytes, or a little more, of one kind, without repetition."""
    texts = Texts(seed=2, most=2 * size)
    parts, have = [], 0
    for text in texts.pieces[kind]:
        parts.append(text)
        have += len(text.encode())
        if have >= size:
            break
    return "\n".join(parts).encode()[:size + 4].decode("utf-8", "ignore")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(Texts().fingerprint)
    else:
        kind, size, path = sys.argv[1:]
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(sample(kind, int(size)))
