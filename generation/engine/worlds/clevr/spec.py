"""The spec of a CLEVR dataset; the defaults are the values of the paper or of the release.

References
----------
Johnson et al. 2017, CLEVR, section 3; the constants are those of the original generator.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from importlib import resources
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar

from pydantic import (
    Field,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from generation.engine.errors import BadFamily, BadMesh, BadSpec, NoRenderer
from generation.engine.language.families import Family, Language, Op
from generation.engine.language.family_files import read_families
from generation.engine.language.wording import most_words
from generation.engine.only_never_rules import Rules
from generation.engine.render import blender
from generation.engine.render.mesh import Mesh, parse_mesh
from generation.engine.spec import (
    COMMON,
    DIGEST_PATTERN,
    LIMITS,
    BaseSpec,
    Frozen,
    PresetFiles,
    check_references,
    default_by,
    limit_mark,
    over_preset,
    read,
    read_bundled,
)
from generation.engine.worlds.clevr.programs import Outline, outlines, ways
from generation.engine.worlds.clevr.question_text import lexicon
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, RELATIONS, ClevrVocabulary, composed_words

PACKAGE = "generation.engine.worlds.clevr"
FAMILY_ORDER = (
    "compare_integer.json",
    "comparison.json",
    "three_hop.json",
    "single_and.json",
    "same_relate.json",
    "single_or.json",
    "one_hop.json",
    "two_hop.json",
    "zero_hop.json",
)
MAX_OBJECTS, MAX_SIDE = LIMITS["objects"].ceiling, LIMITS["side"].ceiling
OBJECTS, SIDE = COMMON | limit_mark("objects"), COMMON | limit_mark("side")
MAX_WINDOW = 1000
MOST_WAYS = 20_000  # limit on forms of programs, for all families together; the bundled families have 564

Made = TypeVar("Made")
Digest = Annotated[str, StringConstraints(pattern=DIGEST_PATTERN)]
Positive = Annotated[float, Field(ge=0.0, le=10.0)]


LEFT_OUT_IF_EMPTY = ("only", "never", "trivial_families")  # specs of earlier releases do not have these fields


class Ruled(Frozen):
    """Fields with rules. Empty rules are left out of the JSON."""

    @model_serializer(mode="wrap")
    def _without_empty_rules(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = plain(self)
        return {name: value for name, value in data.items() if name not in LEFT_OUT_IF_EMPTY or value}


class SceneParameters(Ruled):
    """How scenes are sampled. Lengths are in scene units; a large object is 1.4 high."""

    objects_min: int = Field(
        default=3, ge=1, le=MAX_OBJECTS, title="Objects, at least", description="in a scene", json_schema_extra=OBJECTS
    )
    objects_max: int = Field(
        default=10, ge=1, le=MAX_OBJECTS, title="Objects, at most", description="in a scene", json_schema_extra=OBJECTS
    )
    extent: float = Field(default=3.0, gt=0.0, le=10.0)
    min_distance: Positive = 0.25
    margin: Positive = 0.4
    min_pixels: int = Field(
        default=200,
        ge=0,
        le=100_000,
        title="Least pixels",
        description="every object shows at least so many",
        json_schema_extra=COMMON,
    )
    relation_threshold: Positive = 0.2
    placement_tries: int = Field(default=50, ge=1, le=10_000)
    scene_tries: int = Field(default=2_000, ge=1, le=100_000)
    camera_jitter: Annotated[float, Field(ge=0.0, le=2.0)] = 0.5
    key_light_jitter: Positive = 1.0
    fill_light_jitter: Positive = 1.0
    back_light_jitter: Positive = 1.0
    only: Rules = Field(
        default=[],
        title="Objects: only",
        description="every object fits one of these rules, one a line: shape=cube color=gray,blue",
    )
    never: Rules = Field(
        default=[],
        title="Objects: never",
        description="no object fits one of these rules, one a line: size=small material=metal",
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.objects_min > self.objects_max:
            raise ValueError(f"Expected objects_min up to objects_max, got {self.objects_min} and {self.objects_max}")
        if self.relation_threshold > self.margin:
            raise ValueError(
                "Expected relation_threshold up to margin, so that any two objects are related, "
                f"got {self.relation_threshold} and {self.margin}"
            )
        longest = 2.0 * math.sqrt(2.0) * self.extent
        if (self.objects_max - 1) * self.margin > longest:
            raise ValueError(
                f"Expected room for {self.objects_max} objects {self.margin} apart along every direction, "
                f"but the ground is only {longest:.1f} across: lower objects_max or margin, or raise extent"
            )
        return self


SAMPLES = {"tracer": 16, "blender": blender.SAMPLES}  # defaults by renderer
OF_RENDERER = ("samples", "denoise")  # fields whose defaults depend on the renderer


class ImageParameters(Frozen):
    """How pictures are drawn. These fields are not part of the content hash."""

    renderer: Literal["tracer", "blender"] = Field(
        default="tracer", description="the built-in ray tracer, or Blender, which takes 200 times as long"
    )
    width: int = Field(default=480, ge=64, le=MAX_SIDE, title="Width", description="pixels", json_schema_extra=SIDE)
    height: int = Field(default=320, ge=64, le=MAX_SIDE, title="Height", description="pixels", json_schema_extra=SIDE)
    samples: int = Field(
        default=SAMPLES["tracer"],
        ge=1,
        le=4096,
        title="Samples",
        description="more give smoother shadows and edges, and take longer; with blender 512",
        json_schema_extra=COMMON | default_by("images.renderer", SAMPLES),
    )
    denoise: bool = Field(default=False, description="blender takes the noise out, and needs few samples then")

    @model_validator(mode="before")
    @classmethod
    def _samples_by_renderer(cls, data: Any) -> Any:
        renderer = data.get("renderer") if isinstance(data, dict) else None
        if isinstance(renderer, str) and renderer in SAMPLES and "samples" not in data:
            return {**data, "samples": SAMPLES[renderer]}
        return data

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.denoise and self.renderer != "blender":
            raise ValueError(f"Expected denoise with the renderer blender alone, got {self.renderer}")
        return self

    @model_serializer(mode="wrap")
    def _as_before(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return JSON as earlier releases wrote it, where possible, because stored specs are compared as text."""
        data: dict[str, Any] = plain(self)
        if self.renderer == "tracer":
            del data["denoise"]
        return data


