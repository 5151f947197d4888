"""Which studies somebody took part in, by the platform's name for them, also after that name was erased."""

from django.db.models import Q
from django.utils.crypto import salted_hmac

from annotations.models import Participant, Study

SALT = "annotations.identity"


def keyed_hash(identity: str) -> str:
    """Return what is kept of an erased identity: nobody without the site's key can tell whose it was."""
    return salted_hmac(SALT, identity, algorithm="sha256").hexdigest()


def took_part(study: Study, identity: str) -> bool:
    """Return whether a person took part in a study that this one excludes, or was erased from this one.

    Who found no question left in an earlier one may come.
    """
    if not identity:
        return False
    erased = Q(erased_identity=keyed_hash(identity))
    earlier = Participant.objects.filter(study__in=study.not_from.all(), is_test=False)
    earlier = earlier.filter(Q(identity=identity) | erased).exclude(stage=Participant.Stage.FULL)
    return earlier.exists() or Participant.objects.filter(erased, study=study, is_test=False).exists()
