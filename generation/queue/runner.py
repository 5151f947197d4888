"""The runner of all background jobs: it claims and runs them, retries them, marks them as failed, and wakes processes.

Each kind of job registers a `Runner`, which has the function that does the job, its deadline and its queue. A job is a
row. The processes of `job_processes` look for rows that they can claim. Celery's messages are only hints that wake
these processes a moment earlier; if all of them are lost, nothing is lost.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from celery import current_app
from django.db import Error as DatabaseError
from django.db import connection, transaction
from django.db.models.functions import Now

from generation.durations import duration
from generation.engine.errors import EngineError
from generation.models import AbstractJob, AbstractJobQuerySet, JobEvent
from generation.queue import DEFAULT, graceful_shutdown, leases, outages, wakeups
from generation.queue.transient_errors import find_outage
from generation.storage import files

AnyJob = TypeVar("AnyJob", bound=AbstractJob)

CANDIDATES = 8  # limit of accounts, and of waiting jobs of each account, that are tried for one claim
FOREVER = float("inf")
TURN = 10.0  # seconds
HINT_LIFE = 15.0  # seconds after which a hint that no process took expires
SLOW = 0.3  # seconds: a hint that needs longer to fail is followed by a pause
PAUSE = 10.0  # seconds without hints

Event = JobEvent.Event
log = logging.getLogger(__name__)


def nothing(*_: Any) -> None:
    """Do nothing."""


@dataclass(frozen=True, kw_only=True)
class Runner(Generic[AnyJob]):
    """A kind of background job, and the functions that handle its rows.

    Attributes
    ----------
    name : str
        The name of the kind in statistics and logs.
    model : type
        The table of the jobs.
    perform : callable
        Runs a claimed job under its lease, and calls `leases.finish` in the transaction that stores the result.
    seconds : callable
        Returns after how many seconds a running job counts as hung.
    task, queue : str
        The Celery task that is sent as a hint that there is work, and its queue.
    is_single : bool
        Whether each machine does one job of this kind at a time.
    turn : float
        Seconds after which a process gives way to other work of the queue. With 0, it gives way after each job.
    subject : callable
        Returns the beginning of a message about the job.
    related : tuple of str
        Fields of other tables that `perform`, `subject` and `on_failure` need, for `select_related`.
    claim_next : callable
        Claims and returns the next job, or returns None. Without it, the accounts of claimable jobs take turns.
    on_failure : callable
        Changes other rows when a job has failed for good, in the same transaction.
    on_loss : callable
        Deletes what remains of a job after the process lost it.
    chores : callable
        Additional work of each sweep.
    catch_up : callable
        Additional work after jobs and at regular intervals, which is not a job and takes too long for a sweep.
    """

    name: str
    model: type[AnyJob]
    perform: Callable[[AnyJob, leases.Lease], None]
    seconds: Callable[[AnyJob], float]
    task: str
    queue: str = DEFAULT
    is_single: bool = False
    turn: float = TURN
    subject: Callable[[AnyJob], str] = str
    related: tuple[str, ...] = ()
    claim_next: Callable[[], AnyJob | None] | None = None
    on_failure: Callable[[AnyJob, str], object] = nothing
    on_loss: Callable[[AnyJob], object] = nothing
    chores: Callable[[], object] = nothing
    catch_up: Callable[[], object] = nothing

    @property
    def rows(self) -> AbstractJobQuerySet[AnyJob]:
        rows: AbstractJobQuerySet[AnyJob] = self.model._default_manager.select_related(*self.related)  # type: ignore[assignment]
        return rows

    # Claiming and running

    def take(self, job: AnyJob) -> bool:
        return not graceful_shutdown.is_asked() and leases.take(job, seconds=self.seconds(job))

    def claim(self) -> AnyJob | None:
        return self.claim_first(self.rows.claimable()) if self.claim_next is None else self.claim_next()

    def runs_here(self) -> bool:
        here = self.model._default_manager.filter(worker__startswith=f"{leases.host_name()}:")
        return here.filter(state=AbstractJob.State.RUNNING, lease__gte=Now()).exists()

    def claim_first(self, jobs: AbstractJobQuerySet[AnyJob]) -> AnyJob | None:
        """Claim and return the job whose account is next; return None if there is none, or if this machine is busy."""
        if not jobs.exists():
            return None
        with leases.only_claimer(self.model):
            if self.is_single and self.runs_here():
                return None
            return next(filter(self.take, jobs.in_turns(most=CANDIDATES)), None)

    def take_turn(self, *, is_due: bool = False) -> int:
        """Run jobs for one turn and return their number; also catch up if there were jobs, or if `is_due`."""
        done = self.work(seconds=self.turn)
        if done or is_due:
            self.catch_up()
        return done

    def work(
        self,
        *,
        claim: Callable[[], AnyJob | None] | None = None,
        seconds: float = FOREVER,
        keep_going: Callable[[], bool] = lambda: True,
    ) -> int:
        """Claim and run jobs until none can be claimed or the time is over; return how many jobs were run.

        This also ends if `keep_going` returns False, if this process is asked to stop, or if `run` returns False. With
        each claim, another idle process of this worker is woken, because there may be more jobs.
        """
        end = time.monotonic() + seconds
        done = 0
        while keep_going() and not graceful_shutdown.is_asked():
            job = self.claim() if claim is None else claim()
            if job is None:
                break
            wakeups.ring(self.queue)
            if not self.run(job):
                break
            done += 1
            if time.monotonic() >= end:
                break
        return done

    def run_now(self, job: AnyJob) -> bool:
        return self.take(job) and self.run(job)

    def run(self, job: AnyJob) -> bool:
        """Run a claimed job, and return whether this process should run other jobs now.

        The outcome is written on the job's row. If the database cannot be reached, the job's lease expires instead.
        """
        try:
            with leases.hold(job) as lease:
                self.perform(job, lease)
        except leases.LeaseLost as lost:
            log.info("%s", lost)
            self._note(Event.LOST)
            self.on_loss(job)
        except graceful_shutdown.Stopped as stopped:
            log.info("%s", stopped)
            self._write(job, lambda: self._release(job))
            return False
        except Exception as error:
            return self._let_go(job, error)
        except BaseException:  # KeyboardInterrupt or SystemExit: this process has to stop
            self._release(job)
            raise
        outages.here.end(outages.STORE, outages.DISK)
        return True

    def _let_go(self, job: AnyJob, error: Exception) -> bool:
        """Handle an error in a job: release the job or mark it as failed.

        Returns whether this process should run other jobs now.
        """
        outage = find_outage(error)
        if outage is None and self._is_lost(job):
            log.info("%s %s was taken from this process, or deleted: %s", self.name, job.pk, error)
            self._note(Event.LOST)
            self.on_loss(job)
            return True
        if outage is not None:
            log.warning("%s: %s", job, outage, exc_info=True)
            self._write(job, lambda: self._wait(job, str(outage)))
            return False
        if isinstance(error, EngineError):  # would happen again
            return self._write(job, lambda: self.fail(job, str(error)))
        if graceful_shutdown.is_asked():  # in a callback of SQLite, an interrupt becomes another error
            log.info("%s waits for another process: this one was asked to stop.", job, exc_info=error)
            self._write(job, lambda: self._release(job))
            return False
        log.error("%s went wrong", job, exc_info=error)
        return self._write(job, lambda: self._try_again(job, f"{self.subject(job)}: {files.in_words(error)}"))

    def _is_lost(self, job: AnyJob) -> bool:
        """Return whether this process no longer holds the job. Then the job is not the cause of an error."""
        try:
            return not self.model._default_manager.held(job).exists()  # type: ignore[attr-defined]
        except DatabaseError:
            return False

    def _write(self, job: AnyJob, write: Callable[[], object]) -> bool:
        """Write the end of a run, and return whether this succeeded.

        If the database gives an error, the write is tried again for up to `leases.LEASE` seconds, or until this process
        is asked to stop.
        """
        end, pause = time.monotonic() + leases.LEASE, 1.0
        while True:
            try:
                if not connection.in_atomic_block:
                    connection.close_if_unusable_or_obsolete()
                write()
                return True
            except DatabaseError:
                if time.monotonic() + pause > end or graceful_shutdown.is_asked():
                    log.warning("%s could not be given back; it is free when its lease is over.", job, exc_info=True)
                    return False
            time.sleep(pause)
            pause *= 2

    def _try_again(self, job: AnyJob, message: str) -> None:
        if job.attempts >= leases.ATTEMPTS:
            self.fail(job, f"{message} It was tried {job.attempts} times.")
        elif leases.release_for_retry(job, message=message):
            self._note(Event.RETRIED)

    def _wait(self, job: AnyJob, message: str) -> None:
        if leases.release_to_wait(job, message=message):
            self._note(Event.WAITED)

    def _release(self, job: AnyJob) -> bool:
        """Release the job as if it had not been tried, because its process was asked to stop.

        Returns whether the job was still held.
        """
        released = leases.release_untried(job)
        if released:
            self._note(Event.RELEASED)
        return released

    def _note(self, event: Event) -> None:
        JobEvent.objects.note(self.name, event)

    def fail(self, job: AnyJob, message: str) -> bool:
        """Mark a held job as failed for good; return False if it was no longer held with the token of `job`."""
        with transaction.atomic():
            if not leases.fail(job, message=message):
                return False
            self.on_failure(job, message)
            self._note(Event.FAILED)
        return True

    # Jobs whose process is gone, and wake-ups

    def sweep(self) -> None:
        self.recover()
        self.chores()

    def recover(self) -> int:
        """Release jobs whose process is gone, or mark them as failed after too many crashes; return their number.

        A process is gone if it ended, or if its lease expired. Overdue jobs are marked as failed first.
        """
        self.fail_overdue()
        running = self.rows.filter(state=AbstractJob.State.RUNNING)
        gone = [job for job in running if leases.is_gone(job.worker)]
        freed = 0
        for job in [*self.rows.expired(), *gone]:
            freed += 1
            self._recover(job)
        return freed

    def _recover(self, job: AnyJob) -> None:
        """Release a job whose process died, or mark it as failed after `leases.CRASHES` crashes."""
        message = f"{self.subject(job)}: the process that did it stopped answering."
        crashes = job.crashes + 1
        if crashes >= leases.CRASHES:
            why = "A signal, such as 11, or too little memory may end each of them: the log says which on"
            self.fail(job, f"{message} That happened {crashes} times. {why} {job.worker or 'its machine'}.")
        elif leases.release_after_crash(job, message=message):
            self._note(Event.CRASHED)

    def fail_overdue(self) -> int:
        """Mark running jobs as failed if their deadline is over; return their number.

        Their processes may still renew the leases, but they make no progress.
        """
        overdue = list(self.rows.overdue())
        for job in overdue:
            within = f"{self.subject(job)}: expected an end within {duration(self.seconds(job))}, got none: it hangs."
            self.fail(job, f"{within} The log of {job.worker} may say where.")
        return len(overdue)

    def release_own(self) -> int:
        """Release the jobs that this process holds as if they had not been tried; return their number.

        A process that is asked to stop may have claimed a job without starting it.
        """
        own = self.rows.filter(state=AbstractJob.State.RUNNING, worker=leases.worker_name())
        return sum(self._release(job) for job in own)

    def wake(self) -> None:
        # Wake a process of the queue; it wakes others if there are more jobs. A lost wake-up does no harm.
        if not wakeups.ring(self.queue):
            send_hint(self.task, queue=self.queue)


_pause_until = 0.0


def send_hint(task: str, *values: int, queue: str, life: float = HINT_LIFE) -> bool:
    """Send a Celery task, which expires if no process takes it within `life` seconds; return whether it was sent.

    After a failure that took long, no hints are sent for `PAUSE` seconds, so that callers do not wait again and again.
    """
    global _pause_until  # of this process
    begun = time.monotonic()
    if begun < _pause_until:
        return False
    try:
        current_app.send_task(task, args=list(values), queue=queue, expires=life, retry=False)
    except Exception as error:
        if time.monotonic() - begun > SLOW:
            _pause_until = time.monotonic() + PAUSE
        outages.note_broker(error)
        return False
    return True


RUNNERS: dict[str, Runner[Any]] = {}


def register(runner: Runner[AnyJob]) -> Runner[AnyJob]:
    # Every sweep calls the `sweep` of each runner. A runner with the same name is replaced.
    RUNNERS[runner.name] = runner
    return runner


def sweep() -> None:
    for runner in list(RUNNERS.values()):
        runner.sweep()
