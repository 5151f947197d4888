"""Items: scenes with questions and answers, and how worlds describe them: facets, columns, answer forms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from generation.engine.program import Program, to_json
from generation.engine.replies.vocabulary import JOINT as JOINT
from generation.engine.replies.vocabulary import ComposedForm

FORM_LISTS = ("choices", "parts")  # of an answer form as JSON


class Media(StrEnum):
    """What participants and models see together with the question."""

    IMAGE = "image"
    STORY = "story"
    NONE = "none"

    @property
    def noun(self) -> str:
        """Return the word for this medium in texts for users."""
        return {Media.IMAGE: "picture", Media.STORY: "story", Media.NONE: "scene"}[self]

    @property
    def item(self) -> str:
        """Return the word for one item in texts for users."""
        return "story" if self is Media.STORY else "scene"

    @property
    def items(self) -> str:
        """Return the plural of `item`."""
        return "stories" if self is Media.STORY else "scenes"


class AnswerKind(StrEnum):
    """The form of an answer."""

    YES_NO = "yes-no"
    VALUE = "value"
    INTEGER = "integer"
    WORD = "word"
    SET = "set"
    SEQUENCE = "sequence"


class Answer(NamedTuple):
    """An answer: its canonical string, its kind, and the published spelling if that differs."""

    text: str
    kind: AnswerKind
    spelling: str | None = None


class SceneData(Protocol):
    """A scene of a world. Only its world reads its content."""

    def to_json(self) -> dict[str, Any]:
        """Return the scene as JSON. Numbers have the precision with which questions were answered."""


class ViewData(Protocol):
    """The camera and the lights of a scene."""

    def to_json(self) -> dict[str, Any]:
        """Return the view as JSON."""


@dataclass(frozen=True)
class Question:
    """A question about an item. Pages and files leave out attributes that are None.

    Attributes
    ----------
    text : str
    program : Program or None
    answer : Answer or None
    kind : str
        The question's type; for a question with a program usually its last function.
    family : int or None
        The number of the template.
    scope : int or None
        How many elements (for example lines of a story) the question may use. None for all.
    source_id : str or None
        The question's id in the published dataset.
    """

    text: str
    program: Program | None = None
    answer: Answer | None = None
    kind: str = ""
    family: int | None = None
    scope: int | None = None
    source_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON that the fingerprint covers: everything except `source_id`."""
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
        The picture `(height, width, 3)` uint8 sRGB if it is part of the item and not drawn from the scene.
    replaced : int
        How many earlier scenes were discarded because they gave too few questions.
    number : int or None
        The number of the item's picture in the published files; None if the scene is not from published files.
    image_name : str
        The file name of that picture; empty if it is not known.
    """

    scene: SceneData | None
    view: ViewData | None
    questions: tuple[Question, ...]
    replaced: int = 0
    image: NDArray[np.uint8] | None = None
    number: int | None = None
    image_name: str = ""


class Chunk(NamedTuple):
    """Items and questions of a split that are made together from one random stream, with their 0-based positions."""

    number: int
    first_item: int
    items: int
    first_question: int
    questions: int


class FacetKind(StrEnum):
    """How the values of a facet are interpreted."""

    CATEGORY = "category"
    INTEGER = "integer"
    FLAGS = "flags"


class Needs(StrEnum):
    """The data that are needed to compute a facet.

    A facet that needs the train split has the values `SEEN` and `UNSEEN`: whether the train split contains all of the
    question's `World.train_keys`. A split without a reference, such as the train split, does not have this facet.
    """

    ITEM = "item"
    TRAIN = "train"


@dataclass(frozen=True)
class Facet:
    """A property of a question, used to filter questions and to break results down.

    Attributes
    ----------
    name : str
        Used in addresses and exports.
    label : str
        Shown to users.
    kind : FacetKind
    values : tuple of str
        All values in order: code `i` in an index means `values[i]`. For integers, their decimal strings.
    needs : Needs
    reveals : bool
        False only if the question's text already tells the value.
    labels : tuple of str
        The names of the values for users, in the same order; empty if the values themselves are shown.
    bins : tuple of int
        For integers: the first value of each bin, ascending, if pages show bins; empty for no bins.
    """

    name: str
    label: str
    kind: FacetKind
    values: tuple[str, ...]
    reveals: bool
    needs: Needs = Needs.ITEM
    labels: tuple[str, ...] = ()
    bins: tuple[int, ...] = ()


class Column(NamedTuple):
    """A column of the world's leaderboards: a facet and one of its values.

    The label is short if there are many columns; the title then says in full what the column is about.
    """

    label: str
    facet: str
    value: str
    title: str = ""


class ChartView(NamedTuple):
    """A ready-made chart that shows how often each value of a facet occurs.

    Attributes
    ----------
    name : str
        Used in addresses and file names: small letters, digits and hyphens.
    title : str
        Shown to users.
    facet : str
        The facet that is counted. Integers are drawn along an axis, in bins if the facet has bins; others as a list.
    axis : str
        The label of the axis, with the unit.
    """

    name: str
    title: str
    facet: str
    axis: str


class AnswerForm(NamedTuple):
    """How a participant enters an answer.

    Attributes
    ----------
    kind : AnswerKind
    choices : tuple of str
        All possible answers; empty for the whole vocabulary.
    swatches : mapping of str to (r, g, b)
        The colour of each choice, if the choices are colours.
    instruction : str
        An instruction that is shown above the question's text if that text does not say what to do, as for a caption.
    parts : tuple of str
        The parts from which a set or a sequence is built; empty if participants choose among whole answers.
    empty : str
        The answer that stands for the empty set; empty if there is no such answer.
    length : int
        The number of parts of a sequence.
    synonyms : mapping of str to str
        Other words that a model's reply may have for answers or parts. Only `World.reply_form` sets them.
    """

    kind: AnswerKind
    choices: tuple[str, ...]
    swatches: Mapping[str, tuple[int, int, int]]
    instruction: str = ""
    parts: tuple[str, ...] = ()
    empty: str = ""
    length: int = 0
    synonyms: Mapping[str, str] = {}

    def put_together(self, parts: Sequence[str]) -> str | None:
        """Return the answer that these parts form, in any order for a set; None if they form no answer."""
        if any(part not in self.parts for part in parts):
            return None
        if self.kind == AnswerKind.SEQUENCE:
            return JOINT.join(parts) if len(parts) == self.length else None
        if len(set(parts)) != len(parts):
            return None
        same = (choice for choice in self.choices if set(choice.split(JOINT)) == set(parts))
        return next(same, JOINT.join(sorted(parts))) if parts else self.empty or None

    @property
    def composed(self) -> ComposedForm | None:
        """Return how the parts of answers are read; None for answers without parts."""
        if not self.parts:
            return None
        parts = {answer: self.taken_apart(answer) for answer in self.choices if answer != self.empty}
        return ComposedForm(self.kind == AnswerKind.SET, parts, self.empty)

    def to_json(self) -> dict[str, Any]:
        """Return what is needed to read replies as JSON: `kind`, `choices`, `parts`, `empty` and `synonyms`."""
        return {
            "kind": str(self.kind),
            "choices": list(self.choices),
            "parts": list(self.parts),
            "empty": self.empty,
            "synonyms": [{"word": word, "answer": answer} for word, answer in self.synonyms.items()],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "AnswerForm":
        """Return the form that `to_json` described. An empty mapping gives a form without known choices."""
        choices, parts = (tuple(map(str, () if found is None else found)) for found in map(data.get, FORM_LISTS))
        kind = AnswerKind(data.get("kind") or AnswerKind.WORD)
        found = data.get("synonyms")
        synonyms = {str(one["word"]): str(one["answer"]) for one in (() if found is None else found)}
        return cls(kind, choices, {}, parts=parts, empty=str(data.get("empty") or ""), synonyms=synonyms)

    def taken_apart(self, answer: str) -> tuple[str, ...]:
        """Return the parts of a canonical answer."""
        return () if answer == self.empty else tuple(answer.split(JOINT))


class Display(NamedTuple):
    """How pictures of the world are shown.

    Attributes
    ----------
    scale : float
    smooth : bool
        Whether they are smoothed when they are enlarged.
    """

    scale: float = 1.0
    smooth: bool = True


Box = tuple[float, float, float, float]
"""A place in a picture: left, top, right and bottom, in pixels from the upper left corner."""


class Element(NamedTuple):
    """An element of an item that a step can refer to: its id and its label.

    An element without a silhouette in an object-id image has `box`, its place in the picture, or `line`, its line of
    the story, counted from 0.
    """

    id: int
    label: str
    attributes: Mapping[str, str] = {}
    box: Box | None = None
    line: int | None = None


class Equivalent(NamedTuple):
    """A program that gives the same answer as a question's program, and its question in words.

    `known` is the answer if it follows from the program alone, for any scene; otherwise it is empty.
    """

    program: Program
    text: str
    known: str = ""
