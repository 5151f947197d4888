"""Datasets to train on: the stored items first, by index, in any order and in any process."""

import multiprocessing
import pickle
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generation.engine import worlds
from generation.engine.content_hash import digest
from generation.engine.endless_dataset import read
from generation.engine.environment import EnvironmentDataset, EnvironmentItem, create_dataset
from generation.engine.environment.dataset import ENDLESS
from generation.engine.errors import BadProgram, BadSpec, Exhausted
from generation.engine.items import Item
from generation.engine.program import execute, to_json
from generation.engine.worlds import REGISTRY, get_maker, get_world
from generation.engine.worlds.story_text import prompt_of, story_of
from tests import proof
from tests.engine.environment.specs import SMALL
from tests.worlds import marbles

MARBLES = marbles.PRESETS["marbles"]
ENOUGH = 4_000  # scenes of a split that begins like a longer one; of bAbI it has 160 questions of each task
EACH = 6  # questions of a chunk of marbles
# The first 20 items of seed 1, by their scenes and questions.
FINGERPRINTS = {
    "babi": "0f93a75732f3ebbfc2369a7d4a54e59c7a695e225303ab8967d22e77d92ea93d",
    "clevr": "5c6f0a154850325dfbc78a1b1b2479e8bdd3896a3c35decf46c6e66ed1702e09",
    "counting": "49df39cc2a688abe301da52b98dc7270aa79468606fc66b73d3bbbb76b76663a",
    "shapeworld": "3ab63341668d9d83e8b8c9b49e429f41476191af8209d5b89f5a783f66e149d0",
    "simtown": "db9531cab2de57e2c3400d2027bde17f745e2acb6cc1b4887605e1ab52fe45a2",
}


@pytest.fixture(autouse=True)
def _marbles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, marbles.NAME, marbles.WHERE)


def stored_items(spec: Any, *, seed: int, scenes: int, split: str = "train") -> Iterator[Item]:
    """Yield the items that `generate` stores for a split of `scenes` scenes."""
    whole = read(spec, seed=seed)
    world, maker = get_world(whole.world), get_maker(whole.world)
    data = whole.to_json()
    data["splits"][split]["scenes"] = scenes
    own = world.read_spec(data, files=whole.files)
    for chunk in maker.plan(own, split):
        yield from maker.make(own, split, chunk)


def contents(items: Any) -> list[Any]:
    return [one.to_json() for one in items]


@pytest.mark.parametrize("name", SMALL)
def test_the_first_items_are_those_that_generate_stores(name: str) -> None:
    dataset = create_dataset(SMALL[name], seed=5)
    world = get_world(name)
    stored = islice(stored_items(SMALL[name], seed=5, scenes=ENOUGH), 30)
    pairs = [(item, question) for item in stored for question in item.questions]
    for index, (item, question) in enumerate(pairs):
        one = dataset[index]
        assert question.answer is not None
        assert (one.question, one.answer, one.kind) == (question.text, question.answer.text, question.kind)
        assert one.prompt == prompt_of(world, dataset.spec, question, story_of(world, item.scene))
        assert one.program == question.program
        assert one.answer in one.choices
        assert one.index == index


@pytest.mark.parametrize("name", [name for name in SMALL if name != "babi"])
def test_pictures_are_those_that_generate_stores(name: str) -> None:
    dataset, spec = create_dataset(SMALL[name], seed=5), read(SMALL[name], seed=5)
    item = next(stored_items(SMALL[name], seed=5, scenes=1))
    image = dataset[0].image
    assert image is not None and image.mode == "RGB"
    assert np.array_equal(np.asarray(image), get_maker(name).render(spec, "train", item)[0])
    image.paste((1, 2, 3), (0, 0, 5, 5))
    again = dataset[0].image
    assert again is not None and again.getpixel((0, 0)) != (1, 2, 3)


@pytest.mark.parametrize("name", SMALL)
def test_the_answer_is_what_the_program_gives(name: str) -> None:
    dataset = create_dataset(SMALL[name], seed=2)
    world = get_world(name)
    table = world.functions(dataset.spec.for_split("train"))
    for one in dataset[:20]:
        assert one.program is not None
        last = execute(one.program, one.scene_item.scene, table=table, scope=one.asked.scope)[-1]
        said = "yes" if last.value is True else "no" if last.value is False else str(last.value)
        assert said == one.answer


