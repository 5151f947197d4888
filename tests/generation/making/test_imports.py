"""Imports store published files as rows completely or not at all, also after interruptions and errors."""

import gzip
import hashlib
import json
import tarfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from generation.engine.errors import BadRecord, BadSpec
from generation.engine.reading.dataset_reader import find_reader
from generation.making import dataset_jobs, import_sandbox, imports, ingestion, process_pool
from generation.making.chunk_writer import question_row
from generation.management import console
from generation.models import Chunk, Dataset, Import, ImportedSplit, Job, Question, Quota, Scene, Split
from generation.splits import sealing
from generation.storage import files, items
from generation.storage.split_index import SplitIndex
from tests.generation.complete_datasets import finish
from tests.generation.conftest import MANAGE, Child, Measured
from tests.proof import sample
from tests.shared_data import shared_path
from tests.worlds.clevr.formats import releases
from tests.worlds.clevr.formats.releases import image_name, questions_of, release, scenes_of, write

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_here")]


def begin_import(*paths: Path, slug: str = "theirs", **wanted: Any) -> Dataset:
    found = find_reader("clevr").find(list(paths))
    return imports.begin(found, imports.ImportRequest(slug=slug, format="clevr", **wanted))


def import_all(*paths: Path, slug: str = "theirs", **wanted: Any) -> Dataset:
    """Import a dataset completely, and return it."""
    return finish(begin_import(*paths, slug=slug, **wanted))


def report_of(dataset: Dataset, name: str) -> dict[str, Any]:
    return ImportedSplit.objects.get(split__dataset=dataset, split__name=name).report_json


def is_nothing_left() -> bool:
    kept = (Dataset, Split, Chunk, Scene, Question, Job, ImportedSplit)
    return not any(model._default_manager.exists() for model in kept)


def test_a_release_becomes_a_dataset(tmp_path: Path) -> None:
    dataset = import_all(release(tmp_path / "CLEVR_v1.0"), images="linked")
    train, val, test = dataset.splits.order_by("ordinal")
    assert (train.kind, train.scenes, train.questions) == ("imported", 3, 3 * releases.EACH)
    assert (val.reference, test.reference) == (train, train)
    stored = Question.objects.filter(split=val).order_by("position")
    records = questions_of("val")["questions"]
    assert [row.text for row in stored] == [record["question"] for record in records]
    assert [json.loads(row.program or "") for row in stored] == [record["program"] for record in records]
    assert [row.family for row in stored] == [record["question_family_index"] for record in records]
    assert not any(row.source_id for row in stored)
    assert report_of(dataset, "val")["faults"] == 0
    assert report_of(dataset, "val")["licence"] == releases.INFO["license"]


def test_an_import_is_private_and_without_licence_unless_requested(tmp_path: Path) -> None:
    root = release(tmp_path / "r", ("val",))
    plain = import_all(root, images="linked")
    assert (plain.licence, plain.visibility, plain.images_visible) == ("", "private", False)
    with_options = import_all(root, slug="told", licence="CC BY 4.0", visibility="public", images_visible=True)
    assert (with_options.licence, with_options.visibility, with_options.images_visible) == ("CC BY 4.0", "public", True)


def test_a_test_split_has_no_answers_and_no_facet_that_needs_them(tmp_path: Path) -> None:
    dataset = import_all(release(tmp_path / "r", ("test",)))
    split = dataset.splits.get()
    index = SplitIndex.open(split)
    assert (index.answers == 255).all()
    known = {name for name, facet in index.facets.items() if (facet.codes != facet.none).any()}
    assert known == {"words"}


def test_stored_rows_have_the_fingerprint_of_the_import(tmp_path: Path) -> None:
    dataset = import_all(release(tmp_path / "r", ("train", "val")))
    for split in dataset.splits.all():
        assert sealing.fingerprint_of(split) == split.fingerprint


def test_imported_rows_equal_those_of_other_writers(tmp_path: Path) -> None:
    dataset = import_all(release(tmp_path / "r", ("val", "test")))
    for row in Question.objects.filter(split__dataset=dataset).select_related("scene", "split"):
        plain = question_row(items.engine_question(row), scene=row.scene, position=row.position)
        fields = [field.attname for field in Question._meta.concrete_fields if field.name != "id"]
        assert [getattr(row, name) for name in fields] == [getattr(plain, name) for name in fields]


