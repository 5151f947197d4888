"""The site's health: each part, its expected state, and its current state."""

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any, NamedTuple

import redis
from django.conf import settings
from django.db import Error, connection
from django.db.models import F

from generation import __version__
from generation.engine import ENGINE_VERSION
from generation.models import Heartbeat
from generation.models.jobs import ago
from generation.queue import DEFAULT, GENERATION, outages, runner
from generation.storage import files
from webapp.monitoring import health_probes
from webapp.monitoring.health_probes import KeptResult

TIMEOUT = 2.0  # seconds that a check may take; it is short, because the client of the health page is waiting
SILENCE = 60  # seconds without a heartbeat after which a background process or the sweep counts as dead
IDLENESS = 30  # seconds that jobs may wait while processes are idle
CACHE = "cache"
STARTED = time.monotonic()

Part = dict[str, Any]


def report() -> dict[str, Any]:
    """Return the state of every part; `ok` is false if at least one part fails, and `failing` names these parts."""
    parts, alive = web_parts(), None
    if parts["database"]["ok"]:
        try:
            beats = heartbeats()
            working = [beat for beat in beats if beat.queues and beat.age.total_seconds() < SILENCE]
            parts |= {**background(beats), "jobs": jobs(working)}
            alive = len(working)
        except Error as error:
            parts["database"] = _answering(type(error).__name__)
    parts |= {"disk": disk(), "store": _answering(health_probes.store.get())}
    program = {"release": __version__, "engine_version": ENGINE_VERSION}
    return summary(parts) | program | {"background_processes": alive, "parts": parts}


def ready_report() -> dict[str, Any]:
    """Return whether this web process can take requests.

    It can if it is not about to stop and the database is up to date. The cache is only reported: pages work without
    Redis, and if all web servers lose it, a balancer that turns to none of them would take the whole site away.
    """
    found = {"process": "This process is about to stop." if health_probes.stopping.is_set() else ""}
    found |= health_probes.ready.get()
    parts = {name: {"ok": not said or name == CACHE, "says": said or "Answers."} for name, said in found.items()}
    return summary(parts) | {"parts": parts}


def web_report() -> dict[str, Any]:
    parts = web_parts()
    return summary(parts) | {"parts": parts}


def summary(parts: dict[str, Part]) -> dict[str, Any]:
    failing = [name for name, part in parts.items() if not part["ok"]]
    return {"ok": not failing, "failing": failing}


def web_parts() -> dict[str, Part]:
    return {"database": _answering(database_trouble()), "broker": _answering(broker_trouble())}


def _answering(trouble: str) -> Part:
    return {"ok": not trouble, "says": f"Expected an answer, got {trouble}." if trouble else "Answers."}


def database_trouble() -> str:
    """Return the type of the error if the database does not answer; otherwise an empty string."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error as error:
        return type(error).__name__
    return ""


def broker_trouble() -> str:
    """Return the type of the error if the broker can't take messages; otherwise an empty string."""
    try:
        if settings.REDIS_URL:
            _write_to_redis()
        else:
            _lock_broker_file()
    except (redis.RedisError, sqlite3.Error) as error:
        outages.note_broker(error)
        return type(error).__name__
    outages.here.end(outages.broker())
    return ""


def _write_to_redis() -> None:
    limits = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("global_keyprefix", "")
    with closing(redis.from_url(settings.CELERY_BROKER_URL, **limits)) as client:
        client.set(f"{prefix}health", "asked", ex=60)  # a full server answers, but refuses writes


def _lock_broker_file() -> None:
    address = f"{settings.BROKER_FILE.as_uri()}?mode=rw"  # mode=rw does not create a missing file
    with closing(sqlite3.connect(address, uri=True, timeout=TIMEOUT)) as broker:
        broker.execute("BEGIN IMMEDIATE")
        broker.rollback()


class Beat(NamedTuple):
    """The last heartbeat of a worker, or of the sweep, which has no queues."""

    name: str
    queues: list[str]
    processes: int
    age: timedelta

    @property
    def host(self) -> str:
        return self.name.partition("@")[2].rpartition(":")[0]  # for example, default@machine/pid:[4026531836]:17


def heartbeats() -> list[Beat]:
    rows = Heartbeat.objects.values_list("name", "queues", "processes", ago(F("seen")))
    return [Beat(name, queues.split(",") if queues else [], count, age) for name, queues, count, age in rows]


