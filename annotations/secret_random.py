"""Random choices that only the site can repeat: drawn from its secret key, so that no participant predicts them.

The dataset's spec and the participant's address are known to whoever takes part. A choice that followed from them
alone, as which items check who reads, could be computed before it is shown.
"""

import random

from django.utils.crypto import salted_hmac

from annotations.models import Participant

SALT = "annotations.chance"  # keeps these from whatever else is derived from SECRET_KEY


def seed_of(what: str, whose: str) -> int:
    return int.from_bytes(salted_hmac(f"{SALT}.{what}", whose, algorithm="sha256").digest())


def chance_for(participant: Participant, what: str) -> random.Random:
    """Return the source of one kind of random choice for a participant, always the same.

    Participants who began under the earlier rule keep it, so that an update changes nothing in their session.
    """
    if participant.drawing == Participant.Drawing.BY_ADDRESS:
        return random.Random(f"{what} {participant.secret}")  # noqa: S311 - the rule they began with
    return random.Random(seed_of(what, participant.secret))  # noqa: S311 - the seed is secret, and 256 bits long
