"""Small hostile files of replies: reading one takes little time and memory in the process that reads it."""

import gzip
import io
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import BadReplies
from generation.exchange import prediction_files, reply_files
from generation.exchange.replies_process import ReplyRequest
from tests.leaderboards.test_hostile_files import WATCH
from tests.webapp.commands import ROOT

pytestmark = pytest.mark.slow

MOST_MEMORY, MOST_SECONDS = 1_100_000_000, 15.0
WIDE, N = 32_000_000, 160
START = b'{"question": 0, "state": "failed", "reasoning": '


def gzip_of(*pieces: bytes, times: int = 1) -> bytes:
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as archive:
        for piece in [*pieces] * times:
            archive.write(piece)
    return file.getvalue()


def record(**more: Any) -> bytes:
    return json.dumps({"question": 0, "state": "answered", "reply": "yes", **more}).encode() + b"\n"


ZOO: dict[str, tuple[Callable[[], bytes], str]] = {
    "a long reply": (lambda: gzip_of(record(reply="a" * WIDE)), ""),
    "long replies": (lambda: gzip_of(*[record(attempt=at, reply="a" * WIDE) for at in range(9)]), "compress it less"),
    "smiles": (lambda: gzip_of(START, b'"' + "\U0001f600".encode() * (WIDE - 99) + b'"}\n'), ""),
    "half characters": (lambda: gzip_of(START, b'"' + b"\\ud800" * (WIDE // 6) + b'"}\n'), ""),
    "lists": (lambda: gzip_of(START, b"[" + b"[]," * (WIDE // 3) + b"0]}\n"), ""),
    "a deep list": (lambda: gzip_of(START, b"[" * WIDE), "nested too deep"),
    "many attempts": (lambda: gzip_of(*[record(attempt=at) for at in range(201)]), "at most 200 records"),
    "spaces": (lambda: gzip_of(b" " * 30_000_000 + b"\n", times=20), "compress it less"),
    "empty lines": (lambda: gzip_of(record(), b"\n" * 1_000_000, times=100), "empty lines"),
    "a line without end": (lambda: gzip_of(b"a" * 40_000_000), "characters in a line"),
}
IN_SHORT = {"a long reply", "a deep list"}  # one that is read, and one that is refused


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one in IN_SHORT else [pytest.mark.full]) for one in ZOO]
)
def test_reading_a_small_file_takes_little_time_and_memory(name: str, tmp_path: Path) -> None:
    make, said = ZOO[name]
    path = tmp_path / "replies"
    path.write_bytes(make())
    assert path.stat().st_size < 1_000_000
    given = pickle.dumps(tuple(ReplyRequest(path, tmp_path / "packed", N, "scored/val")))
    limits = [str(reply_files.SECONDS), str(reply_files.MEMORY + reply_files.EACH_MEMORY * N), "-1"]
    command = [sys.executable, "-m", "generation.queue.sandbox", *limits, reply_files.CHILD]
    watch = WATCH.replace("stdout=subprocess.DEVNULL, ", "")
    done = subprocess.run(
        [sys.executable, "-c", watch, *command], input=given, capture_output=True, cwd=ROOT, check=True
    )
    seconds, memory = map(float, done.stderr.split()[-2:])
    assert seconds < MOST_SECONDS and memory < MOST_MEMORY
    found = json.loads(done.stdout)
    assert said in found["refused"] if said else found["records"] == 1


def test_a_child_process_beyond_its_limits_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "replies"
    path.write_bytes(ZOO["lists"][0]())
    monkeypatch.setattr(reply_files, "MEMORY", 300_000_000)
    with pytest.raises(BadReplies, match="Expected replies that are read in 286 MB of memory"):
        reply_files.read_file(path, tmp_path / "packed", n=N, name="scored/val")
    monkeypatch.setattr(reply_files, "MEMORY", 1 << 30)
    with pytest.raises(prediction_files.TooSlow, match="replies that are checked within"):
        reply_files.read_file(path, tmp_path / "packed", n=N, name="scored/val", wait=0.2)
    monkeypatch.setattr(reply_files, "SECONDS", 1)
    with pytest.raises(BadReplies, match="read within 1 seconds of processor time"):
        reply_files.read_file(path, tmp_path / "packed", n=N, name="scored/val")
