"""Editing a spec on a page, as a form and as JSON, which are kept consistent.

The page sends three things: the form's fields, the JSON, and the JSON as it was when the page was made. A difference to
the last one is a change. If both the form and the JSON were changed, the last change counts.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from generation.engine.errors import BadSpec
from generation.engine.reading.bounded_json import BadJson, Bounds, loads
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_world
from generation.specs import fields as parameters
from generation.specs import limits, loading
from generation.specs.fields import Parameter
from generation.specs.limits import BeyondLimit

MOST_CHARACTERS = 300_000
BOUNDS = Bounds(depth=30)
SPLIT_ROWS = 20
EMPTY_ROWS = 1
BUNDLED = "bundled"  # value of the checkbox that replaces sent files by the bundled ones


class SplitField(NamedTuple):
    """A split in the form. `was` is its name in the JSON, empty for a new split.

    `overrides` names the fields that it changes; they can be edited only in the JSON.
    """

    was: str
    name: str
    scenes: str
    withheld: bool
    reference: str
    overrides: str


class SpecDraft(NamedTuple):
    """A spec's JSON on the page, and the result of validating it.

    Attributes
    ----------
    text : str
        The JSON as it is shown and edited.
    data : dict
        The parsed JSON; empty if it is not valid JSON.
    spec : BaseSpec or None
        The validated spec, or None if it is refused.
    faults : tuple of BadSpec
        All reasons why it is refused that can be found at once.
    """

    text: str
    data: dict[str, Any]
    spec: BaseSpec | None
    faults: tuple[BadSpec, ...] = ()

    @property
    def refused(self) -> BadSpec | None:
        return self.faults[0] if self.faults else None


def draft_of(
    data: Mapping[str, Any], *, files: Mapping[str, bytes], most: Mapping[str, int], images: bool = True
) -> SpecDraft:
    """Return a spec's JSON as a draft. `most` are the user's limits; `images` is whether pictures are wanted."""
    kept = dict(data)
    beyond: tuple[BadSpec, ...] = ()
    try:
        beyond = _beyond(kept, most)
        spec = get_world(loading.world_of(kept)).read_spec(kept, files=files)
        limits.check(spec.to_json(), most)  # checks defaults, too
        if images:
            spec.check_here()
        return SpecDraft(text_of(kept), kept, spec)
    except BadSpec as error:
        return SpecDraft(text_of(kept), kept, None, _different([*beyond, *each(error)]))


def each(error: BadSpec) -> tuple[BadSpec, ...]:
    return (error, *error.others)


def _beyond(data: Mapping[str, Any], most: Mapping[str, int]) -> tuple[BadSpec, ...]:
    """Return the faults for all places where a spec's JSON exceeds `most`."""
    try:
        limits.check(parameters.expand(data), most)
    except BeyondLimit as error:
        return each(error)
    return ()


def _different(faults: Sequence[BadSpec]) -> tuple[BadSpec, ...]:
    """Return the first fault for each place. A limit of the site comes before the engine's own bound."""
    first: dict[str, BadSpec] = {}
    for fault in faults:
        first.setdefault(fault.where, fault)
    return tuple(first.values())


def text_of(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)


def parse(text: str) -> dict[str, Any]:
    """Return the object in the text of a spec; raise `BadSpec` if it is not a JSON object or cannot be stored."""
    if len(text) > MOST_CHARACTERS:
        raise BadSpec(f"Expected at most {MOST_CHARACTERS:,} characters of JSON, got {len(text):,}.")
    try:
        data = loads(text, bounds=BOUNDS)
    except BadJson as error:
        raise BadSpec(str(error)) from error
    if not isinstance(data, dict):
        raise BadSpec(f"Expected a JSON object, got {type(data).__name__}.")
    _check(data)
    return data


def _check(value: Any) -> None:
    """Raise `BadSpec` for texts that databases cannot store, because they are not valid Unicode."""
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value)):
        raise BadSpec("Expected text of Unicode characters, got a text with a NUL or with half a character.")
    if isinstance(value, dict):
        for key, inner in value.items():
            _check(key)
            _check(inner)
    elif isinstance(value, list):
        for inner in value:
            _check(inner)


def read(post: Mapping[str, str], *, last: str = "") -> tuple[dict[str, Any], bool]:
    """Return the JSON of a submitted page, and whether its form and JSON contradict each other.

    `last` is `form` or `json`, the one that was changed last, or empty if the page could not tell. Raises `BadSpec` for
    invalid JSON.
    """
    shown = parse(post.get("shown") or "{}")
    by_form = changed_by_form(shown, post)
    typed = post.get("spec", "").replace("\r\n", "\n")
    json_changed = typed.strip() != text_of(shown).strip()
    form_changed = by_form != shown
    if json_changed and last != "form":
        return parse(typed), form_changed and last != "json"
    return by_form, False


