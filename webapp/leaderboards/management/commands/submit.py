"""`manage.py submit`: submits a file of predictions, scores it at once, and prints the scores."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.management.base import CommandError

from generation.engine.scoring.figures import Averaged, figure
from generation.management.console import BAD_INPUT, FAILED, PlainCommand
from generation.models import Split
from webapp.leaderboards import method_names, scoring, uploads
from webapp.leaderboards.disclosure.visibility import Outcome, outcome_json, outcomes_of
from webapp.leaderboards.management.method_owner import find_owner
from webapp.leaderboards.method_names import BadMethodName
from webapp.leaderboards.models import Method, Score, Submission, Suite
from webapp.leaderboards.replies.reply_figures import usage_figures
from webapp.leaderboards.uploads import Order, UploadRefused

NUMBERS = {"train_size": "different training examples", "examples_seen": "training examples in all, repeats included"}


class Command(PlainCommand):
    help = (
        "Submit predictions for a split or a suite as a run of a method, wait until they are scored, print the scores."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="predictions in any format that /docs/predictions/ tells")
        parser.add_argument(
            "--replies", metavar="FILE", help="the model's replies, as JSON lines; see /docs/predictions/#replies"
        )
        parser.add_argument(
            "--column", default="", metavar="NAME", help="the column of answers, if several may have them"
        )
        target = parser.add_mutually_exclusive_group(required=True)
        target.add_argument("--split", metavar="DATASET/SPLIT", help="what they are for")
        target.add_argument(
            "--suite", metavar="SLUG", help="or a suite: FILE is a zip with a file for each of its splits"
        )
        parser.add_argument("--method", metavar="NAME", required=True, help="what made them; a new name is a new one")
        parser.add_argument(
            "--owner",
            metavar="ACCOUNT",
            help="owner of the method; default: the account that has it, or the only superuser",
        )
        parser.add_argument("--made", choices=_ways(), help="how a new method was made", default=Method.Made.ELSEWHERE)
        parser.add_argument("--run", default="", metavar="NAME", help="a seed or a name, where there are several")
        parser.add_argument("--trained-on", metavar="DATASET/SPLIT", help="a split of this site")
        for name, about in NUMBERS.items():
            parser.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="N", help=about)
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        """Submit the file, score it, and print the scores."""
        target = self.find_split(options["split"]) if options["split"] else _suite(options["suite"])
        trained_on = self.find_split(options["trained_on"]) if options["trained_on"] else None
        path = _file(options["file"], "predictions")
        replies = _file(options["replies"], "replies") if options["replies"] else None
        owner = find_owner(options["owner"], method=options["method"])
        try:
            method, is_new = method_names.find_or_create(owner, options["method"], made=options["made"])
        except BadMethodName as error:
            raise CommandError(f"--method: {error}", returncode=BAD_INPUT) from error
        numbers = {name: options[name] for name in NUMBERS}
        try:
            order = Order(
                method, target, run=options["run"], trained_on=trained_on, column=options["column"], **numbers
            )
            submissions = _received(order, path, replies)
        except UploadRefused as refusal:
            if is_new:
                method.delete()
            raise CommandError(str(refusal), returncode=BAD_INPUT) from refusal
        for submission in submissions:
            if not scoring.score_now(submission):
                raise CommandError(f"Expected a score within the hour, got none: {submission}.", returncode=FAILED)
        found = [one for one in submissions if one.is_scored]
        if found:
            self.stdout.write(_report(target, found, as_json=options["json"]))
        refused = [f"{one.split}: {one.message}" for one in submissions if not one.is_scored]
        if refused:
            raise CommandError(" ".join(refused), returncode=BAD_INPUT)


def _suite(slug: str) -> Suite:
    found = Suite.objects.filter(slug=slug).first()
    if found is None:
        names = ", ".join(Suite.objects.order_by("slug").values_list("slug", flat=True)[:20]) or "there is none yet"
        raise CommandError(f"Expected a suite ({names}), got {slug!r}.", returncode=BAD_INPUT)
    return found


def _ways() -> list[str]:
    return [made.value for made in Method.Made if made != Method.Made.HUMAN]


def _file(name: str, what: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise CommandError(f"Expected a file of {what}, got none: {path}", returncode=BAD_INPUT)
    return path


def _received(order: Order, path: Path, replies: Path | None) -> list[Submission]:
    with ExitStack() as opened:
        file = opened.enter_context(path.open("rb"))
        also = None if replies is None else opened.enter_context(replies.open("rb"))
        return uploads.receive(order.method.owner, order, file, path.name, replies=also).submissions


def _report(target: Split | Suite, found: Sequence[Submission], *, as_json: bool) -> str:
    """Return the results that the method's owner may see, as text or as one JSON document."""
    outcomes = [(one, outcomes_of(one.method.owner or AnonymousUser(), one)) for one in found]
    if not as_json:
        return "\n".join(line for one in outcomes for line in _lines(*one))
    documents = [_json(*one) for one in outcomes]
    whole = documents[0] if isinstance(target, Split) else {"suite": target.slug, "submissions": documents}
    return json.dumps(whole, indent=2)


