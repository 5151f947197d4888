"""Family files: the format of the original generator is read, and each error names file, family and place."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generation.engine.errors import BadFamily
from generation.engine.language import families as engine_families
from generation.engine.language.families import Language
from generation.engine.language.family_files import read_families
from generation.engine.worlds.clevr.spec import FAMILY_ORDER
from tests.worlds.clevr.drawn import RELATIONS, VALUES
from tests.worlds.clevr.twin import ATTRIBUTES

LANGUAGE = Language(tuple((name, VALUES[name]) for name in ATTRIBUTES), RELATIONS, 10)
FOLDER = Path(engine_families.__file__).parents[1] / "worlds/clevr/families"
KINDS = {"Z": "Size", "C": "Color", "M": "Material", "S": "Shape", "R": "Relation"}
ONE, TWO = ["<Z>", "<C>", "<M>", "<S>"], ["<Z2>", "<C2>", "<M2>", "<S2>"]


def params(*names: str) -> list[dict[str, str]]:
    return [{"type": KINDS[name[1]], "name": name} for name in names]


COUNT: dict[str, Any] = {
    "text": ["How many <Z> <C> <M> <S>s can be seen?", "Tell the number of <Z> <C> <M> <S>s."],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_count", "inputs": [0], "side_inputs": ONE},
    ],
    "params": params(*ONE),
    "constraints": [],
}
NEAR: dict[str, Any] = {
    "text": ["What color has the <Z2> <C2> <M2> <S2> <R> the <Z> <C> <M> <S>?"],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": ONE},
        {"type": "relate_filter_unique", "inputs": [1], "side_inputs": ["<R>", *TWO]},
        {"type": "query_color", "inputs": [2]},
    ],
    "params": params(*ONE, "<R>", *TWO),
    "constraints": [{"type": "NULL", "params": ["<C2>"]}, {"type": "OUT_NEQ", "params": [1, 2]}],
}


def read(*families: Any, name: str = "own.json", language: Language = LANGUAGE) -> Any:
    """Return the families of a file, as the engine reads them."""
    return read_families({name: json.dumps(list(families))}, language=language)


def test_the_original_format_is_read():
    count, near = read(COUNT, NEAR)
    assert (count.number, near.number) == (0, 1)
    assert count.answers == tuple(str(number) for number in range(11))
    assert near.answers == VALUES["color"]
    assert (count.answer_type, near.answer_type) == ("Integer", "Color")
    assert [param.name for param in near.params] == [*ONE, "<R>", *TWO]
    assert len(near.wordings) == 1
    assert count.askable


def test_families_without_numbers_are_numbered_in_the_order_of_the_release():
    files = {
        path.name: json.dumps(
            [
                {key: value for key, value in family.items() if key != "family"}
                for family in json.loads(path.read_text())
            ]
        )
        for path in sorted(FOLDER.glob("*.json"))
    }
    stated = read_families({p.name: p.read_text() for p in FOLDER.glob("*.json")}, language=LANGUAGE)
    counted = read_families(files, language=LANGUAGE, order=FAMILY_ORDER)
    assert counted == stated
    assert [family.number for family in counted] == list(range(90))


def test_other_files_come_after_those_of_the_release_sorted_by_name():
    texts = {name: json.dumps([COUNT]) for name in ("b.json", "zero_hop.json", "a.json", "one_hop.json")}
    read_in = read_families(texts, language=LANGUAGE, order=FAMILY_ORDER)
    assert [family.source for family in read_in] == ["one_hop.json", "zero_hop.json", "a.json", "b.json"]
    assert read_in == read_families(dict(reversed(texts.items())), language=LANGUAGE, order=FAMILY_ORDER)


def test_too_deeply_nested_json_is_refused():
    with pytest.raises(BadFamily, match=r"own\.json"):
        read_families({"own.json": "[" * 100_000}, language=LANGUAGE)


def test_families_are_sorted_by_their_numbers():
    later, earlier = read({**COUNT, "family": 7}, {**NEAR, "family": 3})
    assert (later.number, earlier.number) == (3, 7)


def test_the_published_name_of_side_inputs_is_read_too():
    renamed = copy.deepcopy(COUNT)
    renamed["nodes"][1]["value_inputs"] = renamed["nodes"][1].pop("side_inputs")
    assert read(renamed)[0].operations == read(COUNT)[0].operations


def test_absent_constraints_are_read_as_none():
    bare = {key: value for key, value in COUNT.items() if key != "constraints"}
    assert read(bare)[0].differ == ()


def test_a_question_with_one_possible_answer_cannot_be_asked():
    one_color = LANGUAGE._replace(
        attributes=tuple((name, values[:1] if name == "color" else values) for name, values in LANGUAGE.attributes)
    )
    assert not read(NEAR, language=one_color)[0].askable


def test_every_family_of_the_release_is_read_in_a_vocabulary_of_any_size():
    for count in (1, 2, 60):
        values = tuple((name, tuple(f"{name}{n}" for n in range(count))) for name in ATTRIBUTES)
        texts = {path.name: path.read_text() for path in FOLDER.glob("*.json")}
        assert len(read_families(texts, language=Language(values, RELATIONS, 40))) == 90


Change = Callable[[dict[str, Any]], Any]


def put(*path: Any, to: Any) -> Change:
    """Return a change that sets the value at a path of a family."""

    def change(family: dict[str, Any]) -> Any:
        place: Any = family
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to
        return family

    return change


def without(key: str) -> Change:
    return lambda family: {name: value for name, value in family.items() if name != key}


def adding_node(kind: str, inputs: list[Any]) -> Change:
    """Return a change that adds a node to a family."""

    def change(family: dict[str, Any]) -> Any:
        family["nodes"].append({"type": kind, "inputs": inputs})
        return family

    return change


FAULTS: dict[str, tuple[Change, str, str]] = {
    "not an object": (lambda family: [family], "", "Expected an object"),
    "no nodes": (without("nodes"), "", "'nodes'"),
    "no text": (without("text"), "", "'text'"),
    "no params": (without("params"), "", "'params'"),
    "nodes no list": (put("nodes", to={}), "", "'nodes'"),
    "nodes empty": (lambda f: {**f, "nodes": [], "params": [], "text": ["?"]}, "", "1 to"),
    "text empty": (put("text", to=[]), "", "at least one text"),
    "a cycle": (put("nodes", 1, "inputs", to=[3]), ", node 1", "never runs"),
    "its own input": (put("nodes", 1, "inputs", to=[1]), ", node 1", "never runs"),
    "forward reference": (put("nodes", 2, "inputs", to=[3]), ", node 2", "never runs"),
    "negative input": (put("nodes", 2, "inputs", to=[-1]), ", node 2", "before it"),
    "an input that is true": (put("nodes", 2, "inputs", to=[True]), ", node 2", "before it"),
    "inputs no list": (put("nodes", 2, "inputs", to=0), ", node 2", "before it"),
    "input no number": (put("nodes", 2, "inputs", to=["1"]), ", node 2", "before it"),
    "unknown type of node": (put("nodes", 3, "type", to="query_taste"), ", node 3", "query_taste"),
    "unknown type without verb": (put("nodes", 3, "type", to="juggle"), ", node 3", "juggle"),
    "node without type": (put("nodes", 3, to={"inputs": [2]}), ", node 3", "type"),
    "node no object": (put("nodes", 3, to="query_color"), ", node 3", "Expected an object"),
    "wrong type of input": (put("nodes", 3, "inputs", to=[0]), ", node 3", "ObjectSet"),
    "too many inputs": (put("nodes", 3, "inputs", to=[2, 1]), ", node 3", "Object, Object"),
    "too few inputs": (put("nodes", 3, "inputs", to=[]), ", node 3", "got ()"),
    "types of a comparison": (adding_node("equal_size", [3, 3]), ", node 4", "Color"),
    "unknown side input": (put("nodes", 1, "side_inputs", 1, to="<C9>"), ", node 1", "<C9>"),
    "side inputs no list": (put("nodes", 1, "side_inputs", to=7), ", node 1", ""),
    "side input no string": (put("nodes", 1, "side_inputs", 1, to=[1]), ", node 1", ""),
    "side inputs in another order": (
        put("nodes", 1, "side_inputs", to=["<C>", "<Z>", "<M>", "<S>"]),
        ", node 1",
        "Size, Color, Material, Shape",
    ),
    "too few side inputs": (put("nodes", 1, "side_inputs", to=["<Z>"]), ", node 1", "side inputs of type"),
    "a parameter in two nodes": (
        put("nodes", 2, "side_inputs", to=["<R>", "<Z>", "<C2>", "<M2>", "<S2>"]),
        ", node 2",
        "<Z> is in two",
    ),
    "a parameter in no node": (
        lambda f: {**f, "params": [*f["params"], *params("<Z9>")], "text": [f["text"][0] + " <Z9>"]},
        "",
        "<Z9> is in none",
    ),
    "a parameter twice": (lambda f: {**f, "params": [*f["params"], *params("<Z>")]}, ", params", "once"),
    "a parameter of no type": (put("params", 0, "type", to="Taste"), ", params", "Taste"),
    "a parameter without brackets": (put("params", 0, "name", to="Z"), ", params", "'Z'"),
    "a parameter that is no object": (put("params", 0, to="<Z>"), ", params", "<Z>"),
    "a placeholder unknown": (put("text", 0, to="<Z> <C> <M> <S> <R> <Z2> <C2> <M2> <S2> <Q>"), ", text 0", "<Q>"),
    "a placeholder missing": (put("text", 0, to="<Z> <C> <M> <S> <R> <Z2> <C2> <M2>"), ", text 0", "<S2> is missing"),
    "brackets that don't match": (
        put("text", 0, to="[What <Z> <C> <M> <S> <R> <Z2> <C2> <M2> <S2>"),
        ", text 0",
        "]",
    ),
    "a stray bracket": (put("text", 0, to="<Z> <C> <M> <S> <R> <Z2> <C2> <M2> <S2>}"), ", text 0", "}"),
    "a text no string": (put("text", 0, to=None), ", text 0", "Expected a text"),
    "an unknown constraint": (put("constraints", 0, "type", to="SOMETIMES"), ", constraint 0", "SOMETIMES"),
    "a constraint without parameters": (put("constraints", 0, to={"type": "NULL"}), ", constraint 0", "NULL"),
    "a constraint of too many": (put("constraints", 0, "params", to=["<C2>", "<C>"]), ", constraint 0", "one"),
    "a constraint on nothing known": (put("constraints", 0, "params", to=["<C9>"]), ", constraint 0", "<C9>"),
    "a constraint on a missing node": (put("constraints", 1, "params", to=[1, 9]), ", constraint 1", "0 .. 3"),
    "a constraint on nodes of two types": (put("constraints", 1, "params", to=[0, 1]), ", constraint 1", "one type"),
    "a constraint on one node twice": (put("constraints", 1, "params", to=[1, 1]), ", constraint 1", ""),
    "a constraint that is no object": (put("constraints", 1, to="NULL"), ", constraint 1", "NULL"),
    "constraints no list": (put("constraints", to=5), "", "'constraints'"),
    "a constraint on a list": (put("constraints", 0, "params", to=[["<C2>"]]), ", constraint 0", "<C2>"),
    "a constraint on an object": (put("constraints", 0, "params", to={"<C2>": 1}), ", constraint 0", "NULL"),
    "a constraint on a node that is true": (put("constraints", 1, "params", to=[True, 2]), ", constraint 1", "True"),
    "a constraint on a parameter twice": (
        put("constraints", 0, to={"type": "NEQ", "params": ["<Z>", "<Z>"]}),
        ", constraint 0",
        "twice",
    ),
    "a constraint on a relation's absence": (put("constraints", 0, "params", to=["<R>"]), ", constraint 0", "<R>"),
    "an answer that is a set": (
        lambda f: {**f, "nodes": f["nodes"][:3], "constraints": []},
        "",
        "a last node that gives an answer, got one that gives Object",
    ),
    "a number that is none": (put("family", to="seven"), "", "'family'"),
    "a number that is true": (put("family", to=True), "", "'family'"),
    "a number below 0": (put("family", to=-1), "", "'family'"),
    "a number too large": (put("family", to=65_000), "", "'family'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_family_is_refused_and_its_place_is_named(fault: str):
    change, place, message = FAULTS[fault]
    with pytest.raises(BadFamily) as refused:
        read(COUNT, change(copy.deepcopy(NEAR)))
    assert refused.value.where == f"own.json, family 1{place}"
    assert message in refused.value.reason


def test_a_number_of_two_families_is_refused():
    with pytest.raises(BadFamily, match="got 4 twice") as refused:
        read({**COUNT, "family": 4}, {**NEAR, "family": 4})
    assert "own.json" in refused.value.where


def test_a_default_number_that_another_family_has_is_refused():
    with pytest.raises(BadFamily, match="got 1 twice"):
        read({**COUNT, "family": 1}, NEAR)


@pytest.mark.parametrize("text", ["", "{", "[1, 2", '{"text": []}', "null", "7", '"families"'])
def test_a_file_without_a_list_is_refused_by_name(text: str):
    with pytest.raises(BadFamily) as refused:
        read_families({"one_hop.json": json.dumps([COUNT]), "own.json": text}, language=LANGUAGE)
    assert refused.value.where == "own.json"


@pytest.mark.parametrize("text", ["[]"])
def test_a_folder_without_families_is_refused(text: str):
    with pytest.raises(BadFamily, match="at least one family"):
        read_families({"own.json": text}, language=LANGUAGE)


def test_a_family_of_too_many_operations_is_refused():
    long = copy.deepcopy(COUNT)
    long["nodes"] = [{"type": "scene", "inputs": []} for _ in range(60)] + [
        {"type": "filter_count", "inputs": [59], "side_inputs": ONE}
    ]
    with pytest.raises(BadFamily, match="1 to 48 operations, got 62"):
        read(long)
