"""What gunicorn does besides: a folder in which the web processes of one server count their requests."""

import os
import shutil
import tempfile
from typing import Any

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # the name that prometheus-client reads


def on_starting(server: Any) -> None:
    """Make the folder, before any web process is there."""
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="horsesense-metrics-")


def child_exit(server: Any, worker: Any) -> None:
    """Note that a web process has ended; what it counted stays."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.pid)


def on_exit(server: Any) -> None:
    """Remove the folder."""
    shutil.rmtree(os.environ[FOLDER], ignore_errors=True)