class BalanceParameters(Frozen):
    """When an answer of a family is refused, so that its answers stay about equally frequent in a chunk."""

    ratio: float = Field(default=1.1, ge=1.0, le=1000.0)
    median_ratio: float = Field(default=5.0, ge=1.0, le=1000.0)
    median_floor: int = Field(default=5, ge=1, le=10_000)


class QuestionParameters(Ruled):
    """How questions are asked. `families` is "clevr" for the bundled families, or maps file names to SHA-256."""

    per_scene: int = Field(
        default=10,
        ge=1,
        le=200,
        title="Questions a scene",
        description="each from another family",
        json_schema_extra=COMMON,
    )
    window: int = Field(default=250, ge=1, le=MAX_WINDOW)
    families: Literal["clevr"] | dict[str, Digest] = "clevr"
    trivial_families: Literal["left-out"] | None = Field(
        default=None, description="the program writes it if the vocabulary leaves some families one possible answer"
    )
    degeneracy: Literal["reference", "clevr"] = Field(
        default="reference",
        title="Idle relations",
        description="which are refused: what a person would call idle, or what the original program refuses",
        json_schema_extra=COMMON,
    )
    trivial_share: float = Field(default=0.1, ge=0.0, lt=1.0)
    optional_words: float = Field(default=0.5, ge=0.0, le=1.0)
    search_states: int = Field(default=300, ge=10, le=1_000_000)
    replacements: int = Field(default=200, ge=0, le=100_000)
    balance: BalanceParameters = BalanceParameters()
    only: Rules = Field(
        default=[],
        title="Questions: only",
        description="every question fits one of these rules, one a line: group=query length=..8",
    )
    never: Rules = Field(
        default=[],
        title="Questions: never",
        description="no question fits one of these rules, one a line: topology=chain spatial=2..",
    )


