"""What an order of a training may be: settings, splits, access, withheld answers, names."""

import json
from typing import Any

import pytest

from generation.engine.errors import BadTraining, NoTorch
from generation.engine.learners import NETWORKS
from generation.engine.learners.base import ExampleParts
from generation.models import Dataset, Split
from tests.leaderboards.training import toys
from webapp.leaderboards.models import Method, Submission, Training
from webapp.leaderboards.training import orders, process
from webapp.leaderboards.training.orders import TrainingOrder
from webapp.models import User

pytestmark = pytest.mark.django_db


def refused(order: TrainingOrder) -> str:
    """Return the message with which an order is refused; nothing is made then."""
    with pytest.raises(BadTraining) as caught:
        orders.create(order)
    assert not Training.objects.exists() and not Method.objects.filter(owner=order.owner).exists()
    return str(caught.value)


def test_an_order_waits(order: TrainingOrder) -> None:
    made = orders.create(order)
    assert (made.state, made.name, made.test_splits) == (Training.State.WAITING, "Toy", list(order.tests))
    assert orders.order_of(made) == order._replace(name="Toy")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "nothing"}, "method: Expected one of"),
        ({"config": {"epoch": 5}}, "toy: epoch"),
        ({"config": {"epochs": "many"}}, "toy: epochs"),
        ({"config": {"epochs": 0}}, "toy: epochs"),
        ({"config": {"epochs": json.loads("[" * 500 + "]" * 500)}}, "toy: Expected settings"),
        ({"size": "large"}, "size: Expected one of mini, paper"),
        ({"seed": -1}, "seed: Expected a whole number"),
        ({"seed": 2**31}, "seed: Expected a whole number"),
        ({"device": "tpu"}, "device: Expected one of auto, cpu, cuda"),
        ({"tests": ()}, "test: Expected one or several different splits"),
        ({"name": "x" * 101}, "name: Expected a name of at most 100"),
        ({"name": "a\nb"}, "name: Expected a name of visible characters"),
    ],
)
def test_bad_settings_are_refused_with_their_name(order: TrainingOrder, change: dict[str, Any], words: str) -> None:
    assert words in refused(order._replace(**change))


def test_a_split_cannot_be_answered_twice(order: TrainingOrder, val: Split) -> None:
    assert "the same split twice" in refused(order._replace(tests=(val, val)))


def test_an_order_that_needs_too_much_memory_is_refused(
    order: TrainingOrder, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    seen = []
    monkeypatch.setattr(toys.Toy, "estimate_memory", lambda config, shape: seen.append(shape) or 5 * 2**30)
    settings.TRAINING_MEMORY_GB = 4.0
    message = refused(order)
    assert "at most 4.0 GB of memory (TRAINING_MEMORY_GB), got one that needs about 5.0 GB. Reduce batch" in message
    assert seen[0].questions == order.train.questions and seen[0].words > 1 and seen[0].answers > 1
    assert seen[0].other_questions == order.val.questions + order.tests[0].questions
    settings.TRAINING_MEMORY_GB = 6.0
    assert orders.create(order)


def test_memory_is_estimated_only_for_an_order_that_nothing_else_speaks_against(
    order: TrainingOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toys.Toy, "estimate_memory", None)  # would be an error
    monkeypatch.setattr(orders, "MOST_UNDER_WAY", 0)
    assert "trainings that wait or run, got one more" in refused(order)


def test_a_process_estimates_one_network_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process.subprocess, "run", None)  # would be an error
    with process._estimating, pytest.raises(BadTraining, match="film: Expected one order of a network at a time"):
        process.estimate_memory("film", "{}", "python")
    with pytest.raises(TypeError):  # it is tried again
        process.estimate_memory("film", "{}", "python")


@pytest.mark.parametrize("role", ["train", "val"])
def test_no_account_can_train_on_withheld_answers(order: TrainingOrder, withheld: Split, role: str) -> None:
    owner = order.owner
    owner.is_staff = True
    owner.save()
    message = refused(order._replace(**{role: withheld}))
    assert message.startswith(f"{role}: ") and "withheld" in message


def test_a_method_that_needs_programs_does_not_answer_a_withheld_split(
    order: TrainingOrder, withheld: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toys.Toy, "needs", ExampleParts(programs=True))
    orders.check(order)
    assert "needs programs, which are withheld" in refused(order._replace(tests=(withheld,)))


def test_a_split_with_programs_that_the_method_cannot_read_is_refused(
    order: TrainingOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toys.Toy, "needs", ExampleParts(programs=True))
    monkeypatch.setattr(toys.Toy, "lacking_program", lambda program: "programs of one step")
    assert refused(order).startswith("train: Expected a split with programs of one step, which Toy needs")


