"""The rules that every world must follow: `python -m tests.worlds.conformance NAME` checks all of them.

Each rule is an independent function of a `Case` that raises AssertionError if the world violates it. The rules need a
maker, so a world without a maker is not checked. The rules for a world on the site are in `tests.worlds.site`.
"""

import itertools
import json
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from generation.engine.content_hash import canonical, digest
from generation.engine.environment.dataset import at_levels
from generation.engine.errors import BadScene, BadSpec
from generation.engine.items import (
    JOINT,
    Answer,
    AnswerForm,
    AnswerKind,
    Facet,
    FacetKind,
    Item,
    Media,
    Needs,
    Question,
)
from generation.engine.language.token_vocabulary import split_words
from generation.engine.program import execute, from_json, to_json, typecheck
from generation.engine.spec import BaseSpec
from generation.engine.worlds import Maker, World, get_world
from generation.engine.worlds.base import unanswered
from generation.engine.worlds.levels import NAMES, Change
from generation.engine.worlds.story_text import seen_by, story_of

FEW = 4
NO_SCENE: Mapping[str, Any] = {"nothing": "of use"}


@dataclass(frozen=True)
class Case:
    """A world, a small spec of it, and the items that are generated from this spec."""

    world: World

    @cached_property
    def maker(self) -> Maker:
        """The maker of the world."""
        assert self.world.maker is not None
        return self.world.maker

    @cached_property
    def specs(self) -> dict[str, BaseSpec]:
        """All presets as specs."""
        return {name: self.world.read_spec(self.maker.preset(name)) for name in self.maker.presets()}

    @cached_property
    def spec(self) -> BaseSpec:
        """The smallest preset, with only a few scenes in each split."""
        smallest = min(self.specs.values(), key=lambda spec: sum(one.scenes for one in spec.splits.values()))
        data = smallest.to_json()
        for split in data["splits"].values():
            split["scenes"] = min(split["scenes"], FEW)
        return self.world.read_spec(data)

    @cached_property
    def split(self) -> str:
        """The name of the first split."""
        return next(iter(self.spec.splits))

    @cached_property
    def own(self) -> BaseSpec:
        """The spec with the settings of the first split."""
        return self.spec.for_split(self.split)

    @cached_property
    def items(self) -> list[Item]:
        """All items of the first split."""
        return self.made(self.spec)

    def made(self, spec: BaseSpec, *, secret: bytes = b"") -> list[Item]:
        """Return the items of the first split, generated again."""
        chunks = self.maker.plan(spec, self.split)
        return [item for chunk in chunks for item in self.maker.make(spec, self.split, chunk, secret=secret)]

    @cached_property
    def facets(self) -> tuple[Facet, ...]:
        """The facets that need only the item."""
        return tuple(facet for facet in self.world.facets(self.own) if facet.needs == Needs.ITEM)

    def longer(self, scenes: int) -> BaseSpec:
        """Return the spec with more scenes in the first split."""
        data = self.spec.to_json()
        data["splits"][self.split]["scenes"] += scenes
        return self.world.read_spec(data)

    def questions(self) -> list[tuple[Item, Question]]:
        """Return all questions, each with its item."""
        return [(item, question) for item in self.items for question in item.questions]


def as_json(items: list[Item]) -> str:
    """Return the JSON of items as one text."""
    return canonical(
        [
            [
                item.scene.to_json() if item.scene else None,
                item.view.to_json() if item.view else None,
                [question.to_json() for question in item.questions],
            ]
            for item in items
        ]
    )


def presets_are_readable(case: Case) -> None:
    """Every bundled preset is valid, and an unknown preset is refused."""
    assert case.specs
    for name, spec in case.specs.items():
        assert spec.world == case.world.name, name
    try:
        case.maker.preset("no such preset")
    except BadSpec:
        return
    raise AssertionError("an unknown preset was given")


def references_are_other_splits(case: Case) -> None:
    """The reference of a split must be another existing split."""
    for reference in ("nowhere", case.split):
        data = case.spec.to_json()
        data["splits"][case.split]["reference"] = reference
        try:
            case.world.read_spec(data)
        except BadSpec as error:
            assert error.where == f"splits.{case.split}.reference", error.where
            continue
        raise AssertionError(f"{case.split} may be measured against {reference!r}")


