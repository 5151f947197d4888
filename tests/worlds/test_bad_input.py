"""Bad specs cause one message each, in the command and on the page, and nothing is created."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from generation.engine.worlds import find_preset
from generation.models import Dataset, Job
from tests.generation.pages.drafting import NEW, sent, text
from tests.proof import sample
from tests.worlds.counting.bad_specs import FAULTS as COUNTING
from tests.worlds.shapeworld.bad_specs import FAULTS as SHAPEWORLD
from tests.worlds.simtown.bad_specs import FAULTS as SIMTOWN

pytestmark = pytest.mark.django_db
SMALL = {"scenes": 4}
BASES = {"clevr-counting": COUNTING, "shapeworld-multishape": SHAPEWORLD, "simtown-k5": SIMTOWN}
FAULTS = [pytest.param(base, fault, id=f"{base}: {fault}") for base, of in BASES.items() for fault in of]
EVERY = pytest.mark.parametrize(("base", "fault"), sample(FAULTS, gate=15))


def spec_of(base: str, laid: dict[str, Any]) -> dict[str, Any]:
    """Return a spec of a small dataset: a preset with changes."""
    splits = {name: SMALL | laid.get("splits", {}).get(name, {}) for name in find_preset(base)["splits"]}
    return {"base": base, **laid, "splits": splits}


SUMMARY = re.compile(r'<div class="banner bad wrong-fields".*?</div>', re.DOTALL)


@EVERY
def test_the_command_names_the_field_and_creates_nothing(base: str, fault: str, tmp_path: Path) -> None:
    laid, where, words = BASES[base][fault]
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(spec_of(base, laid)))
    with pytest.raises(CommandError) as refused:
        call_command("generate", str(file))
    assert str(refused.value).startswith(f"{where}: " if where else "Expected")
    assert "\n" not in str(refused.value)
    assert [word for word in words if word not in str(refused.value)] == []
    assert not Dataset.objects.exists()
    assert not Job.objects.exists()


@EVERY
def test_the_page_shows_the_message_once_at_its_field_and_creates_nothing(
    base: str, fault: str, researcher: Client
) -> None:
    laid, where, words = BASES[base][fault]
    answer = researcher.post(NEW, sent(spec_of(base, laid), action="create"))
    assert answer.status_code == 400
    shown = text(answer).replace("&#x27;", "'").replace("&quot;", '"')
    summary, fields = SUMMARY.search(shown), SUMMARY.sub("", shown)
    assert summary is not None and all(word in summary[0] for word in words)
    said = [line for line in fields.splitlines() if all(word in line for word in words) and "Expected" in line]
    beside = [line for line in said if f'id="parameter-{where}-error"' in line]  # width and height are both too large
    assert len(beside or said) == 1, said
    assert not Dataset.objects.exists()
    assert not Job.objects.exists()
