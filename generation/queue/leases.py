"""Holding a job: a token that only its holder knows, and a lease that must be renewed, by the database's clock."""

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from generation.models import AbstractJob, from_now
from generation.queue import graceful_shutdown

LEASE = 60.0  # seconds
RENEWAL = 10.0  # seconds
LONGEST = 21_600.0  # seconds that a job may run, where its taker does not say
GRACE = 120.0  # seconds that a holder has to notice that the job is not its own any more
HUNG = 70  # the exit status of a process that did not
FREE = {"token": "", "lease": None, "deadline": None}
ATTEMPTS = 3  # runs of a job that end in an error
CRASHES = 30  # runs whose process died: kills and deployments are no fault of the job
LONGEST_PAUSE = 120.0  # seconds between two runs of a job whose process keeps dying
FIRST_WAIT = 5.0  # seconds until a job is tried again that met an outage
LONGEST_WAIT = 180.0  # seconds, when the outage lasts
LOOKING = 1.0  # seconds between two looks whether this process was asked to stop
LAST = 5.0  # seconds before it is killed in which a process that was asked to stop gives its job back

log = logging.getLogger(__name__)


class LeaseLost(Exception):
    """Somebody else has the job by now, or it was cancelled: its holder writes nothing more."""


def take(job: AbstractJob, *, seconds: float = LONGEST) -> bool:
    """Return whether the waiting job is ours now, for so many seconds at most; `job` then carries our token."""
    token = secrets.token_hex(16)
    taken = _rows(job).ready().filter(pk=job.pk).update(
        state=AbstractJob.State.RUNNING,
        token=token,
        worker=worker_name(),
        lease=from_now(LEASE),
        deadline=from_now(seconds),
        started=Now(),
        attempts=F("attempts") + 1,
        not_before=None,
        message="",
    )  # fmt: skip
    if taken:
        kept = ["state", "token", "worker", "lease", "deadline", "started", "attempts", "message"]
        job.refresh_from_db(fields=kept)
    if taken != 1 or job.token != token:
        return False
    _rows(job).note_taken(job)
    return True


def renew(job: AbstractJob) -> None:
    """Hold the job for another while; raise `LeaseLost` where it is not ours any more."""
    if _rows(job).held(job).update(lease=from_now(LEASE)) != 1:
        raise LeaseLost(f"{job} is somebody else's now.")


def prolong(job: AbstractJob, *, seconds: float) -> None:
    """Let the job run for so many seconds from now; raise `LeaseLost` where it is not ours any more."""
    if _rows(job).held(job).update(deadline=from_now(seconds)) != 1:
        raise LeaseLost(f"{job} is somebody else's now.")


def finish(job: AbstractJob) -> None:
    """Mark the job as done, in the transaction that stores its result; raise `LeaseLost` to undo that."""
    done = {"state": AbstractJob.State.DONE, **FREE, "finished": Now(), "message": ""}
    if not _move(job, **done):
        raise LeaseLost(f"{job} is somebody else's now.")


def release_for_retry(job: AbstractJob, *, message: str = "") -> bool:
    waiting = {"state": AbstractJob.State.WAITING, **FREE, "message": message}
    return _move(job, **waiting)


def release_untried(job: AbstractJob, *, message: str = "") -> bool:
    """Return whether the job waits again as if it had not been tried: it was no fault of its own."""
    waiting = {"state": AbstractJob.State.WAITING, **FREE, "attempts": F("attempts") - 1, "message": message}
    return _move(job, **waiting)


def release_after_crash(job: AbstractJob, *, message: str) -> bool:
    """Return whether the job, whose process died, waits again; from its second crash on only after a pause."""
    pause = 0.0 if job.crashes == 0 else min(2.0 ** (job.crashes - 1), LONGEST_PAUSE)
    return _release(job, message=message, pause=pause, crashes=F("crashes") + 1)


def release_to_wait(job: AbstractJob, *, message: str) -> bool:
    pause = min(FIRST_WAIT * 2.0 ** min(job.waits, 20), LONGEST_WAIT)
    return _release(job, message=message, pause=pause, waits=F("waits") + 1)


