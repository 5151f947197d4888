"""How long 200 participants, who think for 1-3 s, wait until their answer is stored and the next question comes.

There is one scratch site on SQLite, and one on PostgreSQL if a server answers. Each runs the usual web server, with one
process for each core. The participants are threads of this process and send the requests of the page's script: one
request for each answer, whose reply has the next question, and one for the picture after that, before they think.
They arrive within three seconds, and also think on each page before the first question.
No participant may get a question twice, and each question must get exactly three answers.
"""

import html
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import psycopg

from tests.benchmarks.figures import figure, together
from tests.crowd import FORM, Crowd, Person, Reply

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS, PEOPLE, PER_SCENE = 1000, 200, 10
THINKING = (1.0, 3.0)  # seconds
POSTGRES_URL = os.environ.get("HORSESENSE_TEST_POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/postgres")
AHEAD = re.compile(r'data-ahead="([^"]*)"')


class Load(NamedTuple):
    """The seconds of each answer with the next question, of each picture and of the whole run, and all failures."""

    waits: list[float]
    pictures: list[float]
    failures: list[str]
    seconds: float


def run(questions: int = QUESTIONS, people: int = PEOPLE) -> dict[str, Any]:
    """Return, for each database, figures of the participants' waits, of complete questions and of failures."""
    figures = []
    for name, goal, url in [
        ("SQLite", 800, ""),
        *([("PostgreSQL", 400, POSTGRES_URL)] if _answers(POSTGRES_URL) else []),
    ]:
        with tempfile.TemporaryDirectory(prefix="horsesense-benchmark-") as folder, _database(url) as database:
            site = _Site(Path(folder), database)
            cut = ["--scenes", f"train={questions // PER_SCENE}", "--scenes", "val=0", "--scenes", "test=0"]
            site.manage("generate", "clevr", "--name", "asked", *cut)
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
    how = f"{people} people thinking {thinking[0]:g}-{thinking[1]:g} s" if thinking[1] else "not thinking"
    slow = 1000 * _percentile(load.waits, 0.95)
    return [
        figure(f"answer and next question, {name}, {how}, 95th percentile", slow, "ms", most=goal),
        figure("median", 1000 * statistics.median(load.waits), "ms"),
        figure("picture, 95th percentile", 1000 * _percentile(load.pictures, 0.95), "ms"),
        figure("questions with exactly three answers", 100 * found["exact"] / questions, "%", least=100),
        figure("requests that failed, people asked twice", len(load.failures), "", most=0),
        figure("answers kept", len(load.waits) / load.seconds, "a second"),
    ]


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * len(values))] if values else 0.0


class _Site:
    def __init__(self, folder: Path, database: str) -> None:
        taken_out = ("DATABASE_URL", "MEDIA_ROOT", "S3_BUCKET", "REDIS_URL", "DEBUG", "PUBLIC_URL")
        kept = {name: value for name, value in os.environ.items() if name not in taken_out}
        self.environment = {
            **kept,
            "VAR_DIR": str(folder),
            "WEB_PROCESSES": str(os.cpu_count()),
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
        """Run the web server, and give its port when it answers."""
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
    crowd = Crowd(port, code, people=0, patient=False)
    measured = [_Measured(port, code, number, patient=False, thinking=thinking) for number in range(people)]
    crowd.people = list(measured)
    start = time.perf_counter()
    crowd.begin()
    crowd.finish()
    waits, pictures = ([second for one in measured for second in getattr(one, name)] for name in ("waits", "pictures"))
    return Load(waits, pictures, crowd.failures, time.perf_counter() - start)


class _Measured(Person):
    """A participant whose browser runs scripts, and who measures the time of each request."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.is_script = True
        self.waits: list[float] = []
        self.pictures: list[float] = []
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def _go_on(self, fields: dict[str, str]) -> None:
        time.sleep(self.chance.uniform(*self.thinking))
        super()._go_on(fields)

    def _answer(self, fields: dict[str, str], text: str) -> None:
        self._look_ahead()
        time.sleep(self.chance.uniform(*self.thinking))
        start = time.perf_counter()
        self._send(fields, text)
        self.waits.append(time.perf_counter() - start)

    def _look_ahead(self) -> None:
        """Fetch the picture of the next question, as the page does."""
        if found := AHEAD.search(self.page):
            start = time.perf_counter()
            reply = self._ask("GET", html.unescape(found[1]))
            self.pictures.append(time.perf_counter() - start)
            if reply.status != 200:
                self.failures.append(f"person {self.number}: picture: {reply.status}")

    def _ask_once(self, method: str, address: str, form: dict[str, str] | None, headers: dict[str, str]) -> Reply:
        """Return the site's answer, over the open connection as browsers do, or over a new one if it was closed."""
        if self.connection.sock is not None:
            try:
                return self._ask_over(method, address, form, headers)
            except (http.client.HTTPException, OSError):  # the site has closed it
                self.connection.close()
        return self._ask_over(method, address, form, headers)

    def _ask_over(self, method: str, address: str, form: dict[str, str] | None, headers: dict[str, str]) -> Reply:
        sent = None if form is None else urlencode(form)
        self.connection.request(method, address, sent, {**headers, **({} if form is None else FORM)})
        response = self.connection.getresponse()
        is_text = not response.headers.get("Content-Type", "").startswith("image/")
        body = response.read()
        return Reply(response.status, response.headers.get("Location", ""), body.decode() if is_text else "")


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


@contextmanager
def _database(url: str) -> Iterator[str]:
    """Give the address of an empty database that is dropped afterwards; an empty address for SQLite."""
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
