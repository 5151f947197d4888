"""Verifies the datasets of an earlier release's backup, as they are and with damages, in a process of its own.

`python earlier_datasets.py ARCHIVE` restores the backup into the site of VAR_DIR. It prints JSON: for each dataset and
damage (in the gate, of one dataset), whether it was undamaged, the checks that failed, and what was not proved.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

sys.path.insert(0, str(Path.cwd()))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402

from generation.engine.content_hash import dataset_fingerprint  # noqa: E402
from generation.models import Dataset, Question, Split  # noqa: E402
from generation.storage import files  # noqa: E402
from generation.storage.split_index import fetch  # noqa: E402
from generation.verification.dataset import scope_of, verify  # noqa: E402
from tests import proof  # noqa: E402

DATASETS = ("shapes", "stories", "captions")
DAMAGED = DATASETS if proof.SHARE == 1 else DATASETS[:1]
Damage = Callable[[Split], None]


def nothing(split: Split) -> None:
    pass


def question_of(split: Split) -> Question:
    return Question.objects.filter(split=split).order_by("position")[1]


def answer(split: Split) -> None:
    """Change an answer into another one of the same kind."""
    row = question_of(split)
    other = Question.objects.filter(split=split, answer_kind=row.answer_kind).exclude(answer=row.answer).first()
    flipped = {"yes": "no", "no": "yes"}.get(row.answer or "")
    Question.objects.filter(pk=row.pk).update(answer=flipped or (other.answer if other else "1"))


def answer_with_its_hashes(split: Split) -> None:
    """Change an answer, and all content hashes, as somebody would who wants to hide it."""
    answer(split)
    dataset = Dataset.objects.get(pk=split.dataset_id)
    findings = verify(dataset, scope_of(dataset)).findings
    for name, came in ((one.split, one.expected.split()[-1]) for one in findings if one.check == "hashes"):
        Split.objects.filter(dataset=dataset, name=name or None).update(fingerprint=came)
    hashes = dict(dataset.splits.own().values_list("name", "fingerprint"))
    Dataset.objects.filter(pk=dataset.pk).update(fingerprint=dataset_fingerprint(hashes))


def text(split: Split) -> None:
    row = question_of(split)
    Question.objects.filter(pk=row.pk).update(text=f"{row.text[:-1]} now{row.text[-1]}")


def scene(split: Split) -> None:
    row = split.scene_set.order_by("position")[0]
    other = split.scene_set.exclude(pk=row.pk).order_by("position")[0]
    split.scene_set.filter(pk=row.pk).update(data=other.data)


def row(split: Split) -> None:
    question_of(split).delete()


def content_hash(split: Split) -> None:
    Split.objects.filter(pk=split.pk).update(fingerprint="0" * 64)


def change_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)


def index(split: Split) -> None:
    change_byte(fetch(split.index_digest) / "answers.npy")


def picture(split: Split) -> None:
    path = files.local_path(split.scene_set.order_by("position")[0].image)
    assert path is not None
    change_byte(path)


DAMAGES: dict[str, Damage] = {
    one.__name__: one for one in (nothing, answer, answer_with_its_hashes, text, scene, row, content_hash)
}
LASTING: dict[str, Damage] = {one.__name__: one for one in (picture, index)}  # of files, which no rollback repairs


def result_of(slug: str) -> dict[str, Any]:
    dataset = Dataset.objects.get(slug=slug)
    verdict = verify(dataset, scope_of(dataset, rerender=2 if slug == "shapes" else 0))
    found = verdict.to_json()
    return {
        "ok": found["ok"],
        "failed": sorted({one["check"] for one in found["findings"]}),
        "proved": sorted({one["check"] for one in found["proved"]}),
        "open": [one["what"] for one in found["open"] if "engine" in one["what"]],
    }


def main(archive: str) -> None:
    call_command("restore", archive, verbosity=0)
    found: dict[str, dict[str, Any]] = {}
    for slug in DATASETS:
        results = found[slug] = {}
        dataset = Dataset.objects.get(slug=slug)
        split = dataset.splits.for_browse().get(name="train")
        for name, damage in DAMAGES.items() if slug in DAMAGED else [("nothing", nothing)]:
            with transaction.atomic():
                damage(split)
                results[name] = result_of(slug)
                transaction.set_rollback(True)
        has_pictures = bool(split.scene_set.order_by("position")[0].image)
        for name, damage in LASTING.items():
            if slug in DAMAGED and (name != "picture" or has_pictures):
                damage(split)
                results[name] = result_of(slug)
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
