"""`verify --folder` proves our exports, and finds changes even if the list of SHA-256 sums is recomputed."""

import gzip
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from generation.engine.errors import BadExport, BadRecord
from generation.engine.verification import exported_folders
from generation.engine.verification.verdict import Verdict
from generation.making import dataset_jobs
from generation.splits import question_sets
from generation.splits.split_recipes import Recipe
from tests.generation import small
from tests.shared_data import shared_path

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SUMS = "horsesense/SHA256SUMS"
TRAIN = "CLEVR_v1.0/questions/CLEVR_train_questions.json"
Edit = Callable[[Any], None]


def verdict_of(folder: Path, **more: Any) -> Verdict:
    return exported_folders.verify(exported_folders.Scope(folder, **{"format": "clevr", **more}))


def checks_of(verdict: Verdict) -> set[str]:
    return {finding.check for finding in verdict.findings}


def rewrite_sums(folder: Path) -> None:
    """Recompute the list of SHA-256 sums, as somebody who hides a change would do."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / SUMS)
    digests = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    lines = (f"{digest}  {name}\n" for name, digest in digests.items())
    (folder / SUMS).write_text("".join(lines))


@contextmanager
def replaced_file(path: Path, content: bytes | None) -> Iterator[None]:
    before = path.read_bytes() if path.exists() else None
    path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)
    yield
    path.unlink(missing_ok=True)
    if before is not None:
        path.write_bytes(before)


def edit_json(path: Path, edit: Edit) -> bytes:
    data = json.loads(path.read_text())
    edit(data)
    return json.dumps(data).encode()


def change_first_question(**changes: Any) -> Edit:
    return lambda data: data["questions"][0].update(changes)


def change_answer(data: Any) -> None:
    asked = next(one for one in data["questions"] if one["answer"] in ("yes", "no"))
    asked["answer"] = "no" if asked["answer"] == "yes" else "yes"


def move_object(data: Any) -> None:
    data["scenes"][0]["objects"][0]["3d_coords"][0] += 0.25


EDITS: tuple[tuple[str, Edit, str], ...] = (
    (TRAIN, change_answer, "programs"),
    (TRAIN, change_first_question(question="Is it so?"), "texts"),
    (TRAIN, change_first_question(question_family_index=7), "families"),
    (TRAIN, lambda data: data["questions"].pop(), "rows"),
    (TRAIN, change_first_question(answer="orange"), "rows"),
    ("CLEVR_v1.0/questions/CLEVR_test_questions.json", change_first_question(question="Is it so?"), "texts"),
    ("CLEVR_v1.0/scenes/CLEVR_train_scenes.json", move_object, "references"),
    ("CLEVR_v1.0/scenes/CLEVR_train_scenes.json", lambda data: data["scenes"].pop(), "hashes"),
    ("horsesense/views/CLEVR_train_views.json", lambda data: data["views"][0].update(camera=[7, -7, 5]), "references"),
    ("horsesense/dataset.json", lambda data: data["splits"][0].update(fingerprint="0" * 64), "hashes"),
    ("horsesense/dataset.json", lambda data: data.update(fingerprint="0" * 64), "hashes"),
    ("horsesense/dataset.json", lambda data: data["splits"][0].update(scenes=9), "rows"),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give the public export of a small dataset with a withheld split and a split called test."""
    small.made(splits={"train": {"scenes": 4}, "test": {"scenes": 2}, "exam": {"scenes": 2, "withheld": True}})
    call_command("export", "shapes", "--format", "clevr", "--output", str(tmp_path / "out"), stdout=StringIO())
    return tmp_path / "out"


def test_an_unchanged_export_is_proved_and_each_change_is_found(folder: Path):
    verdict = verdict_of(folder, rerender=3)
    assert verdict.findings == []
    assert {row.check for row in verdict.proved} >= {
        "rows", "scenes", "references", "programs", "vocabulary", "families", "degeneracy", "texts", "balance",
        "facets", "images", "hashes", "files", "rerendered",
    }  # fmt: skip
    assert sum(row.count for row in verdict.proved if row.check == "rerendered") <= 3
    left = {(row.split, row.what) for row in verdict.open}
    assert ("exam", "questions without an answer") in left
    assert ("exam", "the content hash of a split whose answers, programs or scenes aren't there") in left
    sums = (folder / SUMS).read_bytes()
    for name, edit, check in EDITS:
        with replaced_file(folder / name, edit_json(folder / name, edit)):
            assert "files" in checks_of(verdict_of(folder)), name
            rewrite_sums(folder)
            found = checks_of(verdict_of(folder))
            assert check in found and "files" not in found, (name, check, found)
        (folder / SUMS).write_bytes(sums)
    assert verdict_of(folder).findings == []