@pytest.mark.parametrize(
    ("needs", "words"),
    [
        (ExampleParts(images=True), "Expected a split with pictures"),
        (ExampleParts(stories=True), "Expected a split with stories"),
        (ExampleParts(supports=True), "Expected a split with supporting lines"),
        (ExampleParts(counts=True), "Expected a split with numbers as answers"),
        (ExampleParts(regions=True), "Expected a split with boxes of objects"),
    ],
)
def test_a_split_must_have_what_the_method_needs(
    order: TrainingOrder, monkeypatch: pytest.MonkeyPatch, needs: ExampleParts, words: str
) -> None:
    monkeypatch.setattr(toys.Toy, "needs", needs)
    assert words in refused(order)


@pytest.mark.parametrize("role", ["train", "val", "test"])
def test_a_split_that_the_owner_may_not_see_is_refused(order: TrainingOrder, scored: Dataset, role: str) -> None:
    Dataset.objects.filter(pk=scored.pk).update(visibility=Dataset.Visibility.PRIVATE)
    hidden = Split.objects.for_browse().get(dataset=scored, name="val")
    changed = order._replace(tests=(hidden,)) if role == "test" else order._replace(**{role: hidden})
    assert "may see" in refused(changed)


def test_a_split_that_is_not_complete_is_refused(order: TrainingOrder) -> None:
    order.train.state = Split.State.MAKING
    assert "train: Expected a complete split" in refused(order)


def test_a_withheld_split_needs_the_owners_approval(order: TrainingOrder, withheld: Split) -> None:
    other = User.objects.create_user("otto", "otto@example.org", "x")
    assert "approv" in refused(order._replace(owner=other, tests=(withheld,)))


def test_the_name_of_a_method_that_was_made_elsewhere_is_refused(order: TrainingOrder) -> None:
    taken = Method.objects.create(owner=order.owner, name="Mine", made=Method.Made.ELSEWHERE)
    with pytest.raises(BadTraining, match="name: Expected a name"):
        orders.create(order._replace(name="Mine"))
    Method.objects.filter(pk=taken.pk).update(made=Method.Made.TRAINED)
    assert orders.create(order._replace(name="Mine")).name == "Mine"


def test_an_account_has_only_so_many_trainings_under_way(order: TrainingOrder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orders, "MOST_UNDER_WAY", 1)
    first = orders.create(order)
    with pytest.raises(BadTraining, match="at most 1 trainings"):
        orders.create(order)
    orders.cancel(first)
    assert orders.create(order).pk != first.pk


def test_a_network_needs_a_python_with_torch(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any) -> None:
    monkeypatch.setitem(NETWORKS, toys.NAME, "toys:Toy")
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    settings.TRAINING_PYTHON = tmp_path / "python"
    with pytest.raises(NoTorch, match="make torch"):
        process.python_for(toys.NAME)
    settings.TRAINING_PYTHON.touch()
    assert process.python_for(toys.NAME) == str(settings.TRAINING_PYTHON)
    monkeypatch.setattr(process, "find_spec", lambda name: object())
    assert process.python_for(toys.NAME) != str(settings.TRAINING_PYTHON)


def test_the_latest_training_with_the_same_order_is_found(order: TrainingOrder, withheld: Split) -> None:
    orders.create(order._replace(tests=(withheld,)))
    made = [orders.create(order), orders.create(order)]
    assert orders.find(order) == made[1]
    assert orders.find(order._replace(seed=6)) is None
    assert orders.find(order._replace(config={"epochs": 2})) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"config": {"epochs": 2}}, "Expected the config {}"),
        ({"size": "paper"}, "Expected the size mini"),
        ({"method": "nearest-question", "size": "paper"}, "Expected the method toy and the size mini"),
    ],
)
def test_other_settings_need_another_name_on_the_same_split(
    order: TrainingOrder, withheld: Split, change: dict[str, Any], words: str
) -> None:
    first = orders.create(order._replace(name="Mine"))
    other = order._replace(name="Mine", seed=6, **change)
    with pytest.raises(BadTraining, match="--name") as caught:
        orders.create(other._replace(tests=(withheld, *order.tests)))
    assert words in str(caught.value) and f"training {first.pk}" in str(caught.value)
    orders.create(other._replace(name="Another"))
    orders.create(other._replace(tests=(withheld,)))
    orders.create(order._replace(name="Mine", seed=6))


def test_a_training_without_submissions_that_was_cancelled_leaves_its_name(
    order: TrainingOrder, member: User, val: Split
) -> None:
    first, other = orders.create(order), order._replace(config={"epochs": 2})
    orders.cancel(first)
    orders.check(other)
    method = Method.objects.create(owner=member, name="Toy", made=Method.Made.TRAINED)
    Submission.objects.create(method=method, split=val, training=first)
    with pytest.raises(BadTraining, match="--name"):
        orders.check(other)
