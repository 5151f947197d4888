"""Many participants at the same time, in several processes, on SQLite and on PostgreSQL."""

import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests import proof
from tests.webapp.commands import ROOT

pytestmark = pytest.mark.slow
PROCESSES, PEOPLE, WANTED = proof.size(4, name="processes of a crowd", least=2), 5, 3
ROWS = "SELECT a.id, a.slot_id, a.question_id, a.participant_id FROM annotations_answer a WHERE NOT a.superseded"


@pytest.fixture
def on_sqlite(migrated_environment: dict[str, str]) -> dict[str, str]:
    return migrated_environment


@pytest.fixture
def on_postgres(site_environment: dict[str, str], migrated_postgres_url: str) -> dict[str, str]:
    return {**site_environment, "DATABASE_URL": migrated_postgres_url}


def rows_of(environment: dict[str, str]) -> list[tuple[Any, ...]]:
    """Return every answer that is not superseded: the ids of answer, slot, question and participant."""
    if url := environment.get("DATABASE_URL"):
        with psycopg.connect(url) as server:
            return server.execute(ROWS).fetchall()
    with sqlite3.connect(Path(environment["VAR_DIR"]) / "horsesense.sqlite3") as file:
        return file.execute(ROWS).fetchall()


def run(*arguments: Any, environment: dict[str, str]) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.annotations.people", *map(str, arguments)]
    return subprocess.Popen(
        command, env={**environment, "DJANGO_SETTINGS_MODULE": "webapp.settings"}, cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip


def start_together(processes: "list[subprocess.Popen[str]]") -> Iterator[str]:
    """Start all processes at the same moment; yield the lines that they print."""
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        printed, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        yield from printed.splitlines()


@pytest.mark.parametrize("stack", [pytest.param("on_sqlite", marks=pytest.mark.full), "on_postgres"])
def test_each_question_has_exactly_the_wanted_number_of_answers(stack: str, request: pytest.FixtureRequest) -> None:
    environment = request.getfixturevalue(stack)
    questions = proof.size(600, name=f"questions that crowds answered {stack.replace('_', ' ')}")
    study = run("begin", questions, environment=environment).communicate()[0].strip()
    crowd = [run("answer", study, PEOPLE, seed, environment=environment) for seed in range(PROCESSES)]
    acknowledged = list(start_together(crowd))
    rows = rows_of(environment)
    assert not [line for line in acknowledged if line.startswith("AGAIN")]
    assert sorted(map(int, acknowledged)) == sorted(row[0] for row in rows)
    counted = [row for row in rows if row[1] is not None]
    assert Counter(row[2] for row in counted) == dict.fromkeys({row[2] for row in rows}, WANTED)
    assert len({row[2] for row in rows}) == questions
    assert len({row[1] for row in counted}) == len(counted)
    assert len({(row[2], row[3]) for row in rows}) == len(rows)
