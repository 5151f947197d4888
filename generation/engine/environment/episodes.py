"""Episodes of one question, with the methods of gymnasium but without the package: `reset`, then one `step`."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from generation.engine.environment.dataset import EnvironmentDataset, create_dataset
from generation.engine.environment.items import EnvironmentItem
from generation.engine.environment.rewards import score_with_steps
from generation.engine.items import Media
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_world

LONGEST_REPLY = 100_000  # characters
LETTERS = "abcdefghijklmnopqrstuvwxyz 0123456789"

Observation = dict[str, Any]
Information = dict[str, Any]


class TextSpace:
    """All texts up to a length.

    Parameters
    ----------
    longest : int
        The largest number of characters.

    Attributes
    ----------
    shape, dtype
        As spaces of gymnasium have them: None and str.
    """

    shape = None
    dtype = str

    def __init__(self, longest: int = LONGEST_REPLY) -> None:
        self.longest = longest
        self._chance = np.random.default_rng(0)

    def seed(self, seed: int | None = None) -> int | None:
        """Restart the random texts of `sample`."""
        self._chance = np.random.default_rng(seed)
        return seed

    def sample(self) -> str:
        """Return a random text."""
        letters = self._chance.integers(0, len(LETTERS), self._chance.integers(1, 20))
        return "".join(LETTERS[place] for place in letters)

    def contains(self, value: object) -> bool:
        """Return whether a value is a text of this space."""
        return isinstance(value, str) and len(value) <= self.longest

    __contains__ = contains


class PictureSpace:
    """All pictures of a size.

    Parameters
    ----------
    height, width : int

    Attributes
    ----------
    shape : tuple of int
        `(height, width, 3)`.
    dtype : numpy.dtype
        uint8.
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, height: int, width: int) -> None:
        self.shape = (height, width, 3)
        self._chance = np.random.default_rng(0)

    def seed(self, seed: int | None = None) -> int | None:
        """Restart the random pictures of `sample`."""
        self._chance = np.random.default_rng(seed)
        return seed

    def sample(self) -> NDArray[np.uint8]:
        """Return a random picture."""
        return self._chance.integers(0, 256, self.shape, dtype=np.uint8)

    def contains(self, value: object) -> bool:
        """Return whether a value is a picture of this space."""
        return isinstance(value, np.ndarray) and value.dtype == self.dtype and value.shape == self.shape

    __contains__ = contains


class ObservationSpace:
    """All observations: dictionaries with one value from each of the spaces.

    Parameters
    ----------
    spaces : mapping of str to TextSpace or PictureSpace
    """

    shape = None
    dtype = None

    def __init__(self, spaces: Mapping[str, TextSpace | PictureSpace]) -> None:
        self.spaces = dict(spaces)

    def seed(self, seed: int | None = None) -> int | None:
        """Restart the random observations of `sample`."""
        for space in self.spaces.values():
            space.seed(seed)
        return seed

    def sample(self) -> Observation:
        """Return a random observation."""
        return {name: space.sample() for name, space in self.spaces.items()}

    def contains(self, value: object) -> bool:
        """Return whether a value is an observation of this space."""
        if not isinstance(value, dict) or set(value) != set(self.spaces):
            return False
        return all(space.contains(value[name]) for name, space in self.spaces.items())

    __contains__ = contains


class EpisodeStep(NamedTuple):
    """The result of a step.

    Attributes
    ----------
    observation : dict
        The same as before the step, because an episode has one question.
    reward : float
        0.0 to 1.0: 1.0 for the right answer, and with `steps_weight` also for the right results of steps.
    terminated : bool
        Always True.
    truncated : bool
        Always False.
    info : dict
        The information of `reset`, and also `answer` (the right answer) and `difficulty`.
    """

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: Information


