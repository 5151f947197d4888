"""The examples of the API's page: a real server gets each of them unchanged."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from generation.models import Dataset
from tests.generation import small
from tests.services import missing
from webapp import documentation
from webapp.models import ApiToken, User

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.django_db(transaction=True)]

SITE = "http://127.0.0.1:8000"
CURL = "curl --silent --show-error --fail-with-body "
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> list[str]:
    """Return the commands of the page in their order."""
    blocks = CONSOLE.findall(documentation.source("api"))
    return [command for block in blocks for command in block.replace("\\\n", " ").splitlines() if command.strip()]


@pytest.fixture
def clevr_mini() -> Dataset:
    """Give a small dataset with the name that the page uses."""
    return small.made("clevr-mini")


def test_every_example_works(live_server: Any, clevr_mini: Dataset, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        missing("curl", "install it (Debian: apt install curl)")
    token = ApiToken.objects.make(User.objects.create_user("ada", "ada@example.org", "x"), "examples")
    environment = {"PATH": "/usr/bin:/bin", "HORSESENSE_TOKEN": token, "HOME": str(tmp_path)}
    said: list[str] = []
    for example in examples():
        assert example.startswith("curl "), example
        command = example.replace(SITE, live_server.url).replace(
            "curl ", "curl --silent --show-error --fail-with-body ", 1
        )
        ended = subprocess.run(["sh", "-c", command], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert ended.returncode == 0, f"{example}\n{ended.stdout}{ended.stderr}"
        said.append(ended.stdout)
    assert all(json.loads(one) for one in said if one)
    assert {path.name for path in tmp_path.iterdir()} >= {"questions.jsonl.gz", "images.tar"}
