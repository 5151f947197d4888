"""The documentation of SimTown names every vehicle, preset, setting and default, each wording and each weather."""

import re

import pytest

from generation.engine.worlds.simtown.entities import ENTITIES
from generation.engine.worlds.simtown.facets import facets
from generation.engine.worlds.simtown.question_text import PHRASES
from generation.engine.worlds.simtown.spec import PRESETS, SimTownSpec
from webapp import documentation

TEXT = documentation.source("simtown")


def test_every_vehicle_is_listed_in_its_order() -> None:
    rows = re.findall(r"^\| (\d+) to (\d+) \| (.+) \|$", TEXT, re.MULTILINE)
    listed = [name for _, _, names in rows for name in names.split(", ")]
    assert listed == [one.name for one in ENTITIES]
    assert [int(last) - int(first) + 1 for first, last, _ in rows] == [len(names.split(", ")) for *_, names in rows]


def test_every_preset_is_named() -> None:
    assert {name for name in PRESETS if f"`{name}`" not in TEXT} == set()


@pytest.mark.parametrize("group", ["scene", "images", "questions"])
def test_every_setting_has_its_row_with_its_default(group: str) -> None:
    model = SimTownSpec.model_fields[group].annotation
    assert model is not None
    for name, field in model.model_fields.items():
        row = re.search(rf"^\| [^|]*`{name}`[^|]* \| ([^|]*) \|", TEXT, re.MULTILINE)
        assert row is not None, name
        if isinstance(field.default, int | float):
            assert f"{field.default:,g}" in row[1].split(", "), name


def test_every_wording_and_facet_is_named() -> None:
    for name, phrases in PHRASES.items():
        assert f"| `{name}` | {', '.join(phrases)} |" in TEXT
    spec = SimTownSpec.model_validate({"splits": {"train": {"scenes": 1}}})
    part = TEXT.partition("\n## Facets\n")[2].partition("\n## ")[0]
    for facet in facets(spec):
        words = [word for word in facet.label.split() if len(word) > 3 and word != "metres"]
        assert all(word in part for word in words), facet.label
