"""Endless batches: stored instances and later ones, shards, seeds and vocabularies, compared with slow twins."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine import dataset, stream, worlds
from generation.engine.endless_dataset import Batch, Batches, pad
from generation.engine.errors import BadSpec
from generation.engine.items import Item, Media
from generation.engine.language.token_vocabulary import PADDING, UNKNOWN, Vocabulary, split_words
from generation.engine.worlds import REGISTRY, get_world
from tests.webapp.commands import ROOT
from tests.worlds import marbles
from tests.worlds.clevr.test_picture import PYRAMID

SPEC: dict[str, Any] = marbles.PRESETS["marbles"]
WORDS = st.sampled_from(["how", "many", "red", "?", "ä", "cube", "'"])
CLEVR: dict[str, Any] = {
    "base": "clevr-mini",
    "splits": {"train": {"scenes": 2}, "val": None, "test": None},
    "images": {"width": 96, "height": 64, "samples": 1},
    "scene": {"min_pixels": 0},
    "questions": {"per_scene": 3, "window": 2},
}


@pytest.fixture(autouse=True)
def _marbles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, marbles.NAME, marbles.WHERE)


def read_instances(batches: Batches, *, count: int) -> list[tuple[str, str, bytes]]:
    """Return the words, the answer and the picture of the first `count` instances."""
    found: list[tuple[str, str, bytes]] = []
    for batch in batches:
        known = batches.vocabulary
        for image, words, answer in zip(batch.images, batch.words, batch.answers, strict=True):
            found.append((known.decode(words), known.answers[answer], image.tobytes()))
        if len(found) >= count:
            return found[:count]
    raise AssertionError("batches ended")


def generate_instances(spec: dict[str, Any], *, scenes: int) -> list[tuple[str, str, bytes]]:
    """Return words, answers and pictures of a split of `scenes` scenes that is generated and rendered as usual."""
    world = get_world(str(spec.get("world", "clevr")))
    read = world.read_spec({**spec, "splits": {"train": {"scenes": scenes}}})
    found = []
    assert world.maker is not None
    for chunk in world.maker.plan(read, "train"):
        for item in world.maker.make(read, "train", chunk):
            rgb, _ = world.maker.render(read, "train", item)
            for question in item.questions:
                assert question.answer is not None
                found.append((" ".join(split_words(question.text)), question.answer.text, rgb.tobytes()))
    return found


@pytest.mark.parametrize("size", [1, 5, 128])
def test_the_stream_starts_with_the_stored_split_and_continues_like_a_longer_one(size: int) -> None:
    assert read_instances(stream(SPEC, "train", size), count=80) == generate_instances(SPEC, scenes=40)


def test_a_stream_of_clevr_equals_the_stored_split() -> None:
    spec = get_world("clevr").read_spec(CLEVR).to_json()
    assert read_instances(stream(CLEVR, "train", 4), count=15) == generate_instances(spec, scenes=5)


def test_a_batch_has_the_documented_shapes_and_types() -> None:
    batch = next(stream(SPEC, "train", 6))
    assert batch.images.shape == (6, 4, 36, 3)
    assert (batch.words.shape, batch.lengths.shape, batch.answers.shape) == ((6, 6), (6,), (6,))
    assert [array.dtype for array in batch] == [np.uint8, np.int64, np.int64, np.int64]


def test_a_batch_has_128_instances_by_default() -> None:
    assert len(next(stream(SPEC, "train")).images) == 128


def as_bytes(batch: Batch) -> bytes:
    return b"".join(array.tobytes() for array in batch)


def test_the_seed_determines_the_batches() -> None:
    def first(seed: int | None) -> bytes:
        return as_bytes(next(stream(SPEC, "train", 40, seed=seed)))

    assert first(None) == first(0) == first(0)
    assert len({first(0), first(1), first(2**64 - 1)}) == 3
    assert as_bytes(next(stream({**SPEC, "seed": 7}, "train", 40))) == first(7)


def test_the_split_and_its_secret_change_the_batches() -> None:
    firsts = [stream(SPEC, "train", 40), stream(SPEC, "val", 40), stream(SPEC, "train", 40, secret=bytes(range(16)))]
    assert len({as_bytes(next(batches)) for batches in firsts}) == 3


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_shards_are_disjoint_and_together_they_are_the_whole_stream(shards: int) -> None:
    """A chunk of marbles has six instances."""
    parts = [
        read_instances(stream(SPEC, "train", 5, shard=shard, shards=shards), count=12 * 6) for shard in range(shards)
    ]
    chunks = [part[at : at + 6] for at in range(0, 12 * 6, 6) for part in parts]
    assert [one for chunk in chunks for one in chunk] == read_instances(
        stream(SPEC, "train", 64), count=12 * 6 * shards
    )


@pytest.mark.parametrize("shard", [(-1, 2), (2, 2), (0, 0)])
def test_an_invalid_shard_is_refused(shard: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="shard"):
        stream(SPEC, "train", shard=shard[0], shards=shard[1])


@pytest.mark.parametrize(
    ("spec", "split", "message"),
    [
        (SPEC, "trian", "split: Expected one of train, val, got 'trian'"),
        ("no-such-preset", "train", "Expected a JSON file or a preset"),
        ({"world": "nowhere", "splits": {}}, "train", "world: Expected one of"),
        ({**SPEC, "sed": 1}, "train", "sed: Expected a known key"),
        ({**SPEC, "seed": -1}, "train", "seed: Expected"),
    ],
)
def test_a_bad_spec_or_split_is_refused_before_the_first_batch(spec: Any, split: str, message: str) -> None:
    with pytest.raises(BadSpec) as told:
        stream(spec, split)
    assert message in str(told.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"media": Media.STORY}, "with pictures"), ({"words": lambda self, spec: None}, "knows its words")],
)
def test_a_world_without_pictures_or_words_is_refused(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], message: str
) -> None:
    changed = type("Changed", (marbles.MarbleWorld,), change)()
    monkeypatch.setitem(worlds._LOADED.worlds, marbles.NAME, changed)
    with pytest.raises(BadSpec, match=message):
        stream(SPEC, "train")


def test_files_are_read_that_a_spec_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.joinpath("pyramid.obj").write_text(PYRAMID)
    monkeypatch.chdir(tmp_path)
    shapes = {"pyramid": {"solid": "mesh", "mesh": "pyramid.obj"}, "cube": None, "sphere": None}
    batches = stream({**CLEVR, "vocabulary": {"shapes": shapes}}, "train", 6, seed=5)
    assert "pyramid" in batches.vocabulary.words and "cube" not in batches.vocabulary.answers
    assert next(batches).images.any()


# Datasets


def test_a_dataset_continues_each_split_after_its_last_batch() -> None:
    shapes, first = dataset(SPEC, seed=3), stream(SPEC, "train", 10, seed=3)
    whole = next(first)
    parts = [shapes.generate(4, "train"), shapes.generate(6, "train")]
    other = shapes.generate(4, "val")
    assert b"".join(part.images.tobytes() for part in parts) == whole.images.tobytes()
    assert np.concatenate([part.answers for part in parts]).tolist() == whole.answers.tolist()
    assert as_bytes(other) == as_bytes(next(stream(SPEC, "val", 4, seed=3)))
    assert shapes.vocabulary.words == first.vocabulary.words


def test_models_of_scenes_and_questions_are_returned_on_request() -> None:
    shapes = dataset(SPEC)
    plain, modelled = shapes.generate(4), shapes.generate(8, include_model=True)
    assert isinstance(plain, Batch)
    items = [item for item in made_items(SPEC, scenes=20) for _ in item.questions][4:12]
    questions = [question for item in made_items(SPEC, scenes=20) for question in item.questions][4:12]
    assert modelled.world_model == [item.scene.to_json() for item in items if item.scene is not None]
    assert modelled.caption_model == [question.to_json()["program"] for question in questions]


def test_models_do_not_change_the_batches() -> None:
    with_models, without = dataset(SPEC).generate(8, include_model=True), dataset(SPEC).generate(8)
    assert as_bytes(Batch(*with_models[:4])) == as_bytes(without)


def made_items(spec: dict[str, Any], *, scenes: int) -> list[Item]:
    """Return the items of the train split with `scenes` scenes."""
    world = get_world(str(spec["world"]))
    assert world.maker is not None
    read = world.read_spec({**spec, "splits": {"train": {"scenes": scenes}}})
    return [item for chunk in world.maker.plan(read, "train") for item in world.maker.make(read, "train", chunk)]


@pytest.mark.parametrize(
    ("n", "mode", "message"),
    [(0, "train", "a batch of at least 1, got 0"), (4, "trian", "split: Expected one of train, val, got 'trian'")],
)
def test_an_invalid_batch_size_or_split_is_refused(n: int, mode: str, message: str) -> None:
    with pytest.raises((ValueError, BadSpec)) as told:
        dataset(SPEC).generate(n, mode)
    assert message in str(told.value)


# Words


@given(st.lists(st.lists(WORDS, max_size=6), min_size=1, max_size=5), st.integers(0, 3))
@settings(max_examples=100)
def test_padding_keeps_the_words_of_each_row(rows: list[list[str]], more: int) -> None:
    vocabulary = Vocabulary({word for row in rows for word in row} - {"red"}, ())
    numbers = [vocabulary.encode(" ".join(row)) for row in rows]
    words, lengths = pad(numbers, length=max(map(len, rows)) + more if more else None)
    assert words.shape == (len(rows), max(map(len, rows)) + more)
    for row, said_, length in zip(rows, words.tolist(), lengths.tolist(), strict=True):
        expected = [vocabulary.words.index(word) if word != "red" else UNKNOWN for word in row]
        assert said_ == expected + [PADDING] * (words.shape[1] - len(row))
        assert length == len(row)


def test_a_question_that_is_longer_than_the_given_length_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 5 words, got one of 6"):
        next(stream(SPEC, "train", length=5))


def test_words_and_punctuation_are_separated() -> None:
    assert split_words("Is the light-blue cube's top red?") == [
        *("is", "the", "light", "-", "blue", "cube", "'", "s", "top", "red", "?"),
    ]


def test_the_vocabulary_does_not_depend_on_the_order_of_words() -> None:
    assert Vocabulary(["b", "a", "b"], ()).words == Vocabulary(["a", "b"], ()).words == ("<pad>", "<unknown>", "a", "b")


def test_all_splits_of_a_spec_have_one_vocabulary() -> None:
    """This holds although one split has words and answers that the others lack."""
    spec = {
        **CLEVR,
        "splits": {
            "train": {"scenes": 2},
            "val": {"scenes": 2, "overrides": {"vocabulary": {"colors": {"orange": {"rgb": [255, 128, 0]}}}}},
            "test": None,
        },
    }
    train, val = (stream(spec, name, 2).vocabulary for name in ("train", "val"))
    assert train.words == val.words
    assert train.answers == val.answers
    assert "orange" in train.words and "orange" in train.answers


# Requirements


def test_the_engine_needs_no_django_settings_and_no_torch() -> None:
    """The import of the package does not load NumPy either."""
    program = (
        "import sys, generation.engine\n"
        "assert 'numpy' not in sys.modules\n"
        "from generation.engine import stream\n"
        "stream('clevr-mini', 'train')\n"
        "print([name for name in ('django', 'torch', 'celery', 'webapp') if name in sys.modules])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.stdout == "[]\n", ended.stderr
