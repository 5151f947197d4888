"""`manage.py ask`: the same questions, files and scores as `static/ask.py`, without a server of the site."""

import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from generation.engine.scoring.steps import expected_steps
from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.splits.split_recipes import read_recipe
from generation.storage import files
from generation.storage.items import load_items
from generation.storage.pictures import picture_bytes
from tests.asking.conftest import KEY, PatientClock, answers, records
from tests.asking.model_stub import ModelStub, Pixels, reply_with, serving, status
from tests.generation import small
from tests.webapp.commands import ROOT, manage
from webapp.leaderboards.management.commands import ask as ask_command
from webapp.leaderboards.models import BoardSettings, Method, Score, Submission
from webapp.models import User

pytestmark = pytest.mark.django_db

Ask = Callable[..., None]
SPLITS = {"val": {"scenes": 4}, "test": {"scenes": 2, "withheld": True}}


@pytest.fixture
def dataset(db: None) -> Dataset:
    return small.made("shapes", splits=SPLITS)


def split_named(name: str) -> Split:
    return Split.objects.for_browse().get(dataset__slug="shapes", name=name)


def oracle(split: Split) -> Callable[[str, Pixels], str]:
    """Return a function that knows the answers and the steps by the pixels of the picture and the question's words."""
    known = {}
    for stored in load_items(split.source, 0, split.source.scenes):
        with Image.open(io.BytesIO(picture_bytes(stored.scene, split.dataset))) as image:
            pixels = image.tobytes()
        for number, question in enumerate(stored.item.questions):
            assert question.answer is not None
            found = expected_steps(stored.item, number, spec=split.read_spec())
            array = json.dumps([{"step": step.function, "result": step.result} for step in found])
            known[pixels, question.text] = (question.answer.text, array)

    def reply(prompt: str, image: Pixels) -> str:
        assert image is not None
        answer, array = known[image.tobytes(), prompt.splitlines()[0]]
        return f"{array if 'JSON array' in prompt else ''}\nAnswer: {answer}"

    return reply


@pytest.fixture
def model(dataset: Dataset) -> Iterator[ModelStub]:
    with serving(oracle(split_named("val"))) as stub:
        yield stub


