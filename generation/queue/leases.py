"""Holding a job: its holder has a secret token, and a lease that it must renew. Times are by the database's clock."""

import logging
import os
import secrets
import socket
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from generation.models import AbstractJob, from_now
from generation.queue import graceful_shutdown

LEASE = 60.0  # seconds
RENEWAL = 10.0  # seconds
LONGEST = 21_600.0  # seconds that a job may run, if `take` is called without a limit
GRACE = 120.0  # seconds within which a process must notice that it lost its job
HUNG = 70  # exit status of a process that did not notice this
LONGEST_CLAIM = 5.0  # seconds that a process may do nothing between choosing and claiming a job
CLAIMING = 0x636C6169  # "clai": the first half of the numbers of PostgreSQL's advisory locks of `only_claimer`
FREE = {"token": "", "lease": None, "deadline": None}
ATTEMPTS = 3  # limit of runs of a job that end in an error
CRASHES = 30  # limit of runs whose process died; it is high, because kills and deployments are not the job's fault
LONGEST_PAUSE = 120.0  # limit in seconds of the pause between two runs of a job whose process died
FIRST_WAIT = 5.0  # seconds until a job is retried after its first outage; each outage doubles the wait
LONGEST_WAIT = 10.0  # limit of this wait in seconds: work goes on soon after an outage, however long that was
LOOKING = 1.0  # seconds between two checks whether this process was asked to stop
LAST = 5.0  # a process that was asked to stop releases its job this many seconds before it is killed

log = logging.getLogger(__name__)


class LeaseLost(Exception):
    """The process no longer holds the job: another process claimed it, or it was cancelled.

    The process must not write any results of the job.
    """


@contextmanager
def only_claimer(model: type[AbstractJob]) -> Iterator[None]:
    """Hold a transaction that only one process has for each table of jobs, in which it chooses a job and claims it.

    Two processes that choose at the same moment would choose jobs of the same account. SQLite has one transaction that
    writes at a time anyway. PostgreSQL ends this transaction if its process is stopped meanwhile.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL idle_in_transaction_session_timeout = {int(LONGEST_CLAIM * 1000)}")
                table = zlib.crc32(model._meta.db_table.encode())
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIMING << 32 | table])
        yield


def take(job: AbstractJob, *, seconds: float = LONGEST) -> bool:
    """Claim a waiting job, which may run for at most `seconds`; return False if it can no longer be claimed.

    After a successful claim, `job` has the token of this process.
    """
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
    if _rows(job).held(job).update(lease=from_now(LEASE)) != 1:
        raise LeaseLost(f"{job} is somebody else's now.")


def prolong(job: AbstractJob, *, seconds: float) -> None:
    if _rows(job).held(job).update(deadline=from_now(seconds)) != 1:
        raise LeaseLost(f"{job} is somebody else's now.")


def finish(job: AbstractJob) -> None:
    """Mark the job as done, in the transaction that stores its result.

    Raises `LeaseLost` if this process no longer holds the job, so that the transaction is rolled back.
    """
    done = {"state": AbstractJob.State.DONE, **FREE, "finished": Now(), "message": ""}
    if not _move(job, **done):
        raise LeaseLost(f"{job} is somebody else's now.")


def release_for_retry(job: AbstractJob, *, message: str = "") -> bool:
    waiting = {"state": AbstractJob.State.WAITING, **FREE, "message": message}
    return _move(job, **waiting)


def release_untried(job: AbstractJob) -> bool:
    """Release the job as if it had not been tried, because the job is not at fault.

    Returns whether this process still held the job.
    """
    waiting = {"state": AbstractJob.State.WAITING, **FREE, "attempts": F("attempts") - 1, "message": ""}
    return _move(job, **waiting)


def release_after_crash(job: AbstractJob, *, message: str) -> bool:
    """Release a job whose process died; return whether it still had the token of `job`.

    From the second crash on, the job can be claimed again only after a pause.
    """
    pause = 0.0 if job.crashes == 0 else min(2.0 ** (job.crashes - 1), LONGEST_PAUSE)
    return _release(job, message=message, pause=pause, crashes=F("crashes") + 1)


def release_to_wait(job: AbstractJob, *, message: str) -> bool:
    pause = min(FIRST_WAIT * 2.0 ** min(job.waits, 20), LONGEST_WAIT)
    return _release(job, message=message, pause=pause, waits=F("waits") + 1)


def _release(job: AbstractJob, *, message: str, pause: float, **counts: Any) -> bool:
    waiting = {"state": AbstractJob.State.WAITING, **FREE, "attempts": F("attempts") - 1, "message": message}
    return _move(job, **waiting, **counts, not_before=from_now(pause))


def _move(job: AbstractJob, **values: Any) -> bool:
    """Change the state of a held job, and end its lease; return False if this process no longer held the job."""
    moved = _rows(job).held(job).update(**values) == 1
    if moved:
        _rows(job).note_moved(job)
    return moved


def fail(job: AbstractJob, *, message: str) -> bool:
    failed = {"state": AbstractJob.State.FAILED, **FREE, "finished": Now(), "message": message}
    return _move(job, **failed)


class Lease:
    """A held job. A thread renews its lease; `check` raises `LeaseLost` after the lease was lost."""

    def __init__(self, job: AbstractJob) -> None:
        self.job = job
        self.lost = threading.Event()
        self.ended = threading.Event()

    def check(self) -> None:
        """Raise `Stopped` if this process was asked to stop, and `LeaseLost` if it no longer holds the job."""
        if graceful_shutdown.is_asked():
            raise graceful_shutdown.Stopped(f"{self.job} waits for another process: this one was asked to stop.")
        if self.lost.is_set():
            raise LeaseLost(f"{self.job} is somebody else's now.")

    def confirm(self) -> None:
        renew(self.job)

    def keep(self) -> None:
        """Renew the lease until the block of `hold` ends.

        If the database cannot be reached, the renewal is tried again, because the lease may still be valid.
        """
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
        """Release the job, because its process did not stop in time; return False if the database gave an error."""
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
        # A process that does not notice that it lost its job must make room for other jobs.
        if not self.ended.wait(GRACE):
            log.error("%s was taken from this process, which did not notice for %g s. It ends.", self.job, GRACE)
            os._exit(HUNG)


class NoLease:
    """A replacement for a lease, for work that no other process does."""

    def check(self) -> None:
        """Do nothing: there is no lease to lose."""

    def confirm(self) -> None:
        """Do nothing: there is no lease to lose."""


@contextmanager
def hold(job: AbstractJob) -> Iterator[Lease]:
    """Yield the lease of a claimed job. A thread renews it until the end of the block."""
    _hold_no_rows_asleep()
    lease = Lease(job)
    thread = threading.Thread(target=lease.keep, name=f"lease of job {job.pk}", daemon=True)
    thread.start()
    try:
        yield lease
    finally:
        lease.ended.set()
        thread.join()


def _hold_no_rows_asleep() -> None:
    # A process that hangs must not keep rows locked for others, so PostgreSQL ends its transaction.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET idle_in_transaction_session_timeout = {int(LEASE * 1000)}")


def worker_name() -> str:
    return f"{host_name()}:{os.getpid()}"


def host_name() -> str:
    """Return the name of this machine and container (process id namespace), in which process ids are unique."""
    try:
        return f"{socket.gethostname()}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return socket.gethostname()


def is_gone(worker: str) -> bool:
    """Return whether a process ran on this host and has ended; False for processes of other hosts."""
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
