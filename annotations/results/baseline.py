"""The published human baseline: people's majority as predictions like any model's, kept as they were.

`published()` gives the rows that stand, and `load(row)` the arrays behind one: `predictions` are codes of the split's
vocabulary in question order, as `generation.engine.scoring.score` takes them from a model, and the single answers are
kept with them. Their file is named by the digest of its content, so it never changes, and a backup has it.
"""

import functools
import hashlib
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction
from django.db.models import Max, Min
from django.db.models.functions import Now
from numpy.typing import NDArray

from annotations.answering import timing
from annotations.answering.participants import Person, people_of
from annotations.models import Answer, Baseline, BaselineQuerySet, Slot, Study
from annotations.results import exclusions
from annotations.results import figures as results
from annotations.results.figures import Gathered, Headline
from annotations.results.methods_text import methods_text
from annotations.studies import disclosure
from generation.engine.errors import EngineError
from generation.engine.scoring.score import NONE, Slicing, score
from generation.engine.scoring.statistics import Interval
from generation.models import Split
from generation.storage import files
from generation.storage.index import IndexedFacet, SplitIndex

FOLDER = "baselines"
MOST_CONFUSED = 30  # wrong answers that are listed
ARRAYS = ("predictions", "questions", "people", "answers")
NUMBERS = np.dtype("<i4")


class NotPublished(EngineError):
    """A baseline can't be published or withdrawn as things are."""


class Damaged(EngineError):
    """The file of a published baseline is not what was published."""


class Arrays(NamedTuple):
    """What a baseline is made of.

    Attributes
    ----------
    predictions : array (questions of the split,) of int32
        What most people say of each question, as codes of the split's vocabulary: `TIE`, `OUTSIDE` and `NONE` of
        `generation.engine.scoring.score` for what is no answer. `NONE` where nobody was asked: such questions don't
        count.
    questions, people, answers : arrays (answers,) of int32
        Single answers: to which question, by whom (numbered from 0), and which, as codes of `words`.
    words : tuple of str
        The split's vocabulary, and after it whatever else was answered.
    """

    predictions: NDArray[np.int32]
    questions: NDArray[np.int32]
    people: NDArray[np.int32]
    answers: NDArray[np.int32]
    words: tuple[str, ...]

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Return (questions of the split,) which questions count."""
        return self.predictions != NONE

    def said(self, position: int) -> list[tuple[str, int]]:
        codes = self.answers[self.questions == position].tolist()
        return Counter(self.words[code] for code in codes).most_common()


class BaselineDraft(NamedTuple):
    """A baseline as it would be published now.

    Attributes
    ----------
    arrays : Arrays
    digest, seal : str
        Of the arrays; of arrays, figures and text.
    top : Headline
    figures : dict
    methods : str
    """

    arrays: Arrays
    digest: str
    seal: str
    top: Headline
    figures: dict[str, Any]
    methods: str


class Open(NamedTuple):
    """What is not settled in a study: each of it is a reason to wait with publishing.

    Attributes
    ----------
    missing : int
        Answers wanted that nobody gave.
    under_way : int
        Questions that somebody has before them at this moment.
    unanswered : int
        Questions of the sample without one answer that counts.
    flagged : list of Person
        People whose work has a flag and who count.
    """

    missing: int
    under_way: int
    unanswered: int
    flagged: list[Person]


# What stands


def published(split: Split | None = None) -> BaselineQuerySet:
    found = Baseline.objects.published().select_related("split__dataset", "split__parent", "publisher")
    return found if split is None else found.filter(split=split)


def load(baseline: Baseline) -> Arrays:
    """Return the arrays of a published baseline; raise `Damaged` where they are not those that were published."""
    return load_digest(baseline.digest)


@functools.lru_cache(maxsize=32)
def load_digest(digest: str) -> Arrays:
    """Return the arrays of a digest; raise `Damaged` where they are not those that were published."""
    try:
        content = files.get(name_of(digest))
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = _as_arrays({name: stored[name] for name in ARRAYS}, words=stored["words"].tolist())
    except (OSError, ValueError, KeyError) as error:
        raise Damaged(f"Expected a human baseline, got none that can be read ({error}).", where=digest) from error
    if digest_of(arrays) != digest:
        raise Damaged("Expected the human baseline that was published, got another.", where=digest)
    for name in ARRAYS:
        getattr(arrays, name).flags.writeable = False
    return arrays


def name_of(digest: str) -> str:
    return f"{FOLDER}/{digest}.npz"


# What would be published


def draft(study: Study) -> BaselineDraft:
    """Return what publishing a study's human baseline now would publish."""
    found, people = results.gather(study), people_of(study)
    index = SplitIndex.open(study.split)
    excluded = [one for one in people if one.participant.excluded is not None and not one.participant.is_test]
    top = results.headline(found)
    sides = exclusions.sides(study, found, people)
    everyone = sides.everyone.headline
    arrays = arrays_of(found)
    methods = methods_text(study, sides, people)
    figures = {
        **_headline(top),
        "everyone": _headline(everyone) if excluded else None,
        "excluded": sorted(Counter(one.participant.reason.strip() for one in excluded).items()),
        **_circumstances(study, found),
        "facets": _facets(found, list(index.facets.values())),
        "confused": [list(row) for row in results.confusion(found)[:MOST_CONFUSED]],
    }
    digest = digest_of(arrays)
    return BaselineDraft(arrays, digest, _sha256(digest, _json(figures), methods), top, figures, methods)


