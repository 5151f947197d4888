"""The charts in an export: they show only what the reader may see, and link only to a site with an address."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from generation.charts import drawing
from generation.charts.drawing import DrawingOrder
from generation.exchange.exports import StoredDataset, Viewer
from generation.models import Dataset
from tests.generation import small
from tests.generation.complete_datasets import shared

pytestmark = pytest.mark.django_db

EVERYTHING = {"types.svg", "answers.svg", "words.svg", "programs.svg", "objects.svg"}


def draw_fakes(orders: Sequence[DrawingOrder]) -> dict[str, bytes | None]:
    """Return a fake drawing for each order, which contains the order's site and spec."""
    return {order.digest: f"<svg>{order.site} {order.spec}</svg>".encode() for order in orders}


dataset_key = shared(lambda: small.made("figured", visibility="private"))


@pytest.fixture
def dataset_with_charts(
    dataset_key: int, db: None, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> Dataset:
    """Give a private dataset that is large enough for charts; the drawings are fake."""
    settings.VAR_DIR = tmp_path / "var"
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 4)
    monkeypatch.setattr(drawing, "_drawn", draw_fakes)
    return Dataset.objects.get(pk=dataset_key)


@pytest.mark.parametrize("withheld", [False, True])
def test_charts_show_no_answers_of_a_withheld_split(dataset_with_charts: Dataset, withheld: bool) -> None:
    found = StoredDataset(dataset_with_charts, viewer=Viewer(withheld=withheld)).figures()
    assert set(found) >= EVERYTHING
    for name in ("answers.svg", "objects.svg"):
        assert b"train, n" in found[name]
        assert b"test, n" not in found[name]
    assert b"test, n" in found["types.svg"]


def test_charts_show_only_exported_splits(dataset_with_charts: Dataset) -> None:
    found = StoredDataset(dataset_with_charts, splits=["val"]).figures()
    assert b"val, n" in found["types.svg"]
    assert b"train, n" not in found["types.svg"]


@pytest.mark.parametrize("address", ["", "https://questions.example"])
def test_bars_have_links_only_if_the_site_has_an_address(
    dataset_with_charts: Dataset, settings: Any, address: str
) -> None:
    settings.PUBLIC_URL = address
    found = StoredDataset(dataset_with_charts).figures()["types.svg"].decode()
    assert found.startswith(f"<svg>{address} ")
    assert ("'href'" in found) == bool(address)


def test_charts_that_cannot_be_drawn_are_left_out(
    dataset_with_charts: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "_drawn", lambda orders: dict.fromkeys((one.digest for one in orders), None))
    assert StoredDataset(dataset_with_charts).figures() == {}


def test_the_card_of_an_export_shows_the_charts(dataset_with_charts: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    call_command("export", "figured", "--format", "huggingface", "--output", str(folder))
    text = (folder / "README.md").read_text()
    for name in EVERYTHING:
        assert f"](figures/{name})" in text
        assert (folder / "figures" / name).read_bytes().startswith(b"<svg>")
