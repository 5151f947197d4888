"""Pictures of streets: every vehicle in its place, the weathers apart, and the same picture every time."""

from itertools import combinations

import numpy as np
import pytest

from generation.engine.render import shapes
from generation.engine.worlds.simtown.bodies import bounds, extent, place
from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.picture import draw, objects_of, solids_of, visible_pixels
from generation.engine.worlds.simtown.road import box_of, is_inside, reach
from generation.engine.worlds.simtown.scene import LaneName, SimTownScene, Vehicle, WeatherName
from generation.engine.worlds.simtown.street import BUILDINGS, HOUSE_COLOURS, LANES, THINGS
from generation.engine.worlds.simtown.weather import WEATHERS
from tests import proof
from tests.worlds.simtown import twin
from tests.worlds.simtown.made import BASES, MAKER, items, scene_of, spec_of

NAMES = tuple(one.name for one in ENTITIES)
# The mean difference, of 255, to a picture with 64 samples; measured on 40 scenes: at most 4.4, 2.2 and 1.2.
APART = {1: 6.0, 4: 3.0, 16: 1.6}


def some_scenes(base: str = "simtown-k60-distractor", *, count: int = 12) -> list[SimTownScene]:
    return [scene_of(item) for item in items(base, 2 * count)["train"]]


def alone(entity: str, lane: LaneName = "near", *, x: float = 0.0, weather: WeatherName = "clear") -> SimTownScene:
    vehicle = Vehicle(entity=entity, lane=lane, x=x, y=LANES[lane])
    return SimTownScene(vehicles=(vehicle,), weather=weather)


def difference(one: np.ndarray, two: np.ndarray) -> float:
    return float(np.abs(one.astype(int) - two).mean())


@pytest.mark.parametrize(("width", "height", "samples"), [(96, 64, 4), (32, 24, 1), (120, 120, 2), (200, 100, 16)])
def test_pictures_have_their_size_and_ids_of_objects_that_exist(width: int, height: int, samples: int) -> None:
    for scene in some_scenes(count=4):
        rgb, ids = draw(scene, width=width, height=height, samples=samples)
        assert (rgb.shape, rgb.dtype) == ((height, width, 3), np.uint8)
        assert (ids.shape, ids.dtype) == ((height, width), np.uint16)
        count = len(scene.vehicles) + len(scene.street.buildings) + len(scene.street.things)
        assert ids.max() <= count
        assert set(range(1, len(scene.vehicles) + 1)) <= set(np.unique(ids).tolist())
        assert (ids > len(scene.vehicles)).any()
        assert (ids == 0).any()


def test_the_maker_draws_with_the_parameters_of_the_split() -> None:
    spec = spec_of("simtown-k5", splits={"test": {"overrides": {"images": {"width": 60, "height": 40, "samples": 1}}}})
    [item] = items("simtown-k5", 2)["train"]
    for split, (width, height, samples) in {"train": (96, 64, 4), "test": (60, 40, 1)}.items():
        rgb, ids = MAKER.render(spec, split, item)
        expected = draw(scene_of(item), width=width, height=height, samples=samples)
        assert np.array_equal(rgb, expected[0])
        assert np.array_equal(ids, expected[1])


