"""Stories on the site are generated, verified, exported as in the release and imported again, some of them withheld."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from generation.engine import formats
from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import SplitSummary, find_reader
from generation.exchange import exports
from generation.making import dataset_jobs, imports
from generation.models import Dataset, Import, ImportedSplit, Question, Scene
from generation.reports import scoring
from tests.generation.complete_datasets import finish
from tests.proof import sample

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_here")]
SMALL = {"train": {"questions": 13}, "val": {"questions": 4}, "test": {"questions": 6}}
HELD = {"train": {"questions": 5}, "test": {"questions": 5, "withheld": True}}
SECRET = "0f" * 16
ROOT = "tasks_1-20_v1-2"


def create_dataset(splits: dict[str, Any], **changes: Any) -> Dataset:
    """Return a complete dataset of all twenty tasks."""
    secrets = {name: SECRET for name, split in splits.items() if split.get("withheld")}
    spec = {"world": "babi", "title": "Tales", "splits": splits, **changes}
    return finish(dataset_jobs.start(spec, slug="tales", visibility="public", secrets=secrets))


def export_dataset(dataset: Dataset, folder: Path, **options: Any) -> Path:
    format_ = formats.find("babi", dataset.get_world())
    stored = exports.StoredDataset(dataset, images=False)
    exports.write(stored, folder, format_=format_, options=formats.check_options(format_, options))
    return folder


def import_dataset(*paths: Path) -> Dataset:
    found = find_reader("babi").find(list(paths))
    dataset = imports.begin(found, imports.ImportRequest(slug="again", format="babi"))
    dataset_jobs.work(dataset=dataset)
    assert not Import.objects.get(slug="again").message
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset


def hashes(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.splits.values_list("name", "fingerprint"))


def spellings(dataset: Dataset) -> list[Any]:
    asked = Question.objects.filter(split__dataset=dataset).order_by("split__name", "position")
    return list(asked.values_list("spelling", "scope"))


@pytest.mark.parametrize("language", sample(["hindi", "english", "shuffled"], gate=1))
def test_an_export_is_verified_and_its_import_has_the_same_fingerprint(tmp_path: Path, language: str) -> None:
    ours = create_dataset(SMALL, told={"language": language})
    folder = export_dataset(ours, tmp_path / "out", nosf=True)
    call_command("verify", "--folder", str(folder), "--format", "babi", "--workers", "1")
    theirs = import_dataset(folder)
    assert (hashes(theirs), theirs.fingerprint) == (hashes(ours), ours.fingerprint)
    assert spellings(theirs) == spellings(ours)
    assert all(origin.report_json["faults"] == 0 for origin in ImportedSplit.objects.all())
    names = {"english": "en-valid", "shuffled": "shuffled-valid", "hindi": "hn-valid"}
    assert {path.name for path in (folder / ROOT).iterdir()} == {names[language], f"{names[language]}-nosf"}
    call_command("verify", "again", "--workers", "1")


def test_a_new_split_is_added_to_the_spec_of_an_export(tmp_path: Path) -> None:
    ours = create_dataset({"train": {"questions": 3}, "test": {"questions": 3}})
    reader = find_reader("babi")
    found = reader.find([export_dataset(ours, tmp_path / "out") / ROOT / "en"])
    assert [split.name for split in found.splits] == ["train", "test"] and found.spec
    told = reader.spec(found, {"train": SplitSummary(9), "test": SplitSummary(9), "hard": SplitSummary(4)})
    assert {name: split["scenes"] for name, split in told["splits"].items()} == {"train": 9, "test": 9, "hard": 4}
    assert told["told"] == ours.spec_data["told"]


def test_an_export_has_the_folders_and_lines_of_the_release(tmp_path: Path) -> None:
    folder = (
        export_dataset(
            create_dataset({"train": {"questions": 5}, "test": {"questions": 5}}), tmp_path / "out", nosf=True
        )
        / ROOT
    )
    for number, (name, space) in {1: ("single-supporting-fact", True), 19: ("path-finding", False)}.items():
        for split in ("train", "test"):
            lines = (folder / "en" / f"qa{number}_{name}_{split}.txt").read_text().splitlines()
            bare = (folder / "en-nosf" / f"qa{number}_{name}_{split}.txt").read_text().splitlines()
            asked = [line.split("\t") for line in lines if "\t" in line]
            assert len(asked) == 5 and {len(fields) for fields in asked} == {3}
            assert {fields[0].endswith("? ") for fields in asked} == {space}
            assert bare == [line.rpartition("\t")[0] if "\t" in line else line for line in lines]
    assert len(list((folder / "en").iterdir())) == 40


def test_readers_of_other_libraries_read_every_file(tmp_path: Path) -> None:
    dataset = create_dataset(SMALL)
    folder = export_dataset(dataset, tmp_path / "out", nosf=True) / ROOT
    for path in sorted((folder / "en-valid").iterdir()):
        stories = as_torchtext(path.read_text())
        assert stories == as_hugging_face(path.read_text())
        assert [answer for story in stories for _, answer, _ in story[1]] == as_parlai(
            (folder / "en-valid-nosf" / path.name).read_text()
        )
    asked = Question.objects.filter(split__dataset=dataset, split__name="val", family=8).order_by("position")
    stories = as_torchtext((folder / "en-valid" / "qa8_valid.txt").read_text())
    assert [answer for story in stories for _, answer, _ in story[1]] == [one.spelling or one.answer for one in asked]


Told = list[tuple[dict[int, str], list[tuple[str, str, list[int]]]]]


def as_torchtext(text: str) -> Told:
    """Return stories as torchtext reads them: a statement ends in a full stop, a question has exactly three fields."""
    stories: Told = []
    for line in text.splitlines():
        number, rest = line.split(" ", 1)
        if int(number) == 1:
            stories.append(({}, []))
        if rest.endswith("."):
            stories[-1][0][int(number)] = rest
        else:
            question, answer, facts = rest.split("\t")
            stories[-1][1].append((question.strip(), answer, [int(fact) for fact in facts.split()]))
    assert all(fact in lines for lines, asked in stories for _, _, facts in asked for fact in facts)
    return stories


def as_hugging_face(text: str) -> Told:
    """Return stories as Hugging Face reads them: a line with a tab is a question, and its last field has the facts."""
    stories: Told = []
    for line in text.splitlines():
        number = int(line.split(" ")[0])
        if number == 1:
            stories.append(({}, []))
        fields = line[len(str(number)) + 1 :].split("\t")
        if len(fields) > 1:
            stories[-1][1].append((fields[0].strip(), fields[1], [int(fact) for fact in fields[-1].split(" ")]))
        else:
            stories[-1][0][number] = fields[0]
    return stories


def as_parlai(text: str) -> list[str]:
    """Return answers as ParlAI reads them: the text after the only tab of a line."""
    return [line.split("\t")[1] for line in text.splitlines() if line.count("\t") == 1]


def test_a_withheld_split_is_exported_and_imported_without_answers(tmp_path: Path) -> None:
    ours = create_dataset(HELD)
    folder = export_dataset(ours, tmp_path / "out")
    told = [path.read_text() for path in folder.rglob("*test*") if path.suffix != ".gz"]
    assert len(told) == 21
    asked = [line.split("\t") for text in told[:-1] for line in text.splitlines() if "\t" in line]
    assert {tuple(fields[1:]) for fields in asked} == {("", "")}
    secret = "\n".join(told)
    assert not any(word in secret for word in ("program", "events", "supports", "answer"))
    theirs = import_dataset(folder)
    assert hashes(theirs)["train"] == hashes(ours)["train"]
    rows = [
        list(Question.objects.filter(split__dataset=one, split__name="test").order_by("position").values_list("text"))
        for one in (ours, theirs)
    ]
    assert rows[0] == rows[1]
    assert not Question.objects.filter(split__dataset=theirs, split__name="test").exclude(answer=None).exists()


def test_a_wrong_supporting_fact_is_reported_by_the_import(tmp_path: Path) -> None:
    folder = export_dataset(create_dataset({"train": {"questions": 5}}), tmp_path / "out")
    path = next(folder.rglob("qa1_*train.txt"))
    lines = path.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if "\t" in line)
    question, answer, fact = lines[at].split("\t")
    lines[at] = f"{question}\t{answer}\t{'1' if fact != '1' else '2'}"
    path.write_text("\n".join(lines) + "\n")
    import_dataset(folder)
    report = ImportedSplit.objects.get(split__name="train").report_json
    assert report["faults"] == 1 and report["first_faults"][0]["kind"] == "supports"
    with pytest.raises(CommandError):
        call_command("verify", "--folder", str(folder), "--format", "babi", "--workers", "1")


RELEASED = {
    "qa1_single-supporting-fact_train.txt": (
        "1 Sandra went back to the office.\n2 John moved to the garden.\n3 Where is Sandra? \toffice\t1\n"
        "4 Sandra went to the hallway.\n5 Where is Sandra? \thallway\t4\n1 Mary travelled to the kitchen.\n"
        "2 Where is Mary? \tkitchen\t1\n"
    ),
    "qa8_lists-sets_train.txt": (
        "1 John took the milk there.\n2 John grabbed the apple.\n3 What is John carrying? \tmilk,apple\t1 2\n"
    ),
    "qa1_single-supporting-fact_test.txt": "1 Mary went to the park.\n2 Where is Mary? \tpark\t1\n",
}


def write_released_files(folder: Path, *, name: str = "en", files: dict[str, str] = RELEASED) -> Path:
    """Write files in the format of the release, and return their folder within a tree like that of the archive."""
    (folder / ROOT / name).mkdir(parents=True)
    for file, text in files.items():
        (folder / ROOT / name / file).write_text(text)
    return folder / ROOT / name


def test_the_release_is_imported_with_its_facts_and_verified(tmp_path: Path) -> None:
    theirs = import_dataset(write_released_files(tmp_path))
    assert theirs.spec_data["tasks"] == [1, 8] and theirs.spec_data["answers"] == ["park"]
    rows = Question.objects.filter(split__dataset=theirs, split__name="train").order_by("position")
    assert [(row.answer, row.spelling, row.scope) for row in rows] == [
        ("office", None, 2),
        ("hallway", None, 3),
        ("kitchen", None, 1),
        ("apple,milk", "milk,apple", 2),
    ]
    scene = Scene.objects.filter(split__name="train", split__dataset=theirs).order_by("position")[0]
    told = json.loads(scene.data or "{}")
    assert told["supports"] == [[0], [2]]
    assert told["lines"][0] == {"events": [["go", "Sandra", "office"]], "text": "Sandra went back to the office."}
    call_command("verify", "again", "--workers", "1")


def test_a_wrong_answer_and_a_wrong_fact_of_the_release_are_found_by_verify(tmp_path: Path, capsys: Any) -> None:
    text = "1 Mary went to the office.\n2 Mary moved to the garden.\n3 Where is Mary? \toffice\t1\n"
    import_dataset(write_released_files(tmp_path, files={"qa1_single-supporting-fact_train.txt": text}))
    with pytest.raises(CommandError):
        call_command("verify", "again", "--workers", "1")
    said = "".join(capsys.readouterr())
    assert "answer garden" in said and "lines 2" in said


FAULTS = {
    "qa5_three-arg-relations_train.txt": (
        "1 Fred gave the milk to Jeff.\n2 Jeff handed the milk to Fred.\n3 Fred got the apple there.\n"
        "4 Fred passed the apple to Jeff.\n5 What did Fred give to Jeff? \tmilk\t1\n"
        "6 What did Fred give to Jeff? \tapple\t4\n"
    ),
    "qa16_basic-induction_train.txt": (
        "1 Greg is a swan.\n2 Greg is gray.\n3 Lily is a swan.\n4 Lily is white.\n5 Brian is a swan.\n"
        "6 What color is Brian?\twhite\t5 3 4\n"
    ),
}


def test_known_faults_of_the_release_are_counted_by_kind(tmp_path: Path, capsys: Any) -> None:
    import_dataset(write_released_files(tmp_path, files=FAULTS))
    call_command("verify", "again", "--workers", "1")
    said = capsys.readouterr().out
    assert "Known faults of the published data:" in said
    assert "train: task 5: answers that overlook a later gift (1)" in said
    assert "train: task 16: colours of animals whose kind has several (1)" in said


SIZES = (
    "1 The box fits inside the chest.\n2 The chest fits inside the suitcase.\n3 The container is bigger than the box.\n"
    "4 The suitcase is bigger than the container.\n5 The suitcase is bigger than the box.\n"
)


@pytest.mark.parametrize(("facts", "right"), [("1 2", True), ("3 4", True), ("4 3", True), ("5", True), ("1 4", False)])
def test_any_chain_of_facts_that_orders_two_things_is_accepted(tmp_path: Path, facts: str, right: bool) -> None:
    text = f"{SIZES}6 Does the box fit in the suitcase?\tyes\t{facts}\n"
    import_dataset(write_released_files(tmp_path, files={"qa18_size-reasoning_train.txt": text}))
    if right:
        call_command("verify", "again", "--workers", "1")
    else:
        with pytest.raises(CommandError):
            call_command("verify", "again", "--workers", "1")


def test_an_archive_is_read_like_its_folder(tmp_path: Path) -> None:
    folder = write_released_files(tmp_path)
    write_released_files(
        tmp_path, name="shuffled", files={"qa1_single-supporting-fact_train.txt": "1 Gyjv zzz.\n2 Q?\tpmv\t1\n"}
    )
    path = tmp_path / "release.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(tmp_path / ROOT, arcname=ROOT)
    with pytest.raises(BadRecord, match="Expected one folder of the release, got en, shuffled"):
        find_reader("babi").find([path])
    theirs = import_dataset(path / ROOT / "en")
    (tmp_path / "release.tar.gz").unlink()
    own = find_reader("babi").find([folder])
    dataset = imports.begin(own, imports.ImportRequest(slug="plain", format="babi"))
    dataset_jobs.work(dataset=dataset)
    assert hashes(dataset) == hashes(theirs)


def test_unknown_words_are_imported_unchanged(tmp_path: Path, capsys: Any) -> None:
    files = {"qa1_single-supporting-fact_train.txt": "1 Gyjv zzz.\n2 Q? \tpmv\t1\n"}
    theirs = import_dataset(write_released_files(tmp_path, name="shuffled", files=files))
    assert (theirs.spec_data["told"]["language"], theirs.spec_data["answers"]) == ("shuffled", ["pmv"])
    call_command("verify", "again", "--workers", "1")
    assert "language is not read" in capsys.readouterr().out


HAND_MADE = """1 Mary got the milk there.
2 Mary took the apple.
3 What is Mary carrying?\tmilk, apple\t1 2
4 What is Mary carrying? \tApple and milk\t1 2
5 What is Mary carrying?\tmilk,apple\t1 2
"""
ORDERS = ("milk, apple", "apple,milk", "Apple and Milk")


def test_lists_with_blanks_are_normalised_and_right_in_any_order(tmp_path: Path, capsys: Any) -> None:
    folder = write_released_files(tmp_path, files={"qa8_lists-sets_train.txt": HAND_MADE})
    theirs = import_dataset(folder)
    split = theirs.splits.get()
    asked = Question.objects.filter(split=split).order_by("position")
    assert [(one.answer, one.spelling) for one in asked] == [
        ("apple,milk", "milk,apple"), ("apple,milk", None), ("apple,milk", "milk,apple"),
    ]  # fmt: skip
    assert theirs.spec_data["answers"] == []
    changes = "2 answers were normalised: `milk, apple` became `apple,milk`, `Apple and milk` became `apple,milk`"
    assert f"  {changes}" in list(imports.describe_import(theirs))
    rows = [{"question_id": number, "answer": answer} for number, answer in enumerate(ORDERS)]
    sent = io.BytesIO("\n".join(map(json.dumps, rows)).encode())
    assert scoring.score_file(sent, split).strict.accuracy == 1
    written = export_dataset(theirs, tmp_path / "out") / ROOT / "en" / "qa8_lists-sets_train.txt"
    assert [line.split("\t")[1] for line in written.read_text().splitlines()[2:]] == [
        "milk,apple", "apple,milk", "milk,apple",
    ]  # fmt: skip
    call_command("verify", "again", "--workers", "1")
    asked.filter(position=0).update(answer=" apple,milk")  # as older versions stored it
    with pytest.raises(CommandError):
        call_command("verify", "again", "--workers", "1")
    assert "the answer 'apple,milk': import the files again" in "".join(capsys.readouterr())


HOSTILE = {
    "one": ("1 Mary went to the office.\n3 Where is Mary?\toffice\t1\n", "line 2"),
    "Mary went to the office.": ("Mary went to the office.\n", "line 1"),
    "supports": ("1 Mary went to the office.\n2 Where is Mary?\toffice\t2\n", "line 2"),
    "later": ("1 Where is Mary?\toffice\t2\n2 Mary went to the office.\n", "line 1"),
    "fields": ("1 Mary went.\n2 Where?\ta\t1\t2\n", "line 2"),
    "long": (f"1 {'a' * 5000}.\n", "line 1"),
    "endless": ("1 " + "a" * 200_000, "line 1"),
    "first": ("2 Mary went to the office.\n", "line 1"),
    "empty question": ("1 Mary went.\n2  \ta\t1\n", "line 2"),
    "cut": ("1 Mary went to the garden.\n2 Where is Mary? \tg", "line 2: Expected a line break after the last line"),
    "cut after a line": (
        "1 Mary went.\n2 Where? \ta\t1\n1 John went.\n",
        "line 3: Expected questions in the last story, got none",
    ),
    "NUL": ("1 Mary went.\n2 Where\0 is Mary? \ta\t1\n", "line 2: Expected text, got the control character U+0000"),
    "CR alone": ("1 Mary went.\r2 Where? \ta\t1\r" * 300, "line 1: Expected lines that end in LF or CR LF"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_bad_line_is_refused_and_its_file_and_number_are_named(tmp_path: Path, case: str) -> None:
    text, place = HOSTILE[case]
    name = "qa1_single-supporting-fact_train.txt"
    folder = write_released_files(tmp_path, files={})
    (folder / name).write_bytes(text.encode())  # keep the line breaks
    assert f"{name}, {place}" in refusal_message(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "got an empty file"),
        ("\n\n", "got an empty file"),
        ("1 Mary went to the garden.\n2 Where is Mary?  garden 1\n" * 15, "Expected questions, which have tabs"),
    ],
)
def test_a_file_without_questions_is_refused(tmp_path: Path, text: str, message: str) -> None:
    name = "qa1_single-supporting-fact_train.txt"
    assert message in refusal_message(write_released_files(tmp_path, files={name: text}))


def test_lines_that_end_in_cr_lf_are_read(tmp_path: Path) -> None:
    folder = write_released_files(tmp_path, files={})
    for name, text in RELEASED.items():
        (folder / name).write_bytes(text.replace("\n", "\r\n").encode())
    theirs = import_dataset(folder)
    assert Question.objects.filter(split__dataset=theirs).count() == 5


def test_bytes_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    folder = write_released_files(tmp_path)
    (folder / "qa1_single-supporting-fact_test.txt").write_bytes(b"1 Mary went.\n2 \xff\xfe.\n")
    assert "line 2" in refusal_message(folder)


def refusal_message(path: Path) -> str:
    """Return the message with which the files are refused."""
    reader = find_reader("babi")
    found = reader.find([path])
    spec = imports.begin(found, imports.ImportRequest(slug="again", format="babi")).read_spec()
    with pytest.raises(BadRecord) as caught:
        for split in found.splits:
            for _ in reader.read(split, spec=spec, opened=lambda name: Path(name).open("rb")):  # noqa: SIM115
                pass
    return str(caught.value)


def test_an_archive_with_hostile_names_writes_no_files(tmp_path: Path) -> None:
    path, name = tmp_path / "bad.tar", f"../../{ROOT}/en/qa1_single-supporting-fact_train.txt"
    content = RELEASED["qa1_single-supporting-fact_train.txt"].encode()
    with tarfile.open(path, "w") as archive:
        for own in (name, "/etc/passwd"):
            member = tarfile.TarInfo(own)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo(f"{ROOT}/en/qa2_two-supporting-facts_train.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    theirs = import_dataset(path)
    assert theirs.spec_data["tasks"] == [1]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bad.tar"]


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.tar.gz").write_bytes(b"nothing of the kind" * 100)
    with pytest.raises(BadRecord, match=r"bad\.tar\.gz: Expected an archive"):
        find_reader("babi").find([tmp_path / "bad.tar.gz"])
