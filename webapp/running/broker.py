"""The embedded broker: kombu's SQLite transport, changed so that its file may be deleted while the site runs.

Messages may be lost, because they are only hints. But without this change, one process could continue to write into
the deleted file, while another process waits for messages in the new file.
"""

from typing import Any

from kombu.transport import sqlalchemy
from kombu.transport.sqlalchemy.models import metadata
from sqlalchemy import Engine, NullPool, event
from sqlalchemy.schema import CreateIndex, CreateTable

from generation.queue.fork_lock import no_forks


class Channel(sqlalchemy.Channel):
    """A channel that opens the file for each transaction, and creates missing tables."""

    def _engine_from_config(self) -> Engine:
        client: Any = self.connection.client
        client.transport_options["poolclass"] = NullPool
        engine: Engine = super()._engine_from_config()
        tables = _tables(engine)
        event.listen(engine, "connect", lambda connection, _: connection.executescript(tables))
        return engine

    # Each method holds a lock against forks while it opens the file, because another thread may fork.

    def _new_queue(self, queue: str, **options: Any) -> None:
        with no_forks:
            super()._new_queue(queue, **options)
            self.session.commit()

    def _put(self, *message: Any, **options: Any) -> None:
        with no_forks:
            super()._put(*message, **options)

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        with no_forks:
            return super()._get(queue)


class Transport(sqlalchemy.Transport):
    # Celery's setting `broker_transport` names this class.
    Channel = Channel


def _tables(engine: Engine) -> str:
    """Return the SQL that creates the broker's missing tables."""
    commands: list[Any] = []
    for table in metadata.sorted_tables:
        commands.append(CreateTable(table, if_not_exists=True))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        commands += [CreateIndex(index, if_not_exists=True) for index in indexes]
    return ";\n".join(str(command.compile(engine)) for command in commands)
