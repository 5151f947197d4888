"""How fast CLEVR's scenes are asked, text and program included, and how fast scenes are sampled; one core."""

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
    """One time through all scenes."""

    questions: int
    replaced: int
    seconds: list[float]  # of each scene

    @property
    def rate(self) -> float:
        """Return questions a second."""
        return self.questions / sum(self.seconds)


def run() -> dict[str, Any]:
    """Return questions a second over the release's scenes, or our own where those are absent, and more figures."""
    spec = get_world("clevr").read_spec({"base": "clevr"})
    assert isinstance(spec, ClevrSpec)
    own, per_second = sampled(spec)
    real = released()
    scenes, whose = (real, "real") if real else (own, "own")
    ask_all(spec, scenes, number=0)  # warm-up: compiles, or loads what was compiled
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
    """Return one pass over all scenes, in batches as a split has them."""
    questions = replaced = 0
    seconds = []
    for first in range(0, len(scenes), spec.questions.window):
        search, words = (
            stream(seed=number, split="benchmark", index=first, stage=stage) for stage in (Stage.QUESTIONS, Stage.WORDS)
        )
        asker = Asker(spec, search=search, words=words)
        for scene in scenes[first : first + spec.questions.window]:
            # A scene remembers what was worked out about it: each pass gets it fresh, as making does.
            fresh = ClevrScene(scene.objects, scene.directions, scene.relationships)
            before = time.perf_counter()
            asked = asker.ask(fresh)
            seconds.append(time.perf_counter() - before)
            questions += len(asked or ())
            replaced += asked is None
    return Pass(questions, replaced, seconds)


def sampled(spec: ClevrSpec) -> tuple[list[ClevrScene], float]:
    """Return sampled scenes, and how many a second."""
    numbers = stream(seed=1, split="benchmark", index=0, stage=Stage.SCENE)
    sample_scene(spec, numbers)
    before = time.perf_counter()
    scenes = [sample_scene(spec, numbers).scene for _ in range(SAMPLED)]
    return scenes, SAMPLED / (time.perf_counter() - before)


def released() -> list[ClevrScene]:
    """Return scenes of the release, none where they are absent."""
    path = Path(os.environ.get("HORSESENSE_SHARED", ROOT.parent / "shared")) / REAL
    return [read_scene(scene) for scene in json.loads(path.read_text())["scenes"]] if path.exists() else []
