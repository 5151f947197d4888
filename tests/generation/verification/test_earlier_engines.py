"""Datasets of earlier engines are verified by every check whose rules are the same, and real damage is found.

The datasets are those of commit 39e7cc8, which has engine 2: a backup of its site, and two folders that it exported.
"""

import hashlib
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from generation.engine import ENGINE_VERSION
from generation.engine.verification import exported_folders
from generation.engine.verification.proof import CHECKS
from generation.engine.verification.verdict import Finding, Verdict, outdated_checks
from generation.engine.worlds import usable
from tests.earlier_release import unpack_archive
from tests.made_once import made_once
from tests.proof import sample
from tests.webapp.commands import ROOT, environment_of

HERE = Path(__file__).parent
FOLDERS = HERE / "data" / "exports_of_engine_2.tar.xz"
LEFT_OUT = "checks by rules that later engines than engine 2, which made the dataset, have changed: "
WORDING, DRAWN_AGAIN = CHECKS["texts"], CHECKS["rerendered"]
# What finds each damage in every dataset.
FINDS = {
    "answer": {"hashes", "programs"},
    "answer_with_its_hashes": {"programs"},
    "text": {"hashes"},
    "scene": {"hashes"},
    "row": {"hashes", "rows"},
    "content_hash": {"hashes"},
    "index": {"hashes"},
}
Results = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def results() -> dict[str, Results]:
    """Give what is verified of the stored datasets, by dataset and damage. One process verifies them for all tests."""

    def make(folder: Path) -> None:
        folder.mkdir()
        command = [sys.executable, str(HERE / "earlier_datasets.py"), str(unpack_archive(folder))]
        environment = environment_of(folder / "var")
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
        assert ended.returncode == 0, ended.stderr
        (folder / "results.json").write_text(ended.stdout.splitlines()[-1])

    found: dict[str, Results] = json.loads((made_once("earlier-datasets", make) / "results.json").read_text())
    return found


@pytest.mark.slow
def test_nothing_is_wrong_with_stored_datasets_of_an_earlier_engine(results: dict[str, Results]) -> None:
    assert set(results) == {"shapes", "stories", "captions"}
    undamaged = {slug: found["nothing"] for slug, found in results.items()}
    assert all(one["ok"] and not one["failed"] for one in undamaged.values())
    assert undamaged["shapes"]["open"] == [f"{LEFT_OUT}{WORDING}; {DRAWN_AGAIN}"]
    assert undamaged["stories"]["open"] == undamaged["captions"]["open"] == []
    assert all({"hashes", "programs", "facets", "words", "rows"} <= {*one["proved"]} for one in undamaged.values())
    assert {"images", "masks", "recipe"} <= {*undamaged["shapes"]["proved"]}
    assert "answers" in undamaged["stories"]["proved"]


@pytest.mark.slow
@pytest.mark.parametrize("damage", FINDS)
@pytest.mark.parametrize("slug", sample(["shapes", "stories", "captions"], gate=1))
def test_damage_to_a_stored_dataset_of_an_earlier_engine_is_found(
    slug: str, damage: str, results: dict[str, Results]
) -> None:
    found = results[slug][damage]
    assert not found["ok"] and FINDS[damage] <= set(found["failed"])


@pytest.mark.slow
def test_a_changed_picture_of_an_earlier_engine_is_found(results: dict[str, Results]) -> None:
    assert results["shapes"]["picture"]["failed"] == ["images"]


# Folders


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    with tarfile.open(FOLDERS) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def verified(folder: Path) -> Verdict:
    return exported_folders.verify(exported_folders.Scope(folder, folder.name))


def test_nothing_is_wrong_with_folders_that_an_earlier_engine_exported(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clevr, babi = (verified(folders / name) for name in ("clevr", "babi"))
    assert clevr.findings == babi.findings == []
    assert [one.what for one in clevr.open] == [f"{LEFT_OUT}{WORDING}"] and babi.open == []
    hashes = [one.count for one in (*clevr.proved, *babi.proved) if one.check == "hashes" and "hashes" in one.unit]
    assert sum(hashes) == 6  # of two splits and the dataset, twice
    call_command("verify", "--folder", str(folders / "clevr"), "--format", "clevr", "--workers", "1")  # exits with 0
    assert capsys.readouterr().out.count("engine 2") == 1


def sum_up(folder: Path) -> None:
    """Write the SHA-256 of all files into the folder's list, as somebody would who wants to hide a change."""
    sums = folder / "horsesense" / "SHA256SUMS"
    names = [line.partition("  ")[2] for line in sums.read_text().splitlines()]
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    sums.write_text("".join(lines))


def change_json(path: Path, change: Callable[[Any], None]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def flip_answer(folder: Path) -> None:
    path = folder / "CLEVR_v1.0" / "questions" / "CLEVR_train_questions.json"
    answers = {"yes": "no", "no": "yes"}

    def flip(data: Any) -> None:
        question = next(one for one in data["questions"] if one["answer"] in answers)
        question["answer"] = answers[question["answer"]]

    change_json(path, flip)


def change_hash(folder: Path) -> None:
    change_json(folder / "horsesense" / "dataset.json", lambda data: data["splits"][0].update(fingerprint="0" * 64))


def change_picture(folder: Path) -> None:
    path = folder / "CLEVR_v1.0" / "images" / "train" / "CLEVR_train_000001.png"
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "finds"), [(flip_answer, "programs"), (change_hash, "hashes"), (change_picture, "images")]
)
def test_damage_to_a_folder_of_an_earlier_engine_is_found(
    damage: Callable[[Path], None], finds: str, folders: Path
) -> None:
    damage(folders / "clevr")
    assert {"files", finds} <= {one.check for one in verified(folders / "clevr").findings}
    sum_up(folders / "clevr")
    found = {one.check for one in verified(folders / "clevr").findings}
    assert finds in found and "files" not in found


# The rule


def test_worlds_name_known_checks_and_engines() -> None:
    for world in usable():
        assert set(world.checks_since) <= set(CHECKS), world.name
        assert all(1 < first <= int(ENGINE_VERSION) for first in world.checks_since.values()), world.name
        assert outdated_checks(world.checks_since, ENGINE_VERSION) == frozenset()


@pytest.mark.parametrize(
    ("version", "outdated"), [("1", {"texts"}), ("3", {"texts"}), ("4", set()), ("5", set()), ("", set()), ("x", set())]
)
def test_only_a_known_earlier_engine_is_excused(version: str, outdated: set[str]) -> None:
    assert outdated_checks({"texts": 4}, version) == outdated


def test_checks_that_do_not_fit_are_named_once_and_others_are_kept() -> None:
    verdict = Verdict(outdated={"texts", "rerendered"}, engine_version="2")
    assert verdict.open == []
    for number in range(3):
        verdict.find(Finding("train", "texts", "a wording", "another", number, number))
        verdict.prove("train", "texts", unit="questions")
    assert verdict.holds and verdict.proved == []
    assert verdict.to_json()["open"] == [{"split": "", "what": f"{LEFT_OUT}{WORDING}", "count": 1}]
    verdict.find(Finding("train", "hashes", "one", "another"))
    assert not verdict.holds
