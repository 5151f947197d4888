"""The sentence of a prompt that says how to answer: the form of the answer, and the words that are possible."""

from collections.abc import Mapping, Sequence

from generation.engine.items import AnswerForm, AnswerKind

MOST_LISTED = 40  # possible answers that a prompt lists


def answer_prompt(form: AnswerForm, synonyms: Mapping[str, str]) -> str:
    """Return the sentence that tells a model how to answer a question.

    Parameters
    ----------
    form : AnswerForm
        The form of the question's answers.
    synonyms : mapping of str to str
        Other words for answers or their parts. A part of one or two letters is explained by its synonym.

    Returns
    -------
    str
        For example `Answer yes or no.` or `Answer with one of these words: cube, cylinder, sphere.` More than 40
        answers are not listed.
    """
    if form.kind == AnswerKind.YES_NO and len(form.choices) == 2:
        return f"Answer {form.choices[0]} or {form.choices[1]}."
    if form.kind == AnswerKind.INTEGER:
        return "Answer with a number in digits."
    if form.parts:
        return _composed_prompt(form, synonyms)
    listed = f"{', '.join(form.choices)}."
    if not 0 < len(form.choices) <= MOST_LISTED:
        return "Answer with one word or number."
    return f"Answer with one of these {'words' if _are_words(form.choices) else 'answers'}: {listed}"


def _composed_prompt(form: AnswerForm, synonyms: Mapping[str, str]) -> str:
    meanings = {part: word for word, part in synonyms.items() if len(part) <= 2 and word.isalpha()}
    parts = [f"{part} ({meanings[part]})" if part in meanings else part for part in form.parts]
    listed = f" {', '.join(parts)}." if len(parts) <= MOST_LISTED else ""
    if form.kind == AnswerKind.SET:
        nothing = f", or with {form.empty}" if form.empty else ""
        words = f" The words:{listed}" if listed else ""
        return f"Answer with words joined by commas, in any order{nothing}.{words}"
    count = f"{form.length} " if form.length else ""
    return (
        f"Answer with {count}of these, joined by commas, in order:{listed}"
        if listed
        else (f"Answer with {count}words joined by commas, in order.")
    )


def _are_words(choices: Sequence[str]) -> bool:
    return all(choice.isalpha() for choice in choices)
