"""`verify` proves the datasets that we make, and finds each kind of change with its own check."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from PIL import Image

from generation.engine import ENGINE_VERSION
from generation.engine.content_hash import canonical, dataset_fingerprint
from generation.engine.errors import BadSpec
from generation.engine.verification.verdict import Finding, Verdict
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Scene, Split
from generation.splits import question_sets, sealing
from generation.splits.split_recipes import Recipe
from generation.storage import files
from generation.storage.split_index import FOLDER
from generation.verification.dataset import scope_of, verify
from tests.generation import small
from tests.proof import SHARE

pytestmark = pytest.mark.django_db
Tamper = Callable[[Split], None]


def verdict_of(dataset: Dataset, **options: Any) -> Verdict:
    """Verify a dataset as it is stored now, and return the verdict."""
    fresh = Dataset.objects.get(pk=dataset.pk)
    return verify(fresh, scope_of(fresh, **options))


def checks_of(verdict: Verdict) -> set[str]:
    return {finding.check for finding in verdict.findings}


@contextmanager
def rolled_back() -> Iterator[None]:
    """Roll back the changes of the block in the database."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def changed_file(path: Path, content: bytes | None) -> Iterator[None]:
    """Replace the content of a file during the block, or delete the file."""
    before = path.read_bytes()
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    yield
    path.write_bytes(before)


def seal_again(split: Split) -> None:
    """Seal a split again, as somebody who hides a change would do: hashes and index fit the changed rows."""
    sealed = sealing.seal(split)
    Split.objects.filter(pk=split.pk).update(**sealed._asdict(), seen_digest="")
    hashes = dict(split.dataset.splits.own().values_list("name", "fingerprint"))
    Dataset.objects.filter(pk=split.dataset_id).update(fingerprint=dataset_fingerprint(hashes))


def first_question(split: Split, **more: Any) -> Question:
    found = split.question_set.filter(**more).order_by("position").first()
    assert found is not None
    return found


def change_question(**changes: Any) -> Tamper:
    return lambda split: _update(first_question(split), changes)


def _update(row: Any, changes: dict[str, Any]) -> None:
    type(row).objects.filter(pk=row.pk).update(**changes)


def change_answer(split: Split) -> None:
    row = first_question(split, answer_kind="yes-no")
    _update(row, {"answer": "no" if row.answer == "yes" else "yes"})


def change_program(split: Split) -> None:
    row = first_question(split)
    program = json.loads(row.program or "")
    _update(row, {"program": canonical(program[:-1])})


def change_scene(change: Callable[[dict[str, Any]], None]) -> Tamper:
    def tamper(split: Split) -> None:
        row = split.scene_set.get(position=0)
        data = row.scene_json
        assert data is not None
        change(data)
        _update(row, {"data": canonical(data)})

    return tamper


def swap_questions(split: Split) -> None:
    """Swap the questions of the first two scenes."""
    one, two = (list(split.question_set.filter(scene__position=at).order_by("position")) for at in (0, 1))
    for mine, theirs in zip(one, two, strict=True):
        for row, other in ((mine, theirs), (theirs, mine)):
            fields = ("text", "program", "answer", "answer_kind", "kind", "family")
            _update(row, {name: getattr(other, name) for name in fields})


def repeat_scene(split: Split) -> None:
    """Replace all scenes by the first one: each answer stays right, but the balance of answers is lost."""
    rows = list(split.scene_set.order_by("position"))
    asked = list(rows[0].question_set.order_by("position"))
    for row in rows[1:]:
        _update(row, {"data": rows[0].data, "view": rows[0].view})
        for mine, other in zip(row.question_set.order_by("position"), asked, strict=True):
            fields = ("text", "program", "answer", "answer_kind", "kind", "family")
            _update(mine, {name: getattr(other, name) for name in fields})


def move_object(data: dict[str, Any]) -> None:
    data["objects"][0]["3d_coords"][0] += 0.5


def recolour(data: dict[str, Any]) -> None:
    data["objects"][0]["color"] = "gray" if data["objects"][0]["color"] != "gray" else "red"


def forget_relation(data: dict[str, Any]) -> None:
    for rows in data["relationships"].values():
        rows[0] = []


