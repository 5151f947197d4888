"""Definitions of findings: specs can be read, methods exist, slices are facets; and `each` stands for several."""

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.errors import BadSpec
from generation.engine.learners import find_learner
from generation.engine.learners.base import EpochConfig, SizeName
from generation.engine.spec import RESERVED_SPLITS, BaseSpec
from generation.engine.worlds import get_maker, get_world
from generation.models.datasets import SLUG_PATTERN
from generation.specs import loading
from generation.splits.count_shifts import CountShift
from generation.splits.query_string import read_query
from generation.splits.split_recipes import pairs_of_filter, read_recipe
from tests.leaderboards.findings.made_findings import SMALL, small_definition
from webapp.leaderboards import baselines
from webapp.leaderboards.findings import definitions, records
from webapp.leaderboards.findings.definitions import (
    BASELINE,
    FOLDER,
    GUESSES,
    SIZES,
    BadFinding,
    Definition,
    FindingDataset,
    FindingSize,
    TableColumn,
    expand,
    load,
    names,
    read_definition,
)
from webapp.leaderboards.findings.pages import sum_of

EVERY = [(name, size) for name in names() for size in load(name).sizes]
LONGEST_SLUG = 60
TABLE = SMALL["tables"][0]


@pytest.fixture(params=EVERY, ids=["-".join(one) for one in EVERY])
def one(request: pytest.FixtureRequest) -> tuple[str, SizeName, Definition, FindingSize]:
    name, size = request.param
    definition = load(name)
    return name, size, definition, definition.sizes[size]


def spec_of(dataset: FindingDataset) -> BaseSpec:
    source = loading.gather_spec(dataset.spec, name=dataset.name, folder=records.FOLDER)
    data = loading.change(source.data, files=source.files)
    spec: BaseSpec = get_world(loading.world_of(data)).read_spec(data, files=source.files)
    return spec


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_scenes_of_the_mini_size_can_be_made(name: str) -> None:
    for dataset in load(name).sizes["mini"].datasets:
        spec = spec_of(dataset)
        maker = get_maker(spec.world)
        for split in spec.splits:
            made = itertools.islice(maker.make(spec, split, maker.plan(spec, split)[0]), 3)
            assert all(item.questions for item in made)


def expected_questions(dataset: FindingDataset, split: str, slices: Iterable[str]) -> dict[str, float]:
    """Return the number of questions to expect in each slice of a split, by its share in the first chunk of scenes."""
    spec = spec_of(dataset)
    world, maker = get_world(spec.world), get_maker(spec.world)
    items = list(maker.make(spec, split, maker.plan(spec, split)[0]))
    codes = [world.facet_codes(spec, item) for item in items]
    together = {name: np.concatenate([one[name] for one in codes]) for name in codes[0]}
    found = {}
    for text in slices:
        filters = read_query(pairs_of_filter(text), facets=world.facets(spec)).filters
        is_in = np.all([np.isin(together[name], wanted) for name, wanted in filters.items()], axis=0)
        found[text] = float(np.sum(is_in)) * spec.splits[split].scenes / len(items)
    return found


@pytest.mark.slow
def test_the_mini_size_of_clevr_has_enough_questions_to_be_between_two_bounds() -> None:
    """Otherwise, a statement that a difference is small could never hold, because its interval is too wide."""
    definition = load("clevr-diagnosis")
    datasets = {one.name: one for one in definition.sizes["mini"].datasets}
    statements = [one for one in definition.statements_of("mini") if None not in (one.at_least, one.at_most)]
    names = {name for one in statements for name in one.weights}
    cells = {cell.key: cell for table in definition.tables_of("mini") for cell in table.cells() if cell.key in names}
    counts = {}
    for on in {cell.on for cell in cells.values()}:
        dataset, _, split = on.partition("/")
        slices = {cell.column.slice for cell in cells.values() if cell.on == on}
        counts[on] = expected_questions(datasets[dataset], split, slices)
    for one in statements:
        sizes = {name: counts[cells[name].on][cells[name].column.slice] for name in one.weights}
        reach = 1.96 * math.sqrt(sum(weight**2 / 4 / sizes[name] for name, weight in one.weights.items()))
        low, high = one.bounds
        assert reach < (high - low) / 2, f"{one.says} {sizes}"


