"""Folders of examples: everything that a method may see of a stored split, and nothing else."""

import io
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from generation.engine.endless_dataset import read
from generation.engine.errors import BadTraining
from generation.engine.learners import find_learner
from generation.engine.learners.base import ExampleParts, Learner, LearnerConfig
from generation.engine.learners.examples import Examples, read_examples
from generation.engine.learners.networks.relations.predicate_boxes import PredicateBoxes
from generation.engine.learners.stream_examples import stream_examples
from generation.engine.learners.visible_parts import VisibleParts, scale
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Scene, Split
from generation.splits.split_recipes import read_recipe
from generation.storage import disk_cache, files
from tests.engine.environment.specs import SMALL
from tests.engine.learners import memory_trial
from tests.engine.learners.test_example_writer import as_lists
from tests.generation import small
from tests.generation.complete_datasets import finish
from tests.leaderboards.training import toys
from webapp.leaderboards.training import example_folders, memory_estimates, suitable_methods
from webapp.leaderboards.training.example_folders import ExamplesOrder

pytestmark = pytest.mark.django_db


class Sized(LearnerConfig):
    """Settings of a method that sees pictures."""

    height: int = 20
    width: int = 30


def nothing() -> None:
    """Do nothing."""


def split_of(dataset: Dataset, name: str) -> Split:
    return Split.objects.for_browse().get(dataset=dataset, name=name)


def with_needs(needs: ExampleParts) -> type[Learner]:
    """Return a method with these needs."""
    return type("Needy", (toys.Toy,), {"needs": needs, "uses": ExampleParts()})


def examples_of(split: Split, needs: ExampleParts, *, is_training: bool = True) -> Examples:
    """Return the examples of a split for a method with these needs."""
    order = example_folders.examples_order(with_needs(needs), Sized(), split, is_training=is_training)
    with example_folders.open_folder(order, check=nothing) as folder:
        return read_examples(folder)


@pytest.fixture
def shapes(db: None) -> Dataset:
    """Give a small dataset with pictures; the answers of its test split are withheld."""
    return small.made("shapes")


