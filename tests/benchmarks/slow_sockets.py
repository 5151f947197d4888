"""How much 200 connections that stop sending or reading half-way delay pages.

The connections come from one address or from 50 addresses, directly to the site or through the shipped proxy.
"""

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE
from subprocess import run as call
from typing import Any

from tests.benchmarks.figures import figure, together

ROOT = Path(__file__).resolve().parents[2]
MOST = 200.0  # milliseconds
MS = 1000


def run() -> dict[str, Any]:
    """Return the delay in milliseconds of the slowest page, compared with the slowest page of the quiet site."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder:
        command = [sys.executable, "-m", "tests.benchmarks._slow_site", folder]
        done = call(command, env={**environment, "VAR_DIR": folder}, cwd=ROOT, check=True, stdout=PIPE, text=True)
    figures = [one for name, found in json.loads(done.stdout).items() for one in _figures(name, found)]
    return together("slow sockets", figures)


def _figures(name: str, found: dict[str, list[float]]) -> list[dict[str, Any]]:
    quiet = found.pop("quiet")
    figures = []
    for addresses, slow in found.items():
        title = f"{name}, 200 slow connections from {addresses}: the slowest page comes later by"
        figures.append(figure(title, MS * (max(slow) - max(quiet)), "ms", most=MOST))
        figures.append(figure("median of a page", MS * statistics.median(slow), "ms"))
    return [*figures, figure(f"{name}, quiet: the slowest page", MS * max(quiet), "ms")]
