"""When a running job counts as hung: after far longer than work of its size takes on a slow machine."""

from generation.engine.spec import merged
from generation.estimates import Rates, samples_of, scenes_of
from generation.models import Chunk, Job, Split

LEAST = 3600.0  # seconds
PATIENCE = 20  # times as long as ordinary
ROW = 1 / 1000  # seconds that storing, sealing or deleting a question takes


def seconds_for(job: Job) -> float:
    """Return how long a job may run, in seconds."""
    return LEAST + PATIENCE * _ordinarily(job)


def _ordinarily(job: Job) -> float:
    """Return how long a job takes by the rates of a machine on which nothing was measured yet."""
    rates, chunk, split = Rates(), job.chunk, job.split
    if chunk is not None and split is not None and job.kind == Job.Kind.IMAGES:
        return _samples(chunk, split, job.part) * rates.sample
    if chunk is not None:
        return chunk.questions * (rates.question + ROW)
    return sum(one.questions for one in ([split] if split is not None else job.dataset.splits.all())) * ROW


def _samples(chunk: Chunk, split: Split, part: int) -> int:
    spec = split.dataset.spec_data
    overrides = spec["splits"].get(split.name, {}).get("overrides", {})
    return scenes_of(chunk, part) * samples_of(merged(spec, overrides))
