"""`manage.py derive`: makes a new split from some of a split's questions, or one of each split with shifted counts."""

import math
import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Collection, Sequence
from typing import Any

from django.core.management.base import CommandError

from generation.making import dataset_jobs
from generation.management.console import BAD_INPUT, FAILED, INTERRUPTED, PlainCommand
from generation.models import Job, Split
from generation.splits import count_shifts, question_sets
from generation.splits.count_shifts import CountShift
from generation.splits.split_recipes import BadRecipe, Recipe, read_recipe
from generation.storage.canonical_lines import keep_lines


class Command(PlainCommand):
    help = "Make a question set from some questions of a split, and print its content hash."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("split", metavar="DATASET/SPLIT", help="with --mcd, only DATASET")
        parser.add_argument("--name", metavar="NAME", help="of the new set; with --mcd, the end of the names")
        parser.add_argument(
            "--mcd", type=_shifts, metavar="PARITIES:P",
            help="odd-even:90 makes train and val with all odd answers and 10 %% of the even ones, and test the other "
            "way round; even-odd:90 makes the opposite; several percentages, as in odd-even:0,50, make several shifts",
        )  # fmt: skip
        parser.add_argument(
            "--filter", default="", metavar="QUERY",
            help="as in the address of the split's page: 'type=count&length=8..12&q=metal'",
        )  # fmt: skip
        parser.add_argument(
            "--held-out", type=_percent, metavar="P", help="the questions about P %% of the scenes, chosen at random"
        )
        parser.add_argument(
            "--without-held-out", type=_percent, metavar="P", help="the questions about all other scenes"
        )
        parser.add_argument(
            "--parity", type=_parity, metavar="PARITY:P",
            help="odd:90 keeps all odd answers, and removes 90 %% of the questions with each even answer; or even:90",
        )  # fmt: skip
        parser.add_argument(
            "--parity-by",
            metavar="FACET",
            help="with --parity or --mcd: remove the same share for each value of this facet; by default, --mcd uses "
            "the facet that the world names; '' means no facet",
        )
        parser.add_argument(
            "--keep", type=_kept, action="append", default=[], metavar="FACET=VALUE:P",
            help="keep only P %% of the questions with this value; may be given several times, for values of one facet",
        )  # fmt: skip
        ways = parser.add_mutually_exclusive_group()
        ways.add_argument("--first", type=_count, metavar="N", help="the first N of the remaining questions")
        ways.add_argument("--sample", type=_count, metavar="N", help="N of the remaining questions, at random")
        ways.add_argument("--share", type=_percent, metavar="P", help="P %% of the remaining questions, at random")
        parser.add_argument("--seed", type=_seed, default=0, metavar="S", help="of the random choice; default: 0")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the sets in this process, or wait for another process that makes them. After a failure, none is left."""
        jobs = self._family(options) if options["mcd"] else [self._single(options)]
        keys = [job.split.pk for job in jobs if job.split is not None]
        try:
            with keep_lines():
                for job in jobs:
                    dataset_jobs.finish_set(job)
        except KeyboardInterrupt as stopped:
            self._drop(keys)
            raise CommandError("Stopped. No question set was made.", returncode=INTERRUPTED) from stopped
        except dataset_jobs.SetNotMade as failed:
            self._drop(keys)
            raise CommandError(str(failed), returncode=FAILED) from failed
        except BaseException:
            self._drop(keys)
            raise
        for split in Split.objects.for_browse().filter(pk__in=keys).order_by("ordinal"):
            shift = question_sets.describe_shift(split)
            told = f"{split}: {question_sets.describe_recipe(split)}{f'; {shift}' if shift else ''}"
            self.stderr.write(told)
            self.stdout.write(split.fingerprint)

    def _single(self, options: dict[str, Any]) -> Job:
        if not options["name"]:
            raise CommandError("Expected --name with the name of the new split, got none.", returncode=BAD_INPUT)
        parent = self.find_split(options["split"])
        return question_sets.create(parent, name=options["name"], recipe=_recipe(parent, options))

    def _family(self, options: dict[str, Any]) -> list[Job]:
        others = ("parity", "held_out", "without_held_out", "first", "sample", "share", "keep")
        given = [f"--{name.replace('_', '-')}" for name in others if options[name]]
        if given:
            raise CommandError(f"Expected --mcd without {given[0]}.", returncode=BAD_INPUT)
        if options["name"] and len(options["mcd"]) > 1:
            raise CommandError("Expected --name with a single percentage, got several.", returncode=BAD_INPUT)
        dataset, groups = self.find_dataset(options["split"]), options["parity_by"]
        grouped_by = dataset.get_world().count_groups if groups is None else groups
        more = {"filter": options["filter"], "grouped_by": grouped_by, "seed": options["seed"]}
        shifts = [shift._replace(**more) for shift in options["mcd"]]
        return count_shifts.create(dataset, shifts, suffix=options["name"] or "")

    def _drop(self, splits: Collection[int]) -> None:
        for left in Split.objects.filter(pk__in=splits):
            question_sets.remove(left)


def _recipe(parent: Split, options: dict[str, Any]) -> Recipe:
    ways = {name: options[name] for name in ("first", "sample", "share") if options[name] is not None}
    scenes = {name: options[name] for name in ("held_out", "without_held_out") if options[name] is not None}
    data = {"parent": parent.name, "filter": options["filter"], "seed": options["seed"], **ways, **scenes}
    if options["parity"]:
        kept, removed = options["parity"]
        data["parity"] = {"kept": kept, "removed": removed, "grouped_by": options["parity_by"] or ""}
    return read_recipe(data | {"shares": _shares(options["keep"])})


def _shares(kept: Sequence[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    shares: dict[str, dict[str, float]] = {}
    for facet, value, percent in kept:
        if value in shares.setdefault(facet, {}):
            raise BadRecipe(f"Expected each value once, got {facet}={value} again.", where="--keep")
        shares[facet][value] = percent
    return shares


def _parity(text: str) -> tuple[str, float]:
    kept, colon, percent = text.partition(":")
    if kept not in count_shifts.PARITIES or not colon:
        raise ArgumentTypeError(f"expected odd:P or even:P, such as odd:90, got {text!r}")
    return kept, _percent(percent)


def _shifts(text: str) -> list[CountShift]:
    parities, colon, percents = text.partition(":")
    if parities not in ("odd-even", "even-odd") or not colon:
        raise ArgumentTypeError(f"expected odd-even:P or even-odd:P, such as odd-even:90, got {text!r}")
    found = [_percent(percent) for percent in percents.split(",")]
    if len(set(found)) < len(found):
        raise ArgumentTypeError(f"expected each percentage once, got {text!r}")
    return [CountShift(parities.partition("-")[0], percent) for percent in found]


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
