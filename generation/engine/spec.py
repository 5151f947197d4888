"""Specs: all settings from which a dataset is made, validated and immutable.

A spec is JSON. It may start from a preset (`"base": "clevr-mini"`) and change some fields; each split may override any
field of the world. `read` turns a validation failure into one `BadSpec` with the path of the field, what was expected
and what was found.
"""

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import resources
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails

from generation.engine.errors import BadSpec

RESERVED_NAMES = frozenset({"new", "q", "export", "edit"})
RESERVED_SPLITS = RESERVED_NAMES | {"shortcuts"}  # these are also paths of pages of a dataset


def _split_name(name: str) -> str:
    if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_-]{0,39}", name):
        raise ValueError(
            "Expected a name of at most 40 letters A to Z, digits, hyphens and underscores that begins with a letter, "
            f"got {name[:60]!r}"
        )
    if name in RESERVED_SPLITS:
        raise ValueError(f"Expected another name than {', '.join(sorted(RESERVED_SPLITS))}, got {name!r}")
    return name


SplitName = Annotated[str, AfterValidator(_split_name)]
COMMON: dict[str, Any] = {"common": True}  # marks the most commonly changed fields in a spec's JSON schema


class SpecLimit(NamedTuple):
    """The largest value a spec may have: `standard` on a site without other settings, `ceiling` on any site."""

    unit: str
    standard: int
    ceiling: int


LIMITS = {
    "objects": SpecLimit("objects in a scene", 40, 63),  # sets of objects are bit masks of 64 bits
    "side": SpecLimit("pixels of a picture's width or height", 1024, 4096),
    "scenes": SpecLimit("scenes in a split", 2_000_000, 10_000_000),  # positions of questions have 31 bits
}


DIGEST_PATTERN = r"^[0-9a-f]{64}$"
PATTERNS = {DIGEST_PATTERN: "Expected the SHA-256 of a file, which has 64 digits 0 to 9 and letters a to f"}


NO_FILES: Mapping[str, bytes] = MappingProxyType({})


def limit_mark(name: str) -> dict[str, Any]:
    """Return the mark, in a spec's JSON schema, of a field that is bounded by an entry of `LIMITS`."""
    return {"limit": name}


