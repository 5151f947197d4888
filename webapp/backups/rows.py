"""Reads rows as JSON from one snapshot of the database while others write, and inserts rows with their stored keys."""

import gzip
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.management.color import no_style
from django.db import DatabaseError, IntegrityError, connections, transaction
from django.db.models import Model
from django.utils.duration import duration_iso_string

from generation.engine.errors import EngineError
from webapp.backups.schema import Models, columns_of

SNAPSHOT = "snapshot"
READ = 2000  # rows that are read or inserted at once
PART_BYTES = 4 * 1024 * 1024  # a part ends when its JSON has this size
LEVEL = 4  # compression level: it takes half the time of the default level, and gives 5 % more bytes
Noted = Callable[[int], object]


class BadRow(EngineError):
    """A row of an archive does not fit its table."""


@contextmanager
def snapshot(using: str) -> Iterator[str]:
    """Yield the name of a connection that sees the database as it is now, even if others write in the meantime.

    The connection is read-only and does not block others.
    """
    connection = connections[using].copy(SNAPSHOT)
    if connection.vendor == "sqlite":
        connection.settings_dict["OPTIONS"]["transaction_mode"] = "DEFERRED"  # does not take the write lock
    connections[SNAPSHOT] = connection
    try:
        with transaction.atomic(using=SNAPSHOT):
            with connection.cursor() as cursor:
                if connection.vendor == "postgresql":
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                else:
                    cursor.execute("PRAGMA query_only = ON")
            yield SNAPSHOT
    finally:
        connection.close()
        del connections[SNAPSHOT]


def parts_of(model: type[Model], *, using: str, note: Noted) -> Iterator[bytes]:
    """Yield the rows of a table in compressed parts of a few megabytes; one empty part if there are no rows."""
    names = [field.attname for field in columns_of(model)]
    rows = model._base_manager.using(using).order_by("pk").values_list(*names)
    lines: list[bytes] = []
    size = count = 0
    for row in rows.iterator(chunk_size=READ):
        lines.append(as_json(row))
        size += len(lines[-1])
        if size >= PART_BYTES:
            yield _compressed(lines)
            note(len(lines))
            count, size, lines = count + len(lines), 0, []
    if lines or not count:
        yield _compressed(lines)
        note(len(lines))


def as_json(row: tuple[Any, ...]) -> bytes:
    # The `to_python` method of each field can read the value.
    return json.dumps(row, default=_plain, ensure_ascii=False, separators=(",", ":")).encode()


def clear(models: Models, *, using: str) -> None:
    """Delete all rows of all existing tables; `check_references` checks the references later."""
    there = connections[using].introspection.table_names()
    with connections[using].cursor() as cursor:
        for model in models.values():
            if model._meta.db_table in there:
                cursor.execute(f"DELETE FROM {_quoted(using, model._meta.db_table)}")  # noqa: S608  # a model's name


def check_references(using: str) -> None:
    """Raise `BadRow` if a row refers to a row that does not exist."""
    try:
        connections[using].check_constraints()
    except IntegrityError as error:
        raise BadRow(f"Expected rows that fit one another, got: {' '.join(str(error).split())}") from error


def insert(model: type[Model], rows: Iterable[list[Any]], *, using: str, note: Noted) -> int:
    """Insert rows unchanged and return their number; raise `BadRow` if a row does not fit the table."""
    connection, fields = connections[using], columns_of(model)
    columns = ", ".join(_quoted(using, field.column) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {_quoted(using, model._meta.db_table)} ({columns}) VALUES ({marks})"  # noqa: S608
    count, remaining = 0, iter(rows)
    with connection.cursor() as cursor:
        while batch := list(islice(remaining, READ)):
            try:
                cursor.executemany(statement, [_stored(fields, row, connection) for row in batch])
            except (ValidationError, ValueError, TypeError, OverflowError, DatabaseError) as error:
                reason = " ".join(str(error).split())
                raise BadRow(f"Expected rows that fit, got {reason}", where=model._meta.label) from error
            count += len(batch)
            note(len(batch))
    return count


def reset_sequences(models: Models, *, using: str) -> None:
    with connections[using].cursor() as cursor:
        for statement in connections[using].ops.sequence_reset_sql(no_style(), list(models.values())):
            cursor.execute(statement)


def _stored(fields: list[Any], row: list[Any], connection: Any) -> list[Any]:
    """Return a row's values in the form that the database expects."""
    return [
        field.get_db_prep_save(None if value is None else field.to_python(value), connection)
        for field, value in zip(fields, row, strict=True)
    ]


def _plain(value: Any) -> Any:
    """Return a value that JSON does not support in a form that JSON supports and the value's field can read."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_iso_string(value)
    if isinstance(value, Decimal | UUID):
        return str(value)
    if isinstance(value, bytes | memoryview):
        return b64encode(value).decode()
    raise TypeError(f"Expected a value that a field can have, got {type(value).__name__}.")


def _compressed(lines: list[bytes]) -> bytes:
    return gzip.compress(b"".join(line + b"\n" for line in lines), LEVEL, mtime=0)


def _quoted(using: str, name: str) -> str:
    return connections[using].ops.quote_name(name)
