"""The three processes of a site on one machine: the web server and two kinds of background process."""

import sys
from pathlib import Path

from django.conf import settings

from generation.queue import DEFAULT, GENERATION
from webapp.running.supervise import SupervisedProcess

KEEP_ALIVE = 15  # seconds that a connection stays open for its next request: longer than most pauses of readers
WORKER = "webapp.serving.web_worker.BufferedWorker"  # in this worker, a slow connection does not block a thread
DEFAULT_PROCESSES = 3  # one of them may be busy with a training for hours
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
        nice=GENERATION_NICENESS if name == GENERATION else 0,
    )


def command(name: str, *, bind: str = "", processes: int | None = None) -> list[str]:
    arguments = {
        "web": web_command(bind),
        "generation": worker_command(GENERATION, processes or job_processes(GENERATION)),
        "default": worker_command(DEFAULT, job_processes(DEFAULT)),
        "beat": ["webapp.running.beat"],
    }
    return [sys.executable, "-m", *arguments[name]]


def job_processes(queue: str) -> int:
    processes: int = settings.GENERATION_PROCESSES if queue == GENERATION else DEFAULT_PROCESSES
    return processes


def log_of(name: str) -> Path:
    return Path(settings.VAR_DIR, "log", f"{name}.log")


def web_command(bind: str) -> list[str]:
    command = ["gunicorn", "webapp.wsgi", "--bind", bind or "127.0.0.1:8000", "--worker-class", WORKER]
    command += ["--workers", str(settings.WEB_PROCESSES), "--threads", str(settings.WEB_THREADS)]
    command += ["--config", "python:webapp.running.gunicorn_config"]
    return [
        *command,
        "--timeout",
        "120",
        "--graceful-timeout",
        "5",
        "--keep-alive",
        str(KEEP_ALIVE),
        "--no-control-socket",
        "--logger-class",
        "webapp.serving.gunicorn_logs.MaskedLogger",
        "--log-level",
        settings.LOG_LEVEL.lower(),
    ]


def worker_command(queue: str, processes: int) -> list[str]:
    return ["webapp.running.worker", queue, "--processes", str(processes)]
