"""How long a claim takes while 500 to 1,000,000 jobs wait, on SQLite and, if a server answers, on PostgreSQL.

A dataset has at most 1,000 jobs, so that both jobs and datasets grow: 500 jobs are one dataset, 1,000,000 jobs are a
thousand datasets. For each claim, a background process chooses the dataset whose turn it is and claims its next job.
The job is then released, so that the number of waiting jobs stays the same. Sweeps are measured, too.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE
from subprocess import run as call
from typing import Any

from tests.benchmarks.answers import POSTGRES_URL, _answers, _database
from tests.benchmarks.figures import figure, together

ROOT = Path(__file__).resolve().parents[2]
SIZES = (500, 5_000, 50_000, 250_000, 1_000_000)
TIMES = 2.0  # limit of the time at the largest size, divided by the time at the smallest size


def run(sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Return the milliseconds of a claim at each number of waiting jobs, on each database."""
    figures: list[dict[str, Any]] = []
    for name, url in [("SQLite", ""), *([("PostgreSQL", POSTGRES_URL)] if _answers(POSTGRES_URL) else [])]:
        with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder, _database(url) as database:
            figures += _figures(name, json.loads(_site(folder, database, sizes)))
    return together("claims", figures)


def _site(folder: str, database: str, sizes: tuple[int, ...]) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {"VAR_DIR": folder, "DISK_RESERVE_GB": "0", "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    environment |= {"DATABASE_URL": database} if database else {}
    command = [sys.executable, "-m", "tests.benchmarks._claims_site", *map(str, sizes)]
    return call(command, env=environment, cwd=ROOT, check=True, stdout=PIPE, text=True).stdout


def _figures(name: str, found: list[dict[str, float]]) -> list[dict[str, Any]]:
    first, last = found[0], found[-1]
    times = last["claim"] / first["claim"]
    figures = [figure(f"{name}: a claim at {last['jobs']:,.0f} waiting jobs, times that at {first['jobs']:,.0f}", times,
                      "", most=TIMES)]  # fmt: skip
    for one in found:
        figures.append(figure(f"{name}, {one['jobs']:,.0f} waiting jobs: a claim, median", one["claim"], "ms"))
        figures.append(figure("95 of 100 within", one["p95"], "ms"))
        figures.append(figure("a sweep", one["sweep"], "ms"))
    return figures
