"""Summaries at the top of pages: sentences about one row and about two, and the most important slices."""

import re

from django.test import Client

from generation.engine.scoring.comparison import MCNEMAR, MethodComparison
from generation.engine.scoring.figures import Averaged, Interval, figure
from generation.models import Split
from tests.leaderboards import sent
from webapp.leaderboards.analysis.comparison import ComparedFacet, ComparedValue, Sheet
from webapp.leaderboards.analysis.slices import SliceCell
from webapp.leaderboards.analysis.summary import Weak, describe_difference, describe_row, largest, weakest
from webapp.leaderboards.models import Method, Submission

NAMES = ("A", "B")


def line(label: str, first: float, second: float, *, n: int = 200, p: float = 0.001, only: int = 40) -> ComparedValue:
    difference = first - second
    interval = Interval(difference - 0.0446, difference + 0.0434)
    return ComparedValue(label, (("type", label),), MethodComparison(n, first, second, only, n - only, interval, p, p))


def sheet(whole: ComparedValue, *lines: ComparedValue) -> Sheet:
    return Sheet(whole, [ComparedFacet("type", "type", list(lines), False)], MCNEMAR)


def test_the_sentence_begins_with_the_better_row_and_names_slices() -> None:
    lines = [line("count", 0.9, 0.32), line("compare attributes", 0.4, 0.63), line("exist", 0.7, 0.5, p=0.2)]
    found = sheet(line("all", 0.8, 0.633, n=600), *lines)
    said = (
        "A is 16.7 points better than B (12.2 to 21.0); better at count (+58.0), worse at compare attributes (−23.0)."
    )
    assert describe_difference(found, NAMES, "type") == said
    assert describe_difference(found, NAMES, "length").endswith("than B (12.2 to 21.0).")
    back = sheet(line("all", 0.633, 0.8, n=600), line("count", 0.32, 0.9))
    assert describe_difference(back, NAMES, "type").startswith(
        "B is 16.7 points better than A (12.4 to 21.2); better at count"
    )


def test_a_difference_that_may_be_chance_is_described_as_chance() -> None:
    assert describe_difference(sheet(line("all", 0.71, 0.7, p=0.4)), NAMES, "type") == (
        "A is 1.0 points better than B (−3.5 to 5.3), which may be chance."
    )
    assert describe_difference(sheet(line("all", 0.7, 0.7, p=1.0)), NAMES, "type") == "A and B are right equally often."
    assert describe_difference(sheet(line("all", 0.9, 0.1, n=12)), NAMES, "type") == (
        "12 questions are too few to compare A with B."
    )


def test_the_largest_differences_are_certain_and_have_no_repeated_slices() -> None:
    lines = [line(f"v{at}", 0.5 + at / 20, 0.5, only=at) for at in range(1, 9)]
    few, open_ = line("few", 0.9, 0.1, n=10), line("open", 0.9, 0.1, p=0.3)
    found = sheet(line("all", 0.8, 0.6, n=900), *lines, lines[-1], few, open_)
    assert [one.title for one in largest(found)] == [f"type: v{at}" for at in (8, 7, 6, 5, 4)]


def weak(label: str, right: int, n: int = 100) -> Weak:
    return Weak("type", "type", label, label, SliceCell(Averaged(n, (right,)), "/there/?type=x"))


def test_a_row_is_described_with_chance_and_its_best_and_weakest_slices() -> None:
    whole, slices = figure(Averaged(400, (260,))), [weak("count", 30), weak("exist", 90), weak("color", 65)]
    assert describe_row("Mine", whole, 0.358, slices) == (
        "Mine is right on 65.0 % of 400 questions (60.2 to 69.5); guessing would give 35.8 %. "
        "It is best at exist (90.0 %) and weakest at count (30.0 %)."
    )
    assert [one.label for one in weakest(slices, whole)] == ["count"]
    many = [weak(f"v{at}", at) for at in range(40)]
    assert [one.label for one in weakest(many, whole)] == [f"v{at}" for at in range(5)]
    few = figure(Averaged(12, (6,)))
    assert describe_row("Mine", few, 0.5, []) == "12 questions are too few to say how often Mine is right."
    assert weakest(slices, few) == []


def test_a_submission_begins_with_its_accuracy_and_its_weakest_slices(
    method: Method, val: Split, as_member: Client
) -> None:
    answers = sent.noisy(val, wrong=0.3)
    row = sent.submitted(method, val, answers)
    shown = as_member.get(row.get_absolute_url())
    page = shown.content.decode()
    share = 100 * sent.right_of(val, answers) / val.questions
    assert f"{method.name} is right on {share:.1f} % of {val.questions} questions" in page
    told = as_member.get(f"/api/v1/submissions/{row.pk}/slices/").json()["weakest"]
    assert [one["label"] for one in told] == [one.title for one in shown.context["weakest"]]
    assert 0 < len(told) <= 5
    rights = [one["accuracy"] for one in told]
    assert rights == sorted(rights) and all(one["n"] >= 30 for one in told)
    for address in re.findall(r'<li><a href="([^"]+/questions/[^"]+)"', page):
        assert as_member.get(address.replace("&amp;", "&")).status_code == 200


def test_a_submission_to_a_withheld_split_has_no_summary(method: Method, withheld: Split, as_member: Client) -> None:
    row = sent.submitted(method, withheld, sent.noisy(withheld, wrong=0.3))
    assert Submission.objects.filter(pk=row.pk, state="done").exists()
    shown = as_member.get(row.get_absolute_url())
    assert "told" not in shown.context and "weakest" not in shown.context
    assert "is right on" not in shown.content.decode()
    assert as_member.get(f"/api/v1/submissions/{row.pk}/slices/").status_code == 403
