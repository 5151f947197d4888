"""Child processes are restarted after a crash, and stopped together with their own children."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.webapp.commands import ROOT
from webapp.running.supervise import LARGEST_LOG, SupervisedProcess, Supervisor, cut, pause_after, set_aside

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
# A process that starts a child and writes both process ids into a file.
FAMILY = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({path!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
time.sleep(600)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
time.sleep(600)
"""


def alive(pid: int) -> bool:
    """Return whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], object], *, seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervise(tmp_path: Path, said: list[str]) -> Iterator[Callable[..., Supervisor]]:
    """Give a function that starts one child with a supervisor, which stops it afterwards."""
    started: list[Supervisor] = []

    def start(command: list[str], *, grace: float = 20, **options: object) -> Supervisor:
        child = SupervisedProcess(
            name="worker", command=command, log=tmp_path / "log" / "worker.log", folder=tmp_path, **options
        )
        supervisor = Supervisor([child], say=said.append, grace=grace)
        started.append(supervisor)
        supervisor.start()
        return supervisor

    yield start
    for supervisor in started:
        supervisor.stop()


def test_a_crashed_child_is_restarted_and_the_reason_is_printed(
    supervise: Callable[..., Supervisor], said: list[str], tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    starts.touch()
    code = f"open({str(starts)!r}, 'a').write('x'); print('no luck'); exit(3)"
    supervisor = supervise([sys.executable, "-c", code])
    deadline = time.monotonic() + 15
    supervisor.watch(until=lambda: len(starts.read_text()) >= 2 or time.monotonic() > deadline)
    assert starts.read_text().startswith("xx")
    assert said[0].startswith("worker ended unexpectedly (status 3) and starts again in 1 s.")
    assert "no luck" in said[0]


def test_the_pause_between_starts_doubles_up_to_half_a_minute() -> None:
    assert [pause_after(crashes) for crashes in (1, 2, 3, 4, 5, 6, 7, 1000)] == [1, 2, 4, 8, 16, 30, 30, 30]


def test_stopping_also_stops_the_grandchildren(supervise: Callable[..., Supervisor], tmp_path: Path) -> None:
    path = tmp_path / "pids"
    supervisor = supervise([sys.executable, "-c", FAMILY.format(path=str(path))])
    wait_for(lambda: path.exists() and path.read_text())
    pids = [int(pid) for pid in path.read_text().split()]
    assert all(map(alive, pids))
    supervisor.stop()
    wait_for(lambda: not any(map(alive, pids)))


def test_a_crash_of_a_child_also_stops_the_grandchildren(supervise: Callable[..., Supervisor], tmp_path: Path) -> None:
    path = tmp_path / "pids"
    supervisor = supervise([sys.executable, "-c", FAMILY.format(path=str(path))])
    wait_for(lambda: path.exists() and path.read_text())
    parent, grandchild = (int(pid) for pid in path.read_text().split())
    os.kill(parent, signal.SIGKILL)
    deadline = time.monotonic() + 15
    supervisor.watch(until=lambda: not alive(grandchild) or time.monotonic() > deadline)
    assert not alive(grandchild)


def test_a_child_that_will_not_stop_is_killed(
    supervise: Callable[..., Supervisor], said: list[str], tmp_path: Path
) -> None:
    supervisor = supervise([sys.executable, "-c", STUBBORN], grace=0.5)
    wait_for((tmp_path / "log" / "worker.log").read_text)
    supervisor.stop()
    assert said == ["worker took more than 0 s to stop and was killed"]


def test_a_child_gets_the_given_niceness(supervise: Callable[..., Supervisor]) -> None:
    supervisor = supervise(SLEEP, nice=7)
    process = supervisor.children[0].process
    assert process is not None
    wait_for(lambda: os.getpriority(os.PRIO_PROCESS, process.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 7)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children that their parent died")
def test_children_do_not_outlive_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from webapp.running.supervise import SupervisedProcess, Supervisor\n"
        f"child = SupervisedProcess(name='c', command={SLEEP!r}, folder=pathlib.Path({str(tmp_path)!r}))\n"
        "s = Supervisor([child], say=print, grace=10); s.start(); print(child.process.pid, flush=True); s.watch()"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        pid = int(supervisor.stdout.readline())
        assert alive(pid)
        supervisor.kill()
    wait_for(lambda: not alive(pid))


def test_a_large_log_is_renamed_at_the_start(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * (LARGEST_LOG + 1))
    set_aside(log)
    assert not log.exists()
    assert (tmp_path / "web.old.log").exists()
    log.write_text("short")
    set_aside(log)
    assert log.read_text() == "short"


def test_a_log_that_grows_during_a_run_is_truncated_and_continued(
    supervise: Callable[..., Supervisor], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webapp.running.supervise.LARGEST_LOG", 100_000)
    talk = (
        "import itertools, os, time\n"
        "for number in itertools.count(): os.write(1, b'%d %s\\n' % (number, b'x' * 90)); time.sleep(1e-4)"
    )
    supervisor = supervise([sys.executable, "-c", talk])
    log, old = tmp_path / "log" / "worker.log", tmp_path / "log" / "worker.old.log"
    cuts = 0
    end = time.monotonic() + 30
    while cuts < 2:
        assert time.monotonic() < end
        size = log.stat().st_size
        cut(log)
        cuts += log.stat().st_size < size
        time.sleep(0.02)
    supervisor.stop()
    assert old.stat().st_size < 1_000_000 and log.stat().st_size < 1_000_000
    assert b"\0" not in log.read_bytes() and log.read_bytes()[:1].isdigit()
