"""After a process is killed while it builds an export, its files are removed and the export is built again."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from generation.exchange import export_jobs, export_requests
from generation.making import dataset_jobs
from generation.models import Dataset, Export
from tests.generation.conftest import Child

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
BUILD = """
import time
import django; django.setup()
from generation.engine import worlds
from tests.generation import fake_world
worlds.REGISTRY[fake_world.NAME] = fake_world.WHERE
from generation.exchange import export_jobs; from generation.exchange import exports as exporting
fill = exporting.fill
def slow(dataset, folder, **options):
    fill(dataset, folder, **options)
    print("written", flush=True)
    time.sleep(600)
exporting.fill = slow
export_jobs.RUNNER.take_turn()
"""


def test_an_export_whose_process_is_killed_is_built_again(begin: Callable[..., Dataset], child: Child) -> None:
    dataset = begin(splits={"train": {"scenes": 3}})
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    export = export_requests.ask(dataset, None, name="jsonl", splits=[], options={})
    process: Any = child("-c", BUILD, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"written\n"
    process.kill()
    process.wait()
    left = list(export_jobs.drafts_folder().glob(f".export-{export.pk}.*"))
    assert Export.objects.get().state == "running" and len(left) == 1
    export_jobs.RUNNER.sweep()
    assert Export.objects.get().state == "waiting"
    assert export_jobs.RUNNER.take_turn() == 1
    assert Export.objects.get().state == "done" and not left[0].exists()
