"""The embedded broker: kombu's own on SQLite, made so that its file may be deleted while the site runs.

Messages are hints that may be lost; what must not happen is that one process goes on writing into a deleted file and
another waits at the new one.
"""

from typing import Any

from kombu.transport import sqlalchemy
from kombu.transport.sqlalchemy.models import metadata
from sqlalchemy import Engine, NullPool, event
from sqlalchemy.schema import CreateIndex, CreateTable

from generation.queue.forks import no_forks


class Channel(sqlalchemy.Channel):
    """A channel that opens the file anew for each transaction, and finds its tables whichever file that is."""

    def _engine_from_config(self) -> Engine:
        client: Any = self.connection.client
        client.transport_options["poolclass"] = NullPool
        engine: Engine = super()._engine_from_config()
        tables = _tables(engine)
        event.listen(engine, "connect", lambda connection, _: connection.executescript(tables))
        return engine

    # What opens the file does so while no process is forked: the pool's are, by a thread of their own.

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
    """The transport of the embedded broker, for Celery's broker address."""

    Channel = Channel


def _tables(engine: Engine) -> str:
    """Return the commands that make those of the broker's tables that are missing."""
    commands: list[Any] = []
    for table in metadata.sorted_tables:
        commands.append(CreateTable(table, if_not_exists=True))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        commands += [CreateIndex(index, if_not_exists=True) for index in indexes]
    return ";\n".join(str(command.compile(engine)) for command in commands)
