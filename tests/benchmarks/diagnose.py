"""How long all facets of CLEVR's questions take, compared with making these questions, on one core.

Facets that need the train split are included.
"""

import statistics
import time
from typing import Any

from generation.engine.items import Item, Needs
from generation.engine.seeding import Stage, stream
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.question_generation import Asker
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.storage.question_hashes import KeyColumns
from tests.benchmarks.figures import figure, together
from tests.benchmarks.questions import released, sampled

PASSES = 5


def run(*, most: int = 300) -> dict[str, Any]:
    """Return the time of facets as a share of the time of making questions, and the questions diagnosed per second."""
    world = get_world("clevr")
    spec = world.read_spec({"base": "clevr"})
    assert isinstance(spec, ClevrSpec)
    scenes = (released() or sampled(spec)[0])[:most]
    world.facet_codes(spec, _make_items(spec, scenes[:1], number=0)[0])  # compiles the code, or loads it from the cache
    needing = [facet for facet in world.facets(spec) if facet.needs == Needs.TRAIN]
    shares, rates = [], []
    for number in range(1, PASSES + 1):
        before = time.perf_counter()
        items = _make_items(spec, scenes, number=number)
        made = time.perf_counter()
        for item in items:
            world.facet_codes(spec, item)
            columns = KeyColumns([facet.name for facet in needing])
            for question in item.questions:
                columns.add(world.train_keys(spec, item, question))
        done = time.perf_counter()
        shares.append(100 * (done - made) / (made - before))
        rates.append(sum(len(item.questions) for item in items) / (done - made))
    what = f"all facets of the questions about {len(scenes)} scenes"
    figures = [
        figure(f"{what}, of the time that asking them takes", statistics.median(shares), "%", most=100, cores=1),
        figure(f"{what}, median of {PASSES}", statistics.median(rates), "questions/s", cores=1),
        figure("slowest pass", min(rates), "questions/s", cores=1),
    ]
    return together("diagnose", figures)


def _make_items(spec: ClevrSpec, scenes: list[ClevrScene], *, number: int) -> list[Item]:
    """Return scenes with questions. The scenes are new objects, because stored scenes have no cached results either."""
    search, words = (
        stream(seed=number, split="benchmark", index=0, stage=stage) for stage in (Stage.QUESTIONS, Stage.WORDS)
    )
    asker = Asker(spec, search=search, words=words)
    fresh = [ClevrScene(scene.objects, scene.directions, scene.relationships) for scene in scenes]
    asked = [(scene, asker.ask(scene)) for scene in fresh]
    again = [ClevrScene(scene.objects, scene.directions, scene.relationships) for scene in scenes]
    return [Item(scene, None, questions) for scene, (_, questions) in zip(again, asked, strict=True) if questions]
