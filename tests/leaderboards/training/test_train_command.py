"""`manage.py train`: training on the command line, as operators do it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from generation.engine.learners import NETWORKS
from generation.models import Split
from tests.leaderboards.training import toys
from tests.webapp.commands import ROOT, environment_of, manage
from webapp.leaderboards import stored_predictions
from webapp.leaderboards.models import Method, Submission, Training
from webapp.leaderboards.training import process, training_jobs
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

ORDER = ("--on", "scored/train", "--val", "scored/val", "--test", "scored/val", "--size", "mini", "--owner", "mira")


def refused(*arguments: str) -> CommandError:
    """Return the error of a refused command, which leaves nothing."""
    with pytest.raises(CommandError) as caught:
        call_command("train", *arguments)
    assert not Training.objects.exists() and not Submission.objects.filter(method__owner__isnull=False).exists()
    return caught.value


def test_a_method_is_trained_and_its_accuracy_and_board_are_printed(
    val: Split, member: User, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("train", toys.NAME, *ORDER, "--seed", "3")
    said = capsys.readouterr()
    [made] = Training.objects.all()
    [score] = Submission.objects.get(training=made).scores.all()
    assert f"scored/val: {val.questions} questions" in said.out
    assert f"accuracy  {100 * score.right / score.n:.1f} %" in said.out
    assert "/leaderboards/scored/val/" in said.out and made.get_absolute_url() in said.out
    assert "epoch 1 of at most 3" in said.err
    assert (made.seed, made.state) == (3, Training.State.DONE)


def test_the_results_are_printed_as_json(val: Split, member: User, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("train", "nearest-question", *ORDER, "--name", "Words alone", "--json")
    document = json.loads(capsys.readouterr().out)
    made = Training.objects.get(pk=document["training"])
    assert document["method"] == Method.objects.get(owner=member).name == "Words alone"
    [row] = document["scores"]
    [score] = Submission.objects.get(pk=row["submission"]).scores.all()
    assert (row["split"], row["n"], row["accuracy"]) == ("scored/val", val.questions, score.right / score.n)
    assert document["examples_seen"] == made.examples_seen == made.train.questions


def test_a_training_that_was_stopped_is_resumed_once(
    val: Split, member: User, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("train", toys.NAME, *ORDER)
    before = capsys.readouterr().out
    call_command("train", toys.NAME, *ORDER, "--resume")
    assert capsys.readouterr().out == before
    assert Training.objects.count() == 1
    call_command("train", toys.NAME, *ORDER, "--resume", "--seed", "4")
    assert "a new one starts" in capsys.readouterr().err
    assert Training.objects.count() == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "settings as JSON"),
        ("[1]", "JSON object"),
        ('{"epoch": 3}', "toy: epoch"),
        ('{"epochs": "x"}', "toy: epochs"),
        ("[" * 60_000, "settings as JSON"),
        ("\xff", "settings as JSON"),
    ],
)
def test_bad_settings_are_one_message(val: Split, member: User, tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content.encode("latin-1"))
    error = refused(toys.NAME, *ORDER, "--config", str(path))
    assert words in str(error) and error.returncode == 2


def test_a_training_that_needs_too_much_memory_is_refused_before_it_starts(
    val: Split, member: User, settings: Any
) -> None:
    settings.TRAINING_MEMORY_GB = 0.1
    error = refused("nearest-question", *ORDER)
    assert "at most 0.1 GB of memory (TRAINING_MEMORY_GB), got one that needs about 0.2 GB. Take a smaller" in str(
        error
    )
    assert error.returncode == 2 and not training_jobs.home().exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing", *ORDER), "Expected one of"),
        ((toys.NAME, *ORDER, "--config", "/nowhere.json"), "/nowhere.json"),
        ((toys.NAME, *ORDER, "--test", "scored/nothing"), "Expected a split"),
        ((toys.NAME, *ORDER, "--test", "nothing/val"), "Expected a dataset"),
        (
            (toys.NAME, *ORDER[:-1], "nobody"),
            "Expected an account 'nobody', got none: name the account with --owner ACCOUNT",
        ),
        ((toys.NAME, *ORDER[:-2]), "Expected one superuser, got none: name the account with --owner ACCOUNT"),
        ((toys.NAME, "--on", "scored/test", *ORDER[2:]), "withheld"),
    ],
)
def test_bad_input_is_one_message(val: Split, member: User, arguments: tuple[str, ...], words: str) -> None:
    error = refused(*arguments)
    assert words in str(error) and error.returncode == 2


def test_a_network_without_torch_says_how_to_install_it(
    val: Split, member: User, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    monkeypatch.setitem(NETWORKS, toys.NAME, "toys:Toy")
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    settings.TRAINING_PYTHON = tmp_path / "python"
    assert "make torch" in str(refused(toys.NAME, *ORDER))


def test_a_full_disk_is_one_message_and_the_training_can_be_resumed(
    val: Split, member: User, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.DISK_RESERVE_GB = 1e9
    with pytest.raises(CommandError) as caught:
        call_command("train", toys.NAME, *ORDER)
    expected = (
        r"Stopped, because it had to wait for disk space: expected 1000000000\.0 GB under \S+, got \S+\. Delete "
        r"something, or change DISK_RESERVE_GB\. The training so far is kept\. To continue, run the same command with "
        r"all its options and --resume\."
    )
    assert re.fullmatch(expected, str(caught.value)) and caught.value.returncode == 1
    assert not Method.objects.filter(owner=member).exists() and Training.objects.get().message == ""
    settings.DISK_RESERVE_GB = 0
    call_command("train", toys.NAME, *ORDER, "--resume")
    assert Training.objects.get().state == Training.State.DONE


@pytest.mark.full  # the gate resumes a training that a full disk stopped before it began
def test_a_disk_that_fills_up_during_the_training_is_one_message_and_the_training_continues(
    val: Split, member: User, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    order = (toys.NAME, *ORDER, "--seed", "1")
    call_command("train", *order)
    whole = stored_codes(Training.objects.get())
    with monkeypatch.context() as patch:
        patch.setattr(process, "PROGRAM", "tests.leaderboards.training.full_disk_process")
        with pytest.raises(CommandError) as caught:
            call_command("train", *order, "--name", "Again")
    stopped = Training.objects.get(name="Again")
    folder = training_jobs.folder_of(stopped)
    assert str(caught.value) == (
        f"Stopped, because it had to wait for disk space: Expected to read and write {folder}, got: [Errno 28] No "
        "space left on device. The training so far is kept. To continue, run the same command with all its options and "
        "--resume."
    )
    assert (stopped.state, [row[0] for row in stopped.epochs]) == (Training.State.CANCELLED, [1, 2])
    capsys.readouterr()
    call_command("train", *order, "--name", "Again", "--resume")
    assert "epoch 1 of" not in capsys.readouterr().err
    resumed = Training.objects.get(name="Again")
    assert (resumed.state, resumed.examples_seen) == (Training.State.DONE, 3 * resumed.train.questions)
    assert stored_codes(resumed) == whole


def stored_codes(training: Training) -> list[list[int]]:
    """Return the stored answers of each submission."""
    rows = training.submissions.order_by("split")
    return [stored_predictions.load(row.predictions).codes.tolist() for row in rows]


@pytest.fixture(scope="module")
def site(migrated_site: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give the environment of a site of its own that has a small dataset, an administrator, and the toy."""
    settings = "tests.leaderboards.training.toy_settings"
    folder = Path(shutil.copytree(migrated_site, tmp_path_factory.mktemp("site") / "var"))
    environment = environment_of(folder, DJANGO_SETTINGS_MODULE=settings)
    sizes = ("--scenes", "train=6", "--scenes", "val=4", "--scenes", "test=3")
    made = manage("generate", "clevr-mini", "--name", "tiny", "--no-images", *sizes, environment=environment)
    assert made.returncode == 0, made.stderr
    add = ("createsuperuser", "--noinput", "--username", "ada", "--email", "ada@example.org")
    assert manage(*add, environment=environment | {"DJANGO_SUPERUSER_PASSWORD": "x"}).returncode == 0
    return environment


