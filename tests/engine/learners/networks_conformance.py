"""A program for the Python with PyTorch: it runs the checks of learners for networks, and prints a line for each.

`python -m tests.engine.learners.networks_conformance [NAME ...]` takes the names of methods, or all of them. The exit
status is 1 if a check fails.
"""

import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
import torch.nn.functional  # before networks are imported
from numpy.typing import NDArray

from generation.engine.errors import BadTraining
from generation.engine.learners import NETWORKS, find_learner
from generation.engine.learners.base import EpochConfig
from generation.engine.learners.examples import Examples
from generation.engine.learners.networks.counting.counting_learner import RegionLearner, RegressionLearner
from generation.engine.learners.networks.counting.regions import RegionBatch
from generation.engine.learners.networks.counting.spatial_counting import SpatialCounting
from generation.engine.learners.networks.picture_learner import PictureLearner
from generation.engine.learners.networks.torch_learner import QuestionBatch, TorchLearner
from tests.engine.learners import made_examples
from tests.engine.learners.conformance import BATCH, SEED, Check, Kind, Settings, checks_of, trained

# Gradients with which PyTorch refuses to work on a GPU after `use_deterministic_algorithms`, which a training calls.
NOT_DETERMINISTIC = (
    "AdaptiveAvgPool2DBackward", "AdaptiveMaxPool2DBackward", "AdaptiveAvgPool3DBackward", "AvgPool3DBackward",
    "FractionalMaxPool", "MaxUnpool", "UpsampleLinear", "UpsampleBilinear", "UpsampleBicubic", "UpsampleTrilinear",
    "ReflectionPad", "NllLoss2D", "CtcLoss", "EmbeddingBag", "PutBackward", "MedianBackward", "GridSampler", "Cumsum",
)  # fmt: skip
REGIONS = 36  # in a picture
COUNT = 64  # examples that each network must learn by heart


class Trial(NamedTuple):
    """Examples that a network can learn by heart, and settings with which it does so in seconds."""

    examples: Callable[[int], Examples]
    settings: dict[str, Any]


def texts_alone(n: int) -> Examples:
    """Return questions that each name a number, so that they can be learned by heart without a picture."""
    examples = made_examples.pictures(n)
    texts = tuple(f"{text} Picture {number}." for number, text in enumerate(examples.texts))
    return replace(examples, texts=texts)


def shared_pictures(n: int) -> Examples:
    """Return two questions about each picture, in mixed order."""
    examples = made_examples.pictures(n)
    return examples.select([*range(1, n, 2), *range(0, n, 2)])


def agreements(n: int) -> Examples:
    """Return questions with the answers yes and no about pictures."""
    return made_examples.relations(n)


def numbered_counts(n: int) -> Examples:
    """Return questions about counts that each name a number, so that they can be learned by heart without a picture."""
    examples = made_examples.counts(n)
    texts = tuple(f"{text} Picture {number}." for number, text in enumerate(examples.texts))
    return replace(examples, texts=texts)


