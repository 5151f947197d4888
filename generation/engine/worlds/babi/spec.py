"""The spec of a bAbI dataset; the defaults are the released data's values.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, sections 3 and 4; counts and shares are those of the
released data, version 1.2.
"""

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import combinations, islice
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PrivateAttr

from generation.engine.errors import BadSpec
from generation.engine.reading.bounded_json import loads
from generation.engine.seeding import Stage, stream
from generation.engine.spec import COMMON, NO_FILES, BaseSpec, PresetFiles, check_references, over_preset, read
from generation.engine.worlds.babi import story_allocation
from generation.engine.worlds.babi.languages import StoryLanguage, language_of
from generation.engine.worlds.babi.lexicon import BabiLexicon, language_of_lexicon
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.babi.story_parameters import TASKS, Range, StoryParameters, TaskNumber
from generation.engine.worlds.babi.task_interface import Task, ToldStory
from generation.engine.worlds.babi.tasks import BY_NUMBER

SAMPLES = 5  # stories that are checked
TRIES = 300  # stories that are tried; a task that fails this often would be too slow in any case


@lru_cache(maxsize=4_096)
def can_be_told(task: int, parameters: StoryParameters) -> bool:
    """Return whether a task, given by its number, makes a story with these fields."""
    teller, chance = BY_NUMBER[task], stream(seed=0, split="trying", index=task, stage=Stage.SCENE)
    return any(teller.tell(parameters, chance, questions=max(teller.lengths)) is not None for _ in range(TRIES))


def samples(task: int, parameters: StoryParameters) -> list[ToldStory]:
    """Return some stories of a task."""
    teller, chance = BY_NUMBER[task], stream(seed=0, split="samples", index=task, stage=Stage.SCENE)
    told = (teller.tell(parameters, chance, questions=max(teller.lengths)) for _ in range(TRIES))
    return list(islice((one for one in told if one is not None), SAMPLES))


def failing_parameter(task: int, parameters: StoryParameters) -> str | None:
    """Return the first field whose default would make the task possible again, or None if no single field does."""
    plain = StoryParameters()
    changed = [name for name in type(parameters).model_fields if getattr(parameters, name) != getattr(plain, name)]
    mended = {name: parameters.model_copy(update={name: getattr(plain, name)}) for name in changed}
    return next((name for name, other in mended.items() if can_be_told(task, other)), None)


PACKAGE = "generation.engine.worlds.babi"
ORDER = ("babi", "babi-10k", "babi-valid", "babi-hard", "babi-shuffled", "babi-hindi")
PRESETS = PresetFiles(PACKAGE, order=lambda name: (ORDER.index(name) if name in ORDER else 9, name))
TRAIN, VALIDATION, OTHER = Range(low=0.0, high=0.5), Range(low=0.5, high=0.6), Range(low=0.6, high=1.0)
DIGEST = re.compile(r"[0-9a-f]{64}")  # the name of an uploaded file
EVERYTHING = Range(low=0.0, high=1.0)


def _each_once(numbers: list[int]) -> list[int]:
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"Expected each task once, got {numbers}")
    return sorted(numbers)


