"""The command `horsesense` of the installed package: `horsesense ask` has the arguments of `static/ask.py`."""

import sys
from collections.abc import Sequence

from generation.asking.command import accept_all_characters, main

USAGE = """usage: horsesense ask SITE DATASET/SPLIT --base-url URL --model NAME [options]

horsesense ask --help lists all options.
"""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand and return its exit status."""
    accept_all_characters()
    subcommand, *others = [*(sys.argv[1:] if arguments is None else arguments)] or [""]
    if subcommand == "ask":
        return main(others, program="horsesense ask")
    if subcommand in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    got = repr(subcommand) if subcommand else "none"
    sys.stderr.write(f"Expected the subcommand ask, got {got}.\n{USAGE}")
    return 2
