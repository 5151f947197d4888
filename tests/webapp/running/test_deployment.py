"""The files that ship with the code are consistent: docker-compose.yml, Dockerfile, lock files, Makefile, manage.py."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.skips import Unshared
from tests.webapp.commands import ROOT
from tests.webapp.compose import FILE, HOSTS_FILE, SECRETS, fill_in_variables, read_yaml
from webapp import documentation
from webapp.running.processes import NAMES
from webapp.settings import VARIABLES

BLENDERS = "requirements-blender.txt"
LOCKS = ("requirements.txt", "requirements-dev.txt", BLENDERS)
# Variables that need no value in a container, with the reason.
NOT_IN_COMPOSE = {
    "NUMBA_CACHE_DIR": "the image has it, filled",
    "REDIS_PREFIX": "this Redis is the site's own",
    "DEBUG": "never on a site that others can reach",
    "HSTS_SECONDS": "the default is right behind its proxy",
}


DEFAULT = re.compile(r"\{\$(\w+):([^}]*)\}")  # in the Caddyfile: a variable and its default


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    parsed: dict[str, Any] = read_yaml(FILE.read_text())
    return parsed


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"A key stands twice among {names}."
    return dict(pairs)


READERS: dict[str, Callable[[str], Any]] = {
    ".yml": read_yaml,
    ".yaml": read_yaml,
    ".json": lambda text: json.loads(text, object_pairs_hook=refuse_duplicates),
    ".toml": tomllib.loads,
}


def test_no_configuration_file_has_a_duplicate_key() -> None:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    paths = [ROOT / name for name in names if Path(name).suffix in READERS]
    assert FILE in paths
    for path in paths:
        assert READERS[path.suffix](path.read_text()), path


@pytest.mark.parametrize(
    ("suffix", "text"), [(".yml", "web:\n  a: 1\nproxy: {}\nweb: {}\n"), (".json", '{"a": {"b": 1, "b": 2}}')]
)
def test_a_duplicate_key_is_refused(suffix: str, text: str) -> None:
    with pytest.raises((yaml.constructor.ConstructorError, AssertionError), match="twice"):
        READERS[suffix](text)


@pytest.mark.parametrize("with_hosts", [False, True])
def test_docker_compose_accepts_the_files(with_hosts: bool) -> None:
    command = compose_command()
    if command is None:
        raise Unshared("This machine has no Docker Compose.")
    files = ["--file", str(FILE), *(["--file", str(HOSTS_FILE)] if with_hosts else [])]
    settings = {**SECRETS, "PRIVATE_ADDRESS": "10.0.0.1", "MEDIA_FOLDER": "/srv/horsesense/media"}
    asked = [*command, *files, "config", "--quiet"]
    ended = subprocess.run(asked, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def compose_command() -> list[str] | None:
    """Return the command of Docker Compose on this machine, as a part of Docker's client or separate, or None."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) is not None:
            asked = subprocess.run([*command, "version"], capture_output=True, check=False)
            if asked.returncode == 0:
                return command
    return None


