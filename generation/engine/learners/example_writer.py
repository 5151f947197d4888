"""Writes a folder of examples item by item, so that a large split needs little memory."""

import json
import os
from array import array
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from generation.engine.learners.examples import ABOUT, PARTS, QUESTIONS, Region
from generation.engine.learners.model_files import write_whole


class ItemRegion(NamedTuple):
    """An element of an item: its id, its box and its label, as in `Regions`."""

    id: int
    box: Region
    label: str


class ExampleWriter:
    """Writes the examples of a split to a new folder. The folder is complete after `finish`.

    Parameters
    ----------
    folder : Path
    image_shape : tuple of int or None
        The number of items, and the height and width of their images; None without images.

    Attributes
    ----------
    items, questions : int
        The numbers of items and questions written so far.
    """

    def __init__(self, folder: Path, *, image_shape: tuple[int, int, int] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.items = self.questions = 0
        self._file = (folder / QUESTIONS).open("w", encoding="utf-8")
        self._of_question = array("q")
        self._starts, self._boxes, self._ids = array("q", [0]), array("f"), array("q")
        self._labels: list[str] = []
        self._counts = dict.fromkeys(PARTS, 0)
        self._images: NDArray[np.uint8] | None = None
        if image_shape is not None:
            path = folder / "images.npy"
            self._images = open_memmap(path, mode="w+", dtype=np.uint8, shape=(*image_shape, 3))
            with path.open("r+b") as file:  # a full disk is an `OSError` here; in a write to the map, it is a signal
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._file.close()

    def add_item(self, *, image: NDArray[np.uint8] | None = None, regions: tuple[ItemRegion, ...] = ()) -> None:
        """Add an item; the questions that are added next are its questions.

        Parameters
        ----------
        image : array (height, width, 3) of uint8, sRGB, or None
        regions : tuple of ItemRegion
        """
        if self._images is not None:
            assert image is not None
            self._images[self.items] = image
        for region in regions:
            self._boxes.extend(region.box)
            self._ids.append(region.id)
            self._labels.append(region.label)
        self._starts.append(len(self._labels))
        self.items += 1

    def add_question(self, text: str, kind: str, parts: Mapping[str, Any]) -> None:
        """Add a question of the last item; `parts` has the values of `PARTS` that are known."""
        for part in parts:
            self._counts[part] += 1
        self._file.write(json.dumps({"text": text, "kind": kind, **parts}) + "\n")
        self._of_question.append(self.items - 1)
        self.questions += 1

    def finish(self, *, name: str, vocabulary: tuple[str, ...], most_counted: int | None) -> None:
        """Complete the folder. It has the parts that every question has, and regions if any item has one."""
        self._file.close()
        arrays: dict[str, NDArray[Any]] = {"items": np.array(self._of_question, np.int64)}
        if self._labels:
            boxes = np.array(self._boxes, np.float32).reshape(-1, 4)
            ids = np.array(self._ids, np.int64)
            arrays |= {"starts": np.array(self._starts, np.int64), "boxes": boxes, "ids": ids}
        for file, values in arrays.items():
            np.save(self.folder / f"{file}.npy", values)
        if self._images is not None:
            self._images.flush()  # type: ignore[attr-defined]
        about = {
            "name": name,
            "vocabulary": vocabulary,
            "most_counted": most_counted,
            "labels": self._labels or None,
            "parts": [part for part in PARTS if self.questions and self._counts[part] == self.questions],
            "images": self._images is not None,
        }
        write_whole(self.folder / ABOUT, json.dumps(about).encode())
