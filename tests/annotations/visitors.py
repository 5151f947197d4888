"""A visitor who takes part: it follows links and sends forms, as a browser without scripts does."""

import html
import re
from typing import Any

from django.test import Client

from annotations.answering import color_vision, participant_flow, slot_assignment
from annotations.answering import questions as asked
from annotations.answering.answer_forms import swatches_of
from annotations.answering.session import Sitting
from annotations.models import Participant, Study
from generation.models import Dataset
from webapp.models import User

FIELD = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')
PART = re.compile(r'<input type="(?:radio|checkbox)" name="(part[^"]*)" value="([^"]*)"')
CHOICE = re.compile(r'name="answer" value="([^"]*)"')


def study_of(dataset: Dataset, *, questions: int = 6, **options: Any) -> Study:
    """Return an open study of a dataset's val split, which has four questions per scene."""
    plain = {
        "checks": 0,
        "attention": 0,
        "practice": 0,
        "completed": "DONE-1",
        "full": "FULL-1",
        "screened_out": "OUT-1",
    }
    owner, _ = User.objects.get_or_create(username="rosa")
    splits = {"split": dataset.splits.get(name="val"), "easy": dataset.splits.get(name="train")}
    study = Study.objects.create(**{"owner": owner, "title": "How well people count"} | splits | plain | options)
    slot_assignment.lay_out(study, [(position, position // 4) for position in range(questions)], ranks=range(questions))
    return study


class Visitor:
    """A participant's browser, without scripts and without cookies."""

    def __init__(self, study: Study, query: str = "") -> None:
        self.study = study
        self.client = Client()
        self.joined = self.client.get(f"/s/{study.code}/{query}")
        self.address = self.joined.get("Location", "")
        self.page = ""

    @property
    def participant(self) -> Participant:
        """Return the participant of this visitor."""
        return Participant.objects.get(secret=self.address.split("/")[3])

    def look(self, query: str = "") -> str:
        """Load the page of the participant and return it."""
        response = self.client.get(self.address + query)
        assert response.status_code == 200, response.content
        self.page = response.content.decode()
        return self.page

    def fields(self) -> dict[str, str]:
        """Return the hidden fields of the page."""
        return {name: html.unescape(value) for name, value in FIELD.findall(self.page)}

    def choices(self) -> list[str]:
        """Return the answers for which the page has buttons."""
        return [html.unescape(text) for text in CHOICE.findall(self.page)]

    def parts(self) -> list[tuple[str, str]]:
        """Return name and value of each box on the page that can be ticked."""
        return [(name, html.unescape(text)) for name, text in PART.findall(self.page)]

    def send(self, to: str, **more: str) -> Any:
        """Send the form of the page and return the response."""
        return self.client.post(f"{self.address}{to}/", {**self.fields(), **more})

    def go_on(self, **more: str) -> str:
        """Send the form of a page without a question, and return the next page."""
        response = self.send("on", **more)
        assert response.status_code == 303, response.content
        return self.look()

    def answer(self, text: str | None = None) -> str:
        """Answer the page with `text`, or with its first choice, and return the next page."""
        chosen = dict(reversed(self.parts())) if text is None else {}
        response = self.send("answer", answer=self.choices()[0] if text is None else text, **chosen)
        assert response.status_code == 303, response.content
        return self.look("?" + response["Location"].partition("?")[2])

    def asked(self) -> str:
        """Return the question on the page."""
        found = re.search(r"<h1[^>]*>(.*?)</h1>", self.page, flags=re.DOTALL)
        assert found is not None
        return html.unescape(found[1])

    def to_questions(self) -> str:
        """Go to the first page that asks a question, with right answers to the pairs of colours, and return it."""
        self.look()
        while 'name="answer"' not in self.page and "/on/" in self.page:
            self.go_on(**(answer_pairs(self.participant) if "pair-0" in self.page else {}))
        return self.page


def answer_pairs(participant: Participant, *, wrong: int = 0) -> dict[str, str]:
    """Return the form fields that answer the pairs of colours, with the first `wrong` answers wrong."""
    pairs = color_vision.pairs_for(participant, swatches_of(participant.study.split))
    return {
        f"pair-{number}": "same" if pair.is_same != (number < wrong) else "different"
        for number, pair in enumerate(pairs)
    }


def right_answer(visitor: Visitor) -> str:
    """Return the right answer to the question of a visitor, which the page does not contain."""
    sitting = Sitting(visitor.participant)
    item = participant_flow.item_named(sitting, visitor.fields()["token"])
    assert item is not None
    found = asked.look_up(sitting, item)
    assert found is not None and found.right is not None
    return found.right


def wrong_answer(visitor: Visitor) -> str:
    """Return a wrong answer for which the page has a button."""
    right = right_answer(visitor)
    return next(choice for choice in visitor.choices() if choice != right)