# Changes, and the check that finds each even if the hashes are recomputed.
RESEALED_CHANGES: dict[str, tuple[Tamper, str]] = {
    "answer": (change_answer, "programs"),
    "answer of another kind": (change_question(answer_kind="word"), "programs"),
    "program": (change_program, "programs"),
    "text": (change_question(text="Is it so?"), "texts"),
    "questions of two scenes": (swap_questions, "programs"),
    "place of an object": (change_scene(move_object), "references"),
    "relations": (change_scene(forget_relation), "references"),
    "something more in a scene": (change_scene(lambda data: data.update(note="hello")), "scenes"),
    "the same scene again and again": (repeat_scene, "balance"),
}
# Changes after which the split cannot be sealed again, or need not be.
OTHER_CHANGES: dict[str, tuple[Tamper, str]] = {
    "answer outside the vocabulary": (change_question(answer="orange"), "vocabulary"),
    "answer taken away": (change_question(answer=None), "hashes"),
    "kind of answer that is none": (change_question(answer_kind="colour"), "programs"),
    "type": (change_question(kind="query_nothing"), "programs"),
    "family": (change_question(family=91), "families"),
    "source": (change_question(source_id="q-7"), "facets"),
    "program that is no JSON": (change_question(program="{"), "programs"),
    "program of unknown steps": (change_question(program='[{"function":"guess","inputs":[]}]'), "programs"),
    "scene that is no JSON": (lambda split: _update(split.scene_set.get(position=0), {"data": "["}), "scenes"),
    "scene that is none": (lambda split: _update(split.scene_set.get(position=0), {"data": None}), "scenes"),
    "view that is none": (lambda split: _update(split.scene_set.get(position=0), {"view": "{}"}), "scenes"),
    "colour": (change_scene(recolour), "images"),
    "colour outside the vocabulary": (change_scene(lambda d: d["objects"][0].update(color="orange")), "vocabulary"),
    "question deleted": (lambda split: first_question(split).delete(), "rows"),
    "scene deleted": (lambda split: split.scene_set.get(position=1).delete(), "rows"),
    "question moved to another scene": (
        lambda split: _update(first_question(split), {"scene": split.scene_set.get(position=1)}), "rows"),
    "content hash": (lambda split: _update(split, {"fingerprint": "0" * 64}), "hashes"),
    "dataset's content hash": (lambda split: _update(split.dataset, {"fingerprint": "0" * 64}), "hashes"),
    "secret's hash": (lambda split: Split.objects.exclude(secret="").update(secret_sha256="0" * 64), "hashes"),
    "numbers of rows": (lambda split: _update(split, {"questions": 17}), "rows"),
    "batch": (lambda split: _update(split.chunks.get(), {"questions": 8}), "rows"),
    "replaced": (lambda split: _update(split.chunks.get(), {"replaced": 99}), "rows"),
    "reference": (lambda split: Split.objects.filter(name="val").update(reference=None), "rows"),
    "withheld": (lambda split: Split.objects.filter(name="test").update(withheld=False), "rows"),
    "picture's name": (lambda split: _update(split.scene_set.get(position=0), {"image": "x.png"}), "images"),
    "picture forgotten": (lambda split: _update(split.scene_set.get(position=0), {"image": ""}), "images"),
    "picture's size": (lambda split: _update(split.scene_set.get(position=0), {"width": 121}), "images"),
    "index's name": (lambda split: _update(split, {"index_digest": "0" * 64}), "hashes"),
}  # fmt: skip


WHOLE = ("dataset's content hash", "secret's hash", "reference", "withheld")  # changes outside of the train split


@pytest.mark.slow
def test_an_unchanged_dataset_is_proved_and_each_change_in_the_database_is_found():
    dataset = small.made()
    verdict = verdict_of(dataset, rerender=3)
    assert verdict.findings == []
    assert {row.check for row in verdict.proved} >= {
        "rows", "scenes", "references", "programs", "vocabulary", "families", "degeneracy", "texts", "balance",
        "facets", "words", "images", "masks", "hashes", "rerendered",
    }  # fmt: skip
    assert sum(row.count for row in verdict.proved if (row.check, row.unit) == ("programs", "questions")) == 32
    assert sum(row.count for row in verdict.proved if row.check == "rerendered") == 3
    train = dataset.splits.get(name="train")
    changes = OTHER_CHANGES if SHARE < 1 else RESEALED_CHANGES | OTHER_CHANGES
    for name, (tamper, check) in changes.items():
        with rolled_back():
            tamper(train)
            found = verdict_of(dataset, names=["train"] if name not in WHOLE else [])
            assert check in checks_of(found), name
            assert all(finding.expected for finding in found.findings), name
    assert verdict_of(dataset).findings == []


@pytest.mark.slow
def test_changes_are_found_even_if_the_split_is_sealed_again():
    dataset = small.made(with_images=False)
    train = dataset.splits.get(name="train")
    for name, (tamper, check) in RESEALED_CHANGES.items():
        with rolled_back():
            tamper(train)
            seal_again(train)
            found = checks_of(verdict_of(dataset, names=["train"]))
            assert check in found, name
            assert not found & {"hashes", "facets", "words", "rows"}, name
    with rolled_back():
        repeat_scene(train)
        seal_again(train)
        assert checks_of(verdict_of(dataset, names=["train"])) == {"balance"}


