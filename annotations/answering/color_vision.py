"""The colour vision check, and the search for questions that can be answered without seeing colours.

The check shows twelve pairs of the dataset's colours, which the participant compares on their own screen. If the world
draws pictures, the pairs are drawn in its materials and light. A study can give participants who confuse colours only
questions that need no colour.
"""

import functools
import io
import os
import re
import struct
import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from annotations.answering.answer_forms import form_of, swatches_of
from annotations.answering.participant_lookup import sealed_split
from annotations.models import Participant, Study, StudyQuestion
from annotations.secret_seeds import chance_for
from generation.models import Question, Split
from generation.storage import items

ROWS = 500  # rows that are read with one query
OF_COLOURS = {"color", "colors", "colored", "colour", "colours", "coloured"}


def without_colours(split: Split, positions: list[int]) -> list[int]:
    return [row.position for row in items.questions_at(split, positions) if not _is_coloured(split, row)]


def mark(study: Study) -> None:
    """Store for each question of a study's sample whether it needs colours, unless this is already stored."""
    unknown = study.questions.filter(coloured=None)
    positions = list(unknown.order_by("position").values_list("position", flat=True))
    for start in range(0, len(positions), ROWS):
        some = positions[start : start + ROWS]
        plain = set(without_colours(study.split, some))
        _say(study, plain, coloured=False)
        _say(study, set(some) - plain, coloured=True)


def _say(study: Study, positions: Iterable[int], *, coloured: bool) -> None:
    StudyQuestion.objects.filter(study=study, position__in=list(positions)).update(coloured=coloured)


def _is_coloured(split: Split, row: Question) -> bool:
    names = {word for name in swatches_of(split) for word in _words(name)}
    return bool(form_of(split, row.kind).swatches) or not (OF_COLOURS | names).isdisjoint(_words(row.text))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text.lower())


PAIRS, DIFFERENT = 12, 6
SLIPS = 1  # this many mistakes are allowed, because people sometimes press the wrong key
WAYS = 2  # the ways to draw a colour, for example two materials; they are used in turn
SIZE = 120  # the width and height in pixels of the picture of one colour
CHUNK = 12  # the bytes of a PNG chunk without its content
GROUND = (128, 128, 128)
Colour = tuple[int, int, int]

# Matrices that turn linear RGB into what people without red or green cones see: Machado et al. 2009, severity 1.
SEEN_AS = (
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
)


class ColourPair(NamedTuple):
    """Two colours side by side, which are drawn in the same way, for example with the same material (`which`)."""

    left: Colour
    right: Colour
    which: int = 0

    @property
    def is_same(self) -> bool:
        return self.left == self.right


def pairs_for(participant: Participant, swatches: Mapping[str, Colour]) -> list[ColourPair]:
    """Return the pairs for a participant: the pairs that are hardest to distinguish, mixed with pairs of equal colours.

    A participant always gets the same pairs.
    """
    chance = chance_for(participant, "palette")
    colours = sorted(set(swatches.values()))
    mixed = [chance.sample(pair, 2) for pair in hardest(colours)]
    pairs = [ColourPair(left, right) for left, right in mixed]
    pairs += [ColourPair(colour, colour) for colour in chance.choices(colours, k=PAIRS - len(pairs))]
    chance.shuffle(pairs)
    return [pair._replace(which=number % WAYS) for number, pair in enumerate(pairs)]


def hardest(colours: Sequence[Colour]) -> list[tuple[Colour, Colour]]:
    return sorted(combinations(colours, 2), key=lambda pair: (_distance(*pair), pair))[:DIFFERENT]


def mistakes(pairs: Sequence[ColourPair], answers: Sequence[bool]) -> int:
    return sum(pair.is_same != said for pair, said in zip(pairs, answers, strict=True))


def is_mistaken(mistaken: int | None) -> bool:
    return mistaken is not None and mistaken > SLIPS


def gets_colour_free(participant: Participant) -> bool:
    return is_mistaken(participant.mistaken) and participant.study.palette == Study.Palette.COLOUR_FREE


def draw_pair(pair: ColourPair, split: Split) -> bytes:
    """Return a PNG of two things in a pair's colours, `SIZE` pixels high and twice as wide.

    The pictures of all pairs of a split have the same number of bytes. Otherwise the number would reveal whether both
    halves are equal, because equal halves compress better.
    """
    with _DRAWING:  # browsers ask for all pictures of a page at once, and one thread draws them for all
        pictures = _draw_pairs(split.pk, split.index_digest)
    return _padded(pictures[pair], max(map(len, pictures.values())) + CHUNK)


_DRAWING = threading.Lock()


@functools.lru_cache(maxsize=20)  # of about a megabyte
def _draw_pairs(key: int, digest: str) -> Mapping[ColourPair, bytes]:
    """Return the picture of every pair that a participant can get, not yet padded."""
    split = sealed_split(key, digest)
    colours = sorted(set(swatches_of(split).values()))
    sides = [*hardest(colours), *((two, one) for one, two in hardest(colours)), *((one, one) for one in colours)]
    drawn = {(colour, which): draw_sample(split, colour, which) for colour in colours for which in range(WAYS)}
    return {
        ColourPair(left, right, which): _encoded(np.concatenate([drawn[left, which], drawn[right, which]], axis=1))
        for left, right in sides
        for which in range(WAYS)
    }


def _padded(png: bytes, size: int) -> bytes:
    content = b"paDd" + os.urandom(max(0, size - len(png) - CHUNK))  # readers ignore this chunk
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    return png[:-CHUNK] + chunk + png[-CHUNK:]  # the last chunk has no content, and must stay last


def _encoded(rgb: NDArray[np.uint8]) -> bytes:
    file = io.BytesIO()
    Image.fromarray(rgb).save(file, "PNG")
    return file.getvalue()


def draw_sample(split: Split, colour: Colour, which: int) -> NDArray[np.uint8]:
    name = next(name for name, rgb in swatches_of(split).items() if rgb == colour)
    rgb = split.dataset.get_world().draw_colour(split.read_spec(), name, which=which, size=SIZE)
    return _ball(colour) if rgb is None else rgb  # a world without pictures draws no colours


def _ball(colour: Colour) -> NDArray[np.uint8]:
    """Return a picture of a ball, `(SIZE, SIZE, 3)` uint8 sRGB, lit from the upper left."""
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) / (SIZE / 2) - 1
    z = np.sqrt(np.clip(0.81 - x**2 - y**2, 0, None)) / 0.9
    light = np.clip(0.55 + 0.45 * (0.8 * z - 0.45 * x - 0.45 * y), 0.35, 1)[..., None]
    picture = np.where((z > 0)[..., None], light * np.array(colour), np.array(GROUND))
    return picture.round().astype(np.uint8)


def _distance(one: Colour, other: Colour) -> float:
    difference = _linear(one) - _linear(other)
    return float(min(np.linalg.norm(np.array(matrix) @ difference) for matrix in SEEN_AS))


def _linear(colour: Colour) -> NDArray[np.float64]:
    level = np.array(colour, dtype=np.float64) / 255
    return np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
