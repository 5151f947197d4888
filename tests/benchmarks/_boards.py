"""Boards of many submissions, and uploads at the same time: part of the benchmark `score`."""

import http.client
import json
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from subprocess import run as call
from typing import Any

from tests.benchmarks.answers import ROOT, _Site
from tests.benchmarks.figures import figure

UPLOADS = 10
PATIENCE = 180.0  # seconds


def figures_of(questions: int, submissions: int) -> list[dict[str, Any]]:
    """Return figures of the speed of a board, and of uploads at the same time, on a scratch site with SQLite."""
    with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder:
        site = _BoardSite(Path(folder), "")
        known = json.loads(site.ask("fill", str(questions), str(submissions)))
        board = json.loads(site.ask("measure"))
        with site.serving() as port, site.scoring():
            pages, took = _upload_and_measure(site, port, known)
        ended = json.loads(site.ask("states"))
    name = f"a board of {submissions} submissions to {questions:,} questions"
    return [
        figure(f"{name}, server time, 95th percentile", board["p95"], "ms", most=150, cores=1),
        figure("median", board["median"], "ms", cores=1),
        figure(f"{UPLOADS} uploads at once of {questions:,} lines: scored, every answer right", ended["scored"], "",
               least=UPLOADS),
        figure("until the last one was scored", took, "s"),
        figure("that board meanwhile, 95th percentile", 1000 * sorted(pages)[int(0.95 * len(pages))], "ms"),
    ]  # fmt: skip


class _BoardSite(_Site):
    def ask(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "tests.benchmarks._board_site", *arguments]
        return call(command, env=self.environment, cwd=ROOT, check=True, stdout=PIPE, text=True).stdout

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Run a background process that scores."""
        command = [sys.executable, "manage.py", "process", "default"]
        process = Popen(command, env=self.environment, cwd=ROOT, stdout=DEVNULL, stderr=DEVNULL)
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def _upload_and_measure(site: _BoardSite, port: int, known: dict[str, Any]) -> tuple[list[float], float]:
    """Send uploads and wait until they are scored.

    Returns the seconds that each page took meanwhile, and the seconds until the last upload was scored.
    """
    start = time.perf_counter()
    threads = [threading.Thread(target=_upload, args=(port, known, number)) for number in range(UPLOADS)]
    for thread in threads:
        thread.start()
    pages: list[float] = []
    while time.perf_counter() - start < PATIENCE:
        pages.append(_seconds_of_page(port, known["split"]))
        if not any(thread.is_alive() for thread in threads) and _is_done(port, known):
            break
        time.sleep(0.05)
    return pages, time.perf_counter() - start


def _upload(port: int, known: dict[str, Any], number: int) -> None:
    boundary = uuid.uuid4().hex
    head = f"--{boundary}\r\nContent-Disposition: form-data; name="
    fields = {"split": known["split"], "method": str(known["method"]), "run": str(number)}
    parts = [f'{head}"{name}"\r\n\r\n{text}' for name, text in fields.items()]
    lines = "\n".join([*known["answers"], ""])
    parts.append(f'{head}"file"; filename="answers.txt"\r\n\r\n{lines}')
    kind = f"multipart/form-data; boundary={boundary}"
    body = "\r\n".join([*parts, f"--{boundary}--", ""]).encode()
    status, _ = _ask(port, "POST", "/api/v1/submissions/", known, body=body, kind=kind)
    assert status == 202, status


def _is_done(port: int, known: dict[str, Any]) -> bool:
    _, body = _ask(port, "GET", "/api/v1/submissions/", known)
    return not any(one["state"] in ("waiting", "running") for one in json.loads(body)["results"])


def _seconds_of_page(port: int, split: str) -> float:
    start = time.perf_counter()
    status, _ = _ask(port, "GET", f"/leaderboards/{split}/", {})
    assert status == 200, status
    return time.perf_counter() - start


def _ask(
    port: int, method: str, address: str, known: dict[str, Any], *, body: bytes | None = None, kind: str = ""
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    token = {"Authorization": f"Bearer {known['token']}"} if known else {}
    connection.request(method, address, body, {**token, **({"Content-Type": kind} if kind else {})})
    response = connection.getresponse()
    found = response.status, response.read()
    connection.close()
    return found
