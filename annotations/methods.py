"""What a paper says of a study: paragraphs of plain text, ready to paste."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Max, Min

from annotations.models import Answer, Participant, Study
from annotations.people import Person
from annotations.results import Headline, Share, interval_text, percent

TRIES = 2


def methods_text(study: Study, stated: Headline, everyone: Headline, people: Sequence[Person]) -> str:
    """Return the text: questions, people, exclusions, results, with a blank line between paragraphs.

    Parameters
    ----------
    study : Study
    stated, everyone : Headline
        With the participants left out that are excluded, and with all of them.
    people : sequence of Person
        Everybody who followed the link.
    """
    real = [one for one in people if not one.participant.is_test]
    parts = (_questions(study), _people(study, real), _exclusions(real, stated, everyone), _results(study, stated))
    return "\n\n".join(part for part in parts if part)


def _questions(study: Study) -> str:
    split = study.split
    drawn = f"evenly over the values of “{study.evenly}”" if study.evenly else "uniformly at random"
    n = study.questions.count()
    said = [
        f"We drew {_count(n, 'question')} {drawn} (seed {study.seed}) from split {split.name} of {split.dataset.name}"
        f"{_hash(study)} and asked for {_count(study.per_question, 'answer')} to each, from different people. "
        f"Answers were chosen from the whole vocabulary that the question’s form admits; a participant could say "
        f"instead that they could not answer. A session had at most {_count(study.per_session, 'question')}."
    ]
    if study.easy is not None and study.practice:
        said.append(
            f"Before that, participants practised on {_count(study.practice, 'easy question')} of another split with "
            f"feedback and went on with {study.practice_right} or more right, in at most {TRIES} tries."
        )
    asked = [
        *([_count(study.checks, "check question")] if study.easy is not None and study.checks else []),
        *([_count(study.attention, "attention item")] if study.attention else []),
    ]
    if asked:
        said.append(f"{' and '.join(asked)} in each session count in no accuracy.")
    return " ".join(said)


def _hash(study: Study) -> str:
    source = study.split.source
    return f" (content hash {source.fingerprint[:12]})" if source.fingerprint else ""


def _people(study: Study, people: Sequence[Person]) -> str:
    worked = [one for one in people if one.given]
    if not worked:
        return ""
    done = Answer.objects.filter(question__study=study, participant__is_test=False)
    times = done.aggregate(first=Min("received"), last=Max("received"))
    stages = Counter(one.participant.stage for one in people)
    said = [
        f"{_count(len(worked), 'participant')} answered, {_between(times['first'], times['last'])}. "
        f"Pay was set at {study.currency} {study.hourly_pay:.2f} an hour."
    ]
    if out := stages[Participant.Stage.SCREENED_OUT]:
        said.append(f"{out} more did not pass the tests before the first question and left with the screened-out code.")
    return " ".join(said)


def _between(first: datetime, last: datetime) -> str:
    start, end = (f"{moment.day} {moment:%B %Y}" for moment in (first, last))
    return f"on {start}" if start == end else f"from {start} to {end}"


def _exclusions(people: Sequence[Person], stated: Headline, everyone: Headline) -> str:
    excluded = [one for one in people if one.participant.excluded is not None]
    if not excluded:
        return "Nobody’s answers were excluded." if stated.answers else ""
    reasons = Counter(one.participant.reason.strip().rstrip(".") or "no reason given" for one in excluded)
    named = "; ".join(f"{reason} (n = {times})" for reason, times in sorted(reasons.items()))
    return (
        f"The answers of {_count(len(excluded), 'participant')} were excluded: {named}. "
        f"With everybody included, the accuracy of majority votes is {_share(everyone.majority)}."
    )


def _results(study: Study, top: Headline) -> str:
    if not top.majority.n or top.crossed is None:
        return ""
    majority, single = top.majority, top.single
    agreement = "" if top.alpha is None else f" Krippendorff’s alpha (nominal) is {top.alpha:.3f}."
    ties = f"{_count(top.ties, 'tie')} counted as wrong" if top.ties else "there were no ties"
    refusals = (
        f" {_count(top.refusals, 'time')} somebody said that they could not answer; these are no votes."
        if top.refusals
        else ""
    )
    return (
        f"The majority of up to {_count(study.per_question, 'answer')} is right on {_share(majority)} of questions; "
        f"{ties}. The 95 % interval over questions and people drawn anew (crossed bootstrap) is "
        f"{interval_text(top.crossed.majority)}; Wilson’s, over questions alone, {interval_text(majority.wilson)}. "
        f"A single answer is right in {_share(single)} of cases (crossed bootstrap "
        f"{interval_text(top.crossed.single)}).{agreement}{refusals}"
    )


def _share(share: Share) -> str:
    return f"{percent(share.value or 0.0)} (n = {share.n:,})"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