@pytest.mark.parametrize("name", SMALL)
def test_the_first_items_of_a_seed_never_change(name: str) -> None:
    """If the output of the engine changes, `ENGINE_VERSION` and these hashes change."""
    found = digest([one.content_hash() for one in create_dataset(SMALL[name], seed=1)[:20]])
    assert found == FINGERPRINTS[name]


# Indexes


@given(st.integers(0, 10**6))
@settings(max_examples=proof.size(50, least=20), deadline=None)
def test_an_item_depends_on_its_index_alone(index: int) -> None:
    chunk, within = divmod(index, EACH)
    one = create_dataset(MARBLES, seed=4)[index]
    slow = list(islice(create_dataset(MARBLES, seed=4).iterate(chunk * EACH), within + 1))[-1]
    assert one.to_json() == slow.to_json()
    assert one.index == index


def test_random_access_gives_the_items_of_the_iteration() -> None:
    forward = contents(islice(create_dataset(MARBLES, seed=1), 100))
    order = random.Random(3).sample(range(100), 100)
    dataset = create_dataset(MARBLES, seed=1)
    found = {index: dataset[index].to_json() for index in order}
    assert [found[index] for index in range(100)] == forward


def test_items_do_not_repeat_far_away() -> None:
    dataset = create_dataset("simtown-mini", seed=1)
    places = (0, 99, 100, 10**6, 9_999_999)
    assert len({dataset[index].content_hash() for index in places}) == len(places)


def test_stories_go_on_after_the_end_of_the_split() -> None:
    dataset = create_dataset("babi", seed=1)
    assert dataset[200_000].answer in dataset[200_000].choices


def test_an_iteration_goes_on_at_an_index() -> None:
    whole = contents(islice(create_dataset(MARBLES, seed=1), 40))
    assert contents(islice(create_dataset(MARBLES, seed=1).iterate(17), 23)) == whole[17:]


@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 5, 40])
def test_shards_are_disjoint_and_together_they_are_the_dataset(shards: int, size: int) -> None:
    dataset = create_dataset(MARBLES, size, seed=1)
    parts = [[one.index for one in dataset.iterate(2, shard=shard, shards=shards)] for shard in range(shards)]
    assert sorted(index for part in parts for index in part) == list(range(2, size))
    assert all(part == sorted(part) for part in parts)


@pytest.mark.parametrize("arguments", [{"start": -1}, {"shard": 2, "shards": 2}, {"shard": -1}, {"shards": 0}])
def test_an_invalid_start_or_shard_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="Expected a start of at least 0, and a shard"):
        create_dataset(MARBLES).iterate(**arguments)


def test_a_dataset_with_a_size_is_a_sequence() -> None:
    dataset = create_dataset(MARBLES, 10, seed=1)
    assert len(dataset) == 10
    assert [one.index for one in dataset] == list(range(10))
    assert dataset[-1].index == 9
    assert [one.index for one in dataset[7:]] == [7, 8, 9]
    assert [one.index for one in dataset[::-4]] == [9, 5, 1]
    for index in (10, -11):
        with pytest.raises(IndexError, match="Expected an index from 0 below 10"):
            dataset[index]


def test_an_index_may_be_any_integer_and_nothing_else() -> None:
    dataset = create_dataset(MARBLES, 10, seed=1)
    assert type(dataset[np.int64(3)].index) is int
    with pytest.raises(TypeError):
        dataset[1.0]  # type: ignore[call-overload]


def test_numbers_of_numpy_are_numbers() -> None:
    size, seed, level = np.int64(10), np.uint64(3), np.int8(4)
    dataset = create_dataset(MARBLES, size, seed=seed)  # type: ignore[arg-type]
    assert contents(dataset) == contents(create_dataset(MARBLES, 10, seed=3))
    assert type(dataset.size) is type(dataset.spec.seed) is int
    assert dataset.with_seed(level).spec.seed == 4  # type: ignore[arg-type]
    levels = create_dataset("shapeworld-oneshape").at(objects=level).levels  # type: ignore[arg-type]
    assert levels == {"objects": 4} and type(levels["objects"]) is int


