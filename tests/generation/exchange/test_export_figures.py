"""The charts that an export has beside its card: what everybody may know, leading nowhere that isn't there."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.plugin import DjangoDbBlocker

from generation.charts import drawing
from generation.charts.drawing import DrawingOrder
from generation.exchange.exports import StoredDataset, Viewer
from generation.models import Dataset
from tests.generation import small

pytestmark = pytest.mark.django_db

EVERYTHING = {"types.svg", "answers.svg", "words.svg", "programs.svg", "objects.svg"}


def drawn(orders: Sequence[DrawingOrder]) -> dict[str, bytes | None]:
    """Return, for each drawing, what stands in it."""
    return {order.digest: f"<svg>{order.site} {order.spec}</svg>".encode() for order in orders}


@pytest.fixture(scope="module")
def kept(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    with django_db_blocker.unblock():
        key = small.made("figured", visibility="private").pk
    yield key
    with django_db_blocker.unblock():
        Dataset.objects.filter(pk=key).delete()


@pytest.fixture
def enough(kept: int, db: None, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Dataset:
    """Give a private dataset, large enough for charts, which are drawn by nobody in particular."""
    settings.VAR_DIR = tmp_path / "var"
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 4)
    monkeypatch.setattr(drawing, "_drawn", drawn)
    return Dataset.objects.get(pk=kept)


@pytest.mark.parametrize("withheld", [False, True])
def test_charts_tell_nothing_of_a_split_whose_answers_are_withheld(enough: Dataset, withheld: bool) -> None:
    found = StoredDataset(enough, viewer=Viewer(withheld=withheld)).figures()
    assert set(found) >= EVERYTHING
    for name in ("answers.svg", "objects.svg"):
        assert b"train, n" in found[name]
        assert b"test, n" not in found[name]
    assert b"test, n" in found["types.svg"]


def test_charts_are_of_the_splits_that_are_exported(enough: Dataset) -> None:
    found = StoredDataset(enough, splits=["val"]).figures()
    assert b"val, n" in found["types.svg"]
    assert b"train, n" not in found["types.svg"]


@pytest.mark.parametrize("address", ["", "https://questions.example"])
def test_bars_lead_to_a_site_that_has_an_address(enough: Dataset, settings: Any, address: str) -> None:
    settings.PUBLIC_URL = address
    found = StoredDataset(enough).figures()["types.svg"].decode()
    assert found.startswith(f"<svg>{address} ")
    assert ("'href'" in found) == bool(address)


def test_what_cannot_be_drawn_is_left_out(enough: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_drawn", lambda orders: dict.fromkeys((one.digest for one in orders), None))
    assert StoredDataset(enough).figures() == {}


def test_the_card_of_an_export_shows_them(enough: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    call_command("export", "figured", "--format", "huggingface", "--output", str(folder))
    text = (folder / "README.md").read_text()
    for name in EVERYTHING:
        assert f"](figures/{name})" in text
        assert (folder / "figures" / name).read_bytes().startswith(b"<svg>")
