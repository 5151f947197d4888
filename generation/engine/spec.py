"""Specs: everything a dataset is made from, validated and frozen.

A spec is JSON. It may start from a preset (`"base": "clevr-mini"`) and change what it names; each split may
override any knob. `read` turns a validation failure into one `BadSpec` that gives the path of the field, what was
expected and what came.
"""

import copy
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from generation.engine.errors import BadSpec

RESERVED_NAMES = frozenset({"new", "q", "export", "edit"})
RESERVED_SPLITS = RESERVED_NAMES | {"shortcuts"}  # pages of a dataset stand where those of its splits do


def _not_reserved(name: str) -> str:
    if name in RESERVED_SPLITS:
        raise ValueError(f"Expected another name than {', '.join(sorted(RESERVED_SPLITS))}, got {name!r}")
    return name


SplitName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z][a-zA-Z0-9_-]{0,39}$"), AfterValidator(_not_reserved)]
COMMON: dict[str, Any] = {"common": True}  # marks, in a spec's JSON schema, the knobs that people change most


class Limit(NamedTuple):
    """How much a spec may ask for: on a site that does not say otherwise, and at all, which `read` holds it to."""

    unit: str
    standard: int
    ceiling: int


LIMITS = {
    "objects": Limit("objects in a scene", 40, 63),  # sets of objects are masks of 64 bits
    "side": Limit("pixels of a picture's width or height", 1024, 4096),
    "scenes": Limit("scenes in a split", 2_000_000, 10_000_000),  # positions of questions are 31 bits
}


NO_FILES: Mapping[str, bytes] = MappingProxyType({})


def limited(name: str) -> dict[str, Any]:
    """Return what marks, in a spec's JSON schema, a knob that a limit of `LIMITS` holds down."""
    return {"limit": name}


def default_by(path: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return what says, in a spec's JSON schema, that a knob's default hangs on the value at another one's path."""
    return {"default_by": {"path": path, "defaults": dict(defaults)}}


Model = TypeVar("Model", bound=BaseModel)


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("Expected a text without NUL characters, which databases can't store")
    return text


Plain = Annotated[str, AfterValidator(_no_nul)]


class Frozen(BaseModel):
    """The base of every part of a spec: no unknown keys, no silent conversions, no changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class SplitSpec(Frozen):
    """One split: how many scenes, whether its answers are withheld, its reference, and what it overrides."""

    scenes: int = Field(ge=1, le=LIMITS["scenes"].ceiling, json_schema_extra=limited("scenes"))
    withheld: bool = False
    reference: str | None = None
    overrides: dict[str, Any] = {}


class BaseSpec(Frozen):
    """What every world's spec has; a world derives from it and adds its knobs."""

    world: str
    seed: int = Field(
        default=0, ge=0, lt=2**64, json_schema_extra=COMMON, description="another seed gives another dataset"
    )
    title: Plain = Field(default="", max_length=200)
    description: Plain = Field(default="", max_length=5000)
    splits: dict[SplitName, SplitSpec] = Field(min_length=1, max_length=20)

    _of_splits: dict[str, Any] = PrivateAttr(default_factory=dict)

    def for_split(self, name: str) -> Self:
        """Return the spec as one split has it: its overrides merged in."""
        if not self.splits[name].overrides:
            return self
        if name not in self._of_splits:
            self._of_splits[name] = self.changed_for(name)
        return self._of_splits[name]

    def changed_for(self, name: str) -> Self:
        """Return the spec with a split's overrides merged in, read anew; a world adds what hangs on its knobs."""
        overrides = self.splits[name].overrides
        forbidden = sorted(set(overrides) & {"world", "seed", "splits", "title", "description"})
        where = f"splits.{name}.overrides"
        if forbidden:
            raise BadSpec(f"Expected knobs of the world, got {', '.join(forbidden)}.", where=where)
        return read(type(self), merged(self.laid_under(overrides), overrides), where=where)

    def laid_under(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Return the spec's JSON for a split's overrides to be laid over."""
        return self.model_dump(mode="json")

    @property
    def files(self) -> Mapping[str, bytes]:
        """The files that it names, by digest."""
        return NO_FILES

    @property
    def scene_files(self) -> frozenset[str]:
        """Return the digests of its files of scenes, from which answers can be computed."""
        return frozenset()

    def check_here(self) -> None:
        """Raise `BadSpec` naming the field where pictures need a program that this machine lacks."""

    def for_preview(self) -> Self:
        """Return a spec of the same scenes whose pictures are drawn within seconds."""
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the whole spec as JSON, every default spelled out, splits in their order."""
        return self.model_dump(mode="json")

    def reference_of(self, name: str) -> str | None:
        """Return the train split that `name` is measured against: the stated one, else `train`, else none."""
        stated = self.splits[name].reference
        if stated is not None:
            return stated
        return "train" if "train" in self.splits and name != "train" else None


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with `changes` laid over it: objects merge key by key, null removes, all else replaces."""
    result = copy.deepcopy(dict(base))
    for key, value in changes.items():
        if value is None and key in result:
            del result[key]
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


@cache
def bundled(package: str) -> Mapping[str, str]:
    """Return the texts of the presets that lie in a world's package, by name."""
    files = (resources.files(package) / "presets").iterdir()
    return {path.name.removesuffix(".json"): path.read_text() for path in files if path.name.endswith(".json")}


def check_references(spec: BaseSpec) -> None:
    """Raise `BadSpec` where a split is measured against one that isn't another of the spec's."""
    for name, split in spec.splits.items():
        others = [other for other in spec.splits if other != name]
        if split.reference is not None and split.reference not in others:
            raise BadSpec(
                f"Expected one of the other splits ({', '.join(others)}), got {split.reference!r}.",
                where=f"splits.{name}.reference",
            )


def read(model: type[Model], data: Mapping[str, Any], *, where: str = "") -> Model:
    """Return `data` as a validated model.

    Raises
    ------
    BadSpec
        For the first fault: the path of its field, what was expected, what came. The others are its `others`.
    """
    if not isinstance(data, Mapping):
        raise BadSpec(f"Expected an object, got {_short(data)}.", where=where)
    try:
        return model.model_validate_json(json.dumps(data))
    except ValidationError as error:
        raise _bad_spec(error, data, where) from error
    except (TypeError, ValueError) as error:
        raise BadSpec(f"Expected JSON, got something else ({error}).", where=where) from error


def _bad_spec(error: ValidationError, data: Mapping[str, Any], prefix: str) -> BadSpec:
    faults = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] != "extra_forbidden")
    first, *others = [BadSpec(_reason(fault), where=_where(fault, data, prefix)) for fault in faults]
    return BadSpec(first.reason, where=first.where, others=others)


