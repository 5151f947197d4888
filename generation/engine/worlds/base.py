"""The base classes of worlds: `World` reads a world's data, `Maker` makes them.

Everything outside a world's folder uses a world through these classes. A small world overrides the members that are
named under "Required" in `World`, and the abstract methods of `SceneMaker`. All other members have defaults.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from generation.engine.errors import BadRecord, BadScene, BadSpec
from generation.engine.items import (
    AnswerForm,
    Box,
    ChartView,
    Chunk,
    Column,
    Display,
    Element,
    Equivalent,
    Facet,
    FacetKind,
    Item,
    Media,
    Question,
    SceneData,
    ViewData,
)
from generation.engine.program import FunctionTable, Program, to_json
from generation.engine.programs.ablation import Ablation
from generation.engine.seeding import Stage, Stream, stream
from generation.engine.spec import NO_FILES, BaseSpec, Frozen, check_references, over_preset, preset_of, read
from generation.engine.verification.proof import PictureProver, Prover
from generation.engine.worlds.answer_prompts import answer_prompt
from generation.engine.worlds.breakdowns import BoardView, Reweighting, Tasks
from generation.engine.worlds.levels import LevelAttribute

SCENES_PER_CHUNK = 100

# What a world may offer beyond its questions


class TextCounts(NamedTuple):
    """Numbers of a split's questions in a paper: all, the different texts, and the texts that the train split has."""

    questions: int
    unique: int
    overlap: int | None = None


class HumanBaseline(NamedTuple):
    """The size of a paper's human baseline: the number of questions, and of people who answered each question."""

    questions: int
    each: int


class Published(NamedTuple):
    """Figures of a world's paper, which pages show next to the figures of a dataset.

    Attributes
    ----------
    source : str
        Names the paper.
    texts : mapping of str to TextCounts
        By the split's name; "" is all splits together.
    type_mode : mapping of str to float
        The accuracy, by type, of the most frequent train answer of each type.
    people : HumanBaseline or None
    """

    source: str = ""
    texts: Mapping[str, TextCounts] = {}
    type_mode: Mapping[str, float] = {}
    people: HumanBaseline | None = None


class Repeatable(NamedTuple):
    """A part of an item or of a question that may occur more than once in a split, for example the story.

    Attributes
    ----------
    facet : str
        The facet of kind `Needs.TRAIN` whose single key is equal for equal parts.
    label : str
        The plural noun that pages use, for example `stories`.
    is_of_item : bool
        Whether the part belongs to the item, so that all questions of the item share it.
    """

    facet: str
    label: str
    is_of_item: bool


class LearnedLexicon(NamedTuple):
    """A learned lexicon as JSON, and a summary of it for people."""

    data: dict[str, Any]
    about: str


class Guess(Protocol):
    """The function of a baseline that answers questions."""

    def __call__(
        self, spec: Any, asked: Iterable[Item], *, learned: Iterable[Item], check: Callable[[], None]
    ) -> Iterator[str]:
        """Yield an answer for each question of `asked`, in order, or an empty string.

        Parameters
        ----------
        spec : BaseSpec
            The spec of the split.
        asked : iterable of Item
            The split's items, without answers and programs.
        learned : iterable of Item
            The items of the reference split with answers, which can be read once; empty if none is needed.
        check : callable
            Must be called every few seconds. It may raise an error to stop the work.
        """


class Baseline(NamedTuple):
    """A rule or simple learner that shows which accuracy needs no reasoning.

    Attributes
    ----------
    name : str
        Small letters, digits and hyphens.
    label : str
        The name on boards.
    sees, fitted : str
        What the baseline sees, and what it was fitted to; pages use both in the middle of a sentence.
    needs_reference : bool
        Whether it learns from the split's reference. If so, a split without one does not have this baseline.
    guess : Guess
    """

    name: str
    label: str
    sees: str
    fitted: str
    needs_reference: bool
    guess: Guess


Models = Callable[[Item, Question], tuple[Any, Any]]
"""Returns a scene and one of its questions as JSON."""


# How data are made


