"""An environment to train models in: endless items, strict rewards, levels, and episodes in the form of gymnasium.

`create_dataset` makes items, `score_answer` scores a reply, and `Environment` has episodes of one item.
`python -m generation.engine.environment PRESET` reports on the items of a preset: duplicates, diversity, guesses.
"""

from generation.engine.environment.dataset import EnvironmentDataset, create_dataset
from generation.engine.environment.episodes import Environment
from generation.engine.environment.items import EnvironmentItem
from generation.engine.environment.rewards import (
    answer_reward,
    compute_score,
    score_answer,
    score_reply,
    score_with_steps,
)

__all__ = [
    "Environment",
    "EnvironmentDataset",
    "EnvironmentItem",
    "answer_reward",
    "compute_score",
    "create_dataset",
    "score_answer",
    "score_reply",
    "score_with_steps",
]