@pytest.mark.parametrize("images", ["linked", "none"])
def test_imported_scenes_equal_those_that_django_writes(tmp_path: Path, images: str) -> None:
    dataset = import_all(release(tmp_path / "r", ("val", "test")), images=images)
    stored = Scene.objects.filter(split__dataset=dataset).select_related("split", "chunk").order_by("split", "position")
    assert any(row.linked for row in stored) == (images == "linked")
    for row in stored:
        known = ("split", "chunk", "position", "data", "view", "source_number", "source_image")
        picture = ("linked", "width", "height") if images == "linked" else ()
        plain = Scene(**{name: getattr(row, name) for name in (*known, *picture)})
        fields = [field.attname for field in Scene._meta.concrete_fields if field.name != "id"]
        assert [getattr(row, name) for name in fields] == [getattr(plain, name) for name in fields]
        plain.full_clean(exclude=["split", "chunk"], validate_unique=False, validate_constraints=False)
    for chunk in Chunk.objects.filter(split__dataset=dataset):
        assert [row.position for row in stored if row.chunk == chunk] == list(
            range(chunk.first_scene, chunk.first_scene + chunk.scenes)
        )


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Give a function that makes the next import stop after that many items."""

    def stop(count: int) -> None:
        add, done = ingestion._Intake._add, iter(range(count))

        def add_or_stop(self: Any, read: Any) -> None:
            if next(done, None) is None:
                monkeypatch.setattr(ingestion._Intake, "_add", add)
                raise KeyboardInterrupt
            add(self, read)

        monkeypatch.setattr(ingestion._Intake, "_add", add_or_stop)

    return stop


@pytest.mark.parametrize("count", sample([0, 1, 4, 6], gate=2))
def test_a_stopped_import_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: Callable[[int], None], count: int
) -> None:
    monkeypatch.setattr(ingestion, "SCENES", 2)
    root = release(tmp_path / "r", ("val",), scenes=6)
    expected = import_all(root, slug="expected")
    dataset = begin_import(root)
    stop_after(count)
    if count < 6:
        with pytest.raises(KeyboardInterrupt):
            dataset_jobs.work(dataset=dataset)
        assert Scene.objects.filter(split__dataset=dataset).count() == count // 2 * 2
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert (dataset.state, dataset.fingerprint) == ("complete", expected.fingerprint)
    assert report_of(dataset, "val") == report_of(expected, "val")


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("in_this_process")
def test_a_killed_import_is_continued_and_stores_nothing_twice(tmp_path: Path, child: Child) -> None:
    many = 1200
    scenes, questions = scenes_of("val"), questions_of("val")
    asked = [[one for one in questions["questions"] if one["image_index"] == number] for number in range(3)]
    names = [{"image_index": number, "image_filename": image_name("val", number)} for number in range(many)]
    scenes["scenes"] = [{**scenes["scenes"][number % 3], **name} for number, name in enumerate(names)]
    every = [{**one, **name} for number, name in enumerate(names) for one in asked[number % 3]]
    questions["questions"] = [{**one, "question_index": number} for number, one in enumerate(every)]
    root = tmp_path / "r"
    write(root / "CLEVR_val_scenes.json", scenes)
    write(root / "CLEVR_val_questions.json", questions)
    expected = import_all(root, slug="expected")
    dataset = begin_import(root, images="linked")
    process = child(MANAGE, "work", "--dataset", dataset.slug)
    while not Chunk.objects.filter(split__dataset=dataset).exists():
        assert process.poll() is None
        time.sleep(0.005)
    process.kill()
    process.wait()
    dataset.refresh_from_db()
    assert (dataset.state, dataset.jobs.get(kind="import").state) == ("making", "running")
    call_command("import", "clevr", str(root), name="theirs", resume=True)
    dataset.refresh_from_db()
    assert (dataset.state, dataset.fingerprint) == ("complete", expected.fingerprint)
    assert Question.objects.filter(split__dataset=dataset).count() == many * releases.EACH


def test_a_broken_record_leaves_only_an_error_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion, "SCENES", 2)
    root = release(tmp_path / "r", ("train", "val"), scenes=6)
    data = questions_of("val", 6)
    data["questions"][-1]["answer"] = "orange"
    write(root / "questions" / "CLEVR_val_questions.json", data)
    dataset = begin_import(root)
    dataset_jobs.work(dataset=dataset)
    assert is_nothing_left()
    message = Import.objects.get().message
    assert message.startswith("CLEVR_val_questions.json, questions[23], answer: Expected yes, no, a number")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("in_this_process")
def test_the_command_names_what_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = release(tmp_path / "r", ("val",))
    path = write(root / "package.json", {"name": "clevr", "dependencies": {}})
    call_command("import", "clevr", str(root), name="theirs")
    assert f"left out: {path}\n" in capsys.readouterr().err
    assert Dataset.objects.get().state == "complete"


def test_packed_files_are_imported_by_the_child_process(tmp_path: Path) -> None:
    root = release(tmp_path / "r", ("val",))
    plain = import_all(root, slug="plain").fingerprint
    for path in root.rglob("*.json"):
        path.with_suffix(".json.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    packed = import_all(root, slug="packed")
    assert packed.fingerprint == plain
    hashes = ImportedSplit.objects.get(split__dataset=packed).report_json["sha256"]
    assert hashes == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in root.rglob("*.json.gz")}


def test_answers_that_disagree_with_their_programs_are_listed(tmp_path: Path) -> None:
    root = release(tmp_path / "r", ("val",))
    data = questions_of("val")
    for record in data["questions"][2:4]:
        record["answer"] = "7"
    write(root / "questions" / "CLEVR_val_questions.json", data)
    report = report_of(import_all(root), "val")
    assert (report["executed"], report["faults"]) == (12, 2)
    assert [(fault["question"], fault["got"]) for fault in report["first_faults"]] == [(2, "7"), (3, "7")]
    lines = list(imports.describe_import(Dataset.objects.get()))
    assert any("2 disagree with their programs" in line for line in lines)
    assert any("question 2: published 7" in line for line in lines)


def test_a_program_without_an_answer_is_kept_and_not_diagnosed(tmp_path: Path) -> None:
    root = release(tmp_path / "r", ("val",))
    data = questions_of("val")
    steps = [("scene", []), ("unique", [0]), ("query_size", [1])]
    data["questions"][0]["program"] = [{"function": f, "inputs": i, "value_inputs": []} for f, i in steps]
    data["questions"][0]["answer"] = "small"
    write(root / "questions" / "CLEVR_val_questions.json", data)
    index = SplitIndex.open(import_all(root).splits.get())
    assert [index.facets[name].codes[0] == index.facets[name].none for name in ("effective", "absolute")] == [True] * 2
    assert index.facets["length"].values[index.facets["length"].codes[0]] == "3"


def test_values_outside_a_facet_are_stored_as_none(tmp_path: Path) -> None:
    root = release(tmp_path / "r", ("val",))
    data = questions_of("val")
    data["questions"][0]["question"] = "Is " + "very " * 200 + "much?"
    write(root / "questions" / "CLEVR_val_questions.json", data)
    words = SplitIndex.open(import_all(root).splits.get()).facets["words"]
    assert words.codes[0] == words.none


def test_missing_pictures_and_unusual_sizes_are_counted(tmp_path: Path) -> None:
    root = release(tmp_path / "r", ("val",), scenes=6)
    pictures = root / "images" / "val"
    (pictures / releases.image_name("val", 1)).unlink()
    (pictures / releases.image_name("val", 2)).write_text("no picture")
    releases.draw(pictures, "val", range(3, 4), size=(20, 10))
    dataset = import_all(root, images="linked")
    report = report_of(dataset, "val")
    assert (report["pictures"], report["missing"], report["odd_sizes"]) == (4, 2, 1)
    assert report["first_missing"][0] == "CLEVR_val_000001.png: not there"
    assert report["first_odd_sizes"] == ["CLEVR_val_000003.png: 20 × 10"]
    scenes = Scene.objects.order_by("position")
    assert [(scene.linked, scene.width) for scene in scenes][:4] == [
        ("CLEVR_val_000000.png", 48), ("", 0), ("", 0), ("CLEVR_val_000003.png", 20),
    ]  # fmt: skip


def test_copied_pictures_stay_when_the_originals_are_deleted(tmp_path: Path) -> None:
    root = release(tmp_path / "r", ("val",))
    path = root / "images" / "val" / releases.image_name("val", 2)
    content = path.read_bytes()
    dataset = import_all(root, images="copied")
    path.unlink()
    scene = Scene.objects.get(position=2)
    assert (scene.linked, dataset.images_folder) == ("", "")
    assert files.get(scene.image) == content


def test_an_import_without_images_stores_no_pictures(tmp_path: Path) -> None:
    dataset = import_all(release(tmp_path / "r", ("val",)), images="none")
    assert not dataset.with_images
    assert not any(scene.has_picture for scene in Scene.objects.all())


def test_scenes_with_more_objects_than_usual_are_imported(tmp_path: Path) -> None:
    data = scenes_of("val")
    thing = data["scenes"][0]["objects"][0]
    data["scenes"][0]["objects"] = [thing] * 14
    data["scenes"][0]["relationships"] = {name: [[]] * 14 for name in ("left", "right", "front", "behind")}
    dataset = import_all(write(tmp_path / "s.json", data))
    assert dataset.spec_data["scene"]["objects_max"] == 14
    facet = SplitIndex.open(dataset.splits.get()).facets["objects"]
    assert facet.values[-1] == "14"


def test_an_import_whose_files_changed_is_refused(tmp_path: Path) -> None:
    root = release(tmp_path / "r", ("val",))
    dataset = begin_import(root)
    write(root / "questions" / "CLEVR_val_questions.json", questions_of("val", 2))
    dataset_jobs.work(dataset=dataset)
    assert is_nothing_left()
    assert "Expected the file as it was when the import began" in Import.objects.get().message


@pytest.mark.parametrize("slug", ["new", "Not A Slug"])
def test_bad_names_are_refused(tmp_path: Path, slug: str) -> None:
    with pytest.raises(BadSpec):
        begin_import(release(tmp_path / "r", ("val",)), slug=slug)
    assert is_nothing_left()


def test_an_import_above_the_quota_is_refused(tmp_path: Path, django_user_model: Any) -> None:
    owner = django_user_model.objects.create_user("eve", "eve@example.com", "x")
    Quota.objects.create(user=owner, scenes=2)
    dataset_jobs.work(dataset=begin_import(release(tmp_path / "r", ("val",)), owner=owner))
    assert is_nothing_left()
    assert "Expected room for these scenes" in Import.objects.get().message


def test_only_files_of_the_storage_or_this_machine_are_opened() -> None:
    with pytest.raises(BadRecord, match="Expected a file"):
        import_sandbox.sort("clevr", ["imports/none/gone.json"])


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the command run its jobs in this process."""

    class Here:
        def __init__(self, dataset: Dataset, *, size: int) -> None:
            self.dataset = dataset

        def watch(self, *, show: Callable[[], None]) -> None:
            dataset_jobs.work(dataset=self.dataset)
            process_pool.state_of(self.dataset)
            show()

        def stop(self) -> None:
            """Say nothing."""

    monkeypatch.setattr(console, "Pool", Here)


