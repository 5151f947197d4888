"""How fast a page of questions is made, whatever the filters, out of 1,000,000 questions on SQLite; and its memory.

Two processes of a site of its own: one writes the rows and the index (`_browse_site.py build`), one answers requests
as the web server's process does (`_browse_site.py measure`), all counts, rows and HTML included.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import figure, together

ROOT = Path(__file__).resolve().parents[2]
SCENES = 100_000
QUERIES = 200


def run(scenes: int = SCENES, queries: int = QUERIES) -> dict[str, Any]:
    """Return the 95th percentile of server time over random filters, and what else a page costs."""
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder:
        _step("build", str(scenes), folder=folder)
        found = json.loads(_step("measure", str(queries), folder=folder))
    figures = [
        figure(
            f"a page of {10 * scenes:,} questions, {queries} random filters, 95th percentile",
            found["p95"],
            "ms",
            most=60,
            cores=1,
        ),
        figure("median", found["median"], "ms", cores=1),
        figure(
            "mean of processor time: what it takes on a machine with nothing else to do", found["busy"], "ms", cores=1
        ),
        figure("memory of the process", found["memory"], "MB", most=400, cores=1),
        figure("the last page beside the first", found["last"] / found["first"], "times as long", most=1.25, cores=1),
        figure("a question among those of a filter, 95th percentile", found["question"], "ms", most=60, cores=1),
    ]
    return together("browse", figures)


def _step(*arguments: str, folder: str) -> str:
    """Return what one process of the scratch site printed."""
    taken_out = ("DATABASE_URL", "MEDIA_ROOT", "S3_BUCKET", "REDIS_URL", "DEBUG", "PUBLIC_URL")
    kept = {name: value for name, value in os.environ.items() if name not in taken_out}
    environment = {
        **kept,
        "VAR_DIR": folder,
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(ROOT / "var" / "numba")),
        "DJANGO_SETTINGS_MODULE": "webapp.settings",
    }
    command = [sys.executable, "-m", "tests.benchmarks._browse_site", *arguments]
    return subprocess.run(command, env=environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
