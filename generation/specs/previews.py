"""Previews: the first scenes of an unfinished spec, made in a separate process with limits."""

import base64
import json
import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from generation.engine.errors import BadSpec, EngineError
from generation.models import PreviewTurn
from generation.queue import sandbox

SCENES = 4
SECONDS = 10
MEMORY = 1024**3
CHILD = "generation.specs.preview_process"

log = logging.getLogger(__name__)


class NoPreview(EngineError):
    """A preview was stopped, or must wait."""


class PreviewQuestion(NamedTuple):
    text: str
    answer: str
    after: int | None  # the number of story lines that it may use; None for all


class ScenePreview(NamedTuple):
    """A scene of a preview. `image` is a data URL, empty without a picture; `story` is its lines."""

    story: list[str]
    image: str
    width: int
    height: int
    questions: list[PreviewQuestion]


class Preview(NamedTuple):
    scenes: list[ScenePreview]  # the first of a split
    left_out: list[str]  # a sentence for each kind of question that the split never asks


def preview(user: Any, data: Mapping[str, Any], *, split: str, files: Mapping[str, bytes]) -> Preview:
    """Return the first scenes of a split without storing them. Each account runs one preview at a time.

    Raises
    ------
    BadSpec
        If the engine refuses the spec.
    NoPreview
        If another preview is running, or this one exceeded its time or memory.
    """
    token = PreviewTurn.objects.take(user)
    if not token:
        raise NoPreview("Expected one preview at a time, but another one of yours is running. Try again in a moment.")
    try:
        return make(data, split=split, files=files)
    finally:
        PreviewTurn.objects.give_back(token)


def make(data: Mapping[str, Any], *, split: str, files: Mapping[str, bytes], scenes: int = SCENES) -> Preview:
    """Return the first scenes of a split, made in a child process with limits; raise `BadSpec` or `NoPreview`."""
    sent = {digest: base64.b64encode(content).decode() for digest, content in files.items()}
    asked = {"world": data["world"], "data": data, "files": sent, "split": split, "scenes": scenes}
    try:
        answer = json.loads(sandbox.run(CHILD, json.dumps(asked).encode(), seconds=SECONDS, memory=MEMORY))
    except sandbox.TooLong as error:
        raise NoPreview(
            f"Expected {scenes} scenes within {SECONDS} seconds, got none. Use fewer objects, smaller pictures, fewer "
            "samples or a lower minimum number of pixels. (After an update of this site, its staff first have to run "
            "manage.py warm.)"
        ) from error
    except sandbox.TooBig as error:
        raise NoPreview(
            f"Expected {scenes} scenes within {MEMORY // 1024**2:,} MB of memory, but they need more. Make the "
            "pictures or the spec's files smaller."
        ) from error
    except sandbox.Broken as error:
        log.warning("A preview ended early: %s", error)
        raise NoPreview(
            "Expected a preview, but it ended early because of an error of this program. The log says more."
        ) from error
    if "reason" in answer:
        raise BadSpec(answer["reason"], where=answer["where"])
    return Preview([_previewed(scene) for scene in answer["scenes"]], answer["left_out"])


def _previewed(scene: Mapping[str, Any]) -> ScenePreview:
    questions = [PreviewQuestion(one["text"], one["answer"], one["after"]) for one in scene["questions"]]
    return ScenePreview(scene["story"], scene["image"], scene["width"], scene["height"], questions)
