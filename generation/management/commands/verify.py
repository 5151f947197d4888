"""`manage.py verify`: proves a dataset, or lists what is wrong with it."""

import json
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from tqdm import tqdm

from generation.engine.reading.dataset_reader import find_reader
from generation.engine.verification import exported_folders
from generation.engine.verification.verdict import Verdict
from generation.engine.worlds import READERS, get_world
from generation.making.process_pool import stoppable
from generation.making.warmup import warm_world
from generation.management.console import BAD_INPUT, FAILED, INTERRUPTED, PlainCommand, add_workers
from generation.verification import dataset as verifying

SHOWN = 200  # findings on the screen; --json prints all that are kept


class Command(PlainCommand):
    help = (
        "Work out again everything that is stored of a dataset, from scenes and programs alone, and list what differs. "
        "Exit 1 where something does."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", nargs="?", help="its name")
        parser.add_argument("--folder", metavar="DIR", help="instead: a folder that was exported")
        parser.add_argument("--format", metavar="F", help="of the folder, as `export` calls it")
        parser.add_argument("--split", metavar="NAME", action="append", default=[], help="this one; may be repeated")
        parser.add_argument(
            "--rerender", type=_count, default=0, metavar="N", help="draw N pictures again and compare them"
        )
        add_workers(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["dataset"] is None) == (options["folder"] is None):
            came = "none" if options["dataset"] is None else "both"
            raise CommandError(f"Expected a dataset or --folder, got {came}.", returncode=BAD_INPUT)
        if (options["folder"] is None) != (options["format"] is None):
            raise CommandError("Expected --folder and --format together, got one of them.", returncode=BAD_INPUT)
        if options["folder"] is None:
            self._verify_rows(options)
        else:
            self._verify_folder(options)

    def _verify_folder(self, options: dict[str, Any]) -> None:
        workers = options["workers"] or settings.MACHINE_PROCESSES
        if workers > 1 and options["format"] in READERS:
            warm_world(find_reader(options["format"]).world, draws=bool(options["rerender"]))
        scope = exported_folders.Scope(
            Path(options["folder"]), options["format"], options["split"], options["rerender"], workers
        )

        def prove(tick: Callable[[int], None]) -> Verdict:
            return exported_folders.verify(scope, tick=tick)

        verdict = self._watched(prove, what=scope.folder.name, total=None)
        head = f"{scope.folder}, format {scope.format}"
        self._say(verdict, head=head, name=str(scope.folder), options=options)

    def _verify_rows(self, options: dict[str, Any]) -> None:
        dataset = self.find_dataset(options["dataset"])
        scope = verifying.scope_of(dataset, names=options["split"], rerender=options["rerender"])
        workers = options["workers"] or settings.MACHINE_PROCESSES
        if workers > 1:
            warm_world(dataset.world, draws=bool(options["rerender"]))
        head = (
            f"{dataset.slug}: {len(scope.splits)} splits, {scope.questions:,} questions, "
            f"{get_world(dataset.world).label}, engine {dataset.engine_version}"
        )

        def prove(tick: Callable[[int], None]) -> Verdict:
            return verifying.verify(dataset, scope, workers=workers, tick=tick)

        verdict = self._watched(prove, what=dataset.slug, total=scope.questions)
        self._say(verdict, head=head, name=dataset.slug, options=options)

    def _watched(self, prove: Callable[[Callable[[int], None]], Verdict], *, what: str, total: int | None) -> Verdict:
        """Return the verdict of `prove`, with a progress bar on standard error."""
        try:
            with stoppable(), tqdm(total=total, desc=what, unit=" questions", file=sys.stderr, mininterval=0.5) as bar:
                return prove(lambda count: _moved(bar, count))
        except KeyboardInterrupt:
            if not self.from_command_line:
                raise
            raise CommandError("Stopped. Nothing was changed.", returncode=INTERRUPTED) from None

    def _say(self, verdict: Verdict, *, head: str, name: str, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps({"what": name, **verdict.to_json()}, indent=2))
        else:
            lines = [head, *(["Proved:"] if verdict.proved else []), *verdict.lines()]
            lines += ["Wrong:"] if verdict.findings else ["Nothing wrong was found."]
            lines += [f"  {finding}" for finding in verdict.findings[:SHOWN]]
            self.stdout.write("\n".join(lines))
        if not verdict.holds:
            count = len(verdict.findings) + verdict.left_out
            hidden = max(0, count - SHOWN) if not options["json"] else verdict.left_out
            rest = f" {hidden:,} of them are not listed." if hidden else ""
            raise CommandError(
                f"Expected nothing wrong with {name}, got {count:,} findings; first: {verdict.findings[0]}.{rest}",
                returncode=FAILED,
            )


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ArgumentTypeError(f"expected a number of pictures, got {text!r}")
    return int(text)


def _moved(bar: Any, count: int) -> None:
    bar.update(count)
