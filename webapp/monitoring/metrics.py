"""Metrics for Prometheus at `/metrics`: requests of this machine's web server, and the state of the site.

Each web process counts its requests in its own file, in a folder that `running.web` creates. The process that
answers adds up the counts of all processes. The figures from the database are the same on each machine.

A label is, for example, the name of a route, a method, a status class or a kind of work, but never an address, a slug
or the name of a user or dataset.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import Error, connection
from django.db.models import Count, Min, Sum
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from generation import __version__
from generation.engine import ENGINE_VERSION
from generation.models import AbstractJob, Heartbeat, Job, JobEvent
from generation.models.jobs import ago
from generation.storage import files
from webapp.monitoring.health_probes import KeptResult
from webapp.running.web import COUNTS

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds
VERBS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
CONNECTIONS = """
    SELECT coalesce(state, 'other'), count(*) FROM pg_stat_activity WHERE datname = current_database() GROUP BY 1
"""
STATES = (AbstractJob.State.WAITING, AbstractJob.State.RUNNING, AbstractJob.State.FAILED)

registry = CollectorRegistry()
requests = Histogram(
    "horsesense_request_seconds",
    "Seconds until an answer began, by route, verb and status class.",
    ("route", "method", "status"),
    buckets=BUCKETS,
    registry=registry,
)


def observe(request: HttpRequest, status: int, seconds: float) -> None:
    requests.labels(route_of(request), verb_of(request), f"{status // 100}xx").observe(seconds)


def verb_of(request: HttpRequest) -> str:
    return request.method if request.method in VERBS else "other"


def route_of(request: HttpRequest) -> str:
    """Return the name of a request's route; it is one of a fixed set of names."""
    match = request.resolver_match
    if match is not None:
        return match.view_name or "unnamed"
    return "static" if request.path_info.startswith(settings.STATIC_URL) else "none"


def text() -> bytes:
    """Return all metrics in Prometheus' text format."""
    everything = CollectorRegistry()
    if COUNTS in os.environ:
        MultiProcessCollector(everything)
    parts = [generate_latest(everything if COUNTS in os.environ else registry), generate_latest(_site)]
    return b"".join(parts)


def may_read(request: HttpRequest) -> bool:
    """Return whether the request may read the metrics: it comes from staff, or contains `METRICS_TOKEN`."""
    token: str = settings.METRICS_TOKEN
    if token and constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {token}"):
        return True
    user: Any = request.user
    return bool(user.is_active and user.is_staff)


def answer() -> HttpResponse:
    return HttpResponse(text(), content_type=CONTENT_TYPE)


class Site(Collector):
    """The state of the site, which is read from the database and the disk at most once every few seconds."""

    def __init__(self) -> None:
        self.kept = KeptResult(lambda: list(families()), seconds=lambda: settings.HEALTH_SECONDS)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return self.kept.get()


def families() -> Iterator[GaugeMetricFamily]:
    """Yield the site's metrics; if the database does not answer, only those that do not need it."""
    yield _gauge("build_info", "The release that answers.", {(__version__, ENGINE_VERSION): 1}, "release", "engine")
    free = files.disk_free()
    if free is not None:
        yield _gauge("disk_free_bytes", "Free under MEDIA_ROOT.", {(): free * files.GIB})
    start = time.perf_counter()
    try:
        found = list(_of_database())
    except Error:
        found = []
    yield _gauge("database_up", "1 while the database answers.", {(): float(bool(found))})
    yield _gauge("database_seconds", "Seconds that these figures took.", {(): time.perf_counter() - start})
    yield from found


def _of_database() -> Iterator[GaugeMetricFamily]:
    jobs: dict[tuple[str, ...], float] = {}
    ages: dict[tuple[str, ...], float] = {}
    attempts: dict[tuple[str, ...], float] = {}
    losses: dict[tuple[str, ...], float] = {}
    for kind, state, row in _rows():
        jobs[kind, state] = row["count"]
        attempts[kind,] = attempts.get((kind,), 0) + row["tried"]
        losses[kind,] = losses.get((kind,), 0) + row["lost"]
        if state == AbstractJob.State.WAITING:
            ages[kind,] = max(0.0, row["age"].total_seconds())
    yield _gauge("jobs", "Jobs that are waiting, running or failed, by kind.", jobs, "kind", "state")
    yield _gauge("job_oldest_seconds", "For how long the oldest waiting job has waited, by kind.", ages, "kind")
    yield _gauge("job_attempts", "Attempts that those jobs have had, by kind.", attempts, "kind")
    yield _gauge("job_lease_losses", "How often the processes of those jobs died or fell silent.", losses, "kind")
    events = {(row.kind, row.event): float(row.count) for row in JobEvent.objects.all()}
    yield _gauge("job_events", "How often jobs crashed, waited, failed and so on, ever.", events, "kind", "event")
    alive = Heartbeat.objects.alive().values_list("queues").annotate(Count("pk"))
    yield _gauge("background_processes", "Heard of in the last minute, by their queues.", dict(_keyed(alive)), "queues")
    yield from _connections()


def _keyed(rows: Iterable[tuple[str, int]]) -> Iterator[tuple[tuple[str, ...], float]]:
    for name, count in rows:
        yield (name,), count


def _rows() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the kind, the state and the figures of each group of unfinished jobs."""
    for model in apps.get_models():
        if not issubclass(model, AbstractJob):
            continue
        by = ["kind", "state"] if issubclass(model, Job) else ["state"]
        rows = model._base_manager.filter(state__in=STATES).values(*by).order_by()
        figures = rows.annotate(count=Count("pk"), tried=Sum("attempts"), lost=Sum("crashes"), age=ago(Min("created")))
        for row in figures:
            yield row.get("kind") or str(model._meta.model_name), row["state"], row


def _connections() -> Iterator[GaugeMetricFamily]:
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(CONNECTIONS)
        states = {(str(state),): float(count) for state, count in cursor.fetchall()}
        cursor.execute("SELECT current_setting('max_connections')::int")
        [most] = cursor.fetchone()
    yield _gauge("database_connections", "Connections to the site's database, by state.", states, "state")
    yield _gauge("database_connections_most", "Connections that the server takes.", {(): most})


def _gauge(name: str, about: str, values: Mapping[Any, float], *labels: str) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"horsesense_{name}", about, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


_site = CollectorRegistry()
_site.register(Site())
