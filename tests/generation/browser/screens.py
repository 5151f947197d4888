"""The screens on which pages are looked at: wide and narrow, light and dark."""

import pytest

SCREENS = (
    pytest.param(1280, "light", marks=pytest.mark.full),
    pytest.param(390, "dark"),
    pytest.param(1280, "dark", marks=pytest.mark.full),
    pytest.param(390, "light", marks=pytest.mark.full),
)