def _release(job: AbstractJob, *, message: str, pause: float, **counts: Any) -> bool:
    waiting = {"state": AbstractJob.State.WAITING, **FREE, "attempts": F("attempts") - 1, "message": message}
    return _move(job, **waiting, **counts, not_before=from_now(pause))


def _move(job: AbstractJob, **values: Any) -> bool:
    """Return whether the job was still ours; it is not any more."""
    moved = _rows(job).held(job).update(**values) == 1
    if moved:
        _rows(job).note_moved(job)
    return moved


def fail(job: AbstractJob, *, message: str) -> bool:
    failed = {"state": AbstractJob.State.FAILED, **FREE, "finished": Now(), "message": message}
    return _move(job, **failed)


class Lease:
    """A held job, whose lease a thread renews; `check` raises `LeaseLost` once that failed."""

    def __init__(self, job: AbstractJob) -> None:
        self.job = job
        self.lost = threading.Event()
        self.ended = threading.Event()

    def check(self) -> None:
        """Raise `LeaseLost` where the job is not ours any more, and `Stopped` where this process is to stop."""
        if graceful_shutdown.is_asked():
            raise graceful_shutdown.Stopped(f"{self.job} waits for another process: this one was asked to stop.")
        if self.lost.is_set():
            raise LeaseLost(f"{self.job} is somebody else's now.")

    def confirm(self) -> None:
        """Raise `LeaseLost` where the job is not ours any more, by asking the database."""
        renew(self.job)

    def keep(self) -> None:
        """Renew until the end; a database that can't be reached is tried again while the lease may still hold."""
        due = time.monotonic() + RENEWAL
        while not self.ended.wait(min(RENEWAL, LOOKING)):
            if graceful_shutdown.seconds_left() < LAST and self._let_go():
                return
            if time.monotonic() < due:
                continue
            due = time.monotonic() + RENEWAL
            try:
                renew(self.job)
            except LeaseLost:
                self.lost.set()
                self._end_hung()
                return
            except Exception:
                log.warning("The lease of %s was not renewed; trying again.", self.job, exc_info=True)
            finally:
                connection.close()

    def _let_go(self) -> bool:
        """Return whether the job, whose process did not notice in time that it is to stop, waits for others now."""
        try:
            release_untried(self.job)
        except Exception:
            log.warning("%s was not given back; trying again.", self.job, exc_info=True)
            return False
        finally:
            connection.close()
        self.lost.set()
        return True

    def _end_hung(self) -> None:
        """End this process where it goes on with a job that is not its own: others have to have its place."""
        if not self.ended.wait(GRACE):
            log.error("%s was taken from this process, which did not notice for %g s. It ends.", self.job, GRACE)
            os._exit(HUNG)


class NoLease:
    """In place of a lease, where nobody else does the same work."""

    def check(self) -> None:
        """Say nothing."""

    def confirm(self) -> None:
        """Say nothing."""


@contextmanager
def hold(job: AbstractJob) -> Iterator[Lease]:
    """Give the lease of a job, renewed in the background until the end of the block."""
    _hold_no_rows_asleep()
    lease = Lease(job)
    thread = threading.Thread(target=lease.keep, name=f"lease of job {job.pk}", daemon=True)
    thread.start()
    graceful_shutdown.begin(job.token)
    try:
        yield lease
    finally:
        graceful_shutdown.end(job.token)
        lease.ended.set()
        thread.join()


def _hold_no_rows_asleep() -> None:
    """Let PostgreSQL end our transaction should we stand still in the middle of it: others could not touch its rows."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET idle_in_transaction_session_timeout = {int(LEASE * 1000)}")


def worker_name() -> str:
    return f"{host_name()}:{os.getpid()}"


def host_name() -> str:
    """Return the name of the place where process numbers mean what they mean here: machine and container."""
    try:
        return f"{socket.gethostname()}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


def is_gone(worker: str) -> bool:
    """Return whether a process is known to have ended: it ran here, and runs no more."""
    host, _, pid = worker.rpartition(":")
    if host != host_name() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _rows(job: AbstractJob) -> Any:
    return type(job)._default_manager
