"""The counts and texts of a dataset card: counts are compared with slow twins, and titles may hold any text."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from generation.engine.formats.huggingface.card import size_category, table, yaml_text
from generation.engine.formats.huggingface.card_licence import address, hub_name
from generation.engine.formats.huggingface.card_statistics import FacetCounter, lines
from generation.engine.formats.huggingface.croissant import version_of
from generation.engine.formats.huggingface.dataset import FORMAT
from generation.engine.items import Facet
from generation.engine.spec import BaseSpec
from tests.engine.formats.sample import Dataset, Marbles, Split, marbles

HOSTILE = "A \"title\": of\n- <script>alert(1)</script> | # {many} 'signs' --- é"


@pytest.mark.parametrize(
    ("stated", "name", "where"),
    [
        ("CC BY 4.0", "cc-by-4.0", "https://spdx.org/licenses/CC-BY-4.0.html"),
        ("cc_by-sa 4.0 ", "cc-by-sa-4.0", "https://spdx.org/licenses/CC-BY-SA-4.0.html"),
        ("Apache-2.0", "apache-2.0", "https://spdx.org/licenses/Apache-2.0.html"),
        ("My own terms", "other", "My own terms"),
        ("", "unknown", ""),
    ],
)
def test_a_licence_gets_its_names_of_the_hub_and_croissant(stated: str, name: str, where: str) -> None:
    assert (hub_name(stated), address(stated)) == (name, where)


@pytest.mark.parametrize(
    ("rows", "name"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (1_000_000, "1M<n<10M"), (10**9, "100M<n<1B")],
)
def test_a_size_gets_its_category_of_the_hub(rows: int, name: str) -> None:
    assert size_category(rows) == name


@pytest.mark.parametrize(
    ("stated", "version"), [("", "1.0.0"), ("2", "2.0.0"), ("v1.2", "1.2.0"), ("1.2.3.4", "1.2.3"), ("beta", "1.0.0")]
)
def test_a_version_has_three_numbers(stated: str, version: str) -> None:
    assert version_of(stated) == version


@pytest.mark.parametrize("text", [HOSTILE, "", "null", "1.0", "yes", "\t\\", "a: b # c"])
def test_any_text_survives_yaml(text: str) -> None:
    assert yaml.safe_load(f"key: {yaml_text(text)}") == {"key": text}


def test_a_cell_with_markup_stays_one_cell() -> None:
    assert table(["a", "b"], [["x|y\nz", "<b>"]]).splitlines()[-1] == r"| x\|y z | &lt;b> |"


def test_answers_are_counted_as_a_slow_twin_counts_them() -> None:
    [split, _] = marbles().splits
    tally = FacetCounter()
    for item in split.items():
        tally.add(item)
    answers = [q.answer.text for item in split.items() for q in item.item.questions if q.answer]
    best = tally.majority()
    assert best is not None
    assert (best.right, best.of) == (max(Counter(answers).values()), len(answers))
    assert answers.count(best.answer) == best.right
    assert tally.majority_by_kind() == best.right  # all questions have one type
    assert tally.answered == len(answers)


def test_withheld_answers_are_not_counted() -> None:
    [split] = marbles(names=("test",), hides=frozenset({"test"})).splits
    tally = FacetCounter()
    for item in split.items():
        tally.add(item)
    assert (tally.majority(), tally.answered) == (None, 0)


@pytest.mark.parametrize("name", ["color", "answer", "has"])
def test_facet_values_are_counted_as_a_slow_twin_counts_them(name: str) -> None:
    dataset = marbles(hides=frozenset({"val"}))
    shown, found = lines(dataset.splits, name)
    assert [split.name for split in shown] == (["train", "val"] if name == "color" else ["train"])
    for at, split in enumerate(shown):
        slow: Counter[str] = Counter()
        facet = next(facet for facet in split.facets if facet.name == name)
        for code in split.facet_codes(0, split.questions)[name].tolist():
            flags = [value for bit, value in enumerate(facet.values) if code >> bit & 1]
            slow.update(flags if name == "has" else [facet.values[code]])
        assert {line.label: line.counts[at] for line in found if line.counts[at]} == dict(slow)


class Binned(Marbles):
    """Marbles whose facet `answer` has bins."""

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        return tuple(
            replace(facet, bins=(0, 1, 4)) if facet.name == "answer" else facet for facet in super().facets(spec)
        )


class BinnedSplit(Split):
    """A split of marbles with bins."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        return Binned().facets(self.spec)


def test_numbers_are_counted_by_bins() -> None:
    [given] = marbles(names=("train",)).splits
    assert isinstance(given, Split)
    _, plain = lines([given], "answer")
    _, binned = lines([BinnedSplit(given.name, given.spec)], "answer")
    expected = {"0": 0, "1–3": 0, "4–9": 0}
    for line in plain:
        expected["0" if line.label == "0" else "1–3" if int(line.label) < 4 else "4–9"] += line.counts[0]
    assert {line.label: line.counts[0] for line in binned} == {k: n for k, n in expected.items() if n}


def test_markup_in_titles_and_other_texts_is_escaped(tmp_path: Path) -> None:
    given = marbles()
    dataset = Dataset(
        given.splits, title=HOSTILE, description=HOSTILE, licence=HOSTILE, citation=HOSTILE, spec_json=given.spec_json
    )
    FORMAT.write(dataset, tmp_path, options={"embed": False}, tick=lambda _: None)
    _, head, body = (tmp_path / "README.md").read_text().split("---\n", 2)
    said = yaml.safe_load(head)
    assert said["pretty_name"] == " ".join(HOSTILE.split())
    assert (said["license"], said["license_name"]) == ("other", HOSTILE)
    assert "<script" not in body
    assert yaml.safe_load((tmp_path / "eval.yaml").read_text())["name"] == HOSTILE
