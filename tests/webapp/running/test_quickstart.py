"""`manage.py quickstart` with real processes: it starts, answers, restarts crashed processes, and stops all of them."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

from tests.made_once import made_once
from tests.webapp.commands import ROOT, environment_of, manage
from tests.webapp.running.test_supervise import alive, wait_for
from webapp.running.network_addresses import machine_addresses

pytestmark = pytest.mark.slow

FINGERPRINTS = ROOT / "tests/worlds/clevr/fingerprints.json"
SMALL = ("generate", "clevr-mini", "--scenes", "train=1", "--scenes", "val=0", "--scenes", "test=0", "--no-images")


@dataclass
class Site:
    """A running quickstart, and the lines that it has printed."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if "Ctrl-C stops everything" in line:
                return
        pytest.fail("\n".join(["quickstart ended before it was ready:", *self.lines]))

    def next_line(self, containing: str) -> str:
        assert self.process.stdout is not None
        return next(line for line in self.process.stdout if containing in line)

    @property
    def addresses(self) -> list[str]:
        return [line.strip() for line in self.lines if re.fullmatch(r"  http://\S+/", line) and "/login/" not in line]

    @property
    def login_link(self) -> str:
        return next(line.strip() for line in self.lines if "/login/" in line)

    def has_another(self, name: str, pid: int) -> bool:
        return any(name in command_of(other) for other in self.everyone() - {pid})

    def everyone(self) -> set[int]:
        """Return the process ids of all descendants of this process."""
        parents: dict[int, list[int]] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, parent = int(stat.parent.name), int(stat.read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents.setdefault(parent, []).append(pid)
        found, waiting = set(), [self.process.pid]
        while waiting:
            children = parents.get(waiting.pop(), [])
            found.update(children)
            waiting.extend(children)
        return found


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except FileNotFoundError:
        return ""


@pytest.fixture(scope="session")
def small_site(migrated_site: Path) -> Path:
    """Return a VAR_DIR with one tiny dataset, to be copied."""

    def make(folder: Path) -> None:
        shutil.copytree(migrated_site, folder)
        ended = manage(*SMALL, environment=environment_of(folder), seconds=300)
        assert ended.returncode == 0, ended.stderr

    return made_once("small-site", make)


@contextmanager
def starting(environment: dict[str, str]) -> Iterator[Callable[..., Site]]:
    """Give a function that starts quickstart; all started processes are stopped afterwards."""
    sites: list[Site] = []

    def run(*arguments: str) -> Site:
        command = [sys.executable, str(ROOT / "manage.py"), "quickstart", *(arguments or ("--port", "0"))]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
        )
        sites.append(Site(process))
        return sites[-1]

    yield run
    for site in sites:
        if site.process.poll() is None:
            site.process.terminate()
            try:
                site.process.wait(30)
            except subprocess.TimeoutExpired:
                site.process.kill()


@pytest.fixture
def start(site_environment: dict[str, str]) -> Iterator[Callable[..., Site]]:
    """Give a function that starts quickstart in a folder that only this test uses."""
    with starting(site_environment) as run:
        yield run


@pytest.fixture(scope="module")  # not for the session, because an idle site takes processor time
def unharmed(small_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, dict[str, str]]]:
    """Give a ready site and its environment, for tests that do not stop or change it."""
    folder = tmp_path_factory.mktemp("unharmed") / "var"
    shutil.copytree(small_site, folder)
    with starting(environment_of(folder)) as run:
        running = run()
        running.wait_until_ready()
        yield running, environment_of(folder)


@pytest.fixture
def site(start: Callable[..., Site], small_site: Path, site_environment: dict[str, str]) -> Site:
    """Return a ready site that the test may stop."""
    shutil.copytree(small_site, site_environment["VAR_DIR"])
    running = start()
    running.wait_until_ready()
    return running


def fetch(address: str, **options: object) -> tuple[int, str]:
    request = urllib.request.Request(address, **options)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.full
def test_a_first_start_makes_a_site_with_a_demo_dataset(
    start: Callable[..., Site], site_environment: dict[str, str]
) -> None:
    assert not Path(site_environment["VAR_DIR"]).exists()
    site = start()
    site.wait_until_ready()
    assert site.addresses
    assert site.login_link.startswith(site.addresses[0])
    assert fetch(f"{site.addresses[0]}health/")[0] == 200
    assert "/datasets/clevr-mini/" in fetch(site.addresses[0])[1]
    listed = json.loads(manage("datasets", "--json", environment=site_environment).stdout)
    assert [(row["slug"], row["state"]) for row in listed] == [("clevr-mini", "complete")]
    assert listed[0]["fingerprint"] == json.loads(FINGERPRINTS.read_text())["datasets"]["demo"][""]
    database = Path(site_environment["VAR_DIR"], "horsesense.sqlite3")
    first = database.stat().st_ino

    site.process.send_signal(signal.SIGINT)
    assert site.process.wait(30) == 0
    again = start()
    again.wait_until_ready()
    assert database.stat().st_ino == first
    assert not any("demo" in line for line in again.lines)


