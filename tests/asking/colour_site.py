"""A small site with questions about pictures of one colour, and a model that sees the colour."""

import gzip
import io
import json
import tarfile
from typing import Any

from PIL import Image

from tests.webapp.contrary import Contrary

SPLIT = "colours/val"
PATH = "/api/v1/datasets/colours/splits/val/"
COLOURS = {"red": (200, 10, 10), "green": (10, 200, 10), "blue": (10, 10, 200)}
NAMES = tuple(COLOURS)
STEPS = "The answer is computed in these steps:"
WORD, YES_NO = "Answer with one word.", "Answer yes or no."
SIZE = (5, 3)


def colour_of(scene: int) -> str:
    return NAMES[scene % len(NAMES)]


def picture(scene: int) -> bytes:
    """Return a PNG of one colour, in whose second pixel the number of the scene is."""
    image = Image.new("RGB", SIZE, COLOURS[colour_of(scene)])
    image.putpixel((1, 0), (scene // 256, scene % 256, 77))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def scene_in(image: Image.Image | None) -> int:
    """Return the number of the scene that a picture shows."""
    assert image is not None
    high, low, sign = pixel(image, 1)
    assert sign == 77
    return high * 256 + low


def pixel(image: Image.Image, x: int) -> tuple[int, ...]:
    found = image.getpixel((x, 0))
    assert isinstance(found, tuple)
    return found


def sees(prompt: str, image: Image.Image | None) -> str:
    """Return the right answer to a question, from the pixels alone; a letter if the prompt has options."""
    assert image is not None
    colour = next(name for name, rgb in COLOURS.items() if rgb == pixel(image, 0))
    answer = colour if prompt.startswith("What colour") else "yes" if f"Is it {colour}?" in prompt else "no"
    lines = prompt.splitlines()
    if STEPS in lines:
        name = lines[lines.index(STEPS) + 2].partition("(")[0].rpartition(" ")[2]
        found = [{"step": "scene", "result": 1}, {"step": name, "result": answer}]
        return f"{json.dumps(found)}\nAnswer: {answer}"
    return next((line[0] for line in lines if line[1:] == f". {answer}"), f"It is {answer}.")


def question(number: int) -> dict[str, Any]:
    """Return the line of a question: the colour of a scene, or whether it is red."""
    scene, colour = number // 2, colour_of(number // 2)
    is_word = number % 2 == 0
    text = "What colour is it?" if is_word else "Is it red?"
    return {
        "question_id": number,
        "image_index": scene,
        "image": f"val_{scene:06d}.png",
        "question": text,
        "prompt": f"{text}\n{WORD if is_word else YES_NO}",
        "choices": list(NAMES) if is_word else ["yes", "no"],
        "answer": colour if is_word else "yes" if colour == "red" else "no",
    }


def steps(number: int) -> dict[str, Any]:
    """Return the line of a question's steps: how many objects there are, and then the answer."""
    is_word = number % 2 == 0
    name = "query_colour" if is_word else "is_red"
    found: list[dict[str, Any]] = [
        {"function": "scene", "inputs": [], "value_inputs": [], "kind": "objects", "result": 1},
        {"function": name, "inputs": [0], "value_inputs": [], "kind": "word" if is_word else "yes-no"},
    ]
    found[1]["result"] = question(number)["answer"]
    return {"question_id": number, "prompt": f"{STEPS}\n1. scene()\n2. {name}(step 1)", "steps": found}


def archive(scenes: int) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for scene in range(scenes):
            content = picture(scene)
            entry = tarfile.TarInfo(f"val_{scene:06d}.png")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def fill(server: Contrary, questions: int) -> None:
    """Give a server the responses of a site with so many questions."""
    lines = "".join(json.dumps(question(number)) + "\n" for number in range(questions))
    some = "".join(json.dumps(steps(number)) + "\n" for number in range(questions))
    scenes = (questions + 1) // 2
    server.answers |= {
        PATH: [
            {
                "answers": ["yes", "no", *NAMES],
                "fingerprint": "f" * 64,
                "questions_file": f"{PATH}questions.jsonl.gz",
                "images_file": f"{PATH}images.tar",
                "steps_file": f"{PATH}steps.jsonl.gz",
                "withheld": False,
            }
        ],
        f"{PATH}steps.jsonl.gz": [gzip.compress(some.encode())],
        f"{PATH}questions.jsonl.gz": [gzip.compress(lines.encode())],
        f"{PATH}images.tar": [archive(scenes)],
    }
    for number in range(questions):
        address = f"{PATH}scenes/{number // 2}/image"
        server.answers[f"{PATH}questions/{number}/"] = [{"image": address}]
        server.answers[address] = [picture(number // 2)]
