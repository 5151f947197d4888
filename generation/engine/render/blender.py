"""Pictures drawn by Blender's Cycles, from the same stages that the tracer draws.

Blender has the licence GPL. It is never imported here: it runs as a separate program (`blender_script`) with its own
Python environment. Each process keeps one child program running. Orders and answers are lines of JSON on the child's
standard input and output; pictures are PNG files in a shared folder. The child ends when its parent process ends.
"""

import atexit
import base64
import hashlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generation.engine.errors import NoRenderer, NotDrawn
from generation.engine.render.render_scene import Camera, Light, Solid, Stage, SurfaceMaterial, light_axes, pack_solids
from generation.engine.render.shapes import CONE, CYLINDER, MESH
from generation.engine.render.triangulation import surface_of

CHILD = Path(__file__).with_name("blender_script.py")
ROOT = Path(__file__).resolve().parents[3]
SAMPLES = 512
SAMPLE = 96 / (480 * 320 * 512)  # seconds of one core for one sample of one pixel on an ordinary machine
STARTING, LEAST, PATIENCE = 300.0, 120.0, 20.0  # seconds, seconds, and a factor on the ordinary time
TRIES = 3
LIFE = 500  # pictures after which a child is replaced, to free memory that it leaks
WORDS = 400  # characters of a child's error output that a message shows
KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
PROBE = "import importlib.util, sys; sys.exit(importlib.util.find_spec('bpy') is None)"


class Trouble(Exception):
    """A child died, hangs or sent an answer that makes no sense."""


@dataclass
class Setup:
    """Where Blender is installed, how many processors a child may use, and how long to wait for it.

    Attributes
    ----------
    python : Path
        A Python 3.11 with `bpy`.
    threads : int
        The number of threads. The picture does not depend on it.
    child : Path
        The program that the child runs.
    starting, least : float
        Seconds to wait until a child is ready, and the shortest time to wait for a picture.
    """

    python: Path = ROOT / ".venv-blender" / "bin" / "python"
    threads: int = 1
    child: Path = CHILD
    starting: float = STARTING
    least: float = LEAST

    def patience(self, samples: int) -> float:
        """Return how many seconds to wait for a picture with this many samples over all pixels."""
        return self.least + PATIENCE * SAMPLE * samples


@dataclass
class _State:
    setup: Setup = field(default_factory=Setup)
    found: bool = False
    child: "Child | None" = None


_STATE = _State()


def configure(setup: Setup) -> None:
    """Use another Blender from now on."""
    drop()
    _STATE.setup, _STATE.found = setup, False


def check() -> None:
    """Raise `NoRenderer` if Blender is not installed. This is fast, because Blender is not started."""
    if _STATE.found:
        return
    try:
        command = [str(_STATE.setup.python), "-c", PROBE]
        done = subprocess.run(command, capture_output=True, env=_environment(), timeout=_STATE.setup.starting)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _missing() from error
    if done.returncode != 0:
        raise _missing()
    _STATE.found = True


def _missing() -> NoRenderer:
    return NoRenderer(
        "Expected Blender on this machine, got none: `make blender` installs it into .venv-blender, or BLENDER_PYTHON "
        "names a Python 3.11 that has bpy. Or choose the renderer tracer."
    )


