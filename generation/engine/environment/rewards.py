r"""Rewards: whether a reply is the answer. The rules are strict, because training finds ways around loose ones.

A reply earns 1.0 if the reader of replies (`generation.engine.replies`) finds the right answer in it. It reads the
same answer here as on boards and in `ask.py`. Everything else earns 0.0: several answers, an answer in a doubt, a
question or a negation, an empty reply, a reply of more than `LONGEST_STEPS` characters, and a reply that ends within a
thought or before the end of its marked answer. Numbers are never rounded: `2.6` is not the count 3, and `13` is not 3.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeGuard

from generation.engine.environment.items import EnvironmentItem
from generation.engine.items import AnswerForm, AnswerKind
from generation.engine.replies.reply_reader import ReplyReader, is_cut_off
from generation.engine.replies.steps import LONGEST_STEPS, score_steps
from generation.engine.replies.vocabulary import OUTSIDE, AnswerVocabulary

RIGHT, WRONG = 1.0, 0.0


def score_answer(reply: str | None, item: EnvironmentItem, *, is_cut: bool = False) -> float:
    """Return the reward of a reply to an item.

    Parameters
    ----------
    reply : str or None
        The text of the model, with or without its thoughts. None and empty texts earn nothing.
    item : EnvironmentItem
    is_cut : bool
        Whether the reply was cut off at the limit of tokens (`finish_reason: length`). It then earns nothing.

    Returns
    -------
    float
        1.0 for the right answer, otherwise 0.0.
    """
    return WRONG if is_cut else score_reply(reply, item.answer, item.form)


def score_with_steps(reply: str | None, item: EnvironmentItem, *, weight: float = 0.5, is_cut: bool = False) -> float:
    """Return the reward of a reply to `item.prompt_with_steps`: for its answer, and for the results of its steps.

    Parameters
    ----------
    reply : str or None
        The text of the model: one JSON array with the result of each step, and then the answer, which it must mark.
    item : EnvironmentItem
    weight : float
        The weight of the steps, 0 to 1. The share of right steps, see `generation.engine.replies.steps.score_steps`,
        is multiplied by it, and the reward of the answer by `1 - weight`.
    is_cut : bool
        Whether the reply was cut off at the limit of tokens. It then earns nothing.

    Returns
    -------
    float
        0.0 to 1.0.
    """
    if not 0.0 <= weight <= 1.0:
        raise ValueError(f"Expected a weight from 0 to 1, got {weight!r}.")
    if is_cut or not _is_complete(reply):
        return WRONG
    steps = score_steps(reply, item.steps).accuracy if weight else WRONG
    return (1.0 - weight) * score_answer(reply, item) + weight * steps


def score_reply(reply: str | None, answer: str, form: AnswerForm) -> float:
    """Return the reward of a reply to a question with this answer.

    Parameters
    ----------
    reply : str or None
    answer : str
        The right answer, one of `form.choices`.
    form : AnswerForm
        The form of the answers to the question, with their synonyms, as `World.reply_form` gives it.

    Returns
    -------
    float
        1.0 for the right answer, otherwise 0.0.
    """
    if not _is_complete(reply):
        return WRONG
    words = tuple(form.synonyms.items())
    reader = _reader(form.kind, tuple(form.choices) or (answer,), tuple(form.parts), form.empty, words)
    code = reader.code(reply, 0)
    return RIGHT if code != OUTSIDE and reader.vocabulary.answers[code] == answer else WRONG


def answer_reward(
    completions: Sequence[Any],
    solution: Sequence[str],
    answer_form: Sequence[Mapping[str, Any] | None] | None = None,
    **columns: object,
) -> list[float]:
    """Return the reward of each completion, in the form of a reward function of TRL.

    Parameters
    ----------
    completions : sequence
        Texts, or lists of chat messages, of which the last one counts.
    solution : sequence of str
        The right answer for each completion: a column of the export `trl`.
    answer_form : sequence of mapping or None, optional
        The form of the answers: a column of the export `trl`. Without a form, only the solution itself is known as an
        answer.
    **columns
        The other columns of the dataset, which are not used.

    Returns
    -------
    list of float
    """
    forms = answer_form if answer_form is not None else [{}] * len(solution)
    return [
        score_reply(text_of_completion(completion), answer, AnswerForm.from_json(form or {}))
        for completion, answer, form in zip(completions, solution, forms, strict=True)
    ]


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: Mapping[str, Any] | None = None
) -> float:
    """Return the reward of a solution, in the form of a custom reward function of verl.

    Parameters
    ----------
    data_source : str
        Not used.
    solution_str : str
        The text of the model.
    ground_truth : str
        The right answer.
    extra_info : mapping, optional
        A column of the export `verl`. Its `answer_form` has the possible answers.

    Returns
    -------
    float
    """
    return score_reply(solution_str, ground_truth, AnswerForm.from_json((extra_info or {}).get("answer_form") or {}))


def _is_complete(reply: str | None) -> TypeGuard[str]:
    """Return whether a reply is a text with words that is not too long and was not cut off."""
    return isinstance(reply, str) and len(reply) <= LONGEST_STEPS and bool(reply.strip()) and not is_cut_off(reply)


def text_of_completion(completion: Any) -> str | None:
    """Return the text of a completion: a text, or the content of the last of its chat messages; None without one."""
    if isinstance(completion, str):
        return completion
    last = completion[-1] if isinstance(completion, Sequence) and completion else completion
    content = last.get("content") if isinstance(last, Mapping) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, Sequence) else ()
    texts = [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "".join(texts) if texts else None


@lru_cache(maxsize=256)
def _reader(
    kind: AnswerKind,
    choices: tuple[str, ...],
    parts: tuple[str, ...],
    empty: str,
    synonyms: tuple[tuple[str, str], ...],
) -> ReplyReader:
    """Return the reader of a form's answers. It never rounds: `2.6` is not the count 3."""
    vocabulary = AnswerVocabulary(
        choices, (AnswerForm(kind, choices, {}, parts=parts, empty=empty).composed,), synonyms=dict(synonyms)
    )
    return ReplyReader(vocabulary, [range(len(choices))])