def picture(rgb: Any) -> bytes:
    buffer = BytesIO()
    Image.fromarray(rgb).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.slow
def test_changed_pictures_and_index_files_are_found():
    dataset = small.made()
    train = dataset.splits.get(name="train")
    rows = list(train.scene_set.order_by("position"))
    places = [files.local_path(row.image) for row in rows]
    ids = files.local_path(rows[0].ids_image)
    assert places[0] is not None and places[1] is not None and ids is not None
    plain = np.asarray(Image.open(places[0]))
    for name, path, content, check in (
        ("another scene's picture", places[0], places[1].read_bytes(), "images"),
        ("a picture cut short", places[0], places[0].read_bytes()[:200], "images"),
        ("a smaller picture", places[0], picture(plain[:-1]), "images"),
        ("a grey picture", places[0], picture(plain[:, :, 0]), "images"),
        ("no picture", places[0], None, "images"),
        ("no picture of ids", ids, None, "masks"),
        ("ids of another scene", ids, files.get(rows[1].ids_image), "masks"),
        ("ids of nothing", ids, picture(np.zeros(plain.shape[:2], np.uint8)), "masks"),
    ):
        with changed_file(path, content):
            found = verdict_of(dataset, names=["train"])
            assert checks_of(found) == {check}, name
            assert all(finding.scene == 0 for finding in found.findings), name
    with changed_file(places[0], picture(np.clip(plain.astype(int) + 3, 0, 255).astype(np.uint8))):
        assert verdict_of(dataset, names=["train"]).findings == []  # only rendering finds it
        assert checks_of(verdict_of(dataset, names=["train"], rerender=4)) == {"rerendered"}
    folder = files.local_path(f"{FOLDER}/{train.index_digest}")
    assert folder is not None
    for file, check in (
        ("facet_01.npy", "facets"),
        ("answers.npy", "facets"),
        ("scenes.npy", "facets"),
        ("word_postings.npy", "words"),
        ("keys_00_distinct.npy", "hashes"),
    ):
        content = bytearray((folder / file).read_bytes())
        content[-1 if file != "word_postings.npy" else -4] ^= 1
        with changed_file(folder / file, bytes(content)):
            found = verdict_of(dataset, names=["train"])
            assert checks_of(found) == {check, "hashes"}, file
    for file in ("manifest.json", "answers.npy", "word_starts.npy"):
        with changed_file(folder / file, None):
            assert "hashes" in checks_of(verdict_of(dataset, names=["train"])), file
    assert verdict_of(dataset).findings == []


@pytest.mark.slow
def test_the_overlap_with_the_train_split_is_proved():
    dataset = small.made(with_images=False)
    dataset_jobs.work(dataset=dataset)
    val = dataset.splits.get(name="val")
    assert val.seen_digest
    verdict = verdict_of(dataset)
    assert sum(row.count for row in verdict.proved if row.unit == "values of seen_text") == 16
    assert "which was not verified along" in verdict_of(dataset, names=["val"]).open[-2].what
    path = files.local_path(f"{FOLDER}/{val.index_digest}/{val.seen_digest}/seen_00.npy")
    assert path is not None
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    with changed_file(path, bytes(content)):
        found = verdict_of(dataset)
        assert checks_of(found) == {"hashes", "facets"}
        [facet] = [finding for finding in found.findings if finding.check == "facets"]
        assert (facet.split, facet.question) == ("val", val.questions - 1)


@pytest.mark.slow
def test_derived_splits_are_proved_against_their_recipe():
    dataset = small.made(with_images=False)
    train = dataset.splits.get(name="train")
    question_sets.create(train, name="some", recipe=Recipe(parent="train", sample=6, seed=3))
    dataset_jobs.work(dataset=dataset)
    some = dataset.splits.get(name="some")
    verdict = verdict_of(dataset)
    assert verdict.findings == []
    assert sum(row.count for row in verdict.proved if (row.check, row.unit) == ("recipe", "questions")) == 6
    with rolled_back():
        _update(some, {"recipe": Recipe(parent="train", sample=6, seed=4).to_json()})
        assert checks_of(verdict_of(dataset, names=["some"])) == {"recipe"}
    with rolled_back():
        _update(some, {"fingerprint": "0" * 64})
        assert checks_of(verdict_of(dataset, names=["some"])) == {"hashes"}
    folder = files.local_path(f"{FOLDER}/{some.index_digest}")
    assert folder is not None
    for file, check in (("positions.npy", "recipe"), ("facet_01.npy", "facets"), ("word_postings.npy", "words")):
        content = bytearray((folder / file).read_bytes())
        content[-4 if file != "facet_01.npy" else -1] ^= 1
        with changed_file(folder / file, bytes(content)):
            assert {check, "hashes"} <= checks_of(verdict_of(dataset, names=["some"])), file


