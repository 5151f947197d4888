"""Stories: scenes as lines of text, which people and models read instead of looking at a picture."""

from collections.abc import Sequence
from typing import Any

from generation.engine.items import Question, SceneData
from generation.engine.worlds.base import World


def story_of(world: World, scene: SceneData | None) -> tuple[str, ...] | None:
    """Return the lines of a scene's story, or None if the world has no stories or there is no scene."""
    return world.story(scene) if scene is not None and world.has_stories else None


def seen_by(question: Question, lines: Sequence[str]) -> tuple[str, ...]:
    """Return the lines that a question may use: the first `question.scope` lines of its story, or all."""
    return tuple(lines if question.scope is None else lines[: question.scope])


def prompt_of(world: World, spec: Any, question: Question, lines: Sequence[str] | None) -> str:
    """Return the text for a model: the numbered lines that the question may use, then the world's own prompt."""
    asked = world.prompt(spec, question)
    if lines is None:
        return asked
    return f"{numbered(seen_by(question, lines))}\n\n{asked}"


def numbered(lines: Sequence[str]) -> str:
    """Return lines as one text, each line with its number in front; numbers start at 1."""
    return "\n".join(f"{number} {line}" for number, line in enumerate(lines, 1))
