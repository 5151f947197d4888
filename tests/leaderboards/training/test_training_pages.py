"""The pages of trainings: the button of a board, the form, a training with its progress, cancel, continue, delete."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.http import HttpResponse
from django.test import Client

from generation import program_version
from generation.access import RESEARCHERS
from generation.engine.learners import METHODS
from generation.models import Dataset, Split
from tests.clients import client_of
from tests.leaderboards.training import toys
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Method, Submission, Training
from webapp.leaderboards.training import orders, training_jobs
from webapp.leaderboards.training.orders import TrainingOrder
from webapp.models import User

pytestmark = pytest.mark.django_db

State = Training.State
FILLED = {"method": toys.NAME, "train": "train", "val": "val", "tests": ["val", "test"], "size": "mini", "seed": "7"}
STRANGERS = ("nobody", "moritz", "rita")


@pytest.fixture(autouse=True)
def few_methods(known_toy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave two methods: the toy, and one that needs nothing."""
    for name in set(METHODS) - {toys.NAME, "nearest-question"}:
        monkeypatch.delitem(METHODS, name)


@pytest.fixture
def owner(scored: Dataset) -> User:
    """Give a researcher who owns the dataset."""
    made = researcher("olga")
    Dataset.objects.filter(pk=scored.pk).update(owner=made)
    return made


@pytest.fixture
def browser(owner: User) -> Client:
    """Give a browser in which the dataset's owner is signed in."""
    return client_of(owner)


@pytest.fixture
def waiting(owner: User, order: TrainingOrder) -> Training:
    """Give a training of the dataset's owner, which waits."""
    return orders.create(order._replace(owner=owner))


def researcher(name: str) -> User:
    made = User.objects.create_user(name, f"{name}@example.org", "x")
    made.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
    return made


def stranger(name: str) -> Client:
    """Return the browser of a visitor without account, of a member, or of a researcher without the dataset."""
    if name == "nobody":
        return Client()
    return client_of(researcher(name) if name == "rita" else User.objects.create_user(name, "m@example.org", "x"))


def text_of(response: HttpResponse) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


# The form


def test_the_owner_of_a_dataset_trains_by_one_button(browser: Client, scored: Dataset, val: Split) -> None:
    board = browser.get("/leaderboards/scored/val/")
    assert 'href="/trainings/new/?on=scored/val">Train a baseline' in board.text
    form = browser.get("/trainings/new/?on=scored/val")
    assert form.status_code == 200 and "It sees the question only" in text_of(form)
    assert "Validation split" in text_of(form) and "Stop by" not in text_of(form)
    chosen = re.findall(r'<option value="([^"]+)" selected', form.text)
    assert {"train", "val"} <= set(chosen)
    assert re.search(r'value="val"[^>]*checked', form.text) and not re.search(r'value="test"[^>]*checked', form.text)
    sent = browser.post("/trainings/new/?on=scored/val", FILLED)
    [made] = Training.objects.all()
    assert sent.status_code == 302 and sent.headers["Location"] == made.get_absolute_url()
    assert (made.method, made.seed, made.size, made.state) == (toys.NAME, 7, "mini", State.WAITING)
    assert [split.name for split in made.test_splits] == ["val", "test"]


def test_staff_train_on_every_dataset(scored: Dataset, val: Split, admin_client: Client) -> None:
    assert admin_client.post("/trainings/new/?on=scored", FILLED).status_code == 302
    assert Training.objects.get().owner.username == "admin"


def test_changed_settings_are_kept(browser: Client) -> None:
    browser.post("/trainings/new/?on=scored", FILLED | {"config": '{"epochs": 2}', "name": "Short"})
    made = Training.objects.get()
    assert (made.config_data, made.name) == ({"epochs": 2}, "Short")
    page = text_of(browser.get(made.get_absolute_url()))
    assert "Short, training" in page and "mini, 1 changed" in page and "2 (changed)" in page


def test_the_form_says_which_methods_are_not_possible_and_why(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "structured-svm", "classical.structured_svm:StructuredSvm")
    page = text_of(browser.get("/trainings/new/?on=scored"))
    assert "Not possible here" in page and "Structured SVM: this dataset has no stories." in page


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "nothing"}, "Select a valid choice"),
        ({"train": "test"}, "Select a valid choice"),
        ({"tests": []}, "Expected at least one split to answer, got none."),
        ({"tests": ["nothing"]}, "Select a valid choice"),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"seed": ""}, "This field is required"),
        ({"config": "{"}, "Expected settings as JSON"),
        ({"config": "[]"}, "Expected settings as a JSON object"),
        ({"config": '{"epochs": 0}'}, "toy: epochs"),
        ({"config": '{"nothing": 0}'}, "toy: nothing"),
        ({"size": "large"}, "Select a valid choice"),
    ],
)
def test_a_wrong_form_is_shown_again_with_the_reason(browser: Client, change: dict[str, Any], words: str) -> None:
    answer = browser.post("/trainings/new/?on=scored", FILLED | change)
    assert answer.status_code == 400 and words in text_of(answer).replace("&quot;", '"')
    assert not Training.objects.exists()