@pytest.fixture
def ask(model: ModelStub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return a function that runs the command with further options, one request at a time."""
    monkeypatch.setenv("MODEL_API_KEY", KEY)
    monkeypatch.setattr(ask_command, "Clock", PatientClock)

    def run(split: str, *options: str) -> None:
        where = ("--base-url", model.address, "--model", "Oracle", "--folder", str(folder), "--concurrency", "1")
        call_command("ask", split, *where, *options)

    return run


def truth_of(split: Split) -> list[str | None]:
    return list(split.source.question_set.order_by("position").values_list("answer", flat=True))


def test_the_questions_of_a_split_are_asked_without_a_server(
    ask: Ask, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask("shapes/val")
    truth = truth_of(split_named("val"))
    assert answers(folder) == truth and len(records(folder)) == len(truth)
    assert f"right: {len(truth)} of {len(truth)} (100.0 %)" in capsys.readouterr().out
    assert {one.key for one in model.asked} == {f"Bearer {KEY}"}
    ask("shapes/val", "--resume")
    assert len(model.asked) == len(truth)


def test_steps_of_real_programs_are_all_right(ask: Ask, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask("shapes/val", "--form", "steps")
    rows = [json.loads(line) for line in (folder / "steps.jsonl").read_bytes().splitlines()]
    assert [row["accuracy"] for row in rows] == [1.0] * 16 and answers(folder) == truth_of(split_named("val"))
    assert "questions with all steps right: 16 of 16 (100.0 %)" in capsys.readouterr().out


def test_the_command_line_sees_withheld_answers(
    ask: Ask, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model.reply = oracle(split_named("test"))
    ask("shapes/test", "--form", "steps")
    assert "right: 8 of 8 (100.0 %)" in capsys.readouterr().out


def test_the_numbers_of_a_question_set_are_its_own(ask: Ask, model: ModelStub, folder: Path) -> None:
    recipe = read_recipe({"parent": "val", "filter": "", "sample": 10, "seed": 1})
    few = dataset_jobs.derive(split_named("val"), name="few", recipe=recipe)
    ask("shapes/few", "--sample", "3")
    ask("shapes/few", "--resume", "--form", "steps")
    assert len(answers(folder)) == few.questions == 10 and None not in answers(folder)
    assert all(row["state"] == "answered" for row in records(folder))  # the oracle knows no other pairs


def test_answers_are_submitted_and_scored_in_this_process(
    ask: Ask, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    admin = User.objects.create_superuser("ada", "ada@example.org", "x")
    model.troubles.append(reply_with("yes", finish="length"))
    ask("shapes/val", "--submit", "--method", "Eye", "--run", "1", "--price-in", "1", "--price-out", "2")
    submission = Submission.objects.get()
    assert (submission.method.owner, submission.method.name, submission.run) == (admin, "Eye", "1")
    assert submission.note.startswith("ask.py, form plain: answered 15, cut off 1")
    score = Score.objects.get()
    assert (score.right, score.answered, score.tokens, score.cost) == (15, 15, 105, 0.11)  # for 1,000 questions
    out, err = capsys.readouterr()
    assert out.endswith("shapes/val: n = 16\n")  # too few for an accuracy
    assert f"Submission {submission.pk}: /submissions/{submission.pk}/" in err
    ask("shapes/val", "--submit", "--method", "Eye", "--run", "1", "--resume")
    assert Submission.objects.count() == 1 and len(model.asked) == 16


def test_a_board_with_a_least_coverage_refuses_only_the_answers_that_came(
    ask: Ask, dataset: Dataset, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    User.objects.create_superuser("ada", "ada@example.org", "x")
    BoardSettings.objects.create(dataset=dataset, least_coverage=95)
    model.troubles.append(status(500))
    with pytest.raises(CommandError, match=r"Expected a score, got none\. To continue") as refused:
        ask("shapes/val", "--submit", "--retries", "0")
    assert refused.value.returncode == 2 and not Score.objects.exists()
    assert "Expected answers to at least 95 % of 16 questions, got 15" in capsys.readouterr().out
    BoardSettings.objects.update(least_coverage=90)
    model.troubles.append(status(500))
    ask("shapes/val", "--submit", "--retries", "0", "--resume", "--no-replies")  # the same answers and the same note
    assert Score.objects.get().right == 15
    Submission.objects.scored().delete()
    BoardSettings.objects.update(least_coverage=95)
    ask("shapes/val", "--submit", "--resume")
    assert Score.objects.get().right == 16
    ask("shapes/val", "--submit", "--resume", "--no-replies", "--run", "2")
    assert [bool(one.replies) for one in Submission.objects.order_by("pk")] == [False, True, False]


@pytest.mark.parametrize(
    ("split", "options", "says"),
    [
        ("shapes/nothing", (), "shapes: Expected a split (val, test), got 'nothing'."),
        ("nothing/val", (), "Expected a dataset (shapes), got 'nothing'."),
        ("shapes", (), "Expected DATASET/SPLIT, got 'shapes'."),
        ("shapes/val", ("--base-url", "ftp://x"), "without keys and passwords"),
        ("shapes/val", ("--submit",), "Expected one superuser, got none: name the account with --owner ACCOUNT."),
        (
            "shapes/val",
            ("--submit", "--owner", "eve"),
            "Expected an account 'eve', got none: name the account with --owner ACCOUNT.",
        ),
        ("shapes/val", ("--submit", "--owner", "mira", "--sample", "3"), "make a question set"),
        ("shapes/val", ("--submit", "--owner", "mira", "--run", "x" * 99), "Expected at most 60 printable characters"),
    ],
)
def test_a_wrong_option_is_one_message_and_asks_nothing(
    split: str, options: tuple[str, ...], says: str, ask: Ask, model: ModelStub
) -> None:
    User.objects.create_user("mira", "mira@example.org", "x")
    with pytest.raises(CommandError) as refused:
        ask(split, *options)
    assert says in str(refused.value) and refused.value.returncode == 2
    assert model.asked == [] and not Submission.objects.exists() and not Method.objects.exists()


def test_a_split_that_is_not_complete_is_refused(ask: Ask) -> None:
    Split.objects.filter(name="val").update(state="making")
    with pytest.raises(CommandError, match=r"Expected a complete split, got shapes/val, whose state is"):
        ask("shapes/val")


def test_replies_of_another_run_and_failures_have_a_message(ask: Ask, model: ModelStub, folder: Path) -> None:
    model.troubles.append(status(500))
    with pytest.raises(CommandError, match="Expected a reply to each question, got failures") as failed:
        ask("shapes/val", "--retries", "0")
    assert failed.value.returncode == 1
    with pytest.raises(CommandError, match=r"Expected no replies in .*: keep them with --resume"):
        ask("shapes/val")
    model.troubles.append(status(401, f"wrong key {KEY}".encode()))
    with pytest.raises(CommandError, match=r"refuses the request \(401\): wrong key \[key\]"):
        ask("shapes/val", "--resume")


def test_a_picture_that_is_missing_is_one_message(ask: Ask) -> None:
    first = split_named("val").scene_set.get(position=0)
    files.drop(first.image)
    with pytest.raises(CommandError, match="Expected to read and write"):
        ask("shapes/val")


def test_stories_are_asked_with_their_lines(ask: Ask, model: ModelStub, folder: Path) -> None:
    spec = {"world": "babi", "tasks": [8, 19], "splits": {"test": {"questions": 20}}}
    tales = dataset_jobs.start(spec, slug="tales", visibility="public", images=False)
    dataset_jobs.work(dataset=tales)
    known = {row.text: row.answer for row in tales.splits.get(name="test").question_set.all()}
    model.reply = lambda prompt, image: f"Answer: {known[prompt.splitlines()[-2]]}"
    ask("tales/test")
    assert all(one.body["messages"][0]["content"].startswith("1 ") for one in model.asked)
    assert None not in answers(folder) and len(answers(folder)) == 40


def test_the_command_has_every_option_of_the_script(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"],):
        with pytest.raises(SystemExit):
            script.main(arguments)
    ours = {word.strip("[],") for word in capsys.readouterr().out.split() if word.strip("[").startswith("--")}
    with pytest.raises(SystemExit):
        call_command("ask", "--help")
    theirs = {word.strip("[],") for word in capsys.readouterr().out.split() if word.strip("[").startswith("--")}
    assert len(ours) > 20 and ours <= theirs and "--owner" in theirs - ours


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_both_runners_send_the_same_requests(
        live_server: object, script: ModuleType, model: ModelStub, ask: Ask, folder: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("HORSESENSE_TOKEN")
    for form in ("plain", "options", "steps"):
        ask("shapes/val", "--form", form, "--resume")
        where = ("--base-url", model.address, "--model", "Oracle", "--folder", str(tmp_path / "other"))
        options = ("--form", form, "--resume", "--concurrency", "1")
        assert script.main([str(live_server), "shapes/val", *where, *options], PatientClock()) == 0
    for name in ("answers.jsonl", "steps.jsonl", "unread.jsonl"):
        assert (folder / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
    sent = [
        [(one["question"], one["key"], one["request"]) for one in records(of)] for of in (folder, tmp_path / "other")
    ]
    assert sent[0] == sent[1] and len(sent[0]) == 48


@pytest.mark.full
@pytest.mark.slow
def test_after_ctrl_c_and_a_kill_the_command_goes_on(migrated_environment: dict[str, str], tmp_path: Path) -> None:
    environment = migrated_environment
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps({"world": "babi", "tasks": [1], "splits": {"test": {"questions": 40}}}))
    made = manage("generate", str(spec), "--name", "tales", "--no-images", environment=environment)
    assert made.returncode == 0, made.stderr
    with serving(lambda prompt, image: "Answer: garden") as model:
        where = ["--base-url", model.address, "--model", "eye", "--folder", str(tmp_path / "asked")]
        command = [sys.executable, str(ROOT / "manage.py"), "ask", "tales/test", *where, "--resume"]
        for number, (stop, code) in enumerate([(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)], 1):
            model.hold_after = len(model.asked) + 5
            with subprocess.Popen(
                command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, text=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            ) as process:  # fmt: skip
                model.wait_for(model.hold_after + 8)
                process.send_signal(stop)
                if stop == signal.SIGINT:
                    assert process.stderr is not None
                    assert any("Stopping" in line for line in process.stderr)
                model.hold_after = None
                model.released.set()
                said = process.stderr.read() if process.stderr is not None else ""
            assert process.returncode == code, said
            model.released.clear()
            assert len(records(tmp_path / "asked")) == (13 if number == 1 else 18)
        last = manage("ask", "tales/test", *where, "--resume", environment=environment)
    assert last.returncode == 0, last.stderr
    assert len(records(tmp_path / "asked")) == 40
