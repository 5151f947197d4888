"""The fields of a world's spec, from its JSON schema: how a form shows and changes them."""

import copy
import functools
import json
import math
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from generation.engine import only_never_rules
from generation.engine.spec import merge
from generation.engine.worlds import find_preset, get_maker, get_world

WHOLE = re.compile(r"-?[0-9]{1,20}")
NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?([eE]-?[0-9]{1,3})?")
RANGE = re.compile(r"([0-9]{1,5})(?:\s*-\s*([0-9]{1,5}))?")
MANY = 1_000  # longest range of numbers that can be entered
NOT_PARAMETERS = ("world", "splits")
KINDS = {"integer": "integer", "number": "number", "boolean": "yes-no", "string": "text"}


class Parameter(NamedTuple):
    """A field: one value of a spec that a form can change.

    Attributes
    ----------
    path : str
        Its path in the spec: `scene.objects_min`.
    label, about : str
        For users; `about` also gives its bounds, without the site's limits.
    kind : str
        `integer`, `number`, `yes-no`, `choice`, `text`, `numbers` (a list of integers), `rules` (see
        `generation.engine.only_never_rules`) or `files` (bundled ones, or others by their digests).
    is_common : bool
        Whether users change it often.
    default : object
        The value if the spec does not have the field.
    choices : tuple of str
        The options of a `choice`.
    default_by : mapping
        If the default depends on another field: that field's path, and a default for each of its values.
    limit : str
        The name of its limit in `generation.engine.spec.LIMITS`; empty if there is none.
    """

    path: str
    label: str
    about: str
    kind: str
    is_common: bool
    default: Any
    choices: tuple[str, ...] = ()
    limit: str = ""
    default_by: Mapping[str, Any] = MappingProxyType({})

    @property
    def group(self) -> str:
        return self.path.rpartition(".")[0]


@functools.cache
def parameters_of(world: str) -> tuple[Parameter, ...]:
    """Return the fields of a world's spec, in order; raise `BadSpec` for a world that cannot generate."""
    maker = get_maker(world)
    spec = get_world(world).read_spec(maker.preset(maker.presets()[0]))
    schema = type(spec).model_json_schema()
    return tuple(
        parameter for parameter in _parameters(schema, schema.get("$defs", {})) if parameter.path not in NOT_PARAMETERS
    )


def _parameters(schema: Mapping[str, Any], named: Mapping[str, Any], prefix: str = "") -> Iterator[Parameter]:
    for name, part in schema.get("properties", {}).items():
        whole = {**named[part["$ref"].rpartition("/")[2]], **part} if "$ref" in part else part
        if "properties" in whole:
            if "default" in part or "default" in whole:
                yield from _parameters(whole, named, f"{prefix}{name}.")
        elif (kind := _kind(whole)) is not None:
            yield Parameter(
                path=prefix + name,
                label=_label(name, whole),
                about=_about(whole),
                kind=kind,
                is_common=bool(whole.get("common")),
                default=whole.get("default"),
                choices=tuple(map(str, whole.get("enum", ()))),
                limit=str(whole.get("limit", "")),
                default_by=whole.get("default_by", {}),
            )


def _kind(schema: Mapping[str, Any]) -> str | None:
    """Return the kind of a field, or None if it can be edited only in the JSON."""
    if "const" in schema:
        return None
    if "enum" in schema:
        return "choice"
    if schema.get("items", {}).get("additionalProperties", {}).get("type") == "array":
        return "rules"
    if schema.get("items", {}).get("type") == "integer":
        return "numbers"
    for branch in schema.get("anyOf", ()):
        if "pattern" in branch.get("additionalProperties", {}):
            return "files"
    return KINDS.get(str(schema.get("type")))


def _label(name: str, schema: Mapping[str, Any]) -> str:
    said = str(schema.get("title", ""))
    words = name.replace("_", " ")
    return words.capitalize() if said.lower() == words else said


def _about(schema: Mapping[str, Any]) -> str:
    parts = [schema["description"]] if "description" in schema else []
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    if low is not None and high is not None and "limit" not in schema:
        parts.append(f"{low:g} to {high:,g}" if isinstance(high, float) else f"{low:g} to {high:,}")
    if schema.get("default") not in (None, "") and not isinstance(schema.get("default"), dict | list):
        default = schema["default"]
        parts.append(f"default {('no', 'yes')[default] if isinstance(default, bool) else default}")
    return "; ".join(parts)


def expand(data: Mapping[str, Any]) -> dict[str, Any]:
    base = data.get("base")
    return merge(find_preset(base), data) if isinstance(base, str) else dict(data)


def value_at(data: Any, path: str) -> Any:
    """Return the value at a path of a spec's JSON, or None."""
    for key in path.split("."):
        if not isinstance(data, Mapping) or key not in data:
            return None
        data = data[key]
    return data


def with_value(data: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return the JSON with a new value at a path. None removes the value, and groups that become empty."""
    result = copy.deepcopy(dict(data))
    *groups, last = path.split(".")
    if value is None:
        return _without(result, [*groups, last])
    part = result
    for key in groups:
        if not isinstance(part.get(key), dict):
            part[key] = {}
        part = part[key]
    part[last] = value
    return result


def _without(data: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    first, *rest = keys
    if rest and isinstance(data.get(first), dict) and _without(data[first], rest):
        return data
    if not rest or data.get(first) == {}:
        data.pop(first, None)
    return data


def form_value(parameter: Parameter, data: Mapping[str, Any]) -> str:
    """Return the value of a field in a spec's JSON as the form shows it."""
    value = value_at(data, parameter.path)
    value = _default(parameter, data) if value is None else value
    if isinstance(value, str):
        return value
    if parameter.kind == "rules" and (lines := only_never_rules.as_lines(value)) is not None:
        return lines
    if parameter.kind == "numbers" and _are_whole(value):
        return _as_ranges(value)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _default(parameter: Parameter, data: Mapping[str, Any]) -> Any:
    """Return the default of a field for a spec's JSON."""
    if not parameter.default_by:
        return parameter.default
    other = value_at(data, parameter.default_by["path"])
    return (
        parameter.default_by["defaults"].get(other, parameter.default) if isinstance(other, str) else parameter.default
    )


def json_value(parameter: Parameter, text: str) -> Any:
    """Return entered text as a value for the spec's JSON. Invalid text stays text, and the engine refuses it."""
    if (text == "" and parameter.kind != "text") or parameter.kind == "files":  # None stands for the bundled files
        return None
    if parameter.kind == "yes-no":
        return text == "true"
    if parameter.kind == "rules":
        return only_never_rules.of_lines(text) or None
    if parameter.kind == "integer" and WHOLE.fullmatch(text):
        return int(text)
    if parameter.kind == "numbers" and all(RANGE.fullmatch(part.strip()) for part in text.split(",")):
        return _of_ranges(text)
    if parameter.kind == "number" and NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _are_whole(value: Any) -> bool:
    return isinstance(value, list) and all(type(one) is int for one in value)


def _as_ranges(numbers: list[int]) -> str:
    """Return numbers as text, with consecutive numbers as ranges."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 2 else ", ".join(map(str, part)) for part in parts)


def _of_ranges(text: str) -> list[int]:
    """Return the numbers in a text with ranges."""
    found: list[int] = []
    for part in text.split(","):
        match = RANGE.fullmatch(part.strip())
        assert match is not None
        low, high = int(match[1]), int(match[2] or match[1])
        found += range(low, min(high, low + MANY) + 1)
    return found
