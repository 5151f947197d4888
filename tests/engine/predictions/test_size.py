"""Reading a prediction file of 100 MB takes little memory. It is read in a separate process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.webapp.commands import ROOT

CHILD = """
import re, sys
from pathlib import Path
from tests.engine.predictions.asked import expected
from generation.engine.predictions import read_predictions
with open(sys.argv[1], "rb") as file:
    found = read_predictions(file, expected(int(sys.argv[2])))
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(found.format, (found.codes < 0).sum(), int(peak[1]) >> 10)
"""
MEGABYTES = 100


def read_in_process(path: Path, n: int) -> tuple[str, int, int]:
    """Return the format, the number of answers outside of the vocabulary, and the peak memory of the process in MiB."""
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(n)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    form, outside, peak = ended.stdout.split()
    return form, int(outside), int(peak)


def rows(n: int, said: str) -> list[bytes]:
    return [json.dumps({"question_id": number, "answer": said}).encode() for number in range(n)]


SHAPES = [("jsonl", "yes", 1_000_000), ("jsonl", "é" * 300, 55_000), ("json", "long reply " * 60, 150_000)]


@pytest.mark.full
@pytest.mark.parametrize(("form", "said", "n"), SHAPES)
def test_a_file_of_100_mb_takes_less_than_300_mb(form: str, said: str, n: int, tmp_path: Path) -> None:
    made = rows(n, said)
    if form == "json":
        content = b"[" + b",\n".join(made) + b"]"
    else:
        padding = max(0, (MEGABYTES << 20) // n - len(made[0]))
        content = b"\n".join(row[:1] + b" " * padding + row[1:] for row in made)
    path = tmp_path / "predictions"
    path.write_bytes(content)
    assert path.stat().st_size > (MEGABYTES - 10) << 20
    found, outside, peak = read_in_process(path, n)
    assert (found, outside) == (form, 0 if said == "yes" else n)
    assert peak < 300
