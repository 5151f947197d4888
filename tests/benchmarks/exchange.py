"""How fast 100,000 questions of CLEVR, without pictures, are verified, exported and imported again.

The times include everything: the commands from their start to their end, their processes, SQLite, and sealing.
"""

import sqlite3
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.benchmarks.figures import figure, together
from tests.benchmarks.generate import Site

SCENES = 10_000
PER_SCENE = 10
STARTED = (
    "SELECT started FROM generation_job JOIN generation_dataset d ON d.id = dataset_id WHERE d.slug = ? AND kind = ?"
)


def run(scenes: int = SCENES) -> dict[str, Any]:
    """Return the questions verified per minute, the questions read and written per second, and the peaks of memory."""
    n = scenes * PER_SCENE
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder:
        site, out = Site(Path(folder)), Path(folder, "out")
        cut = ["--scenes", f"train={scenes}", "--scenes", "val=0", "--scenes", "test=0"]
        site.watch("generate", "clevr", "--name", "made", "--no-images", *cut)
        proved = site.watch("verify", "made", "--workers", "2")
        written = site.watch("export", "made", "--format", "clevr", "--output", str(out), "--no-images")
        questions = out / "CLEVR_v1.0" / "questions"
        read = site.watch("import", "clevr", str(questions), "--name", "read")
        reading = _seconds_of_reading(Path(folder), "read")
        size = sum(path.stat().st_size for path in questions.iterdir())
    figures = [
        figure(f"{n:,} questions proved, from the command's start", 60 * n / proved.seconds, "a minute", least=100_000),
        figure("largest process of it", proved.peak, "MB"),
        figure(
            f"a file of {size / 1e6:,.0f} MB read, checked and stored", n / reading, "questions/s", least=5000, cores=1
        ),
        figure("with the command's start and sealing", n / read.seconds, "questions/s", cores=1),
        figure("largest process of it", read.peak, "MB", most=500),
        figure("written as the release", n / written.seconds, "questions/s", cores=1),
        figure("largest process of it", written.peak, "MB", most=500),
    ]
    return together("exchange", figures)


def _seconds_of_reading(folder: Path, slug: str) -> float:
    """Return the seconds from the beginning of an import to the beginning of its sealing."""
    with sqlite3.connect(folder / "horsesense.sqlite3") as connection:
        begun, sealed = (
            datetime.fromisoformat(connection.execute(STARTED, [slug, kind]).fetchone()[0])
            for kind in ("import", "seal")
        )
    return (sealed - begun).total_seconds()