class Maker(ABC):
    """Makes the data of a generated world.

    Attributes
    ----------
    bundled : mapping of str to mapping
        The JSON of each preset by its name, in the order of the pages.
    """

    bundled: ClassVar[Mapping[str, Mapping[str, Any]]]

    @abstractmethod
    def plan(self, spec: Any, split: str) -> list[Chunk]:
        """Return the chunks of a split in order."""

    @abstractmethod
    def make(self, spec: Any, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        """Yield the chunk's items in order; the result depends on the arguments alone."""

    def presets(self) -> tuple[str, ...]:
        """Return the names of the presets."""
        return tuple(self.bundled)

    def preset(self, name: str) -> Mapping[str, Any]:
        """Return a preset as JSON; raise `BadSpec` for an unknown name."""
        return preset_of(self.bundled, name)

    def gather(self, data: Mapping[str, Any], *, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return the spec with each file that it names replaced by its SHA-256, and the files by SHA-256.

        File names are relative to `folder`. A name that already is a SHA-256 is kept. Raises `BadSpec` naming the
        field if a file cannot be read. By default specs name no files.
        """
        return dict(data), {}

    def render(self, spec: Any, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return the picture `(height, width, 3)` uint8 sRGB and the object ids `(height, width)` uint16, 0 = none.

        Raises
        ------
        BadScene
            If the world has no pictures, as by default.
        """
        raise BadScene("Expected a scene that can be drawn, got one of a world without pictures.")


class SceneMaker(Maker):
    """Makes one scene after the other, each from its own random stream, with equally many questions on each."""

    @abstractmethod
    def per_scene(self, spec: Any) -> int:
        """Return the number of questions on each scene."""

    @abstractmethod
    def item(self, spec: Any, chance: Stream) -> Item:
        """Return a random scene with its questions."""

    @abstractmethod
    def draw(self, spec: Any, scene: Any) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return the picture `(height, width, 3)` uint8 sRGB and the object ids `(height, width)` uint16, 0 = none."""

    def plan(self, spec: Any, split: str) -> list[Chunk]:
        """Return chunks of `SCENES_PER_CHUNK` scenes; the last chunk has the rest."""
        each = self.per_scene(spec.for_split(split))
        return equal_chunks(spec.splits[split].scenes, size=SCENES_PER_CHUNK, questions_each=each)

    def make(self, spec: Any, split: str, chunk: Chunk, *, secret: bytes = b"") -> Iterator[Item]:
        """Yield the chunk's items in order."""
        own = spec.for_split(split)
        for position in range(chunk.first_item, chunk.first_item + chunk.items):
            yield self.item(own, stream(seed=spec.seed, split=split, index=position, stage=Stage.SCENE, secret=secret))

    def render(self, spec: Any, split: str, item: Item) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return an item's picture and its object ids."""
        return self.draw(spec.for_split(split), item.scene)


def equal_chunks(scenes: int, *, size: int, questions_each: int) -> list[Chunk]:
    """Return chunks of `size` scenes with equally many questions on each scene; the last chunk has the rest."""
    return [
        Chunk(number, first, count, first * questions_each, count * questions_each)
        for number, first in enumerate(range(0, scenes, size))
        for count in [min(size, scenes - first)]
    ]


# How data are read


class FieldScene(Frozen):
    """A scene whose JSON has exactly the fields of its class."""

    def to_json(self) -> dict[str, Any]:
        """Return the scene as JSON."""
        return self.model_dump(mode="json")


class World(ABC):
    """Reads the data of a world: every dataset has one, imports too.

    `spec` is always an instance of `spec_model`, as `BaseSpec.for_split` returns it for a split.

    Attributes
    ----------
    name, label : str
        Required. The name in addresses and files, and the name for people.
    spec_model : type of BaseSpec
        Required.
    scene_model : type of Frozen
        Required unless `read_scene` is overridden. Scenes must have a method `to_json`.
    kinds : tuple of str
        Required unless `facets`, `facet_codes` and `columns` are overridden: the types of questions.
    maker : Maker or None
        None for a world that is only imported.
    media : Media
        What people see above a question: a picture or a story.
    formats : tuple of str
        The world's own export formats as `module:attribute`, each a `generation.engine.formats.Format`.
    lengths : mapping of str to int
        Integer facets that measure the length of a question, with the largest value of an easy question.
    views : tuple of ChartView
        Charts on the pages of datasets.
    board_views : tuple of BoardView
        Breakdowns of accuracy on boards.
    tasks : Tasks or None
        The columns of boards that are tasks, each passed or failed.
    reweighting : Reweighting or None
        The facets by which the reweighted accuracy weights questions; None for no reweighted accuracy.
    levels : tuple of LevelAttribute
        What makes questions harder, for training in order of difficulty.
    ablations : tuple of Ablation
        The kinds of steps that can be left out of programs, one at a time.
    baselines : tuple of Baseline
        The world's own baselines.
    count_groups : str
        The facet by whose values count shifts group questions unless told otherwise; empty for the answer alone.
    unknown_group : str
        The value of this facet of questions whose group is not known. A split that has some of them is grouped by the
        answer alone. Empty if the world has no such value.
    checks_since : mapping of str to int
        The checks of `verify` whose rules this world has changed, by their names in `CHECKS` of
        `generation.engine.verification.proof`, each with the first engine whose datasets pass them. A dataset that an
        earlier engine made cannot be verified by them.
    metrics : tuple of str
        The metrics of boards besides the accuracy, by their names in `METRICS` of
        `generation.engine.scoring.counts.metrics`.
    display : Display
        How pages show pictures.
    published : Published
        Figures of the world's paper.
    repeats, repeats_by : tuple of Repeatable, str
        What may occur more than once in a split, and the facet by whose values it is counted. Each question has a
        value of that facet.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    spec_model: ClassVar[type[BaseSpec]]
    scene_model: ClassVar[type[Any]]
    kinds: ClassVar[tuple[str, ...]] = ()
    maker: ClassVar[Maker | None] = None
    media: ClassVar[Media] = Media.IMAGE
    formats: ClassVar[tuple[str, ...]] = ()
    lengths: ClassVar[Mapping[str, int]] = {}
    views: ClassVar[tuple[ChartView, ...]] = (
        ChartView("types", "Types", "type", "type"),
        ChartView("answers", "Answers", "answer", "answer"),
    )
    board_views: ClassVar[tuple[BoardView, ...]] = (BoardView("types", "By type", "type", "type"),)
    tasks: ClassVar[Tasks | None] = None
    reweighting: ClassVar[Reweighting | None] = None
    levels: ClassVar[tuple[LevelAttribute, ...]] = ()
    ablations: ClassVar[tuple[Ablation, ...]] = ()
    baselines: ClassVar[tuple[Baseline, ...]] = ()
    count_groups: ClassVar[str] = ""
    unknown_group: ClassVar[str] = ""
    checks_since: ClassVar[Mapping[str, int]] = {}
    metrics: ClassVar[tuple[str, ...]] = ()
    display: ClassVar[Display] = Display()
    published: ClassVar[Published] = Published()
    repeats: ClassVar[tuple[Repeatable, ...]] = ()
    repeats_by: ClassVar[str] = "type"

    # Required

    @abstractmethod
    def functions(self, spec: Any) -> FunctionTable | None:
        """Return the functions of programs, or None if questions have no programs."""

    @abstractmethod
    def answers(self, spec: Any) -> tuple[str, ...]:
        """Return the vocabulary of answers, which is known before any question; code `i` means `answers[i]`."""

    @abstractmethod
    def answer_form(self, spec: Any, question: Question) -> AnswerForm:
        """Return how a person answers a question. Only the question's text and type are certain to be known."""

    # Specs, scenes and views

    def read_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BaseSpec:
        """Return the validated spec, merged over the preset that its `base` names, if any.

        Parameters
        ----------
        data : mapping
            The spec as JSON.
        files : mapping of str to bytes
            The files that the spec names, by SHA-256.

        Raises
        ------
        BadSpec
            Naming the field.
        """
        spec = read(self.spec_model, over_preset(data, self.maker.bundled if self.maker is not None else {}))
        check_references(spec)
        for name in spec.splits:
            spec.for_split(name)
        return spec

    def read_stored_spec(self, data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BaseSpec:
        """Return the spec of a dataset that exists; rules that are newer than the dataset do not apply.

        Parameters and errors are those of `read_spec`.
        """
        return self.read_spec(data, files=files)

    def left_out(self, spec: Any, split: str) -> tuple[str, ...]:
        """Return a sentence for each kind of question that a split never asks, because its answer could not differ."""
        return ()

    def read_scene(self, data: Mapping[str, Any]) -> SceneData:
        """Return the scene that JSON describes; raise `BadScene`."""
        try:
            scene: SceneData = read(self.scene_model, data)
        except BadSpec as error:
            raise BadScene(error.reason, where=error.where) from error
        return scene

    def read_view(self, data: Mapping[str, Any]) -> ViewData:
        """Return the view that JSON describes; raise `BadScene`, as by default."""
        raise BadScene("Expected no view, because every scene of this world is seen in the same way.", where="view")

    # Stories

    @property
    def has_stories(self) -> bool:
        """Whether the world overrides `story`."""
        return type(self).story is not World.story

    def story(self, scene: Any) -> tuple[str, ...]:
        """Return the lines of a scene's story, without line breaks; by default there are none.

        Everybody who may see a question may see the story.
        """
        return ()

    def supports(self, scene: Any, number: int) -> tuple[int, ...]:
        """Return the supporting lines, counted from 0, that a scene itself records for its question `number`.

        Published stories record them for questions without programs. By default the result is empty: not known.
        """
        return ()

    def supporting_lines(self, item: Item, number: int) -> tuple[int, ...] | None:
        """Return the lines, counted from 0, from which the answer to an item's question `number` follows.

        None if they are unknown; by default they are those that the scene records.
        """
        return self.supports(item.scene, number) or None

    # Facets, columns and words

    def facets(self, spec: Any) -> tuple[Facet, ...]:
        """Return every facet of questions in the order of the pages; by default type and answer."""
        return (
            Facet("type", "type", FacetKind.CATEGORY, self.kinds, reveals=False),
            Facet("answer", "answer", FacetKind.CATEGORY, self.answers(spec), reveals=True),
        )

    def facet_codes(self, spec: Any, item: Item) -> Mapping[str, Sequence[int]]:
        """Return, for each facet that needs the item alone, a code for each question of the item."""
        codes = {answer: code for code, answer in enumerate(self.answers(spec))}
        return {
            "type": [self.kinds.index(question.kind) for question in item.questions],
            "answer": [codes[question.answer.text] if question.answer else -1 for question in item.questions],
        }

    def train_keys(self, spec: Any, item: Item, question: Question) -> Mapping[str, Sequence[str]]:
        """Return keys for each facet that needs the train split: the train split must have all keys of a facet.

        No keys mean that the question has no value of the facet. Keys may depend only on what everybody may see: the
        words of the question and of its story.
        """
        return {}

    def columns(self, spec: Any) -> tuple[Column, ...]:
        """Return the columns of the world's boards; by default one for each type."""
        return tuple(Column(kind, "type", kind) for kind in self.kinds)

    def spaces(self, spec: Any) -> Mapping[str, Mapping[str, int]]:
        """Return how many different `repeats` are possible in all splits together, for those that can be counted.

        The keys are the values of the facet `repeats_by`, and then `Repeatable.facet`.
        """
        return {}

    def expected_shares(self, spec: Any) -> Mapping[str, Sequence[float]]:
        """Return, for some facets, the share of questions that the spec asks for, for each of the facet's values.

        Charts show them beside the counts, with a chi-square test. None by default.
        """
        return {}

    def words(self, spec: Any) -> tuple[str, ...] | None:
        """Return every word that a question can have, as `token_vocabulary.split_words` gives them, or None."""
        return None

    def prompt(self, spec: Any, question: Question) -> str:
        """Return the text for a model: the form's instruction, the question, the form of its answer, possible words."""
        form = self.answer_form(spec, question)
        lines = (form.instruction, question.text, answer_prompt(form, self.synonyms(spec)))
        return "\n".join(line for line in lines if line)

    def synonyms(self, spec: Any) -> Mapping[str, str]:
        """Return other words for answers, or for the parts of answers, that replies may have; none by default."""
        return {}

    def reply_form(self, spec: Any, question: Question) -> AnswerForm:
        """Return the form of a question's answer with the synonyms of its answers, as rewards need it."""
        form = self.answer_form(spec, question)
        known = {*form.choices, *form.parts}
        synonyms = {word: answer for word, answer in self.synonyms(spec).items() if not known or answer in known}
        return form._replace(synonyms=synonyms)

    # Scenes and programs

    def elements(self, spec: Any, item: Item) -> tuple[Element, ...]:
        """Return what program steps can point at; the pixels of element `id` are `id + 1` in the object-id image."""
        return ()

    def most_counted(self, spec: Any) -> int | None:
        """Return the largest count if answers are numbers, whose predictions may be fractional and have boxes.

        The vocabulary must then have every number from 0 to this one. None, as by default, for other answers.
        """
        return None

    def counted(self, spec: Any, item: Item, question: Question) -> tuple[int, ...] | None:
        """Return the ids of the elements that a question counts, ascending, or None if unknown, as by default."""
        return None

    def element_boxes(self, spec: Any, item: Item) -> Mapping[int, Box]:
        """Return the boxes of the visible elements by id; by default of those elements that have a box."""
        return {element.id: element.box for element in self.elements(spec, item) if element.box is not None}

    def is_clear(self, spec: Any, item: Item) -> bool | None:
        """Return whether everything in an item is easy to see, neither hidden nor small, or None if unknown."""
        return None

    def swatches(self, spec: Any) -> Mapping[str, tuple[int, int, int]]:
        """Return the colours that people must distinguish, sRGB by their words in questions and answers."""
        return {}

    def draw_colour(self, spec: Any, name: str, *, which: int, size: int) -> NDArray[np.uint8] | None:
        """Return a sample `(size, size, 3)` uint8 sRGB of a colour of `swatches`, as pictures show it, or None.

        `which` counts the ways in which colours look, for example materials.
        """
        return None

    def equivalent(self, spec: Any, item: Item, program: Program) -> Equivalent | None:
        """Return the smallest program that gives the same answer on the item, or None if unknown."""
        return None

    def models(self, spec: Any) -> Models:
        """Return a function that gives scenes and questions as JSON; by default as they are stored."""
        return _stored_models

    def learn_lexicon(self, path: Path, *, english: Path | None) -> LearnedLexicon:
        """Return the lexicon of published files in another language.

        Parameters
        ----------
        path : Path
        english : Path or None
            The English files of the same texts; None for those beside `path`.

        Raises
        ------
        BadRecord
            If the files cannot be read, or the world has no lexicons, as by default.
        """
        raise BadRecord(f"Expected a world with lexicons, got {self.label}.")

    @property
    def has_lexicons(self) -> bool:
        """Whether the world overrides `learn_lexicon`."""
        return type(self).learn_lexicon is not World.learn_lexicon

    def prover(self, spec: Any, *, made: bool) -> Prover | None:
        """Return the prover of a split's items, or None.

        By default pictures of a `SceneMaker` are drawn again and compared.

        Parameters
        ----------
        spec : BaseSpec
        made : bool
            Whether the split was generated from the spec, not imported.
        """
        maker = self.maker
        return PictureProver(lambda item: maker.draw(spec, item.scene)) if isinstance(maker, SceneMaker) else None


def _stored_models(item: Item, question: Question) -> tuple[Any, Any]:
    program = None if question.program is None else to_json(question.program)
    return None if item.scene is None else item.scene.to_json(), program


def unanswered(item: Item) -> Item:
    """Return an item whose questions have neither answers nor programs."""
    return replace(item, questions=tuple([replace(one, answer=None, program=None) for one in item.questions]))
