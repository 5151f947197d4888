"""Whether anything changed that the results of a study show: a short word for the state they are in."""

from django.db.models import Count, Max, Q
from django.utils import timezone

from annotations.models import Answer, EasyAnswer, Participant, Study
from generation.engine.canonical import digest

A_WHILE = 300  # seconds
LETTERS = 20


def state_of(study: Study) -> str:
    """Return a word that is another one once an answer came, somebody moved on or was left out or taken back.

    It takes three small queries. Every five minutes it changes anyhow, for some figures change with time: the pace, and
    which sessions are over.
    """
    people = Participant.objects.filter(study=study).aggregate(
        n=Count("pk"),
        out=Count("excluded"),
        last_out=Max("excluded"),
        last_back=Max("taken_back"),
        ended=Count("finished"),
        moved=Count("pk", filter=Q(stage=Participant.Stage.COMMENT)),
    )
    answers = Answer.objects.filter(participant__study=study)
    state = [
        study.state,
        {name: str(value) for name, value in people.items()},
        answers.aggregate(last=Max("pk")),
        EasyAnswer.objects.filter(participant__study=study).aggregate(last=Max("pk")),
        int(timezone.now().timestamp()) // A_WHILE,
    ]
    return digest(state)[:LETTERS]
