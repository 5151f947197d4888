"""CLEVR datasets for several tests, generated once for each process."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from generation.engine.items import Item
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.shared_data import shared_path

WORLD = get_world("clevr")
MAKER = get_maker("clevr")


@pytest.fixture(scope="session")
def mini() -> ClevrSpec:
    """The spec of clevr-mini."""
    return WORLD.read_spec({"base": "clevr-mini"})  # type: ignore[return-value]


@pytest.fixture(scope="session")
def mini_items(mini: ClevrSpec) -> Mapping[str, list[Item]]:
    """All items of clevr-mini by split."""
    return {
        split: [item for chunk in MAKER.plan(mini, split) for item in MAKER.make(mini, split, chunk)]
        for split in mini.splits
    }


@pytest.fixture(scope="session")
def real_scenes() -> list[dict[str, Any]]:
    """The first 300 training scenes of the release. The test is skipped if they are not available."""
    path = shared_path("data", "clevr-v1", "CLEVR_train_scenes.json")
    return json.loads(path.read_text())["scenes"]  # type: ignore[no-any-return]