def _json(submission: Submission, outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "id": submission.pk,
        "method": submission.method.name,
        "format": submission.format,
        "outside": submission.outside,
        "failures": submission.failures,
        "page": submission.get_absolute_url(),
        "scores": [_score_json(one) for one in outcomes],
    }


def _score_json(one: Outcome) -> dict[str, Any]:
    score = one.score
    if score is None:
        figure = {"n": one.figure.n, "accuracy": one.figure.share}
        figure |= dict.fromkeys(("accuracy_read", "unreadable", "usage", "among_answered"))
        return {"split": str(one.split), **figure, "columns": {}, "disclosure": outcome_json(one)}
    columns = {label: {"n": n, "correct": right} for label, (right, n) in score.columns_json.items()}
    usage = usage_figures([score])
    return {
        "split": str(score.split),
        "n": score.n,
        "accuracy": score.accuracy,
        "accuracy_read": score.right_read / score.n if score.n else None,
        "unreadable": score.unreadable,
        "usage": None if usage is None else usage.usage.to_json(),
        "among_answered": None if usage is None else usage.among.to_json(),
        "columns": columns,
        "disclosure": None,
    }


def _lines(submission: Submission, outcomes: list[Outcome]) -> Iterator[str]:
    """Yield the results of a submission as lines of text."""
    yield f"{submission.method.name}: submission {submission.pk}, {submission.get_absolute_url()}"
    for one in outcomes:
        yield f"{one.split}: {one.figure.n:,} questions"
        yield from _lines_of_score(submission, one.score) if one.score is not None else _lines_of_figure(one)


def _lines_of_figure(one: Outcome) -> Iterator[str]:
    yield f"  accuracy  {one.figure.text}"
    for label, part in one.parts:
        yield f"  {label}  {part.text}, n = {part.n:,}"


def _lines_of_score(submission: Submission, score: Score) -> Iterator[str]:
    yield f"  accuracy       {_share(score.right, score.n)}"
    yield f"  accuracy_read  {_share(score.right_read, score.n)}  {score.unreadable:,} unreadable"
    yield from _lines_of_usage(submission, score)
    told = {label: figure(Averaged(int(n), (right,))) for label, (right, n) in score.columns_json.items()}
    enough = {label: one for label, one in told.items() if not one.is_missing}
    width = max(map(len, enough), default=0)
    for label, one in enough.items():
        yield f"  {label:<{width}}  {one.points:>5} %  ({one.said})"
    if len(enough) < len(told):
        yield f"  {len(told) - len(enough)} with too few questions to tell"


def _lines_of_usage(submission: Submission, score: Score) -> Iterator[str]:
    """Yield what is known about the replies, if some questions have no answer or there are replies."""
    usage = usage_figures([score])
    if usage is None or (usage.usage.answered == usage.usage.asked and not submission.replies):
        return
    failures = f", {submission.failures:,} failures of the runner" if submission.failures else ""
    yield f"  answered       {usage.usage.coverage_text}  ({usage.usage.answered_text}{failures})"
    yield f"  among answered {usage.among.text}  ({usage.among.said})"
    texts = {"tokens per question": usage.usage.tokens_text, "cost of 1,000 questions": usage.usage.cost_text}
    for label, text in (texts | {"median latency": usage.usage.latency_text}).items():
        if text:
            yield f"  {label}: {text}"


def _share(right: float, n: int) -> str:
    return f"{100 * right / n:5.1f} %" if n else "     –"
