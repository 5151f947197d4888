"""Small hostile files: reading and scoring one takes less than 500 MB and 10 s in each process."""

import gzip
import io
import json
import pickle
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from generation.engine.errors import EngineError
from generation.engine.predictions import BadPredictions
from generation.exchange import prediction_files
from generation.models import Split
from generation.queue import sandbox
from generation.reports.scoring import expected_of
from tests.leaderboards import sent
from tests.proof import sample
from tests.webapp.commands import ROOT
from webapp.leaderboards import scoring, uploads
from webapp.leaderboards.models import Method, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

MB = 1_000_000
LARGEST, MOST_MEMORY, MOST_SECONDS = MB, 500 * MB, 10.0
WIDE = 1_000_000  # characters of a wide row


def gzip_of(*pieces: bytes, times: int = 1) -> bytes:
    """Return the pieces, repeated and compressed with gzip."""
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as archive:
        for _ in range(times):
            for piece in pieces:
                archive.write(piece)
    return file.getvalue()


def zip_of(content: bytes, name: str = "a.jsonl") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def row(**more: Any) -> bytes:
    return json.dumps({"question_id": 0, "answer": "yes", **more}).encode() + b"\n"


def row_with_repeated(value: bytes) -> bytes:
    """Return a row in which a value is repeated until it has about a million characters."""
    inner = b",".join([value] * (WIDE // (len(value) + 1)))
    return b'{"question_id": 0, "answer": "yes", "x": [' + inner + b"]}\n"


def names(count: int) -> bytes:
    pairs = b",".join(b'"%x":0' % number for number in range(count))
    return b'{"question_id": 0, "answer": "yes", ' + pairs + b',"0":1}\n'


NESTED = b"[" * 400 + b"]" * 400
OBJECTS = b'{"":' * 300 + b"0" + b"}" * 300
TALK = b"The answer: is \\boxed{ not <think> a large cube </think> 1.1.1 000 gray-ish; "
ZOO: dict[str, Callable[[], bytes]] = {
    "names twice, 140 KB": lambda: names(15_000),
    "names twice": lambda: names(80_000),
    "names twice in lines": lambda: gzip_of(names(18_000), times=18),
    "names twice in a list": lambda: b"[" + names(80_000) + b"]",
    "wide rows": lambda: gzip_of(row(x="a" * WIDE), times=600),
    "wide rows in a list": lambda: gzip_of(b"[", *[row(x="a" * WIDE).strip() + b","] * 100),
    "wide rows in a zip": lambda: zip_of(row(x="a" * WIDE) * 200),
    "lists": lambda: gzip_of(row_with_repeated(b"[]"), times=30),
    "objects": lambda: gzip_of(row_with_repeated(b"{}"), times=30),
    "nested lists": lambda: gzip_of(row_with_repeated(NESTED), times=30),
    "nested objects": lambda: gzip_of(row_with_repeated(OBJECTS), times=30),
    "nested objects, plain": lambda: row_with_repeated(OBJECTS)[:LARGEST - 10],
    "nested lists in a list": lambda: gzip_of(b"[", row_with_repeated(NESTED), times=30),
    "wide ids": lambda: gzip_of(row(question_id="9" * (WIDE // 4)), times=110),
    "wide answers": lambda: gzip_of(row(answer="x" * WIDE), times=100),
    "commas": lambda: gzip_of(b"question_id,answer\n", b"," * WIDE + b"\n", times=30),
    "a row without end": lambda: gzip_of(b"question_id,answer\n", b'0,"' + b'a"\n,"' * (30 * MB // 6)),
    "empty lines": lambda: gzip_of(b"yes\n" + b"\n" * MB, times=300),
    "empty lines of objects": lambda: gzip_of(b'{"index":0,"answer":""}\n' + b"\n" * MB, times=300),
    "empty lines of a table": lambda: gzip_of(b"question_id,answer\n" + b"\n" * MB, times=300),
    "spaces": lambda: gzip_of(b"[" + b" " * MB, times=300),
    "members of a byte": lambda: b"".join([gzip.compress(b"y")] * 45_000),
    "members without anything": lambda: gzip.compress(b"") * 49_000,
    "gzip in a zip": lambda: zip_of(gzip_of(b"yes\n" * MB, times=200)),
    "talk": lambda: gzip_of(row(answer=TALK.decode() * 1000), times=200),
    "talk in one reply": lambda: gzip_of(row(answer=TALK.decode() * (WIDE // 90)), times=60),
    "talk in lines": lambda: gzip_of(TALK + b"\n", times=400_000),
    "smiles": lambda: gzip_of(row(answer="a\U0001f600" * 20_000), times=300),
    "digits": lambda: gzip_of(row(answer="1" * WIDE), row(answer="1.1" * 300_000), row(answer="0." + "0" * WIDE)),
    "long numbers": lambda: gzip_of(b'{"question_id": 0, "answer": ' + b"9" * 4000 + b"}\n", times=20_000),
    "many numbers": lambda: gzip_of(row_with_repeated(b"1.5e300"), times=25),
    "broken lines": lambda: gzip_of(b"{\n", times=2_000_000),
    "half characters": lambda: gzip_of(b'{"question_id": 0, "answer": "' + b"\\ud800" * 160_000 + b'"}\n', times=25),
    "one object": lambda: gzip_of(b"{" + b",".join(b'"%d":"yes"' % number for number in range(400_000)) + b"}"),
    "replies in lists": lambda: gzip_of(b'{"doc_id": 0, "filtered_resps": ' + NESTED + b"}\n", times=20_000),
    "a deep list": lambda: b"[" * LARGEST,
    "a deep object": lambda: b'{"a":' * (LARGEST // 5),
}  # fmt: skip


IN_SHORT = {"names twice, 140 KB", "wide rows in a zip", "a row without end"}  # one of JSON, of a zip, and of CSV
WATCH = """
import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder for the files, so that each is made only once."""
    return tmp_path_factory.mktemp("zoo")


def file_named(name: str, folder: Path) -> Path:
    path = folder / name.replace(" ", "-")
    if not path.exists():
        path.write_bytes(ZOO[name]())
    return path


def measure_reading(path: Path, split: Split) -> tuple[float, float]:
    """Return the seconds of processor time and the bytes of memory of the process that reads a file.

    A small process starts this process, because the peak memory of a process begins at the peak of its parent.
    """
    given = pickle.dumps((path, expected_of(split)))
    limits = [str(prediction_files.SECONDS), str(prediction_files.MEMORY), "-1"]
    command = [sys.executable, "-m", "generation.queue.sandbox", *limits, prediction_files.CHILD]
    done = subprocess.run(
        [sys.executable, "-c", WATCH, *command], input=given, capture_output=True, cwd=ROOT, check=True
    )
    seconds, memory = done.stderr.split()[-2:]
    return float(seconds), float(memory)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in IN_SHORT else [pytest.mark.full]) for name in sorted(ZOO)]
)
def test_reading_a_small_file_takes_little_time_and_memory(name: str, val: Split, folder: Path) -> None:
    path = file_named(name, folder)
    assert path.stat().st_size <= LARGEST, path.stat().st_size
    seconds, memory = measure_reading(path, val)
    assert seconds < MOST_SECONDS and memory < MOST_MEMORY


@pytest.mark.parametrize(
    "name", sample(["names twice, 140 KB", "wide rows in a zip", "nested objects, plain", "talk"], gate=1)
)
def test_checking_and_scoring_a_hostile_file_takes_little_time_and_memory(
    name: str, val: Split, folder: Path, method: Method, as_member: Client
) -> None:
    content = file_named(name, folder).read_bytes()
    burden = ResourceUse()
    for more in ({"check": "1"}, {}):
        file = SimpleUploadedFile("a.json", content)
        answer = as_member.post("/submissions/new/?to=scored/val", {"file": file, "method": method.pk, **more})
        assert answer.status_code == (422 if more else 302)
    scoring.RUNNER.take_turn()
    row = Submission.objects.get()
    assert row.state == Submission.State.FAILED and "Format: /docs/predictions/" in row.message
    assert burden.memory() < 100 * MB and burden.seconds() < 2 * MOST_SECONDS


class ResourceUse:
    """The processor time and the growth in memory of this process since the object was made."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak of memory
        self.began, self.at_first = time.process_time(), _peak()

    def seconds(self) -> float:
        return time.process_time() - self.began

    def memory(self) -> int:
        return _peak() - self.at_first


def _peak() -> int:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def test_a_zip_for_a_suite_that_unpacks_to_too_much_is_refused(val: Split, method: Method, as_member: Client) -> None:
    sent.suite_of("both", val, val.dataset.splits.get(name="train"))
    for content in (b"yes\n" * 10_000_000, gzip_of(b"yes\n" * MB, times=20)):
        file = SimpleUploadedFile("both.zip", zip_of(content, "val.txt"))
        assert file.size is not None and file.size < LARGEST
        answer = as_member.post("/submissions/new/?to=suite/both", {"file": file, "method": method.pk})
        assert answer.status_code == 413 and b"Compress the file only once" in answer.content
    assert not Submission.objects.exists()


def test_a_page_waits_for_a_check_only_up_to_its_limit(
    val: Split, method: Method, as_member: Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "LONGEST_CHECK", 0.05)
    content = file_named("talk", folder).read_bytes()
    answer = as_member.post(
        "/submissions/new/?to=scored/val", {"file": SimpleUploadedFile("a", content), "method": method.pk, "check": "1"}
    )
    assert answer.status_code == 422 and b"Submit the file instead" in answer.content


def test_the_number_of_files_checked_at_once_is_limited(val: Split, method: Method, as_member: Client) -> None:
    held = [uploads._CHECKS.acquire(blocking=False) for _ in range(uploads.MOST_CHECKS)]
    try:
        fields = {"file": SimpleUploadedFile("a", b"yes\n"), "method": method.pk, "check": "1"}
        answer = as_member.post("/submissions/new/?to=scored/val", fields)
    finally:
        for _ in held:
            uploads._CHECKS.release()
    assert answer.status_code == 503 and b"Try again in a moment" in answer.content


def test_a_child_process_beyond_its_limits_is_a_refusal(
    val: Split, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prediction_files, "SECONDS", 1)
    path, expected = file_named("nested lists", folder), expected_of(val)
    with pytest.raises(BadPredictions, match="read within 1 seconds of processor time"):
        prediction_files.read_file(path, expected)


def test_a_busy_machine_does_not_make_a_file_too_slow(
    val: Split, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits are processor time; only somebody who waits for an answer has a limit by the clock."""
    waits = []

    def run(*_: object, seconds: int, wait: float, **__: object) -> bytes:
        waits.append(wait / seconds)
        raise sandbox.ClockRanOut("It was stopped.")

    monkeypatch.setattr(sandbox, "run", run)
    path, expected = file_named("nested lists", folder), expected_of(val)
    for wait in (None, 3.0):
        with pytest.raises(prediction_files.TooSlow, match="Expected a file that is checked within"):
            prediction_files.read_file(path, expected, wait=wait)
    assert waits[0] == sandbox.LONG_PATIENCE and not issubclass(prediction_files.TooSlow, EngineError)