@pytest.mark.parametrize("who", STRANGERS)
def test_strangers_get_neither_button_nor_form(who: str, owner: User, val: Split) -> None:
    client = stranger(who)
    assert "Train a baseline" not in client.get("/leaderboards/scored/val/").text
    for answer in (client.get("/trainings/new/?on=scored"), client.post("/trainings/new/?on=scored", FILLED)):
        assert answer.status_code == (302 if who == "nobody" else 404)
    assert not Training.objects.exists()


@pytest.mark.parametrize(
    ("query", "status"), [("", 404), ("?on=nothing", 404), ("?on=scored/nothing", 200), ("?on=%00", 404)]
)
def test_the_form_needs_a_dataset(browser: Client, query: str, status: int) -> None:
    assert browser.get(f"/trainings/new/{query}").status_code == status


def test_a_dataset_without_open_answers_has_no_form(browser: Client, scored: Dataset) -> None:
    Split.objects.filter(dataset=scored).update(withheld=True, secret="0f" * 16, secret_sha256="a" * 64)
    answer = browser.get("/trainings/new/?on=scored")
    assert answer.status_code == 409 and "whose answers are open" in text_of(answer)


# A training


def test_a_training_is_followed_and_ends_with_its_submissions(browser: Client, waiting: Training) -> None:
    page = browser.get(waiting.get_absolute_url())
    assert "This training is waiting" in page.text and "No background process is running" in page.text
    assert f'data-progress="{waiting.get_absolute_url()}progress/"' in page.text
    Training.objects.filter(pk=waiting.pk).update(
        state=State.RUNNING, token="x", lease="2100-01-01T00:00Z", started="2026-01-01T00:00Z",
        history="[[1, 0.5, 0.25]]",
        progress='{"phase": "train", "epoch": 1, "epochs": 3, "loss": 0.5, "val_accuracy": 0.25, "left": 60}',
    )  # fmt: skip
    part = text_of(browser.get(f"{waiting.get_absolute_url()}progress/"))
    assert (
        "Epoch 1 of at most 3, loss 0.500, val 25.0 %, about 60 s left if all epochs are needed." in part
        and "0.500 25.0" in part
    )
    Training.objects.filter(pk=waiting.pk).update(state=State.WAITING, token="", lease=None)
    training_jobs.RUNNER.take_turn()
    scoring.RUNNER.take_turn()
    [submission] = Submission.objects.filter(training=waiting)
    page = browser.get(waiting.get_absolute_url())
    assert "Trained" in page.text and submission.get_absolute_url() in page.text and "data-progress" not in page.text
    assert program_version.code_version() in page.text
    told = text_of(browser.get(submission.get_absolute_url()))
    assert f"Training {waiting.pk}" in told and '"epochs": 3' in told.replace("&quot;", '"')


def test_the_list_shows_own_trainings_and_staff_see_all(
    browser: Client, waiting: Training, admin_client: Client
) -> None:
    assert f'href="{waiting.get_absolute_url()}"' in browser.get("/trainings/").text
    everybodys = admin_client.get("/trainings/")
    assert "by olga" in text_of(everybodys) and "<h1>Trainings</h1>" in everybodys.text
    assert "<h1>My trainings</h1>" in browser.get("/trainings/").text
    assert "No trainings yet" in stranger("rita").get("/trainings/").text
    assert Client().get("/trainings/").status_code == 302


def test_the_list_shows_the_state_and_the_percentage_of_a_running_training(browser: Client, waiting: Training) -> None:
    assert '<span class="chip">waiting</span></td>' in browser.get("/trainings/").text
    Training.objects.filter(pk=waiting.pk).update(
        state=State.RUNNING, token="x", lease="2100-01-01T00:00Z", started="2026-01-01T00:00Z",
        progress='{"phase": "train", "epoch": 1, "epochs": 4}',
    )  # fmt: skip
    assert '<span class="chip">running</span> <span class="count">25 %</span>' in browser.get("/trainings/").text


def test_the_model_is_downloaded_by_its_owner(browser: Client, waiting: Training) -> None:
    assert browser.get(f"{waiting.get_absolute_url()}model.safetensors").status_code == 404
    training_jobs.RUNNER.take_turn()
    waiting.refresh_from_db()
    weights, about = (browser.get(f"{waiting.get_absolute_url()}model.{kind}") for kind in ("safetensors", "json"))
    assert sum(len(b"".join(one.streaming_content)) for one in (weights, about)) == waiting.model_size  # type: ignore[attr-defined]
    assert browser.get(f"{waiting.get_absolute_url()}model.pickle").status_code == 404


def test_a_training_is_cancelled_and_continued(browser: Client, waiting: Training) -> None:
    address = waiting.get_absolute_url()
    assert browser.post(f"{address}continue/").status_code == 409
    assert browser.post(f"{address}cancel/").status_code == 302
    assert browser.post(f"{address}cancel/").status_code == 409
    waiting.refresh_from_db()
    assert waiting.state == State.CANCELLED and "This training was cancelled" in browser.get(address).text
    assert browser.post(f"{address}continue/").status_code == 302
    waiting.refresh_from_db()
    assert waiting.state == State.WAITING


