"""The 90 bundled question families have the skeletons of CLEVR, and their texts are correct English."""

import json
import math
import re
from collections.abc import Callable
from itertools import count, product
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "generation/engine/worlds/clevr/families"
ATTRIBUTES = {"Z": "size", "C": "color", "M": "material", "S": "shape"}
TYPES = {"Z": "Size", "C": "Color", "M": "Material", "S": "Shape", "R": "Relation"}

# Each row is a family: its skeleton, the parameters that stay unset, and the nodes whose outputs must differ. `|`
# separates two branches, and `>` comes before the step that joins them. F: the scene, then one described object. A: the
# scene, then a described set. R: a relation, then a description. A small letter after them is the result: u one object
# (also if there is no letter), s a set, c a count, e an existence, r the relation without a description. qX queries
# attribute X, and =X compares it.
Row = tuple[str, str, tuple[int, ...]]
ANCHORS, SETS, RELATED = (1, 4), (1, 3), (2, 5)


def numbers(arms: str, differ: tuple[int, ...]) -> list[Row]:
    """Return the rows that compare the counts of two arms: equal, less, greater."""
    return [(f"{arms} > {joint}", "", differ) for joint in ("equal_integer", "less_than", "greater_than")]


def attributes_compared(letter: str) -> list[Row]:
    """Return the three rows that compare an attribute of two objects. A relation leads to one or both objects."""
    ask, joint = f"q{letter}", f"={letter}"
    return [
        (f"F R {ask} | F {ask} > {joint}", f"{letter}2 {letter}3", (2, 5)),
        (f"F {ask} | F R {ask} > {joint}", f"{letter} {letter}3", (1, 5)),
        (f"F R {ask} | F R {ask} > {joint}", f"{letter}2 {letter}4", (2, 6)),
    ]


def hops(prefix: str, number: int, order: str) -> list[Row]:
    """Return the rows of a chain that ends in a count, an existence, or a query of each attribute."""
    own = "" if number == 1 else str(number)
    return [(f"{prefix}c", "", ()), (f"{prefix}e", "", ())] + [
        (f"{prefix}u q{letter}", letter + own, ()) for letter in order
    ]


def same(letter: str, asked: str) -> list[Row]:
    """Return the rows that query the only other object with an equal attribute."""
    return [(f"F same_{letter} u q{other}", f"{letter} {letter}2 {other}2", ()) for other in asked]


TABLE: dict[str, tuple[int, list[Row]]] = {
    "compare_integer": (
        0,
        numbers("As count | As count", ANCHORS) + numbers("F Rc | Ac", ()) + numbers("F Rc | F Rc", ANCHORS),
    ),
    "comparison": (
        9,
        [(f"F q{x} | F q{x} > ={x}", f"{x} {x}2", ANCHORS) for x in "ZCMS"]
        + [row for letter in "ZCMS" for row in attributes_compared(letter)],
    ),
    "three_hop": (25, hops("F Ru Ru R", 4, "ZSCM")),
    "single_and": (
        31,
        [("F Rr | F Rr > intersect c", "", ())]
        + [(f"F Rr | F Rr > intersect u q{x}", f"{x}3", RELATED) for x in "ZCMS"],
    ),
    "same_relate": (
        36,
        [(f"F same_{x} exist", x, ()) for x in "ZCMS"]
        + [(f"F same_{x} count", x, ()) for x in "ZCMS"]
        + [(f"F same_{x} e", f"{x} {x}2", ()) for x in "ZCMS"]
        + [(f"F same_{x} c", f"{x} {x}2", ()) for x in "ZCMS"]
        + same("Z", "CMS")
        + same("C", "ZMS")
        + same("M", "ZCS")
        + same("S", "ZCM"),
    ),
    "single_or": (
        64,
        [
            ("As | As > union count", "", SETS),
            ("As | As > union only_Z count", "Z Z2", SETS),
            ("As | As > union only_C count", "C C2", SETS),
            ("F Rs | F Rs > union count", "", ()),
            ("As | As > union only_M count", "M M2", SETS),
            ("As | As > union only_S count", "S S2", SETS),
            ("F Rs | As > union count", "", ()),
            ("As | F Rs > union count", "", ()),
        ],
    ),
    "one_hop": (72, hops("F R", 2, "ZCMS")),
    "two_hop": (78, hops("F Ru R", 3, "ZCMS")),
    "zero_hop": (84, hops("A", 1, "SMCZ")),
}
ROWS = {first + i: row for first, rows in TABLE.values() for i, row in enumerate(rows)}
SINGLE_FILTERS = {f"filter_{word}" for word in ATTRIBUTES.values()}
DESCRIBED = r"(?:(?:small|red|rubber|cyan) )*"
ENDS = {"s": "", "u": "_unique", "c": "_count", "e": "_exist"}


