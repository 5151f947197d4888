"""A rule for streaming responses, checked for each one that any test reads: nothing of a thread is held between pieces.

The web server may continue a response in another thread (`webapp.serving`), which has a separate connection to the
database. When a response yields a piece, it may therefore hold no open cursor and no transaction.
"""

import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.http import StreamingHttpResponse


class OpenCursors(threading.local):
    """The open cursors of each thread."""

    def __init__(self) -> None:
        self.known: weakref.WeakSet[CursorWrapper] = weakref.WeakSet()

    def follow(self, cursor: CursorWrapper) -> CursorWrapper:
        """Return a cursor, and forget it when it is closed."""
        close, known, this = cursor.close, self.known, weakref.ref(cursor)

        def close_and_forget() -> None:
            known.discard(this())
            close()

        known.add(cursor)
        cursor.close = close_and_forget
        return cursor


def checked(pieces: Iterable[Any], cursors: OpenCursors) -> Iterator[Any]:
    """Yield the pieces; fail if one comes while a cursor or transaction is open that was not open before."""
    before, depth = set(cursors.known), transactions()
    try:
        for piece in pieces:
            held = set(cursors.known) - before
            assert not held, "A streaming response holds a cursor when it yields. Read its rows in parts, as lists."
            assert transactions() == depth, "A streaming response holds a transaction when it yields."
            yield piece
    finally:
        if hasattr(pieces, "close"):
            pieces.close()


def transactions() -> tuple[bool, int]:
    return connection.in_atomic_block, len(connection.savepoint_ids)


@pytest.fixture(autouse=True, scope="session")
def checked_streams() -> Iterator[None]:
    """Check each streaming response that a test reads."""
    cursors = OpenCursors()
    make, make_debug = BaseDatabaseWrapper.make_cursor, BaseDatabaseWrapper.make_debug_cursor
    set_content = StreamingHttpResponse._set_streaming_content

    def set_checked_content(self: StreamingHttpResponse, value: Any) -> None:
        set_content(self, value)
        if not self.is_async:
            self._iterator = checked(self._iterator, cursors)

    with (
        mock.patch.object(BaseDatabaseWrapper, "make_cursor", lambda *given: cursors.follow(make(*given))),
        mock.patch.object(BaseDatabaseWrapper, "make_debug_cursor", lambda *given: cursors.follow(make_debug(*given))),
        mock.patch.object(StreamingHttpResponse, "_set_streaming_content", set_checked_content),
    ):
        yield