def test_a_dataset_without_an_end_refuses_indexes_beyond_the_numbers_of_chunks() -> None:
    dataset = create_dataset(MARBLES)
    assert dataset[ENDLESS - 1].index == ENDLESS - 1
    for index in (ENDLESS, 10**30):
        with pytest.raises(IndexError, match="Expected an index from 0 below 1,000,000,000,000,000, got 1000"):
            dataset[index]


def test_slices_of_a_dataset_without_an_end_have_steps_like_those_of_lists() -> None:
    dataset = create_dataset(MARBLES)
    assert [one.index for one in dataset[7:2:-2]] == [7, 5, 3]
    assert [one.index for one in dataset[:7:3]] == [0, 3, 6]
    with pytest.raises(IndexError, match="slice"):
        dataset[:5:-1]
    with pytest.raises(ValueError, match="zero"):
        dataset[2:8:0]


def test_a_changed_picture_changes_no_other() -> None:
    dataset = create_dataset(MARBLES, seed=1)
    for one in (dataset[0], pickle.loads(pickle.dumps(dataset[0]))):
        before, changed = one.pixels, one.pixels
        changed[:] = 7
        for same in (one, dataset[1]):
            assert np.array_equal(same.pixels, before)


def test_an_interrupted_chunk_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = contents(create_dataset(MARBLES, seed=1)[:6])
    dataset, ask = create_dataset(MARBLES, seed=1), marbles.MarbleMaker.ask
    dataset[0]

    def stop(*arguments: Any) -> Any:
        monkeypatch.setattr(marbles.MarbleMaker, "ask", ask)
        raise KeyboardInterrupt

    monkeypatch.setattr(marbles.MarbleMaker, "ask", stop)
    with pytest.raises(KeyboardInterrupt):
        dataset[5]
    assert contents(dataset[:6]) == whole


def test_what_cannot_be_made_is_said_each_time() -> None:
    dataset = create_dataset("shapeworld-oneshape").at(captions="medium")
    for _ in range(2):
        with pytest.raises(Exhausted, match="Expected a microworld that admits"):
            dataset[0]


def test_a_dataset_without_an_end_has_no_length_and_no_negative_index() -> None:
    dataset = create_dataset(MARBLES)
    with pytest.raises(TypeError, match="pass a size to create_dataset"):
        len(dataset)
    with pytest.raises(IndexError, match="Expected an index from 0, got -1"):
        dataset[-1]
    for part in (slice(None), slice(3, None), slice(-3, 3), slice(0, -1)):
        with pytest.raises(IndexError, match="slice"):
            dataset[part]


@pytest.mark.parametrize("size", [0, -1, True, 2.0, "7"])
def test_an_invalid_size_is_refused(size: Any) -> None:
    with pytest.raises(ValueError, match="Expected a size of at least 1"):
        create_dataset(MARBLES, size)


# Seeds and splits


def test_the_seed_replaces_that_of_the_spec() -> None:
    first = contents(create_dataset({**MARBLES, "seed": 9}, seed=1)[:12])
    assert first == contents(create_dataset(MARBLES, seed=1)[:12])
    assert first != contents(create_dataset(MARBLES, seed=2)[:12])
    assert contents(create_dataset(MARBLES)[:12]) == contents(create_dataset(MARBLES, seed=0)[:12])
    assert first == contents(create_dataset(MARBLES, seed=7).with_seed(1)[:12])


def test_the_split_is_train_by_default_or_else_the_first() -> None:
    assert create_dataset(MARBLES).split == "train"
    assert create_dataset("clevr-cogent-mini").split == "trainA"
    val = create_dataset(MARBLES, seed=1, split="val")
    assert contents(val[:6]) != contents(create_dataset(MARBLES, seed=1)[:6])


@pytest.mark.parametrize(
    ("spec", "arguments", "message"),
    [
        ("no-such-preset", {}, "Expected a JSON file or a preset"),
        (MARBLES, {"split": "trian"}, "split: Expected one of train, val, got 'trian'"),
        (MARBLES, {"seed": -1}, "seed: Expected"),
        ({**MARBLES, "sed": 1}, {}, "sed: Expected a known key"),
        ({"world": "nowhere", "splits": {}}, {}, "world: Expected one of"),
        (["clevr-mini"], {}, "Expected the name of a preset, a spec or its JSON, got list"),
        (None, {}, "Expected the name of a preset, a spec or its JSON, got NoneType"),
    ],
)
def test_a_bad_spec_split_or_seed_is_refused(spec: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSpec) as told:
        create_dataset(spec, **arguments)
    assert message in str(told.value)


