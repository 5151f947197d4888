"""`manage.py fresh`: makes fresh twins of a split, and a suite that shows the gap between the split and its twins."""

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse

from generation.making.fresh_twins import LEAST_QUESTIONS, MOST, resume_twin
from generation.management.console import BAD_INPUT, WatchingCommand, add_workers
from generation.models import Dataset, FreshTwin, Split
from webapp.leaderboards.fresh_twins.suite import find_twin_suite, make_twins_with_suite
from webapp.leaderboards.models import Suite


class Command(WatchingCommand):
    help = (
        "Make fresh twins of a split, which have the same spec, new secrets and withheld answers. Print the addresses "
        "of the twins and of the suite that shows the gap. /docs/fresh-twins/ explains the gap."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("split", metavar="DATASET/SPLIT", help="a generated split")
        parser.add_argument(
            "--seeds", type=_seeds, default=1, metavar="N", help=f"number of twins, 1 to {MOST}; default: 1"
        )
        parser.add_argument(
            "--questions",
            type=_questions,
            metavar="N",
            help="number of questions of each twin; default: as in the split",
        )
        add_workers(parser)
        parser.add_argument("--resume", action="store_true", help="continue stopped twins; make no new ones")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the twins. After Ctrl-C they can be resumed."""
        split = self.find_split(options["split"])
        if options["resume"]:
            twins = self._resumed(split)
        else:
            twins = make_twins_with_suite(split, count=options["seeds"], questions=options["questions"]).twins
        for twin in twins:
            self.make(twin.split.dataset, workers=options["workers"] or settings.MACHINE_PROCESSES)
        suite = find_twin_suite(split, owner=None)
        made = FreshTwin.objects.filter(pk__in=[twin.pk for twin in twins]).for_list()
        self.stdout.write(_report(split, list(made), suite, as_json=options["json"]))

    def _resumed(self, split: Split) -> list[FreshTwin]:
        """Continue the unfinished twins that the command line made, and return them."""
        mine = FreshTwin.objects.filter(source=split, split__dataset__owner=None).for_list()
        if not mine.exists():
            raise CommandError(f"{split}: Expected a fresh twin to continue, got none. Leave out --resume.",
                               returncode=BAD_INPUT)  # fmt: skip
        twins = list(mine.unfinished())
        for twin in twins:
            resume_twin(twin)
            twin.split.dataset.refresh_from_db()
        if not twins:
            self.stderr.write("All fresh twins of this split are complete.", str)
        return twins or list(mine)


def _report(split: Split, twins: Sequence[FreshTwin], suite: Suite | None, *, as_json: bool) -> str:
    """Return the addresses of the twins and of the suite, as text or as one JSON document."""
    rows = [_twin_json(twin) for twin in twins]
    address = None if suite is None else f"{settings.PUBLIC_URL}{suite.get_absolute_url()}"
    if as_json:
        return json.dumps({"split": str(split), "suite": address, "twins": rows}, indent=2)
    lines = []
    for row in rows:
        lines += [
            f"{row['split']}: {row['questions']:,} questions, answers withheld",
            f"  content hash  {row['fingerprint']}",
            f"  board         {row['board']}",
        ]
    return "\n".join([*lines, *([] if address is None else [f"Suite with the gap: {address}"])])


def _twin_json(twin: FreshTwin) -> dict[str, Any]:
    split, dataset = twin.split, twin.split.dataset
    assert dataset.state == Dataset.State.COMPLETE
    return {
        "number": twin.number,
        "split": str(split),
        "questions": split.questions,
        "withheld": split.withheld,
        "secret_sha256": split.secret_sha256,
        "fingerprint": split.fingerprint,
        "page": f"{settings.PUBLIC_URL}{split.get_absolute_url()}",
        "board": f"{settings.PUBLIC_URL}{reverse('board', args=[dataset.slug, split.name])}",
    }


def _seeds(text: str) -> int:
    return _number(text, least=1, most=MOST, what="fresh twins")


def _questions(text: str) -> int:
    return _number(text, least=LEAST_QUESTIONS, most=10**7, what="questions")


def _number(text: str, *, least: int, most: int, what: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
        raise ArgumentTypeError(f"expected a number of {what} from {least:,} to {most:,}, got {text[:20]!r}")
    return int(text)
