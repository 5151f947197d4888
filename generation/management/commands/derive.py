"""`manage.py derive`: makes a new split from some of a split's questions."""

import math
import re
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from generation.making import dataset_jobs
from generation.management.console import FAILED, INTERRUPTED, PlainCommand
from generation.models import Job, Split
from generation.splits import question_sets
from generation.splits.split_recipes import BadRecipe, Recipe, read_recipe

IDLE = 0.2  # seconds


class Command(PlainCommand):
    help = "Make a question set: a split of some of another's questions. Prints its content hash."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("split", metavar="DATASET/SPLIT")
        parser.add_argument("--name", required=True, metavar="NAME", help="of the new split")
        parser.add_argument(
            "--filter", default="", metavar="QUERY",
            help="as in the address of the split's page: 'type=count&length=8..12&q=metal'",
        )  # fmt: skip
        parser.add_argument(
            "--keep", type=_kept, action="append", default=[], metavar="FACET=VALUE:P",
            help="of the questions with this value only P %%; may be given several times, for values of one facet",
        )  # fmt: skip
        ways = parser.add_mutually_exclusive_group()
        ways.add_argument("--first", type=_count, metavar="N", help="the first N of what is left")
        ways.add_argument("--sample", type=_count, metavar="N", help="N of what is left, by chance")
        ways.add_argument("--share", type=_percent, metavar="P", help="P %% of what is left, by chance")
        parser.add_argument("--seed", type=_seed, default=0, metavar="S", help="of what is left to chance; default: 0")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it in this process, or wait for another process that is making it. After a failure nothing is left."""
        parent = self.find_split(options["split"])
        job = question_sets.create(parent, name=options["name"], recipe=_recipe(parent, options))
        assert job.split is not None
        try:
            self._wait(job, job.split.pk)
        except KeyboardInterrupt as stopped:
            self._drop(job.split.pk)
            raise CommandError("Stopped. Nothing is left of it.", returncode=INTERRUPTED) from stopped
        except BaseException:
            self._drop(job.split.pk)
            raise
        split = Split.objects.for_browse().get(pk=job.split.pk)
        self.stderr.write(f"{split}: {question_sets.describe_recipe(split)}")
        self.stdout.write(split.fingerprint)

    def _wait(self, job: Job, split: int) -> None:
        while not Split.objects.filter(pk=split, state=Split.State.COMPLETE).exists():
            if not dataset_jobs.RUNNER.run_now(job):
                dataset_jobs.RUNNER.recover()
                time.sleep(IDLE)
            found = Job.objects.filter(pk=job.pk).first()
            if found is None or found.state in (Job.State.FAILED, Job.State.CANCELLED):
                reason = "It was deleted meanwhile." if found is None else found.message or "It was cancelled."
                raise CommandError(reason, returncode=FAILED)

    def _drop(self, split: int) -> None:
        for left in Split.objects.filter(pk=split):
            question_sets.remove(left)


def _recipe(parent: Split, options: dict[str, Any]) -> Recipe:
    ways = {name: options[name] for name in ("first", "sample", "share") if options[name] is not None}
    data = {"parent": parent.name, "filter": options["filter"], "seed": options["seed"], **ways}
    return read_recipe(data | {"shares": _shares(options["keep"])})


def _shares(kept: Sequence[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    shares: dict[str, dict[str, float]] = {}
    for facet, value, percent in kept:
        if value in shares.setdefault(facet, {}):
            raise BadRecipe(f"Expected each value once, got {facet}={value} again.", where="--keep")
        shares[facet][value] = percent
    return shares


def _kept(text: str) -> tuple[str, str, float]:
    found = re.fullmatch(r"([^=]+)=(.+):([^:]+)", text)
    if found is None:
        raise ArgumentTypeError(f"expected FACET=VALUE:P, such as answer=1:10, got {text!r}")
    return found[1], found[2], _percent(found[3])


def _percent(text: str) -> float:
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 <= number <= 100:
        raise ArgumentTypeError(f"expected a percentage, 0 to 100, got {text!r}")
    return number


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not int(text):
        raise ArgumentTypeError(f"expected a number of questions from 1, got {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text):
        raise ArgumentTypeError(f"expected a seed from 0, got {text!r}")
    return int(text)
