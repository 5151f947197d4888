"""A stand-in for TRL, whose trainer calls the reward function as TRL's does and prints the rewards as JSON."""

import json
from typing import Any

REPLIES = ("yes", "no", "yes or no", "<think>no", "Answer: yes", "\\boxed{no}")


class GRPOConfig:
    def __init__(self, *, output_dir: str, num_generations: int) -> None:
        self.output_dir, self.num_generations = output_dir, num_generations


class GRPOTrainer:
    def __init__(self, *, model: str, args: GRPOConfig, reward_funcs: Any, train_dataset: Any) -> None:
        assert isinstance(model, str) and isinstance(args, GRPOConfig)
        self.reward, self.dataset = reward_funcs, train_dataset

    def train(self) -> None:
        """Score fixed replies to each prompt. The function gets all columns of the dataset except the prompt."""
        rewards = []
        for row in self.dataset:
            prompt = row.pop("prompt")
            assert [set(message) for message in prompt] == [{"role", "content"}]
            assert row["image"].size[0] < 512
            n = len(REPLIES)
            found = self.reward(
                prompts=[prompt] * n,
                completions=[[{"role": "assistant", "content": reply}] for reply in REPLIES],
                completion_ids=[[0]] * n,
                trainer_state=None,
                **{name: [value] * n for name, value in row.items()},
            )
            assert type(found) is list and all(type(one) is float for one in found)
            rewards.append({"solution": row["solution"], "rewards": found})
        print(json.dumps(rewards))  # noqa: T201