def test_a_world_without_checks_of_its_own_gets_the_general_checks(made: Dataset):
    verdict = verdict_of(made)
    assert verdict.findings == []
    assert {"facets", "words", "hashes", "rows", "vocabulary"} <= {row.check for row in verdict.proved}
    assert any(row.what == "scenes of a world that proves none" for row in verdict.open)


def test_the_verdict_of_an_import_lists_what_cannot_be_proved():
    dataset = small.made(with_images=False)
    train = dataset.splits.get(name="train")
    _update(train, {"kind": Split.Kind.IMPORTED})
    Scene.objects.filter(split=train, position=2).update(view=None)
    last = train.scene_set.get(position=3)
    _update(last, {"data": None, "view": None})
    last.question_set.update(program=None, answer=None)
    seal_again(train)
    verdict = verdict_of(dataset, names=["train"])
    assert verdict.findings == []
    said = {row.what: row.count for row in verdict.open if row.split == "train"}
    assert said["questions without a program"] == said["questions without an answer"] == 4
    assert said["items without a scene"] == 1
    assert said["families, wording and balance of questions that we did not ask"] == 12


# The command


def test_the_command_prints_what_was_proved():
    small.made(with_images=False)
    out, err = StringIO(), StringIO()
    call_command("verify", "shapes", "--workers", "1", stdout=out, stderr=err)
    lines = out.getvalue().splitlines()
    assert lines[0] == f"shapes: 3 splits, 32 questions, CLEVR, engine {ENGINE_VERSION}"
    assert "  programs, executed again, give the stored answers: 32 questions" in lines
    assert "Nothing wrong was found." in lines
    out = StringIO()
    call_command("verify", "shapes", "--workers", "1", "--json", "--split", "val", stdout=out)
    document = json.loads(out.getvalue())
    assert (document["what"], document["ok"], document["findings"]) == ("shapes", True, [])
    assert {row["split"] for row in document["proved"]} == {"", "val"}


def test_the_command_prints_findings_and_fails():
    dataset = small.made(with_images=False)
    row = first_question(dataset.splits.get(name="train"), answer_kind="yes-no")
    other = "no" if row.answer == "yes" else "yes"
    _update(row, {"answer": other})
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("verify", "shapes", "--workers", "1", "--json", stdout=out)
    assert caught.value.returncode == 1
    found = [Finding(**one) for one in json.loads(out.getvalue())["findings"]]
    assert (
        Finding(
            "train",
            "programs",
            f"answer {row.answer}, which the program gives",
            other,
            row.scene.position,
            row.position,
        )
        in found
    )
    out = StringIO()
    with pytest.raises(CommandError, match="Expected nothing wrong with shapes, got"):
        call_command("verify", "shapes", "--workers", "1", stdout=out)
    assert f"train, scene {row.scene.position}, question {row.position}, programs: expected answer" in out.getvalue()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_several_processes_give_the_same_verdict_as_one():
    dataset = small.made(with_images=False)
    _update(first_question(dataset.splits.get(name="train")), {"text": "Is it so?"})
    alone, together = (verify(dataset, scope_of(dataset), workers=workers).to_json() for workers in (1, 2))
    assert alone == together and not alone["ok"]


def test_bad_input_is_refused():
    dataset = small.begun(with_images=False)
    with pytest.raises(BadSpec, match="Expected a dataset with a complete split, got one that is making"):
        scope_of(dataset)
    dataset_jobs.work(dataset=dataset)
    for command, words in (
        (["verify"], "Expected a dataset or --folder, got none"),
        (["verify", "nothing"], "Expected a dataset (shapes), got 'nothing'"),
        (["verify", "shapes", "--split", "exam"], "Expected a complete split (train, val, test), got 'exam'"),
        (["verify", "shapes", "--rerender", "some"], "expected a number of pictures, got 'some'"),
        (["verify", "shapes", "--workers", "0"], "expected a number of processes, 1 to 64, got '0'"),
    ):
        with pytest.raises(CommandError) as caught:
            call_command(*command)
        assert words in str(caught.value)


def test_findings_above_the_limit_are_counted():
    verdict = Verdict()
    verdict.find_all(Finding("train", "texts", "this", "that", 0, number) for number in range(1234))
    assert (len(verdict.findings), verdict.left_out, verdict.holds) == (1000, 234, False)
