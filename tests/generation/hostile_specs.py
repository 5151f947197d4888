"""Hostile input for the readers of specs, meshes, families, scenes, rules, recipes, filters and submission exports.

Run as a program, this module reads all of it, or each fourth input if it gets the argument `briefly`. It writes JSON
with three values for each input: the error (empty if there was none), the processor time in seconds, and the peak
memory of the process so far in megabytes.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

DIGEST = "0" * 64
FAMILY: dict[str, Any] = {
    "text": ["How many <Z> <C> <M> <S>s are there?"],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_count", "inputs": [0], "side_inputs": ["<Z>", "<C>", "<M>", "<S>"]},
    ],
    "params": [
        {"type": kind, "name": f"<{kind[0] if kind != 'Size' else 'Z'}>"}
        for kind in ("Size", "Color", "Material", "Shape")
    ],
    "constraints": [],
}


def spec(**more: Any) -> str:
    return json.dumps({"base": "clevr-mini", **more})


def families(**changed: Any) -> tuple[str, bytes]:
    data = spec(questions={"families": {"mine.json": DIGEST}})
    return data, json.dumps([{**FAMILY, **changed}]).encode()


def mesh(text: str) -> tuple[str, bytes]:
    data = spec(vocabulary={"shapes": {"wedge": {"solid": "mesh", "mesh": DIGEST}}})
    return data, text.encode()


SPECS: dict[str, tuple[str, bytes]] = {
    "brackets": ("[" * 290_000, b""),
    "objects": ('{"a":' * 50_000, b""),
    "digits": ('{"seed": ' + "9" * 290_000 + "}", b""),
    "many names": (spec(**{f"k{number}": 0 for number in range(20_000)}), b""),
    "many words": (spec(vocabulary={"colors": {f"c{number}": {"rgb": [1, 2, 3]} for number in range(6000)}}), b""),
    "many splits": (spec(splits={f"s{number}": {"scenes": 1} for number in range(9000)}), b""),
    "many rules": (spec(scene={"only": [{"color": ["red"]}] * 12_000}), b""),
    "a wording of brackets": families(text=["How many <Z> <C> <M> <S>s" + "[" * 450_000 + "a" + "]" * 450_000]),
    "a wording of marks": families(text=["<" * 900_000]),
    "a wording that is long": families(text=["How many <Z> <C> <M> <S>s? " + "a|" * 400_000]),
    "alternatives": families(text=["{a|b}" * 150_000 + "<Z> <C> <M> <S>s"]),
    "many nodes": families(nodes=[{"type": "scene", "inputs": []}] * 25_000),
    "many constraints": families(constraints=[{"type": "NULL", "params": ["<Z>"]}] * 20_000),
    "many parameters": families(params=[{"type": "Size", "name": f"<Z{number}>"} for number in range(25_000)]),
    "families of brackets": (spec(questions={"families": {"mine.json": DIGEST}}), b"[" * 900_000),
    "families of digits": (spec(questions={"families": {"mine.json": DIGEST}}), b"[" + b"9" * 900_000 + b"]"),
    "corners": mesh("v 1 2 3\n" * 100 + "f" + " 1" * 490_000),
    "points": mesh("v 1 2 3\n" * 120_000 + "f 1 2 3"),
    "digits of a corner": mesh("v 1 2 3\nf " + "9" * 900_000 + " 1 2"),
    "faces around one point": mesh(
        "".join(f"v {number % 71} {number // 71} {number % 13}\n" for number in range(5001))
        + "".join(f"f 1 {number} {number + 1}\n" for number in range(2, 5000))
    ),
    "scenes that are none": (spec(scenes_from=DIGEST), b'{"scenes": [' + b"0," * 450_000 + b"0]}"),
    "scenes of brackets": (spec(scenes_from=DIGEST), b'{"scenes": [' + b"[" * 900_000),
    "empty scenes": (spec(scenes_from=DIGEST), b'{"scenes": [' + b"{}," * 300_000 + b"{}]}"),
}


def read_spec(data: str, content: bytes) -> None:
    from generation.engine.spec import LIMITS
    from generation.specs import editor, fields

    most = {name: limit.ceiling for name, limit in LIMITS.items()}
    parsed = editor.parse(data)
    draft = editor.draft_of(parsed, files={DIGEST: content} if content else {}, most=most)
    editor.fields_of(parsed, draft.faults, most)
    fields.expand(parsed)
    if draft.refused is not None:
        raise draft.refused


def others() -> dict[str, Callable[[], Any]]:
    from annotations.results.payment import read_export
    from generation.engine import only_never_rules
    from generation.splits import split_recipes

    heads = ",".join(f"c{number}" for number in range(90_000))
    columns = "Submission id,Participant id,Status,Completion code,Time taken"
    return {
        "an export with many columns": lambda: read_export(f"{columns},{heads}\n".encode() + b"a\n" * 150_000),
        "an export with a long cell": lambda: read_export(f'{columns}\n"{"a" * 900_000}'.encode()),
        "rules of brackets": lambda: only_never_rules.of_lines("[" * 900_000),
        "rules of names": lambda: only_never_rules.of_lines("a=b,c " * 150_000),
        "a recipe of brackets": lambda: split_recipes.read_recipe("[" * 900_000),
        "a recipe of digits": lambda: split_recipes.read_recipe('{"seed": ' + "9" * 900_000 + "}"),
        "a filter": lambda: split_recipes.pairs_of_filter("a=1..2&" * 100_000),
    }


def peak() -> int:
    """Return the peak memory of this process in megabytes; `ru_maxrss` would start at its parent's peak."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) >> 10


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    django.setup()
    cases = {name: lambda case=case: read_spec(*case) for name, case in SPECS.items()} | others()
    if sys.argv[1:] == ["briefly"]:
        cases = {name: case for number, (name, case) in enumerate(cases.items()) if number % 4 == 3}
    found = {}
    for name, case in cases.items():
        before = time.process_time()
        try:
            case()
            ended = ""
        except Exception as error:
            ended = f"{type(error).__name__}: {error}"
        spent = time.process_time() - before
        found[name] = [ended, spent, peak()]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