@pytest.mark.full
def test_stopping_leaves_no_process_behind(site: Site) -> None:
    wait_for(lambda: len(site.everyone()) >= 7)  # three processes, and children of each
    everyone = site.everyone()
    site.process.terminate()
    assert site.process.wait(30) == 0
    wait_for(lambda: not any(map(alive, everyone)))


@pytest.mark.full
def test_killing_quickstart_leaves_no_process_behind(site: Site) -> None:
    everyone = site.everyone()
    site.process.kill()
    site.process.wait(10)
    wait_for(lambda: not any(map(alive, everyone)), seconds=30)


@pytest.mark.full
def test_each_crashed_process_is_restarted(site: Site) -> None:
    for name in ("running.web", "worker generation", "worker default"):
        main = min(pid for pid in site.everyone() if name in command_of(pid))
        os.kill(main, signal.SIGKILL)
        assert "ended unexpectedly (signal 9)" in site.next_line("ended unexpectedly")
        wait_for(partial(site.has_another, name, main))
    assert fetch(f"{site.addresses[0]}health/")[0] == 200


def test_generation_has_a_lower_priority_than_other_processes(unharmed: tuple[Site, dict[str, str]]) -> None:
    site, _ = unharmed
    nice = {
        name: os.getpriority(os.PRIO_PROCESS, next(pid for pid in site.everyone() if name in command_of(pid)))
        for name in ("worker generation", "worker default", "running.web")
    }
    assert nice["worker generation"] == nice["worker default"] + 10 == nice["running.web"] + 10


def test_the_login_link_signs_in_the_admin_once(unharmed: tuple[Site, dict[str, str]]) -> None:
    site, _ = unharmed
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    page = browser.open(site.login_link).read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert token is not None
    form = f"csrfmiddlewaretoken={token[1]}".encode()
    origin = {"Origin": site.addresses[0].rstrip("/")}
    home = browser.open(urllib.request.Request(site.login_link, data=form, headers=origin)).read().decode()
    assert "Sign out" in home
    assert "Admin" in home
    assert browser.open(f"{site.addresses[0]}admin/").status == 200
    assert fetch(site.login_link)[0] == 410


def test_background_processes_send_heartbeats(unharmed: tuple[Site, dict[str, str]]) -> None:
    site, _ = unharmed
    wait_for(lambda: '"background_processes": 2' in fetch(f"{site.addresses[0]}health/")[1], seconds=30)


@pytest.mark.full
def test_a_second_quickstart_in_the_same_folder_is_refused(unharmed: tuple[Site, dict[str, str]]) -> None:
    site, environment = unharmed
    ended = manage("quickstart", "--port", "0", environment=environment)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert f"but process {site.process.pid} runs there already" in ended.stderr


@pytest.mark.full
def test_every_address_of_the_machine_is_printed_and_answers(
    start: Callable[..., Site], small_site: Path, site_environment: dict[str, str]
) -> None:
    shutil.copytree(small_site, site_environment["VAR_DIR"])
    site = start("--host", "0.0.0.0", "--port", "0")
    site.wait_until_ready()
    for address in machine_addresses():
        if ":" not in address:  # 0.0.0.0 is only IPv4
            assert any(f"//{address}:" in printed for printed in site.addresses)
    for address in site.addresses:
        assert fetch(address)[0] == 200
    port = site.addresses[0].rstrip("/").rpartition(":")[2]
    assert fetch(f"http://127.0.0.1:{port}/", headers={"Host": "evil.example.org"})[0] == 400


def test_a_taken_port_is_one_line(migrated_environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = manage("quickstart", "--port", str(port), environment=migrated_environment)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert f"{port} on 127.0.0.1 is taken" in ended.stderr


@pytest.mark.full
def test_a_bad_host_is_one_line(site_environment: dict[str, str]) -> None:
    ended = manage("quickstart", "--host", "192.0.2.1", environment=site_environment)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "--host: expected an address of this machine" in ended.stderr


@pytest.mark.full
def test_the_web_process_runs_without_the_others(small_site: Path, site_environment: dict[str, str]) -> None:
    shutil.copytree(small_site, site_environment["VAR_DIR"])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(ROOT / "manage.py"), "process", "web", "--bind", f"127.0.0.1:{port}"]
    web = subprocess.Popen(command, env=site_environment, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:

        def answers() -> bool:
            try:
                return fetch(f"http://127.0.0.1:{port}/health/")[0] == 200
            except OSError:
                return False

        wait_for(answers, seconds=30)
    finally:
        web.terminate()
    assert web.wait(20) == 0


@pytest.mark.full
def test_two_processes_stop_together(small_site: Path, site_environment: dict[str, str]) -> None:
    shutil.copytree(small_site, site_environment["VAR_DIR"])
    command = [sys.executable, str(ROOT / "manage.py"), "process", "default", "beat"]
    site = Site(subprocess.Popen(command, env=site_environment, cwd=ROOT, stderr=subprocess.DEVNULL, text=True))
    wait_for(lambda: sum("webapp" in command_of(pid) for pid in site.everyone()) >= 3, seconds=30)
    everyone = site.everyone()
    site.process.terminate()
    assert site.process.wait(30) == 0
    wait_for(lambda: not any(map(alive, everyone)))