def specs_survive_json(case: Case) -> None:
    """The JSON of a spec is read as the same spec."""
    for name, spec in case.specs.items():
        again = case.world.read_spec(json.loads(json.dumps(spec.to_json())))
        assert digest(again.to_json()) == digest(spec.to_json()), name


def plan_covers_each_split_once(case: Case) -> None:
    """Chunks are numbered from 0, and their items and questions cover each split once and without gaps."""
    for spec in case.specs.values():
        for split in spec.splits:
            items = questions = 0
            chunks = case.maker.plan(spec, split)
            for number, chunk in enumerate(chunks):
                assert chunk.number == number
                assert (chunk.first_item, chunk.first_question) == (items, questions)
                assert chunk.items > 0
                items, questions = items + chunk.items, questions + chunk.questions
            assert items == spec.splits[split].scenes


def chunks_hold_what_was_planned(case: Case) -> None:
    """A chunk has as many items and questions as planned."""
    for chunk in case.maker.plan(case.spec, case.split):
        items = list(case.maker.make(case.spec, case.split, chunk))
        assert len(items) == chunk.items
        assert sum(len(item.questions) for item in items) == chunk.questions


def chunks_depend_on_their_arguments_alone(case: Case) -> None:
    """A chunk is the same when it is generated again, in any order, and while another chunk is being generated."""
    assert as_json(case.made(case.spec)) == as_json(case.items)
    largest = max(case.specs.values(), key=lambda spec: sum(one.scenes for one in spec.splits.values()))
    split = max(largest.splits, key=lambda name: largest.splits[name].scenes)
    chunks = case.maker.plan(largest, split)[:2]

    def first(chunk: Any) -> str:
        return as_json(list(islice(case.maker.make(largest, split, chunk), 2)))

    forwards = [first(chunk) for chunk in chunks]
    backwards = [first(chunk) for chunk in reversed(chunks)][::-1]
    assert forwards == backwards
    makers = [case.maker.make(largest, split, chunk) for chunk in chunks]
    turns = [[next(one) for one in makers] for _ in range(2)]
    assert [as_json(list(items)) for items in zip(*turns, strict=True)] == forwards
    assert len(set(forwards)) == len(chunks)


def scenes_and_views_survive_json(case: Case) -> None:
    """Scenes and views are unchanged after JSON, and nonsense is refused."""
    for item in case.items:
        for part, read in ((item.scene, case.world.read_scene), (item.view, case.world.read_view)):
            if part is not None:
                data = json.loads(json.dumps(part.to_json()))
                assert canonical(read(data).to_json()) == canonical(part.to_json())
    for read in (case.world.read_scene, case.world.read_view):
        try:
            read(NO_SCENE)
        except BadScene:
            continue
        raise AssertionError("nonsense was read as a scene or a view")


def programs_give_the_answers(case: Case) -> None:
    """Every program is well typed, survives JSON, has the type of its question and gives the answer on the scene."""
    table = case.world.functions(case.own)
    for item, question in case.questions():
        if question.program is None:
            continue
        assert table is not None
        assert question.answer is not None
        kind = typecheck(question.program, table=table)
        assert from_json(json.loads(json.dumps(to_json(question.program)))) == question.program
        scene = case.world.read_scene(item.scene.to_json()) if item.scene else None
        trace = execute(question.program, scene, table=table, scope=question.scope)
        assert str(trace[-1].value) == question.answer.text, question.text
        assert trace[-1].type == kind
        assert question.kind == table.kind_of(question.program)
        assert table.answer_kinds[kind] == question.answer.kind
        json.dumps([step.value for step in trace])


def answers_are_known_beforehand(case: Case) -> None:
    """The vocabulary of answers contains each answer once, and every answer of a question."""
    known = case.world.answers(case.own)
    assert len(set(known)) == len(known)
    for _, question in case.questions():
        assert question.answer is None or question.answer.text in known, question.text


