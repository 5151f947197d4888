"""The program of the benchmark `claims`: it fills a database with waiting jobs, and claims jobs."""

import json
import statistics
import sys
import time
from collections.abc import Callable

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from generation.making import dataset_jobs  # noqa: E402
from generation.models import Chunk, Dataset, Job, Split, Turn  # noqa: E402
from generation.queue import leases, runner  # noqa: E402

EACH = 1000  # jobs of a dataset
CLAIMS = 200
SWEEPS = 5
ROWS = 10_000


def main(sizes: list[int]) -> None:
    """Print the times for each number of waiting jobs as JSON."""
    call_command("migrate", verbosity=0)
    runner.current_app.send_task = lambda *args, **options: None
    found = []
    for size in sizes:
        fill(size)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        claims = [milliseconds_of(claim) for _ in range(CLAIMS + 20)][20:]
        sweeps = [milliseconds_of(dataset_jobs.RUNNER.sweep) for _ in range(SWEEPS)]
        sys.stderr.write(f"{size}: {statistics.median(claims):.2f} ms, a sweep {statistics.median(sweeps):.1f} ms\n")
        found.append(
            {
                "jobs": size,
                "claim": statistics.median(claims),
                "p95": sorted(claims)[int(0.95 * len(claims))],
                "sweep": statistics.median(sweeps),
            }
        )
    sys.stdout.write(json.dumps(found))


def milliseconds_of(do: Callable[[], object]) -> float:
    """Call `do` and return the milliseconds that it took."""
    before = time.perf_counter()
    do()
    return 1000 * (time.perf_counter() - before)


def claim() -> None:
    """Claim a job and release it, so that the number of waiting jobs stays the same."""
    job = dataset_jobs.claim()
    assert job is not None
    leases.release_untried(job)


def fill(size: int) -> None:
    """Add datasets until `size` jobs wait. One job of each split is a seal, which is blocked."""
    waiting = Job.objects.filter(state=Job.State.WAITING).count()
    while waiting < size:
        slug = f"claims-{Dataset.objects.count()}"
        dataset = Dataset.objects.create(slug=slug, world="clevr", spec="{}", engine_version="0")
        split = Split.objects.create(dataset=dataset, name="train", ordinal=0, scenes=EACH, questions=EACH)
        count = min(EACH, size - waiting) - 1
        places = ({"number": at, "first_scene": at, "first_question": at} for at in range(count))
        chunks = Chunk.objects.bulk_create([Chunk(split=split, scenes=1, questions=1, **place) for place in places])
        rows = [Job(kind=Job.Kind.ITEMS, dataset=dataset, split=split, chunk=chunk) for chunk in chunks]
        Job.objects.bulk_create([Job(kind=Job.Kind.SEAL, dataset=dataset, split=split), *rows], batch_size=ROWS)
        Turn.objects.offer(dataset.pk)
        waiting += count + 1


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]])
