"""Regions of pictures: boxes like those of a detector, and the features of their content.

The papers take boxes and features from a detector that was trained on other pictures. Here the boxes come from the
scenes, with errors like those of a detector. The features come from a small convolutional network over the pixels of
each box, which is trained together with the other layers.
"""

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from generation.engine.learners.examples import Regions
from generation.engine.learners.networks.encoders import Convolutions, LayerSize, LayerSizes, halve
from generation.engine.learners.networks.optional_torch import functional, nn, torch
from generation.engine.learners.networks.picture_learner import SharedPictureConfig

CORNERS = 4
PLACE = 6  # numbers that describe the place of a box: its edges, width and height
USUAL = 0.2  # side of a false box in a picture without elements, as a share of the picture's


class RegionConfig(SharedPictureConfig):
    """The settings of a network that sees regions.

    Attributes
    ----------
    jitter : float
        The standard deviation of each edge of a box, as a share of the box's width or height.
    dropped : float
        The probability that an element has no box.
    repeated : float
        The probability that an element has one more box.
    false_boxes : int
        The number of boxes at random places that are added to each picture.
    crop : int
        The pixels of a box are scaled to a square with this side.
    crop_channels : tuple of int
        The filters of the convolutions over these pixels; each halves the side.
    features : int
        The size of the vector that describes a region.
    """

    jitter: float = Field(0.05, ge=0, le=1)
    dropped: float = Field(0.02, ge=0, le=1)
    repeated: float = Field(0.1, ge=0, le=1)
    false_boxes: int = Field(1, ge=0, le=100)
    crop: int = Field(16, ge=4, le=256)
    crop_channels: LayerSizes = (32, 64, 128)
    features: LayerSize = 2048


class RegionBatch(NamedTuple):
    """The regions of some pictures as tensors, padded to the largest number.

    Attributes
    ----------
    boxes : Tensor (batch, most, 4) of float32
        Left, top, right and bottom, as shares of the picture's width and height; zeros for padding.
    present : Tensor (batch, most) of bool
        False for padding.
    features : Tensor (batch, most, features) of float32
        Zeros for padding.
    """

    boxes: Any
    present: Any
    features: Any


def detect(boxes: NDArray[np.float32], config: RegionConfig, *, item: int = 0) -> NDArray[np.float32]:
    """Return the boxes that a detector with the errors of the config would find for the exact boxes of a picture.

    They depend only on the arguments, so a picture always has the same boxes. Those of an empty picture depend on the
    number `item` of the picture. Otherwise all empty pictures would have the same box, which would tell that they are
    empty.
    """
    chance = np.random.Generator(np.random.PCG64(zlib.crc32(boxes.tobytes() or item.to_bytes(8, "little"))))
    kept, again = chance.random(len(boxes)) >= config.dropped, chance.random(len(boxes)) < config.repeated
    found = np.concatenate([boxes[kept], boxes[again]])
    sides = found[:, 2:] - found[:, :2]
    found = found + config.jitter * chance.normal(size=found.shape) * np.tile(sides, 2)
    whole = np.concatenate([found, _false_boxes(boxes, config.false_boxes, chance)]).clip(0, 1)
    corners = np.stack([whole[:, :2], whole[:, 2:]])
    return np.concatenate([corners.min(axis=0), corners.max(axis=0)], axis=1).astype(np.float32)


def _false_boxes(boxes: NDArray[np.float32], count: int, chance: np.random.Generator) -> NDArray[np.float64]:
    """Return boxes at random places, each of the size of one of the picture's boxes."""
    sides = np.full((count, 2), USUAL)
    if len(boxes):
        like = boxes[chance.integers(len(boxes), size=count)]
        sides = (like[:, 2:] - like[:, :2]).astype(np.float64)
    corner = chance.random((count, 2)) * (1 - sides)
    return np.concatenate([corner, corner + sides], axis=1)


def boxes_of(regions: Regions, items: Sequence[int] | NDArray[np.int64], config: RegionConfig) -> tuple[Any, Any]:
    """Return the boxes `(items, most, 4)` in the pictures of these items, and which of them are not padding."""
    found = [detect(np.asarray(regions.boxes[regions.of_item(item)]), config, item=item) for item in map(int, items)]
    most = max(1, *map(len, found))
    boxes = np.zeros((len(found), most, CORNERS), np.float32)
    for row, some in zip(boxes, found, strict=True):
        row[: len(some)] = some
    present = np.arange(most) < np.array([len(some) for some in found])[:, None]
    return torch.from_numpy(boxes), torch.from_numpy(present)


def crops(images: Any, boxes: Any, side: int) -> Any:
    """Return the pixels `(batch, most, channels, side, side)` of boxes `(batch, most, 4)`, scaled to squares."""
    batch, most = boxes.shape[:2]
    steps = (torch.arange(side, device=boxes.device) + 0.5) / side
    across, down = (
        boxes[..., low, None] + (boxes[..., high, None] - boxes[..., low, None]) * steps
        for low, high in ((0, 2), (1, 3))
    )
    x, y = across[:, :, None, :].expand(-1, -1, side, -1), down[:, :, :, None].expand(-1, -1, -1, side)
    grid = 2 * torch.stack([x, y], dim=-1).reshape(batch, most * side, side, 2) - 1
    found = functional.grid_sample(images, grid, padding_mode="border", align_corners=False)
    return found.view(batch, images.shape[1], most, side, side).transpose(1, 2)


def place_of(boxes: Any) -> Any:
    """Return the edges, width and height `(..., 6)` of boxes."""
    return torch.cat([boxes, boxes[..., 2:] - boxes[..., :2]], dim=-1)


class RegionEncoder(nn.Module):
    """Describes regions: a convolutional network over their pixels, plus a projection of their places.

    The pixels of each crop are normalised by batch normalisation. Dancette et al. 2020, section 3, add the place in the
    same way.
    """

    def __init__(self, config: RegionConfig) -> None:
        super().__init__()
        self.side = config.crop
        flat = config.crop_channels[-1] * halve(config.crop, len(config.crop_channels)) ** 2
        self.pixels = nn.Sequential(
            nn.BatchNorm2d(3), Convolutions(config.crop_channels), nn.Flatten(), nn.Linear(flat, config.features)
        )
        self.place = nn.Linear(PLACE, config.features)

    def forward(self, images: Any, boxes: Any, present: Any) -> Any:
        """Return the features `(batch, most, features)` of regions; zeros for padding."""
        described = self.pixels(crops(images, boxes, self.side)[present]) + self.place(place_of(boxes[present]))
        empty = described.new_zeros(*present.shape, described.shape[1])
        return empty.masked_scatter(present[..., None], described)
