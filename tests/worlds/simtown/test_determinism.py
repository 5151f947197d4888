"""The same spec gives the same streets and questions: in every order, in every process and in every release."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from generation.engine.items import Item
from tests.worlds.simtown.fingerprints import HELD, current
from tests.worlds.simtown.made import MAKER, make_items, scene_of, sized

ROOT = Path(__file__).resolve().parents[3]
ADVICE = (
    "The engine gives other streets or questions. If it was not meant to: find out why. If it was: raise "
    "ENGINE_VERSION in generation/engine/__init__.py, run `python -m tests.worlds.simtown.fingerprints`, and commit "
    "both with the reason."
)
BASE = "simtown-k15-distractor"


def as_json(found: list[Item]) -> list[object]:
    """Return scenes and questions as JSON."""
    return [(scene_of(item).to_json(), [one.to_json() for one in item.questions]) for item in found]


def test_fingerprints_are_those_held() -> None:
    assert current() == json.loads(HELD.read_text()), ADVICE


def test_fingerprints_are_the_same_when_chunks_and_splits_are_made_backwards() -> None:
    assert current(backwards=True) == json.loads(HELD.read_text())


@pytest.mark.parametrize("environment", [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "NUMBA_CPU_NAME": "generic"}])
@pytest.mark.full
def test_fingerprints_are_the_same_in_a_process_of_its_own(environment: dict[str, str]) -> None:
    assert printed(environment) == json.loads(HELD.read_text())


@pytest.mark.slow
def test_fingerprints_are_the_same_in_another_process() -> None:
    assert printed({"PYTHONHASHSEED": "3"}) == json.loads(HELD.read_text())


def printed(environment: dict[str, str]) -> object:
    """Return the fingerprints that another process prints."""
    command = [sys.executable, "-m", "tests.worlds.simtown.fingerprints", "--print"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_chunks_are_the_same_in_any_order() -> None:
    spec = sized(BASE, train=250)
    plan = MAKER.plan(spec, "train")
    assert [chunk.items for chunk in plan] == [100, 100, 50]
    forth = {chunk.number: as_json(list(MAKER.make(spec, "train", chunk))) for chunk in plan}
    back = {chunk.number: as_json(list(MAKER.make(spec, "train", chunk))) for chunk in reversed(plan)}
    assert forth == back


def test_another_seed_gives_other_items() -> None:
    one, two = (as_json(list(make_items(sized(BASE, train=50, seed=seed), "train"))) for seed in (0, 1))
    assert not [number for number, item in enumerate(one) if item in two or item[0] == two[number][0]]  # type: ignore[index]
    assert one == as_json(list(make_items(sized(BASE, train=50, seed=0), "train")))


def test_splits_and_chunks_have_nothing_in_common() -> None:
    spec = sized("simtown-k5", train=200, test=100)
    train, test = (as_json(list(make_items(spec, split))) for split in ("train", "test"))
    scenes = [json.dumps(item[0]) for item in (*train, *test)]  # type: ignore[index]
    assert len(set(scenes)) == len(scenes)


def test_a_secret_changes_everything() -> None:
    spec = sized(BASE, train=50)
    plain, one, two = (
        as_json(list(make_items(spec, "train", secret=secret)))
        for secret in (b"", bytes(range(16)), bytes(range(1, 17)))
    )
    for first, second in ((plain, one), (plain, two), (one, two)):
        scenes = [{json.dumps(item[0]) for item in found} for found in (first, second)]  # type: ignore[index]
        assert not scenes[0] & scenes[1]
        streets = [{json.dumps(item[0]["street"]) for item in found} for found in (first, second)]  # type: ignore[index]
        assert not streets[0] & streets[1]
        questions = [[item[1] for item in found] for found in (first, second)]  # type: ignore[index]
        same = sum(here == there for here, there in zip(*questions, strict=True))
        assert same < 10
        answers = [[here[0]["answer"] for here in found] for found in questions]
        assert answers[0] != answers[1]
    assert one == as_json(list(make_items(spec, "train", secret=bytes(range(16)))))


def test_pictures_are_the_same_in_another_chunk_order() -> None:
    spec = sized(BASE, train=101)
    found = list(make_items(spec, "train"))
    last, first = (MAKER.render(spec, "train", item) for item in (found[-1], found[0]))
    again = MAKER.render(spec, "train", found[0])
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()
    assert (first[0] != last[0]).any()
