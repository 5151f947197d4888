"""`manage.py submit`: submitting a file on the command line."""

import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from generation.models import Split
from generation.queue import leases
from tests.leaderboards import sent
from tests.leaderboards.replies import replied
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Method, Score, Submission, Suite
from webapp.models import User

pytestmark = pytest.mark.django_db


def write_file(folder: Path, answers: list[str]) -> str:
    path = folder / "answers.json"
    path.write_bytes(sent.as_file(answers).getvalue())
    return str(path)


def test_a_file_is_stored_scored_and_its_score_printed(
    val: Split, method: Method, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = sent.noisy(val, wrong=0.4)
    more = ("--run", "seed 2", "--trained-on", "scored/train", "--train-size", "80", "--examples-seen", "800")
    call_command(
        "submit", write_file(tmp_path, said), "--split", "scored/val", "--method", method.name, *more, "--json"
    )
    document = json.loads(capsys.readouterr().out)
    right = sent.right_of(val, said)
    [score] = document["scores"]
    assert (score["split"], score["n"], score["accuracy"]) == ("scored/val", val.questions, right / val.questions)
    row = Submission.objects.get(pk=document["id"])
    assert (row.method, row.run, row.train_size, row.examples_seen) == (method, "seed 2", 80, 800)
    assert row.trained_on is not None and row.trained_on.name == "train"
    assert row.is_scored and row.filename == "answers.json"


def test_the_score_is_printed_as_text(
    val: Split, method: Method, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("submit", write_file(tmp_path, sent.truth_of(val)), "--split", "scored/val", "--method", method.name)
    told = capsys.readouterr().out
    assert "accuracy       100.0 %" in told and "0 unreadable" in told
    score = Score.objects.get(submission__method=method, split=val)
    few = [label for label, (_, n) in score.columns_json.items() if n < 30]
    assert few and f"  {len(few)} with too few questions to tell" in told
    assert all(f"\n  {label} " not in told for label in few)


def test_a_new_name_is_a_new_method_of_the_only_administrator(val: Split, tmp_path: Path) -> None:
    admin = User.objects.create_superuser("ada", "ada@example.org", "x")
    path = write_file(tmp_path, sent.truth_of(val))
    call_command("submit", path, "--split", "scored/val", "--method", "Fresh", "--made", "zero-shot")
    made = Method.objects.get(name="Fresh")
    assert (made.owner, made.made, made.published) == (admin, "zero-shot", None)
    call_command("submit", path, "--split", "scored/val", "--method", "Fresh", "--run", "2")
    assert made.submissions.scored().count() == 2


def test_a_refused_call_leaves_no_method(val: Split, member: User, tmp_path: Path) -> None:
    path = tmp_path / "answers.txt"
    path.write_text("yes\n")
    call = ("submit", str(path), "--method", "Fresh", "--owner", "mira")
    with pytest.raises(CommandError, match=r"scored/val: .*Expected 160 answers, got 1") as refused:
        call_command(*call, "--split", "scored/val")
    assert refused.value.returncode == 2
    with pytest.raises(CommandError, match="Expected a whole number from 1"):
        call_command(*call, "--split", "scored/val", "--train-size", "0", "--method", "Fresher")
    assert not Method.objects.filter(name="Fresher").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--owner", "nobody"), "Expected an account 'nobody', got none: name the account with --owner ACCOUNT"),
        ((), "Expected one superuser, got none: name the account with --owner ACCOUNT"),
        (("--trained-on", "scored/dev", "--owner", "mira"), "Expected a split (train, val, test), got 'dev'"),
    ],
)
def test_a_wrong_option_gets_a_message(
    more: tuple[str, ...], says: str, val: Split, member: User, tmp_path: Path
) -> None:
    path = write_file(tmp_path, sent.truth_of(val))
    with pytest.raises(CommandError) as refused:
        call_command("submit", path, "--split", "scored/val", "--method", "Fresh", *more)
    assert says in str(refused.value) and refused.value.returncode == 2
    assert Submission.objects.count() == 0


def test_a_method_that_several_accounts_have_needs_its_owner(
    val: Split, member: User, admin_user: User, tmp_path: Path
) -> None:
    for owner in (member, admin_user):
        Method.objects.create(owner=owner, name="Fresh")
    path = write_file(tmp_path, sent.truth_of(val))
    with pytest.raises(
        CommandError, match="Expected one owner of a method 'Fresh', got several: name the account with --owner ACCOUNT"
    ):
        call_command("submit", path, "--split", "scored/val", "--method", "Fresh")


# Suites -----------------------------------------------------------------------------------------------------


@pytest.fixture
def both(val: Split, withheld: Split) -> Suite:
    """Give a suite of an open split and a withheld one."""
    return sent.suite_of("both", val, withheld)


