"""PBN, the place-binder network: it estimates the boxes of both objects of a relation, and answers from these boxes.

One module finds the box of a label in the picture. It is used for the subject and for the object of the question's
program. A perceptron sees both boxes and an embedding of the relation, but not the picture. The network is trained to
give the exact boxes and the right answers at once: Bingham et al. 2017, section 3, figures 3 and 4, and appendix 6.5.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.errors import BadTraining
from generation.engine.learners.base import ExampleParts, LearnerConfig
from generation.engine.learners.examples import Examples
from generation.engine.learners.networks.encoders import COLOURS, LayerSize
from generation.engine.learners.networks.optional_torch import functional, nn, torch
from generation.engine.learners.networks.picture_learner import PictureLearner
from generation.engine.learners.networks.relations.layers import (
    HIDDEN,
    MINI,
    Perceptron,
    VerifierConfig,
    after_convolution,
    convolution,
    convolutions,
    flat_size,
)
from generation.engine.learners.networks.torch_learner import QuestionBatch
from generation.engine.program import Program

PROGRAMS = "programs with two labels and one relation"
BOX = HIDDEN[-1]  # numbers that describe a box; they are zeros for an absent object


class PredicateBoxesConfig(VerifierConfig):
    """The settings of PBN. The paper does not give the sizes of embeddings and the weight of boxes; these are ours.

    Attributes
    ----------
    label_embedding, relation_embedding : int
        The sizes of the embeddings of a label and of a relation.
    box_weight : float
        The weight of the loss of boxes, relative to the loss of answers. Boxes are shares of the picture, so their
        squared errors are small.
    """

    filters: tuple[LayerSize, LayerSize, LayerSize] = (32, 64, 64)
    label_embedding: LayerSize = 32
    relation_embedding: LayerSize = 16
    box_weight: float = Field(10.0, ge=0, le=10_000)


class RelationClaim(NamedTuple):
    """The question of a program: whether a subject and an object with these labels are in a relation."""

    subject: str
    relation: str
    other: str


def read_claim(program: Program, *, where: str) -> RelationClaim:
    """Return the claim that a program verifies; raise `BadTraining` if it is not one relation of two labels."""
    if not _is_claim(program):
        functions = ", ".join(step.function for step in program)
        raise BadTraining(f"Expected {PROGRAMS}, got the functions {functions}.", where=where)
    other, relation, subject = (step.values[0] for step in program[1:4])
    return RelationClaim(subject, relation, other)


def _is_claim(program: Program) -> bool:
    """Return whether the steps of a program are: all things, a label, a relation, a label, whether there is any."""
    if [len(step.values) for step in program] != [0, 1, 1, 1, 0]:
        return False
    _, other, relation, subject, _ = (step.function for step in program)
    return other == subject != relation


class BoxModule(nn.Module):
    """Finds the box of a label in a picture: figure 4.

    The embedding of the label is joined to every pixel. As these channels are the same everywhere, the first
    convolution adds the same numbers to its result at each pixel, which is what `of_label` computes.
    """

    def __init__(self, config: PredicateBoxesConfig, *, labels: int, picture: tuple[int, int]) -> None:
        super().__init__()
        first = config.filters[0]
        self.embedding = nn.Embedding(labels, config.label_embedding)
        self.of_pixels = convolution(COLOURS, first)
        self.of_label = nn.Linear(config.label_embedding, first, bias=False)
        self.rest = nn.Sequential(
            after_convolution(first, config.dropout),
            *convolutions(config.filters, config.dropout),
            nn.Flatten(),
            Perceptron(flat_size(picture, config.filters)),
        )

    def forward(self, images: Any, labels: Any) -> Any:
        """Return the boxes `(batch, n, 4)` of the labels `(batch, n)` in the images `(batch, 3, height, width)`."""
        pixels, named = self.of_pixels(images), self.of_label(self.embedding(labels))
        joined = [pixels + one[..., None, None] for one in named.unbind(dim=1)]
        return self.rest(torch.cat(joined)).view(-1, len(images), BOX).transpose(0, 1)


class PredicateBoxesNetwork(nn.Module):
    """The network of figure 3."""

    def __init__(
        self, config: PredicateBoxesConfig, *, labels: int, relations: int, answers: int, picture: tuple[int, int]
    ) -> None:
        super().__init__()
        self.boxes = BoxModule(config, labels=labels, picture=picture)
        self.relation = nn.Embedding(relations, config.relation_embedding)
        self.decision = Perceptron(2 * BOX + config.relation_embedding)
        self.answer = nn.Linear(HIDDEN[-1], answers)

    def forward(self, images: Any, labels: Any, relations: Any) -> tuple[Any, Any]:
        """Return the boxes `(batch, 2, 4)` of subject and object, and the scores `(batch, answers)`."""
        boxes = self.boxes(images, labels)
        both = torch.cat([boxes.flatten(1), self.relation(relations)], dim=1)
        return boxes, self.answer(self.decision(both))


class PredicateBoxes(PictureLearner):
    """Finds the boxes of subject and object, and answers from these boxes and the relation."""

    name = "predicate-boxes"
    label = "PBN"
    source = "Bingham et al. 2017, Characterizing how VQA models scale with the world, figures 3 and 4"
    config_model: ClassVar[type[LearnerConfig]] = PredicateBoxesConfig
    mini: ClassVar[Mapping[str, Any]] = MINI
    needs = ExampleParts(images=True, programs=True, regions=True)
    config: PredicateBoxesConfig

    @classmethod
    def lacking_program(cls, program: Program) -> str:
        """Return the programs that are needed, in words, if this one has another form; otherwise an empty text."""
        return "" if _is_claim(program) else PROGRAMS

    def read_data(self, train: Examples) -> Mapping[str, Any]:
        """Return the size of pictures, all labels and all relations."""
        asked = _claims(train, range(len(train)))
        labels = sorted({label for one in asked for label in (one.subject, one.other)})
        return {
            **super().read_data(train),
            "labels": labels,
            "relations": sorted({one.relation for one in asked}),
        }

    def make_network(self) -> Any:
        """Return the module that finds boxes, and a perceptron."""
        counts = {name: len(self.data[name]) + 1 for name in ("labels", "relations")}  # number 0 is for unknown names
        answers = len(self.vocabulary.answers)
        return PredicateBoxesNetwork(self.config, **counts, answers=answers, picture=self.picture_size)

    def scores(self, batch: QuestionBatch) -> Any:
        """Return the scores `(batch, answers)` of all answers."""
        return self._estimate(batch)[1]

    def loss(self, batch: QuestionBatch) -> Any:
        """Return the cross-entropy of the answers plus the squared error of the boxes."""
        boxes, scores = self._estimate(batch)
        exact = torch.from_numpy(exact_boxes(batch.examples, batch.rows)).to(boxes.device)
        of_answers = functional.cross_entropy(scores, batch.answers, ignore_index=-1)
        return of_answers + self.config.box_weight * functional.mse_loss(boxes, exact)

    def _estimate(self, batch: QuestionBatch) -> tuple[Any, Any]:
        labels, relations = (
            {name: number for number, name in enumerate(self.data[part], 1)} for part in ("labels", "relations")
        )
        asked = _claims(batch.examples, batch.rows)
        pairs = [[labels.get(one.subject, 0), labels.get(one.other, 0)] for one in asked]
        device = batch.images.device
        verbs = [relations.get(one.relation, 0) for one in asked]
        both: tuple[Any, Any] = self.network(
            batch.images, torch.tensor(pairs, device=device), torch.tensor(verbs, device=device)
        )
        return both


def _claims(examples: Examples, rows: Sequence[int] | NDArray[np.int64]) -> list[RelationClaim]:
    assert examples.programs is not None
    return [read_claim(examples.programs[row], where=examples.name) for row in rows]


def exact_boxes(examples: Examples, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the boxes `(rows, 2, 4)` of subject and object; zeros for a label that is not in the picture.

    If several objects have the label, the box is that of the first one.
    """
    assert examples.regions is not None
    found = np.zeros((len(rows), 2, BOX), np.float32)
    for at, asked in enumerate(_claims(examples, rows)):
        place = examples.regions.of_item(int(examples.items[rows[at]]))
        labels = examples.regions.labels[place]
        for side, label in enumerate((asked.subject, asked.other)):
            if label in labels:
                found[at, side] = examples.regions.boxes[place][labels.index(label)]
    return found
