"""CLEVR's scenes and programs, diagnosed."""

from collections.abc import Sequence
from functools import lru_cache

from generation.engine.diagnose import Diagnoser, Diagnosis, Sight, sight
from generation.engine.families import Language
from generation.engine.program import Program
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import RELATIONS


def diagnose(spec: ClevrSpec, scene: Scene, view: View, programs: Sequence[Program]) -> list[Diagnosis]:
    """Return what each program demands on a scene on which it has an answer."""
    return _diagnoser(spec.language).diagnose(programs, seen(spec, scene, view))


def seen(spec: ClevrSpec, scene: Scene, view: View) -> Sight:
    """Return a scene as it is diagnosed: left and right, behind and in front meet in the middle of the picture."""
    halves = dict.fromkeys(RELATIONS, 0)
    for number, thing in enumerate(scene.objects):
        x, y, _ = thing.pixel_coords
        halves["left" if 2 * x < view.width else "right"] |= 1 << number
        halves["behind" if 2 * y < view.height else "front"] |= 1 << number
    return sight(scene.for_search(spec.vocabulary), [halves[relation] for relation in RELATIONS])


@lru_cache(maxsize=8)
def _diagnoser(language: Language) -> Diagnoser:
    return Diagnoser(language)
