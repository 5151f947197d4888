"""The dataset that the tests of one module export."""

import pytest

from tests.worlds.clevr.formats.sample import Dataset, shapes


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """A dataset that tests must not change."""
    return shapes()
