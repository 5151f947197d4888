"""Withheld data stay secret on PostgreSQL and Redis, too: the same tests run again in a separate process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.services import RedisServer
from tests.webapp.commands import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.full]
TESTS = ("tests/webapp/secrecy/test_leaks.py", "tests/webapp/secrecy/test_asking.py")


def test_nothing_leaks_on_postgresql_and_redis(postgres_url: str, redis_server: RedisServer, tmp_path: Path) -> None:
    services = {"DATABASE_URL": postgres_url, **redis_server.environment}
    ours = {"HORSESENSE_TEST_ON_SERVICES": "1", "HORSESENSE_TEST_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--show-capture=no", *TESTS]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **services, **ours}, capture_output=True, text=True, timeout=3600
    )
    assert done.returncode == 0, done.stdout