def facets_are_well_formed(case: Case) -> None:
    """Facets have distinct names and values, a label for each value or none, and decimal numbers."""
    facets = case.world.facets(case.own)
    assert len({facet.name for facet in facets}) == len(facets)
    for facet in facets:
        assert facet.name, facet
        assert facet.label, facet
        assert facet.values, facet.name
        assert len(set(facet.values)) == len(facet.values), facet.name
        assert len(facet.labels) in (0, len(facet.values)), facet.name
        if facet.kind == FacetKind.INTEGER:
            assert all(str(int(value)) == value for value in facet.values), facet.name
        if facet.bins:
            assert facet.kind == FacetKind.INTEGER, facet.name
            assert list(facet.bins) == sorted(set(facet.bins)), facet.name
            assert facet.bins[0] <= min(int(value) for value in facet.values), f"{facet.name} has values in no bin"


def facet_codes_are_complete_and_in_range(case: Case) -> None:
    """Each facet has one code for each question: the number of a value, or -1 if the question has no value."""
    for item in case.items:
        codes = case.world.facet_codes(case.own, item)
        assert set(codes) == {facet.name for facet in case.facets}
        for facet in case.facets:
            most = 2 ** len(facet.values) if facet.kind == FacetKind.FLAGS else len(facet.values)
            assert len(codes[facet.name]) == len(item.questions), facet.name
            assert all(-1 <= code < most for code in codes[facet.name]), facet.name


def facets_that_reveal_nothing_need_the_words_alone(case: Case) -> None:
    """The codes of a facet that is not revealing do not change with scene, view or answer."""
    hidden = [facet.name for facet in case.facets if not facet.reveals]
    for item, other in zip(case.items, case.items[1:] + case.items[:1], strict=True):
        blind = tuple(replace(question, answer=_another(case, question)) for question in item.questions)
        here = case.world.facet_codes(case.own, item)
        there = case.world.facet_codes(case.own, replace(other, questions=blind))
        for name in hidden:
            assert list(here[name]) == list(there[name]), f"{name} depends on scene or answer"


def _another(case: Case, question: Question) -> Answer | None:
    """Return another answer than that of the question."""
    if question.answer is None:
        return None
    other = next(text for text in case.world.answers(case.own) if text != question.answer.text)
    return Answer(other, question.answer.kind)


def train_keys_need_what_everybody_sees_alone(case: Case) -> None:
    """Facets that need train have keys that depend on neither answers nor pictures, and at least one key each."""
    needing = {facet.name for facet in case.world.facets(case.own) if facet.needs == Needs.TRAIN}
    found = set()
    for item, other in zip(case.items, case.items[1:] + case.items[:1], strict=True):
        questions = tuple(replace(question, answer=_another(case, question)) for question in item.questions)
        told = item if case.world.media == Media.STORY else other
        for question, changed in zip(item.questions, questions, strict=True):
            keys = case.world.train_keys(case.own, item, question)
            assert set(keys) == needing
            assert keys == case.world.train_keys(case.own, replace(told, questions=questions), changed)
            found |= {name for name, some in keys.items() if some}
    assert found == needing


def repeats_are_told_apart_by_one_key(case: Case) -> None:
    """A repeatable thing has a facet about train with one key for each question, or one for each item."""
    if not case.world.repeats:
        return
    facets = {facet.name: facet for facet in case.world.facets(case.own)}
    assert facets[case.world.repeats_by].needs == Needs.ITEM
    assert len({one.facet for one in case.world.repeats}) == len(case.world.repeats)
    for one in case.world.repeats:
        assert facets[one.facet].needs == Needs.TRAIN, one
        assert one.label, one
        for item in case.items:
            keys = [case.world.train_keys(case.own, item, question)[one.facet] for question in item.questions]
            assert all(len(some) == 1 for some in keys), one
            assert not one.is_of_item or len({tuple(some) for some in keys}) <= 1, one
    for value, spaces in case.world.spaces(case.own).items():
        assert value in facets[case.world.repeats_by].values
        assert set(spaces) <= {one.facet for one in case.world.repeats}
        assert all(space > 0 for space in spaces.values())