class BabiSpec(BaseSpec):
    """The spec of a bAbI dataset. A split's scenes are stories; its tasks have equally many questions."""

    world: Literal["babi"] = "babi"
    tasks: Annotated[list[TaskNumber], AfterValidator(_each_once)] = Field(
        default=list(TASKS), min_length=1, title="Tasks", description="1 to 20", json_schema_extra=COMMON
    )
    told: StoryParameters = StoryParameters()
    stories: Range | None = Field(
        default=None,
        description="which part of all stories, by the hash of their text, a split has: train has the first half, "
        "val the tenth after it, every other split the rest",
    )

    lexicon: BabiLexicon | None = Field(
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
        return (
            language_of(self.told.language)
            if self.lexicon is None
            else language_of_lexicon(self.lexicon.model_dump_json())
        )

    @cached_property
    def tellers(self) -> tuple[Task, ...]:
        """The tasks, sorted by number."""
        return tuple(BY_NUMBER[number] for number in self.tasks)

    def for_split(self, name: str) -> Self:
        """Return the spec of a split, with its part of all stories filled in."""
        if name not in self._with_parts:
            own = super().for_split(name)
            self._with_parts[name] = own.model_copy(update={"stories": own.part_of(name)})
        return self._with_parts[name]

    def part_of(self, split: str) -> Range:
        """Return a split's part of all stories; `self` must be the spec of that split."""
        if self.stories is not None:
            return self.stories
        if self.told.faithful:
            return EVERYTHING
        return TRAIN if split.startswith("train") else VALIDATION if split.startswith("val") else OTHER


def gathered(data: Mapping[str, Any], *, folder: Path) -> dict[str, Any]:
    """Return a spec's JSON with the content of the lexicon file that it names; raise `BadSpec`."""
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
    """Return the validated spec, merged over the preset that its `base` names, if any.

    A split may have `questions`, the number for each task, instead of `scenes`.
    """
    own = {key: value for key, value in data.items() if key != "base"} if isinstance(data, Mapping) else {}
    named = own.get("lexicon")
    if isinstance(named, str):
        if named not in files:
            raise BadSpec(f"Expected a lexicon, or the name of a file that is sent, got {named!r}.", where="lexicon")
        data = {**data, "lexicon": _lexicon(files[named], name="the file")}
    spec = read(BabiSpec, counted(over_preset(data, PRESETS), own))
    check_references(spec)
    _check_tellable(spec)
    _check_sayable(spec)
    _check_apart(spec)
    return spec


def counted(whole: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec's JSON in which splits with a number of `questions` for each task get the number of stories."""
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
        split["scenes"] = story_allocation.stories(_tellers(whole, split, where=f"splits.{name}"), questions)
    return whole


def _tellers(whole: Mapping[str, Any], split: Mapping[str, Any], *, where: str) -> list[Task]:
    numbers = {**whole, **(split.get("overrides") or {})}.get("tasks", list(TASKS))
    if not isinstance(numbers, list) or not numbers or not all(number in BY_NUMBER for number in numbers):
        raise BadSpec(f"Expected a list of tasks of 1 to 20, got {numbers!r}.", where=f"{where}.tasks")
    return [BY_NUMBER[number] for number in sorted(numbers)]


def _check_tellable(spec: BabiSpec) -> None:
    """Raise `BadSpec` if a task cannot make stories with the fields of a split."""
    for name, split in spec.splits.items():
        told = spec.for_split(name).told
        for task in spec.for_split(name).tellers:
            if told == StoryParameters() or can_be_told(task.number, told):
                continue
            parameter = failing_parameter(task.number, told)
            got = f"{parameter} {getattr(told, parameter)}" if parameter else "none"
            raise BadSpec(
                f"Expected settings with which task {task.number} ({task.label}) can be told, got {got}: change them, "
                "or leave the task out of `tasks`.",
                where=".".join(
                    [*_override_path(split.overrides, name, parameter), "told", *([parameter] if parameter else [])]
                ),
            )


def _check_sayable(spec: BabiSpec) -> None:
    """Raise `BadSpec` if a lexicon lacks a word, sentence or answer that some sampled stories of the tasks need."""
    if spec.lexicon is None:
        return
    if spec.told.language != "english":
        raise BadSpec(f"Expected no lexicon, or the language english, got {spec.told.language}.", where="told.language")
    for name in spec.splits:
        own = spec.for_split(name)
        for task in own.tellers:
            for answer in task.answers(own.told):
                own.language.answer(answer)
            for told in samples(task.number, own.told):
                own.language.story(Story(task.number, told.lines))
                for ask in told.asks:
                    own.language.text(ask.text)


def _override_path(overrides: Mapping[str, Any], split: str, parameter: str | None) -> list[str]:
    """Return the path of a field that a split overrides; empty if the split has the dataset's value."""
    told = overrides.get("told") or {}
    return ["splits", split, "overrides"] if (parameter in told if parameter else told) else []


def _check_apart(spec: BabiSpec) -> None:
    """Raise `BadSpec` if two splits may share stories, except in data as released."""
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
