"""A running site for fault tests: its processes, started as an operator starts them, and its stored data.

    site.begin(SPEC)                        begin a dataset, whose jobs then wait
    site.start("web", "generation")         start processes; each is restarted when it ends, as docker does
    site.kill("generation")                 kill -9 of the process and all processes that it started
    site.wait_until(lambda: ..., what="")   wait, and restart processes meanwhile; after the limit, show the logs
    site.wait_for_end()                     wait until a dataset is no longer being made; return its state and error
    site.check_stored_once()                check that nothing is stored twice, missing or left over

Roles are those of `manage.py process` (web, generation, default, beat), quickstart, and work. Everything runs in the
site's `environment`, which may be changed between two starts:

    FAULTS_PACE       seconds that the slow world takes for a scene, and again for its picture (default 0)
    FAULTS_LEASE      seconds of a lease (default: the product's, 60)
    FAULTS_WAIT       seconds until a job is retried after its first outage; the limit is eight times this (default: 5)
    FAULTS_PAUSE      limit in seconds of the pause between two runs of a job whose process died (default: 120)
    FAULTS_CRASHES    limit of runs of a job whose process died (default: 30)
    FAULTS_HOST       the host name that this machine reports
    FAULTS_LOOK       seconds between two looks of a process for chores that are due (default: the product's, 60)
    FAULTS_HEARTBEAT  seconds between two heartbeats of a background process (default: the product's, 15)
    FAULTS_SLICE      seconds that a background process works before other work gets a turn (default: 10)
    FAULTS_BATCH      number of rows that are deleted in one transaction (default: 1,000)
    FAULTS_STOPS_AT   where a process stops itself by SIGSTOP: items:15 at its 15th scene to make, images:2 at its 2nd
                      picture to draw, seal:5 at its 5th scene to read for the index, finish:4 in the transaction that
                      ends its 4th job
"""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from tests.faults.servers import Bucket, free_port
from tests.generation import fake_world, small
from tests.webapp.commands import ROOT, manage

SLUG = "rows"
SECRETS = {"test": "0f" * 16}
SPLITS = {"train": {"scenes": 90}, "val": {"scenes": 20}, "test": {"scenes": 10, "withheld": True}}
SPEC: dict[str, Any] = {**fake_world.PRESET, "scenes_per_chunk": 10, "splits": SPLITS}  # 12 chunks of 10 scenes
CLEVR: dict[str, Any] = {
    **small.SPEC,
    "splits": SPLITS,
    "images": {"width": 64, "height": 64, "samples": 1},
    "questions": {"per_scene": 3, "window": 10},
}
DRAFT = re.compile(r"\..+[.-][0-9a-f]{8,}")
PATIENCE = 180.0  # seconds; long, because a busy machine is not a failure
PAUSE = 1.0  # seconds between two starts of a process that ends again and again
BEGIN = """
from generation.making import dataset_jobs as jobs
jobs.start(given["spec"], slug=given["slug"], visibility="public", images=given["images"], secrets=given["secrets"])
"""
RESUME = """
from generation.making import dataset_jobs as jobs
from generation.models import Dataset
jobs.resume(Dataset.objects.get(slug=given))
"""
PRELUDE = "import django, json, sys; django.setup(); given = json.load(sys.stdin)\n"


class End(NamedTuple):
    """The state of a dataset, and the error if it failed."""

    state: str
    error: str


