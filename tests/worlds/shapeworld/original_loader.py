"""A loader that follows the rules by which the original program reads a folder that it generated.

`load` takes folder, type, name and variant like the original's `Dataset.create`. `Loaded.shard` reads all values of a
shard, and `Loaded.instance` returns one instance of a batch. Where the original fails, there is an AssertionError.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

MODES = {"train", "validation", "test"}
KNOWN = (  # fields of the specification that are not passed on unchanged
    *("type", "name", "variant", "directory", "archive", "include_model", "numpy_formats", "image_format"),
    *("num_concat_worlds", "values", "pixel_noise_stddev", "world_size", "vectors", "vocabularies", "language"),
)


def load(folder: Path, dtype: str, name: str, *, variant: str | None = None, exclude: Sequence[str] = ()) -> "Loaded":
    """Return a generated dataset. Its specification is in the folder, in a file named after type, name and variant."""
    full_name = name if variant is None else f"{name}-{variant}"
    specification: dict[str, Any] = json.loads((folder / f"{dtype}-{full_name}.json").read_text())
    specification.setdefault("directory", str(folder))
    # Without this mark, the original reads the specification as arguments of a generator, which has no `values`.
    assert specification.pop("generated", False), "unexpected keyword argument 'values'"
    for key, wanted in (("type", dtype), ("name", name), ("variant", variant), ("language", None)):
        assert key not in specification or specification[key] == wanted, key
    return Loaded(specification, exclude=exclude)


class Loaded:
    """A specification, and the folders of its shards."""

    def __init__(self, specification: dict[str, Any], *, exclude: Sequence[str]) -> None:
        self.directory = Path(specification["directory"], specification.get("relative_directory", ""))
        assert specification.get("archive") is None
        assert not specification.get("num_concat_worlds")
        self.image_format: str = specification.get("image_format", "bmp")
        self.include_model: bool = specification.get("include_model", False)
        self.values: dict[str, str] = {key: kind for key, kind in specification["values"].items() if key not in exclude}
        assert self.values.get("alternatives", "int") == "int"
        self.world_size = specification["world_size"]
        self.vectors: dict[str, int] = specification["vectors"]
        self.vocabularies: dict[str, dict[str, int]] = specification["vocabularies"]
        for words in self.vocabularies.values():
            assert all(isinstance(word, str) and isinstance(number, int) for word, number in words.items())
            assert sorted(words.values()) == list(range(len(words)))
        for key, kind in self.values.items():
            kind, _ = split_type(kind)
            assert kind in ("int", "float", "world", "model") or kind in self.vocabularies, (key, kind)
            assert kind not in self.vocabularies or isinstance(self.vectors[key], int), key
        self.rest = {key: value for key, value in specification.items() if key not in KNOWN}
        self.shards = self._find()

    def _find(self) -> dict[str | None, list[Path]]:
        """Return the shards of each mode. If the folder has shards but no modes, they are under None."""
        folders, files = _parts(self.directory)
        if not {folder.name for folder in folders} <= MODES:
            assert all(re.match("shard|part", one.name) for one in (*folders, *files))
            return {None: folders}
        assert not files, files
        found: dict[str | None, list[Path]] = {}
        for mode in folders:
            shards, others = _parts(mode)
            assert shards
            assert not others
            assert all(re.match("shard|part", shard.name) for shard in shards)
            found[mode.name] = shards
        return found

    def shard(self, mode: str | None, number: int = 0) -> dict[str, list[Any]]:
        """Return all values of the instances of a shard. Models are included only if the dataset has them."""
        folder = self.shards[mode][number]
        found = {
            key: self._read(folder, key, kind)
            for key, kind in self.values.items()
            if split_type(kind)[0] != "model" or self.include_model
        }
        assert len({len(values) for values in found.values()}) == 1, {key: len(one) for key, one in found.items()}
        return found

    def _read(self, folder: Path, key: str, kind: str) -> list[Any]:
        kind, has_several = split_type(kind)
        if kind == "world":
            return list(self._worlds(folder, key))
        if kind == "model":
            models = json.loads((folder / f"{key}.json").read_text())
            assert isinstance(models, list)
            return models
        text = (folder / f"{key}.txt").read_text()
        if kind in self.vocabularies:
            known = self.vocabularies[kind]
            ends = "\n\n" if has_several else "\n"
            rows = [
                [[known[word] for word in line.split(" ")] for line in block.split("\n")]
                for block in text.split(ends)[:-1]
            ]
            return rows if has_several else [row for [row] in rows]
        number: Callable[[str], float] = int if kind == "int" else float
        if has_several:
            return [[number(one) for one in line.split(";")] for line in text.split("\n")[:-1]]
        return [number(line) for line in text.split("\n")[:-1]]

    def _worlds(self, folder: Path, key: str) -> list[NDArray[np.float32]]:
        found: list[NDArray[np.float32]] = []
        while (path := folder / f"{key}-{len(found)}.{self.image_format}").is_file():
            pixels = np.asarray(Image.open(path), np.float32) / 255
            assert pixels.shape == (self.world_size, self.world_size, 3)
            found.append(pixels)
        return found

    def instance(self, values: Mapping[str, list[Any]], number: int) -> dict[str, Any]:
        """Return one instance with all of its alternatives. Texts are returned as padded numbers."""
        found: dict[str, Any] = {}
        for key, kind in self.values.items():
            kind, has_several = split_type(kind)
            if key in values:
                value = values[key][number]
                rows = value if has_several else [value]
                if kind in self.vocabularies:
                    rows = [self._padded(row, self.vectors[key]) for row in rows]
                found[key] = rows if has_several else rows[0]
        return found

    def _padded(self, row: list[int], length: int) -> list[int]:
        assert len(row) <= length
        return row + [0] * (length - len(row))


def split_type(kind: str) -> tuple[str, bool]:
    """Return the type of a value, and whether an instance has several such values."""
    inner = re.fullmatch(r"alternatives\((.*)\)", kind)
    return (inner[1], True) if inner else (kind, False)


def _parts(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the folders and the files in a folder, without those whose name begins with a dot."""
    here = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    return [path for path in here if path.is_dir()], [path for path in here if path.is_file()]