@pytest.mark.parametrize("base", BASES)
def test_each_vehicle_lies_inside_its_projected_box(base: str) -> None:
    count = proof.size(1_000, name="SimTown pictures of each preset, with the boxes of their vehicles")
    for scene in some_scenes(base, count=count // 2):
        _, ids = draw(scene, width=192, height=128, samples=1)
        for number, vehicle in enumerate(scene.vehicles):
            rows, columns = np.nonzero(ids == number + 1)
            left, top, right, bottom = (192 * value for value in box_of(vehicle))
            assert 96 + left - 1 <= columns.min()
            assert columns.max() + 1 <= 96 + right + 1
            assert 64 + top - 1 <= rows.min()
            assert rows.max() + 1 <= 64 + bottom + 1


@pytest.mark.parametrize("entity", proof.sample(NAMES, gate=6))
def test_the_box_of_a_vehicle_fits_it_closely(entity: str) -> None:
    """A box that is too large would be a wrong place to learn from."""
    for lane in LANES:
        scene = alone(entity, lane)  # type: ignore[arg-type]
        ids = twin.object_ids(scene.vehicles, width=480, height=320)
        rows, columns = np.nonzero(ids == 1)
        left, top, right, bottom = (480 * value for value in box_of(scene.vehicles[0]))
        width, height = right - left, bottom - top
        assert columns.max() - columns.min() + 1 > 0.75 * width
        assert rows.max() - rows.min() + 1 > 0.6 * height
        assert np.allclose(box_of(scene.vehicles[0]), twin.box_in_picture(scene.vehicles[0]), atol=1e-9)


@pytest.mark.parametrize("entity", proof.sample(NAMES, gate=16))
def test_the_size_of_a_vehicle_is_that_of_its_parts(entity: str) -> None:
    """It stands on the ground with its middle at x = y = 0, and no point of its parts is outside."""
    parts = list(twin.parts_of(entity))
    low, high = np.array(bounds(parts))
    assert np.allclose(low + high, [0.0, 0.0, high[2]], atol=1e-9)
    assert abs(low[2]) < 1e-9
    assert extent(parts) == pytest.approx(tuple(high - low))
    rng = np.random.default_rng(3)
    reached = np.zeros((2, 3))
    for part in parts:
        points = surface_points(part, rng)
        assert (points > low - 1e-6).all()
        assert (points < high + 1e-6).all()
        reached = np.array([np.minimum(reached[0], points.min(axis=0)), np.maximum(reached[1], points.max(axis=0))])
    assert (np.abs(reached - [low, high]) < 0.08).all()
    assert place(parts)[0].centre == pytest.approx(parts[0].centre, abs=1e-9)


def surface_points(part, rng: np.random.Generator) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Return points of a part, in metres: many of its surface or inside."""
    way = rng.normal(size=(4_000, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    if part.kind == shapes.SPHERE:
        own = way * part.scale
    elif part.kind == shapes.MESH:
        own = part.mesh.triangles.reshape(-1, 3) * part.scale
    elif part.kind == shapes.BOX:
        half, bevel = np.array(part.par[:3]), part.par[3]
        own = np.sign(rng.uniform(-1, 1, (4_000, 3))) * (half - bevel) + bevel * way
    elif part.kind == shapes.CYLINDER:
        radius, half, bevel = part.par
        angle, side = rng.uniform(0, 2 * np.pi, 4_000), np.sign(rng.uniform(-1, 1, 4_000))
        ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(4_000)], axis=1) * (radius - bevel)
        own = ring + side[:, None] * [0.0, 0.0, half - bevel] + bevel * way
    else:
        low, high, half = part.par
        angle, share = rng.uniform(0, 2 * np.pi, 4_000), rng.integers(0, 2, 4_000)
        own = np.stack([np.cos(angle), np.sin(angle), np.zeros(4_000)], axis=1) * (low + share * (high - low))[:, None]
        own += np.stack([np.zeros(4_000), np.zeros(4_000), half * (2 * share - 1)], axis=1)
    return np.array(part.centre) + own @ np.array(part.turn).T


@pytest.mark.parametrize("base", BASES)
def test_object_ids_are_those_that_brute_force_finds(base: str) -> None:
    for scene in some_scenes(base, count=proof.size(100)):
        expected = twin.object_ids(scene.vehicles, width=96, height=64)
        bare = SimTownScene(vehicles=scene.vehicles, weather=scene.weather)
        assert (draw(bare, width=96, height=64, samples=1)[1] != expected).sum() <= 1
        counts = np.bincount(expected.ravel(), minlength=len(scene.vehicles) + 1)[1:]
        assert np.abs(visible_pixels(scene.vehicles, width=96, height=64) - counts).max() <= 1


def test_nothing_of_the_street_hides_a_vehicle() -> None:
    """Thus visible pixels can be counted without the street."""
    for base in BASES:
        for scene in some_scenes(base, count=proof.size(200)):
            _, ids = draw(scene, width=96, height=64, samples=1)
            counts = np.bincount(ids.ravel(), minlength=len(scene.vehicles) + 1)[1 : len(scene.vehicles) + 1]
            assert np.abs(counts - visible_pixels(scene.vehicles, width=96, height=64)).max() <= 1


def test_vehicles_of_the_two_lanes_head_in_opposite_directions() -> None:
    for name in ("tow truck", "racing car", "excavator"):
        near, far = (solids_of(objects_of(alone(name, lane)))[0].solids for lane in ("near", "far"))
        own = np.array([part.centre for part in twin.parts_of(name)])
        assert np.allclose(near[:, :3], own + np.array([0.0, LANES["near"], 0.0]))
        assert np.allclose(far[:, :3], own * [-1.0, -1.0, 1.0] + np.array([0.0, LANES["far"], 0.0]))


def test_headlamps_are_in_front() -> None:
    """In the near lane, at the greatest x."""
    lamps = [part.centre[0] for part in twin.parts_of("taxi") if part.colour[0] > 0.9 and part.colour[2] < 0.6]
    assert max(lamps) > 0.9 * extent(list(twin.parts_of("taxi")))[0] / 2


def test_vehicles_reach_the_border_and_not_beyond() -> None:
    for name in NAMES:
        for lane in LANES:
            for x, outward in zip(reach(name, lane), (-1.0, 1.0), strict=True):  # type: ignore[arg-type]
                assert is_inside(alone(name, lane, x=x).vehicles[0])  # type: ignore[arg-type]
                nearest = alone(name, lane, x=x + 0.2 * outward).vehicles[0]  # type: ignore[arg-type]
                assert not is_inside(nearest.model_copy(update={"y": LANES[lane] - 0.25}))


def test_a_picture_drawn_twice_is_equal() -> None:
    for scene in some_scenes(count=6):
        one, two = (draw(scene, width=96, height=64, samples=4) for _ in range(2))
        assert np.array_equal(one[0], two[0])
        assert np.array_equal(one[1], two[1])


def test_the_grain_of_two_pictures_differs() -> None:
    """Moved by a millimetre, a vehicle changes a scene, and thus the noise that rounds colours."""
    one = alone("taxi", x=0.0)
    pictures = [draw(scene, width=96, height=64, samples=1)[0] for scene in (one, alone("taxi", x=0.001))]
    assert (pictures[0] != pictures[1])[:, :10].mean() > 0.001
    assert difference(*pictures) < 8  # clouds differ too


def test_two_scenes_look_different() -> None:
    pictures = [draw(scene, width=96, height=64, samples=1)[0] for scene in some_scenes(count=6)]
    assert min(difference(one, two) for one, two in combinations(pictures, 2)) > 10


@pytest.mark.parametrize("samples", APART)
def test_more_samples_change_a_picture_only_slightly(samples: int) -> None:
    for scene in some_scenes(count=proof.size(100)):
        fine, ids = draw(scene, width=96, height=64, samples=64)
        coarse, same = draw(scene, width=96, height=64, samples=samples)
        assert 0.0 < difference(fine, coarse) < APART[samples]
        assert np.array_equal(ids, same)


def test_more_samples_are_closer_to_the_limit() -> None:
    [scene] = some_scenes(count=1)
    fine = draw(scene, width=96, height=64, samples=64)[0]
    apart = [difference(fine, draw(scene, width=96, height=64, samples=samples)[0]) for samples in (1, 4, 16, 36)]
    assert apart == sorted(apart, reverse=True)


def in_weathers(scene: SimTownScene) -> dict[str, np.ndarray]:
    return {
        weather: draw(scene.model_copy(update={"weather": weather}), width=96, height=64, samples=4)[0]
        for weather in WEATHERS
    }


def test_the_six_weathers_look_different() -> None:
    assert len(WEATHERS) == 6
    for scene in some_scenes(count=6):
        for one, two in combinations(in_weathers(scene).values(), 2):
            assert difference(one, two) > 10  # measured: 16 and more


def test_weather_changes_no_object() -> None:
    for scene in some_scenes(count=6):
        ids = [draw(scene.model_copy(update={"weather": one}), width=96, height=64, samples=1)[1] for one in WEATHERS]
        assert all(np.array_equal(ids[0], other) for other in ids[1:])


def from_haze(scene: SimTownScene, *, haze: np.ndarray) -> float:
    """Return how far the colours of the first vehicle are from the haze, of 255."""
    rgb, ids = draw(scene, width=192, height=128, samples=1)
    return float(np.abs(rgb[ids == 1] - haze).mean())


@pytest.mark.parametrize("entity", ["taxi", "police car", "blue bus", "fire engine"])
def test_fog_is_paler_with_distance(entity: str) -> None:
    light = np.array(WEATHERS["fog"].light.haze)
    haze = 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    shares = {}
    for lane in LANES:
        fog, plain = (
            from_haze(alone(entity, lane, weather=weather), haze=haze)  # type: ignore[arg-type]
            for weather in ("fog", "overcast")
        )
        shares[lane] = fog / plain
    assert shares["far"] < shares["near"] - 0.02
    assert shares["near"] < 0.8


def test_far_buildings_have_less_contrast_in_fog() -> None:
    for scene in some_scenes(count=4):
        pictures, (_, ids) = in_weathers(scene), draw(scene, width=96, height=64, samples=1)
        built = (ids > len(scene.vehicles)) & (ids <= len(scene.vehicles) + len(scene.street.buildings))
        assert pictures["fog"][built].std(axis=0).mean() < 0.6 * pictures["overcast"][built].std(axis=0).mean()


def test_every_building_and_thing_can_be_drawn() -> None:
    kinds = {(one.style, one.colour) for base in BASES for scene in some_scenes(base) for one in scene.street.buildings}
    assert {style for style, _ in kinds} == set(BUILDINGS)
    assert {colour for _, colour in kinds} == set(HOUSE_COLOURS)
    seen: set[str] = set()
    for scene in some_scenes():
        _, ids = draw(scene, width=96, height=64, samples=1)
        first = len(scene.vehicles) + len(scene.street.buildings) + 1
        seen |= {one.kind for number, one in enumerate(scene.street.things, first) if (ids == number).any()}
    assert seen == set(THINGS)
