"""A lexicon that is learned from files in the format of the release gives their vocabulary in all languages."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from generation.engine.errors import BadRecord, BadSpec
from generation.engine.items import Item
from generation.engine.verification.checks import Checker
from generation.engine.verification.proof import Proof
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.babi.languages import language_of
from generation.engine.worlds.babi.lexicon import KINDS, meaning
from generation.engine.worlds.babi.lexicon_learning import learn
from generation.engine.worlds.babi.spec import gathered
from tests.proof import size
from tests.worlds.babi.items import generate_items
from tests.worlds.babi.release_words import write_release

WORLD = get_world("babi")
STORIES = size(40, least=20)  # of each task in the files
UNKNOWN = 0.02  # of all tokens: the largest share that the other side lacks
FOLDERS = ("hn", *(pytest.param(name, marks=pytest.mark.full) for name in ("en", "shuffled")))
RARE = {"en": "three", "shuffled": language_of("shuffled").answer("three"), "hn": language_of("hindi").answer("three")}


@cache
def write_files(folder: str) -> Path:
    """Write files of all tasks in the format of the release in this language and in English, and return the folder."""
    root = Path(mkdtemp(prefix="horsesense-test-"))
    for name in dict.fromkeys(("en", folder)):
        write_release(root, language=name, count=STORIES)
    return root / folder


@cache
def learn_lexicon(folder: str) -> dict[str, Any]:
    """Return the lexicon of the files as JSON, with the answer "three", which is rare."""
    data: dict[str, Any] = json.loads(learn(write_files(folder)).model_dump_json())
    data["answers"].setdefault("three", RARE[folder])
    return data


def tokens(texts: Iterable[str]) -> Counter[str]:
    return Counter(token for text in texts for token in re.findall(r"\w+|[^\w\s]", text))


def texts_of(items: Iterable[Item]) -> list[str]:
    return [
        text for item in items for text in (*map(str, WORLD.story(item.scene)), *(one.text for one in item.questions))
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_stories_with_a_lexicon_have_the_vocabulary_of_the_files_and_are_valid(folder: str) -> None:
    splits = {"train": {"questions": 40}}
    spec = WORLD.read_spec({"world": "babi", "title": "", "splits": splits, "lexicon": learn_lexicon(folder)})
    items = generate_items(spec)
    lines = [
        line.split("\t")[0].split(" ", 1)[1]
        for path in write_files(folder).iterdir()
        for line in path.read_text().splitlines()
    ]
    ours, theirs = tokens(texts_of(items)), tokens(line.strip() for line in lines)
    for own, other in ((ours, theirs), (theirs, ours)):
        unknown = [token for token in own if token not in other]
        assert sum(own[token] for token in unknown) <= UNKNOWN * own.total(), unknown
    answers = {
        part
        for path in write_files(folder).iterdir()
        for line in path.read_text().splitlines()
        if "\t" in line
        for part in line.split("\t")[1].split(",")
    }
    assert {part for item in items for one in item.questions if one.answer for part in one.answer.text.split(",")} <= (
        answers | {RARE[folder]}
    )
    checker, proof = Checker(WORLD, spec.for_split("train"), made=True), Proof()
    for item in items:
        checker.prove(item, proof)
        assert not proof.settle()


@pytest.mark.parametrize("kind", KINDS)
def test_the_plain_sentence_of_each_kind_is_recognised(kind: str) -> None:
    examples = {"person": "Mary", "place": "kitchen", "place2": "garden", "thing": "milk", "person2": "John",
                "shape": "triangle", "shape2": "red square", "size": "box", "size2": "chest", "name": "Lily",
                "species": "swan", "kind": "cat", "kind2": "wolf", "colour": "gray", "state": "bored"}  # fmt: skip
    text, roles = KINDS[kind]
    english = text.format(**examples)
    found = meaning(english[0].upper() + english[1:])
    assert found is not None and found.kind == kind
    assert found.words == tuple(examples[role] for role in roles)


def test_the_command_writes_a_lexicon_that_a_spec_can_name(tmp_path: Path) -> None:
    call_command("lexicon", str(write_files("en")), output=tmp_path / "words.json")
    data = gathered(
        {"world": "babi", "title": "", "splits": {"train": {"scenes": 20}}, "lexicon": "words.json"}, folder=tmp_path
    )
    spec = WORLD.read_spec(data)
    again = WORLD.read_spec(spec.to_json())
    assert again.to_json() == spec.to_json()
    assert again.to_json()["lexicon"]["sentences"]["in"][0]["text"] == "{person} is in the {place}."
    maker = get_maker("babi")
    (chunk,) = maker.plan(spec, "train")
    assert list(maker.make(spec, "train", chunk)) == list(maker.make(again, "train", chunk))


def test_an_uploaded_file_can_be_a_lexicon() -> None:
    digest = "0" * 64
    data = {"world": "babi", "title": "", "splits": {"train": {"scenes": 20}}, "lexicon": digest}
    spec = WORLD.read_spec(data, files={digest: json.dumps(learn_lexicon("en")).encode()})
    assert isinstance(spec.to_json()["lexicon"], dict)


SMALL: dict[str, Any] = {
    "words": {"person": [{"Mary": "Maria"}]},
    "sentences": {"where is?": [{"text": "Wo ist {person}?"}]},
    "answers": {"kitchen": "Küche"},
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "lexicon.answers: Expected a spelling of the answer 'bathroom', got none"),
        ({"sentences": {"fly": [{"text": "x"}]}}, "got 'fly'"),
        ({"words": {"persons": [{}]}}, "got 'persons'"),
        (
            {"sentences": {"where is?": [{"text": "Wo ist {place}?"}]}},
            "Expected a sentence for 'where is?' with {person}",
        ),
        ({"sentences": {"where is?": [{"text": "Wo ist {person.2}?"}]}}, "Expected a table of words 2 for 'person'"),
        ({"answers": {"yes": "x", "no": "x"}}, "spelt differently"),
        ({"answers": {"yes": "x,y"}}, "without commas"),
        ({"more": 1}, "lexicon"),
    ],
)
def test_a_bad_lexicon_is_refused_with_one_message(changes: dict[str, Any], message: str) -> None:
    data = {
        "world": "babi",
        "title": "",
        "tasks": [1],
        "splits": {"train": {"scenes": 2}},
        "lexicon": {**SMALL, **changes},
    }
    with pytest.raises(BadSpec, match=re.escape(message)):
        WORLD.read_spec(data)


def test_a_lexicon_that_is_missing_or_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    for name in ("bad.json", "none.json"):
        with pytest.raises(BadSpec, match="lexicon: Expected"):
            gathered({"lexicon": name}, folder=tmp_path)
    with pytest.raises(BadSpec, match="lexicon: Expected a lexicon"):
        WORLD.read_spec({"world": "babi", "title": "", "splits": {"train": {"scenes": 2}}, "lexicon": "none.json"})


def test_a_lexicon_of_stories_that_differ_from_the_english_ones_is_refused(tmp_path: Path) -> None:
    write_release(tmp_path, count=2, tasks=(1,))
    other = write_release(tmp_path, language="hn", count=2, tasks=(1,))
    (path,) = other.iterdir()
    path.write_text("1 Mary daftar gayi.\n2 Mary kahan hai? \tdaftar\t1\n")
    with pytest.raises(BadRecord, match="Expected the lines, questions and supporting facts of English"):
        learn(other)
    with pytest.raises(CommandError):
        call_command("lexicon", str(tmp_path / "none"), output=tmp_path / "words.json")
    assert not (tmp_path / "words.json").exists()
