"""A stand-in for `verifiers.v1`: immutable data, tasks with rewards, and tasksets."""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

Data = TypeVar("Data", bound="TaskData")
OneTask = TypeVar("OneTask")
Config = TypeVar("Config", bound="TasksetConfig")


class TaskData(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    idx: int
    prompt: str | list[dict[str, Any]]


class TaskConfig(BaseModel):
    pass


class TasksetConfig(BaseModel):
    task: TaskConfig = TaskConfig()


class Trace(BaseModel):
    last_reply: str | None


class Task(Generic[Data]):
    def __init__(self, data: Data, config: TaskConfig) -> None:
        self.data, self.config = data, config


class Taskset(Generic[OneTask, Config]):
    INFINITE = False

    def __init__(self) -> None:
        self.config = TasksetConfig()

    def load(self) -> Iterable[OneTask]:
        raise NotImplementedError


def reward(function: Any) -> Any:
    function.is_reward = True
    return function