def test_compose_has_the_six_services(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {"proxy", "web", "worker", "beat", "redis", "postgres"}


def test_composes_variables_are_the_documented_ones(compose: dict[str, Any]) -> None:
    documented = {variable.name for variable in VARIABLES}
    assert set(compose["x-site"]["environment"]) == documented - set(NOT_IN_COMPOSE)


@pytest.mark.parametrize("file", [FILE, HOSTS_FILE], ids=lambda file: file.name)
def test_variables_that_users_of_compose_set_are_documented(file: Path) -> None:
    used = set(re.findall(r"\$\{(\w+)", file.read_text()))
    pages = documentation.source("running") + documentation.source("training")
    named = set(re.findall(r"`([A-Z][A-Z_0-9]+)\b", pages))
    assert used <= {variable.name for variable in VARIABLES} | named


@pytest.mark.parametrize("service", ["web", "worker", "beat"])
def test_composes_services_run_processes_that_exist(compose: dict[str, Any], service: str) -> None:
    command = compose["services"][service]["command"]
    names = re.search(r"manage\.py process ([a-z ]+)", command)
    assert names is not None
    assert set(names[1].split()) <= set(NAMES)


def test_compose_runs_every_process(compose: dict[str, Any]) -> None:
    commands = "\n".join(str(service.get("command")) for service in compose["services"].values())
    found = re.findall(r"manage\.py process ([a-z ]+)", commands)
    assert sorted(" ".join(found).split()) == sorted(NAMES)


def test_every_volume_and_service_named_in_compose_exists(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for service in services.values():
        for entry in service.get("volumes", ()):
            source = entry.partition(":")[0]
            assert source in compose["volumes"] or (ROOT / source).is_file(), entry
        waits = service.get("depends_on", {})
        assert set(waits) <= set(services)
        healthy = [name for name in waits if waits[name]["condition"] == "service_healthy"]
        assert all("healthcheck" in services[name] for name in healthy)
    used = {entry.partition(":")[0] for service in services.values() for entry in service.get("volumes", ())}
    assert set(compose["volumes"]) <= used


def test_every_value_in_composes_environments_is_text(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert all(isinstance(value, str) for value in service.get("environment", {}).values())


def test_only_the_proxy_publishes_ports(compose: dict[str, Any]) -> None:
    assert [name for name, service in compose["services"].items() if "ports" in service] == ["proxy"]


def test_redis_loses_no_message(compose: dict[str, Any]) -> None:
    command = compose["services"]["redis"]["command"]
    assert command.split()[:5] == ["redis-server", "--maxmemory-policy", "noeviction", "--appendonly", "yes"]


def test_redis_asks_for_the_password_that_the_site_has(compose: dict[str, Any]) -> None:
    password = "${REDIS_PASSWORD:?run make env}"
    redis = compose["services"]["redis"]
    assert redis["command"].endswith(f" --requirepass {password}")
    assert redis["environment"] == {"REDISCLI_AUTH": password}
    assert compose["x-site"]["environment"]["REDIS_URL"] == f"redis://:{password}@redis:6379"


def test_the_image_has_compiled_code_and_no_secret(compose: dict[str, Any]) -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    [warm] = [number for number, line in enumerate(lines) if "manage.py warm" in line]
    user, ready = lines.index("USER horsesense"), lines.index("ENV VAR_DIR=/data MEDIA_ROOT=/media")
    assert user < warm < ready
    assert lines[warm] == "RUN VAR_DIR=/tmp/warm python manage.py warm && rm -r /tmp/warm"
    assert "ENV NUMBA_CACHE_DIR=/home/horsesense/numba" in lines[user:warm]


def test_the_health_check_waits_longer_than_a_cold_start_takes(compose: dict[str, Any]) -> None:
    check = compose["services"]["web"]["healthcheck"]
    assert (
        int(check["start_period"].removesuffix("s")) >= 5 * 96
    )  # 96 seconds are a start without compiled code on a quiet machine


def test_proxy_and_site_agree(compose: dict[str, Any]) -> None:
    proxy, site = compose["services"]["proxy"], compose["services"]["web"]
    caddyfile = (ROOT / "webapp/Caddyfile").read_text()
    read = {name for name, _ in DEFAULT.findall(caddyfile)}
    assert set(proxy["environment"]) == read
    for name in read:
        assert proxy["environment"][name] == site["environment"][name]
    assert site["environment"]["PROXY_SENDS_FILES"] == "yes"
    media = site["environment"]["MEDIA_ROOT"]
    assert f"media:{media}" in site["volumes"] and f"media:{media}:ro" in proxy["volumes"]
    assert f"root * {media}\n" in caddyfile
    assert f"reverse_proxy web:{site['command'].rpartition(':')[2].strip(chr(34))} " in caddyfile


def test_the_proxys_limit_without_a_setting_is_the_sites(compose: dict[str, Any]) -> None:
    default = next(variable.default for variable in VARIABLES if variable.name == "UPLOAD_MB")
    limits = {value for name, value in DEFAULT.findall((ROOT / "webapp/Caddyfile").read_text()) if name == "UPLOAD_MB"}
    assert limits == {str(default)}
    assert compose["services"]["proxy"]["environment"]["UPLOAD_MB"] == f"${{UPLOAD_MB:-{default}}}"


def test_the_image_stores_data_in_the_folders_that_compose_mounts(compose: dict[str, Any]) -> None:
    made = re.search(r"install -d \S+ \S+ -m 700 (.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert made is not None
    assert set(made[1].split()) == {entry.partition(":")[2] for entry in compose["x-site"]["volumes"]}


def test_the_image_contains_only_the_files_that_the_site_needs() -> None:
    copied = set(re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE))
    names = {name for line in copied for name in line.split()}
    allowed = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    assert names == allowed
    for name in names:
        assert (ROOT / name).exists()


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_the_lock_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text()
    entries = re.split(r"\n(?=[a-z0-9])", "\n".join(line for line in text.splitlines() if line[:1] != "#"))
    entries = [entry for entry in entries if entry.strip()]
    assert len(entries) > (5 if name == BLENDERS else 30)
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+(\[[a-z0-9,-]+\])?==[^ ]+ ", entry), entry.splitlines()[0]
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_names_no_address_to_download_from(name: str) -> None:
    lines = [line for line in (ROOT / name).read_text().splitlines() if line[:1] != "#"]
    assert not [line for line in lines if re.match(r"\s*(-i|-f|--index|--extra-index|--find-links|--trusted)", line)]
    assert "://" not in "\n".join(lines)


@pytest.mark.parametrize("name", LOCKS)
def test_the_command_that_makes_the_lock_is_the_documented_one(name: str) -> None:
    made_by = re.search(r"^#    (pip-compile .+)$", (ROOT / name).read_text(), re.MULTILINE)
    assert made_by is not None
    text = re.sub(r" *\\\n *", " ", (ROOT / "CONTRIBUTING.md").read_text())
    assert made_by[1] in [line.rpartition(" | ")[2] for line in text.splitlines()]


def pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[[^]]+\])?==(\S+)", (ROOT / name).read_text(), re.MULTILINE))


def test_tests_run_with_the_packages_that_the_site_runs_with() -> None:
    run, dev = pins("requirements.txt"), pins("requirements-dev.txt")
    assert {name: dev.get(name) for name in run} == run


def test_packages_that_another_one_wants_with_an_extra_are_pinned_with_it() -> None:
    """With hashes, pip refuses a pin without the extra as soon as a newer version is published."""
    assert re.search(r"^coverage\[toml\]==", (ROOT / "requirements-dev.txt").read_text(), re.MULTILINE)


def test_the_lock_has_every_package_that_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[\[<>=;]", requirement)[0] for requirement in requirements}

    assert names(project["dependencies"] + extras["s3"]) <= set(pins("requirements.txt"))
    assert names(extras["dev"]) <= set(pins("requirements-dev.txt"))


def test_blender_is_only_in_its_own_lock() -> None:
    assert pins(BLENDERS)["bpy"] == "5.0.1"
    assert pins(BLENDERS)["numpy"].startswith("1.")
    assert not [name for name in LOCKS if name != BLENDERS and "bpy" in pins(name)]


# make


def make(*arguments: str, folder: Path = ROOT, **more: str) -> "subprocess.CompletedProcess[str]":
    path = {"PATH": "/usr/bin:/bin", **more}
    return subprocess.run(["make", *arguments], cwd=folder, env=path, capture_output=True, text=True, check=False)


def test_make_without_a_target_lists_the_targets() -> None:
    listed = make().stdout
    for target in ("run", "test", "test-quick", "prove", "blender"):
        assert f"make {target} " in listed


def test_make_names_the_supported_versions_of_python(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements.txt").touch()
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    ended = make(".venv", f"PYTHON={old}", folder=tmp_path)
    assert ended.returncode == 2
    assert f"Expected Python 3.11, 3.12 or 3.13 with venv, found none among: {old}." in ended.stderr
    assert not (tmp_path / ".venv").exists()


def test_make_blender_names_the_supported_version_of_python(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / BLENDERS).touch()
    other = tmp_path / "python3.12"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    ended = make("blender", f"PYTHON={other}", folder=tmp_path)
    assert ended.returncode == 2
    assert f"Expected Python 3.11 with venv, found none among: {other}." in ended.stderr
    assert not (tmp_path / ".venv-blender").exists()


def test_make_blender_builds_an_environment_once(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / BLENDERS).touch()
    python, log = tmp_path / "python3.11", tmp_path / "log"
    python.write_text(
        f'#!/bin/sh\necho "$@" >> {log}\nif [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi\n'
    )
    python.chmod(0o755)
    for _ in range(2):
        assert make("blender", f"PYTHON={python}", folder=tmp_path).returncode == 0
    did = log.read_text()
    assert did.count("-m venv .venv-blender") == 1
    assert did.count("--require-hashes -r requirements-blender.txt") == 1
    assert did.count("import bpy") == 1


def test_managepy_names_the_supported_versions_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    import manage

    assert manage.unsupported((3, 9)) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("Expected Python 3.11, 3.12 or 3.13, got 3.9 (")


@pytest.mark.parametrize("version", [(2, 7), (3, 10), (3, 14)])
def test_managepy_under_an_unsupported_python_is_one_line(version: tuple[int, int]) -> None:
    pretend = f"import runpy, sys; sys.version_info = {(*version, 0)}; runpy.run_path('manage.py', run_name='__main__')"
    command = [sys.executable, "-c", pretend, "quickstart"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert f"got {version[0]}.{version[1]} (" in ended.stderr


def test_managepy_can_be_read_by_old_pythons() -> None:
    compile((ROOT / "manage.py").read_text(), "manage.py", "exec", dont_inherit=True)
    text = (ROOT / "manage.py").read_text()
    assert "->" not in text
    assert 'f"' not in text
    assert "print(" not in text


@pytest.mark.parametrize("service", ["web", "worker", "beat"])
def test_containers_have_more_time_to_stop_than_their_processes(compose: dict[str, Any], service: str) -> None:
    services = fill_in_variables(compose, SECRETS)["services"]
    grace = services[service]["stop_grace_period"]
    assert grace.endswith("s") and int(grace[:-1]) > int(services[service]["environment"]["STOP_SECONDS"])
    [default] = [variable.default for variable in VARIABLES if variable.name == "STOP_SECONDS"]
    assert int(services[service]["environment"]["STOP_SECONDS"]) == default


def test_the_number_of_processes_of_a_worker_container_does_not_depend_on_processors(compose: dict[str, Any]) -> None:
    assert fill_in_variables(compose, SECRETS)["services"]["worker"]["environment"]["GENERATION_PROCESSES"] == "2"
