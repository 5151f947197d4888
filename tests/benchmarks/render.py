"""How fast CLEVR's pictures are drawn and written: 480x320, 16 samples, PNG (level 1), two processes."""

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from PIL import Image

from generation.engine.seeding import Stage, stream
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr.picture import draw, draw_ids
from generation.engine.worlds.clevr.scene_sampling import SampledScene, sample_scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from tests.benchmarks.figures import figure, together

PROCESSES = 2
SAMPLES = 16
PICTURES = 24  # for each process
SPEC = get_world("clevr").read_spec({"base": "clevr"})
assert isinstance(SPEC, ClevrSpec)
WORDS = SPEC.vocabulary


def run() -> dict[str, Any]:
    """Return the pictures per second, the mean size of a file, and the time of an object-id image."""
    shares = [list(islice(scenes(seed), PICTURES)) for seed in range(PROCESSES)]
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder, ExitStack() as stack:
        pools = [stack.enter_context(one_process()) for _ in range(PROCESSES)]
        tasks = [(Path(folder, str(number)), share) for number, share in enumerate(shares)]
        for pool, (place, share) in zip(pools, tasks, strict=True):
            pool.submit(_draw_all, place, share[:2]).result()  # warm-up: each process compiles the code
        started = time.perf_counter()
        waiting = [pool.submit(_draw_all, *task) for pool, task in zip(pools, tasks, strict=True)]
        sizes = [size for drawn in waiting for size in drawn.result()]
        seconds = time.perf_counter() - started
    figures = [
        figure("pictures", len(sizes) / seconds, "images/s", least=8, cores=PROCESSES),
        figure("mean file", sum(sizes) / len(sizes) / 1000, "KB", most=200, cores=1),
        figure("object ids alone, 10 objects", _ids_milliseconds(), "ms", most=5, cores=1),
    ]
    return together("render", figures)


def one_process() -> ProcessPoolExecutor:
    """Return a pool of one process, so that each process can be warmed up and gets a fixed share."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def _draw_all(folder: Path, share: list[SampledScene]) -> list[int]:
    """Draw scenes into a folder, and return the sizes of the pictures in bytes."""
    folder.mkdir(exist_ok=True)
    sizes = []
    for number, sampled in enumerate(share):
        rgb, ids = draw(sampled.scene.objects, sampled.view, WORDS, samples=SAMPLES, seed=number)
        path = folder / f"{number}.png"
        Image.fromarray(rgb).save(path, compress_level=1)
        Image.fromarray(ids).save(folder / f"{number}.ids.png", compress_level=1)
        sizes.append(path.stat().st_size)
    return sizes


def _ids_milliseconds() -> float:
    """Return the median of the milliseconds that an object-id image of ten objects takes."""
    view, things = next((one.view, one.scene.objects) for one in scenes(7) if len(one.scene.objects) == 10)
    draw_ids(things, view, WORDS)
    times = []
    for _ in range(50):
        started = time.perf_counter()
        draw_ids(things, view, WORDS)
        times.append(time.perf_counter() - started)
    return 1000 * sorted(times)[len(times) // 2]


def scenes(seed: int) -> Iterator[SampledScene]:
    """Yield an endless sequence of CLEVR scenes."""
    source = stream(seed=seed, split="benchmark", index=0, stage=Stage.SCENE)
    while True:
        yield sample_scene(SPEC, source)
