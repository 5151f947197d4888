"""Which scenes are easily seen: no object hides much of another, and none is small in the picture."""

from dataclasses import replace

import numpy as np

from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.picture import draw_ids
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.vocabulary import Vocabulary

ACROSS = 120  # pixels of the picture that is looked at: shares need no more
SHARE = 0.8  # of an object that nothing hides
LEAST = 0.002  # of the picture: 307 pixels of 480 by 320


def is_clear(scene: Scene, view: View, words: Vocabulary) -> bool:
    """Return whether every object shows at least `SHARE` of what it would alone, and `LEAST` of the picture."""
    small = replace(view, width=ACROSS, height=max(1, round(ACROSS * view.height / view.width)))
    ids = draw_ids(scene.objects, small, words)
    seen = np.bincount(ids.ravel(), minlength=len(scene.objects) + 1)[1:]
    if (seen < LEAST * ids.size).any():
        return False
    alone = [np.count_nonzero(draw_ids([thing], small, words)) for thing in scene.objects]
    return bool((seen >= SHARE * np.array(alone)).all())
