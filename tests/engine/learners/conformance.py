"""What holds for every learner: checks over a learner's class, examples and the settings of a small training.

Each check is a plain function that fails with an `AssertionError`, so that they also run outside pytest. `CHECKS` has
those that hold for all learners, and `EPOCH_CHECKS` those for learners that are trained by epochs.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from generation.engine.errors import BadTraining
from generation.engine.learners.base import PART_LABELS, EpochProgress, Learner, accuracy
from generation.engine.learners.epoch_learner import EpochLearner
from generation.engine.learners.examples import Examples

Kind = type[Learner]
Settings = Mapping[str, Any]
Check = Callable[[Kind, Examples, Settings], None]
SEED = 7
LEAST = 0.95  # the share of the training examples that an overfitted learner answers correctly
FEW = 12  # examples of trainings that need not learn anything
BATCH = 4  # examples of a step in the training that has one example more than whole batches


class SilentReporter:
    def begin_epoch(self, epoch: int, epochs: int) -> None:
        pass

    def recall(self, history: Sequence[tuple[int, float, float]]) -> None:
        pass

    def check(self, part: float, loss: float | None = None) -> None:
        pass

    def progress(self, progress: EpochProgress) -> None:
        pass


class Interrupted(Exception):
    """What stops a training in tests."""


class InterruptingReporter(SilentReporter):
    """Stops a training after its first epoch."""

    def progress(self, progress: EpochProgress) -> None:
        raise Interrupted


def train(kind: Kind, examples: Examples, settings: Settings, *, seed: int = SEED) -> Learner:
    """Return a learner that was trained on the examples, which are the validation examples too."""
    learner = kind(kind.read_config(settings), seed=seed)
    learner.fit(examples, examples, report=SilentReporter())
    return learner


def trained(kind: Kind, examples: Examples, settings: Settings) -> Learner:
    """Return what `train` returns. Checks of the same method share it."""
    return _trained_once(kind, examples, json.dumps(dict(settings)))


@lru_cache(maxsize=8)
def _trained_once(kind: Kind, examples: Examples, settings: str) -> Learner:
    return train(kind, examples, json.loads(settings))


def answers_of(learner: Learner, examples: Examples) -> list[str]:
    """Return the answers that a learner predicts."""
    return [one.answer for one in learner.predict(examples)]


def overfits(kind: Kind, examples: Examples, settings: Settings, *, least: float = LEAST) -> None:
    """The learner answers almost all examples on which it was trained."""
    learner = trained(kind, examples, settings)
    share = accuracy(learner.predict(examples.without_answers()), examples)
    assert share is not None and share >= least, f"{kind.name} answers {share} of its own examples, not {least}"
    assert learner.examples_seen >= len(examples)
    assert (learner.parameters > 0) == (kind.name != "nearest-question")  # which learns no numbers


def gives_valid_predictions(kind: Kind, examples: Examples, settings: Settings) -> None:
    """There is one prediction for each example, with an answer of the vocabulary and regions within the picture."""
    learner = trained(kind, examples, settings)
    for count in (0, 1, len(examples)):
        found = learner.predict(examples.select(range(count)).without_answers())
        assert len(found) == count
        for one in found:
            assert one.answer in examples.vocabulary
            for box, score in one.regions or ():
                assert len(box) == 4 and 0 <= score <= 1
                assert 0 <= box[0] <= box[2] <= 1 and 0 <= box[1] <= box[3] <= 1


def repeats_by_its_seed(kind: Kind, examples: Examples, settings: Settings) -> None:
    """The same seed gives the same weights and the same predictions."""
    some = examples.select(range(min(FEW, len(examples))))
    short = _short(kind, settings)
    one, other = (train(kind, some, short) for _ in range(2))
    _assert_same_state(one, other)
    assert one.predict(examples) == other.predict(examples)


def answers_in_any_order(kind: Kind, examples: Examples, settings: Settings) -> None:
    """An answer does not depend on the examples that are predicted with it."""
    learner = trained(kind, examples, settings)
    answers = answers_of(learner, examples)
    order = np.random.Generator(np.random.PCG64(5)).permutation(len(examples))[: max(1, len(examples) - 3)]
    assert answers_of(learner, examples.select(order)) == [answers[at] for at in order]


def reads_no_answers(kind: Kind, examples: Examples, settings: Settings) -> None:
    """Predictions are the same with the right answers, with wrong ones and with none."""
    learner = trained(kind, examples, settings)
    assert examples.answers is not None
    wrong = replace(examples, answers=(*examples.answers[1:], examples.answers[0]), supports=None)
    found = learner.predict(examples)
    assert learner.predict(examples.without_answers()) == found
    assert learner.predict(wrong) == found


def saves_and_loads(kind: Kind, examples: Examples, settings: Settings) -> None:
    """A learner that was saved and loaded predicts the same, and saves the same files."""
    learner = trained(kind, examples, settings)
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder, "model.safetensors"), Path(folder, "again.safetensors")
        learner.save(path)
        loaded = kind.load(path)
        loaded.save(other)
        assert path.read_bytes() == other.read_bytes()
        about = path.with_suffix(".json")
        assert about.read_bytes() == other.with_suffix(".json").read_bytes()
        former = json.loads(about.read_bytes())
        former["config"]["patience"] = 10  # in models of release 0.1
        about.write_text(json.dumps(former))
        assert kind.load(path).config == learner.config
    assert loaded.predict(examples) == learner.predict(examples)
    assert (loaded.seed, loaded.config, loaded.parameters) == (learner.seed, learner.config, learner.parameters)


def refuses_damaged_files(kind: Kind, examples: Examples, settings: Settings) -> None:
    """A damaged, incomplete or foreign model is one error, which names the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        trained(kind, examples, settings).save(path)
        weights, about = path.read_bytes(), json.loads(path.with_suffix(".json").read_bytes())
        arrays = load(weights)
        damaged = [
            (weights[: len(weights) // 2], about),
            (b"", about),
            (weights, {**about, "method": "another"}),
            (weights, {**about, "state": {}}),
            (weights, {**about, "state": None}),
            (weights, [about]),
            *((weights, {name: value for name, value in about.items() if name != left}) for left in ("config", "seed")),
            *((save(_without(arrays, name)), about) for name in arrays),
        ]
        for content, description in damaged:
            path.write_bytes(content)
            path.with_suffix(".json").write_text(json.dumps(description))
            with _refused("model"):
                kind.load(path)
        path.with_suffix(".json").write_text("{")
        with _refused("model.json"):
            kind.load(path)
        path.with_suffix(".json").unlink()
        with _refused("model.json"):
            kind.load(path)


def refuses_bad_settings(kind: Kind, examples: Examples, settings: Settings) -> None:
    """An unknown setting, a wrong type and a number out of range are one error, which names the setting."""
    with _refused("no_such_setting"):
        kind.read_config({**settings, "no_such_setting": 1})
    for name, field in kind.config_model.model_json_schema().get("properties", {}).items():
        for wrong in _wrong_values(name, field):
            with _refused(name):
                kind.read_config({**settings, name: wrong})


def refuses_examples_that_lack_a_part(kind: Kind, examples: Examples, settings: Settings) -> None:
    """Each part that the learner needs is missed by name, in a training and in a prediction."""
    learner = trained(kind, examples, settings)
    for part in kind.needs._fields:
        if getattr(kind.needs, part):
            without: dict[str, Any] = {"most_counted" if part == "counts" else part: None}
            lacking = replace(examples, **without)
            with _refused(PART_LABELS.get(part, part)):
                train(kind, lacking, settings)
            if part != "supports":
                with _refused(PART_LABELS.get(part, part)):
                    learner.predict(lacking)


def refuses_no_examples(kind: Kind, examples: Examples, settings: Settings) -> None:
    """A training without examples is one error."""
    with _refused("training"):
        train(kind, examples.select([]), settings)


def continues_after_an_interruption(kind: Kind, examples: Examples, settings: Settings) -> None:
    """A training that stops after an epoch and is started again ends with the same weights."""
    _assert_continues(kind, examples.select(range(min(2 * FEW, len(examples)))), _short(kind, settings))


def trains_with_one_example_left(kind: Kind, examples: Examples, settings: Settings) -> None:
    """A training works, and continues, if the last batch of an epoch would have one example."""
    _assert_continues(kind, examples.select(range(2 * BATCH + 1)), {**_short(kind, settings), "batch": BATCH})


def reports_the_part_of_the_epoch_that_is_done(kind: Kind, examples: Examples, settings: Settings) -> None:
    report = _PartsReporter()
    settings = _short(kind, settings)
    kind(kind.read_config(settings), seed=SEED).fit(examples, examples, report=report)
    epochs = settings["epochs"] if issubclass(kind, EpochLearner) else 1
    assert list(report.parts) == [(epoch, epochs) for epoch in range(epochs)]
    for parts in report.parts.values() if issubclass(kind, EpochLearner) or report.losses else ():
        assert parts[0] == 0 and parts == sorted(parts) and parts[-1] < 1
    assert all(loss is None or 0 <= loss < np.inf for loss in report.losses)


CHECKS: tuple[Check, ...] = (
    overfits,
    gives_valid_predictions,
    repeats_by_its_seed,
    answers_in_any_order,
    reads_no_answers,
    saves_and_loads,
    refuses_damaged_files,
    refuses_bad_settings,
    refuses_examples_that_lack_a_part,
    refuses_no_examples,
    reports_the_part_of_the_epoch_that_is_done,
)


EPOCH_CHECKS: tuple[Check, ...] = (continues_after_an_interruption, trains_with_one_example_left)


def checks_of(kind: Kind) -> tuple[Check, ...]:
    """Return the checks that hold for a learner."""
    return (*CHECKS, *(EPOCH_CHECKS if issubclass(kind, EpochLearner) else ()))


def _assert_continues(kind: Kind, examples: Examples, settings: Settings) -> None:
    """Check that a training that stops after an epoch and is started again ends with the same weights."""
    whole = train(kind, examples, settings)
    stopped, resumed = (kind(kind.read_config(settings), seed=SEED) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "checkpoint")
        with suppress(Interrupted):
            stopped.fit(examples, examples, report=InterruptingReporter(), checkpoint=place)
        epochs = _EpochsReporter()
        resumed.fit(examples, examples, report=epochs, checkpoint=place)
    assert epochs.seen == list(range(2, settings["epochs"] + 1))
    _assert_same_state(whole, resumed)
    assert whole.predict(examples) == resumed.predict(examples)
    assert whole.examples_seen == resumed.examples_seen


class _PartsReporter(SilentReporter):
    def __init__(self) -> None:
        self.parts: dict[tuple[int, int], list[float]] = {}
        self.losses: list[float | None] = []

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        self.parts[epoch, epochs] = []

    def check(self, part: float, loss: float | None = None) -> None:
        self.parts[list(self.parts)[-1]].append(part)
        self.losses.append(loss)


class _EpochsReporter(SilentReporter):
    def __init__(self) -> None:
        self.seen: list[int] = []

    def progress(self, progress: EpochProgress) -> None:
        self.seen.append(progress.epoch)


def _short(kind: Kind, settings: Settings) -> dict[str, Any]:
    """Return the settings of a training of three epochs, without an early end."""
    return {**settings, **({"epochs": 3} if issubclass(kind, EpochLearner) else {})}


def _wrong_values(name: str, field: Mapping[str, Any]) -> Iterator[Any]:
    yield [["wrong"]]
    if field.get("type") in ("integer", "number"):
        low = field.get("minimum", field.get("exclusiveMinimum"))
        high = field.get("maximum", field.get("exclusiveMaximum"))
        assert low is not None and high is not None, f"{name} has no smallest or no largest value"
        yield from (low - 1, high + 1)


def _without(arrays: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {other: array for other, array in arrays.items() if other != name}


def _assert_same_state(one: Learner, other: Learner) -> None:
    (arrays, data), (others, other_data) = one.state(), other.state()
    assert arrays.keys() == others.keys() and data == other_data
    for name, array in arrays.items():
        assert np.array_equal(array, others[name]), f"{name} differs"


@contextmanager
def _refused(named: str) -> Iterator[None]:
    """Expect one `BadTraining` whose text has this name."""
    try:
        yield
    except BadTraining as error:
        assert named in str(error), f"{error} does not name {named}"
    else:
        raise AssertionError(f"Expected an error about {named}, got none.")
