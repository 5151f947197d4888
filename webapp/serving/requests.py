"""Requests while they are read, with limits on their addresses and bodies."""

import io
from typing import Any

from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import BadRequest, RequestEntityTooLarge

from webapp.running.request_limits import SMALL

LONGEST_ADDRESS = 8190  # bytes; it is large, because a URL may contain a list of chosen questions
LARGEST_CONTROL = 4_096  # bytes between the chunks of a body


class WebRequest(HTTPRequestParser):
    """A request that is being read, with limits on its URL and body."""

    error: Any
    completed: bool
    expect_continue: bool
    asked = False  # whether the site has accepted a body of more than SMALL bytes
    largest = SMALL
    continue_later = False
    body_rcv: Any
    content_length: int
    body_bytes_received: int
    headers_finished: bool
    refusal: tuple[str, list[tuple[str, str]], bytes] | None = None

    @property
    def needs_consent(self) -> bool:
        large = max(self.content_length, self.body_bytes_received) > SMALL
        return large and self.headers_finished and not (self.asked or self.completed)

    def received(self, data: bytes) -> int:
        """Process received bytes and return how many of them belong to this request."""
        consumed: int = super().received(data)
        between = len(getattr(self.body_rcv, "control_line", b"")) + len(getattr(self.body_rcv, "trailer", b""))
        if self.error is None and between > LARGEST_CONTROL:
            self.error = BadRequest("The chunks of the body can't be read.")
        elif self.error is None and self.asked and self.body_bytes_received > self.largest:
            self.error = RequestEntityTooLarge(f"Expected at most {self.largest:,} bytes, got more.")
        self.completed = self.completed or self.error is not None
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Read the headers; if the body is large, send `100 Continue` only after the site has accepted the body."""
        super().parse_header(header_plus)
        if len(self.request_uri) > LONGEST_ADDRESS:
            raise ParsingError(f"Expected an address of at most {LONGEST_ADDRESS:,} bytes, got a longer one.")
        if self.expect_continue and self.content_length > SMALL:
            self.expect_continue, self.continue_later = False, True

    def get_body_stream(self) -> Any:
        # A body that is not complete yet is not read.
        return super().get_body_stream() if self.completed else io.BytesIO()
