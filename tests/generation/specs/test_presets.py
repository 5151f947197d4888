"""Each preset has a thumbnail, and the script reproduces it."""

import io

import numpy as np
import pytest
from PIL import Image

from generation.engine.worlds import REGISTRY, get_maker
from generation.specs import previews
from generation.specs.presets import FOLDER, preset_card
from tests.proof import sample
from tests.thumbnails import content_of

MOST_BYTES = 12_000
OURS = ("babi", "clevr", "counting", "shapeworld", "simtown")


@pytest.mark.parametrize("world", OURS)
def test_each_preset_has_a_small_thumbnail(world: str) -> None:
    assert world in REGISTRY
    for name in get_maker(world).presets():
        thumbnail = preset_card(name).thumbnail
        assert thumbnail.image or thumbnail.story
        assert sum(path.stat().st_size for path in FOLDER.glob(f"{name}.*")) < MOST_BYTES


@pytest.mark.parametrize("name", sample(["babi", "babi-hindi"], gate=1))
def test_the_script_reproduces_a_story(name: str) -> None:
    file, content = content_of(name)
    assert (FOLDER / file).read_bytes() == content


@pytest.mark.parametrize("name", sample(["shapeworld-oneshape", "clevr-mini"], gate=1))
def test_the_script_reproduces_a_picture(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "SECONDS", 60)  # machines that run tests may be busy
    file, content = content_of(name)
    kept, made = (np.asarray(Image.open(source), int) for source in (FOLDER / file, io.BytesIO(content)))
    assert kept.shape == made.shape
    assert np.abs(kept - made).mean() < 2
