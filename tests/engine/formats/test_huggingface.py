"""The format `huggingface`: the libraries of Hugging Face and of Croissant read its files as intended."""

import importlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from generation.engine.errors import BadExport
from generation.engine.formats.huggingface import parquet
from generation.engine.formats.huggingface.dataset import FORMAT
from generation.engine.formats.huggingface.parquet import IMAGES, Shards, scene_features, schema_of
from generation.engine.formats.huggingface.rows import FIRST, column_of, facet_columns, plain_names
from generation.engine.items import FacetKind
from tests.engine.formats.sample import PER_ITEM, Dataset, marbles, picture

MINIMAL_RAI = (
    "rai:dataLimitations", "rai:dataBiases", "rai:personalSensitiveInformation", "rai:dataUseCases",
    "rai:dataSocialImpact", "rai:hasSyntheticData", "prov:wasDerivedFrom", "prov:wasGeneratedBy",
)  # fmt: skip


def write(dataset: Dataset, folder: Path, *, embed: bool = False, tick: Callable[[int], None] = lambda _: None) -> Path:
    folder.mkdir(parents=True)
    FORMAT.write(dataset, folder, options={"embed": embed}, tick=tick)
    return folder


def rows_of(folder: Path, configuration: str, split: str) -> list[dict[str, Any]]:
    found = pq.read_table(folder / configuration / split).to_pylist()
    assert isinstance(found, list)
    return found


def front_matter(folder: Path) -> dict[str, Any]:
    _, head, _ = (folder / "README.md").read_text().split("---\n", 2)
    found = yaml.safe_load(head)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(marbles(hides=frozenset({"val"})), tmp_path_factory.mktemp("exports") / "named")


def test_every_question_is_a_row_with_its_text_answer_choices_and_program(folder: Path) -> None:
    [split, _] = marbles().splits
    expected = [(item, number) for item in split.items() for number in range(PER_ITEM)]
    found = rows_of(folder, "questions", "train")
    assert [row["question_id"] for row in found] == list(range(len(expected)))
    for row, (item, number) in zip(found, expected, strict=True):
        question = item.item.questions[number]
        assert (row["question"], row["image"], row["image_index"]) == (question.text, item.image_name, item.position)
        assert question.answer is not None
        assert row["answer"] == question.answer.text
        assert row["answer"] in row["choices"]
        assert row["split"] == "train"
        assert row["prompt"].startswith(question.text)
        assert json.loads(row["program"])[-1] == {"function": "count", "inputs": [1], "value_inputs": []}


def test_columns_come_in_the_documented_order(folder: Path) -> None:
    names = pq.read_schema(next((folder / "questions/train").iterdir())).names
    assert names == [*FIRST, "color", "has", "facet_split", "prompt"]


def test_facets_have_named_values(folder: Path) -> None:
    first, second, *_ = rows_of(folder, "questions", "train")
    assert (first["color"], second["color"]) == ("black", "white")
    assert set(first["has"]) <= {"black", "white"}
    assert (first["facet_split"], second["facet_split"]) == (None, "white")


def test_a_withheld_split_has_no_answers_programs_scenes_or_revealing_facets(folder: Path) -> None:
    for row in rows_of(folder, "questions", "val"):
        assert (row["answer"], row["program"], row["has"]) == (None, None, None)
        assert row["choices"]
        assert row["color"]
    for row in rows_of(folder, "scenes", "val"):
        assert (row["scene"], row["view"]) == (None, None)
        assert all(question["answer"] is None and question["program"] is None for question in row["questions"])
    assert "train (n = 14): always answering" in (folder / "README.md").read_text()
    biases = json.loads((folder / "croissant.json").read_text())["rai:dataBiases"]
    assert [one.partition(" ")[0] for one in biases if "always answering" in one] == ["train"]


def test_a_scene_is_a_row_with_its_picture_and_its_questions(folder: Path) -> None:
    for number, row in enumerate(rows_of(folder, "scenes", "train")):
        assert row["image"] == {"bytes": picture(number), "path": f"train_{number:06d}.png"}
        assert [question["question_id"] for question in row["questions"]] == [2 * number, 2 * number + 1]
        assert len(json.loads(row["scene"])["marbles"]) == 9


def test_embedded_pictures_are_also_in_the_rows_of_questions(tmp_path: Path) -> None:
    folder = write(marbles(), tmp_path / "embedded", embed=True)
    for row in rows_of(folder, "questions", "val"):
        assert row["image"]["bytes"] == picture(row["image_index"])
    assert "export with --embed" not in (folder / "eval.yaml").read_text()


def test_the_same_dataset_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = write(marbles(hides=frozenset({"val"})), tmp_path / "again")
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(again) for path in again.rglob("*") if path.is_file())
    for file in files:
        assert (folder / file).read_bytes() == (again / file).read_bytes(), file


def test_tick_counts_each_item_once(tmp_path: Path) -> None:
    ticks: list[int] = []
    write(marbles(), tmp_path / "ticked", tick=ticks.append)
    assert sum(ticks) == 7 + 3


