"""Masks what logs must not contain: secret addresses of participants, and rows that a database quotes."""

import logging
import re

# After these prefixes comes a secret: addresses of participants, links to sign in, to reset a password or to confirm an
# address, and the return address of an OpenID Connect provider. Caddyfile has the same list.
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
    """A formatter that masks its lines, including tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))
