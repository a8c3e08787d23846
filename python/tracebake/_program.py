"""The program, which lies in this package."""

from __future__ import annotations

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin",
                       "tracebake")


def main() -> None:
    """Takes the place of this process."""
    os.execv(PROGRAM, ["tracebake", *sys.argv[1:]])