def background(beats: Sequence[Beat]) -> dict[str, Part]:
    """Return for each kind of background process, and for the sweep, how long ago its last heartbeat was."""
    heard = {name: [beat.age for beat in beats if name in beat.queues] for name in (GENERATION, DEFAULT)}
    parts = {name: _heard(ages, start=f"manage.py process {name}") for name, ages in heard.items()}
    swept = [beat.age for beat in beats if beat.name == Heartbeat.SWEEP]
    return parts | {"sweep": _heard(swept, start="manage.py process default")}


def _heard(ages: list[timedelta], *, start: str) -> Part:
    seconds = _seconds(min(ages)) if ages else None
    part = {"seconds": seconds, "at_most": SILENCE}
    if seconds is not None and seconds <= SILENCE:
        return {"ok": True, **part, "says": f"Last heard of {seconds} s ago."}
    if time.monotonic() - STARTED < settings.STARTUP_SECONDS:
        return {"ok": True, **part, "says": "Not heard of yet: the site has just started."}
    got = "none ever" if seconds is None else f"the last one {seconds} s ago"
    return {"ok": False, **part, "says": f"Expected a sign of life within {SILENCE} s, got {got}. Start: {start}"}


def _seconds(age: timedelta) -> int:
    return max(0, int(age.total_seconds()))


class Wait(NamedTuple):
    kind: str  # whose jobs wait
    oldest: timedelta
    idle: timedelta  # for how long they have waited while processes of their queue were idle


def jobs(working: Sequence[Beat]) -> Part:
    """Return how long the oldest waiting job has waited, and for how long jobs waited while processes were idle."""
    waits = [wait for queue in (GENERATION, DEFAULT) for wait in _waits(queue, working)]
    if not waits:
        return {"ok": True, "seconds": None, "idle_seconds": None, "at_most": IDLENESS, "says": "None waits."}
    first = max(waits, key=lambda wait: wait.oldest)
    oldest, idle = _seconds(first.oldest), _seconds(max(wait.idle for wait in waits))
    is_starting = time.monotonic() - STARTED < settings.STARTUP_SECONDS
    part = {"ok": idle <= IDLENESS or is_starting, "seconds": oldest, "idle_seconds": idle, "at_most": IDLENESS}
    if part["ok"]:
        return part | {"says": f"The oldest has waited for {oldest} s ({first.kind})."}
    kinds = ", ".join(wait.kind for wait in waits if _seconds(wait.idle) > IDLENESS)
    wanted = f"a waiting job to be begun within {IDLENESS} s while processes are idle"
    return part | {"says": f"Expected {wanted}, got none for {idle} s. Waiting: {kinds}."}


def _waits(queue: str, working: Sequence[Beat]) -> list[Wait]:
    """Return the kinds of a queue whose jobs wait. Each kind needs a query or two."""
    kinds = sorted((kind for kind in runner.RUNNERS.values() if kind.queue == queue), key=lambda kind: kind.name)
    backlogs = {kind: kind.rows.backlog() for kind in kinds}
    processes = sum(beat.processes for beat in working if queue in beat.queues)
    hosts = {beat.host for beat in working if queue in beat.queues}
    is_busy = sum(backlog.running for backlog in backlogs.values()) >= max(1, processes)
    quiet = [backlog.quiet for backlog in backlogs.values() if backlog.quiet is not None]
    waits = []
    for kind, backlog in backlogs.items():
        if backlog.oldest is None:
            continue
        is_at_work = is_busy or (kind.is_single and backlog.running >= max(1, len(hosts)))
        can_start = backlog.ready is not None and not is_at_work
        idle = min(age for age in (backlog.ready, *quiet) if age is not None) if can_start else timedelta()
        waits.append(Wait(kind.name, backlog.oldest, idle))
    return waits


def disk() -> Part:
    """Return the free space on the disk of MEDIA_ROOT, as this web process sees it."""
    free, least = files.disk_free(), settings.DISK_RESERVE_GB
    if free is None:
        return {"ok": True, "free_gb": None, "at_least": least, "says": "Files are kept elsewhere."}
    part = {"ok": free >= least, "free_gb": round(free, 1), "at_least": least}
    if part["ok"]:
        return part | {"says": f"{free:.1f} GB are free."}
    return part | {
        "says": f"Expected {least:g} GB free under MEDIA_ROOT, got {free:.1f}. No dataset is made meanwhile."
    }


kept = KeptResult(report, seconds=lambda: settings.HEALTH_SECONDS)
kept_of_web = KeptResult(web_report, seconds=lambda: settings.HEALTH_SECONDS)
