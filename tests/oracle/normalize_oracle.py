#!/usr/bin/env python3
"""Holds tb_normalize equal to the normalizers of Hugging Face `tokenizers`.

    tests/oracle/normalize_oracle.py build/normalize_driver [--strings N]

Needs tokenizers==0.23.3. Compares, in all four forms:
  - every code point alone;
  - every assigned code point behind and before characters that may join it;
  - random strings of marks, jamo, compatibility characters and characters
    younger than Unicode 9.0, the last that those normalizers know.
Prints the differences, and exits with 1 when there are any.
"""

import argparse
import random
import subprocess
import sys
import unicodedata

from tokenizers import normalizers

FORMS = (  # the order of enum tb_normal_form
    normalizers.NFC(),
    normalizers.NFD(),
    normalizers.NFKC(),
    normalizers.NFKD(),
)
SHOWN_MAX = 10

# Marks, composites and compatibility characters of Unicode 10.0 to 16.0.
YOUNG_RANGES = (
    (0x07FD, 0x07FD), (0x0898, 0x089F), (0x08D3, 0x08D3), (0x09FE, 0x09FE),
    (0x0AFA, 0x0AFF), (0x0C3C, 0x0C3C), (0x0D3B, 0x0D3C), (0x0EBA, 0x0EBA),
    (0x1715, 0x1715), (0x1ABF, 0x1ACE), (0x1DF6, 0x1DFA), (0x32FF, 0x32FF),
    (0xA7F2, 0xA7F4), (0xA82C, 0xA82C), (0xAB69, 0xAB69), (0x105C9, 0x105C9),
    (0x105D2, 0x105DA), (0x105E4, 0x105E4), (0x10781, 0x107BA),
    (0x10D24, 0x10D27), (0x10EAB, 0x10EAC), (0x10F46, 0x10F50),
    (0x11070, 0x11070), (0x11382, 0x113C9), (0x11839, 0x1183A),
    (0x11930, 0x11943), (0x119E0, 0x119E0), (0x11A34, 0x11A34),
    (0x1611E, 0x1612F), (0x16D63, 0x16D6A), (0x16FF0, 0x16FF1),
    (0x1E030, 0x1E08F), (0x1E130, 0x1E136), (0x1E2AE, 0x1E2EF),
    (0x1E4EC, 0x1E4EF), (0x1F16C, 0x1F16C), (0x1FBF0, 0x1FBF9),
)
JAMO_RANGES = (
    (0x1100, 0x1113), (0x1160, 0x1176), (0x11A7, 0x11C3), (0xAC00, 0xAC40),
    (0xD788, 0xD7A4),
)


def members(ranges):
    return [chr(cp) for low, high in ranges for cp in range(low, high + 1)]


def scalar_values():
    return [chr(cp) for cp in range(0x110000) if not 0xD800 <= cp <= 0xDFFF]


def joined(items, count):
    """Strings of `count` items each; a line feed joins nothing."""
    return [
        "\n".join(items[at : at + count])
        for at in range(0, len(items), count)
    ]


def with_neighbours(characters):
    """Each character before and behind what it may join or be joined by."""
    for character in characters:
        yield (
            f"{character}\u0301\u0323\n{character}\u0338\n"
            f"{character}\u1161\u11a8\nA{character}\u0301\n"
            f"\uac00{character}\u11a8\na\u0316{character}\u0301\u05b4"
        )


def random_strings(count, everything):
    marks = [c for c in everything if unicodedata.combining(c)]
    decomposable = [c for c in everything if unicodedata.decomposition(c)]
    seconds = sorted({
        chr(int(unicodedata.decomposition(c).split()[-1], 16))
        for c in decomposable
    })
    bases = sorted({
        unicodedata.normalize("NFD", c)[0] for c in decomposable
    })
    pools = [
        marks, [c for c in decomposable if not "\uac00" <= c <= "\ud7a3"],
        seconds, bases, members(YOUNG_RANGES), members(JAMO_RANGES),
        [chr(cp) for cp in range(0x20, 0x250)], everything,
        list("aeouAEOU\u0300\u0301\u0302\u0308\u0316\u0323\u0327\u0345\u05b4"),
    ]
    for _ in range(count):
        some = random.sample(pools, random.randint(1, 3))
        length = random.choice((2, 3, 4, 6, 9, 14, 40))
        yield "".join(
            random.choice(random.choice(some)) for _ in range(length)
        )


def questions(string_count):
    everything = scalar_values()
    yield from joined(everything, 512)
    assigned = [c for c in everything if unicodedata.category(c) not in
                ("Cn", "Co")]
    # of the ideographs and syllables that are all alike, one in 13
    some = [
        c for i, c in enumerate(assigned)
        if unicodedata.category(c) != "Lo" or ord(c) < 0x3400 or i % 13 == 0
        or 0xF900 <= ord(c) < 0xFB00
    ] + members(YOUNG_RANGES)
    yield from joined(list(with_neighbours(some)), 64)
    yield from random_strings(string_count, assigned)


def ask(driver, texts):
    """Returns the driver's answers, all forms of a text one after the other."""
    lines = []
    for text in texts:
        digits = text.encode().hex()
        lines.extend(f"{form}{digits}\n" for form in range(len(FORMS)))
    run = subprocess.run(
        [driver], input="".join(lines).encode(), stdout=subprocess.PIPE,
        check=True,
    )
    return run.stdout.decode().splitlines()


def show(form, text, expected, answer):
    def codes(string):
        return " ".join(f"{ord(c):04X}" for c in string)

    # lines are independent: show the first that differs
    for part, want, got in zip(
        text.split("\n"), expected.split("\n"), answer.split("\n")
    ):
        if want != got:
            print(f"form {form}: {codes(part)}: expected {codes(want)}, "
                  f"found {codes(got)}")
            return
    print(f"form {form}: a text of {len(text)} characters differs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("driver")
    parser.add_argument("--strings", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    random.seed(arguments.seed)

    texts = list(questions(arguments.strings))
    answers = iter(ask(arguments.driver, texts))
    compared = differences = 0
    for text in texts:
        for form, normalizer in enumerate(FORMS):
            expected = normalizer.normalize_str(text)
            answer = bytes.fromhex(next(answers)).decode()
            compared += 1
            if answer == expected:
                continue
            differences += 1
            if differences <= SHOWN_MAX:
                show(form, text, expected, answer)
    print(f"{compared} texts compared, {differences} differences")
    sys.exit(differences != 0)


if __name__ == "__main__":
    main()
