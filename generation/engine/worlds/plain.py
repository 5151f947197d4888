"""Earlier names of `generation.engine.worlds.base`, kept for one release for worlds of other packages."""

from generation.engine.worlds.base import FieldScene as PlainScene
from generation.engine.worlds.base import SceneMaker as PlainMaker
from generation.engine.worlds.base import World as PlainWorld

__all__ = ["PlainMaker", "PlainScene", "PlainWorld"]
