"""Time and disk space that a dataset needs, and the time after which a job counts as hung.

Estimates use measurements of this server, or defaults without measurements.
"""

import shutil
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import QuerySet

from generation.durations import duration
from generation.engine.errors import BadSpec
from generation.engine.items import Media
from generation.engine.render import blender
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_maker, get_world
from generation.models import Chunk, Dataset, ImportedSplit, Job, Quota, Scene, Split
from generation.models.datasets import SLICE
from generation.storage import files

JOBS_MEASURED = 40
PICTURES_MEASURED = 12
PLAIN_PIXELS = 480 * 320
PLAIN_SAMPLES = 16
BUILT_IN = "tracer"
SCENE_BYTES, QUESTION_BYTES = 4_000, 1_200  # bytes of rows and index, measured on SQLite
MB, GB = 10**6, 10**9


class Rates(NamedTuple):
    """The cost of work for one background process.

    Attributes
    ----------
    question : float
        Seconds for a question, including its share of the scene.
    sample : float
        Seconds for one sample of a pixel with the built-in renderer.
    slow_sample : float
        The same with Blender.
    pixel : float
        Bytes per pixel of both pictures together.
    jobs : int
        Number of finished jobs that were measured; 0 for defaults.
    """

    question: float = 1 / 700
    sample: float = 1 / (5 * PLAIN_PIXELS * PLAIN_SAMPLES)
    slow_sample: float = blender.SAMPLE
    pixel: float = 0.9
    jobs: int = 0

    def drawing(self, spec: Mapping[str, Any], pictures: int) -> float:
        return pictures * samples_of(spec) * (self.sample if renderer_of(spec) == BUILT_IN else self.slow_sample)


class Estimate(NamedTuple):
    """The estimate for a spec: `seconds` with all `processes` at work, `size` in bytes of disk."""

    scenes: int
    questions: int
    seconds: float
    size: int
    processes: int
    rates: Rates

    @property
    def size_text(self) -> str:
        return f"{self.size / GB:,.1f} GB" if self.size >= GB else f"{max(1, round(self.size / MB)):,} MB"

    @property
    def time_text(self) -> str:
        return duration(self.seconds)


def measured_rates(world: str) -> Rates:
    return rates_of(Job.objects.filter(dataset__world=world))._replace(pixel=_bytes_a_pixel(world) or Rates().pixel)


def rates_of(jobs_done: QuerySet[Job], *, without: Rates | None = None) -> Rates:
    """Return the cost of these jobs, if they are finished. Missing rates come from `without`, or are defaults."""
    rates, jobs = without or Rates(), 0
    done = jobs_done.filter(state=Job.State.DONE, started__isnull=False)
    done = done.exclude(chunk=None).select_related("chunk").order_by("-finished")
    asked = list(done.filter(kind=Job.Kind.ITEMS)[:JOBS_MEASURED])
    questions = sum(job.chunk.questions for job in asked if job.chunk is not None)
    if questions:
        rates, jobs = rates._replace(question=_seconds(asked) / questions), len(asked)
    drawn = list(done.filter(kind=Job.Kind.IMAGES).select_related("chunk", "dataset", "split")[:JOBS_MEASURED])
    quick = [job for job in drawn if renderer_of(_spec_of(job)) == BUILT_IN]
    slow = [job for job in drawn if job not in quick]
    return rates._replace(
        sample=_seconds_a_sample(quick) or rates.sample,
        slow_sample=_seconds_a_sample(slow) or rates.slow_sample,
        jobs=jobs + len(drawn),
    )


def _seconds_a_sample(drawn: list[Job]) -> float:
    samples = sum(_samples_drawn(job) for job in drawn)
    return _seconds(drawn) / samples if samples else 0.0


def _spec_of(job: Job) -> dict[str, Any]:
    assert job.split is not None
    return pictures_of(job.dataset.spec_data, job.split.name)


def _seconds(jobs: list[Job]) -> float:
    return sum((job.finished - job.started).total_seconds() for job in jobs if job.finished and job.started)


def _samples_drawn(job: Job) -> int:
    assert job.chunk is not None
    return scenes_of(job.chunk, job.part) * samples_of(_spec_of(job))


def scenes_of(chunk: Chunk, part: int) -> int:
    return max(0, min(SLICE, chunk.scenes - part * SLICE))


def pictures_of(spec: Mapping[str, Any], split: str) -> dict[str, Any]:
    """Return the picture settings of a split from a stored spec. This is faster than reading the spec."""
    images = spec.get("images", {})
    own = spec["splits"].get(split, {}).get("overrides", {}).get("images", {})
    if own.get("renderer", images.get("renderer")) != images.get("renderer"):
        # Each renderer has another default number of samples.
        images = {name: value for name, value in images.items() if name != "samples"}
    return {"images": {**images, **own}}


def renderer_of(spec: Mapping[str, Any]) -> str:
    return str(spec.get("images", {}).get("renderer", BUILT_IN))


