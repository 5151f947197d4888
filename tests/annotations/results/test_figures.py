"""Figures of a study, compared with counting by hand."""

import random
from collections import Counter, defaultdict
from statistics import median

import numpy as np
import pytest
from django.utils import timezone

from annotations.answering import slot_assignment, timing
from annotations.models import Answer, Participant, Study
from annotations.results import dawid_skene, question_review, study_statistics
from generation.engine.items import FacetKind
from generation.engine.scoring.figures import Share, wilson
from generation.engine.scoring.score import NONE, OUTSIDE, TIE
from generation.making import dataset_jobs
from generation.models import Dataset, Question
from generation.splits.split_recipes import read_recipe
from generation.storage.split_index import IndexedFacet, SplitIndex
from tests import proof
from tests.annotations import answered

pytestmark = pytest.mark.django_db


class ByHand:
    """A study's answers, counted one by one from the rows of the database."""

    def __init__(self, study: Study, *, everyone: bool = False) -> None:
        self.study, self.source = study, study.split.source
        self.said: dict[int, list[str]] = defaultdict(list)
        self.who: dict[int, list[int]] = defaultdict(list)
        self.reasons: dict[int, list[str]] = defaultdict(list)
        self.refused, self.people = 0, set()
        taken: Counter[int] = Counter()
        for row in Answer.objects.select_related("question", "participant").order_by("claimed", "pk"):
            if row.participant.is_test or row.superseded or (row.slot is None and not everyone):
                continue
            taken[row.question_id] += 1
            if taken[row.question_id] > study.per_question:
                continue
            self.people.add(row.participant_id)
            if row.text:
                self.said[row.question.position].append(row.text)
                self.who[row.question.position].append(row.participant_id)
            else:
                self.refused += 1
                self.reasons[row.question.position].append(row.get_refusal_display())

    def right(self, position: int) -> str:
        answer = self.question(position).answer
        assert answer is not None
        return answer

    def question(self, position: int) -> Question:
        index = SplitIndex.open(self.study.split)
        return Question.objects.get(split=self.source, position=index.in_source([position])[0])

    def majority(self, position: int) -> str | None:
        first = Counter(self.said[position]).most_common(2)
        return None if len(first) == 2 and first[0][1] == first[1][1] else first[0][0]

    def score(self, positions: list[int]) -> Share:
        return Share(sum(self.majority(one) == self.right(one) for one in positions), len(positions))


@pytest.fixture
def three(made: Dataset) -> tuple[Study, list[Participant], list[int]]:
    """Give a study of three yes-no questions with three answers each, three participants, and the positions."""
    split = made.splits.get(name="train")
    asked = [one.position for one in Question.objects.filter(split=split, kind="odd", answer="yes")[:3]]
    study = answered.opened(split, asked)
    return study, [Participant.objects.create(study=study) for _ in range(3)], asked


def test_a_majority_counts_and_a_tie_is_wrong(three: tuple[Study, list[Participant], list[int]]) -> None:
    study, people, (first, second, third) = three
    for number, (person, *said) in enumerate(zip(people, ["yes", "yes", "no"], ["yes", "no", ""], strict=True)):
        answered.put(person, study, first, said[0], number=number)
        answered.put(person, study, second, said[1], number=number, refusal="" if said[1] else "unclear")
    found = study_statistics.gather(study)
    top = study_statistics.headline(found)
    assert (top.people, top.answers, top.refusals, top.ties) == (3, 6, 1, 1)
    assert (top.majority, top.single) == (Share(1, 2), Share(3, 5))
    assert study_statistics.ties(found) == [second]
    codes = study_statistics.predictions_of(found)
    values = SplitIndex.open(study.split).answer_values
    assert (values[codes[first]], codes[second], codes[third]) == ("yes", TIE, NONE)
    assert np.count_nonzero(codes != NONE) == 2


