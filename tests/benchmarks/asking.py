"""How long `static/ask.py` needs for 2,000 questions with 32 requests at once, compared with the model's server.

The server takes a fixed time for each reply. It and the site run in a process of their own.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from subprocess import PIPE
from typing import Any

from tests.benchmarks.figures import figure, together

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = 2000
CONCURRENCY = 32
DELAY = 0.2  # seconds for a reply
MOST = 2.0  # times the server's own time


def run(questions: int = QUESTIONS, concurrency: int = CONCURRENCY, delay: float = DELAY) -> dict[str, Any]:
    """Return how many times longer the whole run takes than the replies alone."""
    server = [sys.executable, "-m", "tests.benchmarks._asked_site", str(questions), str(delay)]
    with subprocess.Popen(server, cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True) as started:
        assert started.stdout is not None
        site, model = started.stdout.readline().split()
        seconds = _seconds(site, model, concurrency)
        started.communicate("stop\n")
    own = questions * delay / concurrency
    times = figure("the run, relative to the time of the replies alone", seconds / own, "times", most=MOST)
    return together("asking", [times, figure(f"{questions:,} questions, {concurrency} at once", seconds, "s")])


def _seconds(site: str, model: str, concurrency: int) -> float:
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder:
        options = ("--model", "eye", "--folder", f"{folder}/asked", "--concurrency", str(concurrency))
        command = [sys.executable, "static/ask.py", site, "colours/val", "--base-url", model, *options]
        began = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env={"PATH": os.environ["PATH"]}, check=True, capture_output=True)
        return time.perf_counter() - began
