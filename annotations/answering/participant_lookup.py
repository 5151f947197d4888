"""Finds a participant by their secret address with one short query, because the processing of every answer needs it."""

import functools
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from annotations.answering.prepared_statements import Prepared
from annotations.models import Participant, Study
from generation.models import Split

TEXTS = ("consent", "instructions", "consent_html", "instructions_html")
OWN = tuple(field.attname for field in Participant._meta.concrete_fields)
OF_STUDY = tuple(field.attname for field in Study._meta.concrete_fields if field.attname not in TEXTS)


def participant_at(code: str, secret: str) -> Participant | None:
    """Return the participant with this address, together with the study and its splits, or None if there is none.

    The texts of the study are not loaded; they are read from the database when a page shows them.
    """
    if "\0" in code + secret:
        return None
    for row in _AT.ask(code, secret):
        alias, end = connection.alias, len(OWN) + len(OF_STUDY)
        found = Participant.from_db(alias, OWN, row[: len(OWN)])
        found.study = Study.from_db(alias, OF_STUDY, row[len(OWN) : end])
        _add_splits(found.study, *row[end:])
        return found
    return None


def _at(code: str, secret: str) -> "QuerySet[Participant, tuple[Any, ...]]":
    rows = Participant.objects.filter(study__code=code, secret=secret).order_by()
    digests = ("study__split__index_digest", "study__easy__index_digest")
    return rows.values_list(*OWN, *(f"study__{name}" for name in OF_STUDY), *digests)


_AT = Prepared(_at)


def _add_splits(study: Study, digest: str, easy_digest: str | None) -> None:
    study.split = sealed_split(study.split_id, digest)
    if study.easy_id is not None and easy_digest is not None:
        study.easy = sealed_split(study.easy_id, easy_digest)


@functools.lru_cache(maxsize=200)
def sealed_split(key: int, digest: str) -> Split:
    # A sealed split does not change as long as its index digest stays the same.
    return Split.objects.select_related("dataset", "parent").get(pk=key, index_digest=digest)
