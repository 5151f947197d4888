"""Items: scenes with questions and answers, and what worlds say of them: facets, metrics, columns, answer forms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from generation.engine.program import Program, to_json

JOINT = ","  # between the parts of a canonical answer


class Media(StrEnum):
    """What a person or a model is shown beside the question."""

    IMAGE = "image"
    STORY = "story"
    NONE = "none"

    @property
    def noun(self) -> str:
        """Return what people call it."""
        return {Media.IMAGE: "picture", Media.STORY: "story", Media.NONE: "scene"}[self]

    @property
    def item(self) -> str:
        """Return what people call one of the things that questions are about."""
        return "story" if self is Media.STORY else "scene"

    @property
    def items(self) -> str:
        """Return what people call several of them."""
        return "stories" if self is Media.STORY else "scenes"


class AnswerKind(StrEnum):
    """The form an answer has."""

    YES_NO = "yes-no"
    VALUE = "value"
    INTEGER = "integer"
    WORD = "word"
    SET = "set"
    SEQUENCE = "sequence"


class Answer(NamedTuple):
    """An answer: its canonical string, its kind, and the published spelling where that differs."""

    text: str
    kind: AnswerKind
    spelling: str | None = None


class SceneData(Protocol):
    """A scene of some world; only its world looks inside."""

    def to_json(self) -> dict[str, Any]:
        """Return the scene as JSON, numbers rounded as they were decided on."""


class ViewData(Protocol):
    """Where a scene is seen from and lit: camera and lights."""

    def to_json(self) -> dict[str, Any]:
        """Return the view as JSON."""


@dataclass(frozen=True)
class Question:
    """A question of an item. What is None is absent everywhere: no player, no program facets.

    Attributes
    ----------
    text : str
    program : Program or None
    answer : Answer or None
    kind : str
        The question's type; for programs the last function.
    family : int or None
        The number of the template.
    scope : int or None
        How many elements it may see.
    source_id : str or None
        Its name where it was published.
    """

    text: str
    program: Program | None = None
    answer: Answer | None = None
    kind: str = ""
    family: int | None = None
    scope: int | None = None
    source_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what the fingerprint covers: all but the source's name."""
        return {
            "answer": self.answer.text if self.answer else None,
            "family": self.family,
            "kind": self.kind,
            "program": to_json(self.program) if self.program is not None else None,
            "scope": self.scope,
            "text": self.text,
        }


@dataclass(frozen=True)
class Item:
    """One scene with its questions.

    Attributes
    ----------
    scene : SceneData or None
    view : ViewData or None
    questions : tuple of Question
    image : ndarray or None
        The picture `(height, width, 3)` uint8 sRGB, where it came with the item and isn't drawn from the scene.
    replaced : int
        How many scenes were thrown away before this one because they admitted too few questions.
    number : int or None
        The number of its picture in the published files that the scene is from; None where it is from none.
    image_name : str
        The file name of its picture there; empty where nothing says it.
    """

    scene: SceneData | None
    view: ViewData | None
    questions: tuple[Question, ...]
    replaced: int = 0
    image: NDArray[np.uint8] | None = None
    number: int | None = None
    image_name: str = ""


class Chunk(NamedTuple):
    """The unit of chance: items and questions of a split that are made together, with their 0-based positions."""

    number: int
    first_item: int
    items: int
    first_question: int
    questions: int


class FacetKind(StrEnum):
    """How a facet's values are to be read."""

    CATEGORY = "category"
    INTEGER = "integer"
    FLAGS = "flags"


class Needs(StrEnum):
    """What must be known to compute a facet.

    One that needs the train split has the values `SEEN` and `UNSEEN`: whether that split has all of a question's
    `World.train_keys`. A split that has no reference, as the train split itself, has no such facet.
    """

    ITEM = "item"
    TRAIN = "train"


