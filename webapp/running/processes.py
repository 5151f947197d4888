"""The three processes of a site on one machine: the web server and two kinds of background process."""

import sys
from pathlib import Path

from django.conf import settings

from generation.queue import DEFAULT, GENERATION
from webapp.running.supervise import SupervisedProcess

DEFAULT_PROCESSES = 3  # one of them may be busy with a training for hours
DEFAULT_BIND = "127.0.0.1:8000"
GENERATION_NICENESS = 10  # low priority, so that pages stay fast while datasets are generated

SITE = ("web", GENERATION, DEFAULT)
NAMES = (*SITE, "beat")  # the last one has nothing left to do, but earlier releases needed it


def children(*, listener: int, hosts: list[str]) -> list[SupervisedProcess]:
    """Return the processes to keep alive.

    Parameters
    ----------
    listener : int
        File descriptor of the socket on which the web server listens.
    hosts : list of str
        Names and addresses under which the web server can be reached.
    """
    processes = settings.MACHINE_PROCESSES
    web, *others = [child(name, bind=f"fd://{listener}", log=log_of(name), processes=processes) for name in SITE]
    web.sockets = (listener,)
    web.environment = {
        **web.environment, "ALLOWED_HOSTS": ",".join(dict.fromkeys([*settings.ALLOWED_HOSTS, *hosts]))
    }  # fmt: skip
    return [web, *others]


def child(name: str, *, bind: str = "", log: Path | None = None, processes: int | None = None) -> SupervisedProcess:
    """Return a process, which is not started yet.

    Without a log file, the process writes to this process's output. `processes` is the number of processes that
    generate datasets; the default is the setting `GENERATION_PROCESSES`.
    """
    return SupervisedProcess(
        name=name,
        command=command(name, bind=bind, processes=processes),
        log=log,
        environment={"GENERATION_PROCESSES": str(processes or settings.GENERATION_PROCESSES)},
        folder=settings.BASE_DIR,
        nice=niceness(name),
    )


def command(name: str, *, bind: str = "", processes: int | None = None) -> list[str]:
    arguments = {
        "web": ["webapp.running.web", "--bind", bind or DEFAULT_BIND],
        "generation": worker_command(GENERATION, processes or job_processes(GENERATION)),
        "default": worker_command(DEFAULT, job_processes(DEFAULT)),
        "beat": ["webapp.running.beat"],
    }
    return [sys.executable, "-m", *arguments[name]]


def niceness(name: str) -> int:
    return GENERATION_NICENESS if name == GENERATION else 0


def job_processes(queue: str) -> int:
    processes: int = settings.GENERATION_PROCESSES if queue == GENERATION else DEFAULT_PROCESSES
    return processes


def log_of(name: str) -> Path:
    return Path(settings.VAR_DIR, "log", f"{name}.log")


def worker_command(queue: str, processes: int) -> list[str]:
    return ["webapp.running.worker", queue, "--processes", str(processes)]