def steps_point_at_elements(case: Case) -> None:
    """Elements are numbered from 0 and have labels, and steps refer only to them."""
    table = case.world.functions(case.own)
    for item in case.items:
        elements = case.world.elements(case.own, item)
        assert [element.id for element in elements] == list(range(len(elements)))
        assert all(element.label for element in elements)
        for question in item.questions:
            if question.program is None or table is None:
                continue
            for step in execute(question.program, item.scene, table=table, scope=question.scope):
                assert set(step.elements) <= set(range(len(elements))), question.text


def equivalents_are_no_longer(case: Case) -> None:
    """An equivalent question has a text, and a program that is not longer than that of the question."""
    for item, question in case.questions():
        if question.program is None:
            continue
        found = case.world.equivalent(case.own, item, question.program)
        if found is not None:
            assert 0 < len(found.program) <= len(question.program), question.text
            assert found.text == found.text.strip() != "", question.text
            assert found.known in ("", question.answer.text), question.text


def pictures_show_the_elements(case: Case) -> None:
    """A picture is RGB, its ids have the same size and are 0 or an element's id + 1, and it is always the same."""
    if case.world.media != Media.IMAGE:
        return
    for item in case.items[:2]:
        rgb, ids = case.maker.render(case.spec, case.split, item)
        assert rgb.dtype == np.uint8
        assert ids.dtype == np.uint16
        assert rgb.shape == (*ids.shape, 3)
        shown = set(np.unique(ids).tolist()) - {0}
        assert shown <= {element.id + 1 for element in case.world.elements(case.own, item)}
        again, ids_again = case.maker.render(case.spec, case.split, item)
        assert np.array_equal(rgb, again)
        assert np.array_equal(ids, ids_again)


def prompts_ask_the_question_and_do_not_tell(case: Case) -> None:
    """A prompt contains the text of the question and does not depend on the answer."""
    for _, question in case.questions():
        prompt = case.world.prompt(case.own, question)
        assert question.text in prompt
        assert case.world.prompt(case.own, replace(question, answer=_another(case, question))) == prompt
        assert case.world.prompt(case.own, replace(question, answer=None)) == prompt, "the prompt depends on the answer"


def forms_offer_the_answer(case: Case) -> None:
    """A form contains the answer among its distinct choices and does not depend on the answer."""
    for _, question in case.questions():
        form = case.world.answer_form(case.own, question)
        assert len(set(form.choices)) == len(form.choices)
        assert set(form.swatches) <= set(form.choices)
        assert case.world.answer_form(case.own, replace(question, answer=None)) == form
        if question.answer is not None:
            assert form.kind == question.answer.kind
            assert not form.choices or question.answer.text in form.choices, question.text
        if form.parts:
            check_parts(form)
            assert question.answer is None or is_composed_of_its_parts(form, question.answer.text), question.text


def check_parts(form: AnswerForm) -> None:
    """Fail if an answer of several parts cannot be composed from the parts. Only sets and sequences may have parts."""
    assert form.kind in (AnswerKind.SET, AnswerKind.SEQUENCE)
    assert len(set(form.parts)) == len(form.parts)
    assert form.empty not in form.parts
    assert all(part == part.strip() and JOINT not in part for part in form.parts)
    assert (form.length > 0) == (form.kind == AnswerKind.SEQUENCE)
    assert not form.empty or form.kind == AnswerKind.SET
    assert all(is_composed_of_its_parts(form, choice) for choice in form.choices)


def is_composed_of_its_parts(form: AnswerForm, answer: str) -> bool:
    """Return whether the parts of an answer compose it. The parts of a set may be in any order."""
    parts = form.taken_apart(answer)
    orders = (parts, parts[::-1]) if form.kind == AnswerKind.SET else (parts,)
    return all(form.put_together(order) == answer for order in orders)


