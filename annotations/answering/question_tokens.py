"""Signed tokens with which a participant proves that a question or page was given to them. They are not stored.

The token of a question contains no information, not even whether it is a check question. It is only a signature. The
site finds the item of a token by computing the signature of each possible item.
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
