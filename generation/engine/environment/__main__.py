"""`python -m generation.engine.environment PRESET`: a report on the items of a preset or of a spec."""

import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from generation.engine.environment.dataset import EnvironmentDataset, create_dataset
from generation.engine.environment.report import LevelReport, report_on, text_of
from generation.engine.errors import BadSpec, EngineError
from generation.engine.reading.bounded_json import BadJson, loads
from generation.engine.worlds.levels import NAMES, Level

ALL = "all"  # the level that stands for each of `NAMES`
ITEMS = 100_000


def main(arguments: Sequence[str]) -> int:
    """Print the report on each level; return 0, or 2 for bad input."""
    options = _parser().parse_args(arguments)
    levels = [name for level in options.level for name in (NAMES if level == ALL else (level,))]
    try:
        dataset = create_dataset(_spec(options.preset), seed=options.seed, split=options.split)
        at = {level: _at(dataset, level) for level in levels} or {"": dataset}
        reports = [_report(level, one, options) for level, one in at.items()]
    except (EngineError, OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write((_json(dataset, reports) if options.json else text_of(reports)) + "\n")
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m generation.engine.environment", description=__doc__)
    parser.add_argument("preset", metavar="PRESET", help="the name of a preset, or a JSON file with a spec")
    parser.add_argument(
        "--items", type=_number, default=ITEMS, help=f"number of items of each level; default: {ITEMS:,}"
    )
    parser.add_argument(
        "--level",
        action="append",
        default=[],
        help=f"{', '.join(NAMES)}, {ALL} for each of them, or attributes such as objects=2,length=easy; repeatable",
    )
    parser.add_argument("--split", help="split of the spec; default: train, or the first split")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--processes",
        type=_number,
        default=os.cpu_count() or 1,
        help="number of processes that make items; default: one for each core",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _spec(name: str) -> Mapping[str, Any] | str:
    if not name.endswith(".json"):
        return name
    try:
        found = loads(Path(name).read_bytes())
    except (OSError, BadJson) as error:
        raise BadSpec(f"Expected a readable JSON file, got: {error}", where=name) from error
    if not isinstance(found, dict):
        raise BadSpec("Expected an object, got another value.", where=name)
    return found


def _at(dataset: EnvironmentDataset, level: str) -> EnvironmentDataset:
    """Return the dataset at a level: a name, or attributes such as `objects=2,length=easy`."""
    if "=" not in level:
        return dataset.at(level)
    chosen: dict[str, Level] = {}
    for part in level.split(","):
        name, _, value = part.partition("=")
        chosen[name.strip()] = int(value) if value.strip().isdecimal() else value.strip()
    return dataset.at(**chosen)


def _report(level: str, dataset: EnvironmentDataset, options: Namespace) -> LevelReport:
    """Return the report on a level, with a progress bar on a terminal."""
    with tqdm(total=options.items, desc=level or options.preset, unit=" items", disable=None) as bar:

        def tick(made: int) -> None:
            bar.update(made)

        return report_on(dataset, items=options.items, level=level, processes=options.processes, tick=tick)


def _json(dataset: EnvironmentDataset, reports: Sequence[LevelReport]) -> str:
    spec = dataset.spec
    about = {"world": spec.world, "title": spec.title, "split": dataset.split, "seed": spec.seed}
    return json.dumps({**about, "levels": [one.to_json() for one in reports]}, indent=2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