@pytest.mark.parametrize("size", SIZES)
def test_a_target_that_cnn_lstm_misses_is_one_that_pbn_reaches(size: SizeName) -> None:
    """Otherwise, the statement would also hold if no method had learned anything."""
    statements = [one for one in load("simtown-sample-complexity").statements_of(size) if len(one.weights) == 1]
    reached = {(name, one.at_least) for one in statements for name in one.weights}
    missed = [(name, one.at_most) for one in statements if one.at_most is not None for name in one.weights]
    assert missed
    for name, target in missed:
        assert (name.replace("/cnn-lstm/", "/pbn/"), target) in reached


def test_trainings_of_simtown_at_the_mini_size_have_equally_many_steps() -> None:
    """Otherwise, more examples would also mean a longer training."""
    made = load("simtown-sample-complexity").sizes["mini"]
    examples = {f"{one.name}/train": spec_of(one).splits["train"].scenes for one in made.datasets}
    examples |= {f"{one.name}/{derived.name}": derived.recipe["first"] for one in made.datasets for derived in one.sets}
    assert len(set(examples.values())) == 2
    steps = []
    for one in made.trainings:
        config = find_learner(one.method).read_config(one.config, size="mini")
        assert isinstance(config, EpochConfig)
        steps.append(config.epochs * math.ceil(examples[one.train] / config.batch))
        assert config.patience_steps > steps[-1]
    assert max(steps) < 1.02 * min(steps)


def splits_of(dataset: FindingDataset) -> set[str]:
    shifts = [CountShift(one.kept, one.removed).name for one in dataset.shifts]
    made = set(spec_of(dataset).splits)
    shifted = {f"{split}-{name}" for name in shifts for split in made}
    return made | shifted | {one.name for one in dataset.sets}


def test_the_findings_of_five_papers_have_two_sizes_each() -> None:
    assert len(names()) == 5
    assert len(EVERY) == 10


def test_specs_recipes_and_names_are_valid(one: tuple[str, SizeName, Definition, FindingSize]) -> None:
    name, size, _, made = one
    for dataset in made.datasets:
        slug = f"{name}-{size}-{dataset.name}"
        assert re.fullmatch(SLUG_PATTERN, slug) and len(slug) <= LONGEST_SLUG
        known = set(spec_of(dataset).splits)
        for derived in dataset.sets:
            assert derived.parent in known and derived.name not in RESERVED_SPLITS
            read_recipe({"parent": derived.parent, **derived.recipe})
        assert len({derived.name for derived in dataset.sets} | known) == len(dataset.sets) + len(known)


def test_splits_exist(one: tuple[str, SizeName, Definition, FindingSize]) -> None:
    _, size, definition, made = one
    known = {f"{dataset.name}/{split}" for dataset in made.datasets for split in splits_of(dataset)}
    cells = [cell for table in definition.tables_of(size) for cell in table.cells()]
    wanted = {path for each in made.trainings for path in (each.train, each.val, *each.tests)}
    wanted |= {cell.on for cell in cells} | {cell.source for cell in cells if cell.kind == GUESSES}
    assert sorted(wanted - known) == []


def test_trainings_answer_what_tables_show(one: tuple[str, SizeName, Definition, FindingSize]) -> None:
    """A figure on a question set may come from answers to its parent."""
    _, size, definition, made = one
    parents = {
        f"{dataset.name}/{derived.name}": f"{dataset.name}/{derived.parent}"
        for dataset in made.datasets
        for derived in dataset.sets
    }
    answered = {each.name: set(each.tests) for each in made.trainings}
    shown = [cell for table in definition.tables_of(size) for cell in table.cells() if not cell.kind]
    lacking = [cell.key for cell in shown if not answered[cell.of] & {cell.on, parents.get(cell.on)}]
    assert lacking == []
    assert answered.keys() == {cell.of for cell in shown}, "every training is shown in a table"


