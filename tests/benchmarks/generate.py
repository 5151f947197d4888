"""How fast a dataset of 1,000 CLEVR scenes is made and sealed, and how much memory its processes take.

The times include everything: `manage.py generate`, its processes, SQLite, PNG files, and the index.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.figures import figure, together

ROOT = Path(__file__).resolve().parents[2]
SCENES = 1000
POLL = 0.1  # seconds
MB = 1_000_000


class Run(NamedTuple):
    """The time and the memory of one run of a command."""

    seconds: float
    peaks: list[float]  # peak memory of each process in MB

    @property
    def peak(self) -> float:
        """Return the peak memory of the largest process in MB."""
        return max(self.peaks, default=0.0)


def run(scenes: int = SCENES) -> dict[str, Any]:
    """Return the speed-up by a second worker, memory, growth of memory, and times."""
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder:
        site = Site(Path(folder))
        few = site.generate("few", scenes=scenes // 4, workers=1)
        one = site.generate("one", scenes=scenes, workers=1)
        two = site.generate("two", scenes=scenes, workers=2)
    figures = [
        figure("two workers beside one", one.seconds / two.seconds, "times as fast", least=1.8, cores=2),
        figure("largest worker", max(one.peak, two.peak), "MB", most=500, cores=2),
        figure(
            f"growth of a worker from {scenes // 4} to {scenes} scenes", one.peak - few.peak, "MB", most=25, cores=1
        ),
        figure(f"{scenes} scenes with images, one worker", one.seconds, "s", cores=1),
        figure(f"{scenes} scenes with images, two workers", two.seconds, "s", cores=2),
        figure("scenes to sealed, two workers", scenes / two.seconds, "scenes/s", cores=2),
    ]
    return together("generate", figures)


class Site:
    """A scratch site in a folder that is deleted afterwards."""

    def __init__(self, folder: Path) -> None:
        cache = os.environ.get("NUMBA_CACHE_DIR", str(ROOT / "var" / "numba"))
        taken_out = ("DATABASE_URL", "MEDIA_ROOT", "S3_BUCKET", "DJANGO_SETTINGS_MODULE")
        kept = {name: value for name, value in os.environ.items() if name not in taken_out}
        self.environment = {**kept, "VAR_DIR": str(folder), "NUMBA_CACHE_DIR": cache}
        self.manage("migrate", "--verbosity", "0")
        self.manage("warm")

    def manage(self, *command: str) -> None:
        """Run a command and wait until it ends."""
        subprocess.run(self._command(command), env=self.environment, cwd=ROOT, check=True)

    def generate(self, name: str, *, scenes: int, workers: int) -> Run:
        """Make a train split of CLEVR with `scenes` scenes, and return its time and memory."""
        command = ["generate", "clevr", "--name", name, "--workers", str(workers)]
        return self.watch(*command, "--scenes", f"train={scenes}", "--scenes", "val=0", "--scenes", "test=0")

    def watch(self, *command: str) -> Run:
        """Run a command until it ends, and return its time and memory."""
        start = time.perf_counter()
        process = subprocess.Popen(self._command(command), env=self.environment, cwd=ROOT, stdout=subprocess.DEVNULL)
        peaks: dict[int, float] = {}
        while process.poll() is None:
            for pid in [process.pid, *children_of(process.pid)]:
                peaks[pid] = max(peaks.get(pid, 0.0), peak_of(pid))
            time.sleep(POLL)
        if process.returncode != 0:
            raise RuntimeError(f"manage.py {' '.join(command)} ended with status {process.returncode}.")
        return Run(time.perf_counter() - start, list(peaks.values()))

    def _command(self, command: "tuple[str, ...] | list[str]") -> list[str]:
        return [sys.executable, str(ROOT / "manage.py"), *command]


def children_of(pid: int) -> list[int]:
    """Return the running child processes of a process."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def peak_of(pid: int) -> float:
    """Return the peak memory of a process until now in MB, or 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) * 1024 / MB for line in lines if line.startswith("VmHWM"))
