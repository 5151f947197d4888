"""The screens on which pages are tested: wide and narrow, light and dark."""

from itertools import product

import pytest

SCREENS = tuple(pytest.param(*one, marks=pytest.mark.full) for one in product((1280, 390), ("light", "dark")))
AND_ONE_AT_THE_GATE = (*SCREENS[:-1], pytest.param(*SCREENS[-1].values))  # for pages that all visitors see
