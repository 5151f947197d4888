"""The form of the figures that benchmarks return."""

import os
from typing import Any


def figure(
    name: str,
    value: float,
    unit: str,
    *,
    least: float | None = None,
    most: float | None = None,
    cores: int | None = None,
) -> dict[str, Any]:
    """Return one figure. Its goal is `least` or `most`; without a goal the figure is only for information.

    `cores` is the number of cores that were used; by default, all cores of this machine.
    """
    ok = (least is None or value >= least) and (most is None or value <= most)
    goal = f"at least {least:g}" if least is not None else f"at most {most:g}" if most is not None else None
    return {
        "name": name,
        "value": round(value, 4),
        "unit": unit,
        "goal": goal,
        "ok": ok,
        "cores": cores or os.cpu_count(),
        "details": [],
    }


def together(name: str, figures: list[dict[str, Any]]) -> dict[str, Any]:
    """Return several figures as one result, with the value of the first one; it is ok if all figures are ok."""
    return {**figures[0], "name": name, "ok": all(one["ok"] for one in figures), "details": figures}
