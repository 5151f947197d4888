"""Exports by command: complete or not at all, only what may be shown, and the same bytes every time."""

import gzip
import json
import subprocess
import tarfile
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from generation.engine import formats
from generation.engine.content_hash import Fingerprint
from generation.engine.errors import BadExport
from generation.exchange import exports
from generation.exchange.exports import StoredDataset, Viewer
from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.splits.split_recipes import read_recipe
from tests.generation import small
from tests.generation.complete_datasets import shared

pytestmark = pytest.mark.django_db


dataset_key = shared(small.made)


@pytest.fixture
def shapes(dataset_key: int, db: None) -> Dataset:
    """Give a complete dataset; the answers of its split test are withheld."""
    return Dataset.objects.get(pk=dataset_key)


def export(*options: str, name: str = "jsonl", output: Path) -> str:
    errors = StringIO()
    call_command(
        "export", "shapes", "--format", name, "--output", str(output), *options, stdout=StringIO(), stderr=errors
    )
    return errors.getvalue()


def refusal(*options: str, **wanted: Any) -> str:
    with pytest.raises(CommandError) as caught:
        export(*options, **wanted)
    assert caught.value.returncode == 2
    return str(caught.value)


def lines(folder: Path, split: str, name: str = "questions") -> list[dict[str, Any]]:
    with gzip.open(folder / split / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# The command ------------------------------------------------------------------------------------------------


def test_the_command_writes_a_folder_and_prints_what_is_missing(shapes: Dataset, tmp_path: Path) -> None:
    said = export(output=tmp_path / "out" / "shapes", name="clevr")
    assert "The answers of test are withheld" in said
    folder = tmp_path / "out" / "shapes"
    assert sorted(path.name for path in folder.iterdir()) == ["CLEVR_v1.0", "README.md", "horsesense"]
    assert [path.name for path in folder.parent.iterdir()] == ["shapes"]
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "horsesense/SHA256SUMS"],
        cwd=folder,
        check=False,
        capture_output=True,
    )
    assert checked.returncode == 0, checked.stderr
    listed = {line.split("  ")[1] for line in (folder / "horsesense" / "SHA256SUMS").read_text().splitlines()}
    assert listed == set(contents(folder)) - {"horsesense/SHA256SUMS"}


