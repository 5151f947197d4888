"""`python -m tests.simtown_pictures [NAME ...]`: draw the named pictures of SimTown's page again, or all of them.

Each is saved as `static/docs/NAME.webp`. SimTown itself draws them, so no site is needed.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from generation.engine.items import Item
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.simtown.camera import FOCAL
from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.picture import draw
from generation.engine.worlds.simtown.road import box_of
from generation.engine.worlds.simtown.scene import SimTownScene, Vehicle
from generation.engine.worlds.simtown.street import LANES
from generation.engine.worlds.simtown.weather import WEATHERS
from tests.screenshots import STATIC

WIDTH, GAP = 1120, 10  # pixels
TEXT, LINE = 30, 37  # pixels; large, because a phone shows the pictures at a third of their width
SAMPLES = 16
QUALITY = 50
ENLARGED = 1000  # pixels; width of the picture from which a vehicle is cut out
PAPER, INK = (255, 255, 255), (32, 36, 42)


def scenes(*, distractor: bool) -> Image.Image:
    """Return a sheet with a scene in each weather, and its question and answer below."""
    cells = []
    for seed, weather in enumerate(WEATHERS, len(WEATHERS) * distractor):
        item = _item(weather, distractor=distractor, seed=seed)
        question = item.questions[0]
        assert question.answer is not None and isinstance(item.scene, SimTownScene)
        rgb, _ = draw(item.scene, width=555, height=370, samples=SAMPLES)
        text = f"{question.text} {question.answer.text.capitalize()}."
        cells.append((Image.fromarray(rgb), _lines(text, 545)))
    return _sheet(cells, columns=2)


def vehicles() -> Image.Image:
    """Return a sheet with the first fifteen vehicles and their names, all in the same scale."""
    cells = []
    for number, entity in enumerate(ENTITIES[:15], 1):
        one = Vehicle(entity=entity.name, lane="near", x=0.0, y=LANES["near"])
        rgb, _ = draw(SimTownScene(vehicles=(one,)), width=ENLARGED, height=ENLARGED * 2 // 3, samples=SAMPLES)
        cells.append((Image.fromarray(_cut_out(rgb, one)), [f"{number}. {entity.name}"]))
    return _sheet(cells, columns=3)


PICTURES: Mapping[str, Callable[[], Image.Image]] = {
    "simtown": partial(scenes, distractor=False),
    "simtown-vehicles": vehicles,
    "simtown-distractor": partial(scenes, distractor=True),
}


def _item(weather: str, *, distractor: bool, seed: int) -> Item:
    data = {
        "base": "simtown-mini",
        "entities": 60,
        "distractor": distractor,
        "seed": seed,
        "scene": {"weathers": [weather]},
        "questions": {"frequencies": "uniform", "relations": ["left", "right", "front", "behind"]},
    }
    spec, maker = get_world("simtown").read_spec(data), get_maker("simtown")
    return next(iter(maker.make(spec, "val", maker.plan(spec, "val")[0])))


def _cut_out(rgb: np.ndarray, one: Vehicle) -> np.ndarray:
    """Return the part of a picture around a vehicle, whose bottom is at the same place in each part."""
    left, _, right, bottom = (ENLARGED * place for place in box_of(one))
    wide = round(ENLARGED * FOCAL * 0.62)
    tall = wide * 3 // 4
    a = round(rgb.shape[0] / 2 + bottom + 0.1 * tall) - tall
    b = round(rgb.shape[1] / 2 + (left + right) / 2) - wide // 2
    return rgb[a : a + tall, b : b + wide]


def _font() -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(TEXT)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def _lines(text: str, most: float) -> list[str]:
    """Return a text in lines that are at most `most` pixels wide; its last two words are in one line."""
    lines, words = [""], text.split()
    for word in [*words[:-2], " ".join(words[-2:])]:
        longer = f"{lines[-1]} {word}".strip()
        lines = [*lines[:-1], longer] if _font().getlength(longer) <= most else [*lines, word]
    return lines


def _sheet(cells: Sequence[tuple[Image.Image, Sequence[str]]], *, columns: int) -> Image.Image:
    """Return a sheet of pictures of the same shape in rows, each with its lines of text below."""
    wide = (WIDTH - (columns - 1) * GAP) // columns
    tall = wide * cells[0][0].height // cells[0][0].width
    below = LINE * max(len(lines) for _, lines in cells) + 12
    sheet = Image.new("RGB", (WIDTH, -(-len(cells) // columns) * (tall + below)), PAPER)
    pen = ImageDraw.Draw(sheet)
    for place, (picture, lines) in enumerate(cells):
        x, y = place % columns * (wide + GAP), place // columns * (tall + below)
        sheet.paste(picture.resize((wide, tall), Image.Resampling.LANCZOS), (x, y))
        for number, line in enumerate(lines):
            pen.text((x + wide / 2, y + tall + 6 + LINE * number), line, INK, _font(), anchor="ma")
    return sheet


def main(names: Sequence[str]) -> None:
    """Draw the named pictures, or all pictures if no name is given."""
    for name in names or PICTURES:
        path = STATIC / "docs" / f"{name}.webp"
        PICTURES[name]().save(path, "WEBP", quality=QUALITY, method=6)
        sys.stdout.write(f"{name}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
