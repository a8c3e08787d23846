"""Holds tb_python_repr equal to CPython: repr(json.loads(line)).

Usage: repr_oracle.py PATH_OF_repr_driver [COUNT] [SEED]

Must run on CPython 3.11, whose Unicode data the C code has.
"""

import json
import random
import struct
import subprocess
import sys


def random_string(rng):
    kinds = [
        lambda: chr(rng.randrange(0x20, 0x7F)),
        lambda: chr(rng.randrange(0x00, 0x100)),
        lambda: chr(rng.choice([rng.randrange(0xD800), rng.randrange(0xE000, 0x10000)])),
        lambda: chr(rng.randrange(0x10000, 0x110000)),
        lambda: chr(rng.randrange(0xD800, 0xE000)),
        lambda: rng.choice("'\"\\\n\t\r/ "),
    ]
    weights = [20, 3, 2, 2, rng.choice([0, 0, 1]), 4]
    return "".join(rng.choices(kinds, weights)[0]() for _ in range(rng.randrange(12)))


def random_float(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return struct.unpack("<d", rng.randbytes(8))[0]
    if kind == 1:
        return 2.0 ** rng.randrange(-1074, 1024)
    if kind == 2:
        return rng.randrange(10**6) / 10 ** rng.randrange(12)
    if kind == 3:
        return float(rng.randrange(10 ** rng.randrange(1, 20)))
    if kind == 4:
        return 10.0 ** rng.randrange(-320, 309) * rng.choice([1, -1, 5])
    return rng.choice([0.0, -0.0, 5e-324, float("nan"), float("inf"), -float("inf")])


def number_text(rng):
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(["-0", "0", "-0.0", "1E5", "1e-4", "0.00001", "1e16", "1e15",
                           "1.0e+2", "12e999", "-1e-999", "9007199254740993.0"])
    if kind == 1:
        return str(rng.randrange(-(10 ** rng.randrange(1, 60)), 10 ** rng.randrange(1, 60)))
    return json.dumps(random_float(rng))


def random_json(rng, depth=0):
    """JSON text: not through json.dumps, so that keys can come twice."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice(["true", "false", "null"])
    if kind <= 2:
        return number_text(rng)
    if kind <= 5:
        return json.dumps(random_string(rng), ensure_ascii=True)
    space = rng.choice(["", " "])
    if kind == 6:
        items = [random_json(rng, depth + 1) for _ in range(rng.randrange(4))]
        return "[" + ("," + space).join(items) + "]"
    keys = [random_string(rng) for _ in range(rng.randrange(1, 4))]
    pairs = []
    for _ in range(rng.randrange(6)):
        key = json.dumps(rng.choice(keys))
        if key == '"a"':
            key = r'"\u0061"'
        pairs.append(key + ":" + space + random_json(rng, depth + 1))
    return "{" + ("," + space).join(pairs) + "}"


def escaped(characters):
    """An array of them, each as \\uXXXX, also where it need not be."""
    units = (one.encode("utf-16-be").hex(" ", 2) for one in characters)
    return '["' + '", "'.join(
        "\\u" + one.replace(" ", "\\u") for one in units) + '"]'


def lines(count, seed):
    rng = random.Random(seed)
    alone = [chr(cp) for cp in range(0x110000) if not 0xD800 <= cp < 0xE000]
    doubled = [2 * one for one in alone[0x80::7]]
    # Many to a line: to start on one costs more than a character in it.
    for at in range(0, len(alone), 64):
        yield escaped(alone[at:at + 64])
    for at in range(0, len(doubled), 64):
        yield json.dumps(doubled[at:at + 64], ensure_ascii=False)
    for exponent in range(-1074, 1024):
        yield json.dumps(2.0**exponent)
    for _ in range(count):
        yield random_json(rng)
    for _ in range(count):
        yield number_text(rng)


def main():
    driver = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    inputs = list(lines(count, seed))
    data = "\n".join(inputs).encode("utf-8") + b"\n"
    out = subprocess.run([driver], input=data, stdout=subprocess.PIPE, check=True)
    got = out.stdout.decode("ascii").splitlines()
    assert len(got) == len(inputs), (len(got), len(inputs))
    wrong = 0
    for line, answer in zip(inputs, got):
        # A lone surrogate shows as an escape, so the repr itself has none.
        expected = repr(json.loads(line))
        if json.loads(answer) != expected:
            wrong += 1
            if wrong <= 10:
                print(f"{line}\n  expected {expected!r}\n  got      {answer}")
    print(f"{len(inputs)} values, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
