"""Reports errors by mail (`ERROR_EMAILS`) and to Sentry (`SENTRY_DSN`), without any data of users.

A report contains what a developer needs to find the faulty code: the types of the errors, the lines of code in the
traceback, and the name of the route. It never contains error messages, values of variables, addresses, forms, headers
or cookies, because these may include answers of participants, tokens and texts of datasets. The log on the site's own
machine has these details.
"""

import logging
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.mail import send_mail

from generation import __version__
from generation.program_version import PROGRAM
from webapp.monitoring.log_masking import mask

OURS = ("webapp", "generation", "annotations")
AGAIN = 3600.0  # seconds during which the same error is not reported again
MOST = 30  # the most reports of one process in this time
FRAMES = 60


@dataclass(frozen=True, kw_only=True)
class RaisedError:
    kind: str
    frames: tuple[tuple[str, int, str], ...]  # the lines of code of its traceback, outermost first


@dataclass(frozen=True, kw_only=True)
class ErrorReport:
    """The report of an error.

    Attributes
    ----------
    template : str
        The log message without its arguments.
    place : str
        The method and route name of the request; the logger's name if there is no request.
    errors : tuple of RaisedError
        The error that was logged, followed by its causes.
    """

    logger: str
    level: str
    template: str
    place: str
    errors: tuple[RaisedError, ...]

    @property
    def title(self) -> str:
        return f"{self.errors[0].kind if self.errors else self.level} in {self.place}"

    @property
    def key(self) -> Any:
        return self.place, self.template, [(error.kind, error.frames[-1:]) for error in self.errors]

    @property
    def text(self) -> str:
        """Return the report as the text of a mail."""
        lines = [self.title, "", f"{PROGRAM.capitalize()}, logger {self.logger}: {self.template}", ""]
        for number, error in enumerate(self.errors):
            lines += ["which came from" if number else "Lines of code, the last one is where it happened:", ""]
            lines += [f"  {path}:{line} in {function}" for path, line, function in error.frames]
            lines += [f"  {error.kind}", ""]
        return "\n".join([*lines, "Messages and values are left out; the site's log has them."])


def describe(record: logging.LogRecord) -> ErrorReport:
    """Return the report of a log record."""
    is_ours = record.name.partition(".")[0] in OURS
    template = str(record.msg) if record.args or is_ours else "(left out)"
    request = getattr(record, "request", None)
    match = getattr(request, "resolver_match", None)
    place = f"{request.method} {match.view_name}" if match is not None and request is not None else record.name
    error = record.exc_info[1] if record.exc_info else None
    return ErrorReport(
        logger=record.name,
        level=record.levelname,
        template=mask(template)[:500],
        place=place,
        errors=tuple(_raised(error)),
    )


def _raised(error: BaseException | None) -> Iterator[RaisedError]:
    for _ in range(5):
        if error is None:
            return
        frames = [(_short(f.filename), f.lineno or 0, f.name) for f in traceback.extract_tb(error.__traceback__)]
        yield RaisedError(kind=f"{type(error).__module__}.{type(error).__qualname__}", frames=tuple(frames[-FRAMES:]))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _short(path: str) -> str:
    """Return a path relative to the site's folder or to the folder `site-packages`."""
    place = Path(path)
    if place.is_relative_to(settings.BASE_DIR):
        return str(place.relative_to(settings.BASE_DIR))
    return path.rpartition("site-packages/")[2]


class Reporter(logging.Handler):
    """Sends reports of errors; it reports the same error at most once per hour."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.sent: dict[str, float] = {}
        self.turn = threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        """Report a record, unless this error, or the largest number of errors, was reported within the last hour."""
        try:
            report = describe(record)
            if self._is_new(report):
                send(report)
        except Exception:  # reporting an error must not raise another one
            self.handleError(record)

    def _is_new(self, report: ErrorReport) -> bool:
        now, key = time.monotonic(), repr(report.key)
        with self.turn:
            self.sent = {known: at for known, at in self.sent.items() if now - at < AGAIN}
            if key in self.sent or len(self.sent) >= MOST:
                return False
            self.sent[key] = now
            return True


def send(report: ErrorReport) -> None:
    """Send a report by mail and to Sentry, as far as the settings say so."""
    if settings.ERROR_EMAILS:
        subject = f"[Horsesense] {report.title}"[:200]
        send_mail(subject, report.text, settings.SERVER_EMAIL, settings.ERROR_EMAILS, fail_silently=True)
    if settings.SENTRY_DSN:
        _sentry(settings.SENTRY_DSN).capture_event(event_of(report))


def event_of(report: ErrorReport) -> dict[str, Any]:
    """Return a report as a Sentry event; Sentry expects the causes before the error."""
    values = [
        {
            "type": error.kind.rpartition(".")[2],
            "module": error.kind.rpartition(".")[0],
            "stacktrace": {
                "frames": [
                    {"filename": path, "lineno": line, "function": function, "in_app": path.startswith(OURS)}
                    for path, line, function in error.frames
                ]
            },
        }
        for error in reversed(report.errors)
    ]
    return {
        "level": report.level.lower(),
        "logger": report.logger,
        "transaction": report.place,
        "logentry": {"message": report.template},
        "exception": {"values": values},
    }


@cache
def _sentry(address: str) -> Any:
    """Return a Sentry client that adds no data of its own to the events."""
    import sentry_sdk

    return sentry_sdk.Client(
        dsn=address,
        release=f"horsesense@{__version__}",
        default_integrations=False,
        auto_enabling_integrations=False,
        include_local_variables=False,
        include_source_context=False,
        max_breadcrumbs=0,
        server_name="",
    )
