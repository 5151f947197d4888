"""When a running job counts as hung: after far longer than work of its size takes on a slow machine."""

from generation.models import ImportedSplit, Job
from generation.specs.estimates import Rates, pictures_of, scenes_of

LEAST = 3600.0  # seconds
PATIENCE = 20  # times as long as ordinary
BYTE = 1e-6  # seconds that reading one of somebody else's file takes
ROW = 1 / 1000  # seconds that storing, sealing or deleting a question takes


def seconds_for(job: Job) -> float:
    """Return how long a job may run, in seconds."""
    return LEAST + PATIENCE * _ordinarily(job)


def _ordinarily(job: Job) -> float:
    """Return how long a job takes by the rates of a machine on which nothing was measured yet."""
    rates, chunk, split = Rates(), job.chunk, job.split
    if chunk is not None and split is not None and job.kind == Job.Kind.IMAGES:
        return rates.drawing(pictures_of(split.dataset.spec_data, split.name), scenes_of(chunk, job.part))
    if job.kind == Job.Kind.IMPORT:
        return sum(ImportedSplit.objects.filter(split=split).values_list("total", flat=True)) * BYTE
    if chunk is not None:
        return chunk.questions * (rates.question + ROW)
    return sum(one.questions for one in ([split] if split is not None else job.dataset.splits.all())) * ROW
