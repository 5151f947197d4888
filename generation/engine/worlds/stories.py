"""Stories: scenes that are told in lines, which people and models read in place of a picture."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from generation.engine.items import Question, SceneData
from generation.engine.worlds import World


@runtime_checkable
class HasStory(Protocol):
    """A world whose scenes are told in lines. Every world whose medium is a story is one."""

    def story(self, scene: SceneData) -> tuple[str, ...]:
        """Return a scene's lines in order, each without a line break.

        Whoever may see a question may read them: they have nothing that answers it in other words than the story's.
        """


@runtime_checkable
class HasSupports(Protocol):
    """A world whose stories may say themselves which lines answers stand on, as published ones without programs do."""

    def supports(self, scene: SceneData, number: int) -> tuple[int, ...]:
        """Return the lines, counted from 0, that the answer to an item's question stands on; nothing: not known."""


def is_told(world: World) -> bool:
    """Return whether a world's scenes are told in lines."""
    return isinstance(world, HasStory)


def story_of(world: World, scene: SceneData | None) -> tuple[str, ...] | None:
    """Return the lines of a scene; None where its world tells none, or there is no scene."""
    return world.story(scene) if scene is not None and isinstance(world, HasStory) else None


def seen_by(question: Question, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that a question sees: the first ones of its story, or all."""
    return tuple(lines if question.scope is None else lines[: question.scope])


def prompt_of(world: World, question: Question, lines: Sequence[str] | None) -> str:
    """Return what a model is told: the lines that the question sees, numbered from 1, and the world's own prompt."""
    asked = world.prompt(question)
    if lines is None:
        return asked
    return f"{numbered(seen_by(question, lines))}\n\n{asked}"


def numbered(lines: Sequence[str]) -> str:
    """Return lines as a text, each after its number, from 1."""
    return "\n".join(f"{number} {line}" for number, line in enumerate(lines, 1))
