"""Items of an environment: a question with its picture or story, its answer, and what makes it hard."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generation.engine.content_hash import digest
from generation.engine.items import AnswerForm, Item, Question
from generation.engine.program import Program, to_json
from generation.engine.scoring.steps import ExpectedStep, steps_prompt

Pixels = NDArray[np.uint8]
Draw = Callable[[], Pixels]
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class EnvironmentItem:
    """One question to train on.

    The picture, the facets and the steps are made when they are needed, and before an item is pickled.

    Attributes
    ----------
    index : int
        The item's place in its dataset, from 0.
    prompt : str
        The text for a model: the story if there is one, the question, and the form of the answer.
    answer : str
        The right answer, in its canonical form.
    form : AnswerForm
        The form of the answer, with the synonyms that a reply may have.
    measures : mapping of str to str
        The names of attributes of the world's levels, each with the facet that has its value for a question.
    story : tuple of str or None
        The lines that the question may use; None without a story.
    asked : Question
        The question with its program.
    scene_item : Item
        The item of the world that the question is about, with all questions about it.
    draw : callable or None
        Returns the picture `(height, width, 3)` uint8 sRGB; None for a world without pictures.
    classify : callable
        Returns the question's value of each facet.
    solve : callable
        Returns the steps of the program with their right results.
    """

    index: int
    prompt: str
    answer: str
    form: AnswerForm
    measures: Mapping[str, str]
    story: tuple[str, ...] | None
    asked: Question
    scene_item: Item
    draw: Draw | None = field(repr=False)
    classify: Callable[[], Mapping[str, Any]] = field(repr=False)
    solve: Callable[[], tuple[ExpectedStep, ...]] = field(repr=False)

    @property
    def question(self) -> str:
        """Return the question alone."""
        return self.asked.text

    @property
    def kind(self) -> str:
        """Return the type of the question."""
        return self.asked.kind

    @property
    def choices(self) -> tuple[str, ...]:
        """Return all answers that the question may have."""
        return tuple(self.form.choices)

    @property
    def program(self) -> Program | None:
        """Return the program whose result is the answer."""
        return self.asked.program

    @property
    def pixels(self) -> Pixels | None:
        """Return the picture `(height, width, 3)` uint8 sRGB, or None without one.

        It is drawn when it is needed. Each call gives an array that you may change.
        """
        return None if self.draw is None else self.draw().copy()

    @property
    def image(self) -> Image.Image | None:
        """Return the picture as a PIL image, or None without one. Each call gives an image that you may change."""
        pixels = self.pixels
        return None if pixels is None else Image.fromarray(pixels)

    @property
    def facets(self) -> Mapping[str, Any]:
        """Return the question's value of each facet, as exports have them; None for no value."""
        return self.classify()

    @property
    def difficulty(self) -> dict[str, Any]:
        """Return the values of the attributes of the world's levels, such as the number of objects."""
        facets = self.facets
        return {name: facets[facet] for name, facet in self.measures.items()}

    @property
    def steps(self) -> tuple[ExpectedStep, ...]:
        """Return the steps of the program with their right results; raise `BadProgram` without a program."""
        return self.solve()

    @property
    def prompt_with_steps(self) -> str:
        """Return the prompt, and a text that asks for the result of each step of the program before the answer."""
        return f"{self.prompt}\n\n{steps_prompt(self.steps)}"

    def content_hash(self) -> str:
        """Return the SHA-256 of scene, camera and question, which is equal for equal items."""
        scene, view = self.scene_item.scene, self.scene_item.view
        parts = [None if one is None else one.to_json() for one in (scene, view)]
        return digest([*parts, self.asked.to_json()])

    def to_json(self) -> dict[str, Any]:
        """Return everything except the picture as JSON."""
        return {
            "index": self.index,
            "prompt": self.prompt,
            "question": self.question,
            "answer": self.answer,
            "choices": list(self.choices),
            "kind": self.kind,
            "story": None if self.story is None else list(self.story),
            "program": None if self.program is None else to_json(self.program),
            "facets": dict(self.facets),
            "difficulty": self.difficulty,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        pixels = self.pixels
        draw = None if pixels is None else KnownValue(pixels)
        solve = self.solve if self.program is None else KnownValue(self.steps)
        whole = replace(self, draw=draw, classify=KnownValue(self.facets), solve=solve)
        return _rebuild, ({name: getattr(whole, name) for name in self.__dataclass_fields__},)


@dataclass(frozen=True, eq=False)
class KnownValue(Generic[Value]):
    """A function that returns a value that is already known, such as a picture that is already drawn.

    Attributes
    ----------
    value : object
    """

    value: Value

    def __call__(self) -> Value:
        """Return the value."""
        return self.value


def _rebuild(values: Mapping[str, Any]) -> EnvironmentItem:
    return EnvironmentItem(**values)
