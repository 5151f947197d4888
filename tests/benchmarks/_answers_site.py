"""The scratch site of the benchmark `answers`: begins a study, and counts its answers afterwards."""

import json
import random
import sys
from collections import Counter

import django

django.setup()

from annotations.answering import slot_assignment  # noqa: E402
from annotations.models import Answer, Study  # noqa: E402
from generation.models import Dataset  # noqa: E402
from generation.storage.split_index import SplitIndex  # noqa: E402
from webapp.models import User  # noqa: E402

WANTED = 3


def begin(questions: int) -> str:
    """Open a new study and return its code."""
    split = Dataset.objects.get().splits.get()
    owner, _ = User.objects.get_or_create(username="rosa")
    study = Study.objects.create(
        split=split, owner=owner, title="How well people see", per_question=WANTED, per_session=1000,
        practice=0, checks=0, attention=0, completed="DONE",
    )  # fmt: skip
    scenes = SplitIndex.open(split).scenes[:questions].tolist()
    slot_assignment.lay_out(study, list(enumerate(scenes)), ranks=random.Random(0).sample(range(questions), questions))
    return study.code


def count_answers(code: str) -> dict[str, int]:
    """Count the questions of a study, the questions with exactly the wanted number of answers, and all answers.

    The second number is 0 if a participant answered a question twice.
    """
    study = Study.objects.get(code=code)
    rows = Answer.objects.counted().filter(question__study=study).values_list("question", "participant")
    exact = sum(n == WANTED for n in Counter(question for question, _ in set(rows)).values())
    return {
        "questions": study.questions.count(),
        "exact": exact if len(set(rows)) == len(rows) else 0,
        "answers": Answer.objects.filter(question__study=study).count(),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(begin(int(sys.argv[2])) if sys.argv[1] == "begin" else count_answers(sys.argv[2])))