def stories_are_lines(case: Case) -> None:
    """A world of stories has lines for every scene, they survive JSON, and every question sees at least one of them."""
    assert case.world.media != Media.STORY or case.world.has_stories
    for item in case.items if case.world.has_stories else ():
        lines = story_of(case.world, item.scene)
        if item.scene is None or lines is None:
            continue
        assert lines
        assert all(line == line.strip() != "" and "\n" not in line for line in lines)
        assert story_of(case.world, case.world.read_scene(json.loads(canonical(item.scene.to_json())))) == lines
        told = {element.line for element in case.world.elements(case.own, item)} - {None}
        assert told <= set(range(len(lines)))
        for number, question in enumerate(item.questions):
            assert seen_by(question, lines), question.text
            stated = case.world.supports(item.scene, number)
            assert set(stated) <= set(range(len(seen_by(question, lines)))), question.text


def colours_are_drawn_as_they_are_told_apart(case: Case) -> None:
    """Either all colours of a world have samples, which look different, or none has. Answers have no other colours."""
    names = sorted(case.world.swatches(case.own))
    forms = [case.world.answer_form(case.own, question) for item in case.items for question in item.questions]
    assert {name for form in forms for name in form.swatches} <= set(names)
    drawn = {name: case.world.draw_colour(case.own, name, which=1, size=40) for name in names}
    shown = {name: rgb for name, rgb in drawn.items() if rgb is not None}
    assert len(shown) in (0, len(names))
    assert all((rgb.shape, rgb.dtype) == ((40, 40, 3), np.uint8) for rgb in shown.values())
    for one, other in itertools.combinations(shown.values(), 2):
        assert np.abs(one.astype(int) - other).mean() > 1


def what_is_easy_is_said_in_numbers_or_not_at_all(case: Case) -> None:
    """Facets for the difficulty of questions are numbers, and whether an item is clear is yes, no or unknown."""
    numbers = {facet.name for facet in case.world.facets(case.own) if facet.kind == FacetKind.INTEGER}
    assert set(case.world.lengths) <= numbers
    assert all(type(most) is int and most > 0 for most in case.world.lengths.values())
    for item in case.items:
        clear = case.world.is_clear(case.own, item)
        assert clear is None or type(clear) is bool
        assert case.world.is_clear(case.own, item) == clear
        assert case.world.is_clear(case.own, replace(item, scene=None)) is None


def columns_name_real_facets(case: Case) -> None:
    """Every column of the leaderboard is a value of an existing facet, and labels are distinct."""
    values = {facet.name: facet.values for facet in case.world.facets(case.own)}
    columns = case.world.columns(case.own)
    assert len({column.label for column in columns}) == len(columns)
    for column in columns:
        assert column.value in values.get(column.facet, ()), column


def views_draw_real_facets(case: Case) -> None:
    """Every chart has an existing facet, a title and an axis, and names are distinct."""
    names = [view.name for view in case.world.views]
    assert len(set(names)) == len(names)
    for view in case.world.views:
        assert re.fullmatch(r"[a-z0-9-]+", view.name), view
        assert view.facet in {facet.name for facet in case.world.facets(case.own)}, view
        assert view.title and view.axis, view


def expected_shares_are_those_of_real_facets(case: Case) -> None:
    """Expected shares belong to an existing facet, with one share for each value, and their sum is one."""
    facets = {facet.name: facet for facet in case.world.facets(case.spec)}
    for name, shares in case.world.expected_shares(case.spec).items():
        assert name in facets, name
        assert len(shares) == len(facets[name].values), name
        assert min(shares) >= 0 and abs(sum(shares) - 1) < 1e-6, name


def board_views_read_real_facets(case: Case) -> None:
    """Every breakdown has existing facets and values, and names are distinct."""
    values = {facet.name: facet.values for facet in case.world.facets(case.own)}
    names = [view.name for view in case.world.board_views]
    assert len(set(names)) == len(names)
    for view in case.world.board_views:
        assert re.fullmatch(r"[a-z0-9-]+", view.name), view
        assert view.title and view.axis, view
        assert view.facets <= set(values), view
        for filters in (view.filters, *(one.filters for one in view.series)):
            assert all(set(wanted) <= set(values[name]) for name, wanted in filters.items()), view
        assert all(one.label for one in view.series), view