@dataclass(frozen=True)
class Facet:
    """A property of a question by which people filter and break down.

    Attributes
    ----------
    name : str
        In addresses and exports.
    label : str
        For people.
    kind : FacetKind
    values : tuple of str
        Every value, in order; code `i` in an index means `values[i]`. For integers their decimal strings.
    needs : Needs
    reveals : bool
        False only where the question's words already say it.
    labels : tuple of str
        The values for people, in the same order; empty where the values serve.
    bins : tuple of int
        For integers: the first value of each bin, ascending, where pages break down by bins; empty for none.
    """

    name: str
    label: str
    kind: FacetKind
    values: tuple[str, ...]
    reveals: bool
    needs: Needs = Needs.ITEM
    labels: tuple[str, ...] = ()
    bins: tuple[int, ...] = ()


class Metric(Protocol):
    """A score; `additive` where its terms add up over any slice, else it is a function of the slice as a whole."""

    name: ClassVar[str]
    label: ClassVar[str]
    higher_is_better: ClassVar[bool]
    additive: ClassVar[bool]

    def terms(self, answers: NDArray[np.int64], predictions: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return numerators and denominators, both of shape `(questions,)`, for codes of that shape."""


class Column(NamedTuple):
    """A column of the world's board: a facet and the value that the column is about.

    Its label is short where there are many; then the title says in full what it is about.
    """

    label: str
    facet: str
    value: str
    title: str = ""


class ChartView(NamedTuple):
    """A ready-made chart: how often each value of a facet occurs.

    Attributes
    ----------
    name : str
        In addresses and file names: small letters, digits and hyphens.
    title : str
        For people.
    facet : str
        The facet that is counted: integers along a line, in bins where it has them, any other as a list.
    axis : str
        What its values are, with their unit, as an axis says it.
    """

    name: str
    title: str
    facet: str
    axis: str


class AnswerForm(NamedTuple):
    """How a person gives an answer.

    Attributes
    ----------
    kind : AnswerKind
    choices : tuple of str
        Every answer that there is; empty for the whole vocabulary.
    swatches : mapping of str to (r, g, b)
        For a colour choice how it looks.
    instruction : str
        What is asked of people where the question's text doesn't say it, as for a caption; it stands above that.
    parts : tuple of str
        Of a set or a sequence what it is put together of; empty where people choose among whole answers.
    empty : str
        The answer of a set with nothing in it; empty where there is no such answer.
    length : int
        How many parts a sequence has.
    """

    kind: AnswerKind
    choices: tuple[str, ...]
    swatches: Mapping[str, tuple[int, int, int]]
    instruction: str = ""
    parts: tuple[str, ...] = ()
    empty: str = ""
    length: int = 0

    def put_together(self, parts: Sequence[str]) -> str | None:
        """Return the answer that parts make, of a set in whatever order they come; None where they make none."""
        if any(part not in self.parts for part in parts):
            return None
        if self.kind == AnswerKind.SEQUENCE:
            return JOINT.join(parts) if len(parts) == self.length else None
        if len(set(parts)) != len(parts):
            return None
        same = (choice for choice in self.choices if set(choice.split(JOINT)) == set(parts))
        return next(same, JOINT.join(sorted(parts))) if parts else self.empty or None

    def taken_apart(self, answer: str) -> tuple[str, ...]:
        """Return the parts of a canonical answer."""
        return () if answer == self.empty else tuple(answer.split(JOINT))


class Display(NamedTuple):
    """How pictures of the world are shown: at which scale, smoothed or not, and whether colour vision matters."""

    scale: float = 1.0
    smooth: bool = True
    needs_colour: bool = False


class Element(NamedTuple):
    """Something in an item that a step can point at: its id and what to call it.

    Where it has no silhouette in an object-id image, `box` says where it is (left, top, right, bottom, in pixels) or
    `line` which line of the story it is, counted from 0.
    """

    id: int
    label: str
    attributes: Mapping[str, str] = {}
    box: tuple[float, float, float, float] | None = None
    line: int | None = None


class Equivalent(NamedTuple):
    """A program that gives the same answer as a question's, and what it asks in words.

    `known` is the answer where it follows from the program alone, whatever the scene shows; else it is empty.
    """

    program: Program
    text: str
    known: str = ""