def test_methods_and_settings_exist(one: tuple[str, SizeName, Definition, FindingSize]) -> None:
    _, size, _, made = one
    for each in made.trainings:
        find_learner(each.method).read_config(each.config, size=size)


def test_slices_are_facets_and_baselines_exist(one: tuple[str, SizeName, Definition, FindingSize]) -> None:
    _, size, definition, made = one
    specs = {dataset.name: spec_of(dataset) for dataset in made.datasets}
    for cell in (cell for table in definition.tables_of(size) for cell in table.cells()):
        spec = specs[cell.on.partition("/")[0]]
        read_query(pairs_of_filter(cell.column.slice), facets=get_world(spec.world).facets(spec))
        assert cell.kind != BASELINE or baselines.about_of(cell.source) is not None


def test_the_papers_shares_are_between_0_and_1(one: tuple[str, SizeName, Definition, FindingSize]) -> None:
    _, size, definition, _ = one
    for table in definition.tables_of(size):
        for row, (at, column) in itertools.product(table.rows, enumerate(table.columns)):
            figure = table.paper_figure(row, at)
            assert figure is None or 0 <= figure <= (5 if column.metric == "rmse" else 1)


@pytest.mark.parametrize("name", ["cnn-lstm/count", "type-mode/equal", "type-mode/less", "type-mode/more"])
def test_a_figure_that_the_paper_describes_only_in_words_is_left_out(name: str) -> None:
    [table] = [one for one in load("clevr-diagnosis").tables if one.name == "types"]
    row, column = name.split("/")
    at = [one.name for one in table.columns].index(column)
    assert table.paper[row][at] is None


def test_every_statement_is_a_sentence_and_no_two_are_the_same(
    one: tuple[str, SizeName, Definition, FindingSize],
) -> None:
    _, size, definition, _ = one
    says = [each.says for each in definition.statements_of(size)]
    assert len(set(says)) == len(says)
    assert all(re.fullmatch(r"[A-Z].*\.", text) for text in says)


def test_a_headline_is_a_sentence_with_bars_at_each_size(one: tuple[str, SizeName, Definition, FindingSize]) -> None:
    _, size, definition, _ = one
    headline = definition.headline
    assert re.fullmatch(r"[A-Z].*\.", headline.says) and not headline.shows.endswith(".")
    labels = [bar.label for bar in definition.bars_of(size)]
    assert len(labels) == len(set(labels)) >= 4


def test_the_papers_own_figures_satisfy_the_statements(one: tuple[str, SizeName, Definition, FindingSize]) -> None:
    _, size, definition, _ = one
    papers = {name: figure for table in definition.tables_of(size) for name, figure in table.paper_figures().items()}
    for statement in definition.statements_of(size):
        value = sum_of(statement, papers)
        low, high = statement.bounds
        assert value is None or low <= round(value, 9) <= high, statement.says


# Reading


def test_an_unknown_finding_is_one_message_with_the_known_names() -> None:
    with pytest.raises(BadFinding, match="clevr-diagnosis"):
        load("nothing")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("statements", 0, "plus"), ["all/words/none"], "figures of the tables, got 'all/words/none'"),
        (("tables", 0, "rows", 0, "of"), "other", "a training of mini for all/words/all, got 'other'"),
        (("tables", 0, "columns", 0, "on"), "shops/test", "a split of shapes, got 'shops/test'"),
        (("tables", 0, "paper"), {"words": [0.5]}, "Expected 4 figures of a row"),
        (("tables", 0, "columns", 1, "name"), "all", "columns with different names"),
        (("tables", 0, "columns", 1, "metric"), "beauty", "rmse"),
        (("tables", 0, "columns", 1, "metric"), "share", "a metric of answers for all/words/part, got share"),
        (("tables", 0, "rows", 2, "of"), "questions", "share, unique, known for all/mode/all, got accuracy"),
        (("tables", 0, "columns", 2, "words"), [9, 3], "the smaller number of words first, got 9 and 3"),
        (("tables", 0, "chart"), "lines", "Expected `at` of each column"),
        (
            ("tables", 0),
            {
                **TABLE,
                "paper": {},
                "mean": True,
                "columns": [TABLE["columns"][0], {**TABLE["columns"][1], "metric": "rmse"}],
            },
            "Expected columns with one metric for a mean, got accuracy, rmse",
        ),
        (("sizes", "mini", "trainings", 0, "train"), "shops/train", "a split of shapes, got 'shops/train'"),
        (("headline", "bars", 0, "mean_of"), ["all/words/none"], "figures in percent of the tables of mini for Bag"),
        (("sizes", "huge"), {}, "huge"),
    ],
)
def test_a_wrong_definition_is_one_message(path: tuple[Any, ...], value: Any, message: str) -> None:
    data = json.loads(json.dumps(SMALL))
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(BadSpec, match=re.escape(message)):
        read_definition(data)


