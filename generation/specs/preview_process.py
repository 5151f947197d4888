"""A program that makes and draws the first scenes of a spec, from JSON to JSON. It stores nothing."""

import base64
import io
import json
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from PIL import Image

from generation.engine.errors import EngineError
from generation.engine.items import Item, Media
from generation.engine.worlds import Maker, World, get_maker, get_world
from generation.engine.worlds.story_text import story_of

QUALITY = 88


def preview(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first scenes of a split: pictures as data URLs, questions with their answers.

    `asked` has `world`, `data` (the spec), `files` (base64 by digest), `split` and `scenes` (their number).
    """
    files = {digest: base64.b64decode(content) for digest, content in asked["files"].items()}
    world, maker, split = get_world(asked["world"]), get_maker(asked["world"]), asked["split"]
    spec = world.read_spec(asked["data"], files=files).for_preview()
    whole = maker.plan(spec, split)[0]
    count = min(asked["scenes"], whole.items)
    if world.media == Media.IMAGE:
        chunk = whole._replace(items=count, questions=whole.questions // whole.items * count)
        shown = list(islice(maker.make(spec, split, chunk), count))
    else:
        shown = _varied(maker.make(spec, split, whole), count)
    scenes = [_scene(item, world, maker, spec, split) for item in shown]
    return {"scenes": scenes, "left_out": list(world.left_out(spec, split))}


def _varied(items: Iterable[Item], count: int) -> list[Item]:
    """Return `count` items, first those with a question type that no earlier item has."""
    made, kinds = list(items), set[str]()
    new, others = list[Item](), list[Item]()
    for item in made:
        own = {question.kind for question in item.questions}
        (others if own <= kinds else new).append(item)
        kinds |= own
    return [*new, *others][:count]


def _scene(item: Item, world: World, maker: Maker, spec: Any, split: str) -> dict[str, Any]:
    questions = [
        {
            "text": question.text,
            "answer": "" if question.answer is None else question.answer.text,
            "after": question.scope,
        }
        for question in item.questions
    ]
    story = list(story_of(world, item.scene) or ())
    if world.media != Media.IMAGE:
        return {"questions": questions, "story": story, "image": "", "width": 0, "height": 0}
    rgb, _ = maker.render(spec, split, item)
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "WEBP", quality=QUALITY, lossless=not world.display.smooth)
    address = f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    return {"questions": questions, "story": story, "image": address, "width": rgb.shape[1], "height": rgb.shape[0]}


def main() -> None:
    """Read one request from standard input and write the answer to standard output."""
    try:
        answer = preview(json.load(sys.stdin))
    except EngineError as error:
        answer = {"where": error.where, "reason": error.reason}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
