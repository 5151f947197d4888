"""Random choices that only the site can reproduce: derived from its secret key, so participants can't predict them.

Participants know the dataset's spec and their own address. A choice that depended only on these, such as which items
are checks, could be computed in advance.
"""

import random

from django.utils.crypto import salted_hmac

from annotations.models import Participant

SALT = "annotations.chance"  # separates these values from others that are derived from SECRET_KEY


def seed_of(what: str, whose: str) -> int:
    return int.from_bytes(salted_hmac(f"{SALT}.{what}", whose, algorithm="sha256").digest())


def chance_for(participant: Participant, what: str) -> random.Random:
    """Return the random generator for one kind of choice for a participant; it is always seeded the same.

    Participants who began under the earlier rule keep it, so that an update does not change their session.
    """
    if participant.drawing == Participant.Drawing.BY_ADDRESS:
        return random.Random(f"{what} {participant.secret}")  # noqa: S311 - the rule they began with
    return random.Random(seed_of(what, participant.secret))  # noqa: S311 - the seed is secret, and 256 bits long