def test_changed_pictures_tables_and_files_are_found(folder: Path):
    pictures = sorted((folder / "CLEVR_v1.0/images/train").iterdir())
    table = folder / "horsesense/facets/CLEVR_train_facets.csv.gz"
    rows = gzip.decompress(table.read_bytes()).decode().splitlines()
    rows[1] = rows[1].replace(",", ",x", 1)
    sums = (folder / SUMS).read_bytes()
    for path, content, check in (
        (pictures[0], pictures[1].read_bytes(), "images"),
        (pictures[0], pictures[0].read_bytes()[:100], "images"),
        (pictures[0], None, "images"),
        (table, gzip.compress("\n".join(rows).encode()), "facets"),
        (table, b"no table", "facets"),
    ):
        with replaced_file(path, content):
            assert "files" in checks_of(verdict_of(folder)), path
            rewrite_sums(folder)
            assert checks_of(verdict_of(folder)) == {check}, path
        (folder / SUMS).write_bytes(sums)
    with replaced_file(folder / "more.txt", b"more"):
        [finding] = verdict_of(folder).findings
        assert (finding.check, finding.came) == ("files", "more.txt")
    with replaced_file(folder / "horsesense/spec.json", b'{"world": "clevr", "splits": {}}'):
        assert "files" in checks_of(verdict_of(folder))
    with replaced_file(folder / TRAIN, (folder / TRAIN).read_bytes()[:500]):
        assert {"files", "rows"} <= checks_of(verdict_of(folder))


def test_the_command_gives_the_same_verdict_with_one_or_two_processes(folder: Path):
    def run_verify(*more: str) -> str:
        out = StringIO()
        call_command("verify", "--folder", str(folder), "--format", "clevr", *more, stdout=out)
        return out.getvalue()

    assert run_verify("--workers", "1") == run_verify("--workers", "2")
    assert "Nothing wrong was found." in run_verify("--workers", "1")
    assert json.loads(run_verify("--workers", "1", "--json", "--split", "train"))["ok"] is True
    (folder / TRAIN).write_bytes(edit_json(folder / TRAIN, change_answer))
    with pytest.raises(CommandError, match=r"Expected nothing wrong with .*, got [0-9]+ findings") as caught:
        run_verify("--workers", "1")
    assert caught.value.returncode == 1


def test_wording_and_balance_of_derived_splits_are_not_proved(tmp_path: Path):
    dataset = small.made(with_images=False)
    question_sets.create(dataset.splits.get(name="train"), name="some", recipe=Recipe(parent="train", sample=6, seed=3))
    dataset_jobs.work(dataset=dataset)
    out = tmp_path / "out"
    call_command("export", "shapes", "--format", "clevr", "--split", "some", "--output", str(out), stdout=StringIO())
    verdict = verdict_of(out)
    assert verdict.findings == []
    assert "families, wording and balance of questions that we did not ask" in {row.what for row in verdict.open}
    assert ("some", "hashes") in {(row.split, row.check) for row in verdict.proved}


def test_files_of_other_formats_are_proved_by_their_hashes(tmp_path: Path):
    small.made(with_images=False)
    out = tmp_path / "out"
    call_command("export", "shapes", "--format", "jsonl", "--output", str(out), stdout=StringIO())
    verdict = verdict_of(out, format="jsonl")
    assert verdict.findings == [] and any("which is not read again" in row.what for row in verdict.open)
    next(path for path in out.rglob("*.gz")).write_bytes(b"")
    assert checks_of(verdict_of(out, format="jsonl")) == {"files"}


def test_the_releases_own_scenes_are_proved(tmp_path: Path):
    folder = tmp_path / "CLEVR_v1.0" / "scenes"
    folder.mkdir(parents=True)
    shutil.copy(shared_path("data", "clevr-v1", "CLEVR_train_scenes.json"), folder)
    verdict = verdict_of(tmp_path)
    assert verdict.findings == []
    assert ("references", 300) in {(row.check, row.count) for row in verdict.proved}
    assert any(row.what.startswith("content hashes, spec and facets") for row in verdict.open)
    path = folder / "CLEVR_train_scenes.json"
    path.chmod(0o644)
    path.write_bytes(edit_json(path, move_object))
    assert checks_of(verdict_of(tmp_path)) == {"references"}


def test_folders_that_are_no_exports_are_refused(tmp_path: Path):
    with pytest.raises(BadExport, match="Expected a folder, got none"):
        verdict_of(tmp_path / "nowhere")
    with pytest.raises(BadExport, match=r"Expected one of .*clevr.*, got 'tar'"):
        verdict_of(tmp_path, format="tar")
    with pytest.raises(BadRecord, match="Expected scenes, questions or pictures"):
        verdict_of(tmp_path)
    for command in (["--folder", str(tmp_path)], ["shapes", "--folder", str(tmp_path), "--format", "clevr"]):
        with pytest.raises(CommandError) as caught:
            call_command("verify", *command)
        assert caught.value.returncode == 2
