"""Programs against a slow twin that knows geometry alone, and the texts of questions read back."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from generation.engine.language.token_vocabulary import split_words
from generation.engine.program import Step, execute, typecheck
from generation.engine.seeding import Stage, stream
from generation.engine.worlds.simtown.camera import FOCAL, FORWARD, GROUND_AXES, PLACE, RIGHT, UP, camera
from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.programs import (
    RELATIONS,
    REVERSED,
    function_table,
    program_of,
    relation_of,
    words_of,
)
from generation.engine.worlds.simtown.question_text import FORMS, PHRASES, article, parse, say, words
from generation.engine.worlds.simtown.scene import SimTownScene, Vehicle
from tests import proof
from tests.worlds.simtown import twin
from tests.worlds.simtown.made import BASES, WORLD, items, says_yes, scene_of, spec_of, words_asked_of

NAMES = tuple(one.name for one in ENTITIES)
FEW = NAMES[:6]
MARGIN = 1.5
TABLE = function_table(NAMES, tuple(RELATIONS), margin=MARGIN)

metres = some.integers(-9_000, 9_000).map(lambda number: number / 1_000)
vehicles = some.lists(
    some.builds(Vehicle, entity=some.sampled_from(FEW), lane=some.sampled_from(["near", "far"]), x=metres, y=metres),
    min_size=1,
    max_size=3,
    unique_by=lambda one: one.entity,
)


def run(scene: SimTownScene, subject: str, relation: str, other: str, *, margin: float = MARGIN) -> str:
    """Return the answer of the program."""
    table = function_table(NAMES, tuple(RELATIONS), margin=margin)
    return str(execute(program_of(subject, relation, other), scene, table=table)[-1].value)


@pytest.mark.parametrize("base", BASES)
def test_answers_are_what_the_places_of_the_vehicles_give(base: str) -> None:
    spec = spec_of(base)
    for split in items(base, proof.size(10_000 // len(BASES))).values():
        for item in split:
            subject, relation, other = words_asked_of(item)
            assert subject != other
            assert twin.is_true(scene_of(item), subject, relation, other, margin=spec.questions.margin) == says_yes(
                item
            )


@pytest.mark.parametrize("base", BASES)
def test_programs_give_their_answers(base: str) -> None:
    table = WORLD.functions(spec_of(base))
    assert table is not None
    for split in items(base, proof.size(10_000 // len(BASES))).values():
        for item in split:
            [question] = item.questions
            assert question.program is not None
            assert typecheck(question.program, table=table) == "Bool"
            assert execute(question.program, item.scene, table=table)[-1].value == ("yes" if says_yes(item) else "no")
            assert question.kind == relation_of(question.program) == words_asked_of(item)[1]
            assert words_of(question.program) == words_asked_of(item) == parse(question.text)


@given(vehicles, some.sampled_from(FEW), some.sampled_from(tuple(RELATIONS)), some.sampled_from(FEW))
def test_programs_agree_with_the_twin_in_any_scene(
    placed: list[Vehicle], subject: str, relation: str, other: str
) -> None:
    scene = SimTownScene(vehicles=tuple(placed))
    expected = twin.is_true(scene, subject, relation, other, margin=MARGIN)
    assert run(scene, subject, relation, other) == ("yes" if expected else "no")


@given(vehicles, some.sampled_from(tuple(RELATIONS)))
def test_a_relation_and_its_reverse_exchange_the_two_vehicles(placed: list[Vehicle], relation: str) -> None:
    assume(len(placed) > 1)
    scene, (one, two) = SimTownScene(vehicles=tuple(placed)), placed[:2]
    here, there = run(scene, one.entity, relation, two.entity), run(scene, two.entity, relation, one.entity)
    assert here == run(scene, two.entity, REVERSED[relation], one.entity)
    assert (here, there) != ("yes", "yes")


def test_the_margin_decides_to_the_millimetre() -> None:
    """Along an axis, 1.5 metres are enough and 1.499 are not."""
    for relation, words_ in RELATIONS.items():
        a, b = GROUND_AXES[words_]
        second = Vehicle(entity="taxi", lane="near", x=0.0, y=0.0)
        for apart, expected in ((MARGIN, "yes"), (MARGIN - 0.0006, "no"), (-MARGIN, "no")):
            first = Vehicle(entity="fire engine", lane="far", x=a * apart, y=b * apart)
            scene = SimTownScene(vehicles=(first, second))
            assert run(scene, "fire engine", relation, "taxi") == expected


def test_the_outputs_of_a_program_name_the_vehicles() -> None:
    first = Vehicle(entity="fire engine", lane="near", x=-3.0, y=1.7)
    second = Vehicle(entity="taxi", lane="near", x=3.0, y=1.7)
    trace = execute(program_of("fire engine", "left", "taxi"), SimTownScene(vehicles=(first, second)), table=TABLE)
    assert [step.value for step in trace] == [[0, 1], [1], [0], [0], "yes"]
    assert [step.elements for step in trace] == [(0, 1), (1,), (0,), (0,), ()]


def test_other_programs_are_not_taken_for_questions() -> None:
    program = program_of("taxi", "left", "fire engine")
    assert words_of(program) == ("taxi", "left", "fire engine")
    assert words_of(program[:-1]) is None
    assert words_of((*program[:-1], Step("count", (3,)))) is None
    assert words_of((program[0], program[2], program[1], program[3], program[4])) is None
    assert words_of(()) is None
    assert relation_of(program[:2]) == ""


def test_the_camera_has_the_axes_that_its_place_and_target_give() -> None:
    assert np.allclose([RIGHT, UP, FORWARD], [twin.RIGHT, twin.UP, twin.FORWARD], atol=1e-12)
    assert np.allclose(np.array([RIGHT, UP, FORWARD]) @ np.array([RIGHT, UP, FORWARD]).T, np.eye(3), atol=1e-12)
    for relation, words_ in RELATIONS.items():
        assert np.allclose(GROUND_AXES[words_], twin.DIRECTIONS[relation][:2], atol=1e-8)
    seen = camera(width=200, height=120)
    assert (seen.place, seen.focal, seen.width, seen.height) == (PLACE, FOCAL * 200, 200, 120)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_relation_is_what_the_picture_shows(relation: str) -> None:
    """Right of is farther right in the picture at the same depth; behind is higher, on one ray from the camera."""
    start = np.array([0.5, 3.0, 0.0])
    moved = start + 2.0 * np.array([*GROUND_AXES[RELATIONS[relation]], 0.0])
    (x, y), (other_x, other_y) = twin.project(np.array([start, moved]))
    if relation in ("left", "right"):
        assert (other_x > x) == (relation == "right")
        assert abs(other_x - x) > 5 * abs(other_y - y)
    else:
        assert (other_y < y) == (relation == "behind")


# Texts


def texts(subject: str, relation: str, other: str) -> list[str]:
    """Return a question in every wording."""
    return [
        form.format(subject=subject, a=article(subject), relation=phrase, object=other)
        for form in FORMS
        for phrase in PHRASES[relation]
    ]


def test_every_wording_of_every_pair_is_read_back() -> None:
    wanted = proof.size(len(NAMES) * (len(NAMES) - 1), name="pairs of SimTown's vehicles in every wording")
    pairs = list(permutations(NAMES, 2))
    chosen = [pairs[index * len(pairs) // wanted] for index in range(wanted)]
    for subject, other in chosen:
        for relation in RELATIONS:
            for text in texts(subject, relation, other):
                assert parse(text) == (subject, relation, other), text


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("Is the taxi left of the tram?", "left"),
        ("Is there a taxi to the left of the tram?", "left"),
        ("Can you see a taxi right of the tram?", "right"),
        ("Does the picture show a taxi to the right of the tram?", "right"),
        ("Is the taxi in front of the tram?", "front"),
        ("Is there a taxi nearer than the tram?", "front"),
        ("Can you see a taxi behind the tram?", "behind"),
        ("Does the picture show a taxi farther away than the tram?", "behind"),
    ],
)
def test_phrases_mean_what_they_say(text: str, relation: str) -> None:
    assert parse(text) == ("taxi", relation, "tram")
    assert text in texts("taxi", relation, "tram")


def test_every_name_is_read_back_as_subject_and_as_object() -> None:
    for name in NAMES:
        other = "taxi" if name != "taxi" else "tram"
        for relation in RELATIONS:
            assert {parse(text) for text in texts(name, relation, other)} == {(name, relation, other)}
            assert {parse(text) for text in texts(other, relation, name)} == {(other, relation, name)}


def test_all_wordings_are_said_equally_often() -> None:
    chance = stream(seed=1, split="texts", index=0, stage=Stage.WORDS)
    said = [say("ambulance", "left", "taxi", chance) for _ in range(1_600)]
    expected = texts("ambulance", "left", "taxi")
    counts = [said.count(text) for text in expected]
    assert len(set(expected)) == 8
    assert sum(counts) == len(said)
    assert min(counts) > 130
    assert max(counts) < 280
    assert "Is there an ambulance left of the taxi?" in said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Is the taxi left of the tram",
        "Is the taxi near the tram?",
        "Is there taxi left of the tram?",
        "Is the taxi left of a tram?",
        "is the taxi left of the tram?",
        "Is the taxi left of the tram? ",
        "Was the taxi left of the tram?",
    ],
)
def test_other_texts_are_not_read(text: str) -> None:
    assert parse(text) is None


def test_no_name_is_ambiguous() -> None:
    """No name ends or begins with another one, and none contains a word of a relation."""
    assert len(set(NAMES)) == len(NAMES) == 64
    phrases = [phrase for some_ in PHRASES.values() for phrase in some_]
    for name in NAMES:
        assert name == name.strip().lower()
        assert not [other for other in NAMES if other != name and f" {other} " in f" {name} "]
        assert not [phrase for phrase in phrases if phrase in name]


def test_articles_fit_their_nouns() -> None:
    assert {name for name in NAMES if article(name) == "an"} == {
        name for name in NAMES if name[0] in "aeio" or name.startswith("un")
    }


@pytest.mark.parametrize("base", ["simtown-k5", "simtown-k60-distractor"])
def test_the_words_of_a_dataset_are_those_of_its_questions(base: str) -> None:
    names = spec_of(base).names
    known = WORLD.words(spec_of(base))
    found = set()
    for subject in names:
        for relation in RELATIONS:
            for text in texts(subject, relation, names[0]):
                found.update(split_words(text))
    assert set(known) == found
    assert list(known) == sorted(set(known))
    assert words(names, ["left"]) != known
    for item in items(base, 40)["train"]:
        assert set(split_words(item.questions[0].text)) <= set(known)
