"""Units of systemd, an example for Kubernetes and a file of logrotate fit the processes, settings and addresses."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.urls import resolve

from tests.skips import Unshared
from tests.webapp.commands import ROOT
from tests.webapp.compose import read_yaml
from webapp import documentation
from webapp.running.processes import NAMES
from webapp.settings import VARIABLES

DEPLOY = ROOT / "webapp" / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("horsesense-*"))
SETTINGS = {variable.name for variable in VARIABLES}


class Unit(configparser.ConfigParser):
    """A strict parser of units: keys are case-sensitive, and a duplicate key in a section is an error."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def read_unit(path: Path) -> Unit:
    parser = Unit(strict=True, interpolation=None)
    parser.read_string(path.read_text())
    return parser


def test_there_is_one_unit_for_each_process() -> None:
    commands = {path.stem.removeprefix("horsesense-"): read_unit(path)["Service"]["ExecStart"] for path in UNITS
                if path.suffix == ".service"}  # fmt: skip
    backup = commands.pop("backup")
    assert set(commands) == set(NAMES)
    assert {name: command.partition("manage.py ")[2] for name, command in commands.items()} == {
        name: f"process {name}" for name in NAMES
    }
    assert backup.endswith("manage.py backup --keep 30")
    assert "upgrade" in read_unit(DEPLOY / "systemd" / "horsesense-web.service")["Service"]["ExecStartPre"]


def test_units_give_processes_enough_time_to_stop(compose_grace: float) -> None:
    for name in ("generation", "default"):
        service = read_unit(DEPLOY / "systemd" / f"horsesense-{name}.service")["Service"]
        assert float(service["TimeoutStopSec"]) >= compose_grace
        assert service["KillMode"] == "mixed"


@pytest.fixture
def compose_grace() -> float:
    """Return the seconds that docker-compose.yml gives a background process to stop."""
    grace = read_yaml((ROOT / "docker-compose.yml").read_text())["services"]["worker"]["stop_grace_period"]
    return float(grace.removesuffix("s"))


@pytest.mark.slow
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        raise Unshared("This machine has no systemd-analyze.")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(shutil.which("true") or "/bin/true")
    for path in UNITS:
        (tmp_path / path.name).write_text(path.read_text().replace("/srv/horsesense", str(tmp_path)))
    found = [str(tmp_path / path.name) for path in UNITS]
    ended = subprocess.run([program, "verify", "--man=no", *found], capture_output=True, text=True, check=False)
    ours = [line for line in ended.stderr.splitlines() if "horsesense" in line]
    assert (ended.returncode, ours) == (0, []), ended.stderr


