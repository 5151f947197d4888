"""The web server's options, and what its processes share."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.faults.stack import Site
from webapp.running.web import WebServer


def test_the_web_server_logs_at_the_level_of_the_site(settings: Any) -> None:
    settings.LOG_LEVEL = "ERROR"
    assert WebServer("127.0.0.1:8000").cfg.loglevel == "error"


def test_an_operator_may_add_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--access-logfile - --timeout 7")
    cfg = WebServer("127.0.0.1:8001").cfg
    assert (cfg.bind, cfg.accesslog, cfg.timeout) == (["127.0.0.1:8001"], "-", 7)


@pytest.mark.slow
def test_the_site_is_loaded_once_and_a_killed_process_is_replaced_without_loading_it(
    migrated_environment: dict[str, str],
) -> None:
    environment = migrated_environment | {"WEB_PROCESSES": "2"}
    site = Site("embedded", Path(environment["VAR_DIR"]), environment)
    try:
        site.start("web")
        site.wait_for_web("/health/web/")
        site.wait_until(lambda: len(site.children("web")) == 2, what="both processes")
        first = site.children("web")
        for pid in first:
            os.kill(pid, signal.SIGKILL)
        site.wait_until(lambda: len(set(site.children("web")) - set(first)) == 2, what="two other processes")
        site.wait_for_web("/health/web/")
        main = site.processes["web"].pid
        for pid in site.children("web"):
            assert processor_seconds(pid) < processor_seconds(main) / 2
    finally:
        site.end()


def processor_seconds(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