def test_texts_types_answers_and_programs_are_those_of_the_rows(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    found = examples_of(train, ExampleParts(programs=True))
    rows = list(Question.objects.filter(split=train).order_by("position").select_related("scene"))
    assert found.name == "shapes/train" and found.texts == tuple(row.text for row in rows)
    assert found.kinds == tuple(row.kind for row in rows) and found.answers == tuple(row.answer for row in rows)
    assert found.programs == tuple(row.steps for row in rows)
    assert found.items.tolist() == [row.scene.position for row in rows]
    assert set(found.answers or ()) <= set(found.vocabulary)
    assert (found.images, found.regions, found.stories, found.most_counted) == (None, None, None, None)


def test_nothing_that_tells_answers_is_given_of_a_withheld_split(shapes: Dataset) -> None:
    test = split_of(shapes, "test")
    found = examples_of(test, ExampleParts(programs=True, regions=True, supports=True, images=True), is_training=False)
    assert len(found) == test.questions and found.images is not None
    assert (found.answers, found.programs, found.supports, found.regions) == (None, None, None, None)


def test_answers_are_not_given_of_an_open_split_that_is_only_answered(shapes: Dataset) -> None:
    found = examples_of(split_of(shapes, "val"), ExampleParts(programs=True), is_training=False)
    assert found.answers is None and found.programs is not None


def slowly_scaled(pixels: NDArray[np.uint8], height: int, width: int) -> NDArray[np.float64]:
    """Return the mean of the pixels under each smaller pixel; the sizes must divide."""
    down, across = pixels.shape[0] // height, pixels.shape[1] // width
    found = np.zeros((height, width, 3))
    for row in range(height):
        for column in range(width):
            part = pixels[row * down : (row + 1) * down, column * across : (column + 1) * across]
            found[row, column] = part.reshape(-1, 3).astype(float).mean(axis=0)
    return found


def test_pictures_are_scaled_by_the_mean_of_their_pixels(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    found = examples_of(train, ExampleParts(images=True))
    assert found.images is not None and found.images.shape == (4, 20, 30, 3)
    for scene in Scene.objects.filter(split=train):
        with Image.open(io.BytesIO(files.get(scene.image))) as image:
            pixels = np.asarray(image.convert("RGB"))
        assert np.abs(found.images[scene.position] - slowly_scaled(pixels, 20, 30)).max() <= 1


def test_a_picture_that_gets_larger_keeps_its_edges_and_its_own_size_stays() -> None:
    image = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
    assert np.array_equal(scale(image, (4, 4)), np.asarray(image))
    larger = scale(image, (8, 8))
    assert larger.shape == (8, 8, 3) and abs(int(larger[0, 0, 0]) - 0) <= 1 and abs(int(larger[-1, -1, 2]) - 47) <= 1


def test_regions_are_the_boxes_of_visible_pixels(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    found = examples_of(train, ExampleParts(regions=True)).regions
    assert found is not None
    world, spec = shapes.get_world(), train.read_spec()
    for stored in example_folders._stored_items(train, nothing):
        ids = small.read_ids(stored.scene)
        height, width = ids.shape
        labels = {element.id: element.label for element in world.elements(spec, stored.item)}
        place = found.of_item(stored.scene.position)
        expected = {}
        for value in sorted(set(ids.ravel().tolist()) - {0}):
            rows, columns = np.nonzero(ids == value)
            box = [columns.min() / width, rows.min() / height, (columns.max() + 1) / width, (rows.max() + 1) / height]
            expected[value - 1] = box
        assert found.ids[place].tolist() == list(expected)
        assert np.allclose(found.boxes[place], np.array(list(expected.values())), atol=1e-6)
        assert list(found.labels[place]) == [labels[number] for number in expected]


def test_regions_without_object_ids_come_from_the_scene(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    with_ids = examples_of(train, ExampleParts(regions=True)).regions
    Scene.objects.filter(split=train).update(ids_image="")
    disk_cache.remove(next((disk_cache.folder() / example_folders.CACHE_FOLDER).iterdir()))
    found = examples_of(train, ExampleParts(regions=True)).regions
    assert with_ids is not None and found is not None
    assert with_ids.ids.tolist() == found.ids.tolist() and np.allclose(with_ids.boxes, found.boxes, atol=1e-6)


def test_stories_and_supporting_lines_end_where_the_question_is_asked(db: None) -> None:
    made = dataset_jobs.start(
        {"world": "babi", "title": "Tales", "splits": {"train": {"questions": 5}, "test": {"questions": 5}}},
        slug="tales", visibility="public",
    )  # fmt: skip
    dataset_jobs.work(dataset=made)
    found = examples_of(split_of(made, "train"), ExampleParts(stories=True, supports=True))
    rows = Question.objects.filter(split__dataset=made, split__name="train").order_by("position")
    assert found.stories is not None and found.supports is not None
    for row, story, supports in zip(rows, found.stories, found.supports, strict=True):
        assert len(story) == row.scope and all(0 <= line < len(story) for line in supports)
    assert {len(supports) for supports in found.supports} >= {1, 2, 3}
    answered = examples_of(split_of(made, "test"), ExampleParts(stories=True, supports=True), is_training=False)
    assert answered.stories is not None and answered.supports is None


@pytest.fixture
def tales(db: None) -> Dataset:
    made = dataset_jobs.start(
        {"world": "babi", "title": "Tales", "splits": {"train": {"questions": 40}, "test": {"questions": 5}}},
        slug="tales", visibility="public",
    )  # fmt: skip
    dataset_jobs.work(dataset=made)
    return made


def test_the_size_of_a_split_is_estimated_from_a_sample_at_once(
    tales: Dataset,
) -> None:
    train, test, learner = split_of(tales, "train"), split_of(tales, "test"), find_learner("memn2n")
    config = learner.read_config({})
    whole = memory_trial.shape_of(examples_of(train, ExampleParts(stories=True)))
    assert train.scenes > memory_estimates.SAMPLE
    began = process_time()
    shape = memory_estimates.shape_of(learner, config, train, others=(test, test))
    assert process_time() - began < 0.5
    assert (shape.questions, shape.answers, shape.kinds) == (whole.questions, whole.answers, whole.kinds)
    assert (shape.pictures, shape.other_questions) == (train.scenes, 2 * test.questions)
    estimated = "words kind_words texts lines phrases question_words line_words story_lines example_bytes"
    ratios = {name: getattr(shape, name) / getattr(whole, name) for name in estimated.split()}
    assert {name: ratio for name, ratio in ratios.items() if not 0.5 <= ratio <= 2} == {}


def test_settings_that_need_too_much_memory_for_stories_are_refused(tales: Dataset, settings: Any) -> None:
    train, learner = split_of(tales, "train"), find_learner("memn2n")
    splits = {"train": train, "val": train, "tests": [split_of(tales, "test")]}
    usual = settings.TRAINING_MEMORY_GB
    settings.TRAINING_MEMORY_GB = 1.0
    memory_estimates.check(learner, learner.read_config({}), **splits)
    absurd = {"batch": 100_000, "embedding": 1000}  # a training process with them passed 1.8 GB
    with pytest.raises(BadTraining, match=r"at most 1\.0 GB .* got one that needs about [12]\.\d GB\. Reduce batch"):
        memory_estimates.check(learner, learner.read_config(absurd), **splits)
    settings.TRAINING_MEMORY_GB = 4.0
    memory_estimates.check(learner, learner.read_config(absurd), **splits)
    settings.TRAINING_MEMORY_GB = min(usual, 32.0)
    with pytest.raises(BadTraining, match="Reduce batch"):
        memory_estimates.check(learner, learner.read_config({**absurd, "memory": 1000, "starts": 100}), **splits)


# What the examples of each world have. A round of bAbI has 32 stories of each of these tasks.
PICTURES = ["images", "programs", "regions"]
STREAMED: dict[str, tuple[int, dict[str, Any], list[str]]] = {
    "babi": (64, {"tasks": [1, 2]}, ["stories", "supports", "programs"]),
    "clevr": (3, {}, PICTURES),
    "counting": (3, {}, [*PICTURES, "counts"]),
    "shapeworld": (3, {}, PICTURES),
    "simtown": (3, {}, PICTURES),
}


@pytest.mark.parametrize("name", STREAMED)
def test_examples_of_a_stream_are_those_of_the_stored_split(name: str, db: None) -> None:
    scenes, changes, parts = STREAMED[name]
    spec = {**read(SMALL[name]).to_json(), **changes}
    spec["splits"] = {"train": {**spec["splits"]["train"], "scenes": scenes}}
    made = finish(dataset_jobs.start({**spec, "seed": 5}, slug=name, visibility="public"))
    has_pictures = "images" in parts
    needs = ExampleParts(images=has_pictures, regions=has_pictures, stories=True, supports=True, programs=True)
    stored = examples_of(split_of(made, "train"), needs)
    learner = with_needs(needs)(Sized(), seed=0)
    streamed = stream_examples(spec, "train", learner, scenes=scenes, seed=5)
    assert as_lists(replace(streamed, name=f"{name}/train")) == as_lists(stored)
    assert [part for part in ExampleParts._fields if streamed.has(part)] == parts


def test_a_question_set_has_its_own_questions_and_their_scenes(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    recipe = read_recipe({"parent": "train", "filter": "", "sample": 5, "seed": 1})
    part = dataset_jobs.derive(train, name="part", recipe=recipe)
    part = split_of(shapes, "part")
    found = examples_of(part, ExampleParts(images=True))
    whole = examples_of(train, ExampleParts(images=True))
    assert len(found) == 5 and found.images is not None and len(found.images) == part.scenes
    for at, text in enumerate(found.texts):
        [place] = [number for number, other in enumerate(whole.texts) if other == text]
        assert whole.images is not None and found.answers is not None and whole.answers is not None
        assert np.array_equal(found.images[found.items[at]], whole.images[whole.items[place]])
        assert found.answers[at] == whole.answers[place]


def test_methods_with_the_same_needs_share_a_folder(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    train = split_of(shapes, "train")
    first = examples_of(train, ExampleParts(images=True))
    monkeypatch.setattr(example_folders, "_write", lambda *_, **__: pytest.fail("written again"))
    assert np.array_equal(first.images, examples_of(train, ExampleParts(images=True)).images)  # type: ignore[arg-type]


def test_every_difference_makes_another_folder(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    every = VisibleParts(True, True, True, True, True, (20, 30))
    plain = ExamplesOrder(train, every)
    fewer = [every._replace(**{name: False}) for name in ("answers", "stories", "supports", "programs", "regions")]
    fewer += [every._replace(size=None), every._replace(size=(30, 20))]
    others = [plain._replace(visible=visible) for visible in fewer] + [plain._replace(split=split_of(shapes, "val"))]
    assert len({one.key for one in [plain, *others]}) == 9


def test_a_folder_that_was_not_finished_leaves_nothing(shapes: Dataset) -> None:
    order = ExamplesOrder(split_of(shapes, "train"), VisibleParts(True, False, False, False, False, (20, 30)))

    def stop() -> None:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"), example_folders.open_folder(order, check=stop):
        pass
    assert list((disk_cache.folder() / example_folders.CACHE_FOLDER).iterdir()) == []


def test_a_picture_that_is_missing_is_one_message(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    files.drop(Scene.objects.filter(split=train, position=2).get().image)
    with pytest.raises(Exception, match=r"shapes/train scene 2: Expected the picture of every scene"):
        examples_of(train, ExampleParts(images=True))


def test_a_full_disk_is_noticed_before_anything_is_written(shapes: Dataset, settings: Any, tmp_path: Path) -> None:
    files.check_room(tmp_path, 0)
    with pytest.raises(files.NoSpace, match="GB under"):
        files.check_room(tmp_path, 2**60)
    settings.DISK_RESERVE_GB = 1e9
    with pytest.raises(files.NoSpace):
        examples_of(split_of(shapes, "train"), ExampleParts(images=True))
    assert list((disk_cache.folder() / example_folders.CACHE_FOLDER).iterdir()) == []


def test_a_method_that_reads_programs_of_one_form_does_not_suit_others(shapes: Dataset) -> None:
    train = split_of(shapes, "train")
    lacking = example_folders.missing_part(PredicateBoxes, train, is_training=True)
    assert lacking == "programs with two labels and one relation"
    suitable = suitable_methods.suitable_for([train])
    names = {learner.name for learner in suitable.learners}
    assert "predicate-boxes" not in names and {"convolutional-lstm", "film", "lstm"} <= names
    assert PredicateBoxes.label in suitable.lacking[lacking]