@pytest.mark.usefixtures("in_this_process")
class TestCommand:
    def test_it_prints_the_content_hash_and_says_what_was_found(self, tmp_path: Path, capsys: Any) -> None:
        call_command("import", "clevr", str(release(tmp_path / "r", ("val",))), name="theirs")
        out, err = capsys.readouterr()
        assert out.strip() == Dataset.objects.get().fingerprint
        assert "val: 3 scenes" in err and "12 questions" in err

    def test_a_broken_file_is_one_line_and_exit_2(self, tmp_path: Path) -> None:
        root = release(tmp_path / "r", ("val",))
        data = scenes_of("val")
        data["scenes"][1]["objects"][0]["color"] = "mauve"
        write(root / "scenes" / "CLEVR_val_scenes.json", data)
        with pytest.raises(
            CommandError, match=r"scenes\[1\], objects\[0\].color: .* got 'mauve'.*Nothing was kept"
        ) as it:
            call_command("import", "clevr", str(root), name="theirs")
        assert it.value.returncode == 2
        assert is_nothing_left()

    def test_a_taken_name_and_a_missing_path_are_exit_2(self, tmp_path: Path) -> None:
        root = str(release(tmp_path / "r", ("val",)))
        call_command("import", "clevr", root, name="theirs")
        for paths, name, message in ((root, "theirs", "--resume"), (f"{root}/gone", "other", "got nothing")):
            with pytest.raises(CommandError, match=message) as it:
                call_command("import", "clevr", paths, name=name)
            assert it.value.returncode == 2

    def test_resuming_what_is_complete_prints_its_hash_again(self, tmp_path: Path, capsys: Any) -> None:
        root = str(release(tmp_path / "r", ("val",)))
        for options in ({}, {"resume": True}):
            call_command("import", "clevr", root, name="theirs", **options)
        assert len(set(capsys.readouterr().out.split())) == 1

    def test_resuming_with_other_files_is_refused(self, tmp_path: Path) -> None:
        call_command("import", "clevr", str(release(tmp_path / "r", ("val",))), name="theirs")
        with pytest.raises(CommandError, match="Expected the files that the import was begun with"):
            call_command("import", "clevr", str(release(tmp_path / "s", ("val",))), name="theirs", resume=True)
        with pytest.raises(CommandError, match="as it was begun"):
            call_command("import", "clevr", str(tmp_path / "r"), name="theirs", resume=True, images="none")