def arrays_of(found: Gathered) -> Arrays:
    parts = (results.predictions_of(found), found.votes.questions, found.votes.people, found.votes.answers)
    return _as_arrays(dict(zip(ARRAYS, parts, strict=True)), words=found.vocabulary)


def _as_arrays(parts: Mapping[str, NDArray[np.integer]], *, words: Sequence[str]) -> Arrays:
    predictions, questions, people, answers = (parts[name].astype(NUMBERS) for name in ARRAYS)
    return Arrays(predictions, questions, people, answers, tuple(words))


def digest_of(arrays: Arrays) -> str:
    """Return the digest of what a baseline is made of, however a file has it packed."""
    parts = [getattr(arrays, name).astype(NUMBERS).tobytes() for name in ARRAYS]
    words = json.dumps(arrays.words, ensure_ascii=False).encode()
    lengths = " ".join(str(len(part)) for part in (*parts, words)).encode()
    return hashlib.sha256(b"\0".join([lengths, *parts, words])).hexdigest()


def still_open(study: Study, people: Sequence[Person]) -> Open:
    """Return what is not settled in a study."""
    slots = Slot.objects.filter(study=study, answered=False)
    answered = study.questions.filter(slots__answered=True).distinct().count()
    counted = [one for one in people if one.participant.excluded is None and not one.participant.is_test]
    return Open(
        missing=slots.count(),
        under_way=slots.filter(lease__gte=Now()).count(),
        unanswered=study.questions.count() - answered,
        flagged=[one for one in counted if one.flags],
    )


def is_outdated(baseline: Baseline, found: Gathered) -> bool:
    """Return whether a study's answers give another baseline by now than the one that was published."""
    return digest_of(arrays_of(found)) != baseline.digest


# Publishing


