"""Datasets of microworlds on the site: generated, verified, exported and scored. Withheld data stays withheld."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from PIL import Image

from generation.engine.worlds.shapeworld.formats.original_serialization import caption_model, polish, reverse_polish
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.vocabulary import ShapeVocabulary
from generation.making import dataset_jobs
from generation.models import Dataset, Question
from tests.generation.complete_datasets import finish
from tests.worlds.shapeworld import original_loader, original_meaning
from tests.worlds.site import OF_TRAINING

pytestmark = pytest.mark.django_db
SECRET = "0f" * 16
VALUES = {
    *("world", "world_model", "agreement", "caption", "caption_length", "caption_model"),
    *("caption_pn", "caption_pn_length", "caption_rpn", "caption_rpn_length"),
}
SMALL = {"train": {"scenes": 4}, "validation": {"scenes": 3}, "test": {"scenes": 3, "withheld": True}}


def create_dataset(preset: str, **changes: Any) -> Dataset:
    """Return a complete dataset of a preset with a withheld test split."""
    spec = {"world": "shapeworld", "base": f"shapeworld-{preset}", "splits": SMALL, **changes}
    return finish(dataset_jobs.start(spec, slug="worlds", visibility="public", secrets={"test": SECRET}))


def original_meaning_of(instance: dict[str, Any], row: Question) -> int:
    """Return the agreement that the original program finds for the caption model and the world model of an instance."""
    scene = json.loads(row.scene.data or "{}")
    overlaps, grazes = (
        [(one, other) for one, others in enumerate(scene[name]) for other in others] for name in ("covers", "grazes")
    )
    world = original_meaning.World(instance["world_model"], overlaps=overlaps, grazes=grazes)
    return world.agreement(instance["caption_model"])


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_an_export_has_the_layout_of_the_original_and_no_withheld_data(tmp_path: Path) -> None:
    create_dataset("logical")
    call_command("verify", "worlds", "--workers", "1")
    call_command("export", "worlds", "--format", "shapeworld", "--output", str(tmp_path / "out"))
    specification = json.loads((tmp_path / "out" / "agreement-worlds.json").read_text())
    train, test = (tmp_path / "out" / "agreement" / "worlds" / name / "shard0" for name in ("train", "test"))
    rows = list(Question.objects.filter(split__name="train").order_by("position"))
    assert lines(train / "agreement.txt") == ["1.0" if row.answer == "yes" else "0.0" for row in rows]
    texts = [line.split() for line in lines(train / "caption.txt")]
    assert [" ".join(text).replace(" ,", ",").replace(" .", ".") for text in texts] == [
        row.text[0].lower() + row.text[1:] for row in rows
    ]
    assert lines(train / "caption_length.txt") == [str(len(text)) for text in texts]
    assert specification["vectors"]["caption"] >= max(map(len, texts))
    assert {word for text in texts for word in text} <= set(specification["vocabularies"]["language"])
    for notation in ("caption_pn", "caption_rpn"):
        symbols = [line.split() for line in lines(train / f"{notation}.txt")]
        assert lines(train / f"{notation}_length.txt") == [str(len(one)) for one in symbols]
        assert {one for line in symbols for one in line} <= set(specification["vocabularies"]["rpn"])
    scenes = [json.loads(row.scene.data or "{}")["entities"] for row in rows]
    models = json.loads((train / "world_model.json").read_text())
    assert [[one["shape"]["name"] for one in model["entities"]] for model in models] == [
        [one["shape"] for one in scene] for scene in scenes
    ]
    assert len(json.loads((train / "caption_model.json").read_text())) == len(rows)
    assert Image.open(train / "world-3.png").size == (64, 64)
    assert sorted(path.name for path in test.iterdir()) == [
        "caption.txt",
        "caption_length.txt",
        "data.html",
        "world-0.png",
        "world-1.png",
        "world-2.png",
    ]
    assert "<td>yes" not in (test / "data.html").read_text()
    assert "<td>no" not in (test / "data.html").read_text()


def test_the_readme_of_an_export_describes_the_notations_of_its_captions(tmp_path: Path) -> None:
    create_dataset("existential")
    call_command("export", "worlds", "--format", "shapeworld", "--output", str(tmp_path / "out"))
    readme = " ".join((tmp_path / "out" / "README.md").read_text().split())
    model = caption_model(Parser(ShapeVocabulary()).parse("There is a red square."))
    assert f"after it in Polish notation, as in `{' '.join(polish(model))}`" in readme
    assert f"before it in reverse Polish notation, as in `{' '.join(reverse_polish(model))}`" in readme


def test_several_captions_of_a_world_are_alternatives(tmp_path: Path) -> None:
    create_dataset("existential", captions={"per_scene": 3})
    call_command("export", "worlds", "--format", "shapeworld", "--output", str(tmp_path / "out"))
    train = tmp_path / "out" / "agreement" / "worlds" / "train" / "shard0"
    assert lines(train / "alternatives.txt") == ["3"] * 4
    assert [len(line.split(";")) for line in lines(train / "agreement.txt")] == [3] * 4
    assert [len(block.splitlines()) for block in (train / "caption.txt").read_text().split("\n\n")[:-1]] == [3] * 4
    values = json.loads((tmp_path / "out" / "agreement-worlds.json").read_text())["values"]
    assert (values["caption"], values["alternatives"]) == ("alternatives(language)", "int")
    loaded = original_loader.load(tmp_path / "out", "agreement", "worlds")
    found = loaded.instance(loaded.shard("train"), 3)
    assert (found["alternatives"], len(found["caption"]), len(found["caption_model"])) == (3, 3, 3)
    assert set(found["agreement"]) <= {0.0, 1.0}


def test_the_original_loader_reads_an_export(tmp_path: Path) -> None:
    """It reads all fields of the specification and all values of all instances."""
    create_dataset("logical")
    call_command("export", "worlds", "--format", "shapeworld", "--output", str(tmp_path / "out"))
    loaded = original_loader.load(tmp_path / "out", "agreement", "worlds")
    assert set(loaded.shards) == {"train", "validation", "test"}
    assert loaded.rest == {
        "relative_directory": "agreement/worlds",
        "worlds_per_instance": 1,
        "captions_per_instance": 1,
    }
    for split in ("train", "validation"):
        values = loaded.shard(split)
        assert set(values) == set(loaded.values) == VALUES
        rows = list(Question.objects.filter(split__name=split).order_by("position"))
        for number, row in enumerate(rows):
            one = loaded.instance(values, number)
            words = list(loaded.vocabularies["language"])
            said = [words[code] for code in one["caption"][: one["caption_length"]]]
            assert " ".join(said) == f"{row.text[0].lower()}{row.text[1:]}".replace(",", " ,").replace(".", " .")
            assert set(one["caption"][one["caption_length"] :]) <= {0}
            assert one["agreement"] == float(row.answer == "yes")
            assert one["world"].shape == (64, 64, 3)
            assert one["world"].max() > 0
            assert len(one["world_model"]["entities"]) == len(json.loads(row.scene.data or "{}")["entities"])
            assert original_meaning_of(one, row) in (0, 1 if row.answer == "yes" else -1)
            for kind in ("caption_pn", "caption_rpn"):
                assert sorted(one[kind][: one[f"{kind}_length"]]) == sorted(filter(None, one[kind]))


def test_the_original_loader_reads_a_withheld_split_by_its_own_specification(tmp_path: Path) -> None:
    create_dataset("spatial")
    call_command("export", "worlds", "--format", "shapeworld", "--output", str(tmp_path / "out"))
    alone = original_loader.load(tmp_path / "out", "agreement", "worlds", variant="test")
    assert set(alone.shard(None)) == {"world", "caption", "caption_length"}
    assert len(alone.shard(None)["caption"]) == 3


def test_a_split_with_another_name_does_not_affect_the_usual_ones(tmp_path: Path) -> None:
    create_dataset("oneshape", splits={**SMALL, "validation": None, "hard": {"scenes": 3}})
    call_command("export", "worlds", "--format", "shapeworld", "--output", str(tmp_path / "out"))
    loaded = original_loader.load(tmp_path / "out", "agreement", "worlds")
    assert set(loaded.shards) == {"train", "test"}
    assert len(loaded.shard("train")["caption"]) == 4
    hard = original_loader.load(tmp_path / "out", "agreement", "worlds", variant="hard")
    assert len(hard.shard(None)["agreement"]) == 3


def test_the_original_loader_reads_an_export_without_pictures(tmp_path: Path) -> None:
    create_dataset("oneshape")
    call_command("export", "worlds", "--format", "shapeworld", "--no-images", "--output", str(tmp_path / "out"))
    values = original_loader.load(tmp_path / "out", "agreement", "worlds").shard("train")
    assert set(values) == VALUES - {"world"}


@pytest.mark.full
@pytest.mark.parametrize("name", ["coco", "huggingface", "jsonl", "lmms-eval", "trl", "verl", "vlmevalkit"])
def test_general_formats_export_microworlds(name: str, tmp_path: Path) -> None:
    create_dataset("mixer")
    splits = ("train", "validation") if name in OF_TRAINING else ("train", "validation", "test")
    chosen = [part for split in splits for part in ("--split", split)]
    call_command("export", "worlds", "--format", name, *chosen, "--output", str(tmp_path / "out"))
    assert any((tmp_path / "out").iterdir())


def test_predictions_may_be_yes_and_no_or_1_and_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_dataset("spatial")
    rows = Question.objects.filter(split__name="train").order_by("position")
    for spoken in ({"yes": "yes", "no": "no"}, {"yes": "1", "no": "0"}):
        said = "".join(f"{spoken[str(row.answer)]}\n" for row in rows)
        (tmp_path / "said.txt").write_text(said)
        capsys.readouterr()
        call_command("score", str(tmp_path / "said.txt"), "--split", "worlds/train", "--json")
        assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0