def test_a_cancelled_export_raises_the_cancellation(tmp_path: Path) -> None:
    class Cancelled(Exception):
        pass

    def tick(_: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        write(marbles(), tmp_path / "cancelled", tick=tick)


def test_row_groups_have_at_most_a_hundred_images(tmp_path: Path) -> None:
    folder = write(marbles(scenes=IMAGES + 1, names=("train",)), tmp_path / "many", embed=True)
    for configuration in ("questions", "scenes"):
        for path in (folder / configuration / "train").iterdir():
            meta = pq.ParquetFile(path).metadata
            groups = [meta.row_group(number).num_rows for number in range(meta.num_row_groups)]
            assert max(groups) <= IMAGES
            assert sum(groups) == meta.num_rows


def test_files_stay_below_their_size_limit_and_keep_the_order_of_rows(tmp_path: Path) -> None:
    bound, footer, schema = 30_000, 10_000, schema_of(scene_features({}))
    row = {"scene": None, "questions": [], "split": "train", "view": None}
    with Shards(tmp_path / "shards", schema, rows=2, file_bytes=bound) as shards:
        for number in range(20):
            content = random.Random(number).randbytes(5000)
            shards.add({**row, "image": {"bytes": content, "path": None}, "image_index": number})
    paths = sorted((tmp_path / "shards").iterdir())
    assert [path.name for path in paths] == [f"{n:05d}-of-{len(paths):05d}.parquet" for n in range(len(paths))]
    assert len(paths) > 2
    assert all(path.stat().st_size < bound + footer for path in paths)
    found = [number for path in paths for number in pq.read_table(path)["image_index"].to_pylist()]
    assert found == list(range(20))
    assert [written.path for written in shards.written] == paths


def test_a_picture_of_many_questions_is_stored_once_in_a_file(tmp_path: Path) -> None:
    features = {"image": parquet.IMAGE}
    noise = bytes(range(256)) * 4
    content = b"".join(picture(number) for number in range(100)) + noise
    with Shards(tmp_path / "shards", schema_of(features), rows=IMAGES) as shards:
        for _ in range(50):
            shards.add({"image": {"bytes": content, "path": "a.png"}}, weight=len(content))
    [path] = (tmp_path / "shards").iterdir()
    assert path.stat().st_size < 2 * len(content)


def test_a_split_without_questions_or_scenes_still_has_a_file(tmp_path: Path) -> None:
    with Shards(tmp_path / "none", schema_of(scene_features({})), rows=2):
        pass
    [path] = (tmp_path / "none").iterdir()
    assert pq.read_table(path).num_rows == 0


def test_without_pyarrow_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = importlib.import_module

    def missing(name: str) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(parquet.importlib, "import_module", missing)
    with pytest.raises(BadExport, match="pip install pyarrow"):
        write(marbles(), tmp_path / "none")
    assert list((tmp_path / "none").iterdir()) == []


def test_splits_get_names_that_the_hub_allows() -> None:
    assert plain_names(["val", "val-2", "val_2", "trainA"]) == {
        "val": "val", "val-2": "val_2", "val_2": "val_2_2", "trainA": "trainA",
    }  # fmt: skip


def test_no_facet_takes_the_name_of_another_column() -> None:
    assert column_of("type") == "type"
    assert column_of("program") == "facet_program"
    assert facet_columns(marbles().splits) == {
        "color": FacetKind.CATEGORY, "has": FacetKind.FLAGS, "facet_split": FacetKind.CATEGORY,
    }  # fmt: skip


def test_the_yaml_of_the_card_has_the_fields_of_the_hub(folder: Path) -> None:
    said = front_matter(folder)
    assert said["pretty_name"] == "Marbles | in <rows>"
    assert said["license"] == "cc-by-4.0"
    assert said["task_categories"] == ["visual-question-answering"]
    assert said["size_categories"] == ["n<1K"]
    assert [(one["config_name"], one.get("default")) for one in said["configs"]] == [
        ("questions", True),
        ("scenes", None),
    ]
    for one in said["configs"]:
        for files in one["data_files"]:
            assert list(folder.glob(files["path"])), files


def test_the_card_has_statistics_figures_and_the_texts_of_the_dataset(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    for words in (
        "# Marbles | in &lt;rows>", "How many are of a colour?", "Ada Example, Bob Example", "CC BY 4.0", "1.2",
        "c" * 64, "Example and Example, Marbles, 2026.", "| black | 7 | 3 |", "![Colours](figures/colors.svg)",
        "![Picture 0 of the split train](figures/example.png)", "| `has` | facet: colours that occur |",
    ):  # fmt: skip
        assert words in text, words
    assert (folder / "figures/colors.svg").read_bytes() == b"<svg/>"
    assert (folder / "figures/example.png").read_bytes() == picture(0)


def test_eval_yaml_has_a_task_for_each_split_except_train(tmp_path: Path) -> None:
    folder = write(marbles(names=("train", "val", "val-2")), tmp_path / "three", embed=True)
    said = yaml.safe_load((folder / "eval.yaml").read_text())
    assert said["evaluation_framework"] == "inspect-ai"
    assert [(task["id"], task["split"]) for task in said["tasks"]] == [
        ("marbles-val", "val"),
        ("marbles-val_2", "val_2"),
    ]
    columns = {name for path in (folder / "questions/val").iterdir() for name in pq.read_schema(path).names}
    for task in said["tasks"]:
        assert task["field_spec"] == {"input": "prompt", "input_image": "image", "target": "answer"}
        assert set(task["field_spec"].values()) <= columns
        assert (task["config"], task["solvers"], task["scorers"]) == (
            "questions",
            [{"name": "generate"}],
            [{"name": "exact"}],
        )


def test_without_pictures_rows_have_no_image_and_there_is_no_eval_yaml(tmp_path: Path) -> None:
    folder = write(marbles(images=False), tmp_path / "bare", embed=True)
    assert {row["image"] and row["image"]["bytes"] for row in rows_of(folder, "scenes", "val")} == {None}
    assert {row["image"] and row["image"]["bytes"] for row in rows_of(folder, "questions", "val")} == {None}
    assert not (folder / "eval.yaml").exists()
    text = (folder / "README.md").read_text()
    assert "eval.yaml" not in text
    assert "![Picture" not in text


def test_if_all_splits_are_withheld_there_is_no_eval_yaml(tmp_path: Path) -> None:
    folder = write(marbles(hides=frozenset({"train", "val"})), tmp_path / "hidden")
    assert not (folder / "eval.yaml").exists()


def test_the_croissant_file_has_every_required_field(folder: Path) -> None:
    said = json.loads((folder / "croissant.json").read_text())
    for name in MINIMAL_RAI:
        assert said[name], name
    assert said["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert said["version"] == "1.2.0"
    assert said["datePublished"] == "2026-11-21"
    assert "14 questions" in said["rai:dataCollection"]
    files = {file["@id"] for file in said["distribution"] if file["@type"] == "cr:FileObject"}
    assert files == {path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet")}


def test_an_imported_split_is_described_without_a_seed(tmp_path: Path) -> None:
    folder = write(marbles(imported=frozenset({"train", "val"})), tmp_path / "imported")
    said = json.loads((folder / "croissant.json").read_text())
    assert "seed" not in said["rai:dataCollection"]
    assert said["rai:dataCollection"].startswith("train, val came from published files")
    [source] = said["prov:wasDerivedFrom"]
    assert source["prov:label"].endswith("Example and Example, Marbles, 2026.")
    assert "Not known here" in said["rai:personalSensitiveInformation"][0]
    mixed = json.loads((write(marbles(imported=frozenset({"val"})), tmp_path / "mixed") / "croissant.json").read_text())
    assert [source.get("@id") for source in mixed["prov:wasDerivedFrom"]] == ["spec.json", None]
    assert "seed 0" in mixed["rai:dataCollection"]
    assert "val came from published files" in mixed["rai:dataCollection"]


@pytest.mark.slow
@pytest.mark.parametrize("embed", [False, True])
def test_mlcroissant_reads_the_records_without_errors_or_warnings(tmp_path: Path, embed: bool) -> None:
    import mlcroissant

    folder = write(marbles(hides=frozenset({"val"})), tmp_path / "croissant", embed=embed)
    found = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not found.metadata.ctx.issues.errors
    assert not found.metadata.ctx.issues.warnings
    records = list(found.records("questions"))
    assert len(records) == 20
    assert records[0]["questions/question"] == b"How many marbles are black?"
    image = records[0]["questions/image"]
    assert image.size == (36, 4) if embed else image == b"train_000000.png"
    assert [record["scenes/image"].size for record in found.records("scenes")] == [(36, 4)] * 10


@pytest.mark.slow
@pytest.mark.parametrize("embed", [False, True])
def test_load_dataset_yields_pictures(tmp_path: Path, embed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    import datasets
    from PIL import Image

    folder = write(marbles(hides=frozenset({"val"})), tmp_path / "export", embed=embed)
    cache = str(tmp_path / "cache")
    scenes = datasets.load_dataset(str(folder), "scenes", cache_dir=cache)
    assert {name: len(split) for name, split in scenes.items()} == {"train": 7, "val": 3}
    assert isinstance(scenes["train"].features["image"], datasets.Image)
    assert isinstance(scenes["train"][0]["image"], Image.Image)
    assert len(scenes["train"][0]["questions"]) == PER_ITEM
    questions = datasets.load_dataset(str(folder), "questions", cache_dir=cache)
    first = questions["val"][0]
    assert isinstance(first["image"], Image.Image) if embed else first["image"] == "val_000000.png"
    assert first["answer"] is None
    assert questions["train"].column_names[: len(FIRST)] == list(FIRST)
