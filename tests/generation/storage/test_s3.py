"""A dataset whose files are in an S3 bucket is made, sealed, read and deleted by the same code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest

from generation.making import dataset_jobs
from generation.models import Dataset
from tests.generation.conftest import MANAGE, Child

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
READ = """
import django; django.setup()
from generation.storage.split_index import SplitIndex
from generation.models import Split
from generation.storage import files as storage
split = Split.objects.get(name="val")
print(SplitIndex.open(split).n, len(storage.get(split.scene_set.get(position=0).ids_image)) > 0)
"""


def test_a_dataset_is_stored_in_a_bucket_and_deleted(
    s3: Any, begin: Callable[..., Dataset], child: Child, tmp_path: Path
) -> None:
    client = boto3.client(
        "s3",
        endpoint_url=s3.endpoint,
        region_name="us-east-1",
        aws_access_key_id=s3.key,
        aws_secret_access_key=s3.secret,
    )

    def stored_keys() -> set[str]:
        return {entry["Key"] for entry in client.list_objects_v2(Bucket=s3.bucket).get("Contents", [])}

    before = stored_keys()  # files of other tests
    dataset = begin(splits={"train": {"scenes": 8}, "val": {"scenes": 3}})
    assert child(MANAGE, "work", "--dataset", "rows", environment=s3.environment).wait(60) == 0
    dataset.refresh_from_db()
    assert dataset.state == "complete", dataset.error
    names = stored_keys() - before
    digests = [split.index_digest for split in dataset.splits.all()]
    assert {f"index/{digest}/manifest.json" for digest in digests} <= names
    assert sum(name.startswith(f"datasets/{dataset.pk}/") for name in names) == 22
    reader = child("-c", READ, environment=s3.environment, stdout=-1)
    assert reader.communicate(timeout=60)[0] == b"9 True\n"
    assert child(MANAGE, "delete", "rows", environment=s3.environment).wait(60) == 0
    assert stored_keys() == before
    assert dataset_jobs.claim() is None
