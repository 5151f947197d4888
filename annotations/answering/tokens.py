"""What participants hand back to show that it was given to them: signed with the site's key, kept nowhere.

The token of a question says nothing to whoever reads it, not even whether the question is there to check them: it is
a signature alone, and the site tries what it may be of.
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
    """Return which of these things a participant's token names; None for a forged one, or somebody else's."""
    if not token.isascii():
        return None
    return next((what for what in among if constant_time_compare(token, token_of(participant, what))), None)


def test_token(study: Study) -> str:
    """Return what the study's test link has as `test=`."""
    return signing.dumps(study.code, salt=TEST)


def is_test(study: Study, token: str) -> bool:
    """Return whether a token is that of the study's test link."""
    try:
        return bool(signing.loads(token, salt=TEST) == study.code)
    except BadSignature:
        return False
