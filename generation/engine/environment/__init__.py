"""An environment to train in: items without an end, strict rewards, levels, and episodes in the form of gymnasium.

`create_dataset` makes items, `score_answer` scores a reply, and `Environment` plays one item an episode.
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
