"""The command `finding`: its list, its refusals, a run with a record, and a run that is continued."""

import errno
import io
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from generation.making import dataset_jobs
from generation.management import console
from generation.models import Dataset
from generation.storage import files
from tests.leaderboards.findings.made_findings import record_of, small_definition
from webapp.leaderboards.findings import definitions, finding_run, records
from webapp.leaderboards.findings.finding_run import FindingRun, FindingStep, StepFailed
from webapp.leaderboards.management.commands.finding import Command
from webapp.leaderboards.models import Method
from webapp.leaderboards.training import example_folders
from webapp.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def small_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `small` the name of the small finding."""
    monkeypatch.setattr(finding_run, "load", lambda name: small_definition())


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("finding", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_without_a_name_findings_are_listed_with_their_outcomes(own_records: Path) -> None:
    [first, *_] = definitions.names()
    records.write(record_of(first, "mini", definitions.load(first)), folder=own_records)
    out, _ = run()
    assert [line.split()[0] for line in out.splitlines() if not line.startswith(" ")] == definitions.names()
    assert "1 held" not in out and "paper: not recorded" in out and "undecided" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "clevr-diagnosis.*got 'nothing'"),
        (
            ("clevr-diagnosis", "--owner", "nobody"),
            "an account 'nobody', got none: name the account with --owner ACCOUNT",
        ),
        (("clevr-diagnosis",), "one superuser, got none: name the account with --owner ACCOUNT"),
        *((("clevr-diagnosis", "--workers", number), "a number of processes, 1 to 64") for number in ("-3", "0", "65")),
    ],
)
def test_bad_input_is_one_message_and_leaves_nothing(
    arguments: tuple[str, ...], message: str, own_records: Path
) -> None:
    if "nothing" in arguments or "--workers" in arguments:
        User.objects.create_superuser("chief", password="x")
    with pytest.raises(CommandError, match=message) as refusal:
        run(*arguments)
    assert "--workers" in arguments or refusal.value.returncode == 2  # a parser that a program calls has no status
    assert not own_records.exists()


def test_ctrl_c_says_to_repeat_all_options(
    owner: User, small_finding: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(FindingRun, "perform", lambda run, step: signal.raise_signal(signal.SIGINT))
    with pytest.raises(SystemExit) as stopped:
        Command().run_from_argv(["manage.py", "finding", "small", "--owner", "chief", "--workers", "1"])
    assert stopped.value.code == 130
    assert (
        "Stopped. The finished steps are kept. To continue, run the same command with all its options and --resume."
        in (capsys.readouterr().err)
    )


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (StepFailed("Expected a training with scores, got: It broke."), "got: It broke. The finished steps are kept."),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device. The finished steps are kept."),
    ],
)
def test_a_step_that_fails_ends_with_1_and_says_how_to_continue(
    owner: User, small_finding: None, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    def fail(run: FindingRun, step: FindingStep) -> float:
        raise error

    monkeypatch.setattr(FindingRun, "perform", fail)
    with pytest.raises(CommandError) as failed:
        run("small", "--workers", "1")
    assert failed.value.returncode == 1
    assert message in str(failed.value) and str(failed.value).endswith("with all its options and --resume.")


def test_methods_are_checked_before_data_are_made(owner: User, small_finding: None, own_records: Path) -> None:
    Method.objects.create(owner=owner, name="Bag of words", made=Method.Made.ELSEWHERE)
    with pytest.raises(CommandError, match="another method has") as refusal:
        run("small", "--workers", "1")
    assert refusal.value.returncode == 2
    assert not Dataset.objects.exists() and not own_records.exists()


def test_processes_that_wait_for_the_disk_show_the_reason(
    owner: User, small_finding: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Waiting:
        def __init__(self, dataset: Dataset, *, size: int) -> None:
            self.dataset = dataset

        def watch(self, *, show: Callable[[], None]) -> None:
            self.dataset.jobs.update(message="Waiting for disk space.")
            show()
            dataset_jobs.cancel(self.dataset)
            self.dataset.refresh_from_db()

        def stop(self) -> None: ...

    monkeypatch.setattr(console, "Pool", Waiting)
    monkeypatch.setattr(console, "warm_world", lambda world, **_: None)
    with pytest.raises(CommandError, match="small-mini-shapes was cancelled meanwhile") as stopped:
        run("small", "--workers", "2")
    assert stopped.value.returncode == 1
    assert "small-mini-shapes: Waiting for disk space." in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_shows_steps_and_outcomes_and_writes_the_record(
    owner: User, small_finding: None, own_records: Path, settings: Any
) -> None:
    out, err = run("small", "--workers", "1", "--record")
    assert "[1/7] make shapes" in err and "[7/7] score type on shapes/test-part" in err
    assert "epoch" in err and " left" in err
    assert out.count("not tested") == 2 and len(out.splitlines()) == 3
    assert records.read_record(own_records / "small-mini.json") == records.read_record(
        records.FOLDER / "small-mini.json"
    )
    record = records.load_own("small", "mini")
    assert record is not None
    settings.PUBLIC_URL = "https://data.example.org"
    with pytest.raises(CommandError, match="already recorded") as refusal:
        run("small", "--workers", "1")
    assert f"{record.date[:10]} {record.date[11:16]} UTC" in str(refusal.value)
    assert "https://data.example.org/findings/small/?size=mini " in str(refusal.value)
    assert "--resume" in str(refusal.value) and "begun" not in str(refusal.value)
    again, _ = run("small", "--workers", "1", "--resume")
    assert again == out
    second = records.load_own("small", "mini")
    assert second is not None and second.seconds >= record.seconds, "the time of the first run counts"


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_only_with_resume(owner: User, small_finding: None, own_records: Path) -> None:
    begun = FindingRun("small", "mini", owner=owner, definition=small_definition())
    begun.perform(begun.steps[0])
    with pytest.raises(CommandError, match="one that is not complete"):
        run("small", "--workers", "1")
    run("small", "--workers", "1", "--resume")
    record = records.read_record(own_records / "small-mini.json")
    assert record is not None and record.seconds > begun.seconds_of(begun.steps[0])


@pytest.mark.slow
def test_a_full_disk_is_one_message_that_says_how_to_go_on(
    owner: User, small_finding: None, own_records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_folder(*_: Any, **__: Any) -> None:
        raise files.NoSpace(errno.ENOSPC, "expected 2.0 GB under /var, got 1.0")

    monkeypatch.setattr(example_folders, "open_folder", open_folder)
    with pytest.raises(CommandError) as caught:
        run("small", "--workers", "1")
    assert str(caught.value) == (
        "Stopped, because it had to wait for disk space: expected 2.0 GB under /var, got 1.0. The finished steps are "
        "kept. To continue, run the same command with all its options and --resume."
    )
