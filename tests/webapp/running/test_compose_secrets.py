"""docker-compose.yml starts only with passwords of its own, which `make env` writes."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import psycopg
import pytest

from tests.faults.servers import own_postgres, program_of_postgresql
from tests.webapp.commands import ROOT
from tests.webapp.compose import FILE, SECRETS, RequiredVariable, fill_in_variables, read_yaml
from webapp import documentation

PASSWORDS = ("POSTGRES_PASSWORD", "REDIS_PASSWORD")
DOCKER = """#!/bin/sh
# Runs what the page runs inside of containers, with the variables of .env and the server of the test.
. ./.env
echo "$@" >> docker.log
case "$*" in
  "compose exec -T web cat /data/secret_key") echo the-key-of-the-site ;;
  "compose exec -T postgres sh -c "*)
    shift 4
    PATH="{programs}:$PATH" PGHOST=127.0.0.1 PGPORT={port} POSTGRES_PASSWORD="$POSTGRES_PASSWORD" exec "$@" ;;
esac
"""


def make_env(folder: Path) -> "subprocess.CompletedProcess[str]":
    shutil.copy(ROOT / "Makefile", folder)
    # The tests may be started by make, which would then print the folders that it enters.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.run(["make", "env"], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def read_env(folder: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (folder / ".env").read_text().splitlines())


@pytest.mark.parametrize("name", PASSWORDS)
@pytest.mark.parametrize("value", [{}, {"": ""}])
def test_compose_refuses_to_start_without_a_password(name: str, value: dict[str, str]) -> None:
    settings = {key: secret for key, secret in SECRETS.items() if key != name} | dict.fromkeys(value, "")
    with pytest.raises(RequiredVariable, match=f"{name} is missing a value: run make env"):
        fill_in_variables(read_yaml(FILE.read_text()), settings)


def test_compose_has_no_secret_of_its_own() -> None:
    """A default value would be the password of every site whose operator sets none."""
    used = re.findall(r"\$\{(\w*(?:PASSWORD|SECRET|TOKEN|KEY)\w*)([^}]*)\}", FILE.read_text())
    assert {name for name, _ in used} >= {*PASSWORDS, "SECRET_KEY"}
    assert {rest for _, rest in used} <= {":-", ":?run make env"}
    assert {name for name, rest in used if rest == ":-"}.isdisjoint(PASSWORDS)


def test_make_env_writes_random_secrets_that_only_their_owner_can_read(tmp_path: Path) -> None:
    found = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        ended = make_env(folder)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.startswith("Wrote .env with new, random values of: POSTGRES_PASSWORD REDIS_PASSWORD")
        assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
        assert {path.name for path in folder.iterdir()} == {"Makefile", ".env"}  # no draft stays behind
        values = read_env(folder)
        assert not any(value in ended.stdout for value in values.values())
        found.append(values)
        fill_in_variables(read_yaml(FILE.read_text()), values)
    first, second = found
    assert set(first) == {*PASSWORDS, "SECRET_KEY"}
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in first.values())  # also valid in an address
    assert len({*first.values(), *second.values()}) == 6


@pytest.mark.parametrize(
    ("before", "advice"),
    [
        ("PUBLIC_URL=https://horsesense.example.org\n", "It has no POSTGRES_PASSWORD REDIS_PASSWORD SECRET_KEY."),
        ("POSTGRES_PASSWORD=a\nREDIS_PASSWORD=b\nSECRET_KEY=\n", "It has no SECRET_KEY."),
        ("POSTGRES_PASSWORD=a\nREDIS_PASSWORD=b\nSECRET_KEY=c\n", ""),
    ],
)
def test_make_env_leaves_an_existing_file_alone(tmp_path: Path, before: str, advice: str) -> None:
    (tmp_path / ".env").write_text(before)
    ended = make_env(tmp_path)
    assert ended.returncode == 2
    said = ended.stderr.splitlines()[0]
    assert said.startswith("Expected no file .env, found one, which was not changed.") and advice in said
    assert (tmp_path / ".env").read_text() == before
    assert ("/docs/operating/#from-the-default-passwords" in said) == bool(advice)


def test_git_and_the_image_leave_the_secrets_out() -> None:
    ignored = subprocess.run(["git", "check-ignore", ".env"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ignored.stdout == ".env\n"
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    assert rules[0] == "*" and not any(rule.startswith("!.env") for rule in rules)


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "PUBLIC_URL=https://horsesense.example.org\n"])
def test_a_site_with_the_default_passwords_gets_new_ones_by_the_documented_commands(
    tmp_path: Path, before: str
) -> None:
    blocks = re.findall(r"^```console\n(.*?)^```$", documentation.source("operating"), re.MULTILINE | re.DOTALL)
    [block] = [text for text in blocks if "make env" in text]
    shutil.copy(ROOT / "Makefile", tmp_path)
    if before:
        (tmp_path / ".env").write_text(before)
    with own_postgres() as cluster:
        with psycopg.connect(cluster.url, autocommit=True) as server:
            server.execute("CREATE ROLE horsesense SUPERUSER LOGIN PASSWORD 'horsesense'")
            server.execute("CREATE DATABASE horsesense")
        docker = tmp_path / "docker"
        docker.write_text(DOCKER.format(programs=program_of_postgresql("psql").parent, port=cluster.port))
        docker.chmod(0o755)
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        for command in block.splitlines():
            ended = subprocess.run(
                ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert ended.returncode == 0, (command, ended.stderr)
        values = read_env(tmp_path)
        assert values["SECRET_KEY"] == "the-key-of-the-site"
        assert values.get("PUBLIC_URL", "") == before.strip().partition("=")[2]
        cluster.require_passwords()
        address = f"127.0.0.1:{cluster.port}/horsesense"
        psycopg.connect(f"postgres://horsesense:{values['POSTGRES_PASSWORD']}@{address}").close()
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(f"postgres://horsesense:horsesense@{address}")
    assert (tmp_path / "docker.log").read_text().splitlines()[-1] == "compose up --build --detach"