@pytest.mark.slow
def test_logrotate_accepts_its_file(tmp_path: Path) -> None:
    program = shutil.which("logrotate")
    if program is None:
        raise Unshared("This machine has no logrotate.")
    (tmp_path / "site.log").write_text("x")
    text = (DEPLOY / "logrotate").read_text()
    (tmp_path / "conf").write_text(
        text.replace("/var/log/horsesense", str(tmp_path)).replace("su horsesense horsesense", "su root root")
    )
    (tmp_path / "conf").chmod(0o644)
    command = [program, "--debug", "--state", str(tmp_path / "state"), str(tmp_path / "conf")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0 and "error" not in ended.stderr.lower(), ended.stderr


@pytest.fixture(scope="module")
def cluster() -> list[dict[str, Any]]:
    """Return the objects of the example for Kubernetes."""
    items: list[dict[str, Any]] = read_yaml((DEPLOY / "kubernetes.yaml").read_text())["items"]
    return items


def of_kind(cluster: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [item for item in cluster if item["kind"] == kind]


def containers(cluster: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    specs = [item["spec"]["template"]["spec"] for item in of_kind(cluster, "StatefulSet")]
    return {one["name"]: one for spec in specs for one in [*spec["containers"], *spec.get("initContainers", ())]}


def test_kubernetes_sets_only_documented_variables(cluster: list[dict[str, Any]]) -> None:
    [config] = of_kind(cluster, "ConfigMap")
    secrets = {variable.name for variable in VARIABLES if variable.secret}
    assert set(config["data"]) <= SETTINGS - secrets
    assert "S3_BUCKET" in config["data"]  # pods do not share a disk


def test_kubernetes_names_a_secret_that_the_page_makes(cluster: list[dict[str, Any]], tmp_path: Path) -> None:
    assert of_kind(cluster, "Secret") == []
    blocks = re.findall(r"^```console\n(.*?)^```$", documentation.source("operating"), re.MULTILINE | re.DOTALL)
    [block] = [text for text in blocks if "create secret" in text]
    assert "sudo" not in block  # it is run here
    [name] = re.findall(r"create secret generic (\S+) --from-env-file secrets.env", block)
    for one in containers(cluster).values():
        assert one["envFrom"] == [{"configMapRef": {"name": "horsesense"}}, {"secretRef": {"name": name}}]
    script = "kubectl() { :; }\n" + block  # without a cluster
    subprocess.run(["sh", "-ec", script], cwd=tmp_path, capture_output=True, check=True)
    file = tmp_path / "secrets.env"
    assert file.stat().st_mode & 0o077 == 0
    values = dict(line.split("=", 1) for line in file.read_text().splitlines())
    assert {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"} <= set(values)
    assert set(values) <= {variable.name for variable in VARIABLES if variable.secret}
    assert re.fullmatch("[0-9a-f]{64}", values["SECRET_KEY"])


def test_every_pod_of_kubernetes_keeps_var_dir_on_a_volume_of_its_own(cluster: list[dict[str, Any]]) -> None:
    [config] = of_kind(cluster, "ConfigMap")
    for item in of_kind(cluster, "StatefulSet"):
        pod, [claim] = item["spec"]["template"]["spec"], item["spec"]["volumeClaimTemplates"]
        assert "volumes" not in pod and claim["spec"]["accessModes"] == ["ReadWriteOnce"]
        for one in [*pod["containers"], *pod.get("initContainers", ())]:
            assert one["volumeMounts"] == [{"name": claim["metadata"]["name"], "mountPath": config["data"]["VAR_DIR"]}]


def test_kubernetes_runs_every_process(cluster: list[dict[str, Any]]) -> None:
    found = containers(cluster)
    assert found["upgrade"]["args"] == ["python", "manage.py", "upgrade"]
    names = {name for one in found.values() if "process" in one["args"] for name in one["args"][3:] if name in NAMES}
    assert names == set(NAMES)
    for item in of_kind(cluster, "StatefulSet"):
        labels = item["spec"]["template"]["metadata"]["labels"]
        assert item["spec"]["selector"]["matchLabels"] == labels
    [beat] = [item for item in of_kind(cluster, "StatefulSet") if "beat" in item["metadata"]["name"]]
    assert beat["spec"]["replicas"] == 1


def test_probes_of_kubernetes_use_addresses_that_exist(cluster: list[dict[str, Any]]) -> None:
    web = containers(cluster)["web"]
    asked = {kind: web[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")}
    names = {kind: resolve(probe["path"]).view_name for kind, probe in asked.items()}
    assert names == {"startup": "health_live", "liveness": "health_live", "readiness": "health_ready"}
    ports = {port["name"] for port in web["ports"]}
    assert {probe["port"] for probe in asked.values()} <= ports
    assert all({"name": "Host", "value": "localhost"} in probe["httpHeaders"] for probe in asked.values())
    [service], [ingress] = of_kind(cluster, "Service"), of_kind(cluster, "Ingress")
    assert service["spec"]["ports"][0]["targetPort"] in ports
    [path] = ingress["spec"]["rules"][0]["http"]["paths"]
    assert path["backend"]["service"]["name"] == service["metadata"]["name"]


def test_kubernetes_and_compose_run_as_the_images_user(cluster: list[dict[str, Any]]) -> None:
    assert re.search(r"^USER horsesense$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    for item in of_kind(cluster, "StatefulSet"):
        assert item["spec"]["template"]["spec"]["securityContext"]["runAsUser"] == 1000
