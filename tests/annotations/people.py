"""Several participants at once in one process of a site: they claim and answer until no slot is left.

Usage: `python -m tests.annotations.people begin QUESTIONS`, which prints the study's number, and
`python -m tests.annotations.people answer STUDY PEOPLE SEED`, which starts when its standard input gets a line.
"""

import random
import sys
import threading
import uuid

import django

django.setup()

from django.db import connection  # noqa: E402

from annotations.answering import slot_assignment  # noqa: E402
from annotations.models import Participant, Study  # noqa: E402
from tests.annotations.answered import claims_of  # noqa: E402
from tests.annotations.conftest import open_study  # noqa: E402

LOST = 0.05  # the share of claims whose lease expires before the answer
SENT_TWICE = 0.2  # the share of answers that are sent twice


def print_line(what: object) -> None:
    sys.stdout.write(f"{what}\n")  # one call writes the whole line, because several threads write
    sys.stdout.flush()


def begin(questions: int) -> None:
    print_line(open_study(questions=questions, per_scene=1, per_session=1000).pk)


def answer(study: Study, people: int, seed: int) -> None:
    crowd = [
        threading.Thread(target=_answer_all, args=(study, random.Random(100 * seed + number)))
        for number in range(people)
    ]
    print_line("ready")
    sys.stdin.readline()
    for person in crowd:
        person.start()
    for person in crowd:
        person.join()


def _answer_all(study: Study, chance: random.Random) -> None:
    person = Participant.objects.create(study=study)
    given = set()
    while slots := claims_of(person):
        [slot] = slots
        if slot.question_id in given:
            print_line(f"AGAIN {slot.question_id}")
        given.add(slot.question_id)
        if chance.random() < LOST:
            study.slots.filter(pk=slot.pk, participant=person, answered=False).update(lease="2000-01-01T00:00:00Z")
        reply = slot_assignment.Reply(client=uuid.UUID(int=chance.getrandbits(128)), text="yes")
        for _ in range(1 + (chance.random() < SENT_TWICE)):
            row = slot_assignment.answer(person, slot.question_id, reply)
        print_line(row.pk)
    connection.close()


if __name__ == "__main__":
    if sys.argv[1] == "begin":
        begin(int(sys.argv[2]))
    else:
        answer(Study.objects.get(pk=int(sys.argv[2])), int(sys.argv[3]), int(sys.argv[4]))