def reweighting_reads_real_facets(case: Case) -> None:
    """Facets of the reweighted accuracy are categories. Two facets that always differ have the same values."""
    by = case.world.reweighting
    if by is None:
        return
    facets = {facet.name: facet for facet in case.world.facets(case.spec)}
    assert by.facets and set(by.facets) <= set(facets), by
    assert all(facets[name].kind is FacetKind.CATEGORY for name in by.facets), by
    if by.are_different:
        first, second = by.facets
        assert facets[first].values == facets[second].values, by


def tasks_are_columns(case: Case) -> None:
    """If columns are tasks, at least one column is a task, and a task is passed at a share above 0 and up to 1."""
    tasks = case.world.tasks
    if tasks is not None:
        assert any(column.facet == tasks.facet for column in case.world.columns(case.own)), tasks
        assert 0 < tasks.passed <= 1, tasks
        assert tasks.noun, tasks


def own_baselines_answer_each_question(case: Case) -> None:
    """Each baseline of the world guesses once for each question, always the same, without the answers."""
    baselines = case.world.baselines
    assert len({one.name for one in baselines}) == len(baselines)
    asked, answers = [unanswered(item) for item in case.items], case.world.answers(case.own)
    for one in baselines:
        assert re.fullmatch(r"[a-z0-9-]+", one.name), one
        assert one.label and one.sees and one.fitted, one
        learned = case.items if one.needs_reference else []
        said = [list(one.guess(case.own, iter(asked), learned=iter(learned), check=lambda: None)) for _ in range(2)]
        assert said[0] == said[1], one
        assert len(said[0]) == len(list(case.questions())), one
        assert set(said[0]) <= {"", *answers}, one


def programs_without_a_step_are_programs(case: Case) -> None:
    """A program without a step is shorter, well typed and has the same type of answer."""
    table = case.world.functions(case.own)
    names = [one.name for one in case.world.ablations]
    assert len(set(names)) == len(names)
    for ablation in case.world.ablations:
        assert re.fullmatch(r"[a-z0-9-]+", ablation.name), ablation
        assert ablation.label, ablation
    for _, question in case.questions():
        for ablation in case.world.ablations if question.program else ():
            changed = ablation.change(question.program)
            if changed is not None:
                assert table is not None
                assert len(changed) < len(question.program), ablation
                assert typecheck(changed, table=table) == typecheck(question.program, table=table), ablation


def levels_are_changes_of_specs(case: Case) -> None:
    """Each level of each attribute is measured by a facet, described, and possible for some preset."""
    attributes = case.world.levels
    facets = {facet.name for facet in case.world.facets(case.own) if facet.needs is Needs.ITEM}
    assert len({one.name for one in attributes}) == len(attributes)
    for one in attributes:
        assert one.name.isidentifier() and one.name not in ("index", "level"), one
        assert one.label and one.facet in facets, one
        assert tuple(one.levels) == tuple(one.labels) == NAMES and all(one.labels.values()), one
        for level in NAMES:
            assert any(can_change(case.world, spec, one.change(level)) for spec in case.specs.values()), (one, level)


def can_change(world: World, spec: BaseSpec, change: Change) -> bool:
    """Return whether the first split of a spec can have this level."""
    try:
        at_levels(world, spec, next(iter(spec.splits)), [change])
    except BadSpec:
        return False
    return True


def secrets_change_the_split(case: Case) -> None:
    """Different secrets give different splits."""
    made = [as_json(case.made(case.spec, secret=secret)) for secret in (b"", bytes(range(16)), bytes(range(1, 17)))]
    assert len(set(made)) == 3


def seeds_change_the_split(case: Case) -> None:
    """Different seeds give different splits, and 0 is a valid seed."""
    made = {
        as_json(case.made(case.world.read_spec(case.spec.to_json() | {"seed": seed}))) for seed in (0, 1, 2**64 - 1)
    }
    assert len(made) == 3