def test_a_word_outside_the_vocabulary_is_wrong(
    three: tuple[Study, list[Participant], list[int]],
) -> None:
    study, people, (first, *_) = three
    answered.put(people[0], study, first, "perhaps", number=0)
    found = study_statistics.gather(study)
    assert study_statistics.headline(found).majority == Share(0, 1)
    assert study_statistics.predictions_of(found)[first] == OUTSIDE
    assert [(row.given, row.times, row.n) for row in study_statistics.confusion(found)] == [("perhaps", 1, 1)]


def test_a_study_without_answers_has_no_figures(three: tuple[Study, list[Participant], list[int]]) -> None:
    study, _, _ = three
    found = study_statistics.gather(study)
    top = study_statistics.headline(found)
    assert (top.majority.value, top.crossed, top.alpha, top.majority.text) == (None, None, None, "too few (n = 0)")
    assert study_statistics.median_seconds(found, timing.count_time(study)) is None
    assert study_statistics.progress(study) == (0, 9, 0, 3, 0)
    assert dawid_skene.estimate(found, dawid_skene.kinds_of(study, three[2])) == []


def test_progress_counts_the_answers_of_the_last_hour(three: tuple[Study, list[Participant], list[int]]) -> None:
    study, people, (first, second, _) = three
    now = timezone.now()
    answered.put(people[0], study, first, "yes", number=0, received=now)
    answered.put(people[1], study, first, "yes", number=1, received=now - timezone.timedelta(hours=2))
    answered.put(people[2], study, second, "no", received=now)
    tester = Participant.objects.create(study=study, is_test=True)
    answered.put(tester, study, second, "no", received=now)
    assert study_statistics.progress(study) == (2, 9, 0, 3, 2)


def test_excluding_does_not_change_the_figure_with_everybody(three: tuple[Study, list[Participant], list[int]]) -> None:
    study, people, asked = three
    for position in asked:
        answered.put(people[0], study, position, "yes", number=0)
        answered.put(people[1], study, position, "no", number=1)
        answered.put(people[2], study, position, "no", number=2)
    assert study_statistics.headline(study_statistics.gather(study)).majority == Share(0, 3)
    slot_assignment.exclude(people[2], reason="pressed one key")
    slot_assignment.exclude(people[1], reason="pressed one key")
    assert study_statistics.headline(study_statistics.gather(study)).majority == Share(3, 3)
    [everyone] = study_statistics.gather_without(study, [()])
    assert study_statistics.headline(everyone).majority == Share(0, 3)


def test_a_question_set_is_scored_by_the_answers_of_its_parent(made: Dataset) -> None:
    train = made.splits.get(name="train")
    odd = dataset_jobs.derive(train, name="odd", recipe=read_recipe({"parent": "train", "filter": "?type=odd"}))
    index = SplitIndex.open(odd)
    study = answered.opened(odd, list(range(index.n)), per_question=1)
    person = Participant.objects.create(study=study)
    rows = [Question.objects.get(split=train, position=at) for at in index.in_source(range(index.n))]
    for position, row in enumerate(rows):
        answered.put(person, study, position, str(row.answer), number=0)
    found = study_statistics.gather(study)
    assert study_statistics.headline(found).majority == Share(index.n, index.n)
    [kind] = dawid_skene.kinds_of(study, list(range(index.n)))
    assert (kind.label, sorted(kind.positions)) == ("integer", list(range(index.n)))


def test_integers_are_broken_down_by_bins() -> None:
    codes = np.array([0, 1, 2, 3, 4, 255, 4], np.uint8)
    facet = IndexedFacet(
        "length", "Length", FacetKind.INTEGER, ("1", "2", "3", "4", "9"), ("1", "2", "3", "4", "9"), False, codes,
        bins=(1, 2, 4),
    )  # fmt: skip
    slicing, labels = study_statistics.slicing_of(facet)
    assert list(labels) == ["1", "2–3", "4–9"]
    assert (slicing.codes.tolist(), slicing.values, slicing.is_flags) == ([0, 1, 1, 2, 2, 255, 2], 3, False)


