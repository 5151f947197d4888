"""The methods section for a paper about a study, as plain text that researchers can copy."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Max, Min

from annotations.answering import exclusion_rules
from annotations.answering.participants import Person
from annotations.models import Answer, Participant, Study
from annotations.results.exclusion_effect import Sides
from annotations.results.study_statistics import Headline
from generation.engine.scoring.figures import TOO_FEW, Share, interval_text, percent
from generation.splits.question_sets import describe_recipe

TRIES = 2


def methods_text(study: Study, found: Sides, people: Sequence[Person]) -> str:
    """Return the text about questions, people, exclusions and results, with a blank line between paragraphs.

    Parameters
    ----------
    study : Study
    found : Sides
        The figures if nobody were excluded, if the stated rules were applied, and as they are now.
    people : sequence of Person
        Everybody who followed the link.
    """
    real = [one for one in people if not one.participant.is_test]
    now = found.now.headline
    excluded = _exclusions(study, found, real) if found.everyone.headline.answers else ""
    parts = (_questions(study), _people(study, real), _rules(study), excluded, _results(study, now))
    return "\n\n".join(part for part in parts if part)


def _questions(study: Study) -> str:
    split = study.split
    of = f", a question set: {describe_recipe(split)}," if split.is_derived else ""
    drawn = f"evenly over the values of “{study.evenly}”" if study.evenly else "uniformly at random"
    n = study.questions.count()
    said = [
        f"We drew {_count(n, 'question')} {drawn} (seed {study.seed}) from split {split.name} of {split.dataset.name}"
        f"{_hash(study)}{of} and asked for {_count(study.per_question, 'answer')} to each, from different people. "
        f"Participants chose from all answers that the form of the question allows; they could also say that they "
        f"could not answer. A session had at most {_count(study.per_session, 'question')}."
    ]
    if study.easy is not None and study.practice:
        said.append(
            f"Before that, participants practised with {_count(study.practice, 'easy question')} of another split and "
            f"saw the right answers. They needed at least {study.practice_right} right answers, and had {TRIES} tries."
        )
    asked = [
        *([_count(study.checks, "check question")] if study.easy is not None and study.checks else []),
        *([_count(study.attention, "attention item")] if study.attention else []),
    ]
    if asked:
        said.append(f"Each session also had {' and '.join(asked)}, which do not count for any accuracy.")
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
        said.append(
            f"{_count(out, 'more participant')} did not pass the tests before the first question and left with the "
            "screened-out code."
        )
    return " ".join(said)


def _between(first: datetime, last: datetime) -> str:
    start, end = (f"{moment.day} {moment:%B %Y}" for moment in (first, last))
    return f"on {start}" if start == end else f"from {start} to {end}"


def _rules(study: Study) -> str:
    """Describe the exclusion rules that were fixed when the study opened; empty if the study has no fixed rules."""
    if study.rules_frozen is None:
        return ""
    said = exclusion_rules.in_words(exclusion_rules.rules_of(study))
    when = f"on {study.rules_frozen.day} {study.rules_frozen:%B %Y}, before the first answer"
    proof = f"(SHA-256 of their text: {study.rules_digest})"
    if not said:
        return f"No exclusion rule was stated {when} {proof}."
    grounds = "; ".join(said.values())
    return f"The exclusion rules were fixed {when} {proof}. Reasons for excluding a participant: {grounds}."


def _exclusions(study: Study, found: Sides, people: Sequence[Person]) -> str:
    """Describe how many participants were excluded, why, and the figures with other exclusions."""
    stated = exclusion_rules.in_words(exclusion_rules.rules_of(study))
    said = [_by_rules(found, people, stated)] if stated else []
    said += _by_hand(found, stated)
    if found.spared:
        said.append(
            f"{_whom_rules_name(found.spared)} {_verb(found.spared, 'was', 'were')} included again and "
            f"{_verb(found.spared, 'counts', 'count')}."
        )
    if found.waiting:
        said.append(f"{_whom_rules_name(found.waiting)} still {_verb(found.waiting, 'counts', 'count')}.")
    enough = not any(side.headline.majority.is_too_small for side in (found.everyone, found.by_rules, found.now))
    if enough and (found.now.left_out or found.by_rules.left_out):
        said.append(_otherwise(found, has_rules=bool(stated)))
    return " ".join(said)


def _by_rules(found: Sides, people: Sequence[Person], stated: Mapping[str, str]) -> str:
    due = [one for one in people if one.is_due]
    if not due:
        return "They exclude nobody."
    each = Counter(name for one in due for name in one.broken)
    named = "; ".join(f"{text} (n = {each[name]})" for name, text in stated.items())
    several = " Some participants meet several rules." if each.total() > len(due) else ""
    return f"They exclude {_count(found.by_rules.left_out, 'participant')}: {named}.{several}"


def _by_hand(found: Sides, stated: Mapping[str, str]) -> list[str]:
    """Describe who was excluded although no rule excludes them; without rules, that is every excluded participant."""
    if not found.extra:
        if stated:
            return [] if found.spared else ["Nobody was excluded after the fact."]
        return ["Nobody’s answers were excluded."]
    reasons = Counter(one.participant.reason.strip().rstrip(".") or "no reason given" for one in found.extra)
    named = "; ".join(f"{reason} (n = {times})" for reason, times in sorted(reasons.items()))
    when = " after the fact" if stated else ""
    return [f"The answers of {_count(len(found.extra), 'participant')} were excluded{when}: {named}."]


def _whom_rules_name(people: Sequence[Person]) -> str:
    return f"{_count(len(people), 'participant')} whom the rules exclude"


def _verb(people: Sequence[Person], one: str, several: str) -> str:
    return one if len(people) == 1 else several


def _otherwise(found: Sides, *, has_rules: bool) -> str:
    everyone, by_rules, now = (_share(side.headline.majority) for side in (found.everyone, found.by_rules, found.now))
    if not has_rules:
        return f"With everybody included, the accuracy of the majority is {everyone}."
    return (
        f"The accuracy of the majority is {everyone} with everybody included, {by_rules} without the participants whom "
        f"the rules exclude, and {now} as reported here."
    )


def _results(study: Study, top: Headline) -> str:
    if not top.majority.n or top.crossed is None:
        return ""
    majority, single = top.majority, top.single
    if majority.is_too_small:
        return f"We state no accuracy for fewer than {TOO_FEW} questions (n = {majority.n:,})."
    agreement = "" if top.alpha is None else f" Krippendorff’s alpha (nominal) is {top.alpha:.3f}."
    ties = f"{_count(top.ties, 'tie')} counted as wrong" if top.ties else "there were no ties"
    refusals = (
        f" Participants said {_count(top.refusals, 'time')} that they could not answer; these answers are not votes."
        if top.refusals
        else ""
    )
    return (
        f"The majority of up to {_count(study.per_question, 'answer')} is right on {_share(majority)} of questions; "
        f"{ties}. The 95 % interval over questions and participants (crossed bootstrap) is "
        f"{interval_text(top.crossed.majority)}; over questions only (Wilson), it is {interval_text(majority.wilson)}. "
        f"A single answer is right in {_share(single)} of cases (95 % interval by crossed bootstrap: "
        f"{interval_text(top.crossed.single)}).{agreement}{refusals}"
    )


def _share(share: Share) -> str:
    return f"{percent(share.value or 0.0)} (n = {share.n:,})"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
