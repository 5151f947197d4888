"""Who asks, by the address that only they have: found with one short query, since every answer begins with it."""

import functools

from annotations.models import Participant, Study
from generation.models import Split

OF_STUDY = (
    *("code", "title", "state", "wanted", "per_question", "per_session", "lease_minutes", "palette"),
    *("practice", "practice_right", "checks", "attention", "completed", "screened_out", "full"),
)


def participant_at(code: str, secret: str) -> Participant | None:
    """Return who has this address, with their study and its splits; None where nobody has."""
    if "\0" in code + secret:
        return None
    rows = Participant.objects.filter(study__code=code, secret=secret).order_by()
    rows = rows.select_related("study__split", "study__easy")
    own = [field.name for field in Participant._meta.concrete_fields]
    study = [f"study__{name}" for name in (*OF_STUDY, "split__index_digest", "easy__index_digest")]
    found = rows.only(*own, *study).first()
    if found is not None:
        _add_splits(found.study)
    return found


def _add_splits(study: Study) -> None:
    study.split = sealed_split(study.split_id, study.split.index_digest)
    if study.easy_id is not None and study.easy is not None:
        study.easy = sealed_split(study.easy_id, study.easy.index_digest)


@functools.lru_cache(maxsize=200)
def sealed_split(key: int, digest: str) -> Split:
    """Return a split; one that is sealed never changes, and its index says which it is."""
    return Split.objects.select_related("dataset", "parent").get(pk=key, index_digest=digest)