def default_by(path: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the mark, in a spec's JSON schema, of a field whose default depends on the field at `path`."""
    return {"default_by": {"path": path, "defaults": dict(defaults)}}


Model = TypeVar("Model", bound=BaseModel)


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("Expected a text without NUL characters, which databases can't store")
    return text


Plain = Annotated[str, AfterValidator(_no_nul)]


class Frozen(BaseModel):
    """The base class of all parts of a spec: unknown keys, type conversions and changes are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class SplitSpec(Frozen):
    """One split: its number of scenes, whether its answers are withheld, its reference, and its overrides."""

    scenes: int = Field(ge=1, le=LIMITS["scenes"].ceiling, json_schema_extra=limit_mark("scenes"))
    withheld: bool = False
    reference: str | None = None
    overrides: dict[str, Any] = {}


class BaseSpec(Frozen):
    """The fields that all worlds share. Each world derives its spec from it and adds its own fields."""

    world: str
    seed: int = Field(
        default=0, ge=0, lt=2**64, json_schema_extra=COMMON, description="another seed gives another dataset"
    )
    title: Plain = Field(default="", max_length=200)
    description: Plain = Field(default="", max_length=5000)
    splits: dict[SplitName, SplitSpec] = Field(min_length=1, max_length=20)

    _of_splits: dict[str, Any] = PrivateAttr(default_factory=dict)

    def for_split(self, name: str) -> Self:
        """Return the spec of one split, with the split's overrides merged in."""
        if not self.splits[name].overrides:
            return self
        if name not in self._of_splits:
            self._of_splits[name] = self.changed_for(name)
        return self._of_splits[name]

    def changed_for(self, name: str) -> Self:
        """Return a new spec with a split's overrides merged in. A world extends it for fields that depend on others."""
        overrides = self.splits[name].overrides
        forbidden = sorted(set(overrides) & {"world", "seed", "splits", "title", "description"})
        where = f"splits.{name}.overrides"
        if forbidden:
            raise BadSpec(f"Expected settings of the world, got {', '.join(forbidden)}.", where=where)
        return read(type(self), merge(self.laid_under(overrides), overrides), where=where)

    def laid_under(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Return the spec's JSON, over which a split's overrides are merged."""
        return self.model_dump(mode="json")

    @property
    def files(self) -> Mapping[str, bytes]:
        """The contents of the files that the spec names, by digest."""
        return NO_FILES

    @property
    def scene_files(self) -> frozenset[str]:
        """Return the digests of the spec's scene files, from which answers can be computed."""
        return frozenset()

    def check_here(self) -> None:
        """Raise `BadSpec` with the field's name if drawing pictures needs a program that this machine lacks."""

    def for_preview(self) -> Self:
        """Return a spec of the same scenes whose pictures can be drawn within seconds."""
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the whole spec as JSON, with all defaults written out and the splits in their order."""
        return self.model_dump(mode="json")

    def reference_of(self, name: str) -> str | None:
        """Return the train split to which `name` is compared: the stated one, else `train` if it exists, else None."""
        stated = self.splits[name].reference
        if stated is not None:
            return stated
        return "train" if "train" in self.splits and name != "train" else None


def merge(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` merged with `changes`: objects merge key by key, null removes a key, other values replace."""
    result = copy.deepcopy(dict(base))
    for key, value in changes.items():
        if value is None and key in result:
            del result[key]
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merge(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


class PresetFiles(Mapping[str, dict[str, Any]]):
    """The presets in the folder `presets/` of a world's package, by name. Each access returns a new object.

    Parameters
    ----------
    package : str
    order : callable
        Sort key for names.
    complete : callable
        Adds the fields that the file leaves out to a preset's JSON.
    hidden : tuple of str
        Presets that can be read but that are not listed.
    """

    def __init__(
        self,
        package: str,
        *,
        order: Callable[[str], Any],
        complete: Callable[[dict[str, Any]], dict[str, Any]] = dict,
        hidden: tuple[str, ...] = (),
    ) -> None:
        self._package, self._order, self._complete, self._hidden = package, order, complete, hidden

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self._names and name not in self._hidden:
            raise KeyError(name)
        return self._complete(read_bundled(self._package, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        files = (resources.files(self._package) / "presets").iterdir()
        names = {path.name.removesuffix(".json") for path in files if path.name.endswith(".json")}
        return tuple(sorted(names.difference(self._hidden), key=self._order))


def read_bundled(package: str, name: str) -> dict[str, Any]:
    """Return the JSON of a file in the folder `presets/` of a world's package."""
    return dict(json.loads(_bundled_text(package, name)))


@cache
def _bundled_text(package: str, name: str) -> str:
    return (resources.files(package) / "presets" / f"{name}.json").read_text()


def preset_of(presets: Mapping[str, Mapping[str, Any]], name: object) -> Mapping[str, Any]:
    """Return a preset by name; raise `BadSpec` with the names of the existing presets."""
    if not isinstance(name, str):
        raise BadSpec(f"Expected the name of a preset, got {name!r}.", where="base")
    if name not in presets:
        raise BadSpec(f"Expected one of {', '.join(presets)}, got {name!r}.", where="base")
    return presets[name]


NO_DEFAULTS: Mapping[str, Any] = MappingProxyType({})


def over_preset(
    data: Mapping[str, Any], presets: Mapping[str, Mapping[str, Any]], *, defaults: Mapping[str, Any] = NO_DEFAULTS
) -> dict[str, Any]:
    """Return a spec's JSON merged over the preset named by `base` and over `defaults`; raise `BadSpec`."""
    if not isinstance(data, Mapping):
        raise BadSpec(f"Expected an object, got {type(data).__name__}.")
    own = {key: value for key, value in data.items() if key != "base"}
    base = data.get("base")
    return merge(merge(defaults, preset_of(presets, base) if base is not None else {}), own)


def check_references(spec: BaseSpec) -> None:
    """Raise `BadSpec` if the reference of a split is not another split of the spec."""
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
        For the first fault: the path of its field, what was expected and what was found. `others` has the other faults.
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
    """Return the keys that lead through `data` to a fault, including a last key that is missing.

    Pydantic adds parts to the path (a mapping's key, a branch of a union) that no spec has; they are left out.
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
    """Return what a validation fault expected, in the wording of our messages."""
    if kind == "extra_forbidden":
        return "Expected a known key, this one is not. Check its spelling against /docs/spec/"
    if kind == "missing":
        return "Expected a value, none came"
    if kind == "string_pattern_mismatch":
        return PATTERNS.get(context["pattern"], f"Expected a text that matches {context['pattern']}")
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
