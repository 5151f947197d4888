"""The baselines of every complete split: their guesses, and that they do not delay submissions of people."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from django.test import Client

from generation.engine.scoring import nearest_questions
from generation.models import Question, Split
from generation.models.jobs import from_now
from generation.reports import shortcuts
from generation.reports.shortcuts import choices_of
from generation.storage.split_index import SplitIndex
from tests.leaderboards import sent
from webapp.leaderboards import baselines, scoring, uploads
from webapp.leaderboards.models import Method, Score, Submission
from webapp.leaderboards.uploads import Order

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def test_baselines_are_made_and_the_guess_by_type_is_equal_to_counting(val: Split) -> None:
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()
    found = {row.method.baseline: row for row in Submission.objects.filter(split=val).select_related("method")}
    assert set(found) == {"chance", "majority", "type", "nearest"}
    assert {row.state for row in found.values()} == {Submission.State.DONE}
    assert baselines.begin() == 0
    reference = val.reference
    assert reference is not None and found["type"].trained_on_id == reference.pk
    learned: dict[str, dict[str, int]] = {}
    for kind, answer in reference_rows(reference):
        learned.setdefault(kind, {}).setdefault(answer, 0)
        learned[kind][answer] += 1
    right = sum(
        learned.get(kind) is not None and mode_of(learned[kind], val) == answer for kind, answer in reference_rows(val)
    )
    unknown = sum(kind not in learned for kind, _ in reference_rows(val))
    score = Score.objects.get(submission=found["type"], split=val)
    assert right <= score.right <= right + unknown


def reference_rows(split: Split) -> list[tuple[str, str]]:
    """Return the type and the answer of each question."""
    return list(Question.objects.filter(split=split).order_by("position").values_list("kind", "answer"))


def mode_of(counts: dict[str, int], split: Split) -> str:
    """Return the most frequent answer; in a tie, the first one in the vocabulary."""
    order = SplitIndex.open(split).answer_values
    return max(counts, key=lambda word: (counts[word], -order.index(word)))


def test_a_missing_baseline_of_a_split_is_made(val: Split) -> None:
    while baselines.begin():
        pass
    Submission.objects.filter(split=val, method__baseline="nearest").delete()
    assert baselines.begin() == 1 and baselines.begin() == 0


def test_chance_is_the_expected_share_on_every_page(val: Split) -> None:
    while baselines.begin():
        pass
    Submission.objects.filter(state="waiting").exclude(split=val, method__baseline="chance").delete()
    scoring.RUNNER.take_turn()
    row, index = Submission.objects.get(method__baseline="chance", split=val), SplitIndex.open(val)
    choices = choices_of(val, index)
    expected = float((1 / choices).mean())
    score = Score.objects.get(submission=row, split=val)
    assert score.right == pytest.approx(expected * val.questions, abs=1e-3)
    facet = index.facets["type"]
    for value, (right, n) in score.columns_json.items():
        mine = facet.codes == facet.labels.index(value)
        assert (right, n) == (pytest.approx((1 / choices)[mine].sum(), abs=1e-3), mine.sum())
    report = shortcuts.report(val.dataset.get_world(), [val.reference, val])
    [cue, *_] = next(one for one in report["splits"] if one["name"] == val.name)["cues"]
    assert cue["chance"] == pytest.approx(expected, abs=1e-6)
    at, key = "/leaderboards/scored/val/", f"entry=m{row.method_id}"
    client = Client()
    [shown] = [one for one in client.get(at).context["board"].rows if one.entry.is_chance]
    assert shown.accuracy.share == pytest.approx(expected, abs=1e-6)
    panel = client.get(f"{at}slices/?by=group&{key}").context["panels"][0]["panel"]
    assert panel.whole.cells[0].mean == pytest.approx(expected, abs=1e-6)
    listed = client.get(f"{at}questions/?{key}").context["listed"]
    for one in listed:
        [[given]] = one.given
        assert given == (f"a guess among {choices[one.question.position]} answers", 1, None)
    assert client.get(f"{at}questions/?show=right&{key}").context["page"].paginator.count == 0
    assert f"{100 * expected:.1f} %" in client.get(row.get_absolute_url()).context["told"]


def test_a_large_split_has_every_baseline_too(val: Split) -> None:
    Split.objects.filter(pk=val.pk).update(questions=150_000)
    val.refresh_from_db()
    assert baselines.kinds_of(val) == ["chance", "majority", "type", "nearest"]


def test_submissions_of_people_are_scored_while_a_baseline_is_computed(
    method: Method, val: Split, between_pieces: Callable[[Callable[[int], None]], None]
) -> None:
    baseline = nearest_of(val)
    mine: list[Submission] = []

    def meanwhile(piece: int) -> None:
        if piece == 3:
            order = Order(method, val)
            mine.extend(uploads.receive(method.owner, order, sent.as_file(sent.truth_of(val)), "a.json").submissions)
            Submission.objects.filter(pk=baseline.pk).update(deadline=from_now(5))
        if piece == 4:
            assert Submission.objects.get(pk=mine[0].pk).state == "done"
            row = Submission.objects.filter(pk=baseline.pk, state="running", deadline__gt=from_now(600))
            assert row.exists()  # the time for scoring others does not count against its deadline

    between_pieces(meanwhile)
    assert scoring.RUNNER.take_turn() == 1  # the other submission was scored during this turn
    baseline.refresh_from_db()
    assert (baseline.state, baseline.attempts, baseline.scores.count()) == ("done", 1, 1)
    assert len(mine) == 1 and mine[0].scores.count() == 1


def test_an_interrupted_baseline_waits_without_a_counted_attempt(
    val: Split, between_pieces: Callable[[Callable[[int], None]], None]
) -> None:
    def stop(piece: int) -> None:
        if piece == 2:
            raise KeyboardInterrupt

    baseline = nearest_of(val)
    between_pieces(stop)
    with pytest.raises(KeyboardInterrupt):
        scoring.RUNNER.take_turn()
    baseline.refresh_from_db()
    assert (baseline.state, baseline.attempts) == ("waiting", 0)


def nearest_of(split: Split) -> Submission:
    """Return the baseline by nearest questions of a split; no other submission waits."""
    while baselines.begin():
        pass
    waiting = Submission.objects.filter(state="waiting")
    waiting.exclude(split=split, method__baseline="nearest").delete()
    return waiting.get()


@pytest.fixture
def between_pieces(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], None]:
    """Give a function that takes a callback, which is called before each piece of ten questions with its number."""
    monkeypatch.setattr(shortcuts, "PIECE", 10)
    kept = nearest_questions.KnownQuestions.nearest

    def have_called(what: Callable[[int], None]) -> None:
        pieces = count()

        def searched(self: nearest_questions.KnownQuestions, *args: Any) -> Any:
            what(next(pieces))
            return kept(self, *args)

        monkeypatch.setattr(nearest_questions.KnownQuestions, "nearest", searched)

    return have_called
