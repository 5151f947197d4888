"""The spec of a bAbI dataset: every knob, with the released data's values as defaults.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, sections 3 and 4; counts and shares are those of the
released data, version 1.2.
"""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr

from generation.engine.errors import BadSpec
from generation.engine.reading.bounded_json import loads
from generation.engine.spec import COMMON, NO_FILES, BaseSpec, bundled, check_references, merged, read
from generation.engine.worlds.babi import layout, trying
from generation.engine.worlds.babi.knobs import TASKS, Knobs, Range, TaskNumber
from generation.engine.worlds.babi.languages import StoryLanguage, language_of
from generation.engine.worlds.babi.lexicon import Lexicon, spoken
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.babi.tasks import BY_NUMBER
from generation.engine.worlds.babi.telling import Task

PACKAGE = "generation.engine.worlds.babi"
ORDER = ("babi", "babi-10k", "babi-valid", "babi-hard", "babi-shuffled", "babi-hindi")
TRAIN, VALIDATION, OTHER = Range(low=0.0, high=0.5), Range(low=0.5, high=0.6), Range(low=0.6, high=1.0)
DIGEST = re.compile(r"[0-9a-f]{64}")  # as files that were sent are named
EVERYTHING = Range(low=0.0, high=1.0)


def _each_once(numbers: list[int]) -> list[int]:
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"Expected each task once, got {numbers}")
    return sorted(numbers)


class BabiSpec(BaseSpec):
    """A bAbI dataset, whole. A split's scenes are stories; its tasks have as many questions each."""

    world: Literal["babi"] = "babi"
    tasks: Annotated[list[TaskNumber], AfterValidator(_each_once)] = Field(
        default=list(TASKS), min_length=1, title="Tasks", description="1 to 20", json_schema_extra=COMMON
    )
    told: Knobs = Knobs()
    stories: Range | None = Field(
        default=None,
        description="which part of all stories, by the hash of their text, a split has: train has the first half, "
        "val the tenth after it, every other split the rest",
    )

    lexicon: Lexicon | None = Field(
        default=None, description="words and sentences of your own, in place of ours; a file that `lexicon` learned"
    )
    answers: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(
        default=[],
        max_length=1_000,
        description="further answers, of questions that were published elsewhere",
    )

    _with_parts: dict[str, Self] = PrivateAttr(default_factory=dict)

    @property
    def language(self) -> StoryLanguage:
        """The language of the stories: that of the lexicon if the spec has one."""
        return language_of(self.told.language) if self.lexicon is None else spoken(self.lexicon.model_dump_json())

    @cached_property
    def tellers(self) -> tuple[Task, ...]:
        """The tasks, by their numbers."""
        return tuple(BY_NUMBER[number] for number in self.tasks)

    def for_split(self, name: str) -> Self:
        """Return the spec as a split has it, its part of all stories spelled out."""
        if name not in self._with_parts:
            own = super().for_split(name)
            self._with_parts[name] = own.model_copy(update={"stories": own.part_of(name)})
        return self._with_parts[name]

    def part_of(self, split: str) -> Range:
        """Return which part of all stories a split has; `self` is the spec as that split has it."""
        if self.stories is not None:
            return self.stories
        if self.told.faithful:
            return EVERYTHING
        return TRAIN if split.startswith("train") else VALIDATION if split.startswith("val") else OTHER


def gathered(data: Mapping[str, Any], *, folder: Path) -> dict[str, Any]:
    """Return a spec's JSON with the lexicon that it names by a file; raise `BadSpec`."""
    named = data.get("lexicon") if isinstance(data, Mapping) else None
    if not isinstance(named, str) or DIGEST.fullmatch(named):
        return dict(data)
    try:
        return {**data, "lexicon": _lexicon((folder / named).read_bytes(), name=named)}
    except OSError as error:
        raise BadSpec(
            f"Expected the name of a lexicon's file, got {named!r} ({error.strerror}).", where="lexicon"
        ) from error


def _lexicon(content: bytes, *, name: str) -> Any:
    try:
        return loads(content)
    except ValueError as error:
        raise BadSpec(
            f"Expected a lexicon as JSON in {name}, got something else ({error}).", where="lexicon"
        ) from error


def read_spec(data: Mapping[str, Any], *, files: Mapping[str, bytes] = NO_FILES) -> BabiSpec:
    """Return the validated spec; a `base` is the preset that the rest is laid over.

    A split may say `questions`, of each task, in place of `scenes`.
    """
    if not isinstance(data, Mapping):
        raise BadSpec(f"Expected an object, got {type(data).__name__}.")
    base = data.get("base")
    if base is not None and not isinstance(base, str):
        raise BadSpec(f"Expected the name of a preset, got {base!r}.", where="base")
    own = {key: value for key, value in data.items() if key != "base"}
    named = own.get("lexicon")
    if isinstance(named, str):
        if named not in files:
            raise BadSpec(f"Expected a lexicon, or the name of a file that is sent, got {named!r}.", where="lexicon")
        own["lexicon"] = _lexicon(files[named], name="the file")
    spec = read(BabiSpec, _counted(merged(_bundled(base) if base is not None else {}, own), own))
    check_references(spec)
    _check_tellable(spec)
    _check_sayable(spec)
    _check_apart(spec)
    return spec


