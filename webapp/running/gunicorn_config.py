"""gunicorn hooks that manage the folder in which the web processes of one server count their requests."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus-client reads this variable
PREFIX = "horsesense-metrics-"  # followed by the server's process id


def on_starting(server: Any) -> None:
    """Create the folder before any web process starts; delete the folders of servers that were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not _is_alive(left.name.removeprefix(PREFIX).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    os.environ[FOLDER] = tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")


def _is_alive(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # another user's process
        return True
    return True


def child_exit(server: Any, worker: Any) -> None:
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.pid)  # its request counts are kept


def on_exit(server: Any) -> None:
    shutil.rmtree(os.environ[FOLDER], ignore_errors=True)
