"""Results: the answers of a run, the report on them, and what is submitted."""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from generation.asking.answers import AnswerReader, unknown_mark_in
from generation.asking.console import KEPT_ERROR, SECRETS, SHOWN, printable, tell
from generation.asking.digests import as_json
from generation.asking.model_server.limits import Sampling
from generation.asking.model_server.model_reply import ANSWERED, FAILED, REFUSED, STATES, TOKENS, tokens_in
from generation.asking.question_run import ModelRequest, QuestionRun, cost_of
from generation.asking.questions import AskedQuestion
from generation.asking.site import ANSWERS
from generation.engine.replies.steps import StepScore, score_steps

SHOWN_REASONS = 5
TOO_MANY = "(too many steps)"


class Result(NamedTuple):
    """The answer to a question, or None with the state that prevents it.

    `unread` has replies without an answer, and `steps` the score of the steps if they were asked for. `reason` is the
    text of a refusal or of an error.
    """

    question: AskedQuestion
    state: str
    answer: str | None
    unread: list[str]
    steps: StepScore | None = None
    reason: str = ""


def results_of(
    run: QuestionRun, questions: Sequence[AskedQuestion], reader: AnswerReader, *, epoch: int = 0
) -> list[Result]:
    """Return the results of all questions. Only replies whose state is `answered` are read."""
    results, form = [], run.form
    for question in questions:
        answers: list[str | None] = []
        states, unread, reasons = [], [], []
        for number, variant in enumerate(form.variants(question)):
            kept = run.outcomes[question.number, number, epoch]
            states.append(kept.state)
            reasons.append(kept.error or "")
            is_answered = kept.state == ANSWERED and kept.reply is not None
            answer = form.read(reader, kept.reply or "", question=question, variant=variant) if is_answered else None
            answers.append(answer)
            if is_answered and answer is None:
                unread.append(kept.reply or "")
        state = next((state for state in states if state != ANSWERED), ANSWERED)
        said = (kept.reply or "") if state == ANSWERED else ""
        steps = score_steps(said, question.steps) if form.has_steps else None
        answer = form.combine(answers) if None not in answers else None
        results.append(Result(question, state, answer, unread, steps, next(filter(None, reasons), "")))
    return results


def write_results(folder: Path, results: Sequence[Result]) -> bytes:
    """Write `answers.jsonl`, `unread.jsonl` and `steps.jsonl`, and return the content of the first."""
    rows = [{"question_id": one.question.number, "answer": one.answer, "state": one.state} for one in results]
    unread = [{"question_id": one.question.number, "reply": reply} for one in results for reply in one.unread]
    steps = [steps_row(one, one.steps) for one in results if one.steps is not None]
    answers = b"".join(as_json(row) + b"\n" for row in rows)
    replace(folder / ANSWERS, [answers])
    replace(folder / "unread.jsonl", (as_json(SECRETS.value(row)) + b"\n" for row in unread))
    if steps:
        replace(folder / "steps.jsonl", (as_json(row) + b"\n" for row in steps))
    return answers


