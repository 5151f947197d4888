"""Scores without looking at pictures, compared with those of a slow reference that reads rows one by one."""

import re
from collections import Counter, defaultdict
from fractions import Fraction

import pytest

from generation.making import dataset_jobs
from generation.models import Dataset, Question, Split
from generation.reports import shortcuts
from tests.generation import small
from tests.generation.complete_datasets import shared

SPLITS = {"train": {"scenes": 12}, "val": {"scenes": 6}, "other": {"scenes": 4, "reference": "val"}}


dataset_key = shared(lambda: small.made("shortcuts", with_images=False, splits=SPLITS))


@pytest.fixture
def shapes(dataset_key, db):
    return Dataset.objects.get(pk=dataset_key)


def report_of(dataset):
    return shortcuts.report(dataset.get_world(), shortcuts.complete_splits(dataset))


def rows_of(dataset, name):
    return list(Question.objects.filter(split__dataset=dataset, split__name=name).order_by("position"))


def words_of(text):
    return re.findall(r"\w+(?:'\w+)*", text.lower())


CUES = {
    "majority": lambda row: None,
    "type": lambda row: row.kind,
    "template": lambda row: row.family,
    "length": lambda row: len(row.steps),
    "opening": lambda row: words_of(row.text)[:3],
}


def score_slowly(dataset, *, learned, scored, cue):
    """Learn and guess answers question by question; return the number of right guesses."""
    order = {answer: code for code, answer in enumerate(dataset.get_world().answers(dataset.read_spec()))}
    every, groups = Counter(), defaultdict(Counter)
    for row in rows_of(dataset, learned):
        every[row.answer] += 1
        groups[str(cue(row))][row.answer] += 1

    def guess(row):
        counted = groups.get(str(cue(row)), every)
        return min(counted, key=lambda answer: (-counted[answer], order[answer]))

    return sum(guess(row) == row.answer for row in rows_of(dataset, scored))


def score_nearest_slowly(dataset, *, learned, scored):
    def likeness(one, two):
        one, two = set(words_of(one.text)), set(words_of(two.text))
        return Fraction(len(one & two), len(one | two))

    known = rows_of(dataset, learned)
    asked = rows_of(dataset, scored)
    return sum(max(known, key=lambda one: (likeness(one, row), -one.position)).answer == row.answer for row in asked)


def test_scores_of_cues_equal_those_of_a_slow_reference(shapes):
    for found in report_of(shapes)["splits"][1:]:
        right = {cue["name"]: cue["right"] for cue in found["cues"]}
        names = {"learned": found["reference"], "scored": found["name"]}
        for name, cue in CUES.items():
            assert right[name] == score_slowly(shapes, **names, cue=cue), name
        assert right["nearest"] == score_nearest_slowly(shapes, **names)
        assert right["type"] == sum(one["right"] for one in found["types"])


def test_each_split_is_compared_with_its_own_reference(shapes):
    assert [found["reference"] for found in report_of(shapes)["splits"]] == [None, "train", "val"]


def test_counts_of_equal_texts_equal_those_of_the_rows(shapes):
    Question.objects.filter(split__dataset=shapes, position=0).update(text="Is it so?")
    Question.objects.filter(split__dataset=shapes, split__name="val", position=1).update(text="Is it so?")
    found = report_of(shapes)
    texts = {name: [row.text for row in rows_of(shapes, name)] for name in ("train", "val", "other")}
    assert found["texts"] == len(set().union(*texts.values()))
    for one in found["splits"]:
        own, learned = texts[one["name"]], set(texts.get(one["reference"], ()))
        assert one["texts"] == len(set(own))
        assert one.get("overlap", 0) == sum(text in learned for text in own)
    assert found["splits"][1]["overlap"] >= 2


def test_chance_is_one_divided_by_the_number_of_answers_of_a_type(shapes):
    chances = {one["name"]: one["chance"] for found in report_of(shapes)["splits"][1:] for one in found["types"]}
    wanted = {"query_color": 1 / 8, "query_shape": 1 / 3, "query_size": 1 / 2, "exist": 1 / 2, "count": 1 / 11}
    assert {name: chances[name] for name in wanted} == pytest.approx(wanted, abs=1e-6)


def test_only_facets_of_the_words_are_cues(shapes):
    names = {cue["name"] for found in report_of(shapes)["splits"][1:] for cue in found["cues"]}
    assert {"majority", "type", "template", "length", "opening", "nearest"} <= names
    assert names.isdisjoint({"answer", "objects", "effective", "absolute"})


def test_the_nearest_question_is_searched_for_a_limited_sample(shapes, monkeypatch):
    monkeypatch.setattr(shortcuts, "SAMPLE", 5)
    found = report_of(shapes)["splits"][1]
    assert found["sampled"] == 5
    assert [cue["n"] for cue in found["cues"] if cue["name"] == "nearest"] == [5]


def test_questions_without_answers_are_not_used(begin):
    dataset = begin(splits={"train": {"scenes": 6}, "val": {"scenes": 4}})
    dataset_jobs.work(dataset=dataset)
    found = shortcuts.report(dataset.get_world(), shortcuts.complete_splits(dataset))["splits"][1]
    answered = Question.objects.filter(split__dataset=dataset, split__name="val", answer__isnull=False).count()
    assert found["cues"][0]["n"] == answered < found["questions"]


def test_without_a_reference_only_texts_are_counted(db):
    dataset = small.made(with_images=False, splits={"val": {"scenes": 2}})
    [found] = report_of(dataset)["splits"]
    assert found["reference"] is None and "cues" not in found


def test_first_words_are_in_small_letters():
    assert shortcuts.first_words("Are there MORE things?") == "are there more"
    assert shortcuts.first_words("What’s left") == shortcuts.first_words("what s left")
    assert shortcuts.first_words("") == ""


def test_a_report_can_be_stopped_between_splits(shapes):
    class Stop(Exception):
        pass

    calls = []

    def check():
        calls.append(1)
        if len(calls) > 4:
            raise Stop

    with pytest.raises(Stop):
        shortcuts.report(shapes.get_world(), list(Split.objects.filter(dataset=shapes)), check=check)