def test_a_zip_for_a_suite_is_scored_on_each_of_its_splits(
    both: Suite, val: Split, withheld: Split, method: Method, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {split.name: sent.noisy(split, wrong=0.4) for split in (val, withheld)}
    path = str(sent.as_zip(tmp_path, **said))
    call_command("submit", path, "--suite", "both", "--method", method.name, "--run", "1", "--json")
    document = json.loads(capsys.readouterr().out)
    assert document["suite"] == "both"
    assert [one["method"] for one in document["submissions"]] == [method.name] * 2
    for split, one in zip((val, withheld), document["submissions"], strict=True):
        [score] = one["scores"]
        share = sent.right_of(split, said[split.name]) / split.questions
        step = 0.092  # the step of 120 questions
        expected = share if split == val else round(int(share / step) * step, 3)
        assert (score["split"], score["accuracy"]) == (str(split), expected)
        assert (score["disclosure"] is None) == (score["unreadable"] is not None) == (split == val)
    batches = set(Submission.objects.values_list("batch", flat=True))
    assert len(batches) == 1 and None not in batches
    call_command("submit", path, "--suite", "both", "--method", method.name, "--run", "2")
    told = capsys.readouterr().out
    assert "scored/val: 160 questions" in told and "scored/test: 120 questions" in told
    assert re.search(r"accuracy  less than a step above \d\d\.\d %", told) and told.count("accuracy_read") == 1


def test_valid_files_of_a_zip_are_scored_and_refused_ones_reported(
    both: Suite, val: Split, withheld: Split, method: Method, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(sent.as_zip(tmp_path, val=sent.truth_of(val), test=["yes"]))
    with pytest.raises(CommandError, match=r"^scored/test: .*Expected 120 answers, got 1") as refused:
        call_command("submit", path, "--suite", "both", "--method", method.name, "--json")
    assert refused.value.returncode == 2
    [only] = json.loads(capsys.readouterr().out)["submissions"]
    assert only["scores"][0]["accuracy"] == 1
    with pytest.raises(CommandError, match="scored/val: "):
        call_command(
            "submit", write_file(tmp_path, ["yes"]), "--split", "scored/val", "--method", method.name, "--json"
        )
    assert capsys.readouterr().out == ""


def test_a_zip_without_files_for_the_splits_is_refused(both: Suite, val: Split, method: Method, tmp_path: Path) -> None:
    for path in (sent.as_zip(tmp_path, nothing=["yes"]), Path(write_file(tmp_path, sent.truth_of(val)))):
        with pytest.raises(CommandError, match="Expected a zip with files named after the suite's splits") as refused:
            call_command("submit", str(path), "--suite", "both", "--method", method.name)
        assert refused.value.returncode == 2
    assert not Submission.objects.filter(method=method).exists()


def test_an_unknown_suite_gets_a_message_with_the_known_ones(both: Suite, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"Expected a suite \(both\), got 'neither'") as refused:
        call_command("submit", str(tmp_path / "a"), "--suite", "neither", "--method", "Fresh")
    assert refused.value.returncode == 2
    for target in ((), ("--suite", "both", "--split", "scored/val")):
        with pytest.raises(CommandError, match="--s"):
            call_command("submit", str(tmp_path / "a"), *target, "--method", "Fresh")


def test_a_missing_file_gets_a_message(val: Split, method: Method, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Expected a file of predictions, got none: "):
        call_command("submit", str(tmp_path / "a"), "--split", "scored/val", "--method", method.name)


def test_the_command_waits_if_another_process_scores_the_submission(
    val: Split, method: Method, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    take = leases.take
    monkeypatch.setattr(leases, "take", lambda job, **more: False)

    def another(seconds: float) -> None:
        monkeypatch.setattr(leases, "take", take)
        scoring.RUNNER.take_turn()

    monkeypatch.setattr("time.sleep", another)
    call_command("submit", write_file(tmp_path, sent.truth_of(val)), "--split", "scored/val", "--method", method.name)
    assert "accuracy       100.0 %" in capsys.readouterr().out


def test_replies_are_submitted_and_their_figures_printed(
    val: Split, method: Method, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = tmp_path / "replies.jsonl"
    replies.write_bytes(replied.as_file(replied.records_of(val)).getvalue())
    call = ("submit", write_file(tmp_path, replied.answers_of(val)), "--split", "scored/val", "--method", method.name)
    call_command(*call, "--replies", str(replies))
    told = capsys.readouterr().out
    assert f"answered       97.5 %  ({val.questions - 4} of {val.questions})" in told
    assert "tokens per question: 105" in told and "cost of 1,000 questions: $1.00" in told
    assert f"n = {val.questions - 4}" in told.partition("among answered")[2].partition("\n")[0]
    call_command(*call, "--replies", str(replies), "--run", "2", "--json")
    [score] = json.loads(capsys.readouterr().out)["scores"]
    assert score["usage"]["answered"] == val.questions - 4 and score["among_answered"]["n"] == val.questions - 4
    with pytest.raises(CommandError, match="Expected a file of replies, got none"):
        call_command(*call, "--replies", str(tmp_path / "none"))
    replies.write_bytes(b"[]\n")
    with pytest.raises(CommandError, match="Line 1 of the replies: expected a record") as refused:
        call_command(*call, "--replies", str(replies))
    assert refused.value.returncode == 2
