"""Masks what logs must not contain: addresses with secrets, and values of rows that an error of the database quotes."""

import logging
import re

from generation.queue.outages import one_line

# After each of these prefixes, an address contains a secret: the address of a participant, a link to sign in, to reset
# a password or to confirm an email address, or the return address of an OpenID Connect provider. Caddyfile has the same
# list.
PRIVATE = "s/|login/|accounts/password/reset/key/|accounts/confirm-email/|accounts/oidc/"
MASKED = (
    (re.compile(rf"""(/|(?<=['"]))({PRIVATE})[^\s"'<>]+"""), r"\1\2…"),
    (re.compile(r"Failing row contains \(.*\)"), "Failing row contains (…)"),
    (re.compile(r"(Key \([^)]*\))=\(.*\)"), r"\1=(…)"),
)


def mask(text: str) -> str:
    for pattern, instead in MASKED:
        text = pattern.sub(instead, text)
    return text


class MaskingFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(one_line(record)))  # the traceback is masked, too