class Expected:
    """The nodes of a skeleton. Parameters are numbered in order."""

    def __init__(self, skeleton: str) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.described, self.related = count(1), count(1)
        body, _, tail = skeleton.partition(" > ")
        ends = [self.chain(branch.split(), []) for branch in body.split("|")]
        if tail:
            self.chain(tail.split(), ends)

    def chain(self, tokens: list[str], inputs: list[int]) -> int:
        for token in tokens:
            for kind, sides in self.spelled(token, starts=not inputs):
                node: dict[str, Any] = {"type": kind, "inputs": inputs}
                if sides:
                    node["side_inputs"] = sides
                self.nodes.append(node)
                inputs = [len(self.nodes) - 1]
        return inputs[0]

    def spelled(self, token: str, *, starts: bool) -> list[tuple[str, list[str]]]:
        """Return the types and side inputs of the nodes that one token of a skeleton means."""
        head, end = token[0], token[1:] or "u"
        if starts:
            return [("scene", []), (f"filter{ENDS[end]}", self.description())]
        if token == "Rr":
            return [("relate", [name("R", next(self.related))])]
        if head == "R":
            return [(f"relate_filter{ENDS[end]}", [name("R", next(self.related)), *self.description()])]
        if token in ENDS:
            return [(f"filter{ENDS[token]}", self.description())]
        if token.startswith("only_"):
            return [(f"filter_{ATTRIBUTES[token[-1]]}", [name(token[-1], next(self.described))])]
        prefix = {"q": "query_", "=": "equal_", "same_": "same_"}.get(token[:-1])
        return [(prefix + ATTRIBUTES[token[-1]] if prefix else token, [])]

    def description(self) -> list[str]:
        number = next(self.described)
        return [name(letter, number) for letter in "ZCMS"]


def name(letter: str, number: int) -> str:
    """Return the name of a parameter. Its number is left out if it is 1."""
    return f"<{letter}{'' if number == 1 else number}>"


def families() -> dict[int, dict[str, Any]]:
    """Return every bundled family by its global index. An index that occurs twice is an error."""
    found: dict[int, dict[str, Any]] = {}
    for group in TABLE:
        for family in json.loads((FOLDER / f"{group}.json").read_text(encoding="utf-8")):
            assert family["family"] not in found
            found[family["family"]] = family
    return found


FAMILIES = families()