def parameter_of(data: Mapping[str, Any], group: str, name: str) -> Any:
    """Return the value of a field in a spec's JSON or in overrides, or None if it is not there."""
    part = data.get(group)
    return part.get(name) if isinstance(part, Mapping) else None


class Most(NamedTuple):
    """The largest numbers of steps, spatial relations and same-attribute relations in a program."""

    steps: int
    spatial: int
    same: int


class DerivedValues(dict[str, Any]):
    """Values that are computed from a spec. Equal specs stay equal, whichever values were computed so far."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DerivedValues)

    __hash__ = None


class ClevrSpec(BaseSpec):
    """The spec of a CLEVR dataset."""

    world: Literal["clevr"] = "clevr"
    scene: SceneParameters = SceneParameters()
    images: ImageParameters = ImageParameters()
    questions: QuestionParameters = QuestionParameters()
    vocabulary: ClevrVocabulary
    scenes_from: Digest | None = Field(
        default=None, description="somebody else's scenes, which are asked about; a file, by its SHA-256 once gathered"
    )

    _families: tuple[Family, ...] = PrivateAttr(default=())
    _files: Mapping[str, bytes] = PrivateAttr(default={})
    _made: DerivedValues = PrivateAttr(default_factory=DerivedValues)

    @model_serializer(mode="wrap")
    def _without_no_scenes(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = plain(self)
        return {name: value for name, value in data.items() if name != "scenes_from" or value is not None}

    @property
    def files(self) -> Mapping[str, bytes]:
        """The files that the spec names, by SHA-256."""
        return self._files

    @property
    def scenes_file(self) -> bytes | None:
        """The file of given scenes that questions are asked about, or None if scenes are sampled."""
        return None if self.scenes_from is None else self._files[self.scenes_from]

    @property
    def scene_files(self) -> frozenset[str]:
        """The SHA-256 of the file of given scenes; empty if scenes are sampled."""
        return frozenset() if self.scenes_from is None else frozenset({self.scenes_from})

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """Return the value of `make`, which is called once for this spec and name."""
        if name not in self._made:
            self._made[name] = make()
        made: Made = self._made[name]
        return made

    @property
    def families(self) -> tuple[Family, ...]:
        """The question families; questions name them by number."""
        return self._families

    @cached_property
    def language(self) -> Language:
        """The attributes, values and relations that families may use."""
        return Language(
            attributes=tuple((name, self.vocabulary.values(name)) for name in ATTRIBUTES),
            relations=RELATIONS,
            most=self.scene.objects_max,
        )

    @cached_property
    def most_words(self) -> int:
        """The largest number of words that a question can have."""
        typed = (
            (wording, [param.type for param in family.params])
            for family in self.families
            for wording in family.wordings
        )
        return most_words(typed, lexicon(self.vocabulary))

    @cached_property
    def outlines(self) -> Mapping[int, tuple[Outline, ...]] | None:
        """The outlines of each family's programs, by the family's number; None if there are more than `MOST_WAYS`."""
        if sum(ways(family) for family in self.families) > MOST_WAYS:
            return None
        return {family.number: tuple(outlines(family)) for family in self.families}

    @cached_property
    def skeletons(self) -> tuple[str, ...] | None:
        """The skeletons that programs may have, those with few steps first; None if `outlines` is None."""
        if self.outlines is None:
            return None
        found = {outline.skeleton for family in self.outlines.values() for outline in family}
        return tuple(sorted(found, key=lambda skeleton: (skeleton.count("-"), skeleton)))

    @cached_property
    def most(self) -> "Most":
        """The largest numbers in the families' programs, with every filter set."""
        steps = {Op.FILTER: len(ATTRIBUTES), Op.RELATE_FILTER: len(ATTRIBUTES) + 1}
        programs = [[operation.op for operation in family.operations] for family in self.families]
        return Most(
            steps=max(sum(steps.get(op, 1) for op in program) for program in programs),
            spatial=max(sum(op in (Op.RELATE, Op.RELATE_FILTER) for op in program) for program in programs),
            same=max(program.count(Op.SAME) for program in programs),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the whole spec as JSON; null removes an entry of the default vocabulary that this one lacks."""
        data = super().to_json()
        return {**data, "vocabulary": _with_nulls(data["vocabulary"], _defaults()["vocabulary"])}

    def changed_for(self, name: str) -> Self:
        """Return the spec of one split, with its families and meshes read."""
        return bind_files(super().changed_for(name), self._files, where=f"splits.{name}.overrides")

    def laid_under(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Return the spec's JSON, to merge overrides into; another renderer starts with its own defaults."""
        data = super().laid_under(overrides)
        if parameter_of(overrides, "images", "renderer") not in (None, self.images.renderer):
            data["images"] = {key: value for key, value in data["images"].items() if key not in OF_RENDERER}
        return data

    def check_here(self) -> None:
        """Raise `BadSpec` if a split needs Blender and this machine does not have it."""
        for name, split in self.splits.items():
            if self.for_split(name).images.renderer != "blender":
                continue
            try:
                blender.check()
            except NoRenderer as error:
                own = parameter_of(split.overrides, "images", "renderer") is not None
                where = f"splits.{name}.overrides.images.renderer" if own else "images.renderer"
                raise BadSpec(error.reason, where=where) from error

    def for_preview(self) -> Self:
        """Return the spec with the tracer, which is fast, as the renderer of every split."""
        data = super().to_json()
        for part in (data, *(split["overrides"] for split in data["splits"].values())):
            if isinstance(part.get("images"), dict):
                part["images"] = {k: v for k, v in part["images"].items() if k not in ("renderer", *OF_RENDERER)}
        return bind_files(read(type(self), data), self._files)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        smallest = min(size.scale for size in self.vocabulary.sizes.values())
        needed = self.scene.objects_max * math.pi * (smallest + self.scene.min_distance / 2) ** 2
        ground = (2 * (self.scene.extent + smallest)) ** 2
        if needed > ground:
            raise ValueError(
                f"Expected objects that fit on the ground, but {self.scene.objects_max} of scale {smallest} need "
                f"{needed:.0f} of its {ground:.0f} square units: lower scene.objects_max or min_distance"
            )
        pixels = self.images.width * self.images.height
        if self.scene.min_pixels * self.scene.objects_min > pixels:
            raise ValueError(
                f"Expected objects that fit into the picture, but {self.scene.objects_min} of "
                f"{self.scene.min_pixels} pixels need more than its {pixels}: lower scene.min_pixels"
            )
        return self


def _with_nulls(data: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON with a null for each key that only the default has, also in nested objects that both have."""
    result = {**data, **{key: None for key in default if key not in data}}
    for key, value in default.items():
        if isinstance(value, Mapping) and isinstance(result[key], Mapping):
            result[key] = _with_nulls(result[key], value)
    return result


def bind_files(spec: Any, files: Mapping[str, bytes], *, where: str = "") -> Any:
    """Return the spec after reading the families and meshes that it names.

    Raises
    ------
    BadSpec
        If a named file is not among `files` or is malformed, or if there are fewer families than questions for each
        scene.
    """
    dot = f"{where}." if where else ""
    try:
        families = _families(spec, files, where=f"{dot}questions.families")
        meshes = _meshes(spec, files, where=f"{dot}vocabulary.shapes")
        if spec.scenes_from is not None:
            _check_there(files, spec.scenes_from, where=f"{dot}scenes_from")
    except (BadFamily, BadMesh) as error:
        raise BadSpec(error.reason, where=error.where) from error
    askable = sum(family.askable for family in families)
    if askable < spec.questions.per_scene:
        raise BadSpec(
            f"Expected at most {askable}, the number of families that can have two different answers in this "
            f"vocabulary, got {spec.questions.per_scene}.",
            where=f"{dot}questions.per_scene",
        )
    object.__setattr__(spec, "_families", families)
    spec.vocabulary.bind(meshes)
    object.__setattr__(spec, "_files", files)
    return spec


def _families(spec: Any, files: Mapping[str, bytes], *, where: str) -> tuple[Family, ...]:
    named = spec.questions.families
    if named == "clevr":
        return bundled_families(spec.language)
    texts = {name: _text(files, digest, where=f"{where}.{name}") for name, digest in named.items()}
    return read_families(texts, language=spec.language, order=FAMILY_ORDER)


@cache
def bundled_families(language: Language) -> tuple[Family, ...]:
    """Return CLEVR's 90 families."""
    folder = resources.files(PACKAGE) / "families"
    texts = {path.name: path.read_text() for path in folder.iterdir() if path.name.endswith(".json")}
    return read_families(texts, language=language, order=FAMILY_ORDER)


def _meshes(spec: Any, files: Mapping[str, bytes], *, where: str) -> dict[str, Mesh]:
    meshes = {}
    for name, shape in spec.vocabulary.shapes.items():
        if shape.mesh is not None:
            field = f"{where}.{name}.mesh"
            meshes[shape.mesh] = parse_mesh(_text(files, shape.mesh, where=field), name=field)
    return meshes


def _check_there(files: Mapping[str, bytes], digest: str, *, where: str) -> None:
    if digest not in files:
        raise BadSpec(f"Expected a file that comes with the spec, got {digest!r}, which did not come.", where=where)


def _text(files: Mapping[str, bytes], digest: str, *, where: str) -> str:
    _check_there(files, digest, where=where)
    try:
        return files[digest].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSpec(
            f"Expected a text file in UTF-8, got another byte (byte {error.start + 1}).", where=where
        ) from error


PRESETS = PresetFiles(PACKAGE, order=lambda name: (name.removesuffix("-mini"), name), hidden=("clevr-defaults",))


def read_spec(data: Mapping[str, Any], *, files: Mapping[str, bytes]) -> ClevrSpec:
    """Return the validated spec; its JSON is merged over the preset that `base` names, and over the defaults."""
    spec = read(ClevrSpec, over_preset(_with_composed_words(data), PRESETS, defaults=_defaults()))
    check_references(spec)
    bind_files(spec, files)
    for name in spec.splits:
        spec.for_split(name)
    return spec


PLACES_OF_WORDS = (
    ("vocabulary",),
    ("scene", "only"),
    ("scene", "never"),
    ("questions", "only"),
    ("questions", "never"),
)


def _with_composed_words(data: Any, where: str = "") -> Any:
    """Return a spec's JSON with the words of its vocabulary, rules and overrides in Unicode's composed form (NFC)."""
    if not isinstance(data, Mapping):
        return data
    result = dict(data)
    for group, *inner in PLACES_OF_WORDS:
        part = result.get(group)
        if not inner:
            result |= {group: composed_words(part, where=f"{where}{group}")} if group in result else {}
        elif isinstance(part, Mapping) and inner[0] in part:
            place = f"{where}{group}.{inner[0]}"
            result[group] = {**part, inner[0]: composed_words(part[inner[0]], where=place)}
    splits = result.get("splits")
    if isinstance(splits, Mapping):
        result["splits"] = {
            name: {**split, "overrides": _with_composed_words(split["overrides"], f"{where}splits.{name}.overrides.")}
            if isinstance(split, Mapping) and "overrides" in split
            else split
            for name, split in splits.items()
        }
    return result


def _defaults() -> dict[str, Any]:
    return read_bundled(PACKAGE, "clevr-defaults")
