"""Whether tasks can be told with some knobs: they are tried before anything is made."""

from functools import lru_cache
from itertools import islice

from generation.engine.seeding import Stage, stream
from generation.engine.worlds.babi.knobs import Knobs
from generation.engine.worlds.babi.tasks import BY_NUMBER
from generation.engine.worlds.babi.telling import ToldStory

SAMPLES = 5  # stories that are looked at
TRIES = 300  # stories; who fails so often would take too long, could it be told at all


@lru_cache(maxsize=4_096)
def can_be_told(task: int, knobs: Knobs) -> bool:
    """Return whether a story of a task, by its number, comes about with some knobs."""
    teller, chance = BY_NUMBER[task], stream(seed=0, split="trying", index=task, stage=Stage.SCENE)
    return any(teller.tell(knobs, chance, questions=max(teller.lengths)) is not None for _ in range(TRIES))


def samples(task: int, knobs: Knobs) -> list[ToldStory]:
    """Return some stories of a task."""
    teller, chance = BY_NUMBER[task], stream(seed=0, split="samples", index=task, stage=Stage.SCENE)
    told = (teller.tell(knobs, chance, questions=max(teller.lengths)) for _ in range(TRIES))
    return list(islice((one for one in told if one is not None), SAMPLES))


def to_blame(task: int, knobs: Knobs) -> str | None:
    """Return the first knob without which a task could be told, as it is by default; None where there are several."""
    plain = Knobs()
    changed = [name for name in type(knobs).model_fields if getattr(knobs, name) != getattr(plain, name)]
    mended = {name: knobs.model_copy(update={name: getattr(plain, name)}) for name in changed}
    return next((name for name, other in mended.items() if can_be_told(task, other)), None)