def replace(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file completely or not at all."""
    draft = path.with_name(f"{path.name}.part")
    with draft.open("wb") as file:
        for piece in pieces:
            file.write(piece)
    draft.replace(path)


def steps_row(one: Result, score: StepScore) -> dict[str, Any]:
    """Return the line of `steps.jsonl`. Without a complete reply, no step is right."""
    named = zip((step.function for step in one.question.steps), score.right)  # noqa: B905 - Python 3.9
    return {
        "question_id": one.question.number,
        "state": one.state,
        "steps": [{"step": function, "right": is_right} for function, is_right in named],
        "accuracy": round(score.accuracy, 6),
        "first_wrong": score.first_wrong,
        "problem": score.problem if one.state == ANSWERED else one.state,
    }


def report(results: Sequence[Result], again: Sequence[Result]) -> Iterator[str]:
    """Yield the report on the results, as lines of text."""
    states = Counter(one.state for one in results)
    yield f"questions {len(results):,}: " + ", ".join(f"{state} {states[state]:,}" for state in STATES)
    yield from report_reasons(results)
    unread = [(one.question.number, reply) for one in results for reply in one.unread]
    yield f"replies without a readable answer: {len(unread):,}"
    for number, reply in unread[:10]:
        yield f"  question {number}: {printable(reply)}"
    if len(unread) > 10:
        yield "  all of them are in unread.jsonl"
    for mark, count in Counter(unknown_mark_in(reply) for _, reply in unread).most_common():
        if mark:
            yield f"  {count:,} of them are mostly between marks that are not known: {printable(mark)}"
    known = [one for one in results if one.question.answer is not None]
    if known:
        right = sum(one.answer == one.question.answer for one in known)
        yield f"right: {right:,} of {len(known):,} ({100 * right / len(known):.1f} %)"
    yield from report_steps([one for one in results if one.steps is not None])
    if again:
        first = {one.question.number: one.answer for one in results}
        pairs = [(first[one.question.number], one.answer) for one in again]
        both = [pair for pair in pairs if None not in pair]
        same = sum(one == other for one, other in both)
        yield f"asked twice: {len(again):,} questions, {len(both):,} with two answers, of which {same:,} agree"


def report_reasons(results: Sequence[Result]) -> Iterator[str]:
    """Yield the most frequent reasons of refusals and failures, as lines of text."""
    for state in (REFUSED, FAILED):
        reasons = Counter(printable(one.reason) for one in results if one.state == state and one.reason)
        for reason, count in reasons.most_common(SHOWN_REASONS):
            yield f"  {state} {count:,}: {reason}"
        if len(reasons) > SHOWN_REASONS:
            yield f"  {state} for {len(reasons) - SHOWN_REASONS:,} other reasons: see replies.jsonl"


def report_steps(results: Sequence[Result]) -> Iterator[str]:
    """Yield the report on the steps, for all of them and for each function, as lines of text."""
    right, every, first = Counter[str](), Counter[str](), Counter[str]()
    answered, complete = [0, 0], 0
    for one in results:
        score = one.steps or StepScore((), 0.0, None, "")
        functions = [printable(step.function) for step in one.question.steps]
        every.update(functions)
        right.update(name for name, is_right in zip(functions, score.right) if is_right)  # noqa: B905 - Python 3.9
        complete += score.first_wrong is None
        if score.first_wrong is not None and one.state == ANSWERED:
            first[functions[score.first_wrong] if score.first_wrong < len(functions) else TOO_MANY] += 1
        if one.state == ANSWERED:
            answered = [answered[0] + sum(score.right), answered[1] + len(functions)]
    if not results:
        return
    yield f"steps right: {share(sum(right.values()), sum(every.values()))}; in complete replies: {share(*answered)}"
    yield f"questions with all steps right: {share(complete, len(results))}"
    problems = sum(bool(one.steps and one.steps.problem) for one in results if one.state == ANSWERED)
    yield f"complete replies whose steps do not have the requested form: {problems:,}"
    width = max(map(len, [*every, *first]))
    yield f"  {'step':{width}}  right, and how often it is the first wrong step of a complete reply"
    for name in sorted({*every, *first} - {TOO_MANY}) + [TOO_MANY] * (TOO_MANY in first):
        shown = share(right[name], every[name]) if name in every else "-"
        yield f"  {name:{width}}  {shown}, first wrong {first[name]:,}"


def share(right: int, every: int) -> str:
    return f"{right:,} of {every:,}" + (f" ({100 * right / every:.1f} %)" if every else "")


def packed_replies(log: Path, run: QuestionRun, requests: Sequence[ModelRequest]) -> Path:
    """Write the last attempt of each request, with its cost, into a gzip file beside the log, and return its path.

    A failed attempt counts only if there is no other one.
    """
    wanted = {(request.question.number, run.key_of(request)): request for request in requests}
    places: dict[tuple[int, str], tuple[bool, int]] = {}
    with log.open("rb") as file:
        at = 0
        for line in file:
            row = json.loads(line)
            name, is_reply = (row["question"], row["key"]), row["state"] != FAILED
            if name in wanted and (is_reply or not places.get(name, (False, 0))[0]):
                places[name] = (is_reply, at)
            at += len(line)
        target = log.with_name("sent-replies.jsonl.gz")
        draft = target.with_name(f"{target.name}.part")
        with draft.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
            for name, request in wanted.items():
                if name in places:
                    file.seek(places[name][1])
                    packed.write(as_json(sent_record(json.loads(file.readline()), request, run)) + b"\n")
    draft.replace(target)
    return target


def sent_record(record: dict[str, Any], request: ModelRequest, run: QuestionRun) -> dict[str, Any]:
    """Return a stored record as the site reads it: only with valid values, and with the cost if it is known.

    Its form and variant are those of this run, because another form may have sent the same prompt.
    """
    usage, reasoning, prices = record.get("usage"), record.get("reasoning"), run.tally.prices
    tokens = tokens_in(usage if isinstance(usage, dict) else None)
    record["usage"] = {name: count for name, count in zip(TOKENS, tokens) if count is not None}  # noqa: B905
    if isinstance(reasoning, dict):
        texts = {name: one if isinstance(one, str) else as_json(one).decode() for name, one in reasoning.items()}
        record["reasoning"] = texts
    for name in ("finish_reason", "served_model"):
        record[name] = (record.get(name) or "")[:SHOWN] or None
    record.update(form=run.settings.form, variant=request.variant, epoch=request.epoch)
    known = [count for count in tokens if count is not None]
    if prices is not None and len(known) == len(tokens):
        record["cost"] = round(cost_of(known, prices), 9)
    return record


def report_submission(found: Mapping[str, Any]) -> int:
    """Print the result of a submission and return the exit status."""
    if found["state"] != "done":
        said = printable(found.get("message", ""), KEPT_ERROR)
        tell(f"Submission {printable(found['id'])} {printable(found['state'])}: {said}")
        return 2
    for score in found.get("scores") or ():
        figure = score.get("accuracy")
        told = "" if figure is None else f", accuracy {100 * figure:.1f} %"
        tell(f"{printable(score['split'])}: n = {score['n']:,}{told}")
    return 0


def fields_of(options: argparse.Namespace, fingerprint: str, note: str = "") -> dict[str, str]:
    fields = {"split": options.split, "method": options.method or options.model, "run": options.run}
    return {name: value for name, value in {**fields, "fingerprint": fingerprint, "note": note}.items() if value}


def note_of(options: argparse.Namespace, sampling: Sampling, results: Sequence[Result]) -> str:
    """Return how the questions were asked, for the readers of the board."""
    states = Counter(one.state for one in results)
    said = [f"{state} {states[state]:,}" for state in STATES if states[state]]
    said += [f"{name} {value}" for name, value in sampling.sent.items() if isinstance(value, (int, float))]
    scale = [] if options.scale is None else [f"pictures scaled by {options.scale}"]
    return f"ask.py, form {options.form}: {', '.join([*said, *scale])}"[:500]
