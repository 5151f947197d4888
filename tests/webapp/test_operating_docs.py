"""The page for operators: the commands, addresses, metrics, files and blocks that it names exist."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import resolve

from tests.services import missing
from tests.webapp.commands import ROOT, show_settings
from tests.webapp.compose import FILE, read_yaml
from webapp import documentation
from webapp.monitoring import metrics

PAGE = documentation.source("operating")
BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [found["body"] for found in BLOCK.finditer(PAGE) if found["kind"] == kind]


@pytest.mark.parametrize("name", ["operating", "running", "backups"])
def test_every_command_of_managepy_has_valid_arguments(name: str) -> None:
    lines = documentation.source(name).replace("\\\n", " ").splitlines()
    found = [line.partition("manage.py ")[2].strip("`.;,").split("`")[0] for line in lines if "manage.py " in line]
    assert len(found) >= 4
    for words in found:
        command, *arguments = words.split()
        if command not in get_commands():
            continue  # a sentence, such as "the folder of manage.py"
        program: Any = load_command_class(get_commands()[command], command)
        program.create_parser("manage.py", command).parse_args(arguments)


def test_services_in_commands_of_docker_compose_exist() -> None:
    services = set(read_yaml(FILE.read_text())["services"])
    named = re.findall(r"docker compose (?:exec|run --rm --env \S+|logs) (\w+)", PAGE)
    named += re.search(r"docker compose stop ([\w ]+)$", PAGE, re.MULTILINE)[1].split()  # type: ignore[index]
    assert len(named) >= 6 and set(named) <= services


def test_named_addresses_exist() -> None:
    named = set(re.findall(r"`(/(?:health|metrics)[\w/]*)`", PAGE))
    assert {resolve(path).view_name for path in named} == {
        "health", "health_ready", "health_live", "health_web", "metrics",
    }  # fmt: skip


@pytest.mark.django_db
def test_named_metrics_are_the_existing_ones() -> None:
    named = set(re.findall(r"`(horsesense_\w+)`", PAGE)) - {"horsesense_database_connections"}
    there = {family.name for family in metrics.families()} | {"horsesense_request_seconds"}
    assert named == there - {"horsesense_database_connections", "horsesense_database_connections_most"}


def test_named_files_exist() -> None:
    named = set(re.findall(r"webapp/deploy/(?:\w+\.\w+|\w+)", PAGE))
    assert len(named) >= 3 and all((ROOT / name).exists() for name in named)
    units = set(re.findall(r"horsesense-(?:web|generation|default|beat|backup\.timer)\b", PAGE))
    folder = Path(ROOT, "webapp", "deploy", "systemd")
    assert len(units) == 5
    assert all((folder / (unit if "." in unit else f"{unit}.service")).exists() for unit in units)


def test_prometheus_block_is_strict_yaml() -> None:
    [block] = blocks("yaml")
    [job] = read_yaml(block)["scrape_configs"]
    assert job["job_name"] == "horsesense" and set(job) == {"job_name", "authorization", "static_configs"}


def test_caddy_accepts_the_configuration_of_the_balancer(tmp_path: Path) -> None:
    [block] = [body for body in blocks("console") if "reverse_proxy" in body]
    program = shutil.which("caddy")
    if program is None:
        missing("caddy", "apt install caddy")
    (tmp_path / "Caddyfile").write_text(block)
    command = [program, "adapt", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert resolve(re.search(r"health_uri (\S+)", block)[1]).view_name == "health_ready"  # type: ignore[index]


@pytest.mark.slow
def test_the_site_accepts_the_addresses_with_certificates(site_environment: dict[str, str]) -> None:
    [block] = [body for body in blocks("console") if body.startswith("DATABASE_URL=")]
    given = dict(line.split("=", 1) for line in block.splitlines())
    expression = "s.DATABASES['default']['OPTIONS'], s.REDIS_URL"
    ended = show_settings(expression, environment=site_environment | given)
    assert "'sslmode': 'verify-full'" in ended.stdout and "ssl_ca_certs=" in ended.stdout, ended.stderr