def test_shares_of_few_questions_have_no_figure() -> None:
    assert (Share(9, 29).text, Share(9, 29).interval_text) == ("too few (n = 29)", "")
    low, high = wilson(15, 30)
    assert Share(15, 30).text == "50.0 %"
    assert Share(15, 30).interval_text == f"{100 * low:.1f}–{100 * high:.1f} %"


@pytest.mark.slow
def test_figures_are_equal_to_counting_by_hand(made: Dataset) -> None:
    for number in range(proof.size(100, name="studies counted by hand", most=3)):
        chance = random.Random(number)
        study = answered.answered(made, chance)
        people = list(study.participants.filter(is_test=False))
        for person in chance.sample(people, chance.randint(0, 2)):
            slot_assignment.exclude(person, reason="by chance")
        for everyone in (False, True):
            check_figures(study, everyone=everyone)
        Answer.objects.filter(question__study=study).delete()


def check_figures(study: Study, *, everyone: bool) -> None:
    [with_everyone] = study_statistics.gather_without(study, [()])
    found = with_everyone if everyone else study_statistics.gather(study)
    hand = ByHand(study, everyone=everyone)
    top, asked = study_statistics.headline(found), sorted(hand.said)
    assert found.asked.nonzero()[0].tolist() == asked
    assert top.majority == hand.score(asked)
    given = [(one, text) for one in asked for text in hand.said[one]]
    assert top.single == Share(sum(text == hand.right(one) for one, text in given), len(given))
    assert study_statistics.ties(found) == [one for one in asked if hand.majority(one) is None]
    assert (top.people, top.refusals) == (len(hand.people), hand.refused)
    assert top.answers == len(given) + hand.refused
    check_breakdown(found, hand)
    wrong = Counter((hand.right(one), text) for one, text in given if text != hand.right(one))
    assert {(row.right, row.given): row.times for row in study_statistics.confusion(found)} == wrong
    for row in question_review.by_question(found):
        assert sorted(text for text, times in row.given for _ in range(times)) == sorted(
            [*hand.said.get(row.position, ()), *hand.reasons.get(row.position, ())]
        )
        assert (question_review.SPLIT in row.flags) == (row.position in asked and hand.majority(row.position) is None)
        is_wrong = row.position in asked and hand.right(row.position) not in hand.said[row.position]
        assert (question_review.WRONG in row.flags) == is_wrong
    [estimated] = dawid_skene.estimate(found, dawid_skene.kinds_of(study, asked)) if asked else [None]
    if estimated is not None:
        assert estimated.majority == hand.score(asked)
        assert [found.people[one] for one in estimated.simple] == sorted({w for one in asked for w in hand.who[one]})
    if not everyone:
        times = Answer.objects.counted().filter(question__study=study).values_list("visible", flat=True)
        assert study_statistics.median_seconds(found, timing.count_time(study)) == (
            median(times) / 1000 if times else None
        )


def check_breakdown(found: study_statistics.GatheredAnswers, hand: ByHand) -> None:
    index = SplitIndex.open(hand.study.split)
    parts = {part.name: dict(part.rows) for part in study_statistics.break_down(found, list(index.facets.values()))}
    by_type: dict[str, list[int]] = defaultdict(list)
    by_flag: dict[str, list[int]] = defaultdict(list)
    for position in sorted(hand.said):
        by_type[hand.question(position).kind].append(position)
        for name, digit in (("zero", 0), ("nine", 9), ("five", 5)):
            if f"{digit}" in hand.question(position).scene.data.partition("weight")[0]:
                by_flag[name].append(position)
    assert parts["type"] == {kind: hand.score(asked) for kind, asked in by_type.items()}
    assert parts["has"] == {flag: hand.score(asked) for flag, asked in by_flag.items()}