@dataclass
class Process:
    """A process of the site, and the name under which it was started."""

    name: str
    command: Sequence[str]
    log: Path
    kept: bool
    running: "subprocess.Popen[bytes] | None" = None
    starts: int = 0
    started: float = 0.0

    def start(self, environment: dict[str, str]) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as output:
            self.running = subprocess.Popen(
                self.command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.starts, self.started = self.starts + 1, time.monotonic()

    @property
    def has_ended(self) -> bool:
        return self.running is None or self.running.poll() is not None

    @property
    def pid(self) -> int:
        assert self.running is not None, f"{self.name} was not started"
        return self.running.pid

    def send(self, number: int, *, alone: bool) -> None:
        """Send a signal to the process alone, or also to all processes that it started."""
        with suppress(ProcessLookupError):
            if alone:
                os.kill(self.pid, number)
            else:
                os.killpg(self.pid, number)


@dataclass
class Site:
    """A site that one test uses.

    `stack` is "embedded" (SQLite, embedded broker, files in a folder) or "services" (PostgreSQL, Redis, a bucket).
    `folder` is its VAR_DIR. `database` is the address of its PostgreSQL database, or empty for SQLite. `bucket` is the
    bucket of its files, or None if they are in a folder.
    """

    stack: str
    folder: Path
    environment: dict[str, str]
    database: str = ""
    bucket: Bucket | None = None
    port: int = field(default_factory=free_port)
    processes: dict[str, Process] = field(default_factory=dict)

    # Processes

    def start(self, *roles: str, name: str = "", kept: bool = True) -> None:
        """Start processes, each under its role's name or under `name`; a kept process is restarted when it ends."""
        for role in roles:
            known = name or role
            command = [sys.executable, str(ROOT / "manage.py"), *self._arguments(role)]
            process = Process(known, command, self.folder.parent / "logs" / f"{known}.log", kept)
            process.start(self.environment)
            self.processes[known] = process

    def _arguments(self, role: str) -> list[str]:
        if role == "quickstart":
            return ["quickstart", "--port", str(self.port)]
        if role == "work":
            return ["work", "--dataset", SLUG]
        bind = ["--bind", f"127.0.0.1:{self.port}"] if role == "web" else []
        return ["process", role, *bind]

    def kill(self, name: str, *, alone: bool = False) -> None:
        """Kill a process and all processes that it started, as when its container dies, or the process alone.

        The killed process is reaped.
        """
        self.send(name, signal.SIGKILL, alone=alone)
        running = self.processes[name].running
        assert running is not None
        running.wait()

    def send(self, name: str, number: int, *, alone: bool = False) -> None:
        """Send a signal (SIGSTOP, SIGCONT ...) to a process and all processes that it started, or to it alone."""
        self.processes[name].send(number, alone=alone)

    def stop(self, *names: str) -> None:
        """Ask processes to end (all, if none is named) and wait until they have ended; they are not restarted."""
        stopped = [self.processes[name] for name in names or list(self.processes)]
        for process in stopped:
            process.kept = False
            process.send(signal.SIGTERM, alone=True)
        for process in stopped:
            self.wait_until(lambda process=process: process.has_ended, what=f"{process.name} to end")

    def revive(self) -> None:
        """Restart every kept process that has ended."""
        for process in self.processes.values():
            if process.kept and process.has_ended and time.monotonic() - process.started > PAUSE:
                process.start(self.environment)

    def alive(self) -> dict[int, str]:
        """Return the process ids and command lines of all processes of this site, also if others started them."""
        mark = f"VAR_DIR={self.environment['VAR_DIR']}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        return found

    def children(self, name: str) -> list[int]:
        """Return the child processes of a process. The children of a worker do the jobs."""
        main = self.processes[name].pid
        return [pid for pid in self.alive() if _parent(pid) == main]

    def end(self) -> None:
        """Kill all processes that are left."""
        while left := self.alive():
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in self.processes.values():
                process.has_ended  # noqa: B018  # reaps it
            time.sleep(0.02)

    # Waiting

    def wait_until(self, true: Callable[[], object], *, what: str, seconds: float = PATIENCE) -> None:
        """Wait until `true` returns a true value, and restart kept processes meanwhile.

        If the database cannot be reached, the wait goes on. After `seconds`, the test fails with a report.
        """
        end, error = time.monotonic() + seconds, ""
        while True:
            self.revive()
            try:
                if true():
                    return
            except (sqlite3.OperationalError, psycopg.OperationalError, OSError) as trouble:
                error = f" ({type(trouble).__name__}: {trouble})"
            assert time.monotonic() < end, f"waited {seconds:.0f} s in vain for {what}{error}\n{self.report()}"
            time.sleep(0.05)

    def wait_for_web(self, path: str = "/") -> None:
        """Wait until the web server shows a page."""
        self.wait_until(lambda: self.get(path)[0] == 200, what=f"{path} to be shown")

    def wait_for_workers(self, count: int = 1) -> None:
        """Wait until exactly `count` background processes have a heartbeat."""
        query = "SELECT count(*) FROM generation_heartbeat"
        self.wait_until(lambda: self.ask(query) >= [(count,)], what=f"{count} background processes")

    def wait_for_end(self, slug: str = SLUG, *, seconds: float = PATIENCE) -> End:
        """Wait until a dataset is complete, failed or cancelled."""
        self.wait_until(lambda: self.state(slug).state != "making", what=f"the end of {slug}", seconds=seconds)
        return self.state(slug)

    def report(self) -> str:
        """Return processes, jobs and the ends of the logs, to find out why a site does not work as expected."""
        lines = [f"stack {self.stack}, processes: {self.alive()}"]
        with suppress(sqlite3.Error, psycopg.Error):
            columns = "kind, state, attempts, crashes, waits, not_before, worker, message"
            query = f"SELECT {columns}, count(*) FROM generation_job GROUP BY {columns}"
            lines += [f"jobs: {row}" for row in self.ask(query)]
        logs = [*self.folder.parent.glob("logs/*.log"), *self.folder.glob("log/*.log")]
        for log in logs:
            lines += [f"--- {log}", *log.read_text(errors="replace").splitlines()[-25:]]
        return "\n".join(lines)

    # Requests, queries and commands

    @property
    def address(self) -> str:
        """Return the address of the web server."""
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> tuple[int, str]:
        """Return status and body of a page, or raise `OSError` if no server answers."""
        try:
            with urllib.request.urlopen(self.address + path, timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query on the site's database, with `%s` for each value."""
        if self.database:
            with psycopg.connect(self.database, connect_timeout=5) as server:
                return server.execute(query, values).fetchall()
        with closing(sqlite3.connect(self.folder / "horsesense.sqlite3", timeout=20)) as file:
            return file.execute(query.replace("%s", "?"), values).fetchall()

    def tell(self, statement: str) -> None:
        """Change the site's database directly, behind the back of its processes."""
        if self.database:
            with psycopg.connect(self.database, connect_timeout=5) as server:
                server.execute(statement)
            return
        with closing(sqlite3.connect(self.folder / "horsesense.sqlite3", timeout=20)) as file, file:
            file.execute(statement)

    def manage(self, *arguments: str, seconds: float = PATIENCE) -> "subprocess.CompletedProcess[str]":
        """Run a `manage.py` command and return its output and exit status."""
        return manage(*arguments, environment=self.environment, seconds=seconds)

    def python(self, code: str, given: Any = None, *, seconds: float = PATIENCE) -> str:
        """Run Python code inside the site and return its output; the code can use the variable `given`."""
        return self.python_and_log(code, given, seconds=seconds)[0]

    def python_and_log(self, code: str, given: Any = None, *, seconds: float = PATIENCE) -> tuple[str, str]:
        """Run Python code inside the site, like `python`, and return its output and its log."""
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + code],
            cwd=ROOT,
            env=self.environment,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    # Datasets

    def begin(self, spec: dict[str, Any] = SPEC, *, slug: str = SLUG, images: bool = True) -> None:
        """Begin a dataset, whose jobs then wait."""
        secrets = {name: secret for name, secret in SECRETS.items() if name in spec["splits"]}
        self.python(BEGIN, {"spec": spec, "slug": slug, "images": images, "secrets": secrets})

    def resume(self, slug: str = SLUG) -> None:
        """Resume a dataset that was cancelled or has failed."""
        self.python(RESUME, slug)

    def state(self, slug: str = SLUG) -> End:
        """Return the state of a dataset, and its error if it failed."""
        [row] = self.ask("SELECT state, error FROM generation_dataset WHERE slug = %s", slug)
        return End(*row)

    def fingerprint(self, slug: str = SLUG) -> str:
        """Return a dataset's content hash, which is empty until the dataset is complete."""
        [(fingerprint,)] = self.ask("SELECT fingerprint FROM generation_dataset WHERE slug = %s", slug)
        return str(fingerprint)

    def jobs(self, slug: str = SLUG, *, state: str = "done") -> int:
        """Return how many jobs of a dataset are in a state: waiting, running, done, failed or cancelled."""
        query = f"SELECT count(*) FROM generation_job {OF_DATASET} AND state = %s"
        return int(self.ask(query, slug, state)[0][0])

    def rows(self, table: str, slug: str = SLUG) -> int:
        """Return how many rows of a table (scene, question, chunk) a dataset has."""
        return int(self.ask(f"SELECT count(*) FROM generation_{table} {OF_SPLITS}", slug)[0][0])

    # Stored rows and files

    def stored(self) -> set[str]:
        """Return the names of all files in the storage."""
        return self.bucket.names() if self.bucket is not None else _files_below(self.folder / "media")

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return every row of every dataset, and of its jobs."""
        tables = ("dataset", "specfile", "split", "chunk", "scene", "question", "job")
        return {table: self.ask(f"SELECT * FROM generation_{table} ORDER BY id") for table in tables}

    def drafts(self) -> list[Path]:
        """Return temporary files and folders: their names begin with a dot and end with random digits."""
        return [path for path in self.folder.rglob(".*") if DRAFT.fullmatch(path.name)]

    def tidy(self) -> None:
        """Run housekeeping as if the drafts were old, so that it deletes the drafts of killed processes."""
        for path in self.drafts():
            os.utime(path, (0, 0))
        self.python("from webapp.running.housekeeping import tidy_up; tidy_up()")

    def check_stored_once(self, *slugs: str, drawn: bool = True) -> None:
        """Check that each scene, question and picture of complete datasets is stored once, and nothing else is stored.

        Drafts of killed processes are allowed if housekeeping deletes them.
        """
        named: set[str] = set()
        for slug in slugs or (SLUG,):
            self.check_rows(slug)
            named |= self._files_of(slug, drawn=drawn)
        if self.drafts():
            self.tidy()
        assert self.drafts() == [], "temporary files that housekeeping leaves"
        stored = {name for name in self.stored() if not name.startswith("predictions/")}  # of baselines, made later
        stored = {name for name in stored if not name.endswith("-small.webp")}  # made on request
        assert stored - named == set(), "files that no row names"
        assert named - stored == set(), "files that a row names and nobody has"

    def check_rows(self, slug: str) -> None:
        """Check that each scene and question of a complete dataset is stored once, and that its jobs are done."""
        for name, scenes, questions in self.ask(
            f"SELECT name, scenes, questions FROM generation_split {OF_DATASET}", slug
        ):
            for table, count in (("scene", scenes), ("question", questions)):
                where = f"{OF_SPLITS} AND split_id = (SELECT id FROM generation_split {OF_DATASET} AND name = %s)"
                query = f"SELECT position FROM generation_{table} {where} ORDER BY position"
                positions = [position for (position,) in self.ask(query, slug, slug, name)]
                assert positions == list(range(count)), f"{table}s of {slug}/{name}"
        states = dict(self.ask(f"SELECT state, count(*) FROM generation_job {OF_DATASET} GROUP BY state", slug))
        assert set(states) == {"done"}, f"jobs of {slug}: {states}"
        assert self.ask(f"SELECT count(*) FROM generation_chunk {OF_SPLITS} AND NOT made", slug) == [(0,)]

    def _files_of(self, slug: str, *, drawn: bool) -> set[str]:
        """Check that no two rows of a dataset name the same file, and return the files that its rows name."""
        pictures = []
        if drawn:
            for pair in self.ask(f"SELECT image, ids_image FROM generation_scene {OF_SPLITS}", slug):
                pictures += pair
        assert "" not in pictures, f"scenes of {slug} without a picture"
        assert len(pictures) == len(set(pictures)), f"two scenes of {slug} share a picture"
        digests = [digest for (digest,) in self.ask(f"SELECT index_digest FROM generation_split {OF_DATASET}", slug)]
        assert all(digests) and len(digests) == len(set(digests))
        indexes = {name for name in self.stored() if name.split("/")[:2] in [["index", digest] for digest in digests]}
        for digest in digests:
            assert f"index/{digest}/manifest.json" in indexes
        return set(pictures) | indexes


OF_DATASET = "WHERE dataset_id = (SELECT id FROM generation_dataset WHERE slug = %s)"
OF_SPLITS = f"WHERE split_id IN (SELECT id FROM generation_split {OF_DATASET})"


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
