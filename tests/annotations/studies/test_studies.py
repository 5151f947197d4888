"""Studies: they protect their datasets, and each has its own address."""

import pytest
from django.db.models import ProtectedError

from annotations.models import Study
from generation import extension_points
from generation.extension_points import Referred
from generation.making import dataset_jobs
from generation.models import Dataset

pytestmark = pytest.mark.django_db


def test_the_dataset_of_a_study_cannot_be_deleted(study: Study) -> None:
    dataset = study.split.dataset
    with pytest.raises(Referred, match="study How well people count refers to"):
        dataset_jobs.delete(dataset)
    with pytest.raises(Referred):
        extension_points.check_split_unreferred(study.split)
    with pytest.raises(ProtectedError):
        dataset.delete()
    other = Dataset.objects.create(slug="other", world="fake-rows", spec="{}")
    extension_points.check_unreferred(other)


def test_each_study_has_its_own_address(study: Study) -> None:
    twin = Study.objects.create(split=study.split, owner=study.owner, title=study.title)
    assert len(study.code) == len(twin.code) == 10
    assert study.code != twin.code
    assert (str(twin), twin.is_open, study.is_open) == (study.title, False, True)
