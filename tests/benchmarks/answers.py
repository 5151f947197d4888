"""200 participants who think for 1-3 s: how long they wait for a question and for their answer to be kept.

A site of its own on SQLite, and another on PostgreSQL where one answers, each with the web server as it is run; the
participants are threads of this process. Nobody may be asked twice, and each question ends with exactly three answers.
"""

import html
import http.client
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import psycopg

from tests.benchmarks.figures import figure, together

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS, PEOPLE, PER_SCENE = 1000, 200, 10
THINKING = (1.0, 3.0)  # seconds
POSTGRES_URL = os.environ.get("HORSESENSE_TEST_POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/postgres")
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')
CHOICE = re.compile(r'name="answer" value="([^"]*)"')
PAIR = re.compile(r'name="(pair-\d+)"')
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Load(NamedTuple):
    """What participants met: seconds for each question with its answer, and answers of the server that were errors."""

    waits: list[float]
    errors: list[int]
    seconds: float


def run(questions: int = QUESTIONS, people: int = PEOPLE) -> dict[str, Any]:
    """Return the 95th percentile of the wait, and whether every question got its answers, for each database."""
    figures = []
    for name, goal, url in [
        ("SQLite", 800, ""),
        *([("PostgreSQL", 400, POSTGRES_URL)] if _answers(POSTGRES_URL) else []),
    ]:
        with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder, _database(url) as database:
            site = _Site(Path(folder), database)
            cut = ["--scenes", f"train={questions // PER_SCENE}", "--scenes", "val=0", "--scenes", "test=0"]
            site.manage("generate", "clevr", "--name", "asked", "--no-images", *cut)
            for thinking in (THINKING, (0.0, 0.0)):
                figures += _figures(
                    site, name, questions, people, thinking, goal=goal if thinking == THINKING else None
                )
    return together("answers", figures)


def _figures(
    site: "_Site", name: str, questions: int, people: int, thinking: tuple[float, float], *, goal: float | None
) -> list[dict[str, Any]]:
    code = json.loads(site.ask("begin", str(questions)))
    with site.serving() as port:
        load = _load(port, code, people, thinking)
    found = json.loads(site.ask("found", code))
    how = (
        f"{name}, {people} people thinking {thinking[0]:g}-{thinking[1]:g} s"
        if thinking[1]
        else f"{name}, not thinking"
    )
    waits = sorted(load.waits)
    return [
        figure(f"question and answer, {how}, 95th percentile", 1000 * waits[int(0.95 * len(waits))], "ms", most=goal),
        figure("median", 1000 * statistics.median(waits), "ms"),
        figure("questions with exactly three answers", 100 * found["exact"] / questions, "%", least=100),
        figure("requests that failed", len(load.errors), "", most=0),
        figure("answers kept", len(waits) / load.seconds, "a second"),
    ]


class _Site:
    def __init__(self, folder: Path, database: str) -> None:
        taken_out = ("DATABASE_URL", "MEDIA_ROOT", "S3_BUCKET", "REDIS_URL", "DEBUG", "PUBLIC_URL")
        kept = {name: value for name, value in os.environ.items() if name not in taken_out}
        self.environment = {
            **kept,
            "VAR_DIR": str(folder),
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(ROOT / "var" / "numba")),
            "DJANGO_SETTINGS_MODULE": "webapp.settings",
            **({"DATABASE_URL": database} if database else {}),
        }

    def manage(self, *command: str) -> None:
        program = [sys.executable, "manage.py", *command]
        subprocess.run(
            program, env=self.environment, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def ask(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "tests.benchmarks._answers_site", *arguments]
        return subprocess.run(
            command, env=self.environment, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    @contextmanager
    def serving(self) -> Iterator[int]:
        """Give the port of the web server, which answers."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        command = [sys.executable, "manage.py", "process", "web", "--bind", f"127.0.0.1:{port}"]
        log = subprocess.DEVNULL
        process = subprocess.Popen(command, env=self.environment, cwd=ROOT, stdout=log, stderr=log)
        try:
            for _ in range(300):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()
            process.wait(30)


def _load(port: int, code: str, people: int, thinking: tuple[float, float]) -> Load:
    waits: list[float] = []
    errors: list[int] = []
    crowd = [threading.Thread(target=_take_part, args=(port, code, n, thinking, waits, errors)) for n in range(people)]
    start = time.perf_counter()
    for person in crowd:
        person.start()
    for person in crowd:
        person.join()
    return Load(waits, errors, time.perf_counter() - start)


def _take_part(
    port: int, code: str, number: int, thinking: tuple[float, float], waits: list[float], errors: list[int]
) -> None:
    chance = random.Random(number)

    def ask(method: str, address: str, form: dict[str, str] | None = None) -> tuple[str, str]:
        """Return where a request leads, and the page."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        try:
            connection.request(method, address, urlencode(form) if form is not None else None, FORM if form else {})
            response = connection.getresponse()
            page = response.read().decode()
        except OSError:
            errors.append(0)  # no answer at all is an error, too
            raise
        finally:
            connection.close()
        if response.status >= 500:
            errors.append(response.status)
        return response.headers.get("Location", ""), page

    time.sleep(thinking[1] * chance.random())
    address, _ = ask("GET", f"/s/{code}/?PROLIFIC_PID=p{number}&SESSION_ID=s{number}")
    before = time.perf_counter()
    _, page = ask("GET", address)
    while fields := {name: html.unescape(value) for name, value in HIDDEN.findall(page)}:
        choices = CHOICE.findall(page)
        if not choices:
            ask("POST", f"{address}on/", {**fields, **dict.fromkeys(PAIR.findall(page), "same")})
        else:
            shown = time.perf_counter() - before
            time.sleep(chance.uniform(*thinking))
            before = time.perf_counter()
            ask("POST", f"{address}answer/", {**fields, "answer": html.unescape(chance.choice(choices))})
            waits.append(shown + time.perf_counter() - before)
        before = time.perf_counter()
        _, page = ask("GET", address)


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def _database(url: str) -> Iterator[str]:
    """Give the address of an empty database that goes away; empty for SQLite's."""
    if not url:
        yield ""
        return
    name = f"horsesense_benchmark_{os.getpid()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            yield f"{url.rpartition('/')[0]}/{name}"
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
