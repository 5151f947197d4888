"""Without the picture, the truth of a caption cannot be guessed, because true and false captions have the same form."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import islice

import pytest

from generation.engine.worlds.shapeworld.captions import Captioner
from generation.engine.worlds.shapeworld.captions.statement_templates import frame
from generation.engine.worlds.shapeworld.logical_form import Conjunction, Meaning, statements
from generation.engine.worlds.shapeworld.scene_sampling import sample_scene
from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec, read_spec
from tests import proof
from tests.worlds.shapeworld.pictured import chance
from tests.worlds.shapeworld.test_item_sampler import generate

Said = tuple[str, bool]  # a caption, and whether it is true
LEARNED, GUESSED = 20_000, 10_000  # number of captions of each preset, at full size
BOUND = 0.52  # limit for the share of right guesses, apart from chance; half of the captions are true


def form_of(meaning: Meaning, *, exactly: bool) -> object:
    """Return the form of a meaning without names of shapes and colours; with `exactly`, equal names stay equal."""
    parts = tuple(frame(statement) for statement in statements(meaning))
    joined = meaning.connective if isinstance(meaning, Conjunction) else None
    return joined, parts if exactly else re.sub(r"'\d+'", "'*'", repr(parts))


@pytest.mark.parametrize("negatives", ["world", "corrupt"])
@pytest.mark.parametrize("name", tuple(PRESETS)[:-1])
def test_true_and_false_captions_differ_only_in_shapes_and_colours(name: str, negatives: str) -> None:
    data = {"base": name, "captions": {"negatives": negatives}}
    for index in range(proof.size(1_000, name=f"{name}, false by {negatives}: one frame for true and false", most=6)):
        spec = read_spec(data).for_split(("train", "validation", "test")[index % 3])
        one, other = (caption_of(spec, index, fits=fits) for fits in (True, False))
        if one is None or other is None:
            assert one == other or name == "shapeworld-multishape"  # no false caption is sought if everything is true
        else:
            assert form_of(one, exactly=negatives == "corrupt") == form_of(other, exactly=negatives == "corrupt")


def caption_of(spec: ShapeWorldSpec, index: int, *, fits: bool) -> Meaning | None:
    """Return the first caption, true or false, for the same microworld and the same random numbers."""
    random = chance(index)
    scene = sample_scene(spec, random)
    caption = Captioner(spec).caption(scene, random, fits=fits, other=lambda: sample_scene(spec, random))
    return None if caption is None else caption.meaning


def patterns(spec: ShapeWorldSpec) -> dict[str, Callable[[str], str]]:
    """Return functions that leave out different parts of a caption. A guess may be based on the rest."""
    shapes, colors = ("|".join(spec.vocabulary.values(name)) for name in ("shape", "color"))
    named = re.compile(rf"\b(?:an? )?(?:({shapes})(e?s)?|({colors}))\b")

    def without(text: str) -> str:
        return named.sub(lambda found: f"SHAPE{'s' * bool(found[2])}" if found[1] else "COLOR", text.lower())

    def numbered(text: str) -> str:
        numbers: dict[str, int] = {}
        return named.sub(
            lambda found: f"{numbers.setdefault(found[1] or found[3], len(numbers))}{'s' * bool(found[2])}",
            text.lower(),
        )

    return {
        "itself": str.lower,
        "shapes and colours left out": without,
        "shapes and colours numbered": numbered,
        "its words": lambda text: " ".join(sorted(re.findall(r"\w+", text.lower()))),
        "the first four words": lambda text: " ".join(without(text).split()[:4]),
        "the shapes and colours alone": lambda text: " ".join(re.findall(r"SHAPEs?|COLOR|shapes?", without(text))),
        "its length": lambda text: str(len(text.split())),
    }


def score_guesses(learned: Iterable[Said], tried: Iterable[Said], key: Callable[[str], str]) -> float:
    """Return the mean share of right guesses for true and false captions. An unknown key counts as one half."""
    known = list(learned)
    counts = Counter(is_true for _, is_true in known)
    leaning: dict[str, float] = defaultdict(float)
    for text, is_true in known:
        leaning[key(text)] += (1 if is_true else -1) / counts[is_true]
    right: dict[bool, list[float]] = {True: [], False: []}
    for text, is_true in tried:
        lean = leaning.get(key(text), 0.0)
        right[is_true].append(0.5 if lean == 0 else float((lean > 0) == is_true))
    return sum(sum(found) / len(found) for found in right.values()) / 2


def captions_of_split(spec: ShapeWorldSpec, count: int, *, index: int) -> list[Said]:
    """Return captions of a split, and whether they are true."""
    questions = (item.questions[0] for item in islice(generate(spec, index=index), count))
    return [(one.text, one.answer is not None and one.answer.text == "yes") for one in questions]


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("name", tuple(PRESETS))
def test_learning_from_captions_only_gives_guesses_by_chance(name: str) -> None:
    train, test = (read_spec(PRESETS[name]).for_split(split) for split in ("train", "test"))
    learned = captions_of_split(train, proof.size(LEARNED, name=f"{name}: captions learned without pictures"), index=0)
    tried = captions_of_split(
        test, proof.size(GUESSED, name=f"{name}: captions guessed without pictures"), index=10_000
    )
    by_chance = 4 * 0.5 / len(tried) ** 0.5
    found = {what: score_guesses(learned, tried, key) for what, key in patterns(train).items()}
    assert {what: share for what, share in found.items() if share > BOUND + by_chance} == {}, found


@pytest.mark.parametrize(("name", "least", "most"), [("oneshape", 0.60, 0.66), ("oneshape-balanced", 0.48, 0.52)])
def test_held_out_combinations_predict_the_answer_unless_the_preset_is_balanced(
    name: str, least: float, most: float
) -> None:
    """The guess is yes for every caption with a red square, and no for every other one."""
    tried = captions_of_split(
        read_spec(PRESETS[f"shapeworld-{name}"]).for_split("test"),
        proof.size(40_000, name=f"shapeworld-{name}: captions of red squares"),
        index=0,
    )
    right = sum(("red square" in text) == is_true for text, is_true in tried) / len(tried)
    by_chance = 4 * 0.5 / len(tried) ** 0.5
    assert least - by_chance < right < most + by_chance