def _counted(whole: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec's JSON with the number of stories where a split says how many questions each task has."""
    splits = whole.get("splits")
    for name, split in splits.items() if isinstance(splits, dict) else ():
        if not isinstance(split, dict) or "questions" not in split:
            continue
        where, questions = f"splits.{name}.questions", split.pop("questions")
        said = own.get("splits", {}).get(name, {})
        if "scenes" in said and "questions" in said:
            raise BadSpec("Expected questions of each task, or scenes, got both.", where=where)
        if "questions" not in said and "scenes" in said:
            continue
        if isinstance(questions, bool) or not isinstance(questions, int) or not 1 <= questions <= 1_000_000:
            raise BadSpec(f"Expected 1 to 1,000,000 questions of each task, got {questions!r}.", where=where)
        split["scenes"] = layout.stories(_tellers(whole, split, where=f"splits.{name}"), questions)
    return whole


def _tellers(whole: Mapping[str, Any], split: Mapping[str, Any], *, where: str) -> list[Task]:
    numbers = {**whole, **(split.get("overrides") or {})}.get("tasks", list(TASKS))
    if not isinstance(numbers, list) or not numbers or not all(number in BY_NUMBER for number in numbers):
        raise BadSpec(f"Expected a list of tasks of 1 to 20, got {numbers!r}.", where=f"{where}.tasks")
    return [BY_NUMBER[number] for number in sorted(numbers)]


def _check_tellable(spec: BabiSpec) -> None:
    """Raise `BadSpec` where a split's knobs leave a task no story."""
    for name, split in spec.splits.items():
        told = spec.for_split(name).told
        for task in spec.for_split(name).tellers:
            if told == Knobs() or trying.can_be_told(task.number, told):
                continue
            knob = trying.to_blame(task.number, told)
            got = f"{knob} {getattr(told, knob)}" if knob else "none"
            raise BadSpec(
                f"Expected knobs with which task {task.number} ({task.label}) can be told, got {got}: change them, "
                "or leave the task out of `tasks`.",
                where=".".join([*_overridden(split.overrides, name, knob), "told", *([knob] if knob else [])]),
            )


def _check_sayable(spec: BabiSpec) -> None:
    """Raise `BadSpec` where a lexicon lacks what some stories of the tasks, their questions or answers need."""
    if spec.lexicon is None:
        return
    if spec.told.language != "english":
        raise BadSpec(f"Expected no lexicon, or the language english, got {spec.told.language}.", where="told.language")
    for name in spec.splits:
        own = spec.for_split(name)
        for task in own.tellers:
            for answer in task.answers(own.told):
                own.language.answer(answer)
            for told in trying.samples(task.number, own.told):
                own.language.story(Story(task.number, told.lines))
                for ask in told.asks:
                    own.language.text(ask.text)


def _overridden(overrides: Mapping[str, Any], split: str, knob: str | None) -> list[str]:
    """Return where a split says a knob itself; nothing where it has the dataset's."""
    told = overrides.get("told") or {}
    return ["splits", split, "overrides"] if (knob in told if knob else told) else []


def _check_apart(spec: BabiSpec) -> None:
    """Raise `BadSpec` where two splits may have the same story, but for data as they were released."""
    own = {name: spec.for_split(name) for name in spec.splits}
    for one, other in combinations(own, 2):
        if own[one].told.faithful or own[other].told.faithful:
            continue
        if own[one].part_of(one).overlaps(own[other].part_of(other)):
            raise BadSpec(
                f"Expected other stories than {one} has: say which part of all in `stories`, as "
                '{"low": 0.8, "high": 1.0}.',
                where=f"splits.{other}.overrides.stories",
            )


def presets() -> tuple[str, ...]:
    """Return the names of the bundled specs."""
    return tuple(sorted(bundled(PACKAGE), key=lambda name: (ORDER.index(name) if name in ORDER else 9, name)))


def preset(name: str) -> dict[str, Any]:
    """Return a bundled spec as JSON, its stories counted; raise `BadSpec` for an unknown name."""
    return _counted(_bundled(name), {})


def _bundled(name: str) -> dict[str, Any]:
    if name not in presets():
        raise BadSpec(f"Expected one of {', '.join(presets())}, got {name!r}.", where="base")
    return dict(json.loads(bundled(PACKAGE)[name]))
