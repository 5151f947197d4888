"""What logs never say: addresses of participants, which hold what only they know, and rows that a database quotes."""

import logging
import re

# Addresses whose rest only one person knows: of participants, links to sign in, for a new password, to confirm an
# address, and the way back from an OpenID Connect provider. Caddyfile has the same list.
PRIVATE = "s/|login/|accounts/password/reset/key/|accounts/confirm-email/|accounts/oidc/"
MASKED = (
    (re.compile(rf"""(/|(?<=['"]))({PRIVATE})[^\s"'<>]+"""), r"\1\2…"),
    (re.compile(r"Failing row contains \(.*\)"), "Failing row contains (…)"),
    (re.compile(r"(Key \([^)]*\))=\(.*\)"), r"\1=(…)"),
)


def masked(text: str) -> str:
    """Return a log's text without what it may not say."""
    for pattern, instead in MASKED:
        text = pattern.sub(instead, text)
    return text


class Masked(logging.Formatter):
    """A formatter whose lines, tracebacks included, are masked."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))
