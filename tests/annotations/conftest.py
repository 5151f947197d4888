"""Open studies for tests."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache

from annotations.answering import slot_assignment
from annotations.models import Participant, Study
from generation.models import Dataset, Split
from tests.generation.conftest import begin, fake, made
from tests.generation.pages.conftest import kept, shapes
from webapp.models import User

__all__ = ["begin", "fake", "kept", "made", "shapes"]

Begin = Callable[..., Study]


@pytest.fixture(autouse=True)
def forget_arrivals() -> Iterator[None]:
    """Clear the counts of arrivals of other tests: all have one address, which may send 600 people in ten minutes."""
    cache.clear()
    yield
    cache.clear()


def open_study(*, questions: int, per_scene: int = 2, **options: Any) -> Study:
    """Return an open study of a split that has only a name and no files."""
    owner, _ = User.objects.get_or_create(username="rosa")
    dataset, _ = Dataset.objects.get_or_create(slug="asked", defaults={"world": "fake-rows", "spec": "{}"})
    split, _ = Split.objects.get_or_create(dataset=dataset, name="val", defaults={"ordinal": 0})
    study = Study.objects.create(split=split, owner=owner, title="How well people count", **options)
    places = [(position, position // per_scene) for position in range(questions)]
    slot_assignment.lay_out(study, places, ranks=range(questions))
    return study


@pytest.fixture
def begin_study(db: None) -> Begin:
    """Give a function that opens a study."""
    return open_study


@pytest.fixture
def study(begin_study: Begin) -> Study:
    """Give an open study of four questions about two scenes, each asked twice."""
    return begin_study(questions=4, per_question=2)


@pytest.fixture
def joined(study: Study) -> Callable[[], Participant]:
    """Give a function that makes a participant of the study."""
    return lambda: Participant.objects.create(study=study)