def every_family(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test of one family for all families of a group at once, because 90 tests of each rule take longer."""

    @pytest.mark.parametrize("group", TABLE)
    def test_all(group: str) -> None:
        first, rows = TABLE[group]
        for index in range(first, first + len(rows)):
            test(index)

    return test_all


def render_text(text: str, values: dict[str, str], *, full: bool, pick: int = 0) -> str:
    """Return the text as a reader would see it, by a simplified version of the engine's rules."""
    text = re.sub(r" ?\[([^\]]*)\]", r" \1" if full else "", text)
    text = re.sub(r"\{([^}]*)\}", lambda m: m[1].split("|")[pick % len(m[1].split("|"))], text)
    text = re.sub(r"<\w+>", lambda m: values[m[0]], text)
    text = re.sub(r" +([?,;])", r"\1", re.sub(r" +", " ", text)).strip()
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
    return text[0].upper() + text[1:]


def words_if_unset(family: dict[str, Any]) -> dict[str, str]:
    """Return words for the parameters, where only relations and filters of a single attribute have a value."""
    words = {"Relation": "behind", "Shape": "thing"}
    single = [node["side_inputs"][0] for node in family["nodes"] if node["type"] in SINGLE_FILTERS]
    return {p["name"]: words.get(p["type"], "") for p in family["params"]} | dict.fromkeys(single, "cyan")


def words_if_set(family: dict[str, Any]) -> dict[str, str]:
    """Return words for the parameters, where all have a value. Constraints are ignored."""
    words = {"Size": "small", "Color": "red", "Material": "rubber", "Shape": "object", "Relation": "left of"}
    return {p["name"]: words[p["type"]] for p in family["params"]}


def test_each_group_has_its_families_in_order():
    for group, (first, rows) in TABLE.items():
        listed = json.loads((FOLDER / f"{group}.json").read_text(encoding="utf-8"))
        assert [family["family"] for family in listed] == list(range(first, first + len(rows))), group


def test_global_indices_run_from_0_to_89():
    assert sorted(FAMILIES) == list(range(90)) == sorted(ROWS)
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(TABLE)


@every_family
def test_nodes_equal_those_of_the_skeleton(index: int):
    assert FAMILIES[index]["nodes"] == Expected(ROWS[index][0]).nodes


@every_family
def test_inputs_come_before_their_nodes(index: int):
    for position, node in enumerate(FAMILIES[index]["nodes"]):
        assert all(0 <= source < position for source in node["inputs"])


@every_family
def test_constraints_equal_those_of_the_table(index: int):
    _, null, differ = ROWS[index]
    expected = [{"type": "NULL", "params": [f"<{parameter}>"]} for parameter in null.split()]
    if differ:
        expected.append({"type": "OUT_NEQ", "params": list(differ)})
    assert FAMILIES[index]["constraints"] == expected


@every_family
def test_parameters_are_the_side_inputs_in_order(index: int):
    family = FAMILIES[index]
    sides = [side for node in family["nodes"] for side in node.get("side_inputs", [])]
    assert [parameter["name"] for parameter in family["params"]] == sides
    assert len(set(sides)) == len(sides)
    assert all(parameter["type"] == TYPES[parameter["name"][1]] for parameter in family["params"])


@every_family
def test_each_text_mentions_every_parameter_once(index: int):
    expected = sorted(parameter["name"] for parameter in FAMILIES[index]["params"])
    for text in FAMILIES[index]["text"]:
        assert sorted(re.findall(r"<\w+>", text)) == expected, text


@every_family
def test_texts_of_a_family_differ(index: int):
    texts = FAMILIES[index]["text"]
    assert len(texts) >= 3
    assert len({re.sub(r"\W+", "", text).lower() for text in texts}) == len(texts)


def repetition_probability(text: str) -> float:
    """Return how likely a text takes the same alternatives and optional words twice."""
    optional = 0.5 ** text.count("[")
    return math.prod([1 / len(options.split("|")) for options in re.findall(r"\{([^}]*)\}", text)], start=optional)


@pytest.mark.parametrize("index", [index for index in FAMILIES if len(FAMILIES[index]["params"]) == len("ZCMS")])
def test_short_families_seldom_give_the_same_text_twice(index: int):
    """They have few programs, so they would cause most of the questions of val that are also in train."""
    texts = FAMILIES[index]["text"]
    assert sum(map(repetition_probability, texts)) / len(texts) ** 2 <= 0.02


def test_a_family_has_on_average_at_least_four_texts():
    assert sum(len(family["text"]) for family in FAMILIES.values()) >= 4 * 90


@every_family
def test_markup_is_balanced_and_contains_no_parameters(index: int):
    for text in FAMILIES[index]["text"]:
        plain = re.sub(r"<\w+>", "@", text)
        assert re.fullmatch(r"(?:[^\[\]{}|<>]|\[[a-z ]+\]|\{[a-z ]+(?:\|[a-z ]+)+\})+\?", plain), text


@every_family
def test_every_text_is_correct_english(index: int):
    short, long = words_if_unset(FAMILIES[index]), words_if_set(FAMILIES[index])
    for text, pick, full in product(FAMILIES[index]["text"], (0, 1), (False, True)):
        said = render_text(text, long if full else short, full=full, pick=pick)
        assert re.fullmatch(r"[A-Z][A-Za-z ,;]+\?", said), said
        assert not re.search(r"  | [?,;]|\ba [aeiou]|\b(\w+) \1\b", said), said
        assert not re.search(rf"\b(?:a|an|another|one) {DESCRIBED}(?:things|objects)\b", said), said
        many = r"\b(?:[Hh]ow many|as many|fewer|more) (?:other )?"
        assert not re.search(rf"{many}{DESCRIBED}(?:thing|object)\b", said), said


def test_other_can_be_removed_if_two_objects_are_described():
    """The engine removes `other ` and replaces `another` by `a` if the descriptions exclude each other."""
    for index in range(44, 64):
        for text in FAMILIES[index]["text"]:
            assert len(re.findall(r"\b(?:an)?other <Z2>", text)) == 1, text
            assert len(re.findall("other", text)) == 1, text
            assert not text.startswith("Another"), text
