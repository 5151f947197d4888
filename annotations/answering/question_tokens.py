"""Tokens that participants send back to show that they were given something: signed by the site, stored nowhere.

The token of a question contains no information, not even whether it is a check question. It is only a signature, and
the site tries which item it belongs to.
"""

from collections.abc import Iterable

from django.core import signing
from django.core.signing import BadSignature, Signer
from django.utils.crypto import constant_time_compare

from annotations.models import Participant, Study

ANSWER, TEST = "annotations.answer", "annotations.test"


def token_of(participant: Participant, what: str) -> str:
    return Signer(salt=ANSWER).signature(f"{participant.pk}:{what}")


def find(participant: Participant, token: str, *, among: Iterable[str]) -> str | None:
    """Return the text in `among` that a participant's token was made for, or None if the token is not valid."""
    if not token.isascii():
        return None
    return next((what for what in among if constant_time_compare(token, token_of(participant, what))), None)


def test_token(study: Study) -> str:
    return signing.dumps(study.code, salt=TEST)


def is_test(study: Study, token: str) -> bool:
    try:
        return bool(signing.loads(token, salt=TEST) == study.code)
    except BadSignature:
        return False