SHORT = {"epochs": 40, "batch": 16, "learning_rate": 0.005}
READING = {**SHORT, "embedding": 16, "units": 24}
ANSWERING = {**READING, "layers": 1, "hidden": [32], "dropout": 0.0}
SEEING = {**ANSWERING, "channels": [8, 16, 16], "pooling": "flat", "together": 2}
CAPTION = {**READING, "hidden": 32}
FUSING = {**CAPTION, "channels": [8, 8, 8], "normalised": True}
RELATING = {
    **READING,
    "epochs": 100,
    "learning_rate": 0.01,
    "channels": [8, 16, 16],
    "pair": [24, 24],
    "hidden": [24],
    "dropout": 0.0,
    "together": 2,
}
MODULATED = {**READING, "channels": [8, 16], "blocks": 2, "width_of_blocks": 12, "projection": 24, "hidden": 24}
LONG = {**SHORT, "epochs": 120}
VERIFYING = {**LONG, "filters": [8, 16, 16], "dropout": 0.0}
ASKING = {**SHORT, "embedding": 16, "question": 24, "hidden": 32}
READING_COUNTS = {**LONG, "embedding": 16, "question": 24, "channels": [8, 16], "together": 2}
COUNTING = {
    **ASKING,
    **LONG,
    "together": 2,
    "crop": 8,
    "crop_channels": [8, 16],
    "features": 24,
    "jitter": 0.02,
    "dropped": 0.0,
    "repeated": 0.0,
}
ADDING = {**COUNTING, "fusion": 24, "attention": 16, "false_boxes": 0, "decay_from": 1000}
PAIRING = {**COUNTING, "channels": [8, 8], "patches": 2, "pair": 24, "dropout": 0.0}
TRIALS: dict[str, Trial] = {
    "lstm": Trial(texts_alone, ANSWERING),
    "cnn-bow": Trial(shared_pictures, SEEING),
    "cnn-lstm": Trial(shared_pictures, SEEING),
    "cnn-lstm-sa": Trial(shared_pictures, {**SEEING, "attention": 16}),
    "cnn-lstm-mcb": Trial(shared_pictures, {**SEEING, "sketch": 128}),
    "caption-lstm": Trial(texts_alone, CAPTION),
    "cnn-lstm-multiplied": Trial(agreements, FUSING),
    "cnn-lstm-concatenated": Trial(agreements, FUSING),
    "story-lstm": Trial(made_examples.stories, {**READING, "lines": 8}),
    "relation-network": Trial(shared_pictures, RELATING),
    "film": Trial(shared_pictures, MODULATED),
    "convolutional-lstm": Trial(made_examples.relations, {**VERIFYING, "embedding": 16, "units": 24}),
    "predicate-boxes": Trial(made_examples.relations, {**VERIFYING, "label_embedding": 8, "relation_embedding": 8}),
    "q-only": Trial(numbered_counts, {**ASKING, "dropout": 0.0}),
    "i-only": Trial(made_examples.counts, {**SHORT, "channels": [8, 16, 16], "hidden": 32, "dropout": 0.0}),
    "q-and-i": Trial(made_examples.counts, {**ASKING, "channels": [8, 16, 16], "dropout": 0.0}),
    "mutan": Trial(made_examples.counts, {**READING_COUNTS, "between": 24, "fused": 24, "rank": 3, "dropout": 0.0}),
    "counter": Trial(made_examples.counts, {**COUNTING, "fusion": 24, "pieces": 8, "dropout": 0.0}),
    "rcn": Trial(made_examples.counts, PAIRING),
    "rcn-regression": Trial(made_examples.counts, PAIRING),
    "scn": Trial(made_examples.counts, {**ADDING, "entropy": 0.1, "entropy_from": 60}),
    "scn-without-entropy": Trial(made_examples.counts, ADDING),
}


def refuses_pictures_of_another_size(kind: Kind, examples: Examples, settings: Settings) -> None:
    """Pictures that are not as large as those of the training are one error, which names both sizes."""
    learner = trained(kind, examples, settings)
    assert examples.images is not None
    try:
        learner.predict(replace(examples, images=examples.images[:, :-1]))
    except BadTraining as error:
        assert "32 x 32" in str(error) and "32 x 31" in str(error), error
    else:
        raise AssertionError("Expected an error about the size of pictures, got none.")


def scores_each_example_alone_as_in_a_batch(kind: Kind, examples: Examples, settings: Settings) -> None:
    """The scores, or the predicted number, of an example do not depend on the other examples of the batch."""
    learner = trained(kind, examples, settings)
    assert isinstance(learner, TorchLearner)
    learner.network.eval()
    with torch.no_grad():
        together = learner.scores(learner.batch(examples, np.arange(len(examples))))
        for row, scores in enumerate(together):
            [alone] = learner.scores(learner.batch(examples, np.array([row])))
            assert torch.allclose(alone, scores, rtol=1e-3, atol=1e-3), f"{row}: {alone} is not {scores}"


