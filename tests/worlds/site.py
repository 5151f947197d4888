"""Rules for a world on the site, in addition to those of `tests.worlds.conformance`.

Each rule is a function of a `Site` with a dataset of the world. It raises AssertionError if the rule is violated.
"""

import gzip
import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotations.models import Answer
from generation.browsing.pictures import version_of
from generation.engine import formats
from generation.engine.content_hash import canonical
from generation.engine.errors import BadExport
from generation.engine.items import Media, Needs
from generation.engine.program import execute
from generation.engine.reading.dataset_reader import find_reader
from generation.engine.worlds import READERS
from generation.engine.worlds.story_text import seen_by, story_of
from generation.exchange import exports
from generation.making import dataset_jobs, imports
from generation.models import Dataset, Question, Scene, Split
from generation.storage.items import engine_question
from generation.verification.dataset import scope_of, verify
from tests.annotations.visitors import Visitor, study_of
from tests.generation.complete_datasets import finish
from tests.leaderboards import sent
from tests.worlds.conformance import Case
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.models import Method
from webapp.models import User

SCENES = {"train": 4, "val": 3, "test": 2}  # answers of the last split are withheld
SECRET = "0f" * 16
OF_PICTURES = {"coco"}  # formats that only export pictures
OF_TRAINING = {"trl", "verl"}  # formats that only export open answers


@dataclass(frozen=True)
class Site:
    """A dataset of a world in the database of a test.

    Attributes
    ----------
    case : Case
    dataset : Dataset
        Complete and public, with pictures if the world has them.
    folder : Path
        A separate folder for the files of each rule.
    """

    case: Case
    dataset: Dataset
    folder: Path

    @cached_property
    def val(self) -> Split:
        """The split with questions for people and models."""
        return self.split("val")

    def split(self, name: str) -> Split:
        """Return a split of the dataset."""
        return self.dataset.splits.select_related("dataset", "parent", "reference").get(name=name)

    @cached_property
    def revealing(self) -> list[tuple[str, str, str]]:
        """Name, label and first value of each revealing facet."""
        found = [facet for facet in self.case.world.facets(self.case.own) if facet.reveals]
        return [(facet.name, facet.label, facet.values[0]) for facet in found if facet.needs == Needs.ITEM]


def spec_of(case: Case) -> dict[str, Any]:
    """Return a spec of the world's smallest preset with a few scenes. The answers of one split are withheld."""
    data = case.spec.to_json()
    first = data["splits"][case.split]
    plain = {**first, "reference": None, "withheld": False}
    splits = {name: {**plain, "scenes": count} for name, count in SCENES.items()}
    splits["test"]["withheld"] = True
    return {**data, "splits": splits}


def made(case: Case, *, slug: str, images: bool = True) -> Dataset:
    """Return a complete dataset of the world."""
    spec, with_images = spec_of(case), images and case.world.media == Media.IMAGE
    return finish(
        dataset_jobs.start(spec, slug=slug, visibility="public", images=with_images, secrets={"test": SECRET})
    )


def it_is_made_again_the_same(site: Site) -> None:
    """The same spec gives the same content hashes, and the stored items are those of the maker."""
    again = made(site.case, slug="again", images=False)
    hashes = [dict(one.splits.values_list("name", "fingerprint")) for one in (site.dataset, again)]
    assert hashes[0] == hashes[1]
    assert site.dataset.fingerprint == again.fingerprint
    spec, maker = site.dataset.read_spec(), site.case.maker
    items = [item for chunk in maker.plan(spec, "train") for item in maker.make(spec, "train", chunk)]
    scenes = Scene.objects.filter(split=site.split("train")).order_by("position")
    assert [canonical(row.scene_json) for row in scenes] == [
        canonical(item.scene.to_json() if item.scene else None) for item in items
    ]
    texts = Question.objects.filter(split=site.split("train")).order_by("position").values_list("text", "answer")
    made_ = [(one.text, one.answer.text if one.answer else None) for item in items for one in item.questions]
    assert list(texts) == made_