def test_the_digest_changes_with_what_is_made_or_stated_but_not_with_texts() -> None:
    digest = small_definition().digest("mini")
    [first, *others], [table] = SMALL["statements"], SMALL["tables"]
    assert small_definition(statements=[{**first, "at_least": -0.9}, *others]).digest("mini") != digest
    mini = SMALL["sizes"]["mini"]
    [training] = mini["trainings"]
    changed = {**mini, "trainings": [{**training, "seeds": [0, 1, 2]}]}
    assert small_definition(sizes={"mini": changed}).digest("mini") != digest
    columns = [{**table["columns"][0], "words": [1, 9]}, *table["columns"][1:]]
    assert small_definition(tables=[{**table, "columns": columns}]).digest("mini") != digest
    texts = {"title": "Another", "about": "Other words.", "sizes": {"mini": {**mini, "about": "Other words."}}}
    says = [{**first, "says": "In other words."}, *others]
    shown = [{**table, "title": "Other words", "note": "A note.", "paper": {}}]
    assert small_definition(**texts, statements=says, tables=shown).digest("mini") == digest


# `each`


def slow_expansion(template: str, each: dict[str, list[int]]) -> Iterator[str]:
    """Yield the texts of a template, by one loop for each name."""
    if not each:
        yield template
        return
    [first, *rest] = each
    for value in each[first]:
        left = {name: each[name] for name in rest}
        yield from slow_expansion(template.replace("{" + first + "}", str(value)), left)


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 99), max_size=3), min_size=1))
def test_each_stands_for_every_combination_in_order(each: dict[str, list[int]]) -> None:
    template = "-".join("{" + name + "}" for name in each) + "-{column}"
    found = expand([{"each": each, "name": template, "rest": [{"deep": template}]}])
    assert [one["name"] for one in found] == list(slow_expansion(template, each))
    assert [one["rest"][0]["deep"] for one in found] == [one["name"] for one in found]


def test_a_text_that_is_only_a_name_becomes_the_value() -> None:
    assert expand([{"each": {"n": [5]}, "first": "{n}", "name": "n{n}"}]) == [{"first": 5, "name": "n5"}]


def test_each_with_a_value_stands_for_values_and_may_name_a_list() -> None:
    assert expand(["a", {"each": {"k": "some"}, "value": "x{k}"}], {"some": [1, 2]}) == ["a", "x1", "x2"]


def test_files_have_no_unknown_keys_and_end_with_a_line_break() -> None:
    for path in definitions.FOLDER.glob("*"):
        assert path.suffix == ".json" and path.read_text(encoding="utf-8").endswith("}\n")
    assert FOLDER.is_dir()


@pytest.mark.parametrize(
    ("metric", "is_share"),
    [("accuracy", True), ("groundp", True), ("mean_over_labels", True), ("rmse", False), ("relative_error", False)],
)
def test_a_figure_is_a_share_if_it_cannot_be_above_100_percent(metric: str, is_share: bool) -> None:
    assert TableColumn(name="a", label="A", metric=metric).is_share == is_share
