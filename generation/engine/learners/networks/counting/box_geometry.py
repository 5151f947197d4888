"""Areas and overlaps of boxes."""

from typing import Any

from generation.engine.learners.networks.optional_torch import torch

NOTHING = 1e-12  # smallest area by which another is divided


def shared_area(first: Any, second: Any) -> Any:
    """Return the area `(batch, n, m)` that each of boxes `(batch, n, 4)` shares with each of `(batch, m, 4)`."""
    low = torch.maximum(first[:, :, None, :2], second[:, None, :, :2])
    high = torch.minimum(first[:, :, None, 2:], second[:, None, :, 2:])
    return (high - low).clamp(min=0).prod(dim=-1)


def area_of(boxes: Any) -> Any:
    """Return the areas of boxes `(..., 4)`."""
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(dim=-1)


def overlap_of(first: Any, second: Any) -> Any:
    """Return the shared area of boxes divided by the area of their union, `(batch, n, m)`; 0 for boxes without area."""
    shared = shared_area(first, second)
    union = area_of(first)[:, :, None] + area_of(second)[:, None, :] - shared
    return shared / union.clamp(min=NOTHING)
