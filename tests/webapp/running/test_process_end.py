"""A process of the site ends without a search for garbage, and leaves its database closed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.webapp.commands import ROOT

pytestmark = pytest.mark.slow
CODE = """
import atexit, gc, os, sys
atexit.register(lambda: print("child" if os.getpid() != own else "process", gc.get_freeze_count() > 0, flush=True))
own = os.getpid()
import django
django.setup()
from webapp.models import User
User.objects.create_user("person", "person@example.org", "a long password")
if child := os.fork():
    os.waitpid(child, 0)
    assert User.objects.count() == 1
sys.exit()
"""


def test_a_process_closes_its_database_and_skips_the_garbage_but_a_forked_one_does_not(
    migrated_environment: dict[str, str],
) -> None:
    environment = migrated_environment | {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    ended = subprocess.run(
        [sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.stdout.splitlines(), ended.returncode) == (["child False", "process True"], 0), ended.stderr
    assert [file.name for file in Path(environment["VAR_DIR"]).glob("*.sqlite3*")] == ["horsesense.sqlite3"]
