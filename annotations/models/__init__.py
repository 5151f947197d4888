"""The tables of studies, in which several people answer each question of a sample of a split."""

from annotations.models.answers import (
    Answer,
    AnswerQuerySet,
    EasyAnswer,
    EasyAnswerQuerySet,
    Given,
    Showing,
    Slot,
    SlotQuerySet,
)
from annotations.models.baselines import Baseline, BaselineQuerySet
from annotations.models.participants import Participant, new_secret
from annotations.models.studies import Study, StudyQuestion, StudyText, new_code

__all__ = [
    "Answer",
    "AnswerQuerySet",
    "Baseline",
    "BaselineQuerySet",
    "EasyAnswer",
    "EasyAnswerQuerySet",
    "Given",
    "Participant",
    "Showing",
    "Slot",
    "SlotQuerySet",
    "Study",
    "StudyQuestion",
    "StudyText",
    "new_code",
    "new_secret",
]