def test_the_real_scenes_are_imported() -> None:
    dataset = import_all(shared_path("data", "clevr-v1", "CLEVR_train_scenes.json"))
    split = dataset.splits.get()
    assert (split.scenes, split.questions, report_of(dataset, "train")["scenes"]) == (300, 0, 300)


def test_the_real_picture_is_linked() -> None:
    dataset = import_all(
        shared_path("data", "clevr-v1", "CLEVR_val_000013.json"),
        shared_path("data", "clevr-v1", "images"),
        images="linked",
    )
    scene = Scene.objects.get()
    assert (scene.linked, scene.width, scene.height) == ("CLEVR_val_000013.png", 480, 320)
    assert dataset.images_folder.endswith("clevr-v1/images")


def tar_of(member: tarfile.TarInfo, *, zeros: int = 0) -> bytes:
    """Return a packed archive of a member's header and that many megabytes of zeros."""
    packed = zlib.compressobj(wbits=31)
    parts = [
        packed.compress(member.tobuf(tarfile.GNU_FORMAT)),
        *(packed.compress(bytes(1 << 20)) for _ in range(zeros)),
    ]
    return b"".join([*parts, packed.flush()])


def long_name(size: int) -> tarfile.TarInfo:
    """Return the header of a member whose content is the name of the next member."""
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, size
    return member


