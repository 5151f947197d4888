"""Somebody who takes part."""

import pytest

from generation.models import Dataset
from tests.annotations.visitors import Visitor, study_of


@pytest.fixture
def asked_one(shapes: Dataset) -> Visitor:
    """Give somebody who is at the first question."""
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    return visitor
