"""The connection to PostgreSQL, under the name by which Django looks for it."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose health is seen without a question, unless something came that nobody asked for.

    A server that ends says so to every connection, at rest too; one that lies still has nothing to read. Asking
    instead costs each request as much as a query.
    """

    def is_usable(self) -> bool:
        if self.connection is None:
            return False
        return self._lies_still() or bool(super().is_usable())

    def _lies_still(self) -> bool:
        if self.connection.closed:
            return False
        found = select.poll()
        found.register(self.connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        return not found.poll(0)
