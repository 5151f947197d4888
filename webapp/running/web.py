"""`python -m webapp.running.web --bind HOST:PORT`: the web server of this machine.

The main process loads the site once, then forks the processes that answer. So a start takes the processor time of one
process, and a process that is killed is replaced at once.
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connections
from gunicorn.app.base import BaseApplication

KEEP_ALIVE = 15  # seconds that a connection stays open for its next request: longer than most pauses of readers
COUNTS = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client reads this variable when it is imported
PREFIX = "horsesense-metrics-"  # followed by the server's process id


class WebServer(BaseApplication):
    """The site, served by gunicorn."""

    def __init__(self, bind: str) -> None:
        self.bind = bind
        super().__init__()

    def load_config(self) -> None:
        """Use our options, then those of the variable GUNICORN_CMD_ARGS."""
        options = {
            "bind": self.bind,
            "worker_class": "webapp.serving.web_worker.BufferedWorker",  # a slow connection does not block a thread
            "workers": settings.WEB_PROCESSES,
            "threads": settings.WEB_THREADS,
            "preload_app": True,
            "timeout": 120,
            "graceful_timeout": 5,
            "keepalive": KEEP_ALIVE,
            "control_socket_disable": True,
            "logger_class": "webapp.serving.gunicorn_logs.MaskedLogger",
            "loglevel": settings.LOG_LEVEL.lower(),
            "child_exit": _keep_counts,
            "on_exit": _delete_counts,
        }
        given = vars(self.cfg.parser().parse_args(self.cfg.get_cmd_args_from_env()))
        added = {name: value for name, value in given.items() if value is not None and name != "args"}
        for name, value in {**options, **added}.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Load the site before the processes that answer are forked; they share no connection."""
        from webapp.wsgi import application

        connections.close_all()
        return application


def run(bind: str) -> None:
    _create_counts()
    WebServer(bind).run()


def _create_counts() -> None:
    """Create the folder in which this server's processes count requests; delete those of servers that were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not _is_alive(left.name.removeprefix(PREFIX).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    os.environ[COUNTS] = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")


def _is_alive(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # another user's process
        return True
    return True


def _keep_counts(server: Any, worker: Any) -> None:
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.pid)


def _delete_counts(server: Any) -> None:
    shutil.rmtree(os.environ[COUNTS], ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the site.")
    parser.add_argument("--bind", required=True, help="where to listen: host:port, or fd://N")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    run(options.bind)


if __name__ == "__main__":
    main()
