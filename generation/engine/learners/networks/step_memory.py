"""The memory of a training step, found on PyTorch's device `meta`, whose tensors have shapes but no content.

The network is made, and two steps with the largest batch run: forward, backward and the optimiser. Nothing is computed,
so this takes a second even for networks that are far too large. The second step is the largest one, because the
optimiser then has its moments.
"""

import math
import weakref
from typing import Any
from unittest.mock import patch

import numpy as np

from generation.engine.language.token_vocabulary import split_words
from generation.engine.learners.base import DataShape
from generation.engine.learners.examples import Examples, Regions
from generation.engine.learners.networks.optional_torch import DispatchMode, torch
from generation.engine.learners.networks.torch_learner import PIXEL, QuestionBatch, TorchLearner
from generation.engine.program import Step

STEPS = 2
LONGEST = 64  # words that a recurrent network reads here; a longer text counts as several texts
WHOLE = np.array([0, 0, 1, 1], np.float32)  # a box
CLAIM = (  # a program that all networks can read
    Step("scene"),
    Step("label", (0,), ("a",)),
    Step("relate", (1,), ("to",)),
    Step("label", (2,), ("b",)),
    Step("exist", (3,)),
)


class MemoryMeter(DispatchMode):
    """Counts the bytes of the tensors that operations make, until they are freed.

    Attributes
    ----------
    now, peak : int
        The bytes now, and the most at the same time so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = operation(*args, **(kwargs or {}))
        for one in found if isinstance(found, tuple | list) else (found,):
            if isinstance(one, torch.Tensor):
                self._add(one.untyped_storage())
        return found

    def _add(self, storage: Any) -> None:
        key, size = storage._cdata, storage.nbytes()  # several tensors may share a storage
        if key not in self._known:
            self._known.add(key)
            self.now += size
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._remove, key, size)

    def _remove(self, key: int, size: int) -> None:
        self._known.discard(key)
        self.now -= size


def measure_step(learner: TorchLearner, shape: DataShape) -> tuple[int, int]:
    """Return the bytes of the weights, and the most bytes that are in use during a step, weights included.

    The learner then has weights without content.
    """
    known = make_examples(learner, shape, n=2)
    length = max(1, len(split_words(learner.text(known, 1))))
    rows = math.ceil(min(learner.config.batch, shape.questions) * max(1.0, length / LONGEST))
    examples = make_examples(learner, shape, n=rows)
    with torch.device("meta"), _full_masks(), MemoryMeter() as meter:
        learner.begin(known)
        weights = meter.now
        for _ in range(STEPS):
            learner.step(_make_batch(learner, examples, length=min(length, LONGEST)))
    return weights, meter.peak


def _full_masks() -> Any:
    """Take all entries of a mask as true, because its content is not known."""
    from torch.fx.experimental import _config

    return patch.object(_config, "meta_nonzero_assume_all_nonzero", True)


def make_examples(learner: TorchLearner, shape: DataShape, *, n: int) -> Examples:
    """Return examples of the largest size. The first one has all words, and the second one has the longest text."""
    together = max(1, min(getattr(learner.config, "together", 1), shape.questions // max(1, shape.pictures)))
    items = np.arange(n) // together % max(1, shape.pictures)
    pictures = int(items.max()) + 1
    boxes = pictures * shape.regions
    height, width = (getattr(learner.config, side, 1) for side in ("height", "width"))
    line, vocabulary = " ".join(["w"] * shape.line_words), tuple(map(str, range(shape.answers)))
    words = " ".join(f"w{number}" for number in range(shape.words))
    return Examples(
        name="examples of the largest size",
        vocabulary=vocabulary,
        texts=(words, " ".join(["w"] * shape.question_words), *[""] * n)[:n],
        kinds=("",) * n,
        items=items,
        answers=vocabulary[:1] * n,
        images=np.broadcast_to(np.uint8(0), (pictures, height, width, 3)),
        stories=((), (line,) * shape.story_lines, *[()] * n)[:n],
        programs=(CLAIM,) * n,
        regions=Regions(
            starts=np.arange(pictures + 1) * shape.regions,
            boxes=np.tile(WHOLE, (boxes, 1)),
            ids=np.zeros(boxes, np.int64),
            labels=("",) * boxes,
        ),
        most_counted=shape.answers,
    )


def _make_batch(learner: TorchLearner, examples: Examples, *, length: int) -> QuestionBatch:
    rows, images = len(examples), None
    if learner.needs.images:
        assert examples.images is not None
        pixels = torch.empty((rows, *examples.images.shape[1:]), dtype=torch.uint8)
        images = pixels.permute(0, 3, 1, 2).float() / PIXEL
    words = torch.empty((rows, length), dtype=torch.int64)
    answers, lengths = (torch.empty(rows, dtype=torch.int64) for _ in range(2))
    return QuestionBatch(examples, np.arange(rows), words, lengths, images, answers)