def render(
    stage: Stage, camera: Camera, *, samples: int = SAMPLES, denoise: bool = False, seed: int = 0
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    """Return the picture of a stage, and the object at each pixel's centre, like `tracer.render`.

    Parameters
    ----------
    stage : Stage
        Solids, materials, lights and surroundings.
    camera : Camera
        The point of view.
    samples : int
        Paths through each pixel.
    denoise : bool
        Whether noise is removed afterwards. Then few samples are enough.
    seed : int
        Seed of the noise.

    Raises
    ------
    BadScene
        If a solid cannot be drawn.
    NoRenderer
        If Blender is not installed.
    NotDrawn
        If several children died or hung.
    """
    check()
    pack_solids(stage)
    order = _order(stage, camera) | {"samples": samples, "denoise": denoise, "seed": seed % 2**31}
    for attempt in range(TRIES):
        patience = _STATE.setup.patience(samples * camera.width * camera.height)
        try:
            return _child().draw(order, size=(camera.width, camera.height), seconds=patience)
        except Trouble as trouble:
            drop()
            if attempt == TRIES - 1:
                raise NotDrawn(
                    f"Expected a picture from Blender, got none in {TRIES} tries; the last time {trouble}"
                ) from trouble
        except BaseException:  # for example a signal that interrupts an answer
            drop()
            raise
    raise AssertionError


def drop() -> None:
    """End this process's child, if there is one."""
    child, _STATE.child = _STATE.child, None
    if child is not None:
        child.close()


def _child() -> "Child":
    """Return this process's child, and start one if there is none."""
    if _STATE.child is not None and _STATE.child.drawn >= LIFE:
        drop()
    if _STATE.child is None:
        _STATE.child = Child(_STATE.setup)
    return _STATE.child


def _forget() -> None:
    child, _STATE.child = _STATE.child, None
    if child is not None:
        child.let_go()


atexit.register(drop)
os.register_at_fork(after_in_child=_forget)


class Child:
    """A running Blender."""

    def __init__(self, setup: Setup) -> None:
        self.threads = setup.threads
        self.drawn = self.orders = 0
        self.known: set[str] = set()
        self.rest = b""
        self.folder = Path(tempfile.mkdtemp(prefix="horsesense-blender-"))
        try:
            self.process = self._start(setup)
        except OSError as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise _missing() from error
        try:
            if "ready" not in self._answer(setup.starting):
                raise Trouble("it began with something else than that it is ready.")
        except BaseException:
            self.close()
            raise

    def _start(self, setup: Setup) -> "subprocess.Popen[bytes]":
        with (self.folder / "log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [str(setup.python), str(setup.child), str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=_environment() | {"TMPDIR": str(self.folder)},
                cwd=self.folder,
                start_new_session=True,  # Ctrl-C must not reach the child; it ends when its standard input is closed
            )
        assert process.stdin is not None
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def draw(
        self, order: Mapping[str, Any], *, size: tuple[int, int], seconds: float
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
        """Return picture and object ids for an order; raise `Trouble`, after which the child must not be used again."""
        self.orders += 1
        surfaces = {name: _packed(solid) for name, solid in order["surfaces"].items() if name not in self.known}
        sent = {**order, "order": self.orders, "threads": self.threads, "surfaces": surfaces}
        end = time.monotonic() + seconds
        self._send(json.dumps(sent).encode() + b"\n", end)
        answer = self._answer(end - time.monotonic())
        if answer.get("order") != self.orders:
            raise Trouble("it answered something that was not asked.")
        if "error" in answer:
            raise Trouble(f"it said: {_last_words(str(answer['error']))}")
        self.known |= surfaces.keys()
        self.drawn += 1
        low, high, _ = np.moveaxis(self._pixels(answer, "ids", size).astype(np.uint16), 2, 0)
        return self._pixels(answer, "picture", size), low + 256 * high

    def _send(self, data: bytes, end: float) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        while data:
            _, ready, _ = select.select([], [pipe], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise Trouble("it hung: it did not take its order.")
            try:
                data = data[os.write(pipe.fileno(), data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Trouble(self._how_it_ended()) from error

    def _answer(self, seconds: float) -> dict[str, Any]:
        """Return the next line, which must be a JSON object, within this many seconds; raise `Trouble`."""
        pipe, end = self.process.stdout, time.monotonic() + seconds
        assert pipe is not None
        while b"\n" not in self.rest:
            ready, _, _ = select.select([pipe], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise Trouble(f"it hung: nothing came for {seconds:,.0f} seconds.")
            more = os.read(pipe.fileno(), 65536)
            if not more:
                raise Trouble(self._how_it_ended())
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise Trouble(f"it said what is no JSON: {line[:80]!r}.") from error
        if not isinstance(answer, dict):
            raise Trouble(f"it said {line[:80]!r}.")
        return answer

    def _pixels(self, answer: Mapping[str, Any], name: str, size: tuple[int, int]) -> NDArray[np.uint8]:
        """Return the pixels of a picture file, (height, width, 3)."""
        try:
            with Image.open(self.folder / str(answer[name])) as image:
                if image.size != size or image.mode != "RGB":
                    raise Trouble(f"its picture had {image.size} pixels ({image.mode}).")
                return np.asarray(image)
        except (KeyError, OSError, SyntaxError, ValueError) as error:
            raise Trouble(f"its picture could not be read ({error!r}).") from error

    def _how_it_ended(self) -> str:
        try:
            status = self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return "it closed its pipes."
        try:
            said = _last_words((self.folder / "log").read_text(errors="replace"))
        except OSError:
            said = ""
        return f"it died (exit status {status}). {said}".strip()

    def close(self) -> None:
        """End the child and delete its files."""
        self.process.kill()
        self.let_go()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def let_go(self) -> None:
        """Close our ends of the child's pipes. Without a reader and a writer the child ends itself."""
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in KEPT}


def _last_words(text: str) -> str:
    return " ".join(text.split())[-WORDS:]


# Orders


def _order(stage: Stage, camera: Camera) -> dict[str, Any]:
    """Return a stage as JSON. `surfaces` maps names to solids, which `Child.draw` replaces by their triangles."""
    names = [_name(solid) for solid in stage.solids]
    around = stage.surroundings
    return {
        "surfaces": dict(zip(names, stage.solids, strict=True)),
        "solids": [_placed(solid, names[number], number) for number, solid in enumerate(stage.solids)],
        "materials": [_material(stage.materials[solid.material], solid.kind) for solid in stage.solids],
        "lights": [_light(light) for light in stage.lights],
        "surroundings": {
            name: getattr(around, name) for name in ("ground", "height", "zenith", "horizon", "glow", "glow_from")
        },
        "camera": {
            **{name: getattr(camera, name) for name in ("place", "right", "up", "forward", "focal")},
            "size": (camera.width, camera.height),
        },
    }


def _name(solid: Solid) -> str:
    if solid.mesh is not None and solid.kind == MESH:
        return f"mesh {hashlib.sha256(solid.mesh.triangles.tobytes()).hexdigest()}"
    return f"{solid.kind} {' '.join(map(str, solid.par))}"


def _packed(solid: Solid) -> dict[str, str]:
    """Return a solid's surface as little-endian arrays in base64."""
    surface = surface_of(solid)._asdict()
    return {
        name: base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()
        for name, array in surface.items()
    }


def _placed(solid: Solid, name: str, number: int) -> dict[str, Any]:
    """Return a solid as JSON. Each solid has a separate material with the solid's number."""
    own = {key: getattr(solid, key) for key in ("centre", "scale", "turn", "object")}
    return {"surface": name, "material": number, **own}


def _material(material: SurfaceMaterial, kind: int) -> dict[str, Any]:
    """Return a material as JSON for a kind of solid. Only cylinders and cones can be brushed."""
    whole = {name: getattr(material, name) for name in ("colour", "metal", "roughness", "gloss", "brushed")}
    return whole if kind in (CYLINDER, CONE) else whole | {"brushed": 0.0}


def _light(light: Light) -> dict[str, Any]:
    right, up, forward = light_axes(light)
    return {
        "place": light.place,
        "power": light.power,
        "width": light.width,
        "right": right,
        "up": up,
        "forward": forward,
    }
