"""Parquet files for `datasets`: columns with their features, small row groups, files of limited size."""

import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from generation.engine.errors import BadExport
from generation.engine.formats.huggingface.rows import FIRST, PROMPT, STORY, Row
from generation.engine.items import FacetKind

IMAGES = 100  # pictures in a row group, at most
QUESTIONS = 5_000  # rows in a row group without pictures
GROUP_BYTES = 32_000_000  # bytes of pictures after which a row group is complete
FILE_BYTES = 450_000_000  # maximum for the row groups of a file; with its footer the file stays below 500 MB

Feature = Mapping[str, Any]
TEXT: Feature = {"dtype": "string", "_type": "Value"}
NUMBER: Feature = {"dtype": "int32", "_type": "Value"}
TEXTS: Feature = {"feature": TEXT, "_type": "Sequence"}
IMAGE: Feature = {"_type": "Image"}
OF_KIND = {FacetKind.CATEGORY: TEXT, FacetKind.INTEGER: NUMBER, FacetKind.FLAGS: TEXTS}
OF_FIRST = {
    **dict.fromkeys(FIRST, TEXT),
    STORY: TEXTS,
    "choices": TEXTS,
    "question_id": NUMBER,
    "image_index": NUMBER,
}


def arrow() -> Any:
    """Return pyarrow, which writes Parquet; raise `BadExport` if it is not installed."""
    try:
        importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise BadExport(
            "Expected the package pyarrow, which Parquet files are written with, but it isn't installed: "
            "pip install pyarrow.",
            where="format",
        ) from error
    return importlib.import_module("pyarrow")


def question_features(columns: Mapping[str, FacetKind], *, embed: bool, first: Sequence[str] = FIRST) -> dict[str, Any]:
    """Return the features of the configuration `questions`. `first` are the world's first columns."""
    facets = {name: OF_KIND[kind] for name, kind in columns.items()}
    own = {name: IMAGE if embed and name == "image" else OF_FIRST[name] for name in first}
    return {**own, **facets, PROMPT: TEXT}


def scene_features(columns: Mapping[str, FacetKind], *, first: Sequence[str] = FIRST) -> dict[str, Any]:
    """Return the features of the configuration `scenes`: a row for each image or story, with its questions."""
    question = question_features(columns, embed=False, first=first)
    shown = {name: feature for name, feature in (("image", IMAGE), (STORY, TEXTS)) if name in first}
    for name in (*shown, "image_index", "split"):
        del question[name]
    return {**shown, "scene": TEXT, "questions": [question], "image_index": NUMBER, "split": TEXT, "view": TEXT}


def schema_of(features: Mapping[str, Any]) -> Any:
    """Return the Arrow schema of features, with the metadata from which `datasets` reads them."""
    pa = arrow()
    said = json.dumps({"info": {"features": features}}, separators=(",", ":"))
    return pa.schema([(name, _type_of(feature)) for name, feature in features.items()], {"huggingface": said})


def _type_of(feature: Any) -> Any:
    pa = arrow()
    if isinstance(feature, list):
        return pa.list_(_type_of(feature[0]))
    kind = feature.get("_type")
    if kind == "Image":
        return pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    if kind == "Sequence":
        return pa.list_(_type_of(feature["feature"]))
    if kind == "Value":
        return pa.type_for_alias(feature["dtype"])
    return pa.struct([(name, _type_of(part)) for name, part in feature.items()])


class ParquetFile(NamedTuple):
    """A written file: its path and its number of rows."""

    path: Path
    rows: int


class Shards:
    """The Parquet files of one configuration of a split: `00000-of-00002.parquet` and so on, written row by row.

    This is a context manager. When it closes without an error, all rows are written and the files get their names.

    Parameters
    ----------
    folder : Path
        This folder is created; it contains only these files.
    schema : pyarrow.Schema
    rows : int
        The largest number of rows in a row group.
    file_bytes : int
        The size at which a file is complete and the next one begins.
    """

    def __init__(self, folder: Path, schema: Any, *, rows: int, file_bytes: int = FILE_BYTES) -> None:
        self.folder, self.schema, self.rows, self.file_bytes = folder, schema, rows, file_bytes
        self.written: list[ParquetFile] = []
        self._waiting: list[Row] = []
        self._weight = self._in_file = 0
        self._file: Any = None
        self._writer: Any = None
        self._paths: list[Path] = []
        self._counts: list[int] = []

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True)
        return self

    def add(self, row: Row, *, weight: int = 0) -> None:
        """Add a row. `weight` is the size of its pictures in bytes."""
        self._waiting.append(row)
        self._weight += weight
        if len(self._waiting) >= self.rows or self._weight >= GROUP_BYTES:
            self._flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            if self._file is not None:
                self._file.close()
            return
        if self._waiting or not self._paths:
            self._flush()
        self._finish()
        for number, (path, rows) in enumerate(zip(self._paths, self._counts, strict=True)):
            final = self.folder / f"{number:05d}-of-{len(self._paths):05d}.parquet"
            path.rename(final)
            self.written.append(ParquetFile(final, rows))

    def _flush(self) -> None:
        """Write the collected rows as one row group."""
        table = arrow().Table.from_pylist(self._waiting, schema=self.schema)
        if self._writer is not None and self._file.tell() + table.nbytes > self.file_bytes:
            self._finish()
        if self._writer is None:
            self._begin()
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._counts[-1] += table.num_rows
        self._waiting, self._weight = [], 0

    def _begin(self) -> None:
        self._paths.append(self.folder / f"{len(self._paths):05d}.part")
        self._counts.append(0)
        self._file = self._paths[-1].open("wb")
        # A picture that several rows share is stored once in a row group, because the dictionary page is large enough.
        self._writer = arrow().parquet.ParquetWriter(
            self._file,
            self.schema,
            compression="zstd",
            write_page_index=True,
            dictionary_pagesize_limit=2 * GROUP_BYTES,
        )

    def _finish(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._file.close()
            self._writer = self._file = None
