"""The program, which lies in this package, in place of this process."""

from __future__ import annotations

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin",
                           "tracebake")
    os.execv(program, ["tracebake", *sys.argv[1:]])
