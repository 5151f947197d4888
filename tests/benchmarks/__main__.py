"""`python -m tests.benchmarks NAME [--json]`: run a benchmark, and report whether its goals are met.

A benchmark is a module of this folder with `run() -> dict`: `name, value, unit, goal, ok, cores, details`. `details` is
a list of dicts with the same keys. `ok` is True if all of them are ok, and `value` is the value of the first one.
"""

import importlib
import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> int:
    """Return the exit status: 0 even if a goal is missed, 2 for an unknown name."""
    parser = ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("name", metavar="NAME", help=", ".join(names()))
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.print_usage = lambda file=None: None  # type: ignore[method-assign]
    options = parser.parse_args(arguments)
    if options.name not in names():
        sys.stderr.write(f"Expected a benchmark ({', '.join(names())}), got {options.name!r}.\n")
        return 2
    result = importlib.import_module(f"tests.benchmarks.{options.name}").run()
    sys.stdout.write((json.dumps(result, indent=2) if options.json else table(result)) + "\n")
    return 0


def names() -> list[str]:
    """Return the names of all benchmarks."""
    found = (path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    return sorted(name for name in found if name != "figures")


def table(result: dict[str, Any]) -> str:
    """Return a result as lines of text."""
    rows = [result, *result.get("details", [])]
    if len(rows) > 1:
        rows = rows[1:]
    width = max(len(row["name"]) for row in rows)
    lines = []
    for row in rows:
        verdict = "" if row.get("goal") is None else f"   goal {row['goal']}: {'ok' if row['ok'] else 'MISSED'}"
        lines.append(f"{row['name']:<{width}}  {row['value']:>12,.4g} {row['unit']}{verdict}")
    return "\n".join([*lines, f"({result['cores']} cores)"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
