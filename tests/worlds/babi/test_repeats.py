"""Repeated stories are counted on the page and by the command, and no story is in two splits."""

import json
import re
from collections import Counter
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from generation.browsing.dataset import DistinctCount, repeats_of
from generation.engine.items import Item
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.babi.tasks import BY_NUMBER
from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.storage.items import load_items
from tests import proof
from tests.generation import small
from tests.generation.complete_datasets import finish
from tests.worlds.babi.items import generate_items, spec_of

EACH = pytest.mark.parametrize("task", sorted(BY_NUMBER))


def story_text(item: Item) -> str:
    assert isinstance(item.scene, Story)
    return item.scene.text


@EACH
def test_splits_share_no_story(task: int) -> None:
    questions = proof.size(4_000, name="bAbI: questions of a task in each split, of stories that no other has", most=60)
    spec = spec_of(task, questions=questions, splits=("train", "validation", "test"))
    texts = [{story_text(item) for item in generate_items(spec, split)} for split in spec.splits]
    assert all(texts)
    assert sum(map(len, texts)) == len(set().union(*texts))


def create_dataset(**spec: Any) -> Dataset:
    sizes = {"train": {"questions": 60}, "test": {"questions": 20, "withheld": True}}
    data = {"world": "babi", "splits": sizes, **spec}
    return finish(dataset_jobs.start(data, slug="told", visibility="public", images=False, secrets={"test": "0f" * 16}))


def count_distinct(split: Split) -> dict[str, tuple[DistinctCount, DistinctCount]]:
    """Return for each task how many stories and questions there are, and how many are distinct, counted as texts."""
    stories: dict[str, Counter[str]] = {}
    asked: dict[str, Counter[str]] = {}
    for stored in load_items(split, 0, split.scenes):
        assert isinstance(stored.item.scene, Story)
        texts = [line.text for line in stored.item.scene.lines]
        for question in stored.item.questions:
            seen = "\n".join([*texts[: question.scope], question.text])
            asked.setdefault(question.kind, Counter())[seen] += 1
        stories.setdefault(stored.item.questions[0].kind, Counter())["\n".join(texts)] += 1
    return {
        kind: (
            DistinctCount(stories[kind].total(), len(stories[kind])),
            DistinctCount(asked[kind].total(), len(asked[kind])),
        )
        for kind in stories
    }


@pytest.mark.django_db
def test_repeats_equal_those_of_the_texts() -> None:
    dataset = create_dataset(tasks=[min(BY_NUMBER), max(BY_NUMBER)], told={"people": 2, "places": 3})
    splits = list(dataset.splits.select_related("dataset", "reference").order_by("ordinal"))
    owner = Client().get("/").wsgi_request.user
    found = repeats_of(owner, dataset, splits)
    assert found is not None
    assert found.splits == ["train", "test"] and found.labels == ["stories", "questions about the same lines"]
    twin = [count_distinct(split) for split in splits]
    for task in (min(BY_NUMBER), max(BY_NUMBER)):
        name, label = BY_NUMBER[task].name, f"{task}: {BY_NUMBER[task].label}"
        expected = [figure for one in twin for figure in one[name]]
        rows = [row for row in found.rows if row.label == label]
        if any(one.all != one.different for one in expected):
            assert rows[0].cells == expected
        else:
            assert label in found.plain or rows[0].cells == expected
    totals = [sum(one[kind][place].all for kind in one) for one in twin for place in (0, 1)]
    assert [cell.all for cell in found.rows[0].cells if cell is not None] == totals


@pytest.mark.django_db
def test_the_page_and_the_command_show_how_many_are_distinct() -> None:
    dataset = create_dataset(tasks=[1], told={"people": 2, "places": 3})
    page = Client().get(dataset.get_absolute_url())
    section = page.text[page.text.index('id="repeats"') :]
    cells = re.findall(r'<td class="num">([\d,]+) <span class="count">of ([\d,]+)</span>', section)
    train, test = dataset.splits.order_by("ordinal")
    twin = [count_distinct(split)[BY_NUMBER[1].name] for split in (train, test)]
    assert [(str(one.different), str(one.all)) for pair in twin for one in pair] == [*cells[:4]]
    out = StringIO()
    call_command("verify", dataset.slug, "--json", workers=1, stdout=out)
    notes = json.loads(out.getvalue())["notes"]
    labels = ("stories", "questions about the same lines")
    said = [
        f"{one.all} {label}, {'all' if one.all == one.different else one.different} different"
        for one, label in zip(twin[0], labels, strict=True)
    ]
    assert notes[0] == {"split": "train", "what": "; ".join(said)}
    assert any(note["what"].startswith("shared with train: no stories, ") for note in notes)


@pytest.mark.django_db
def test_a_world_without_repeatable_things_has_no_section_of_repeats() -> None:
    dataset = small.made(with_images=False)
    assert 'id="repeats"' not in Client().get(dataset.get_absolute_url()).text