def test_only_who_may_start_a_training_continues_it(
    order: TrainingOrder, waiting: Training, browser: Client, admin_client: Client
) -> None:
    made = orders.create(order._replace(name="Mine"))
    for one in (made, waiting):
        orders.cancel(one)
    client, address = client_of(order.owner), made.get_absolute_url()
    assert "Continue" not in client.get(address).text
    assert client.post(f"{address}continue/").status_code == 404
    made.refresh_from_db()
    assert made.state == State.CANCELLED
    assert "Continue" in browser.get(waiting.get_absolute_url()).text
    assert admin_client.post(f"{address}continue/").status_code == 302


def test_a_training_that_could_not_be_started_now_is_not_continued(browser: Client, waiting: Training) -> None:
    orders.cancel(waiting)
    Split.objects.filter(pk=waiting.train_id).update(withheld=True, secret="0f" * 16, secret_sha256="a" * 64)
    answer = browser.post(f"{waiting.get_absolute_url()}continue/")
    assert answer.status_code == 409 and "whose answers are open" in text_of(answer)
    waiting.refresh_from_db()
    assert waiting.state == State.CANCELLED


@pytest.mark.parametrize("change", [{"config": '{"gone": 12345}'}, {"method": "gone", "config": '{"epochs": 12345}'}])
def test_pages_stay_after_a_setting_or_method_is_gone(
    browser: Client, waiting: Training, val: Split, change: dict[str, str]
) -> None:
    method = Method.objects.create(owner=waiting.owner, name="Toy", made=Method.Made.TRAINED)
    submission = Submission.objects.create(method=method, split=val, training=waiting)
    Training.objects.filter(pk=waiting.pk).update(**change)
    for address in (waiting.get_absolute_url(), submission.get_absolute_url()):
        page = browser.get(address)
        assert page.status_code == 200 and "12345" in page.text


def test_a_training_that_failed_shows_the_reason(browser: Client, waiting: Training) -> None:
    Training.objects.filter(pk=waiting.pk).update(state=State.FAILED, message="Expected more <data>.")
    page = browser.get(waiting.get_absolute_url())
    assert "Expected more &lt;data&gt;." in page.text and "Continue" in page.text


def test_a_training_is_deleted_after_a_question(browser: Client, waiting: Training) -> None:
    address = f"{waiting.get_absolute_url()}delete/"
    assert "Its submissions stay" in browser.get(address).text
    assert browser.post(address).status_code == 302 and not Training.objects.exists()


@pytest.mark.parametrize("who", STRANGERS)
def test_strangers_find_no_training(who: str, owner: User, waiting: Training) -> None:
    client, address = stranger(who), waiting.get_absolute_url()
    status = 302 if who == "nobody" else 404
    for path in ("", "progress/", "model.json", "delete/"):
        assert client.get(f"{address}{path}").status_code == status, path
    for path in ("cancel/", "continue/", "delete/"):
        assert client.post(f"{address}{path}").status_code == status, path
    waiting.refresh_from_db()
    assert waiting.state == State.WAITING


def test_the_owner_of_a_training_loses_it_with_the_right_to_see_its_split(
    order: TrainingOrder, scored: Dataset
) -> None:
    made = orders.create(order)
    client = client_of(order.owner)
    assert client.get(made.get_absolute_url()).status_code == 200
    Dataset.objects.filter(pk=scored.pk).update(visibility=Dataset.Visibility.PRIVATE)
    assert client.get(made.get_absolute_url()).status_code == 404
    assert made.get_absolute_url() not in client.get("/trainings/").text


@pytest.mark.parametrize("path", ["", "progress/", "delete/", "model.json"])
def test_a_bad_number_is_not_found(browser: Client, path: str) -> None:
    assert browser.get(f"/trainings/999999/{path}").status_code == 404
    assert browser.get(f"/trainings/x/{path}").status_code == 404


def test_wrong_verbs_are_refused(browser: Client, waiting: Training) -> None:
    address = waiting.get_absolute_url()
    for path in ("cancel/", "continue/"):
        assert browser.get(f"{address}{path}").status_code == 405
    for path in ("", "progress/", "model.json"):
        assert browser.post(f"{address}{path}").status_code == 405
    assert browser.post("/trainings/").status_code == 405
    assert browser.put("/trainings/new/?on=scored").status_code == 405


def test_pages_need_few_queries(browser: Client, waiting: Training, django_assert_max_num_queries: Any) -> None:
    for address, most in (("/trainings/", 8), (waiting.get_absolute_url(), 14), ("/trainings/new/?on=scored", 12)):
        browser.get(address)
        with django_assert_max_num_queries(most):
            browser.get(address)


def test_deleting_a_dataset_says_that_trainings_are_deleted(browser: Client, waiting: Training) -> None:
    page = text_of(browser.get("/datasets/scored/edit/delete/"))
    assert "1 training with the trained models" in page