def link_out(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return member


STORY = "tasks/en/qa1_single-supporting-fact_train.txt"
HOSTILE: dict[str, tuple[str, str, Callable[[], bytes], str]] = {
    "brackets": ("clevr", "q.json", lambda: b"[" * 200_000, "Expected at most 64 lists and objects"),
    "deep": ("clevr", "q.json", lambda: b'{"a":' * 50_000, "Expected at most 64 lists and objects"),
    "digits": ("clevr", "q.json", lambda: b'{"info": ' + b"9" * 100_000, "Expected numbers of at most 100 characters"),
    "a long name in a tar": (
        "babi", "t.tar.gz", lambda: tar_of(long_name(700 << 20), zeros=700), "560 MB of memory",
    ),
    "a link in a tar": ("babi", "t.tar.gz", lambda: tar_of(link_out(STORY)), "Expected"),
    "a part of a gz": ("clevr", "q.json.gz", lambda: gzip.compress(b'{"questions": []}')[:-9], "a whole file of gzip"),
    "a bomb": ("clevr", "q.json.gz", lambda: gzip.compress(b" " * (64 << 20), 1), "got an empty file"),
    "a gz in a gz": ("babi", "t.tar.gz", lambda: gzip.compress(tar_of(link_out(STORY))), "a packed file, t.tar.gz"),
}  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("case", sample(HOSTILE, gate=2))
def test_a_hostile_file_is_refused_on_the_command_line(tmp_path: Path, measured: Measured, case: str) -> None:
    format_, name, content, message = HOSTILE[case]
    path = tmp_path / name
    path.write_bytes(content())
    assert path.stat().st_size < 1_000_000
    with pytest.raises((CommandError, BadRecord), match=message):
        call_command("import", format_, str(path), name="theirs")
    assert all(megabytes < 500 and seconds < 10 for megabytes, seconds in measured())
    assert is_nothing_left()


@pytest.mark.usefixtures("in_this_process")
def test_a_file_of_another_set_is_named_on_the_command_line(tmp_path: Path) -> None:
    write(tmp_path / "train.json", {"1": {"imageId": "2", "question": "Is it?"}})
    for format_, paths in (("clevr", tmp_path), ("tallyqa", tmp_path / "train.json")):
        with pytest.raises((CommandError, BadRecord), match=r"train\.json: Expected .*, got questions of GQA"):
            call_command("import", format_, str(paths), name="theirs")
        assert is_nothing_left()
