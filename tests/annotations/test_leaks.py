"""All responses that a participant's browser gets: none contains data that only the site may know."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from annotations.answering import questions as asked_questions
from annotations.answering.questions import positions as practice_positions
from annotations.models import Participant, Study
from generation.models import Dataset, Question, Scene
from tests.annotations import answered
from tests.annotations.visitors import Visitor, answer_pairs, study_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
RIGHT = "quagga"  # the fixture makes this word the right answer to every question
SECRET = ("zebra", "okapi", "bongo", "serval", "genet", "filter_", "query_")
LINK = re.compile(r'(?:src|href|action)="([^"]+)"')
JSON = {"Accept": "application/json"}


@pytest.fixture
def study(shapes: Dataset) -> Iterator[Study]:
    """Give a study whose secret data contain words that occur nowhere else."""
    asked_questions._words_at.cache_clear()  # processes keep questions, because those of a sealed split never change
    questions = Question.objects.filter(split__dataset=shapes)
    questions.update(answer=RIGHT, source_id="zebra", spelling="zebra")
    practice_positions(shapes.splits.get(name="train"), least=1)  # found and cached before the scenes are changed
    Scene.objects.filter(split__dataset=shapes).update(data=json.dumps({"objects": ["zebra"]}), view='{"x": "zebra"}')
    study = study_of(shapes, practice=2, practice_right=0, checks=1, attention=1, consent="Yes?", per_question=2)
    names = {"identity": "bongo", "session": "serval", "comment": "okapi", "reason": "genet"}
    other = Participant.objects.create(study=study, **names)
    answered.put(other, study, 0, "okapi", number=0)
    yield study
    asked_questions._words_at.cache_clear()


class Browser(Visitor):
    """A visitor that keeps all responses."""

    def __init__(self, study: Study, query: str, *, is_script: bool) -> None:
        super().__init__(study, query)
        self.got: list[tuple[str, str]] = []
        self.is_script = is_script

    def keep(self, address: str, response: Any) -> Any:
        self.got.append((address, str(response.headers) + response.getvalue().decode("latin-1")))
        return response

    def look(self, query: str = "") -> str:
        address = self.address + query
        response = self.keep(address, self.client.get(address, headers=JSON if self.is_script else {}))
        assert response.status_code == 200
        self.page = response.content.decode()
        return self.page

    def answer(self, text: str | None = None) -> str:
        sent = {**self.fields(), "answer": self.choices()[0] if text is None else text}
        response = self.client.post(f"{self.address}answer/", sent, headers=JSON if self.is_script else {})
        self.keep("answer/ " + ("to practice" if self.at_practice else ""), response)
        address = response.json()["next"] if self.is_script else response["Location"]
        return self.look("?" + address.partition("?")[2])

    @property
    def at_practice(self) -> bool:
        return self.participant.stage == Participant.Stage.PRACTICE

    def links(self) -> Iterator[str]:
        """Yield the links of all responses so far that lead to this site."""
        pages = "".join(text for _, text in self.got)
        yield from sorted({html.unescape(link) for link in LINK.findall(pages) if link.startswith("/")})


@pytest.mark.parametrize("is_script", [False, True], ids=["forms", "scripts"])
def test_no_response_contains_right_answers_or_answers_of_others(study: Study, is_script: bool) -> None:
    visitor = Browser(study, "?PROLIFIC_PID=p1", is_script=is_script)
    visitor.look()
    while not visitor.choices():
        visitor.look("?stop=1")
        visitor.look()
        visitor.go_on(**(answer_pairs(visitor.participant) if "pair-0" in visitor.page else {}))
    while visitor.choices():
        visitor.look("?stop=1")
        visitor.look("?zoom=4")
        if not visitor.at_practice:
            visitor.look("?again=1")
            visitor.look()
        visitor.answer()
        visitor.look()
    visitor.go_on(comment="Nice.")
    for link in visitor.links():
        visitor.keep(link, visitor.client.get(link))
    kinds = {
        kind for kind in ("picture", "pair", "static", "seen") if any(kind in address for address, _ in visitor.got)
    }
    assert kinds == {"picture", "pair", "static", "seen"} and len(visitor.got) > 60
    assert "DONE-1" in visitor.page
    wrong = [(address, word) for address, text in visitor.got for word in find_secrets(address, text)]
    assert wrong == []
    assert sum(RIGHT in text for address, text in visitor.got if is_feedback(address)) >= 2


def is_feedback(address: str) -> bool:
    return "seen=" in address or address == "answer/ to practice"


def find_secrets(address: str, text: str) -> list[str]:
    """Return the secret words in a response; only feedback on practice may contain the right answer."""
    return [word for word in (*SECRET, *(() if is_feedback(address) else (RIGHT,))) if word in text]