def verifying_finds_nothing_wrong(site: Site) -> None:
    """All stored data is proved, and pictures that are drawn again look the same."""
    verdict = verify(site.dataset, scope_of(site.dataset, rerender=3))
    assert not verdict.findings, verdict.findings


def every_question_and_step_is_shown(site: Site) -> None:
    """The dataset, its splits, all questions and all steps of programs have a page."""
    client = Client()
    for address in (
        "/datasets/",
        site.dataset.get_absolute_url(),
        *(site.split(name).get_absolute_url() for name in SCENES),
    ):
        assert client.get(address).status_code == 200, address
    world, spec = site.case.world, site.val.read_spec()
    table = world.functions(spec)
    for row in site.val.question_set.select_related("scene").order_by("position"):
        page = client.get(row.get_absolute_url())
        assert page.status_code == 200
        assert _plain(row.text) in _plain(page.text)
        assert all(_plain(line) in _plain(page.text) for line in lines_of(site, row))
        if row.steps is None or table is None:
            continue
        for step in range(len(row.steps)):
            shown = client.get(f"{row.get_absolute_url()}?step={step}")
            assert shown.status_code == 200
            assert 'aria-current="step"' in shown.text
        scene = world.read_scene(row.scene.scene_json) if row.scene.scene_json is not None else None
        trace = execute(row.steps, scene, table=table, scope=row.scope)
        assert str(trace[-1].value) == row.answer


def lines_of(site: Site, row: Question) -> tuple[str, ...]:
    """Return the lines before a question; none if the world has no stories."""
    scene = site.case.world.read_scene(row.scene.scene_json) if row.scene.scene_json is not None else None
    return seen_by(engine_question(row), story_of(site.case.world, scene) or ())


def _plain(text: str) -> str:
    """Return a text without punctuation and HTML entities."""
    return re.sub(r"&\w+;|&#\w+;|[^\w\s]", "", text)


def withheld_answers_are_told_nowhere(site: Site) -> None:
    """For a withheld split, strangers see only pictures, stories, texts and facets that are not revealing."""
    client, split = Client(), site.split("test")
    address, api = split.get_absolute_url(), f"/api/v1/datasets/{site.dataset.slug}/splits/test/questions/"
    labels = {label.capitalize() for _, label, _ in site.revealing}
    for row in split.question_set.order_by("position"):
        page = client.get(row.get_absolute_url())
        assert page.status_code == 200
        assert 'class="the-answer"' not in page.text and 'class="steps' not in page.text
        assert 'id="supports"' not in page.text and 'class="pointed"' not in page.text
        assert all(_plain(line) in _plain(page.text) for line in lines_of(site, row))
        assert not labels & set(re.findall(r"<dt>([^<]*)</dt>", page.text))
        told = client.get(f"{api}{row.position}/").json()
        assert told.get("answer") is None and told.get("program") is None
        assert told.get("story", []) == list(lines_of(site, row))
        assert not {name for name, _, _ in site.revealing} & set(told.get("facets", {}))
    for name, _, value in site.revealing:
        assert client.get(address, {name: value}).status_code == 400, name
    ids = f"{address}scene/0/ids/{version_of(site.dataset)}.png"
    assert client.get(ids).status_code == 404


