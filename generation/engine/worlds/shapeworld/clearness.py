"""Whether everything in a microworld is easily seen."""

from generation.engine.worlds.shapeworld.scene import Scene

LEAST = 40  # pixels that an easily seen entity covers
PALE = 0.3  # shades beyond which colours are harder to name


def is_clear(scene: Scene) -> bool:
    """Return whether no entity overlaps another, is small, or is shaded so far that its colour is hard to name."""
    pixels = scene.width * scene.height
    return (
        not any(scene.covers)
        and not any(scene.grazes)
        and all(entity.area * pixels >= LEAST and abs(entity.shade) <= PALE for entity in scene.entities)
    )