def order_of(folder: Path, **config: Any) -> list[str]:
    path = folder / "settings.json"
    path.write_text(json.dumps(config))
    splits = ("--on", "tiny/train", "--val", "tiny/val", "--test", "tiny/val", "--test", "tiny/test")
    return ["train", toys.NAME, *splits, "--config", str(path)]


def start(order: list[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    """Start a command and return it after its second epoch."""
    command = [sys.executable, str(ROOT / "manage.py"), *order]
    child = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert child.stderr is not None
    said, end = b"", time.monotonic() + 100
    while b"epoch 2 of" not in said:
        piece = os.read(child.stderr.fileno(), 4096)
        said += piece
        assert piece and time.monotonic() < end, said
    return child


def answers_of(site: dict[str, str], seed: int) -> list[str]:
    """Return the digests of the stored answers of the last training with a seed."""
    program = (
        "from webapp.leaderboards.models import Training; "
        f"made = Training.objects.filter(seed={seed}).latest('pk'); "
        "print('\\n'.join(made.submissions.order_by('split').values_list('predictions', flat=True)), "
        "made.attempts, made.crashes)"
    )
    done = manage("shell", "--verbosity", "0", "--command", program, environment=site)
    return done.stdout.split()


@pytest.mark.full
def test_a_command_that_was_killed_is_resumed_with_the_same_answers(site: dict[str, str], tmp_path: Path) -> None:
    order = order_of(tmp_path, epochs=8, pause=0.6)
    killed = start([*order, "--seed", "1"], site)
    killed.kill()
    killed.communicate()
    resumed = manage(*order, "--seed", "1", "--resume", environment=site)
    assert resumed.returncode == 0, resumed.stderr
    assert "epoch 1 of" not in resumed.stderr and "tiny/test: 30 questions" in resumed.stdout
    *answers, _, crashes = answers_of(site, 1)
    assert crashes == "1" and len(answers) == 2
    whole = manage(*order, "--seed", "1", "--name", "Again", environment=site)
    assert whole.returncode == 0 and answers_of(site, 1)[:2] == answers


@pytest.mark.full
def test_ctrl_c_says_how_to_go_on(site: dict[str, str], tmp_path: Path) -> None:
    order = order_of(tmp_path, epochs=8, pause=0.6)
    stopped = start([*order, "--seed", "2"], site)
    stopped.send_signal(signal.SIGINT)
    said = stopped.communicate()[1].decode()
    assert stopped.returncode == 130
    assert (
        "Stopped. The training so far is kept. To continue, run the same command with all its options and --resume."
        in said
    )
    resumed = manage(*order, "--seed", "2", "--resume", environment=site)
    assert resumed.returncode == 0 and "epoch 1 of" not in resumed.stderr


@pytest.mark.full
def test_errors_of_the_command_line_are_one_line(site: dict[str, str], tmp_path: Path) -> None:
    done = manage(*order_of(tmp_path, epochs=-1), environment=site)
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.strip().splitlines()) == 1
    failed = manage(*order_of(tmp_path, trouble=0), "--name", "Broken", environment=site)
    last = failed.stderr.strip().splitlines()[-1]
    assert failed.returncode == 1 and "the toy breaks" in last and "--resume" in last