def has_deterministic_gradients(kind: Kind, examples: Examples, settings: Settings) -> None:
    """No step of a training is one that PyTorch refuses on a GPU if its results must be reproducible."""
    learner = kind(kind.read_config(settings), seed=SEED)
    assert isinstance(learner, TorchLearner)
    learner.begin(examples)
    chance = np.random.Generator(np.random.PCG64(SEED))
    if isinstance(learner, SpatialCounting):
        learner.entropy = 1.0  # otherwise set at the start of an epoch
    loss = learner.loss(learner.batch(examples, np.arange(BATCH), is_training=True, chance=chance))
    waiting, seen = [loss.grad_fn], set()
    while waiting:
        step = waiting.pop()
        if step is not None and step not in seen:
            seen.add(step)
            waiting += [before for before, _ in step.next_functions]
    steps = {step.name() for step in seen}
    assert len(steps) > 3 and not any(step.startswith(NOT_DETERMINISTIC) for step in steps), steps


def answers_few_examples_in_a_step(kind: Kind, examples: Examples, settings: Settings) -> None:
    """A step that answers has no more examples than a step of the training, so that it needs no more memory."""
    learner = kind(kind.read_config({**settings, "batch": BATCH}), seed=SEED)
    assert isinstance(learner, TorchLearner)
    learner.begin(examples)
    steps, batch = list[int](), learner.batch

    def count(examples: Examples, rows: NDArray[np.int64]) -> QuestionBatch:
        steps.append(len(rows))
        return batch(examples, rows)

    with patch.object(learner, "batch", count):
        learner.predict(examples.select(range(2 * BATCH + 1)))
    assert steps == [BATCH, BATCH, 1]


def computes_shapes_at_paper_size(kind: Kind, examples: Examples, settings: Settings) -> None:
    """The network with the settings of the paper can be made, and gives scores or a number for each example.

    Tensors of the device `meta` have shapes but no content, so this needs little memory.
    """
    config = kind.read_config({})
    assert isinstance(config, EpochConfig)
    some = examples.select(range(BATCH))
    if examples.images is not None and kind.needs.images:
        sides = (getattr(config, "height"), getattr(config, "width"))  # noqa: B009 - only networks that see have them
        some = replace(some, images=np.zeros((len(examples.images), *sides, 3), np.uint8))
    learner = kind(config, seed=SEED)
    assert isinstance(learner, TorchLearner)
    with torch.device("meta"):
        learner.begin(some)
        with ExitStack() as stack:
            if isinstance(learner, RegionLearner):
                stack.enter_context(patch.object(learner, "look", lambda batch: _empty_regions(learner)))
            scores = learner.scores(learner.batch(some, np.arange(BATCH)))
    number = () if issubclass(kind, RegressionLearner) else (len(examples.vocabulary),)
    assert scores.shape == (BATCH, *number)


def _empty_regions(learner: RegionLearner) -> RegionBatch:
    """Return as many regions as a usual detector finds. Their pixels are described in the shape that is expected."""
    config = learner.config
    crops = torch.empty(BATCH * REGIONS, 3, config.crop, config.crop)
    features = learner.network.regions.pixels(crops).view(BATCH, REGIONS, config.features)
    present = torch.empty(BATCH, REGIONS, dtype=torch.bool)
    return RegionBatch(torch.empty(BATCH, REGIONS, 4), present, features)


NETWORK_CHECKS: tuple[Check, ...] = (
    scores_each_example_alone_as_in_a_batch,
    has_deterministic_gradients,
    answers_few_examples_in_a_step,
    computes_shapes_at_paper_size,
)


def failures(name: str) -> list[str]:
    """Return what went wrong in each check of a network that failed."""
    kind, trial = find_learner(name), TRIALS[name]
    examples, found = trial.examples(COUNT), []
    pictures = (refuses_pictures_of_another_size,) if issubclass(kind, PictureLearner) else ()
    for check in (*checks_of(kind), *NETWORK_CHECKS, *pictures):
        try:
            check(kind, examples, trial.settings)
        except Exception:  # any error is a failure of the check, and the others run all the same
            found.append(f"{check.__name__}: {traceback.format_exc()}")
    return found


def main(names: Sequence[str]) -> int:
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    failed = False
    for name in names or list(NETWORKS):
        begun = time.process_time()
        found = failures(name)
        failed = failed or bool(found)
        said = "\n".join(found) or "all checks hold"
        sys.stdout.write(f"{name}: {said} ({time.process_time() - begun:.1f} s)\n")
        sys.stdout.flush()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
