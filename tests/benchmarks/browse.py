"""How fast a page of a split of 1,000,000 questions is made with any filters, on SQLite, and with how much memory.

The scratch site has two processes. One writes the rows and the index (`_browse_site.py build`). The other one answers
requests like a process of the web server (`_browse_site.py measure`), including all counts, rows and HTML.
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
    """Return the 95th percentile of server time over random filters, and other figures of time and memory."""
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
    """Run one process of the scratch site and return its output."""
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
