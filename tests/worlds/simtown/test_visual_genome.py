"""Frequencies of Visual Genome: words are cleaned, counted, and given to SimTown's entities by rank."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import BadRecord
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.simtown import visual_genome
from generation.engine.worlds.simtown.visual_genome import (
    Relationship,
    clean_entity,
    clean_predicate,
    correct,
    count,
    frequency_file,
    main,
    noun_lemma,
    read_images,
    relationships,
    spelling,
    verb_lemma,
)

# Table 2 lists predicates as they are after cleaning.
OF_THE_PAPER = (
    "on, in, above, behind, next to, next, under, front, sit on, stand, hang on, lay on, cover to, park on, "
    "on back of, grow on, have, wear, hold, carry, eat, walk, play, watch"
)
STEMS = (  # what is before -ing and -ed, and the verb
    "park park, pos pose, mov move, tagg tag, fill fill, handl handle, glu glue, open open, lean lean, us use, "
    "seat seat, decorat decorate, show show, fix fix, balanc balance, edg edge, display display"
)
NOUNS = "bus grass tree box city glasses building painting clothing ring canvas"
VERBS = "sit ride need feed see pass pull cross bring"


def image(*triples: tuple[str, str, str]) -> dict[str, Any]:
    return {
        "image_id": 1,
        "relationships": [
            {"subject": {"name": subject}, "predicate": predicate, "object": {"names": [other]}}
            for subject, predicate, other in triples
        ],
    }


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("a red hydrant", "hydrant"),
        ("Trees", "tree"),
        ("the men", "man"),
        ("buses", "bus"),
        ("glass", "glass"),
        ("brick buildings", "building"),
        ("the man's hand", "hand"),
        ("bottle of water", "bottle"),
        ("Woman wearing a hat.", "woman"),
        ("parking lot", "lot"),
        ("earrings", "earring"),
        ("potatoes", "potato"),
        ("shoes", "shoe"),
        ("sizes", "size"),
        ("on", "on"),
        ("", ""),
    ],
)
def test_an_entity_is_its_noun(text: str, noun: str) -> None:
    assert clean_entity(text) == noun


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("is standing on", "stand on"),
        ("ON", "on"),
        ("are on the back of", "on back of"),
        ("has", "have"),
        ("sitting in", "sit in"),
        ("wearing a", "wear"),
        ("is parked on", "park on"),
        ("carried by", "carry by"),
        ("attached to", "attach to"),
        ("surrounded by", "surround by"),
        ("stopped at", "stop at"),
        ("placed on", "place on"),
        ("located in", "locate in"),
        ("chasing", "chase"),
        ("smiling at", "smile at"),
        ("during", "during"),
        ("red", "red"),
        ("is", ""),
    ],
)
def test_a_predicate_has_neither_forms_of_be_nor_determiners_nor_endings(text: str, predicate: str) -> None:
    assert clean_predicate(text) == predicate


@pytest.mark.parametrize("predicate", OF_THE_PAPER.split(", "))
def test_the_predicates_of_the_paper_s_table_are_base_forms(predicate: str) -> None:
    assert clean_predicate(predicate) == predicate


def test_base_forms_stay_as_they_are() -> None:
    for word in NOUNS.split():
        assert noun_lemma(noun_lemma(word)) == noun_lemma(word) == word
    for word in VERBS.split():
        assert verb_lemma(verb_lemma(word)) == verb_lemma(word) == word


@pytest.mark.parametrize("ending", ["ing", "ed"])
@pytest.mark.parametrize(("stem", "verb"), [pair.split() for pair in STEMS.split(", ")])
def test_verbs_lose_their_endings(stem: str, verb: str, ending: str) -> None:
    assert verb_lemma(stem + ending) == verb


def test_a_rare_word_one_letter_from_a_frequent_one_is_a_misspelling() -> None:
    words = Counter({"person": 1000, "persom": 2, "prson": 1, "perosn": 1, "parson": 100, "man": 500, "mam": 1})
    assert spelling(words) == {"persom": "person", "prson": "person", "perosn": "person"}


def test_images_are_read_one_by_one_from_a_file_larger_than_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visual_genome, "PIECE", 7)
    images = [image(("man", "on", "bus")), image(), image(("cat", "in", "box"), ("dog", "near", "cat"))]
    for text in (json.dumps(images), json.dumps(images, indent=3)):
        assert list(read_images(io.StringIO(text), name="r.json")) == images


@pytest.mark.parametrize("text", ['{"a": 1}', "", "[1]", '[{"a": 1}', '[{"a": 1},', "[{]"])
def test_a_file_of_another_form_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(BadRecord, match=r"^r\.json"):
        list(read_images(io.StringIO(text), name="r.json"))


def test_a_relationship_without_a_name_is_refused_with_its_place() -> None:
    broken = [image(), {"relationships": [{"subject": {}, "predicate": "on", "object": {"name": "x"}}]}]
    with pytest.raises(BadRecord, match=r"r\.json, \[1\]"):
        list(relationships(iter(broken), name="r.json"))


def test_misspelt_words_of_predicates_and_entities_are_corrected() -> None:
    right, wrong = Relationship("person", "in front of", "fence"), Relationship("persom", "in fromt of", "fense")
    assert correct(Counter({right: 500, wrong: 2})) == {right: 502}


def test_rare_predicates_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visual_genome, "LEAST_PREDICATE", 2)
    triples = [Relationship("man", "on", "bus"), Relationship("cat", "on", "bus"), Relationship("dog", "eat", "bus")]
    found = count(iter(triples))
    assert found.predicates == {"on": 2}
    assert found.subjects == {"man": 1, "cat": 1}
    assert found.objects == {"bus": 2}


def test_the_most_frequent_words_go_to_the_entities_by_rank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visual_genome, "LEAST_PREDICATE", 1)
    words = ("man", "bus", "tree", "cat", "dog", "cup")
    triples = [
        (one, "is on the", other)
        for a, one in enumerate(words)
        for b, other in enumerate(words)
        for _ in range((6 - a) * (6 - b))
        if one != other
    ]
    path = tmp_path / "relationships.json"
    path.write_text(json.dumps([image(*triples)]))
    assert main([str(path), "--entities", "5"]) == 0
    text = capsys.readouterr().out
    rows = json.loads(text)
    assert [row["word"] for row in rows] == list(words[:5])
    assert sum(row["subject"] for row in rows) == pytest.approx(1)
    assert rows[0]["subject"] > rows[4]["subject"]
    (tmp_path / "shares.json").write_text(text)
    data = {"base": "simtown-mini", "entities": 5, "questions": {"shares": "shares.json"}}
    gathered, files = get_maker("simtown").gather(data, folder=tmp_path)
    spec = get_world("simtown").read_spec(gathered)
    assert files == {}
    assert spec.ranked == tuple(row["name"] for row in rows)
    assert spec.usual.subjects[spec.names.index(rows[0]["name"])] == rows[0]["subject"]


def test_too_few_words_are_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "relationships.json"
    path.write_text("[]")
    assert main([str(path)]) == 1
    assert capsys.readouterr().err == "Expected at least 60 different entities, got 0.\n"
    with pytest.raises(BadRecord):
        frequency_file(count(iter(())), entities=5)


@pytest.mark.parametrize("entities", ["3", "65"])
def test_a_number_of_entities_that_no_spec_can_have_is_one_message(
    entities: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "relationships.json"
    path.write_text("[]")
    assert main([str(path), "--entities", entities]) == 1
    assert capsys.readouterr().err == f"Expected 4 to 64 entities, got {entities}.\n"


@pytest.mark.parametrize(("content", "why"), [(None, "No such file"), (b"[\xff]", "utf-8")])
def test_a_file_that_cannot_be_read_is_one_message(
    content: bytes | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "relationships.json"
    if content is not None:
        path.write_bytes(content)
    assert main([str(path)]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith(f"Expected a readable text file, got {path} (") and why in captured.err
