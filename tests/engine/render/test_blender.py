"""Blender as a renderer: a child process that fails is replaced, and real Blender draws the same as the tracer."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from generation.engine.errors import BadScene, NoRenderer, NotDrawn
from generation.engine.render import blender, shapes, tracer
from generation.engine.render.blender import Setup
from generation.engine.render.mesh import parse_mesh
from generation.engine.render.render_scene import Camera, Solid, Stage
from generation.engine.seeding import Stage as Seeds
from generation.engine.seeding import stream
from generation.engine.worlds import get_world
from generation.engine.worlds.clevr import picture
from generation.engine.worlds.clevr.camera import solve_view
from generation.engine.worlds.clevr.scene import read_published
from generation.engine.worlds.clevr.scene_sampling import sample_scene
from tests.engine.render.test_mesh import sphere_obj
from tests.engine.render.test_tracer import BALL, camera, crowd, stage
from tests.proof import size
from tests.shared_data import shared_path
from tests.webapp.commands import ROOT
from tests.worlds.clevr.test_picture import WORDS

FAKE = Path(__file__).with_name("fake_blender.py")
LARGE, SMALL_IOU, LARGE_IOU = 1000, 0.90, 0.97
Behave = Callable[..., Setup]


@pytest.fixture
def behave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Behave]:
    """Return a function that sets the behaviour of each child process in turn. Later children repeat the last one."""
    child = shutil.copy(FAKE, tmp_path / "child.py")
    monkeypatch.setattr(blender, "check", lambda: None)

    def begin(*plan: str, waits: Sequence[float] = ()) -> Setup:
        (tmp_path / "plan").write_text("\n".join(plan))

        left = list(waits)

        class Impatient(Setup):
            def patience(self, samples: int) -> float:
                return left.pop(0) if left else 300.0

        setup = Impatient(python=Path(sys.executable), child=Path(child))
        blender.configure(setup)
        return setup

    yield begin
    blender.configure(Setup())


def draw(**options: object) -> tuple[np.ndarray, np.ndarray]:
    return blender.render(stage(BALL), camera(width=12, height=8), samples=1, **options)  # type: ignore[arg-type]


def test_picture_and_ids_are_read_from_the_files_of_the_child(behave: Behave) -> None:
    behave("is well")
    for _ in range(2):
        rgb, ids = draw()
        assert (rgb == [1, 2, 3]).all() and rgb.shape == (8, 12, 3) and rgb.dtype == np.uint8
        assert (ids == 2 + 256).all() and ids.shape == (8, 12) and ids.dtype == np.uint16


BAD = {
    "dies": "it died (exit status 11). Segmentation fault, says Blender",
    "hangs": "it hung: nothing came for",
    "garbles": "it said what is no JSON: b'Fra:1 Mem:12M'.",
    "complains": "it said: Error: out of memory",
    "answers the wrong order": "it answered something that was not asked.",
    "draws too little": "its picture had (12, 1) pixels (RGB).",
    "draws half": "its picture could not be read (FileNotFoundError",
    "never begins": "it died (exit status 3).",
    "begins with nonsense": "it said b'[1, 2]'.",
}


@pytest.mark.slow
@pytest.mark.parametrize("does", BAD)
def test_a_child_that_fails_is_replaced_by_another(behave: Behave, does: str) -> None:
    behave(does, "is well", waits=[0.2] if does == "hangs" else [])
    rgb, _ = draw()
    assert (rgb == [1, 2, 3]).all()


@pytest.mark.slow
@pytest.mark.parametrize("does", BAD)
def test_after_three_failures_an_error_with_the_reason_is_raised(behave: Behave, does: str) -> None:
    behave(does, waits=[0.2, 0.2, 0.2] if does == "hangs" else [])
    with pytest.raises(NotDrawn) as caught:
        draw()
    assert str(caught.value).startswith("Expected a picture from Blender, got none in 3 tries; the last time ")
    assert BAD[does] in str(caught.value)
    assert blender._STATE.child is None


def test_a_failed_child_leaves_no_process_and_no_files(behave: Behave) -> None:
    behave("complains")
    children = []

    class Watched(blender.Child):
        def __init__(self, setup: Setup) -> None:
            super().__init__(setup)
            children.append(self)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(NotDrawn):
        patch.setattr(blender, "Child", Watched)
        draw()
    assert len(children) == 3
    for child in children:
        assert child.process.poll() is not None
        assert not child.folder.exists()


def test_a_child_is_reused_and_replaced_after_a_limit_of_pictures(
    behave: Behave, monkeypatch: pytest.MonkeyPatch
) -> None:
    behave("is well")
    monkeypatch.setattr(blender, "LIFE", 2)
    pids = []
    for _ in range(4):
        draw()
        assert blender._STATE.child is not None
        pids.append(blender._STATE.child.process.pid)
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_a_surface_is_sent_once_to_a_child(behave: Behave) -> None:
    behave("is well")
    draw()
    child = blender._STATE.child
    assert child is not None
    known = set(child.known)
    blender.render(crowd(), camera(width=12, height=8), samples=1)
    assert len(known) == 1 and len(child.known) == 6


def test_a_forked_process_does_not_share_the_child(behave: Behave) -> None:
    behave("is well")
    draw()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if blender._STATE.child is None else 1)
    assert os.waitpid(pid, 0)[1] == 0
    draw()


def test_a_child_process_gets_no_secrets_in_its_environment(behave: Behave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hush")
    behave("is well")
    draw()
    assert blender._STATE.child is not None
    told = Path(f"/proc/{blender._STATE.child.process.pid}/environ").read_bytes()
    assert b"PATH=" in told and b"hush" not in told


def test_an_invalid_solid_is_refused_before_a_child_starts(behave: Behave) -> None:
    behave("never begins")
    with pytest.raises(BadScene, match="above 0"):
        blender.render(stage(replace(BALL, scale=0.0)), camera())


@pytest.mark.parametrize("python", [Path("/nowhere/python"), Path("/bin/false"), Path(sys.executable)])
def test_a_python_without_blender_causes_an_error_of_one_line(python: Path) -> None:
    blender.configure(Setup(python=python))
    try:
        for ask in (blender.check, draw):
            with pytest.raises(NoRenderer) as caught:
                ask()
            assert str(caught.value).startswith("Expected Blender on this machine, got none: `make blender` ")
            assert "\n" not in str(caught.value) and "/" not in str(caught.value).replace(".venv-blender", "")
    finally:
        blender.configure(Setup())


def test_only_blender_script_imports_blender() -> None:
    for path in ROOT.joinpath("generation").rglob("*.py"):
        if path.name != "blender_script.py":
            text = path.read_text()
            assert "import bpy" not in text and "import blender_script" not in text, path


# With real Blender


def overlaps(ours: np.ndarray, theirs: np.ndarray) -> list[tuple[int, float]]:
    """Return for each object in `theirs` its number of pixels, and the intersection over union with `ours`."""
    found = []
    for number in np.unique(theirs[theirs > 0]):
        one, other = ours == number, theirs == number
        found.append((int(other.sum()), float((one & other).sum() / (one | other).sum())))
    return found


def check_silhouettes(drawn: Stage, view: Camera) -> None:
    _, ids = blender.render(drawn, view, samples=1)
    wanted = tracer.object_ids(drawn, view)
    assert set(np.unique(ids)) == set(np.unique(wanted))
    for pixels, share in overlaps(ids, wanted):
        assert share >= (LARGE_IOU if pixels >= LARGE else SMALL_IOU), (pixels, share)


@pytest.mark.slow
@pytest.mark.usefixtures("blender")
def test_blender_and_tracer_draw_the_same_silhouette_of_every_solid() -> None:
    mesh = parse_mesh(sphere_obj())
    more = Stage(
        (*crowd().solids, Solid(shapes.MESH, (-3.0, -2.0, 0.5), 0.5, 300, 0, mesh=mesh)),
        crowd().materials,
        crowd().lights,
    )
    check_silhouettes(more, camera(width=240, height=160))
    check_silhouettes(more, camera(width=120, height=200))


@pytest.mark.slow
@pytest.mark.usefixtures("blender")
def test_blender_and_tracer_draw_the_same_silhouettes_of_sampled_scenes() -> None:
    spec = get_world("clevr").read_spec({"base": "clevr-mini"})
    chance = stream(seed=5, split="silhouettes", index=0, stage=Seeds.SCENE)
    for _ in range(size(60, name="sampled scenes whose silhouettes Blender and tracer agree on")):
        sampled = sample_scene(spec, chance)  # type: ignore[arg-type]
        drawn = picture.stage_of(sampled.scene.objects, sampled.view, spec.vocabulary)  # type: ignore[attr-defined]
        check_silhouettes(drawn, picture.camera(sampled.view))


@pytest.mark.slow
@pytest.mark.usefixtures("blender")
def test_blender_and_tracer_draw_the_same_silhouettes_of_published_scenes() -> None:
    scenes = json.loads(shared_path("data", "clevr-v1", "CLEVR_train_scenes.json").read_text())["scenes"]
    for scene in scenes[:: len(scenes) // size(60, name="real scenes whose silhouettes Blender and tracer agree on")]:
        view = solve_view([o["3d_coords"] for o in scene["objects"]], [o["pixel_coords"] for o in scene["objects"]])
        objects = read_published(scene).objects
        check_silhouettes(picture.stage_of(objects, view, WORDS), picture.camera(view))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.usefixtures("blender")
def test_a_published_scene_looks_like_its_published_picture() -> None:
    scene = json.loads(shared_path("data", "clevr-v1", "CLEVR_val_000013.json").read_text())["scenes"][0]
    with Image.open(shared_path("data", "clevr-v1", "images", "CLEVR_val_000013.png")) as image:
        real = np.asarray(image.convert("RGB").resize((240, 160), Image.Resampling.BOX)).astype(float)
    view = solve_view([o["3d_coords"] for o in scene["objects"]], [o["pixel_coords"] for o in scene["objects"]])
    view = replace(view, key=(6.069, -2.546, 5.049), fill=(-4.955, -3.584, 3.064), back=(-1.374, 3.059, 5.464))
    view = replace(view, width=240, height=160)
    objects = read_published(scene).objects
    rgb, ids = picture.draw_by_blender(objects, view, WORDS, samples=16, denoise=True)  # type: ignore[arg-type]
    assert np.abs(rgb - real).mean() < 6
    for number in range(len(scene["objects"])):
        ours, theirs = rgb[ids == number + 1].mean(axis=0), real[ids == number + 1].mean(axis=0)
        assert np.abs(ours - theirs).max() < 12
    for top in range(0, 160, 32):
        for left in range(0, 240, 40):
            block = np.s_[top : top + 32, left : left + 40]
            ground = ids[block] == 0
            assert abs(rgb[block][ground].mean() - real[block][ground].mean()) < 8


@pytest.mark.slow
@pytest.mark.usefixtures("blender")
def test_a_picture_depends_on_its_seed_but_not_on_earlier_pictures_or_on_the_number_of_threads() -> None:
    small = camera(width=60, height=40)
    try:
        first, _ = blender.render(crowd(), small, samples=4, denoise=True, seed=7)
        other, _ = blender.render(crowd(), small, samples=4, denoise=True, seed=8)
        blender.render(stage(BALL), above_the_horizon(), samples=1)
        again, _ = blender.render(crowd(), small, samples=4, denoise=True, seed=7)
        blender.configure(Setup(threads=2))
        new, _ = blender.render(crowd(), small, samples=4, denoise=True, seed=7)
    finally:
        blender.configure(Setup())
    assert np.array_equal(first, again)
    assert np.array_equal(first, new)
    assert not np.array_equal(first, other)
    assert abs(first.astype(float) - other).mean() < 3.0


def above_the_horizon() -> Camera:
    return replace(camera(width=30, height=20), place=(0.0, -4.0, 0.5))


ORPHAN = """
import sys
from generation.engine.render import blender
from tests.engine.render.test_tracer import camera, crowd
blender.render(crowd(), camera(width=12, height=8), samples=1)
print(blender._STATE.child.process.pid, blender._STATE.child.folder, flush=True)
blender.render(crowd(), camera(width=480, height=320), samples=4096)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("blender")
def test_blender_stops_if_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    here = {**os.environ, "TMPDIR": str(tmp_path)}
    asker = subprocess.Popen([sys.executable, "-c", ORPHAN], cwd=ROOT, env=here, stdout=subprocess.PIPE, text=True)
    assert asker.stdout is not None
    pid, folder = asker.stdout.readline().split()
    asker.stdout.close()
    asker.send_signal(signal.SIGKILL)
    asker.wait()
    end = time.monotonic() + 120
    while Path(f"/proc/{pid}").exists() or Path(folder).exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []  # temporary files of Blender are removed too
