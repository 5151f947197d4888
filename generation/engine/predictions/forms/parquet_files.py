"""Prediction files of Parquet, which need the package pyarrow.

They come from strangers, and pyarrow is a large program of C++. The site reads them in a child process with limits.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, BinaryIO

from generation.engine.predictions.answer_values import quote
from generation.engine.predictions.decompression import UnreadableFile
from generation.engine.predictions.forms.json_files import first_again
from generation.engine.predictions.forms.rows import FileRecords, PredictionRow

ROWS = 1024  # rows read at a time
MOST_COLUMNS = 1000
EACH = 256  # characters that a row counts, because its real size is not known


def parquet(file: BinaryIO, *, most: Callable[[int], int]) -> FileRecords:
    """Return the records of a Parquet file, without columns of bytes such as pictures.

    `most` returns the largest number of bytes that the columns may have, for a number of packed bytes. Raises
    `UnreadableFile` if pyarrow is not installed or the file is broken.
    """
    try:
        arrow, types = import_module("pyarrow"), import_module("pyarrow.types")
        reader = import_module("pyarrow.parquet").ParquetFile
    except ImportError as error:
        reason = "expected text, got a Parquet file, which needs the package pyarrow: write JSON lines or a table"
        raise UnreadableFile(reason) from error
    try:
        opened = reader(file)
        schema = opened.schema_arrow
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise UnreadableFile("expected a Parquet file, got a broken one") from error
    if len(schema) > MOST_COLUMNS:
        raise UnreadableFile(f"expected at most {MOST_COLUMNS:,} columns, got {len(schema):,}")
    if len(set(schema.names)) != len(schema.names):
        raise UnreadableFile(f"expected every column once, got {quote(first_again(schema.names))} twice")

    def has_bytes(kind: Any) -> bool:
        if types.is_nested(kind) and not types.is_dictionary(kind):
            return any(has_bytes(kind.field(at).type) for at in range(kind.num_fields))
        return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))

    names = [field.name for field in schema if not has_bytes(field.type)]
    _check_size(opened.metadata, set(names), most)

    def records() -> Iterator[PredictionRow]:
        number = 0
        try:
            for batch in opened.iter_batches(batch_size=ROWS, columns=names, use_threads=False):
                for record in batch.to_pylist():
                    number += 1
                    yield PredictionRow(number, record, EACH)
        except (arrow.ArrowException, OSError, ValueError) as error:
            raise UnreadableFile("expected a Parquet file, got a broken one", line=number + 1, unit="record") from error

    return FileRecords("parquet", "record", records())


def _check_size(metadata: Any, names: set[str], most: Callable[[int], int]) -> None:
    """Raise `UnreadableFile` if the columns that are read unpack to too many bytes, as the file itself says."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    chunks = [group.column(at) for group in groups for at in range(group.num_columns)]
    read = [chunk for chunk in chunks if chunk.path_in_schema.partition(".")[0] in names]
    size, largest = (
        sum(chunk.total_uncompressed_size for chunk in read),
        most(sum(c.total_compressed_size for c in read)),
    )
    if size > largest:
        raise UnreadableFile(f"expected at most {largest >> 20:,} MB in the columns, got {size >> 20:,} MB")
