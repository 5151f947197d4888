"""Prepared queries, whose SQL is compiled only once, for the few queries that are executed for every answer.

For a short query, the ORM needs ten times as long to compile the SQL as the database needs to execute it. PostgreSQL
needs longer to plan a short query than to execute the plan. A prepared query is still written as a query set, but its
SQL is compiled once and only its values change. PostgreSQL keeps the plan for each connection.

Django's `server_side_binding` with psycopg's `prepare_threshold` saves the planning, but not the compilation. The five
queries at the beginning of each answer took 6.6 to 7.7 ms of processor time with these settings, and take 0.4 to 1.0 ms
with this module.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Model, QuerySet
from django.db.models.expressions import DatabaseDefault
from django.db.models.sql import UpdateQuery

MARK = 7_654_321_000_000  # placeholders begin at this number, which no query contains as a value of its own


class _Made(NamedTuple):
    """Compiled SQL for one kind of database, its values, and a function that converts rows.

    The values from `MARK` on are placeholders for the values of a call.
    """

    sql: str
    values: Sequence[Any]
    read: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]]

    def filled(self, given: Sequence[int | str]) -> list[Any]:
        return [given[_number(value)] if _is_mark(value) else value for value in self.values]


class Prepared:
    """A prepared query. `build` takes keys or texts and returns a query set of tuples (`values_list`).

    Arguments that change the SQL itself are passed by name; the SQL is compiled once for each combination of them.
    """

    def __init__(self, build: Callable[..., "QuerySet[Any, Any]"]) -> None:
        self._build = build
        self._made: dict[Hashable, _Made] = {}

    def ask(self, *given: int | str, **fixed: Hashable) -> list[tuple[Any, ...]]:
        return Asking(self, given, fixed).rows()

    def made(self, given: Sequence[int | str], fixed: Mapping[str, Hashable]) -> _Made:
        """Return the compiled query for these arguments; compile it if this was not done yet."""
        key = (connection.vendor, *sorted(fixed.items()))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = _query(self._build(*_marks(given), **fixed))
        return made


class Asking(NamedTuple):
    """A prepared query together with its values."""

    what: Prepared
    given: Sequence[int | str]
    fixed: Mapping[str, Hashable] = {}

    def rows(self) -> list[tuple[Any, ...]]:
        made = self.what.made(self.given, self.fixed)
        with _asking(made.sql, made.filled(self.given)) as cursor:
            return made.read(cursor.fetchall())


def ask_together(*several: Asking) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each query; on PostgreSQL, all queries are sent before the first result is read."""
    if connection.vendor != "postgresql":
        return [one.rows() for one in several]
    made = [one.what.made(one.given, one.fixed) for one in several]
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    with connection.wrap_database_errors, ExitStack() as stack:
        cursors = [stack.enter_context(_postgres_cursor()) for _ in several]
        with connection.connection.pipeline():
            for one, query, cursor in zip(several, made, cursors, strict=True):
                cursor.execute(query.sql, query.filled(one.given), prepare=True)
        return [query.read(cursor.fetchall()) for query, cursor in zip(made, cursors, strict=True)]


class PreparedUpdate:
    """A prepared update. `build` takes keys or texts, and returns the rows to change and their new values by field."""

    def __init__(self, build: Callable[..., tuple["QuerySet[Any]", Mapping[str, Any]]]) -> None:
        self._build = build
        self._made: dict[Hashable, _Made] = {}

    def run(self, *given: int | str, **fixed: Hashable) -> int:
        made = self._of(given, fixed)
        with _asking(made.sql, made.filled(given)) as cursor:
            return int(cursor.rowcount)

    def run_and_store(self, row: Model, *given: int | str, **fixed: Hashable) -> bool:
        """Update a row and insert `row` in one step; if there is no row to update, insert nothing and return False.

        On PostgreSQL this is a single statement, because a transaction needs four round trips.
        """
        if connection.vendor != "postgresql":
            with transaction.atomic():
                is_there = self.run(*given, **fixed) == 1
                if is_there:
                    row.save(force_insert=True)
            return is_there
        made = self._of(given, fixed)
        sql, values = _insert(row)
        sql, values = f"WITH changed AS ({made.sql} RETURNING 1) {sql}", [*made.filled(given), *values]
        around = transaction.atomic() if connection.in_atomic_block else nullcontext()
        with around, _asking(sql, values) as cursor:
            stored = cursor.fetchone()
        if stored is not None:
            row.pk = stored[0]
        return stored is not None

    def _of(self, given: Sequence[int | str], fixed: Mapping[str, Hashable]) -> _Made:
        key = (connection.vendor, *sorted(fixed.items()))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = _update(*self._build(*_marks(given), **fixed))
        return made


@contextmanager
def _asking(sql: str, values: Sequence[Any]) -> Iterator[Any]:
    """Execute a query and yield the cursor."""
    if connection.vendor != "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            yield cursor
        return
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    with connection.wrap_database_errors, _postgres_cursor() as prepared:
        prepared.execute(sql, values, prepare=True)
        yield prepared


def _postgres_cursor() -> Any:
    # A cursor of Django would write the values into the SQL.
    from psycopg import Cursor  # sites with SQLite do not need it, and loading it takes 35 ms

    return Cursor(connection.connection)


def _query(rows: "QuerySet[Any, Any]") -> _Made:
    compiler = rows.query.get_compiler(connection=connection)
    sql, values = compiler.as_sql()
    converters = compiler.get_converters([expression for expression, _, _ in compiler.select])

    def read(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in compiler.apply_converters(found, converters)] if converters else found

    return _Made(sql, values, read)


def _update(rows: "QuerySet[Any]", changes: Mapping[str, Any]) -> _Made:
    query: Any = rows.query.chain(UpdateQuery)
    query.add_update_values(changes)
    sql, values = query.get_compiler(connection=connection).as_sql()
    return _Made(sql, values, list)


def _insert(row: Model) -> tuple[str, list[Any]]:
    """Return the SQL that inserts a row once for each row of `changed`, and its values.

    Columns with a default value of the database are left out, so that the database sets them.
    """
    into, held, values = _columns(row)
    key = connection.ops.quote_name(str(row._meta.pk.column))
    return f"INSERT INTO {into} SELECT {held} FROM changed RETURNING {key}", values  # noqa: S608 - names


def insert_once(row: Model) -> None:
    into, held, values = _columns(row)
    with _asking(f"INSERT INTO {into} VALUES ({held}) ON CONFLICT DO NOTHING", values):  # noqa: S608 - names
        pass


def _columns(row: Model) -> tuple[str, str, list[Any]]:
    """Return the table of a row with the columns that have a value, the placeholders for the values, and the values."""
    fields = [field for field in row._meta.concrete_fields if field.value_from_object(row) is not None]
    fields = [field for field in fields if not isinstance(field.value_from_object(row), DatabaseDefault)]
    values = [field.get_db_prep_save(field.value_from_object(row), connection) for field in fields]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    return f"{quote(row._meta.db_table)} ({columns})", ", ".join("%s" for _ in fields), values


def _marks(given: Sequence[int | str]) -> list[int | str]:
    return [MARK + number if isinstance(value, int) else str(MARK + number) for number, value in enumerate(given)]


def _is_mark(value: object) -> bool:
    return isinstance(value, int | str) and str(value).startswith("7654321") and len(str(value)) == len(str(MARK))


def _number(mark: int | str) -> int:
    return int(mark) - MARK
