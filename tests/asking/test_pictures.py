"""Pictures that `static/ask.py` sends: as they are, or scaled to the nearest pixel with the standard library alone."""

import base64
import io
import json
import struct
import zlib
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from tests import proof
from tests.asking import colour_site
from tests.asking.conftest import Call, answers, records, truth
from tests.asking.model_stub import ModelStub
from tests.webapp.contrary import Contrary

MODES = {"L": (0, 1), "RGB": (2, 3), "LA": (4, 2), "RGBA": (6, 4), "I;16": (0, 2)}  # colour type, bytes of a pixel


def predicted(kind: int, left: int, above: int, corner: int) -> int:
    """Return what a filter of the PNG specification predicts."""
    guess = left + above - corner
    closest = min((left, above, corner), key=lambda one: abs(guess - one))
    return (0, left, above, (left + above) // 2, closest)[kind]


def filtered(row: bytes, before: bytes, kind: int, *, step: int) -> bytes:
    left, corner = bytes(step) + row, bytes(step) + before
    known = zip(row, left, before, corner, strict=False)  # the last bytes of `left` and `corner` are not needed
    return bytes([kind, *((byte - predicted(kind, one, above, other)) % 256 for byte, one, above, other in known)])


def written(rows: list[bytes], mode: str, kinds: list[int]) -> bytes:
    """Return a PNG with these rows of bytes, of which each has the filter of its kind."""
    colour, step = MODES[mode]
    above = [bytes(len(rows[0])), *rows]
    lines = [filtered(row, above[at], kinds[at], step=step) for at, row in enumerate(rows)]
    depth = 16 if mode == "I;16" else 8
    head = struct.pack(">IIBBBBB", len(rows[0]) // step, len(rows), depth, colour, 0, 0, 0)
    parts = ((b"IHDR", head), (b"tEXt", b"a\0b"), (b"IDAT", zlib.compress(b"".join(lines))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, part) for name, part in parts)


def chunk(name: bytes, part: bytes) -> bytes:
    return struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))


@st.composite
def pictures(draw: st.DrawFn) -> tuple[str, list[bytes], list[int]]:
    mode = draw(st.sampled_from(sorted(MODES)))
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 6))
    size = width * MODES[mode][1]
    rows = draw(st.lists(st.binary(min_size=size, max_size=size), min_size=height, max_size=height))
    return mode, rows, draw(st.lists(st.integers(0, 4), min_size=height, max_size=height))


@settings(max_examples=proof.size(4000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(picture=pictures(), scale=st.fractions(Fraction(1, 5), 4, max_denominator=5))
def test_a_scaled_picture_has_the_nearest_pixels(
    script: ModuleType, picture: tuple[str, list[bytes], list[int]], scale: Fraction
) -> None:
    mode, rows, kinds = picture
    content = written(rows, mode, kinds)
    with Image.open(io.BytesIO(content)) as opened, Image.open(io.BytesIO(script.scaled_png(content, scale))) as scaled:
        size = tuple(max(1, round(side * scale)) for side in opened.size)
        assert (scaled.mode, scaled.size) == (opened.mode, size)
        across, down = nearest(opened.width, size[0]), nearest(opened.height, size[1])
        assert np.array_equal(np.asarray(scaled), np.asarray(opened)[down][:, across])


def nearest(side: int, count: int) -> list[int]:
    """Return the position of the pixel in which the middle of each pixel of a scaled line is."""
    return [int((at + Fraction(1, 2)) * side / count) for at in range(count)]


def test_a_palette_is_kept(script: ModuleType) -> None:
    image = Image.new("P", (6, 4), 7)
    image.putpalette([value % 256 for value in range(3 * 256)])
    file = io.BytesIO()
    image.save(file, "PNG", transparency=7)
    with Image.open(io.BytesIO(script.scaled_png(file.getvalue(), Fraction(2)))) as scaled:
        assert (scaled.mode, scaled.size, scaled.info["transparency"]) == ("P", (12, 8), 7)
        assert scaled.convert("RGB").getpixel((11, 7)) == (21, 22, 23)


DAMAGES = (
    lambda png: png[:40],
    lambda png: b"GIF89a",
    lambda png: png[:-30],
    lambda png: png[:45] + bytes(9) + png[54:],
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_picture_is_refused(damage: Any, script: ModuleType) -> None:
    with pytest.raises(script.Refused):
        script.scaled_png(damage(colour_site.picture(1)), Fraction(2))


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_a_picture_with_few_bits_is_refused(bits: int, script: ModuleType) -> None:
    file = io.BytesIO()
    Image.new("P", (4, 4)).save(file, "PNG", bits=bits)
    with pytest.raises(script.Refused, match="8 or 16 bits"):
        script.scaled_png(file.getvalue(), Fraction(2))


def test_a_run_can_scale_its_pictures_and_says_so(call: Call, model: ModelStub, folder: Path) -> None:
    model.reply = lambda prompt, image: colour_site.sees(prompt, image and image.reduce(3))
    assert call("--scale", "3") == 0
    assert {one.picture.size for one in model.asked if one.picture} == {(15, 9)}
    assert [one["scale"] for one in records(folder)] == ["3"] * 8 and answers(folder) == truth(8)
    model.reply = colour_site.sees
    assert call("--resume") == 0 and len(model.asked) == 16  # other pictures, so other questions


def test_a_jpeg_is_sent_as_it_is(script: ModuleType, site: Contrary, tmp_path: Path, clock: Any) -> None:
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "JPEG")
    site.answers[f"{colour_site.PATH}scenes/0/image"] = [file.getvalue()]
    asked = script.AskedQuestion(0, "?", (), None, "val_000000.jpg")
    where = script.Site(site.address, "", clock)
    single = script.SinglePictures(where, colour_site.PATH, tmp_path)
    store = script.PictureStore(single.read, scale=None)
    address = store.address_of(asked)
    kind, _, packed = address.partition(",")
    assert kind == "data:image/jpeg;base64" and base64.b64decode(packed) == file.getvalue()


def test_another_format_is_refused_before_it_is_sent(call: Call, site: Contrary, model: ModelStub, capsys: Any) -> None:
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "WEBP")
    colour_site.fill(site, 40)
    for path in site.answers:
        if path.endswith("/image"):
            site.answers[path] = [file.getvalue()]
    assert call("--sample", "1", "--retries", "0") == 2
    assert "Expected a picture in the format PNG or JPEG" in capsys.readouterr().err and model.asked == []


def test_the_stub_refuses_webp(model: ModelStub, script: ModuleType) -> None:
    part = {"type": "image_url", "image_url": {"url": "data:image/webp;base64,UklGRg=="}}
    body = json.dumps({"messages": [{"role": "user", "content": [part]}]}).encode()
    server = script.ModelServer(script.model_address(model.address), "", timeout=60)
    found = server.ask(body, now=lambda: 0.0)
    server.leave()
    assert (found.status, found.state) == (400, "failed") and "data:image/webp" in found.error
