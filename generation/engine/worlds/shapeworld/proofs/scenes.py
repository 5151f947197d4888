"""Proofs of microworlds: their entities, sizes, places and overlaps."""

from itertools import combinations

from generation.engine.verification.proof import Proof
from generation.engine.worlds.shapeworld.footprints import GRID
from generation.engine.worlds.shapeworld.proofs.geometry import Patch, patch
from generation.engine.worlds.shapeworld.scene import SHAPES, Entity, FlatScene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

TALL = {"triangle": 3**0.5 / 2, "pentagon": (5 + 5**0.5) ** 0.5 / 8**0.5, "semicircle": 0.5}  # height to width, else 1
STRETCHED = ("rectangle", "ellipse")
ROUNDED = 2e-6
POINTS_OFF = 3  # points on an edge may count or not
MOST = 2**32


def prove_scene(spec: ShapeWorldSpec, scene: FlatScene, proof: Proof) -> None:
    """Prove that a microworld obeys its spec, and that its overlaps are those of its entities."""
    _prove_kinds(spec, scene, proof)
    for number, entity in enumerate(scene.entities):
        _prove_size(spec, entity, f"entity {number}: ", proof)
    images = spec.images
    seeds = range(MOST) if images.noise else range(1)
    size = (scene.height, scene.width, scene.noise)
    proof.same("scenes", (images.height, images.width, images.noise), size, what="height, width and noise ")
    proof.hold("scenes", scene.noise_seed in seeds, f"a seed of noise below {len(seeds)}", scene.noise_seed)
    areas = [entity.area for entity in scene.entities]
    proof.hold("scenes", areas == sorted(areas, reverse=True), "large entities before smaller ones", areas)
    if all(entity.shape in SHAPES and min(entity.width, entity.height) > 0 for entity in scene.entities):
        _prove_places(spec, scene, [patch(entity, side=GRID) for entity in scene.entities], proof)


def _prove_kinds(spec: ShapeWorldSpec, scene: FlatScene, proof: Proof) -> None:
    """Prove that the number of entities, their shapes and their colours are allowed in the split."""
    counts = sorted({*spec.counts, *spec.held_out.shows_counts})
    proof.hold("scenes", len(scene.entities) in counts, f"one of {counts} entities", len(scene.entities))
    words = spec.vocabulary
    for number, entity in enumerate(scene.entities):
        kind = (entity.shape, entity.color)
        known = entity.shape in words.shapes and entity.color in words.colors
        proof.hold("vocabulary", known, f"entity {number} of the vocabulary", " ".join(kind))
        proof.hold("rules", kind not in spec.forbidden, "no combination that is held out", " ".join(kind))


def _prove_size(spec: ShapeWorldSpec, entity: Entity, what: str, proof: Proof) -> None:
    """Prove that an entity's size, proportions, shade and rotation are within the spec's limits."""
    parameters = spec.scene
    low, high = parameters.size_min - ROUNDED, parameters.size_max + ROUNDED
    proof.hold("scenes", low <= entity.width <= high, f"{what}a width of {low:g} to {high:g}", entity.width)
    tall = entity.height / entity.width if entity.width else 0.0
    wide, narrow = TALL.get(entity.shape, 1.0), TALL.get(entity.shape, 1.0)
    if entity.shape in STRETCHED:
        narrow, wide = 1 / parameters.distortion_max, 1 / parameters.distortion_min
    slack = ROUNDED / low
    holds = narrow - slack <= tall <= wide + slack
    proof.hold("scenes", holds, f"{what}a height of {narrow:.4f} to {wide:.4f} of the width", f"{tall:.4f}")
    proof.hold(
        "scenes", abs(entity.shade) <= parameters.shade, f"{what}a shade within {parameters.shade:g}", entity.shade
    )
    turned = 0.0 <= entity.rotation <= 1.0 if parameters.rotation else entity.rotation == 0.0
    proof.hold("scenes", turned, f"{what}a rotation of 0{' to 1' if parameters.rotation else ''}", entity.rotation)


def _prove_places(spec: ShapeWorldSpec, scene: FlatScene, patches: list[Patch], proof: Proof) -> None:
    """Prove that places and overlaps of entities obey the spec, and that the scene records the overlaps."""
    parameters = spec.scene
    for number, one in enumerate(patches):
        outside = one.size - one.within(GRID).size
        most = parameters.outside * one.size + POINTS_OFF
        proof.hold("scenes", outside <= most, f"at most {most:.0f} points of entity {number} outside", outside)
    covered = [0] * len(patches)
    for (i, below), (j, above) in combinations(enumerate(one.within(GRID) for one in patches), 2):
        common, smaller = below.common(above), min(patches[i].size, patches[j].size)
        covered[i], covered[j] = covered[i] + common, covered[j] + common
        most = parameters.collision_tolerance * smaller + POINTS_OFF
        proof.hold("scenes", common <= most, f"entities {i} and {j} overlap in at most {most:.0f} points", common)
        _prove_alike(spec, (scene.entities[i], scene.entities[j]), common, proof)
        _prove_relation(spec, scene, (i, j), (common, smaller), proof)
    for number, (count, one) in enumerate(zip(covered, patches, strict=True)):
        most = parameters.collision_tolerance * one.size + POINTS_OFF * len(patches)
        proof.hold("scenes", count <= most, f"at most {most:.0f} points of entity {number} overlapped", count)


def _prove_alike(spec: ShapeWorldSpec, pair: tuple[Entity, Entity], common: int, proof: Proof) -> None:
    one, other = pair
    if one.color == other.color and abs(one.shade - other.shade) < spec.scene.collision_shade - ROUNDED:
        proof.hold("scenes", common <= POINTS_OFF, "entities of one colour apart", f"{common} points in common")


def _prove_relation(
    spec: ShapeWorldSpec, scene: FlatScene, pair: tuple[int, int], points: tuple[int, int], proof: Proof
) -> None:
    """Prove that a scene records the overlap of two entities, of which the earlier one is first."""
    (i, j), (common, smaller) = pair, points
    said = (bool(scene.covers[j] >> i & 1), bool(scene.grazes[j] >> i & 1))
    clear = spec.captions.thresholds.overlap * smaller
    may_be = set()
    if common >= clear - POINTS_OFF:
        may_be.add((True, False))
    if common < clear + POINTS_OFF:
        may_be.add((False, True))
    if common <= POINTS_OFF:
        may_be.add((False, False))
    if spec.scene.collision_tolerance == 0:
        may_be = {(False, False)}
    proof.hold("references", said in may_be, f"covers and grazes of entities {i} and {j} among {sorted(may_be)}", said)