def publish(study: Study, *, by: int, seal: str) -> Baseline:
    """Return the baseline of a closed study, published now; the latest one where it is the same already.

    Parameters
    ----------
    study : Study
    by : int
        The key of the account that publishes it.
    seal : str
        Of the draft that the publisher saw.

    Raises
    ------
    NotPublished
        Where the study is not closed, nobody answered, or something changed since the draft was seen.
    """
    check(study)
    wanted = draft(study)
    if wanted.seal != seal:
        raise NotPublished("Something has changed since you looked: here are the figures as they are now.")
    if not wanted.top.majority.n:
        raise NotPublished("Expected a study with answers that count, got one without any.")
    files.put(name_of(wanted.digest), packed(wanted.arrays))
    with transaction.atomic():
        split = Split.objects.select_for_update().get(pk=study.split_id)
        latest = Baseline.objects.filter(study=study).last()
        if latest is not None and latest.seal == wanted.seal and not latest.is_withdrawn:
            return latest
        check(Study.objects.get(pk=study.pk))
        last = Baseline.objects.filter(split=split).aggregate(last=Max("number"))["last"] or 0
        made = Baseline.objects.create(
            study=study,
            split=split,
            number=last + 1,
            publisher_id=by,
            digest=wanted.digest,
            seal=wanted.seal,
            per_question=study.per_question,
            asked=wanted.top.majority.n,
            right=wanted.top.majority.right,
            ties=wanted.top.ties,
            people=wanted.top.people,
            figures=_json(wanted.figures),
            methods=wanted.methods,
        )
        disclosure.decide(made)
        return made


def check(study: Study) -> None:
    """Raise `NotPublished` for a study that is not closed: its figures would be others a minute later."""
    if study.state != Study.State.CLOSED:
        raise NotPublished(f"Expected a closed study, got one that is {study.get_state_display()}. Close it first.")


def withdraw(baseline: Baseline, reason: str) -> bool:
    """Take a published baseline back, for a reason that stands in its place; return whether it stood."""
    standing = Baseline.objects.filter(pk=baseline.pk, withdrawn=None)
    done = standing.update(withdrawn=Now(), reason=reason) == 1
    baseline.refresh_from_db()
    return done


def packed(arrays: Arrays) -> bytes:
    """Return the file of a baseline's arrays."""
    content = io.BytesIO()
    words = np.array(arrays.words, dtype=np.str_)
    np.savez_compressed(content, words=words, **{name: getattr(arrays, name) for name in ARRAYS})
    return content.getvalue()


# Figures


def _headline(top: Headline) -> dict[str, Any]:
    crossed = top.crossed
    return {
        "people": top.people,
        "answers": top.answers,
        "refusals": top.refusals,
        "ties": top.ties,
        "majority": list(top.majority),
        "single": list(top.single),
        "majority_interval": None if crossed is None else _rounded(crossed.majority),
        "single_interval": None if crossed is None else _rounded(crossed.single),
        "alpha": None if top.alpha is None else round(top.alpha, 6),
    }


def _circumstances(study: Study, found: Gathered) -> dict[str, Any]:
    """Return how the answers came about: when, for which pay, how many were wanted."""
    answers = Answer.objects.filter(question__study=study, participant__is_test=False)
    times = answers.aggregate(first=Min("received"), last=Max("received"))
    return {
        "first": None if times["first"] is None else times["first"].date().isoformat(),
        "last": None if times["last"] is None else times["last"].date().isoformat(),
        "seconds": results.median_seconds(found, timing.counted(study)),
        "hourly_pay": f"{study.hourly_pay:.2f}",
        "reward": None if study.reward is None else f"{study.reward:.2f}",
        "currency": study.currency,
        "sampled": study.questions.count(),
        "wanted": study.slots.count(),
        "evenly": study.evenly,
        "seed": study.seed,
    }


def _facets(found: Gathered, facets: Sequence[IndexedFacet]) -> list[dict[str, Any]]:
    """Return every facet with its slices; whether one may be told is asked whenever it is shown."""
    parts = {facet.name: results.sliced(facet) for facet in facets}
    slicings: dict[str, Slicing] = {name: slicing for name, (slicing, _) in parts.items()}
    scored = score(results.predictions_of(found), found.truth, slicings, among=found.asked)
    rows = []
    for facet in facets:
        one, labels = scored.facets[facet.name], parts[facet.name][1]
        values = [
            [label, right, n] for label, right, n in zip(labels, one.right.tolist(), one.n.tolist(), strict=True) if n
        ]
        rows.append({"name": facet.name, "label": facet.label, "reveals": facet.reveals, "values": values})
    return rows


def _rounded(interval: Interval) -> list[float]:
    return [round(interval.low, 6), round(interval.high, 6)]


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _sha256(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
