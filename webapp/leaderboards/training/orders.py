"""Orders (requests for trainings): checking, creating, finding, cancelling and continuing them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast, get_args

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from generation.access import What, is_researcher, is_withheld, may_see, owns
from generation.engine.errors import BadTraining
from generation.engine.learners import find_learner
from generation.engine.learners.base import Learner, LearnerConfig, SizeName
from generation.engine.reading.bounded_json import BadJson, loads
from generation.models import Dataset, Split
from generation.queue import leases
from generation.storage.split_index import SplitIndex
from webapp.leaderboards import method_names, uploads
from webapp.leaderboards.method_names import BadMethodName
from webapp.leaderboards.models import Method, Training
from webapp.leaderboards.training import example_folders, memory_estimates, process
from webapp.models import User

LARGEST_SEED = 2**31 - 1
MOST_UNDER_WAY = 20  # trainings of an account that wait or run; staff have no limit
State = Training.State
STOPPED = (State.FAILED, State.CANCELLED)


class TrainingOrder(NamedTuple):
    """The method to train, its splits, and its settings.

    Attributes
    ----------
    method : str
        A name of `generation.engine.learners.METHODS`.
    owner : User
        The owner of the training, and of the method on boards.
    train, val : Split
        The split from which the method learns, and the split whose accuracy decides when it stops. Their answers must
        be open.
    tests : tuple of Split
        The splits that the method answers. Their answers may be withheld.
    config : mapping
        The settings that differ from those of the size.
    size : str
        `mini` or `paper`.
    seed : int
    device : str
        `auto`, `cpu` or `cuda`.
    name : str
        The name on boards; empty for the usual one.
    """

    method: str
    owner: User
    train: Split
    val: Split
    tests: tuple[Split, ...]
    config: Mapping[str, Any] = {}
    size: str = "paper"
    seed: int = 0
    device: str = "auto"
    name: str = ""


class NameTaken(BadTraining):
    """The name on boards belongs to another method of the owner, or to trainings with other settings.

    Attributes
    ----------
    users : sequence of Method or Training
        What has the name.
    """

    def __init__(self, message: str, *, users: Sequence[Method | Training]) -> None:
        super().__init__(message, where="name")
        self.users = users


def order_of(training: Training) -> TrainingOrder:
    return TrainingOrder(
        method=training.method,
        owner=training.owner,
        train=training.train,
        val=training.val,
        tests=tuple(training.test_splits),
        config=training.config_data,
        size=training.size,
        seed=training.seed,
        device=training.device,
        name=training.name,
    )


def may_train(user: Any, dataset: Dataset) -> bool:
    return owns(user, dataset) and is_researcher(user)


# Checking


def check(order: TrainingOrder) -> None:
    """Raise `BadTraining` if an order is wrong or not allowed, or if its predictions could not be submitted now."""
    _check_settings_and_splits(order)
    for split in order.tests:
        _check_submission(order, split)
    under_way = Training.objects.under_way().filter(owner=order.owner).count()
    if under_way >= MOST_UNDER_WAY and not order.owner.is_staff:
        raise BadTraining(
            f"Expected at most {MOST_UNDER_WAY} trainings that wait or run, got one more. Cancel one, or wait."
        )
    _check_memory(order)  # the last check, because it may take half a minute


def check_content(order: TrainingOrder) -> None:
    _check_settings_and_splits(order)
    _check_memory(order)


def _check_settings_and_splits(order: TrainingOrder) -> None:
    learner = find_learner(order.method)
    read_config(order)
    process.python_for(order.method)
    if not 0 <= order.seed <= LARGEST_SEED:
        raise BadTraining(f"Expected a whole number from 0 to {LARGEST_SEED:,}, got {order.seed:,}.", where="seed")
    if order.device not in Training.Device.values:
        raise BadTraining(f"Expected one of {', '.join(Training.Device.values)}, got {order.device!r}.", where="device")
    if not order.tests or len({split.pk for split in order.tests}) < len(order.tests):
        raise BadTraining(
            "Expected one or several different splits to answer, got none or the same split twice.", where="test"
        )
    for role, split in (("train", order.train), ("val", order.val)):
        _check_learned(order, learner, split, role=role)
    for split in order.tests:
        _check_answered(order, learner, split)
    check_name(name_of(order), owner=order.owner)
    _check_same_settings(order)


def _check_memory(order: TrainingOrder) -> None:
    learner, config = find_learner(order.method), read_config(order)
    memory_estimates.check(learner, config, order.train, val=order.val, tests=order.tests, device=order.device)


def read_config(order: TrainingOrder) -> LearnerConfig:
    if order.size not in get_args(SizeName):
        raise BadTraining(f"Expected one of {', '.join(get_args(SizeName))}, got {order.size!r}.", where="size")
    return find_learner(order.method).read_config(order.config, size=cast(SizeName, order.size))


def settings_of(training: Training) -> dict[str, Any]:
    """Return all settings of a training; only the changed ones if this code can no longer read them."""
    try:
        return read_config(order_of(training)).model_dump(mode="json")
    except BadTraining:
        return training.config_data


def config_of(text: str | bytes, *, where: str) -> dict[str, Any]:
    """Return settings from JSON; raise `BadTraining` if it is not an object."""
    try:
        found = loads(text)
    except BadJson as error:
        raise BadTraining(f"Expected settings as JSON, got another text. {error}", where=where) from error
    if not isinstance(found, dict):
        raise BadTraining("Expected settings as a JSON object, got something else.", where=where)
    return found


def name_of(order: TrainingOrder) -> str:
    name = method_names.known_or_composed(order.name, owner=order.owner)
    return name or find_learner(order.method).label


def _check_learned(order: TrainingOrder, learner: type[Learner], split: Split, *, role: str) -> None:
    """Check a split from which the method learns."""
    _check_seen(order, split, role=role, kinds=(What.QUESTION, What.ANSWER))
    if is_withheld(split):
        raise BadTraining(
            f"Expected a split whose answers are open, got {split}, whose answers are withheld: a method that learned "
            "from them would repeat them on boards.",
            where=role,
        )
    if not split.questions or _has_unknown_answers(split):
        raise BadTraining(f"Expected a split with questions, all with known answers, got {split}.", where=role)
    lacking = example_folders.missing_part(learner, split, is_training=True)
    if lacking:
        raise BadTraining(_lacking_text(learner, split, lacking), where=role)


def _check_answered(order: TrainingOrder, learner: type[Learner], split: Split) -> None:
    """Check a split that the method answers."""
    _check_seen(order, split, role="test", kinds=(What.QUESTION,))
    parts = {"programs": "programs", "regions": "boxes of objects"}
    hidden = [words for part, words in parts.items() if getattr(learner.needs, part)]
    if is_withheld(split) and hidden:
        raise BadTraining(
            f"Expected a split whose answers are open, got {split}: {learner.label} needs {' and '.join(hidden)}, "
            "which are withheld together with the answers.",
            where="test",
        )
    lacking = example_folders.missing_part(learner, split, is_training=False)
    if lacking:
        raise BadTraining(_lacking_text(learner, split, lacking), where="test")


def _lacking_text(learner: type[Learner], split: Split, lacking: str) -> str:
    return f"Expected a split with {lacking}, which {learner.label} needs, got {split}, which lacks them."


def _check_seen(order: TrainingOrder, split: Split, *, role: str, kinds: tuple[What, ...]) -> None:
    needs = find_learner(order.method).needs
    more = {"images": What.IMAGE, "stories": What.STORY, "programs": What.PROGRAM, "regions": What.SCENE}
    needed = [*kinds, *(what for part, what in more.items() if getattr(needs, part))]
    if not split.is_complete:
        raise BadTraining(f"Expected a complete split, got {split}, which is {split.get_state_display()}.", where=role)
    if role != "test" and is_withheld(split):  # `_check_learned` has a message for it
        needed = [What.QUESTION]
    if role == "test" and is_withheld(split):
        needed = [what for what in needed if what not in (What.PROGRAM, What.SCENE)]
    hidden = [what.label for what in needed if not may_see(order.owner, split, what)]
    if hidden:
        raise BadTraining(f"Expected a split whose {hidden[0]} {order.owner} may see, got {split}.", where=role)


def _has_unknown_answers(split: Split) -> bool:
    index = SplitIndex.open(split)
    return bool((index.answers >= len(index.answer_values)).any())


def check_name(name: str, *, owner: User) -> None:
    """Raise `BadTraining` if a method that is trained for this owner cannot have this name."""
    taken = Method.objects.filter(owner=owner, name=name).exclude(made=Method.Made.TRAINED).first()
    if taken is not None:
        raise NameTaken(
            f"Expected a name that no other method of {owner} has, got {name!r}. Choose another name.", users=[taken]
        )
    if Method.objects.filter(owner=owner, name=name).exists():
        return
    is_known = Training.objects.filter(owner=owner, name=name).exists()
    try:
        method_names.read(name, owner=owner, spared=name if is_known else "")
    except BadMethodName as error:
        if error.users:
            raise NameTaken(f"{error} Choose another name.", users=error.users) from error
        raise BadTraining(str(error), where="name") from error


def _check_same_settings(order: TrainingOrder) -> None:
    # Boards average the submissions of one name as runs of one method.
    mine = {"method": order.method, "size": order.size, "config": _config_text(order)}
    same_name = Training.objects.filter(owner=order.owner, name=name_of(order), tests__in=order.tests)
    counted = same_name.filter(~Q(state__in=STOPPED) | Q(submissions__isnull=False))
    others = list(counted.exclude(**mine).order_by("pk").distinct())
    if others:
        other = others[0]
        differing = [
            f"the {field} {getattr(other, field)}" for field, own in mine.items() if getattr(other, field) != own
        ]
        raise NameTaken(
            f"Expected {' and '.join(differing)}, as in training {other.pk} with the name {other.name!r}, got other "
            "settings. Boards average the runs of one name, so choose another name (--name).",
            users=others,
        )


def _check_submission(order: TrainingOrder, split: Split) -> None:
    """Check that the owner may submit predictions for a split now."""
    method = Method(owner=order.owner, name=name_of(order))
    try:
        uploads.check(order.owner, uploads.Order(method, split, run=str(order.seed), trained_on=order.train))
        uploads.check_limits(order.owner, split)
    except uploads.UploadRefused as error:
        raise BadTraining(str(error), where=f"test {split}") from error


# Creating and finding


def create(order: TrainingOrder) -> Training:
    """Return a new training, which waits; raise `BadTraining` if the order is wrong or not allowed."""
    check(order)
    with method_names.lock(order.owner):
        check_name(name_of(order), owner=order.owner)
        training = Training.objects.create(**_fields(order))
        training.tests.set(order.tests)
    return training


def find(order: TrainingOrder, *, prefers_done: bool = False) -> Training | None:
    """Return the newest training with this order, or None. If wanted, a training that is done comes first."""
    tests = {split.pk for split in order.tests}
    rows: QuerySet[Training] = Training.objects.for_list().filter(**_fields(order))
    same = [one for one in rows if {split.pk for split in one.test_splits} == tests]
    done = [one for one in same if one.state == State.DONE] if prefers_done else []
    return next(iter([*done, *same]), None)


def _fields(order: TrainingOrder) -> dict[str, Any]:
    return {
        "method": order.method,
        "owner": order.owner,
        "train": order.train,
        "val": order.val,
        "config": _config_text(order),
        "size": order.size,
        "seed": order.seed,
        "device": order.device,
        "name": name_of(order),
    }


def _config_text(order: TrainingOrder) -> str:
    return json.dumps(dict(order.config), sort_keys=True)


# Cancelling and continuing


def cancel(training: Training) -> bool:
    # Its checkpoint stays, so that it can be continued. The message of an outage would say that it goes on by itself.
    unfinished = Training.objects.under_way().filter(pk=training.pk)
    return unfinished.update(state=State.CANCELLED, message="", **leases.FREE, finished=Now()) == 1


def resume(training: Training) -> bool:
    """Make a stopped training wait again; return False if it is not stopped.

    Raises `BadTraining` if its order is now wrong or not allowed.
    """
    stopped = Training.objects.filter(pk=training.pk, state__in=STOPPED)
    if not stopped.exists():
        return False
    check(order_of(training))
    return stopped.start_over(finished=None) == 1