def test_existing_files_are_never_overwritten(shapes: Dataset, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    assert "Expected an empty folder or none" in refusal(output=tmp_path / "full")
    assert "got a file" in refusal(output=tmp_path / "file")
    (tmp_path / "empty").mkdir()
    export(output=tmp_path / "empty")
    assert (tmp_path / "empty" / "README.md").exists()
    assert contents(tmp_path / "full") == {"notes.txt": b"mine"}


def test_the_same_export_may_be_there_already_and_no_other(shapes: Dataset, tmp_path: Path) -> None:
    for name in ("clevr", "jsonl"):
        output = tmp_path / name
        export(name=name, output=output)
        written = contents(output)
        export(name=name, output=output)
        assert contents(output) == written
        assert "Expected an empty folder or none" in refusal("--split", "val", name=name, output=output)
        (output / "README.md").write_text("mine")
        changed = contents(output)
        assert "Expected an empty folder or none" in refusal(name=name, output=output)
        assert contents(output) == changed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clevr", "jsonl"]


def test_another_folder_is_refused_before_anything_is_written(
    shapes: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(output=tmp_path / "out")
    Dataset.objects.update(fingerprint="ab" * 32)
    monkeypatch.setattr(exports, "fill", None)  # would be an error
    assert "Expected an empty folder or none" in refusal(output=tmp_path / "out")
    (tmp_path / "out" / "README.md").write_bytes(b"\xff")
    assert "Expected an empty folder or none" in refusal(output=tmp_path / "out")


def test_bad_input_is_refused_with_its_name(shapes: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "clevr-generator, coco" in refusal(name="nonsense", output=out)
    assert "--split: Expected a complete split (train, val, test), got 'nothing'." in refusal(
        "--split", "nothing", output=out
    )
    assert "category: Expected nothing of that name" in refusal("--category", "shape", output=out)
    assert "masks: Expected one of compressed, lists" in refusal("--masks", "square", name="coco", output=out)
    assert not out.exists() and list(tmp_path.iterdir()) == []


def test_a_failure_leaves_nothing(shapes: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "write_sums", raise_no_room)
    with pytest.raises(CommandError) as caught:
        export(output=tmp_path / "out")
    assert caught.value.returncode == 1
    assert "no room. Nothing was written." in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def raise_no_room(*_: Any, **__: Any) -> None:
    raise OSError("no room")


def test_a_dataset_without_complete_splits_is_refused(shapes: Dataset, tmp_path: Path) -> None:
    Split.objects.filter(dataset=shapes).update(state=Split.State.WAITING)
    assert "Expected a dataset with a complete split" in refusal(output=tmp_path / "out")


def test_the_same_dataset_gives_the_same_bytes(shapes: Dataset, tmp_path: Path) -> None:
    for name in ("clevr", "clevr-generator", "coco", "jsonl"):
        for turn in ("a", "b"):
            export(name=name, output=tmp_path / f"{name}-{turn}")
        assert contents(tmp_path / f"{name}-a") == contents(tmp_path / f"{name}-b"), name


def test_every_export_has_the_authors_and_the_description(shapes: Dataset, tmp_path: Path) -> None:
    said = {
        "authors": "Ada A.\nBob B.",
        "licence": "CC0",
        "version": "3",
        "citation": "A. and B., Shapes.",
        "title": "Odd",
    }
    Dataset.objects.filter(pk=shapes.pk).update(**said)
    for name in ("clevr", "clevr-generator", "coco", "jsonl"):
        export(name=name, output=tmp_path / name)
        text = (tmp_path / name / "README.md").read_text()
        for part in ("# Odd", "Ada A., Bob B.", "CC0", "- Version: 3", "A. and B., Shapes."):
            assert part in text, name


# What may be shown ------------------------------------------------------------------------------------------


def test_withheld_answers_are_exported_only_on_request(shapes: Dataset, tmp_path: Path) -> None:
    export(output=tmp_path / "open")
    export("--withheld", output=tmp_path / "all")
    assert {told["answer"] for told in lines(tmp_path / "open", "test")} == {None}
    assert None not in {told["answer"] for told in lines(tmp_path / "all", "test")}
    assert not (tmp_path / "open" / "test" / "scenes.jsonl.gz").exists()
    secret = shapes.splits.get(name="test").secret
    assert not any(secret.encode() in content for content in contents(tmp_path / "open").values())


def test_the_release_folder_never_has_withheld_answers(shapes: Dataset, tmp_path: Path) -> None:
    export("--withheld", name="clevr", output=tmp_path / "all")
    told = json.loads((tmp_path / "all" / "CLEVR_v1.0" / "questions" / "CLEVR_test_questions.json").read_text())
    assert len(told["questions"][0]) == 5
    beside = json.loads((tmp_path / "all" / "horsesense" / "questions" / "CLEVR_test_questions.json").read_text())
    assert len(beside["questions"][0]) == 8


def test_opened_answers_are_exported_with_their_secret(shapes: Dataset, tmp_path: Path) -> None:
    Split.objects.filter(dataset=shapes, name="test").update(withheld=False)
    export(name="clevr", output=tmp_path / "out")
    about = json.loads((tmp_path / "out" / "horsesense" / "dataset.json").read_text())
    assert [split["secret"] for split in about["splits"]] == ["", "", small.SECRET]


def test_withheld_answers_of_a_private_dataset_are_not_exported(shapes: Dataset, tmp_path: Path) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(visibility="private")
    export(output=tmp_path / "out")
    assert None not in {told["answer"] for told in lines(tmp_path / "out", "val")}
    assert {told["answer"] for told in lines(tmp_path / "out", "test")} == {None}


def test_pictures_that_only_the_owner_sees_are_not_exported(shapes: Dataset, tmp_path: Path) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(images_visible=False)
    assert "There are no images of train, val, test" in export(output=tmp_path / "out")
    assert not (tmp_path / "out" / "val" / "images.tar").exists()


def test_facets_of_a_withheld_split_reveal_no_answers(shapes: Dataset) -> None:
    splits = {split.name: split for split in StoredDataset(shapes).stored}
    assert any(facet.reveals for facet in splits["val"].facets)
    assert splits["test"].facets and not any(facet.reveals for facet in splits["test"].facets)
    assert set(splits["test"].facet_codes(0, 8)) == {facet.name for facet in splits["test"].facets}
    everything = StoredDataset(shapes, viewer=Viewer(withheld=True)).stored[2]
    assert any(facet.reveals for facet in everything.facets)


# Parts ------------------------------------------------------------------------------------------------------


def test_splits_and_pictures_can_be_left_out(shapes: Dataset, tmp_path: Path) -> None:
    said = export("--split", "val", "--no-images", output=tmp_path / "out")
    assert "There are no images of val" in said
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["README.md", "SHA256SUMS", "val"]
    assert {told["image"] for told in lines(tmp_path / "out", "val")} == {None}


def test_an_export_says_that_a_dataset_has_no_pictures(db: None, tmp_path: Path) -> None:
    small.made("bare", with_images=False, splits={"val": {"scenes": 1}})
    errors = StringIO()
    where = str(tmp_path / "out")
    call_command("export", "bare", "--format", "clevr", "--output", where, stdout=StringIO(), stderr=errors)
    assert "There are no images of val in this export." in errors.getvalue()
    assert "no images of val" in (tmp_path / "out" / "README.md").read_text()
    assert not (tmp_path / "out" / "CLEVR_v1.0" / "images").exists()


def test_content_hashes_equal_those_of_the_exported_items(shapes: Dataset) -> None:
    for split in StoredDataset(shapes).stored[:2]:
        fingerprint = Fingerprint()
        for entry in split.items():
            scene = entry.item.scene
            assert scene is not None
            fingerprint.add(scene.to_json(), (question.to_json() for question in entry.item.questions))
        assert fingerprint.hexdigest() == split.fingerprint


def test_an_exported_question_set_has_only_its_questions_and_pictures(shapes: Dataset, tmp_path: Path) -> None:
    recipe = read_recipe({"parent": "train", "filter": "", "sample": 3, "seed": 2})
    part = dataset_jobs.derive(Split.objects.for_browse().get(dataset=shapes, name="train"), name="part", recipe=recipe)
    export("--split", "part", output=tmp_path / "out")
    told = lines(tmp_path / "out", "part")
    assert [one["question_id"] for one in told] == [0, 1, 2]
    whole = {question.text for question in part.source.question_set.all()}
    assert {one["question"] for one in told} <= whole
    with tarfile.open(tmp_path / "out" / "part" / "images.tar") as archive:
        assert archive.getnames() == sorted({one["image"] for one in told})
    assert [one["image_index"] for one in lines(tmp_path / "out", "part", "scenes")] == list(range(part.scenes))
    assert "part" not in {split.name for split in StoredDataset(shapes).stored}


def test_a_question_set_of_a_withheld_split_is_exported_without_answers(shapes: Dataset, tmp_path: Path) -> None:
    recipe = read_recipe({"parent": "test", "filter": "", "first": 2})
    dataset_jobs.derive(Split.objects.for_browse().get(dataset=shapes, name="test"), name="few", recipe=recipe)
    Split.objects.filter(name="few").update(withheld=False)
    export("--split", "few", output=tmp_path / "out")
    assert {told["answer"] for told in lines(tmp_path / "out", "few")} == {None}
    assert not (tmp_path / "out" / "few" / "scenes.jsonl.gz").exists()


# Formats ----------------------------------------------------------------------------------------------------


def test_every_format_has_a_label_and_a_description() -> None:
    every = formats.every()
    known = {"clevr", "clevr-generator", "coco", "huggingface", "jsonl", "lmms-eval", "trl", "verl", "vlmevalkit"}
    assert known <= {f.name for f in every}
    for format_ in every:
        assert format_.label and format_.about
        for option in format_.options:
            assert option.about and (not option.choices or option.default in option.choices)


def test_an_option_has_the_same_type_in_every_format() -> None:
    kinds: dict[str, set[type]] = {}
    for format_ in formats.every():
        for option in format_.options:
            kinds.setdefault(option.name, set()).add(type(option.default))
    assert all(len(found) == 1 for found in kinds.values())


def test_values_of_options_are_checked() -> None:
    coco = next(format_ for format_ in formats.every() if format_.name == "coco")
    assert formats.check_options(coco, {}) == {"category": "", "masks": "compressed"}
    with pytest.raises(BadExport, match="Expected a text, got True"):
        formats.check_options(coco, {"category": True})