def test_a_world_that_is_only_imported_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = type("Imported", (marbles.MarbleWorld,), {"maker": None})()
    spec = read(MARBLES)
    monkeypatch.setitem(worlds._LOADED.worlds, marbles.NAME, changed)
    with pytest.raises(BadSpec, match="Expected a world that is generated, got 'marbles', which is only imported"):
        create_dataset(spec)


# Processes


@pytest.mark.parametrize("name", SMALL)
def test_items_and_datasets_can_be_pickled(name: str) -> None:
    dataset = create_dataset(SMALL[name], 50, seed=1)
    one = dataset[7]
    again: EnvironmentItem = pickle.loads(pickle.dumps(one))
    assert again.to_json() == one.to_json()
    assert again.content_hash() == one.content_hash()
    assert (again.pixels is None) == (one.pixels is None)
    if one.pixels is not None:
        assert np.array_equal(one.pixels, again.pixels)  # type: ignore[arg-type]
    sent: EnvironmentDataset = pickle.loads(pickle.dumps(dataset))
    assert len(sent) == 50 and sent[7].to_json() == one.to_json()


def test_an_item_without_a_program_can_be_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = marbles.MarbleMaker.ask
    monkeypatch.setattr(marbles.MarbleMaker, "ask", lambda *asked: replace(ask(*asked), program=None))
    one = create_dataset(MARBLES, seed=1)[0]
    again: EnvironmentItem = pickle.loads(pickle.dumps(one))
    assert again.to_json() == one.to_json() and again.program is None
    with pytest.raises(BadProgram, match="Ask without steps"):
        again.prompt_with_steps  # noqa: B018


def test_a_pickled_dataset_keeps_its_level() -> None:
    dataset = create_dataset("shapeworld-oneshape", seed=1).at(objects=4)
    sent: EnvironmentDataset = pickle.loads(pickle.dumps(dataset))
    assert contents(sent[:3]) == contents(dataset[:3])
    assert sent.levels == {"objects": 4}


def describe_items(dataset: EnvironmentDataset, indexes: list[int], sender: Any) -> None:
    sender.send([(dataset[index].to_json(), dataset[index].image.tobytes()) for index in indexes])  # type: ignore[union-attr]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_make_the_same_items(method: str) -> None:
    dataset = create_dataset("shapeworld-oneshape", seed=1)
    context = multiprocessing.get_context(method)
    wanted = [[5, 300, 2], [300, 6, 7]]
    if method == "spawn" and proof.SHARE < 1:
        wanted = wanted[:1]  # a process that is not forked imports the engine again
    dataset[5]  # the chunk is being made when the processes are forked
    found = []
    for indexes in wanted:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=describe_items, args=(dataset, indexes, sender))
        process.start()
        found.append(receiver.recv())
        process.join()
        assert process.exitcode == 0
    for indexes, told in zip(wanted, found, strict=True):
        assert told == [(dataset[index].to_json(), dataset[index].image.tobytes()) for index in indexes]  # type: ignore[union-attr]


# What an item says


def test_an_item_describes_itself_as_json() -> None:
    one = create_dataset("babi", seed=1)[0]
    said = one.to_json()
    assert said["story"] == list(one.story or ()) and said["prompt"].startswith("1 ")
    assert said["program"] == to_json(one.program or ())
    assert said["facets"]["type"] == one.kind
    assert set(said["difficulty"]) == {"facts", "distance", "steps"}
    assert one.image is None and one.pixels is None


def test_difficulty_has_a_value_of_each_attribute_that_a_question_has() -> None:
    one = create_dataset(SMALL["clevr"], seed=1)[0]
    assert one.difficulty == {
        "objects": len(one.scene_item.scene.objects),  # type: ignore[union-attr]
        "length": len(one.program or ()),
        "relations": sum(step.function == "relate" for step in one.program or ()),
    }


def test_the_content_hash_differs_for_other_scenes_and_other_questions() -> None:
    dataset = create_dataset(MARBLES, seed=1)
    assert len({dataset[index].content_hash() for index in range(4)}) == 4
    assert dataset[3].content_hash() == create_dataset(MARBLES, seed=1)[3].content_hash()
