"""How fast CLEVR's questions are made, including texts and programs, and how fast scenes are sampled, on one core."""

import json
import os
import statistics
import time
from pathlib import Path
from typing import Any, NamedTuple

from generation.engine.seeding import Stage, stream
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.question_generation import Asker
from generation.engine.worlds.clevr.scene import ClevrScene, read_scene
from generation.engine.worlds.clevr.scene_sampling import sample_scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.benchmarks.figures import figure, together

GOAL = 10_000
PASSES = 5
SAMPLED = 300
ROOT = Path(__file__).resolve().parents[2]
REAL = Path("data", "clevr-v1", "CLEVR_train_scenes.json")


class Pass(NamedTuple):
    """The result of one pass over all scenes."""

    questions: int
    replaced: int
    seconds: list[float]  # of each scene

    @property
    def rate(self) -> float:
        """Return the number of questions per second."""
        return self.questions / sum(self.seconds)


def run() -> dict[str, Any]:
    """Return the questions per second, and more figures.

    The scenes are those of the release, or sampled ones if the release is not there.
    """
    spec = get_world("clevr").read_spec({"base": "clevr"})
    assert isinstance(spec, ClevrSpec)
    own, per_second = sampled(spec)
    real = released()
    scenes, whose = (real, "real") if real else (own, "own")
    ask_all(spec, scenes, number=0)  # warm-up: compiles the code, or loads it from the cache
    passes = [ask_all(spec, scenes, number=number) for number in range(1, PASSES + 1)]
    times = sorted(second for one in passes for second in one.seconds)
    share = sum(one.replaced for one in passes) / (PASSES * len(scenes))
    figures = [
        figure(
            f"questions over {len(scenes)} {whose} scenes, median of {PASSES}",
            statistics.median(one.rate for one in passes),
            "questions/s",
            least=GOAL,
            cores=1,
        ),
        figure("slowest pass", min(one.rate for one in passes), "questions/s", cores=1),
        figure("a scene's questions, 95th percentile", 1000 * times[int(0.95 * len(times))], "ms", cores=1),
        figure("scenes replaced, as they admit too few", 100 * share, "%", cores=1),
        figure("scenes sampled, visibility included", per_second, "scenes/s", cores=1),
    ]
    return together("questions", figures)


def ask_all(spec: ClevrSpec, scenes: list[ClevrScene], *, number: int) -> Pass:
    """Make questions about all scenes, in batches like those of a split."""
    questions = replaced = 0
    seconds = []
    for first in range(0, len(scenes), spec.questions.window):
        search, words = (
            stream(seed=number, split="benchmark", index=first, stage=stage) for stage in (Stage.QUESTIONS, Stage.WORDS)
        )
        asker = Asker(spec, search=search, words=words)
        for scene in scenes[first : first + spec.questions.window]:
            # A scene caches results, therefore each pass gets new scenes, as the making of a dataset does.
            fresh = ClevrScene(scene.objects, scene.directions, scene.relationships)
            before = time.perf_counter()
            asked = asker.ask(fresh)
            seconds.append(time.perf_counter() - before)
            questions += len(asked or ())
            replaced += asked is None
    return Pass(questions, replaced, seconds)


def sampled(spec: ClevrSpec) -> tuple[list[ClevrScene], float]:
    """Return sampled scenes, and the number of scenes sampled per second."""
    numbers = stream(seed=1, split="benchmark", index=0, stage=Stage.SCENE)
    sample_scene(spec, numbers)
    before = time.perf_counter()
    scenes = [sample_scene(spec, numbers).scene for _ in range(SAMPLED)]
    return scenes, SAMPLED / (time.perf_counter() - before)


def released() -> list[ClevrScene]:
    """Return the scenes of the release, or an empty list if the file is not there."""
    path = Path(os.environ.get("HORSESENSE_SHARED", ROOT.parent / "shared")) / REAL
    return [read_scene(scene) for scene in json.loads(path.read_text())["scenes"]] if path.exists() else []