class Environment:
    """An environment whose episodes have one question: `reset` asks it, and `step` takes the reply.

    Parameters
    ----------
    dataset : EnvironmentDataset, BaseSpec, mapping or str
        A dataset, or what `create_dataset` takes. A dataset with a size starts again after its last item.
    split : str, optional
        As for `create_dataset`; not with a dataset, which has its split.
    steps_weight : float
        The weight of the program's steps in the reward, 0 to 1. Above 0, prompts also ask for the results of the steps.
    render_mode : str, optional
        `rgb_array`; with None, `render` returns None.

    Attributes
    ----------
    observation_space : ObservationSpace
        `prompt`, and `image` if the world has pictures.
    action_space : TextSpace
        The replies.
    dataset : EnvironmentDataset
    item : EnvironmentItem or None
        The item of the episode; None before the first `reset`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 1}
    spec = None  # gymnasium's registry, which this environment does not need

    def __init__(
        self,
        dataset: EnvironmentDataset | BaseSpec | Mapping[str, Any] | str,
        *,
        split: str | None = None,
        steps_weight: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        if not 0.0 <= steps_weight <= 1.0:
            raise ValueError(f"Expected a steps_weight from 0 to 1, got {steps_weight!r}.")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"Expected the render mode rgb_array or None, got {render_mode!r}.")
        if split is not None and isinstance(dataset, EnvironmentDataset):
            came = f"a dataset of the split {dataset.split} and the split {split!r}"
            raise ValueError(f"Expected a split together with a spec or a preset, got {came}.")
        self.render_mode, self.steps_weight = render_mode, steps_weight
        self.dataset = dataset if isinstance(dataset, EnvironmentDataset) else create_dataset(dataset, split=split)
        self.action_space = TextSpace()
        self.observation_space = self._observation_space()
        self.item: EnvironmentItem | None = None
        self._next = 0
        self._is_open = False  # whether the episode waits for a reply

    @property
    def unwrapped(self) -> "Environment":
        """Return this environment, which has no wrapper."""
        return self

    def _observation_space(self) -> ObservationSpace:
        spaces: dict[str, TextSpace | PictureSpace] = {"prompt": TextSpace()}
        if get_world(self.dataset.spec.world).media is Media.IMAGE:
            pixels = self.dataset[0].pixels
            assert pixels is not None, "worlds with pictures draw every item"
            spaces["image"] = PictureSpace(*pixels.shape[:2])
        return ObservationSpace(spaces)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, Information]:
        """Begin an episode, and return its observation and information. After an error, everything is as it was before.

        Parameters
        ----------
        seed : int, optional
            The seed of the items. The episode has the first item of this seed; without a seed, the next item.
        options : mapping, optional
            `index`: the index of the item; `level`: a level for all attributes; the name of an attribute: its level.
            Levels stay until another `reset` sets them.

        Returns
        -------
        observation : dict
            `prompt` (str), and `image` `(height, width, 3)` uint8 sRGB if the world has pictures.
        info : dict
            `index`, `choices` and `kind`. Nothing in it depends on the answer.

        Raises
        ------
        BadSpec
            If there is no such attribute or level.
        EngineError
            If the spec cannot make the item.
        ValueError
            If the index or the seed is not a whole number of at least 0.
        """
        given = dict(options or {})
        index, level = given.pop("index", None), given.pop("level", None)
        for name, value in (("seed", seed), ("index", index)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0):
                raise ValueError(f"Expected a whole number of at least 0 as {name}, got {value!r}.")
        dataset, place = self.dataset, self._next
        if seed is not None:
            dataset, place = dataset.with_seed(int(seed)), 0
        if level is not None or given:
            dataset, place = dataset.at(level, **given), 0
        if index is not None:
            place = int(index)
        self.item = dataset[place if dataset.size is None else place % dataset.size]
        self.dataset, self._next, self._is_open = dataset, place + 1, True
        return self._observation(), self._information()

    def step(self, reply: str) -> EpisodeStep:
        """Score a reply, and end the episode.

        Parameters
        ----------
        reply : str
            The text of the model.

        Returns
        -------
        EpisodeStep
            Observation, reward, whether it terminated, whether it was truncated, and information.

        Raises
        ------
        RuntimeError
            If no episode waits for a reply.
        TypeError
            If the reply is not a text.
        """
        if self.item is None or not self._is_open:
            raise RuntimeError("Expected reset() before a step, because each episode has one step.")
        if not isinstance(reply, str):
            raise TypeError(f"Expected a reply as a text, got {type(reply).__name__}.")
        self._is_open = False
        is_cut = not self.action_space.contains(reply)
        reward = score_with_steps(reply, self.item, weight=self.steps_weight, is_cut=is_cut)
        told = {"answer": self.item.answer, "difficulty": dict(self.item.difficulty)}
        return EpisodeStep(self._observation(), reward, True, False, {**self._information(), **told})

    def render(self) -> NDArray[np.uint8] | None:
        """Return the picture of the episode `(height, width, 3)` uint8 sRGB, or None without one."""
        return None if self.render_mode is None or self.item is None else self._observation().get("image")

    def close(self) -> None:
        """Do nothing: an environment holds no files or processes."""

    def __enter__(self) -> "Environment":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _observation(self) -> Observation:
        assert self.item is not None
        pixels = self.item.pixels
        prompt = self.item.prompt_with_steps if self.steps_weight else self.item.prompt
        return {"prompt": prompt} | ({} if pixels is None else {"image": pixels})

    def _information(self) -> Information:
        assert self.item is not None
        return {"index": self.item.index, "choices": self.item.choices, "kind": self.item.kind}
