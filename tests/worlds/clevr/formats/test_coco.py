"""Boxes and masks of CLEVR's objects equal those of the object-id image."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generation.engine import formats
from generation.engine.errors import BadExport
from generation.engine.worlds.clevr.world import WORLD
from tests.engine.formats.test_rle import read_compressed, slow_mask
from tests.worlds.clevr.formats.sample import Dataset, Split, shapes

FORMAT = formats.find("coco", WORLD)


def write_export(dataset: Dataset, folder: Path, **options: Any) -> Path:
    FORMAT.write(dataset, folder, options=formats.check_options(FORMAT, options), tick=lambda _: None)
    return folder


def annotations(folder: Path, split: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "annotations" / f"instances_{split}.json").read_text())
    return found


@pytest.mark.parametrize("form", ["compressed", "lists"])
def test_masks_and_boxes_equal_those_of_the_object_ids(dataset: Dataset, tmp_path: Path, form: str) -> None:
    folder = write_export(dataset, tmp_path, masks=form)
    for split in dataset.splits[:3]:
        assert isinstance(split, Split)
        content = annotations(folder, split.name)
        seen = set()
        for one in content["annotations"]:
            inside = split.labels(one["image_id"]) == one["object"] + 1
            counts = one["segmentation"]["counts"]
            runs = read_compressed(counts) if form == "compressed" else counts
            assert (slow_mask(runs, (64, 64)) == inside).all()
            rows, columns = np.nonzero(inside)
            assert one["area"] == inside.sum()
            assert one["bbox"] == [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]
            seen.add((one["image_id"], one["object"] + 1))
        there = {(n, label) for n in range(split.scenes) for label in np.unique(split.labels(n)).tolist() if label}
        assert seen == there
        assert [one["id"] for one in content["annotations"]] == list(range(1, len(seen) + 1))


def test_categories_come_from_attributes_and_are_the_same_in_every_split(dataset: Dataset, tmp_path: Path) -> None:
    folder = write_export(dataset, tmp_path, category="shape")
    assert [one["name"] for one in annotations(folder, "val")["categories"]] == ["cube", "cylinder", "sphere"]
    together = write_export(dataset, tmp_path / "together" if not (tmp_path / "together").mkdir() else tmp_path)
    val, train = (annotations(together, name)["categories"] for name in ("val", "train"))
    assert val == train
    assert [one["id"] for one in val] == list(range(1, len(val) + 1))
    by_id = {one["id"]: one["name"] for one in val}
    for one in annotations(together, "train")["annotations"]:
        assert by_id[one["category_id"]] == " ".join(one["attributes"].values())


def test_a_withheld_split_has_only_images(dataset: Dataset, tmp_path: Path) -> None:
    folder = write_export(dataset, tmp_path)
    content = json.loads((folder / "annotations" / "image_info_hidden.json").read_text())
    assert set(content) == {"info", "licenses", "categories", "images"}
    assert not (folder / "annotations" / "instances_hidden.json").exists()
    assert [one["file_name"] for one in content["images"]] == ["hidden_000000.png"]
    assert (folder / "images" / "hidden" / "hidden_000000.png").exists()


def test_images_info_and_licences_have_the_fields_that_tools_need(dataset: Dataset, tmp_path: Path) -> None:
    content = annotations(write_export(dataset, tmp_path), "val")
    assert content["images"][1] == {"id": 1, "file_name": "val_000001.png", "width": 64, "height": 64, "license": 1}
    assert content["info"]["contributor"] == "Ada Example, Bob Example"
    assert content["licenses"] == [{"id": 1, "name": "CC BY 4.0", "url": ""}]


def test_an_unknown_attribute_is_refused_and_named(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(BadExport, match=r"category: Expected an attribute .*shape.*, got"):
        write_export(dataset, tmp_path, category="weight")


def test_an_export_without_object_ids_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadExport, match="object ids"):
        write_export(shapes(splits={"val": {"scenes": 1}}, images=False), tmp_path)
