"""The programs of the documentation, run with stand-ins for the libraries that they need."""

import asyncio
import base64
import io
import re
import runpy
import sys
import time
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from generation.engine.environment import create_dataset
from tests import proof
from tests.engine.environment.stubs import trl
from tests.webapp.test_docs import blocks
from webapp import documentation

STUBS = Path(__file__).with_name("stubs")
LIBRARIES = ("trl", "reasoning_gym", "verifiers", "verifiers.v1", "gymnasium", "gymnasium.spaces")


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in LIBRARIES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(STUBS))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))


def run(name: str, folder: Path, *, old: str = "", new: str = "") -> dict[str, Any]:
    """Run a program of the page and return its names; its libraries are forgotten afterwards.

    In the program, `new` replaces `old`.
    """
    [block] = [one for one in blocks("environment") if one.file == name]
    assert old in block.body
    path = folder / name
    path.write_text(block.body.replace(old, new) if old else block.body)
    found = runpy.run_path(str(path), run_name="__main__")
    for library in LIBRARIES:
        sys.modules.pop(library, None)
    return found


@pytest.mark.usefixtures("stubs")
def test_the_script_for_trl_rewards_exactly_the_right_completions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    run("grpo.py", tmp_path)
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    items = create_dataset("simtown-mini", size=64, seed=1).at("easy")
    assert [one["solution"] for one in told] == [item.answer for item in items]
    right = {"yes": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0], "no": [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]}
    assert len(trl.REPLIES) == len(right["yes"])
    assert [one["rewards"] for one in told] == [right[one["solution"]] for one in told]


@pytest.mark.usefixtures("stubs")
def test_the_loop_for_reasoning_gym_scores_our_entries_like_theirs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = run("gym_loop.py", tmp_path)
    _, ours = map(float, capsys.readouterr().out.split())
    items = create_dataset("babi", size=10, seed=42).at(facts=2)
    assert ours == sum(item.answer == "kitchen" for item in items) / 10
    for entry in loop["Stories"](size=3, seed=1):
        assert set(entry) == {"question", "answer", "metadata"}
        scores = [loop["Stories"](1, 1).score_answer(answer=said, entry=entry) for said in (entry["answer"], "x", None)]
        assert scores == [1.0, 0.0, 0.0]


@pytest.mark.usefixtures("stubs")
def test_the_taskset_for_verifiers_yields_the_same_tasks_without_an_end(tmp_path: Path) -> None:
    found = run("taskset.py", tmp_path)
    taskset = found["SceneTaskset"]()
    assert taskset.INFINITE
    first, again = (list(islice(taskset.load(), proof.size(120, least=30))) for _ in range(2))
    assert [task.data for task in first] == [task.data for task in again]
    for task, item in zip(first[:5], create_dataset("simtown-mini", seed=1), strict=False):
        [message] = task.data.prompt
        picture, text = message["content"]
        content = base64.b64decode(picture["image_url"]["url"].removeprefix("data:image/png;base64,"))
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(content))), item.pixels)  # type: ignore[arg-type]
        assert text["text"] == item.prompt and message["role"] == "user"
        assert task.right.is_reward
        other = "no" if item.answer == "yes" else "yes"
        replies = (item.answer, other, None, "yes or no")
        scores = [asyncio.run(task.right(found["vf"].Trace(last_reply=reply))) for reply in replies]
        assert scores == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.usefixtures("stubs")
@pytest.mark.parametrize("name", ["shapeworld-oneshape", "babi", "simtown-mini"])
def test_the_class_for_gymnasium_has_its_spaces_and_methods(tmp_path: Path, name: str) -> None:
    environment = run("wrapped.py", tmp_path)["Questions"](name, render_mode="rgb_array")
    for seed in (1, 1, None, None):
        observation, _ = environment.reset(seed=seed, options={})
        assert observation in environment.observation_space
        drawn = environment.render()
        assert drawn is None if name == "babi" else np.array_equal(drawn, observation["image"])
        assert "yes" in environment.action_space
        after, reward, terminated, truncated, info = environment.step(environment.ours.item.answer)
        assert (reward, terminated, truncated) == (1.0, True, False)
        assert after in environment.observation_space and "answer" in info


def test_the_workers_of_a_loader_share_the_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, torch = SimpleNamespace(id=0, num_workers=2), ModuleType("torch.utils.data")
    parts = {"DataLoader": lambda items, **options: (items, options), "IterableDataset": object}
    torch.__dict__.update(parts, get_worker_info=lambda: worker)
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch.utils", ModuleType("torch.utils"))
    monkeypatch.setitem(sys.modules, "torch.utils.data", torch)
    items, options = run("loader.py", tmp_path)["loader"]
    assert options["num_workers"] == 2
    each = items.dataset.chunk_size
    for worker.id in range(2):
        indexes = [item.index for item in islice(items, each + 1)]
        assert indexes == [*range(worker.id * each, (worker.id + 1) * each), (worker.id + 2) * each]


def test_the_training_loop_learns_from_its_first_rounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = 'ANSWERS, ROUNDS, EACH, RATE = ("yes", "no"), {}, 1000, 0.3'
    run("learn.py", tmp_path, old=rounds.format(10), new=rounds.format(3))
    rewards = [float(text) for text in re.findall(r"mean reward (\d\.\d+)", capsys.readouterr().out)]
    said = re.search(r"rises from about (0\.\d+) ", documentation.source("environment"))
    assert said is not None and len(rewards) == 3
    assert rewards[0] == pytest.approx(float(said[1]), abs=0.03)
    assert rewards[0] < 0.75  # random answers earn 0.5
    assert rewards[-1] > 0.8


@pytest.mark.full
def test_the_training_loop_learns_in_less_than_a_minute(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.process_time()
    run("learn.py", tmp_path)
    assert time.process_time() - start < 60
    rewards = [float(text) for text in re.findall(r"mean reward (\d\.\d+)", capsys.readouterr().out)]
    assert len(rewards) == 10
    assert rewards[0] < 0.75  # random answers earn 0.5
    assert min(rewards[-3:]) > 0.85
    said = re.search(r"rises from about (0\.\d+) .* to about (0\.\d+) over", documentation.source("environment"))
    assert said is not None
    assert [rewards[0], rewards[-1]] == pytest.approx([float(said[1]), float(said[2])], abs=0.03)


def test_the_training_loop_has_about_thirty_lines() -> None:
    [block] = [one for one in blocks("environment") if one.file == "learn.py"]
    assert len([line for line in block.body.splitlines() if line.strip()]) <= 33


def test_the_table_of_levels_has_every_attribute_of_every_world() -> None:
    from generation.engine.worlds import usable

    text = documentation.source("environment")
    for world in usable():
        for attribute in world.levels:
            assert f"| `{attribute.name}`: {attribute.label} |" in text.partition(f"### {world.label}\n")[2]