def other_splits_do_not_matter(case: Case) -> None:
    """A split does not change without the other splits, and two splits with the same parameters differ."""
    data = case.spec.to_json()
    alone = {**data["splits"][case.split], "reference": None}
    without = case.world.read_spec({**data, "splits": {case.split: alone}})
    assert as_json(case.made(without)) == as_json(case.items)
    renamed = case.world.read_spec({**data, "splits": {"another": alone}})
    chunks = case.maker.plan(renamed, "another")
    items = [item for chunk in chunks for item in case.maker.make(renamed, "another", chunk)]
    assert as_json(items) != as_json(case.items)


def questions_are_well_formed(case: Case) -> None:
    """Questions have a text and a kind, and their scopes are within the elements."""
    for item, question in case.questions():
        assert question.text
        assert question.text == question.text.strip()
        assert question.kind
        if question.scope is not None:
            assert 0 <= question.scope <= len(case.world.elements(case.own, item))


def words_are_known_beforehand(case: Case) -> None:
    """A world with pictures knows every word of its questions in advance."""
    if case.world.media != Media.IMAGE:
        return
    words = case.world.words(case.own)
    assert words is not None
    assert all(split_words(word) == [word] for word in words)
    assert len(set(words)) == len(words)
    for _, question in case.questions():
        assert set(split_words(question.text)) <= set(words), question.text


def longer_splits_begin_alike(case: Case) -> None:
    """A longer split of pictures begins with the same items. All of its chunks except the last have one size."""
    if case.world.media != Media.IMAGE:
        return
    chunks = case.maker.plan(case.longer(10_000), case.split)
    assert len({(chunk.items, chunk.questions) for chunk in chunks[:-1]}) <= 1
    longer = case.made(case.longer(FEW))
    assert len(longer) == len(case.items) + FEW
    assert as_json(longer[: len(case.items)]) == as_json(case.items)


Rule = Callable[[Case], None]
MAKING: tuple[Rule, ...] = (
    presets_are_readable,
    references_are_other_splits,
    specs_survive_json,
    plan_covers_each_split_once,
    chunks_hold_what_was_planned,
    chunks_depend_on_their_arguments_alone,
    scenes_and_views_survive_json,
    programs_give_the_answers,
    answers_are_known_beforehand,
    facets_are_well_formed,
    facet_codes_are_complete_and_in_range,
    facets_that_reveal_nothing_need_the_words_alone,
    train_keys_need_what_everybody_sees_alone,
    repeats_are_told_apart_by_one_key,
    steps_point_at_elements,
    equivalents_are_no_longer,
    pictures_show_the_elements,
    prompts_ask_the_question_and_do_not_tell,
    forms_offer_the_answer,
    stories_are_lines,
    colours_are_drawn_as_they_are_told_apart,
    what_is_easy_is_said_in_numbers_or_not_at_all,
    columns_name_real_facets,
    views_draw_real_facets,
    board_views_read_real_facets,
    expected_shares_are_those_of_real_facets,
    reweighting_reads_real_facets,
    tasks_are_columns,
    own_baselines_answer_each_question,
    programs_without_a_step_are_programs,
    levels_are_changes_of_specs,
    secrets_change_the_split,
    seeds_change_the_split,
    other_splits_do_not_matter,
    questions_are_well_formed,
    words_are_known_beforehand,
    longer_splits_begin_alike,
)


def rules(world: World) -> tuple[Rule, ...]:
    """Return the rules for a world."""
    return MAKING if world.maker is not None else ()


def hold(world: World) -> None:
    """Check all rules for a world. The first violated rule raises AssertionError."""
    case = Case(world)
    for rule in rules(world):
        rule(case)


def main(name: str) -> int:
    """Check all rules for a world and print the results. Return the exit status: 0 if all rules hold, else 1."""
    case, broken = Case(get_world(name)), 0
    for rule in rules(case.world):
        try:
            rule(case)
        except Exception:  # a world of another package may raise anything
            broken += 1
            sys.stdout.write(f"BROKEN  {rule.__name__}: {rule.__doc__}\n")
            sys.stderr.write(traceback.format_exc())
        else:
            sys.stdout.write(f"kept    {rule.__name__}\n")
    sys.stdout.write(f"{name} keeps {len(rules(case.world)) - broken} of {len(rules(case.world))} rules.\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
