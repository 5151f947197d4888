"""The database backend, in the module where Django looks for it."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose health is checked without a query, unless unexpected data has arrived.

    A server that ends notifies every connection, including idle ones; a healthy idle connection has nothing to read. A
    query instead would cost each request a round trip.
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
