"""Trainings as jobs: they train in another process, submit, and continue after they were stopped."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from generation import program_version
from generation.engine.errors import BadTraining
from generation.engine.learners.model_files import read_model
from generation.engine.learners.training_process import ORDER
from generation.models import Split
from generation.queue import graceful_shutdown, leases, sandbox
from generation.storage import files
from tests.leaderboards.training import toys
from webapp.leaderboards import scoring, stored_predictions
from webapp.leaderboards.models import Method, Submission, SubmitterApproval, Training
from webapp.leaderboards.training import orders, process, results, training_jobs
from webapp.leaderboards.training.orders import TrainingOrder

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

State = Training.State


def trained(order: TrainingOrder) -> Training:
    """Return the training after a background process has taken its turn."""
    made = orders.create(order)
    training_jobs.RUNNER.take_turn()
    made.refresh_from_db()
    return made


def answers_of(training: Training) -> list[list[int]]:
    """Return the stored answers of each submission, in the order of the splits."""
    scoring.RUNNER.take_turn()
    rows = training.submissions.order_by("split")
    return [stored_predictions.load(row.predictions).codes.tolist() for row in rows]


def stop_at(epoch: int, how: Callable[[Training], Any]) -> Callable[[Training], None]:
    """Return a function that calls `how` once when a training has reached an epoch."""
    called: list[int] = []

    def look(training: Training) -> None:
        if training.progress_data.get("epoch", 0) >= epoch and not called:
            called.append(epoch)
            how(training)

    return look


def test_the_version_of_the_code_tells_a_commit_and_whether_files_were_changed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(program_version, "HOME", tmp_path)
    monkeypatch.setattr(program_version, "commit", program_version.commit.__wrapped__)
    version = program_version.code_version
    assert "commit" not in version()
    (tmp_path / "some.py").write_text("")
    for arguments in ("init -q", "add .", "-c user.name=a -c user.email=a@example.org commit -qm first"):
        subprocess.run(["git", "-C", str(tmp_path), *arguments.split()], check=True)
    assert re.search(r", commit [0-9a-f]{12}$", version())
    (tmp_path / "record.json").write_text("{}")
    assert "with changes" not in version()
    (tmp_path / "some.py").write_text("pass")
    assert re.search(r", commit [0-9a-f]{12} with changes$", version())


def test_a_method_with_several_settings_does_not_describe_one_of_them(order: TrainingOrder, train: Split) -> None:
    trained(order)
    method = Method.objects.get()
    trained(order._replace(seed=6))
    method.refresh_from_db()
    assert '"epochs": 3' in method.description
    trained(order._replace(tests=(train,), config={"epochs": 2}))
    method.refresh_from_db()
    assert "epochs" not in method.description and "The settings differ between its runs." in method.description
    assert "`manage.py train toy`. Source: our own tests." in method.description
    Method.objects.update(description="My own words.")
    Training.objects.filter(tests=order.tests[0]).update(config='{"no longer a setting": 1}')
    trained(order._replace(tests=(train,), config={"epochs": 2}, seed=7))
    assert Method.objects.get().description == "My own words."


def test_a_training_stores_a_model_and_submits_its_answers(order: TrainingOrder, val: Split) -> None:
    made = trained(order)
    assert (made.state, made.message) == (State.DONE, "")
    assert made.examples_seen == 3 * order.train.questions and made.parameters == 50
    assert [row[0] for row in made.epochs] == [1, 2, 3] and made.seconds > 0
    assert made.code_version == program_version.code_version()
    [submission] = made.submissions.all()
    assert (submission.split, submission.run, submission.trained_on) == (val, "5", order.train)
    assert (submission.train_size, submission.examples_seen) == (order.train.questions, None)
    scoring.RUNNER.take_turn()
    submission.refresh_from_db()
    assert submission.is_scored and submission.method.made == Method.Made.TRAINED
    assert (
        "Toy, trained on this site" in submission.method.description and '"epochs": 3' in submission.method.description
    )
    assert not training_jobs.folder_of(made).exists()


def test_the_model_can_be_read_again_and_has_the_digest_of_the_row(order: TrainingOrder, tmp_path: Path) -> None:
    made = trained(order)
    path = tmp_path / "model.safetensors"
    path.write_bytes(files.get(made.model))
    path.with_suffix(".json").write_bytes(files.get(results.about_name(made.model)))
    arrays, about = read_model(path)
    assert arrays["weights"].shape == (50,) and about["config"]["epochs"] == 3
    assert made.model_size == path.stat().st_size + path.with_suffix(".json").stat().st_size
    assert made.model_digest[:16] in made.model


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("TRAINING_MEMORY_GB", 0.01, r"at most 0\.0 GB of memory, got one that uses 0\.\d GB\. Reduce the batch"),
        # the gate stops another training that takes too long
        pytest.param("TRAINING_HOURS", 1e-9, "got one that takes longer", marks=pytest.mark.full),
    ],
)
def test_a_training_beyond_a_limit_fails_with_one_message_and_the_next_one_runs(
    order: TrainingOrder, settings: Any, monkeypatch: pytest.MonkeyPatch, limit: str, value: float, message: str
) -> None:
    monkeypatch.setattr(toys.Toy, "estimate_memory", lambda *_: 0)  # an estimate that is too low
    usual = getattr(settings, limit)
    setattr(settings, limit, value)
    failed = trained(order._replace(config={"pause": 1.0}))
    assert failed.state == State.FAILED and re.search(message, failed.message), failed.message
    assert not failed.submissions.exists() and not failed.model
    setattr(settings, limit, usual)
    assert trained(order._replace(name="Another")).state == State.DONE


def test_a_training_that_needs_too_much_memory_fails_before_its_process_starts(
    order: TrainingOrder, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = orders.create(order)
    settings.TRAINING_MEMORY_GB = 0.01
    monkeypatch.setattr(process.subprocess, "Popen", None)  # would be an error
    failed = training_jobs.run_here(made)
    assert failed.state == State.FAILED and "(TRAINING_MEMORY_GB), got one that needs about 0.1 GB" in failed.message
    assert not training_jobs.folder_of(made).exists()


def test_a_training_process_with_too_large_a_file_or_too_much_processor_time_says_so(
    order: TrainingOrder, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    kind = sandbox.Limits

    def limited(seconds: int, file_size: int | None) -> None:
        limits = kind(seconds, file_size=file_size)
        monkeypatch.setattr(process.sandbox, "Limits", lambda *_, **__: limits)

    limited(1000, 300)
    assert "Expected files of at most" in trained(order).message
    limited(0, None)
    assert "processors, got one that needs more" in trained(order).message


def test_a_second_turn_does_nothing(order: TrainingOrder) -> None:
    made = trained(order)
    before = Training.objects.filter(pk=made.pk).values().get()
    assert training_jobs.RUNNER.take_turn() == 0
    assert Training.objects.filter(pk=made.pk).values().get() == before
    assert Submission.objects.filter(training=made).count() == 1


def test_the_same_order_gives_the_same_answers_and_another_seed_gives_others(order: TrainingOrder) -> None:
    answers = answers_of(trained(order))
    assert answers_of(trained(order)) == answers
    assert answers_of(trained(order._replace(seed=6))) != answers


def test_a_training_whose_process_is_killed_goes_on_with_the_same_answers(order: TrainingOrder) -> None:
    longer = order._replace(config={"epochs": 6, "pause": 0.3})
    whole = answers_of(training_jobs.run_here(orders.create(longer)))
    pids: list[int] = []

    def kill(training: Training) -> None:
        lock = training_jobs.folder_of(training) / "lock"
        found = [int(path.parts[2]) for path in Path("/proc").glob("[0-9]*/fd") if _holds(path, lock)]
        pids.extend(pid for pid in found if pid != os.getpid())
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    made = training_jobs.run_here(orders.create(longer), say=stop_at(2, kill))
    assert pids and made.state == State.DONE and made.attempts == 2
    assert made.examples_seen == 6 * order.train.questions
    assert [row[0] for row in made.epochs] == [1, 2, 3, 4, 5, 6]
    assert answers_of(made) == whole


def _holds(folder: Path, file: Path) -> bool:
    try:
        return any(path.resolve() == file.resolve() for path in folder.iterdir())
    except OSError:
        return False


def test_a_training_that_was_cancelled_stops_and_continues_with_the_same_answers(order: TrainingOrder) -> None:
    longer = order._replace(config={"epochs": 6, "pause": 0.3})
    whole = answers_of(training_jobs.run_here(orders.create(longer)))
    made = training_jobs.run_here(orders.create(longer), say=stop_at(2, orders.cancel))
    assert (made.state, made.submissions.count()) == (State.CANCELLED, 0)
    assert not Method.objects.filter(submissions=None, name="Toy").exists()
    assert orders.resume(made) and not orders.resume(made)
    made = training_jobs.run_here(made)
    assert made.state == State.DONE and answers_of(made) == whole


def test_a_process_that_must_stop_gives_the_training_back(order: TrainingOrder) -> None:
    made = orders.create(order._replace(config={"epochs": 50, "pause": 0.2}))
    try:
        with pytest.raises(KeyboardInterrupt):
            training_jobs.run_here(made, say=stop_at(1, lambda training: graceful_shutdown.ask()))
    finally:
        graceful_shutdown.forget()
    made.refresh_from_db()
    assert (made.state, made.attempts, made.submissions.count()) == (State.WAITING, 0, 0)


@pytest.mark.full  # the gate continues a training that was cancelled, and one that was killed
def test_a_training_starts_again_where_its_folder_is_gone(order: TrainingOrder) -> None:
    longer = order._replace(config={"epochs": 4, "pause": 0.3})
    whole = answers_of(training_jobs.run_here(orders.create(longer)))
    made = training_jobs.run_here(orders.create(longer), say=stop_at(2, orders.cancel))
    files.drop_entry(training_jobs.folder_of(made))
    orders.resume(made)
    made = training_jobs.run_here(made)
    assert made.state == State.DONE, (made.message, made.progress)
    assert [row[0] for row in made.epochs] == [1, 2, 3, 4]
    assert answers_of(made) == whole


def test_an_error_in_the_method_ends_the_training_with_its_words(order: TrainingOrder) -> None:
    made = training_jobs.run_here(orders.create(order._replace(config={"trouble": 1})))
    assert made.state == State.FAILED and "the toy breaks" in made.message and "tried 3 times" in made.message
    assert not Submission.objects.filter(method__owner=order.owner).exists()
    assert not Method.objects.filter(owner=order.owner).exists()


def test_a_training_that_takes_too_long_is_stopped(order: TrainingOrder, settings: Any) -> None:
    settings.TRAINING_HOURS = 1e-4
    made = trained(order._replace(config={"pause": 30}))
    assert made.state == State.FAILED and "change TRAINING_HOURS" in made.message


def test_a_full_disk_makes_a_training_wait(order: TrainingOrder, settings: Any) -> None:
    settings.DISK_RESERVE_GB = 1e9
    made = orders.create(order)
    with pytest.raises(training_jobs.TrainingWaits, match="had to wait for disk space") as waits:
        training_jobs.run_here(made)
    assert "by itself" not in str(waits.value)
    made.refresh_from_db()
    assert (made.state, made.attempts) == (State.WAITING, 0) and "goes on by itself" in made.waiting_note


def test_only_one_training_runs_on_a_machine(order: TrainingOrder) -> None:
    first, second = orders.create(order), orders.create(order._replace(seed=6))
    assert leases.take(first)
    assert training_jobs.RUNNER.claim() is None
    leases.release_untried(first)
    assert training_jobs.RUNNER.claim() == first
    second.refresh_from_db()
    assert second.state == State.WAITING


def test_a_folder_that_stays_in_use_makes_the_training_try_again(
    order: TrainingOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.0)
    monkeypatch.setattr(process, "POLL", 0.0)
    made = orders.create(order)
    with process.lock_folder(training_jobs.folder_of(made), check=lambda: None):
        training_jobs.RUNNER.run_now(made)
        made.refresh_from_db()
        assert made.state == State.WAITING and "one in use" in made.message
    assert training_jobs.run_here(made).state == State.DONE


def test_a_training_that_may_no_longer_be_ordered_is_not_resumed(order: TrainingOrder) -> None:
    made = orders.create(order)
    orders.cancel(made)
    Training.objects.filter(pk=made.pk).update(config='{"epoch": 1}')
    made.refresh_from_db()
    with pytest.raises(BadTraining, match="epoch"):
        orders.resume(made)
    made.refresh_from_db()
    assert made.state == State.CANCELLED


def test_a_withheld_split_is_answered_and_its_answers_stay_here(
    order: TrainingOrder, withheld: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    run = process.run

    def look(folder: Path, *args: Any, **more: Any) -> Any:
        place = folder / results.folder_name(withheld)
        seen.extend((place / name).read_text() for name in ("questions.jsonl", "about.json"))
        return run(folder, *args, **more)

    monkeypatch.setattr(process, "run", look)
    made = trained(order._replace(tests=(withheld,)))
    assert made.state == State.DONE
    rows = [json.loads(line) for line in seen[0].splitlines()]
    assert len(rows) == withheld.questions and all(set(row) == {"text", "kind"} for row in rows)
    assert json.loads(seen[1])["parts"] == []


def test_a_submission_that_is_refused_ends_the_training_with_the_reason(
    order: TrainingOrder, withheld: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = orders.create(order._replace(tests=(withheld,)))
    SubmitterApproval.objects.filter(split=withheld).delete()
    training_jobs.RUNNER.take_turn()
    made.refresh_from_db()
    assert made.state == State.FAILED and "submission" in made.message
    assert not Method.objects.filter(owner=order.owner).exists()


def test_submissions_are_not_made_twice_if_a_process_dies_after_them(
    order: TrainingOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = orders.create(order)
    with monkeypatch.context() as patch:
        patch.setattr(leases, "finish", lambda job: (_ for _ in ()).throw(RuntimeError("killed")))
        training_jobs.RUNNER.run_now(made)
    made.refresh_from_db()
    assert made.state == State.WAITING and made.submissions.count() == 1
    assert training_jobs.run_here(made).state == State.DONE
    assert made.submissions.count() == 1


def test_deleting_a_training_keeps_its_submissions(order: TrainingOrder) -> None:
    made = trained(order)
    model, [submission] = made.model, made.submissions.all()
    training_jobs.delete(made)
    submission.refresh_from_db()
    assert submission.training is None
    with pytest.raises(FileNotFoundError):
        files.get(model)


def test_folders_and_models_that_no_training_needs_are_dropped(order: TrainingOrder) -> None:
    training_jobs.drop_unused()  # what tests an hour ago left behind
    results.drop_models_without_row()
    made = orders.create(order)
    kept, gone, young = (training_jobs.home() / name for name in (str(made.pk), "999999", "999998"))
    for folder in (kept, gone, young):
        folder.mkdir(parents=True)
    (training_jobs.home() / "claim.lock").touch()
    files.put("models/nobody.safetensors", b"x")
    an_hour_ago = time.time() - 7200
    os.utime(gone, (an_hour_ago, an_hour_ago))
    os.utime(training_jobs.home() / "claim.lock", (an_hour_ago, an_hour_ago))
    path = files.local_path("models/nobody.safetensors")
    assert path is not None
    os.utime(path, (an_hour_ago, an_hour_ago))
    assert (training_jobs.drop_unused(), results.drop_models_without_row()) == (1, 1)
    assert kept.exists() and young.exists() and not gone.exists() and not path.exists()


def test_a_folder_that_vanishes_meanwhile_is_passed_over(order: TrainingOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    training_jobs.drop_unused()  # what tests an hour ago left behind
    monkeypatch.setattr(Path, "glob", lambda folder, pattern: iter([folder / "vanished"]))
    assert training_jobs.drop_unused() == 0


def test_the_process_has_neither_secrets_nor_the_database(
    order: TrainingOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "hush")
    given: list[dict[str, str]] = []
    start = process.subprocess.Popen

    def look(*args: Any, **more: Any) -> Any:
        given.append(more["env"])
        return start(*args, **more)

    monkeypatch.setattr(process.subprocess, "Popen", look)
    assert trained(order).state == State.DONE
    [environment] = given
    assert not {"SECRET_KEY", "DATABASE_URL", "VAR_DIR", "DJANGO_SETTINGS_MODULE"} & environment.keys()


def test_the_process_gets_the_threads_of_the_setting_and_the_device_of_the_order(
    order: TrainingOrder, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TRAINING_THREADS = 3
    given: list[tuple[dict[str, Any], str]] = []
    start = process.subprocess.Popen

    def look(command: list[str], **more: Any) -> Any:
        folder = Path(command[-2])
        given.append((json.loads((folder / ORDER).read_bytes()), more["env"]["OMP_NUM_THREADS"]))
        return start(command, **more)

    monkeypatch.setattr(process.subprocess, "Popen", look)
    assert trained(order._replace(device="cuda")).state == State.DONE
    [(content, threads)] = given
    assert (content["threads"], threads, content["device"]) == (3, "3", "cuda")


def test_the_program_ends_when_nobody_reads_it(order: TrainingOrder) -> None:
    """Its standard input is closed when the process that started it is killed."""
    made = orders.create(order._replace(config={"epochs": 8, "pause": 0.3}))
    started: list[Any] = []
    popen = process.subprocess.Popen

    def remember(*args: Any, **more: Any) -> Any:
        child = popen(*args, **more)
        if child.stdin is not None:
            started.append(child)
        return child

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process.subprocess, "Popen", remember)
        training_jobs.run_here(made, say=stop_at(1, lambda training: started[0].stdin.close()))
    assert started[0].returncode == 1


def test_uploads_refer_to_boxes_in_pixels() -> None:
    lines = iter([{"answer": "2", "boxes": [[0.25, 0.5, 0.5, 1.0, 0.9]]}, {"answer": "0"}])
    expected: Any = SimpleNamespace(sizes=np.array([[120, 80], [0, 0]]))
    assert list(results._rows(expected, lines)) == [
        {"question_id": 0, "answer": "2", "boxes": [[30.0, 40.0, 60.0, 80.0]], "scores": [0.9]},
        {"question_id": 1, "answer": "0"},
    ]
