"""Published counting questions on the site: imported with or without pictures, browsed, split, scored and exported."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from PIL import Image

from generation.engine import formats
from generation.engine.errors import BadPredictions
from generation.engine.predictions import read_predictions
from generation.engine.reading.dataset_reader import find_reader
from generation.exchange import exports
from generation.making import dataset_jobs, imports, ingestion
from generation.models import Dataset, Import, ImportedSplit, Question, Scene, Split
from generation.reports.count_metrics import terms_of
from generation.reports.scoring import expected_of, truth_of
from generation.splits import count_shifts, sealing
from generation.splits.references import reference_for_site
from generation.storage.split_index import SplitIndex
from generation.verification.dataset import scope_of, verify
from tests.generation.complete_datasets import finish
from tests.leaderboards import sent
from tests.proof import sample
from tests.worlds.counting import published
from webapp.leaderboards.models import Method
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("reads_here")]
WITH_PICTURES = {"coco", "lmms-eval", "trl", "verl", "vlmevalkit"}
FORMATS = ("coco-grounding", "coco-instances", "howmany-qa", "tallyqa")


def files_of(format_: str, folder: Path) -> Path:
    """Write small files of a format and return their folder."""
    match format_:
        case "tallyqa":
            return published.tallyqa(folder, train=120, test=80)
        case "howmany-qa":
            return published.howmany(folder)
        case "coco-grounding":
            published.write(folder / "coco-ground.json", published.grounding_records(60))
        case _:
            published.write(folder / "instances_val2014.json", published.instances(40))
    return folder


def begin_import(format_: str, *paths: Path, slug: str = "theirs", **wanted: Any) -> Dataset:
    found = find_reader(format_).find(list(paths))
    return imports.begin(found, imports.ImportRequest(slug=slug, format=format_, visibility="public", **wanted))


def import_all(format_: str, *paths: Path, slug: str = "theirs", **wanted: Any) -> Dataset:
    """Import a dataset completely, and return it."""
    return finish(begin_import(format_, *paths, slug=slug, **wanted))


def test_the_command_compares_the_import_with_the_published_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = published.tallyqa(tmp_path)
    dataset = import_all("tallyqa", folder)
    call_command("import", "tallyqa", str(folder), "--name", dataset.slug, "--images", "none", "--resume")
    said = capsys.readouterr().err
    assert "train: expected 249,318 questions as published, got 1,200" in said
    assert "test: expected 38,589 questions as published, got 800" in said
    assert [(split.name, split.questions) for split in Dataset.objects.get().splits.order_by("ordinal")] == [
        ("train", 1_200),
        ("test", 800),
    ]


def test_counts_of_answers_and_pictures_are_compared_too(tmp_path: Path) -> None:
    records = published.grounding_records(60)
    dataset = import_all("coco-grounding", published.write(tmp_path / "g.json", records))
    zeros = sum(record["answer"] == 0 for record in records)
    assert list(imports.compare_with_published(dataset))[:3] == [
        "grounding: expected 3,311 questions as published, got 60",
        "grounding: expected 2,139 scenes as published, got 20",
        f"grounding: expected 734 questions with the answer 0 as published, got {zeros}",
    ]


def test_a_published_val_file_is_compared_alone_and_with_train(tmp_path: Path) -> None:
    for number, name in enumerate(("train", "val", "test")):
        published.write(tmp_path / f"{name}.json", published.tally_records(10, seed=number, first_id=10 * number))
    assert list(imports.compare_with_published(import_all("tallyqa", tmp_path))) == [
        "train + val: expected 249,318 questions as published, got 20",
        "train: expected 224,391 questions as published, got 10",
        "val: expected 24,927 questions as published, got 10",
        "test: expected 38,589 questions as published, got 10",
    ]


def test_a_split_that_was_not_imported_is_not_compared(tmp_path: Path) -> None:
    path = published.write(tmp_path / "val.json", published.tally_records(10))
    dataset = import_all("tallyqa", path)
    assert list(imports.compare_with_published(dataset)) == ["val: expected 24,927 questions as published, got 10"]


@pytest.mark.parametrize("format_", sample(FORMATS, gate=2))
def test_without_pictures_every_page_exists(format_: str, tmp_path: Path) -> None:
    dataset = import_all(format_, files_of(format_, tmp_path))
    client = Client()
    assert client.get(dataset.get_absolute_url()).status_code == 200
    for split in dataset.splits.all():
        assert client.get(split.get_absolute_url()).status_code == 200
        for row in split.question_set.select_related("scene")[:6]:
            page = client.get(row.get_absolute_url())
            assert page.status_code == 200
            assert row.text in page.text.replace("&#x27;", "'")
            assert "picture" in page.text
        known = {name for name, facet in SplitIndex.open(split).facets.items() if (facet.codes != facet.none).any()}
        assert {"type", "answer", "parity", "class", "source", "first_words"} <= known
        assert sealing.fingerprint_of(split) == split.fingerprint
    verdict = verify(dataset, scope_of(dataset, rerender=0))
    assert not verdict.findings, verdict.findings


@pytest.mark.parametrize("format_", sample(FORMATS, gate=1))
def test_an_import_is_exported_in_every_format_that_needs_no_pictures(format_: str, tmp_path: Path) -> None:
    dataset = import_all(format_, files_of(format_, tmp_path / "files"))
    world, stored = dataset.get_world(), exports.StoredDataset(dataset, images=False)
    for name in set(formats.names(world)) - WITH_PICTURES:
        own = formats.find(name, world)
        exports.write(stored, tmp_path / name, format_=own, options=formats.check_options(own, {}))
        assert any(path.is_file() for path in (tmp_path / name).rglob("*")), name


def test_pictures_that_are_there_are_linked_and_the_others_counted_as_missing(tmp_path: Path) -> None:
    published.write(tmp_path / "train.json", published.tally_records(30))
    names = sorted({record["image"] for record in published.tally_records(30)})
    for name in names[:4]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40, 30)).save(tmp_path / name)
    dataset = import_all("tallyqa", tmp_path, images="linked")
    report = ImportedSplit.objects.get().report_json
    assert (report["pictures"], report["missing"]) == (4, len(names) - 4)
    there = Scene.objects.filter(split__dataset=dataset).exclude(linked="")
    assert sorted(there.values_list("linked", "width", "height")) == [(name, 40, 30) for name in names[:4]]
    assert Client().get(dataset.get_absolute_url()).status_code == 200


@pytest.mark.parametrize("count", sample([0, 3, 7], gate=1))
def test_a_stopped_import_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(ingestion, "SCENES", 2)
    path = published.write(tmp_path / "train.json", published.tally_records(30))
    expected = import_all("tallyqa", path, slug="expected")
    dataset = begin_import("tallyqa", path)
    add, left = ingestion._Intake._add, iter(range(count))

    def add_or_stop(self: Any, read: Any) -> None:
        if next(left, None) is None:
            monkeypatch.setattr(ingestion._Intake, "_add", add)
            raise KeyboardInterrupt
        add(self, read)

    monkeypatch.setattr(ingestion._Intake, "_add", add_or_stop)
    with pytest.raises(KeyboardInterrupt):
        dataset_jobs.work(dataset=dataset)
    assert Scene.objects.filter(split__dataset=dataset).count() == max(count - 1, 0) // 2 * 2
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert (dataset.state, dataset.fingerprint) == ("complete", expected.fingerprint)


def test_a_fault_ends_the_import_and_nothing_is_kept(tmp_path: Path) -> None:
    records = published.tally_records(400)
    records[399]["answer"] = 99
    published.write(tmp_path / "train.json", records)
    dataset = begin_import("tallyqa", tmp_path)
    dataset_jobs.work(dataset=dataset)
    assert Import.objects.get().message == ("train.json, [399], answer: Expected a whole number from 0 to 15, got 99.")
    assert not Dataset.objects.exists() and not Question.objects.exists()


def test_classes_that_coco_lacks_become_values_of_the_facet(tmp_path: Path) -> None:
    records = [published.grounding_record(0, "marble", [[0, 0, 5, 5]], image=1)]
    dataset = import_all("coco-grounding", published.write(tmp_path / "g.json", records))
    index = SplitIndex.open(dataset.splits.get())
    facet = index.facets["class"]
    assert [facet.values[code] for code in facet.codes] == ["marble"]
    assert index.boxes is not None and index.boxes.boxes.tolist() == [[0, 0, 5, 5]]


def test_an_odd_even_shift_of_2000_questions_keeps_the_rounded_numbers(tmp_path: Path) -> None:
    """As published: all questions of test have `issimple`, and no question of train has it."""
    published.write(tmp_path / "train.json", published.tally_records(1_200, known=0.0))
    published.write(tmp_path / "val.json", published.tally_records(300, seed=2, first_id=1_200, known=0.0))
    published.write(tmp_path / "test.json", published.tally_records(800, seed=1, first_id=1_500, known=1.0))
    dataset = import_all("tallyqa", tmp_path)
    call_command("derive", dataset.slug, "--mcd", "odd-even:90")
    before, after = (groups(dataset.splits.get(name=name)) for name in ("test", "test-odd-even-90"))
    assert {kind for _, kind in before} == {"simple", "complex"}
    assert after == {
        (answer, kind): number if int(answer) % 2 == 0 else number // 10 or min(10, number)
        for (answer, kind), number in before.items()
    }
    for part in ("train", "val"):
        found = (groups(dataset.splits.get(name=name)) for name in (part, f"{part}-odd-even-90"))
        before, after = (answers_of(one) for one in found)
        assert after == {
            answer: number if int(answer) % 2 else number // 10 or min(10, number) for answer, number in before.items()
        }
    page = Client().get(f"/datasets/{dataset.slug}/count-shifts/odd-even-90/").text
    assert f"python manage.py derive {dataset.slug} --mcd odd-even:90 --parity-by type --seed 0" in page
    for count in ("13,707", "1,525", "2,328"):  # the paper's counts of rare answers
        assert f'<td class="num">{count}</td>' in page
    assert "SCN</th>" in page and "48.22" in page


def test_the_type_makes_groups_only_if_it_is_known_of_all_questions(tmp_path: Path) -> None:
    records = published.tally_records(200, known=1.0)
    published.write(tmp_path / "test.json", published.tally_records(200, seed=1, first_id=200, known=1.0))
    for known, grouped_by in ((records, "type"), ([{**records[0], "issimple": None}, *records[1:]], "")):
        (tmp_path / "train.json").unlink(missing_ok=True)
        published.write(tmp_path / "train.json", [{**one, "data_source": "imported_vqa"} for one in known])
        dataset = import_all("tallyqa", tmp_path, slug=f"by-{grouped_by or 'answer'}")
        sets = list(count_shifts.sets_of(dataset, count_shifts.CountShift("odd", 90, grouped_by="type")))
        rules = [one.recipe.parity for one in sets]
        assert [rule.grouped_by for rule in rules if rule is not None] == [grouped_by, grouped_by, "type"]


def answers_of(counts: Counter[tuple[str, str]]) -> Counter[str]:
    """Return how many questions have each answer, whatever their type."""
    found: Counter[str] = Counter()
    for (answer, _), number in counts.items():
        found[answer] += number
    return found


def groups(split: Split) -> Counter[tuple[str, str]]:
    """Return how many questions of a split have each answer and type."""
    index = SplitIndex.open(split)
    answer, kind = (index.facets[name] for name in ("answer", "type"))
    pairs = zip(answer.codes.tolist(), kind.codes.tolist(), strict=True)
    return Counter((answer.values[one], kind.values[other]) for one, other in pairs)


def test_predictions_are_scored_without_pictures(tmp_path: Path) -> None:
    dataset = import_all("tallyqa", files_of("tallyqa", tmp_path))
    split = dataset.splits.get(name="test")
    method = Method.objects.create(name="Counts", owner=User.objects.create_user("m", "m@example.org", "x"))
    row = sent.submitted(method, split, sent.truth_of(split))
    assert row.is_scored, row.message
    [score] = row.scores.filter(split=split)
    assert score.right == score.n == split.questions


def test_errors_are_compared_with_all_answers_of_train_for_a_type_that_train_lacks(tmp_path: Path) -> None:
    published.write(tmp_path / "train.json", published.tally_records(300, known=0.0))
    published.write(tmp_path / "test.json", published.tally_records(100, seed=1, first_id=300, known=1.0))
    split = Split.objects.for_browse().get(dataset=import_all("tallyqa", tmp_path), name="test")
    truth = truth_of(SplitIndex.open(split))
    zeros = np.zeros(len(truth), np.int32)  # the most frequent answer of train, and of its complex questions
    terms = terms_of(split, zeros, reference=reference_for_site(split))["biased_errors"]
    assert (terms.figure(), terms.count()) == (1.0, int((truth != 0).sum()))


def test_a_predicted_box_outside_of_a_picture_is_refused_although_the_picture_is_not_there(tmp_path: Path) -> None:
    path = published.write(tmp_path / "g.json", published.grounding_records(1))
    split = import_all("coco-grounding", path).splits.get()
    line = json.dumps({"question_id": 0, "answer": 1, "boxes": [[0, 0, published.WIDTH + 60, 5]]})
    with pytest.raises(BadPredictions, match="640"):
        read_predictions(io.BytesIO(line.encode()), expected_of(split))


def test_predictions_name_questions_by_their_published_ids(tmp_path: Path) -> None:
    split = import_all("tallyqa", files_of("tallyqa", tmp_path)).splits.get(name="test")
    rows = list(split.question_set.order_by("?").values_list("source_id", "answer", "position"))
    lines = "\n".join(json.dumps({"question_id": int(name), "answer": answer}) for name, answer, _ in rows)
    read = read_predictions(io.BytesIO(lines.encode()), expected_of(split))
    assert (read.codes == SplitIndex.open(split).answers).all()
