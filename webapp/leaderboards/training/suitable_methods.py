"""The methods that can be trained on a split, and the parts of examples that each method sees."""

from collections.abc import Sequence
from typing import NamedTuple

from generation.engine.learners import METHODS, find_learner
from generation.engine.learners.base import Learner
from generation.models import Split
from webapp.leaderboards.training import example_folders

PART_WORDS = {
    "images": "the picture",
    "stories": "the story",
    "regions": "boxes of objects",
    "programs": "the program",
    "supports": "supporting lines while it learns",
}


def describe(learner: type[Learner]) -> str:
    seen = ["the question", *(words for part, words in PART_WORDS.items() if getattr(learner.needs, part))]
    seen += [f"{words} if there is one" for part, words in PART_WORDS.items() if getattr(learner.uses, part)]
    return f"{', '.join(seen[:-1])} and {seen[-1]}" if len(seen) > 1 else "the question only"


class SuitableMethods(NamedTuple):
    learners: list[type[Learner]]
    lacking: dict[str, list[str]]  # labels of the other methods, by a part that the splits lack


def suitable_for(splits: Sequence[Split]) -> SuitableMethods:
    found = SuitableMethods([], {})
    known: dict[object, str] = {}
    for learner in map(find_learner, METHODS):
        key = learner if learner.needs.programs else learner.needs  # a method may need programs of a certain form
        if key not in known:
            missing = [example_folders.missing_part(learner, split, is_training=True) for split in splits]
            known[key] = "" if "" in missing else missing[0]
        if known[key]:
            found.lacking.setdefault(known[key], []).append(learner.label)
        else:
            found.learners.append(learner)
    return found
