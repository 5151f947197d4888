"""A participant of a study."""

import pytest

from generation.models import Dataset
from tests.annotations.visitors import Visitor, study_of


@pytest.fixture
def asked_one(shapes: Dataset) -> Visitor:
    """Give a visitor who is at the first question of a study."""
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    return visitor