def samples_of(spec: Mapping[str, Any]) -> int:
    width, height, samples = _picture(spec)
    return width * height * samples


def _picture(spec: Mapping[str, Any]) -> tuple[int, int, int]:
    images = spec.get("images", {})
    samples = PLAIN_SAMPLES if renderer_of(spec) == BUILT_IN else blender.SAMPLES
    return images.get("width", 480), images.get("height", 320), images.get("samples", samples)


def _bytes_a_pixel(world: str) -> float:
    """Return the bytes per pixel of recent pictures; 0 if there are none, or if files are stored elsewhere.

    Pixels are counted as by `_picture`, so that sizes are also right for worlds whose specs have no picture size.
    """
    if files.local_path("") is None:
        return 0.0
    last = Dataset.objects.filter(world=world, state=Dataset.State.COMPLETE, with_images=True).order_by("-completed")
    split = Split.objects.filter(dataset=last.first(), ordinal=0).select_related("dataset").first()
    if split is None:
        return 0.0
    width, height, _ = _picture(pictures_of(split.dataset.spec_data, split.name))
    size = pixels = 0
    scenes = Scene.objects.filter(split=split, position__lt=PICTURES_MEASURED)
    for scene in scenes.exclude(image="").only("image", "ids_image"):
        try:
            size += default_storage.size(scene.image) + default_storage.size(scene.ids_image)
        except FileNotFoundError:
            continue
        pixels += width * height
    return size / pixels if pixels else 0.0


def estimate(spec: BaseSpec, *, images: bool = True) -> Estimate:
    """Return the estimate for a validated spec on this server."""
    maker, rates = get_maker(spec.world), measured_rates(spec.world)
    drawn = images and get_world(spec.world).media == Media.IMAGE
    scenes = questions = 0
    seconds = size = 0.0
    for name in spec.splits:
        chunks = maker.plan(spec, name)
        count, asked = sum(chunk.items for chunk in chunks), sum(chunk.questions for chunk in chunks)
        own = spec.for_split(name).to_json()
        width, height, _ = _picture(own)
        pixels = count * width * height if drawn else 0
        seconds += asked * rates.question + rates.drawing(own, count if drawn else 0)
        size += count * SCENE_BYTES + asked * QUESTION_BYTES + pixels * rates.pixel
        scenes, questions = scenes + count, questions + asked
    processes = settings.GENERATION_PROCESSES
    return Estimate(scenes, questions, seconds / processes, round(size), processes, rates)


class TooMuch(BadSpec):
    def __init__(self, message: str, *, where: str = "splits", estimate: Estimate | None = None) -> None:
        super().__init__(message, where=where)
        self.estimate = estimate


def check(spec: BaseSpec, user: Any, *, images: bool = True) -> Estimate:
    """Return the estimate for a spec; raise `TooMuch` if it exceeds the user's quota or the free disk space."""
    allowed, used = Quota.objects.allowed(user), Quota.objects.used(user)
    wanted = sum(split.scenes for split in spec.splits.values())
    if used + wanted > allowed:
        raise TooMuch(
            f"Expected at most {max(0, allowed - used):,} scenes, got {wanted:,}. Your quota is {allowed:,} "
            f"scenes, and {used:,} are used. Delete a dataset, or ask staff for more."
        )
    found, room = estimate(spec, images=images), free_bytes()
    if room is not None and found.size > room:
        raise TooMuch(
            f"Expected at most {max(0.0, room / GB):,.1f} GB, got about {found.size_text}. The limit is the free "
            f"space on the disk without the {settings.DISK_RESERVE_GB:g} GB that are kept free.",
            estimate=found,
        )
    return found


def free_bytes() -> int | None:
    """Return how many bytes may still be written to the disk of stored files; None if files are stored elsewhere."""
    path = files.local_path("")
    if path is None:
        return None
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free - int(settings.DISK_RESERVE_GB * files.GIB)


LEAST = 3600.0  # seconds
PATIENCE = 20  # factor on the usual time
BYTE = 1e-6  # seconds for reading one byte of an imported file
ROW = 1 / 1000  # seconds for storing, sealing or deleting a question


def seconds_for(job: Job) -> float:
    return LEAST + PATIENCE * _ordinarily(job)


def _ordinarily(job: Job) -> float:
    """Return the usual time of a job in seconds, with the default rates."""
    rates, chunk, split = Rates(), job.chunk, job.split
    if chunk is not None and split is not None and job.kind == Job.Kind.IMAGES:
        return rates.drawing(pictures_of(split.dataset.spec_data, split.name), scenes_of(chunk, job.part))
    if job.kind == Job.Kind.IMPORT:
        return sum(ImportedSplit.objects.filter(split=split).values_list("total", flat=True)) * BYTE
    if chunk is not None:
        return chunk.questions * (rates.question + ROW)
    return sum(one.questions for one in ([split] if split is not None else job.dataset.splits.all())) * ROW
