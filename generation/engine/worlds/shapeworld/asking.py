"""What people and models are asked of a caption, and how they answer."""

from generation.engine.items import AnswerForm, AnswerKind, Question

ANSWERS = ("yes", "no")
INSTRUCTION = "Does this caption fit the picture?"


def prompt(question: Question) -> str:
    """Return what a model is told: what is asked, the caption, the form of the answer."""
    return f"{INSTRUCTION}\n{question.text}\nAnswer yes or no."


def answer_form(question: Question) -> AnswerForm:
    """Return how a person answers: yes or no, the caption standing under what is asked of it."""
    return AnswerForm(AnswerKind.YES_NO, ANSWERS, {}, instruction=INSTRUCTION)
