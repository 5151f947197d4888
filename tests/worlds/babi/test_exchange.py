"""Stories through the site and back: made, verified, exported as released, imported again, and what stays withheld."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from generation import exporting, importing, jobs
from generation.engine import formats
from generation.engine.reading import find_reader
from generation.models import Dataset, ImportedSplit, Question

pytestmark = pytest.mark.django_db
SMALL = {"train": {"questions": 13}, "val": {"questions": 4}, "test": {"questions": 6}}
SECRET = "0f" * 16
HELD = {**SMALL, "test": {"questions": 6, "withheld": True}}


def made(*, splits: dict[str, Any] | None = None, slug: str = "tales", **changes: Any) -> Dataset:
    """Return a complete dataset of all twenty tasks."""
    spec = {"base": "babi", "splits": splits or SMALL, **changes}
    held = {name for name, split in spec["splits"].items() if split and split.get("withheld")}
    dataset = jobs.start({"world": "babi", **spec}, slug=slug, visibility="public", secrets=dict.fromkeys(held, SECRET))
    jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset


def exported(dataset: Dataset, folder: Path, **options: Any) -> Path:
    format_ = formats.find("babi", dataset.get_world())
    stored = exporting.StoredDataset(dataset, images=False)
    exporting.write(stored, folder, format_=format_, options=formats.checked(format_, options))
    return folder


def imported(*paths: Path, slug: str = "again") -> Dataset:
    found = find_reader("babi").find(list(paths))
    dataset = importing.begin(found, importing.Wanted(slug=slug, format="babi"))
    jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset


def hashes(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.splits.values_list("name", "fingerprint"))


@pytest.mark.parametrize("language", ["english", "shuffled", "hindi"])
def test_an_export_is_sound_and_comes_back_with_the_same_hash(tmp_path: Path, language: str) -> None:
    ours = made(told={"language": language})
    folder = exported(ours, tmp_path / "out", nosf=True)
    call_command("verify", "--folder", str(folder), "--format", "babi", "--workers", "1")
    theirs = imported(folder)
    assert hashes(theirs) == hashes(ours)
    assert theirs.fingerprint == ours.fingerprint
    spelled = [
        Question.objects.filter(split__dataset=one).order_by("pk").values_list("spelling") for one in (ours, theirs)
    ]
    assert list(spelled[0]) == list(spelled[1])
    assert all(origin.report_json["faults"] == 0 for origin in ImportedSplit.objects.all())
