"""What upper layers have swept every few seconds, beside generation's own work.

A lower layer doesn't know the upper ones: each of them registers its sweep when it is loaded.
"""

from collections.abc import Callable

Sweep = Callable[[], None]

_SWEEPS: dict[str, Sweep] = {}


def register(name: str, sweep: Sweep) -> None:
    """Let `sweep` be called with every sweep; the same name registered again replaces it."""
    _SWEEPS[name] = sweep


def sweep() -> None:
    """Call what is registered."""
    for one in list(_SWEEPS.values()):
        one()