def changed_by_form(shown: Mapping[str, Any], post: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON with the changes of the form. Parts that the form does not have stay as they are."""
    full = parameters.expand(shown)
    result = dict(shown)
    for parameter in parameters.parameters_of(loading.world_of(shown)):
        text = post.get(parameter.path)
        if text is None or (parameter.kind == "files" and text != BUNDLED):
            continue
        text = text.replace("\r\n", "\n")
        if text != parameters.form_value(parameter, full):
            result = parameters.with_value(result, parameter.path, parameters.json_value(parameter, text))
    splits = splits_of_form(full.get("splits"), post)
    if splits is not None and (splits != full.get("splits") or list(splits) != list(full["splits"])):
        gone = full["splits"].keys() - splits.keys() if "base" in shown else ()  # None removes splits of the base
        result["splits"] = {**splits, **dict.fromkeys(sorted(gone))}
    return result


def rows_of(data: Mapping[str, Any]) -> list[SplitField]:
    """Return the splits as rows of the form, followed by an empty row for a new split."""
    full = parameters.expand(data)
    splits = full.get("splits")
    rows = [
        SplitField(
            was=name,
            name=name,
            scenes=str(split.get("scenes", "")),
            withheld=split.get("withheld") is True,
            reference=split["reference"] if isinstance(split.get("reference"), str) else "",
            overrides=", ".join(_named(split.get("overrides"))),
        )
        for name, split in (splits.items() if isinstance(splits, dict) else ())
        if isinstance(split, dict)
    ]
    return [*rows[:SPLIT_ROWS], *[SplitField("", "", "", False, "", "")] * EMPTY_ROWS]


def _named(overrides: Any) -> list[str]:
    """Return the fields that a split's overrides change, such as `scene.only`."""
    if not isinstance(overrides, dict):
        return []
    groups = ((name, part if isinstance(part, dict) and part else {"": part}) for name, part in overrides.items())
    return [f"{name}.{inner}".removesuffix(".") for name, part in groups for inner in part]


def splits_of_form(before: Any, post: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the splits in the form, or None if it has no splits. Rows with an empty name are left out."""
    if "split-0-name" not in post or not isinstance(before, dict):
        return None
    result: dict[str, Any] = {}
    for number in range(SPLIT_ROWS + EMPTY_ROWS):
        name = post.get(f"split-{number}-name", "").strip()
        if not name:
            continue
        if name in result:
            raise BadSpec(f"Expected a different name for each split, got {name!r} twice.", where=f"splits.{name}")
        old = before.get(post.get(f"split-{number}-was", ""), {})
        result[name] = _split_of_form(old if isinstance(old, dict) else {}, number, post)
    return result


def _split_of_form(old: Mapping[str, Any], number: int, post: Mapping[str, str]) -> dict[str, Any]:
    """Return one split of the form, with its other keys kept. Default values are not written."""
    split = dict(old)
    scenes = post.get(f"split-{number}-scenes", "").strip()
    split["scenes"] = int(scenes) if parameters.WHOLE.fullmatch(scenes) else scenes
    withheld = f"split-{number}-withheld" in post
    if withheld != (old.get("withheld") is True):
        split["withheld"] = withheld
    reference = post.get(f"split-{number}-reference", "").strip()
    if reference != (old.get("reference") or ""):
        split["reference"] = reference or None
    return split


def with_files(data: Mapping[str, Any], sent: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON with the name of each sent file replaced by the file's digest.

    A file is recognised by its name, which contains a dot, never by a path: no file of this machine is ever opened.
    """
    sent = {name: digest for name, digest in sent.items() if "." in name}

    def named(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: named(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [named(inner) for inner in value]
        return sent.get(value, value) if isinstance(value, str) else value

    result: dict[str, Any] = named(data)
    return result


class Field(NamedTuple):
    """A field with its value in the form, its error message, and its description."""

    parameter: Parameter
    value: str
    error: str
    about: str


def fields_of(data: Mapping[str, Any], faults: Sequence[BadSpec], most: Mapping[str, int]) -> list[Field]:
    """Return the fields of a draft's world with their values and the faults that concern them."""
    full = parameters.expand(data)
    return [
        Field(
            parameter,
            parameters.form_value(parameter, full),
            _error_text(parameter, faults),
            f"{parameter.about}; at most {most[parameter.limit]:,}" if parameter.limit else parameter.about,
        )
        for parameter in parameters.parameters_of(loading.world_of(full))
    ]


def _error_text(parameter: Parameter, faults: Sequence[BadSpec]) -> str:
    return " ".join(_said_of(parameter, fault) for fault in faults if _is_about(parameter, fault))


def _said_of(parameter: Parameter, fault: BadSpec) -> str:
    inside = fault.where.removeprefix(parameter.path).removeprefix(".")
    return fault.reason if not inside else f"{_rule(inside)}: {fault.reason}"


def _is_about(parameter: Parameter, fault: BadSpec) -> bool:
    return f"{fault.where}.".startswith(f"{parameter.path}.")


def _rule(inside: str) -> str:
    number, _, name = inside.partition(".")
    place = f"Rule {int(number) + 1}" if number.isdigit() else inside
    return f"{place}, {name}" if name else place


def without_field(faults: Sequence[BadSpec], fields: Sequence[Field]) -> list[BadSpec]:
    return [
        fault
        for fault in faults
        if not is_of_splits(fault) and not any(_is_about(one.parameter, fault) for one in fields)
    ]


def is_of_splits(fault: BadSpec) -> bool:
    return fault.where.startswith("splits") and ".overrides" not in fault.where