def _where(fault: ErrorDetails, data: Mapping[str, Any], prefix: str) -> str:
    return ".".join([*([prefix] if prefix else []), *_path(fault["loc"], data)])


def _reason(fault: ErrorDetails) -> str:
    message = _expected(fault["type"], fault["msg"], fault.get("ctx", {}))
    if fault["type"] not in ("missing", "value_error", "extra_forbidden"):
        message += f", got {_short(fault['input'])}"
    return f"{message}."


def _path(places: Sequence[str | int], data: Any) -> list[str]:
    """Return the places that lead through `data`, and a last one that is missing there.

    Validation adds places of its own (a mapping's key, a branch of a union), which no spec has.
    """
    path: list[str] = []
    for number, place in enumerate(places):
        indexed = isinstance(data, Sequence) and isinstance(place, int) and place < len(data)
        if indexed or (isinstance(data, Mapping) and place in data):
            data = data[place]
        elif number < len(places) - 1 or str(place).endswith("]"):
            continue
        path.append(str(place))
    return path


def _expected(kind: str, said: str, context: Mapping[str, Any]) -> str:
    """Return what a validation fault says was expected, in our form."""
    if kind == "extra_forbidden":
        return "Expected a known key, this one is not. Check its spelling against /docs/spec/"
    if kind == "missing":
        return "Expected a value, none came"
    if kind == "string_pattern_mismatch":
        return f"Expected a text that matches {context['pattern']}"
    if kind in ("too_short", "too_long"):
        bound = f"at least {context['min_length']}" if kind == "too_short" else f"at most {context['max_length']}"
        return f"Expected {bound} {'entry' if bound.endswith(' 1') else 'entries'}"
    words = said.removeprefix("Value error, ").rstrip(".")
    if words.startswith("Expected"):
        return words
    return f"Expected {words.removeprefix('Input should be ')}"


def _short(value: Any) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