def it_is_exported_in_every_format_and_read_again(site: Site) -> None:
    """Every format is written without withheld data. A format that can be imported gives the same content hashes."""
    world = site.case.world
    for name in formats.names(world):
        folder = site.folder / name
        stored = exports.StoredDataset(site.dataset, images=site.dataset.with_images)
        format_ = formats.find(name, world)
        if name in OF_PICTURES and world.media != Media.IMAGE:
            with pytest.raises(BadExport, match="choose another format"):
                exports.write(stored, folder, format_=format_, options=formats.check_options(format_, {}))
            continue
        if name in OF_TRAINING:
            refused = None
            try:
                exports.write(stored, folder, format_=format_, options=formats.check_options(format_, {}))
            except BadExport as error:
                refused = str(error)
            assert refused is not None and "whose answers are withheld" in refused, name
            assert not any(path.is_file() for path in folder.rglob("*")), name
            stored = exports.StoredDataset(site.dataset, splits=["train", "val"], images=site.dataset.with_images)
        exports.write(stored, folder, format_=format_, options=formats.check_options(format_, {}))
        assert any(path.is_file() for path in folder.rglob("*")), name
        if name in READERS:
            _read_again(site, name, folder)
    with gzip.open(site.folder / "jsonl/test/questions.jsonl.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    assert len(lines) == site.split("test").questions
    assert all(line["answer"] is None and line["program"] is None for line in lines)
    assert not (site.folder / "jsonl/test/scenes.jsonl.gz").exists()


def _read_again(site: Site, name: str, folder: Path) -> None:
    found = find_reader(name).find([folder])
    dataset = imports.begin(found, imports.ImportRequest(slug=f"read-{name}", format=name, images="none"))
    dataset_jobs.work(dataset=dataset)
    hashes = dict(dataset.splits.values_list("name", "fingerprint"))
    for split in ("train", "val"):
        assert hashes[split] == site.split(split).fingerprint, f"{name}, {split}"


def people_are_asked(site: Site) -> None:
    """A participant practises, sees each question with its instruction, and answers with the buttons."""
    rows: dict[str, list[Question]] = {}
    for one in site.val.question_set.select_related("scene"):
        rows.setdefault(one.text, []).append(one)
    study = study_of(site.dataset, questions=min(site.val.questions, 4), practice=1, practice_right=0)
    visitor = Visitor(study)
    visitor.to_questions()
    answered = 0
    while 'name="answer"' in visitor.look():
        if "Practice:" not in visitor.page:
            same = rows[visitor.asked()]
            row = same[0]
            form = site.case.world.answer_form(site.val.read_spec(), engine_question(row))
            if form.parts:
                assert visitor.choices() == [""]  # one button, and boxes
                assert set(form.parts) <= {value for _, value in visitor.parts()}
            else:
                assert visitor.choices() == list(form.choices or site.case.world.answers(site.val.read_spec()))
                assert row.answer in visitor.choices()
            assert form.instruction in visitor.page
            page = html.unescape(visitor.page)
            assert any(all(line in page for line in lines_of(site, one)) for one in same)
            answered += 1
        visitor.answer()
    assert answered == min(site.val.questions, 4)
    assert "DONE-1" in visitor.go_on(comment="")
    assert Answer.objects.counted().filter(slot__question__study=study).count() == answered


def models_are_ranked(site: Site) -> None:
    """Right answers have accuracy 1 in every column, and the leaderboard, its slices and its views have a page."""
    owner = User.objects.create_user("modeller", "modeller@example.org", "x")
    method = Method.objects.create(name="All of it right", owner=owner)
    row = sent.submitted(method, site.val, sent.truth_of(site.val))
    assert row.is_scored, row.message
    [score] = row.scores.filter(split=site.val)
    assert score.right == score.n == site.val.questions
    columns = json.loads(score.columns)
    assert set(columns) <= {column.label for column in site.case.world.columns(site.val.read_spec())}
    assert all(right == n for right, n in columns.values())
    baselines.begin()
    scoring.RUNNER.take_turn()
    client = Client()
    client.force_login(owner)
    board = f"/leaderboards/{site.dataset.slug}/val/"
    page = client.get(board)
    assert page.status_code == 200 and "All of it right" in page.text
    queries = [{"view": view.name} for view in site.case.world.board_views]
    queries += [
        {"by": facet.name} for facet in site.case.world.facets(site.val.read_spec()) if facet.needs == Needs.ITEM
    ]
    for query in queries:
        assert client.get(f"{board}slices/", query).status_code == 200, query


Rule = Callable[[Site], None]
RULES: tuple[Rule, ...] = (
    it_is_made_again_the_same,
    verifying_finds_nothing_wrong,
    every_question_and_step_is_shown,
    withheld_answers_are_told_nowhere,
    it_is_exported_in_every_format_and_read_again,
    people_are_asked,
    models_are_ranked,
)
