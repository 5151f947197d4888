"""An export for everybody reveals nothing withheld: it does not depend on the withheld answers."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from generation.engine import formats
from generation.engine.errors import BadExport
from generation.engine.formats import check_options
from generation.exchange import exports
from generation.models import Dataset
from tests import riddle_site
from tests.proof import sample
from tests.riddle_site import SECRETS

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

WAYS: Mapping[str, Mapping[str, object]] = {
    "huggingface": {},
    "huggingface, embedded": {"embed": True},
    "jsonl": {},
    "lmms-eval": {},
    "vlmevalkit": {},
    "vlmevalkit, open": {"form": "open"},
}
SUMS = "SHA256SUMS"  # the sums differ if a published hash differs

Files = dict[str, bytes]


class Exported(NamedTuple):
    """The files of each way to export the withheld split, for everybody and for its owner, and the secret words."""

    for_everybody: dict[str, Files]
    for_its_owner: dict[str, Files]
    words: set[str]


def export_all_ways(secret: str, folder: Path) -> Exported:
    with riddle_site.site(secret):
        row = Dataset.objects.get(slug="riddles")
        hashes = riddle_site.published()
        views = [
            {
                way: export_files(row, way, folder / f"{way} {withheld}", withheld=withheld, hashes=hashes)
                for way in WAYS
            }
            for withheld in (False, True)
        ]
        return Exported(*views, words=riddle_site.canaries())


def export_files(row: Dataset, way: str, folder: Path, *, withheld: bool, hashes: Iterable[str]) -> Files:
    """Return the files of an export, with published hashes replaced."""
    dataset = exports.StoredDataset(row, splits=["test"], viewer=exports.Viewer(withheld=withheld))
    format_ = formats.find(way.partition(",")[0], row.get_world())
    exports.write(dataset, folder, format_=format_, options=check_options(format_, WAYS.get(way, {})))
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)
    return {path.relative_to(folder).as_posix(): replace_hashes(path.read_bytes(), hashes) for path in paths}


def replace_hashes(content: bytes, hashes: Iterable[str]) -> bytes:
    for text in hashes:
        content = content.replace(text.encode(), b"#").replace(text[:16].encode(), b"#")
    return content


def find_differences(one: Files, other: Files) -> list[str]:
    assert sorted(one) == sorted(other)
    return [name for name in one if one[name] != other[name]]


def test_only_the_owners_export_depends_on_withheld_answers(tmp_path: Path) -> None:
    first, second = (export_all_ways(secret, tmp_path / secret) for secret in SECRETS)
    for way in WAYS:
        assert find_differences(first.for_everybody[way], second.for_everybody[way]) == [], way
        for site in (first, second):
            content = b"".join(site.for_everybody[way].values())
            assert [word for word in site.words if word.encode() in content] == [], way
        assert find_differences(first.for_its_owner[way], second.for_its_owner[way]) != [], way


@pytest.mark.parametrize("name", sample(["trl", "verl"], gate=1))
def test_formats_for_training_give_withheld_answers_to_nobody_but_the_owner(name: str, tmp_path: Path) -> None:
    with riddle_site.site(SECRETS[0]):
        row, hashes = Dataset.objects.get(slug="riddles"), riddle_site.published()
        with pytest.raises(BadExport, match="Expected splits with open answers, got test, whose answers are withheld"):
            export_files(row, name, tmp_path / "everybody", withheld=False, hashes=hashes)
        assert not [path for path in (tmp_path / "everybody").rglob("*") if path.is_file()]
        assert any(
            name.endswith(".parquet")
            for name in export_files(row, name, tmp_path / "owner", withheld=True, hashes=hashes)
        )
