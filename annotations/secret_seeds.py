"""Random choices that nobody but the site can predict or reproduce, because they are derived from its secret key.

Participants know the dataset's spec and their own address. They could compute a choice in advance if it depended only
on these, for example which items are checks.
"""

import random

from django.utils.crypto import salted_hmac

from annotations.models import Participant

SALT = "annotations.chance"  # separates these values from others that are derived from SECRET_KEY


def seed_of(what: str, whose: str) -> int:
    return int.from_bytes(salted_hmac(f"{SALT}.{what}", whose, algorithm="sha256").digest())


def chance_for(participant: Participant, what: str) -> random.Random:
    """Return the random generator for one kind of choice for a participant; its seed is always the same.

    In earlier releases the seed was made from the participant's address alone. Participants who began then keep this
    seed, so that an update does not change their session.
    """
    if participant.drawing == Participant.Drawing.BY_ADDRESS:
        return random.Random(f"{what} {participant.secret}")  # noqa: S311 - the seed of earlier releases
    return random.Random(seed_of(what, participant.secret))  # noqa: S311 - the seed is secret, and 256 bits long
