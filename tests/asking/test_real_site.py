"""`static/ask.py` against the site itself: every response of the site that it reads is a real one."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.splits.split_recipes import read_recipe
from generation.storage.pictures import picture_bytes
from tests.asking.conftest import PatientClock, answers, records
from tests.asking.model_stub import ModelStub, Pixels, reply_with, serving
from tests.generation import small
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Method, Submission
from webapp.models import ApiToken, User

pytestmark = pytest.mark.slow

Ask = Callable[..., int]
SPLITS = {"val": {"scenes": 8}, "test": {"scenes": 2, "withheld": True}}


class ScoringClock(PatientClock):
    """A clock in whose pauses the waiting submissions are scored."""

    def wait(self, seconds: float) -> None:
        super().wait(seconds)
        scoring.RUNNER.take_turn()


@pytest.fixture
def dataset(live_server: object) -> Dataset:
    """Give a dataset for one test; its rows are committed, because the site runs in other threads."""
    return small.made("shapes", splits=SPLITS)


def oracle(split: Split) -> Callable[[str, Pixels], str]:
    """Return a function that knows the answers by the pixels of the picture and the prompt."""
    known = {}
    for row in split.source.question_set.select_related("scene"):
        with Image.open(io.BytesIO(picture_bytes(row.scene, split.dataset))) as image:
            known[image.tobytes(), row.text] = row.answer

    def reply(prompt: str, image: Pixels) -> str:
        assert image is not None
        return f"The answer is {known[image.tobytes(), prompt.splitlines()[0]]}."

    return reply


@pytest.fixture
def val(dataset: Dataset) -> Split:
    return Split.objects.for_browse().get(dataset=dataset, name="val")


@pytest.fixture
def model(val: Split) -> Iterator[ModelStub]:
    with serving(oracle(val)) as stub:
        yield stub


@pytest.fixture
def owner(live_server: object) -> User:
    return User.objects.create_user("mira", "mira@example.org", "x")


@pytest.fixture
def ask(
    live_server: object, owner: User, script: ModuleType, model: ModelStub, folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Ask:  # fmt: skip
    """Return a function that asks the questions of a split."""
    monkeypatch.setenv("HORSESENSE_TOKEN", ApiToken.objects.make(owner, "script"))

    def run(split: str, *options: str) -> int:
        where = ("--base-url", model.address, "--model", "Oracle", "--folder", str(folder), "--concurrency", "1")
        return script.main([str(live_server), split, *where, *options], ScoringClock())

    return run


def test_answers_to_real_questions_are_submitted_and_scored(
    ask: Ask, owner: User, val: Split, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask("shapes/val", "--submit") == 2  # no such method yet: nothing was asked
    assert "Expected the number or name of one of your methods" in capsys.readouterr().err and not model.asked
    Method.objects.create(name="Oracle", owner=owner)
    model.troubles.extend([reply_with("yes", finish="length"), reply_with("I can't tell.")])
    assert ask("shapes/val", "--submit", "--run", "1") == 0
    truth = list(val.question_set.order_by("position").values_list("answer", flat=True))
    assert answers(folder) == [None, None, *truth[2:]]
    submission = Submission.objects.get()
    assert (submission.run, submission.method.name) == ("1", "Oracle")
    right = 100 * (len(truth) - 2) / len(truth)
    assert f"shapes/val: n = {len(truth)}, accuracy {right:.1f} %" in capsys.readouterr().out
    assert ask("shapes/val", "--submit", "--run", "1", "--resume") == 0
    assert Submission.objects.count() == 1 and len(model.asked) == len(truth)  # the same answers never count twice


def test_the_pictures_of_a_question_set_are_those_of_its_questions(
    ask: Ask, val: Split, model: ModelStub, folder: Path
) -> None:
    recipe = read_recipe({"parent": "val", "filter": "", "sample": 10, "seed": 1})
    few = dataset_jobs.derive(val, name="few", recipe=recipe)
    assert ask("shapes/few", "--sample", "1") == 0
    assert not list(folder.rglob("images.tar"))
    assert ask("shapes/few", "--resume") == 0
    assert list(folder.rglob("images.tar"))
    assert len(records(folder)) == few.questions == 10
    assert all(row["state"] == "answered" for row in records(folder))  # the oracle knows no other pairs


def test_withheld_answers_are_not_needed(
    ask: Ask, dataset: Dataset, model: ModelStub, capsys: pytest.CaptureFixture[str]
) -> None:
    model.reply = lambda prompt, image: "yes"
    assert ask("shapes/test") == 0
    assert "right" not in capsys.readouterr().out


def test_a_split_that_does_not_exist_is_one_line(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("shapes/nothing") == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "(404)" in err


def test_stories_are_asked_without_pictures(ask: Ask, model: ModelStub, folder: Path) -> None:
    spec = {"world": "babi", "tasks": [8], "splits": {"test": {"questions": 20}}}
    dataset = dataset_jobs.start(spec, slug="tales", visibility="public", images=False)
    dataset_jobs.work(dataset=dataset)
    split = dataset.splits.get(name="test")
    known = {row.text: row.answer for row in split.question_set.all()}
    model.reply = lambda prompt, image: f"Answer: {known[prompt.splitlines()[-2]]}"
    assert ask("tales/test", "--sample", "20") == 0
    assert all(one.body["messages"][0]["content"].startswith("1 ") for one in model.asked)
    assert None not in answers(folder) and len(answers(folder)) == 20
