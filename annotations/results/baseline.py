"""Published human baselines: the majority answers of participants, as predictions like those of a model.

`published_baselines()` returns the current baselines, and `load(row)` returns the arrays of one. Its `predictions` are
codes of the split's vocabulary in question order, as `generation.engine.scoring.score` expects them; the single answers
are stored with them. The name of the file is the digest of its arrays, so the file never changes. Backups contain it.
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
from annotations.results import exclusion_effect
from annotations.results import study_statistics as results
from annotations.results.methods_text import methods_text
from annotations.results.study_statistics import GatheredAnswers, Headline
from annotations.studies import baseline_disclosure
from generation.engine.errors import EngineError
from generation.engine.scoring.figures import Interval
from generation.engine.scoring.score import NONE, Slicing, score
from generation.models import Split
from generation.storage import files
from generation.storage.split_index import IndexedFacet, SplitIndex

FOLDER = "baselines"
MOST_CONFUSED = 30  # at most this many pairs of a right and a wrong answer are listed
ARRAYS = ("predictions", "questions", "people", "answers")
NUMBERS = np.dtype("<i4")


class NotPublished(EngineError):
    """The baseline can't be published or withdrawn in the current state."""


class DamagedBaseline(EngineError):
    """The file of a published baseline is missing, can't be read, or differs from the published one."""


class Arrays(NamedTuple):
    """The data of a baseline.

    Attributes
    ----------
    predictions : array (questions of the split,) of int32
        The majority answer to each question, as a code of the split's vocabulary, or `TIE`, `OUTSIDE` or `NONE` of
        `generation.engine.scoring.score`. `NONE` means that the question has no answer; it does not count.
    questions, people, answers : arrays (answers,) of int32
        Single answers: the question, the participant (numbered from 0), and the answer as a code of `words`.
    words : tuple of str
        The split's vocabulary, followed by the other answers that were given.
    """

    predictions: NDArray[np.int32]
    questions: NDArray[np.int32]
    people: NDArray[np.int32]
    answers: NDArray[np.int32]
    words: tuple[str, ...]

    @property
    def asked(self) -> NDArray[np.bool_]:
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
        The hash of the arrays, and the hash of arrays, figures and methods text together.
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


class Unsettled(NamedTuple):
    """The unfinished parts of a study; each of them is a reason to publish later.

    Attributes
    ----------
    missing : int
        The number of wanted answers that are not given yet.
    under_way : int
        The number of slots that participants hold now.
    unanswered : int
        The number of questions in the sample without an answer that counts.
    flagged : list of Person
        The participants who count and whose work has a flag.
    """

    missing: int
    under_way: int
    unanswered: int
    flagged: list[Person]


# Published baselines


def published_baselines(split: Split | None = None) -> BaselineQuerySet:
    found = Baseline.objects.published().select_related("split__dataset", "split__parent", "publisher")
    return found if split is None else found.filter(split=split)


def load(baseline: Baseline) -> Arrays:
    return load_digest(baseline.digest)


@functools.lru_cache(maxsize=32)
def load_digest(digest: str) -> Arrays:
    """Return the arrays with this digest; raise `DamagedBaseline` if the file is missing or was changed."""
    try:
        content = files.get(name_of(digest))
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            arrays = _as_arrays({name: stored[name] for name in ARRAYS}, words=stored["words"].tolist())
    except (OSError, ValueError, KeyError) as error:
        raise DamagedBaseline(
            f"Expected a human baseline, got none that can be read ({error}).", where=digest
        ) from error
    if digest_of(arrays) != digest:
        raise DamagedBaseline("Expected the human baseline that was published, got another.", where=digest)
    for name in ARRAYS:
        getattr(arrays, name).flags.writeable = False
    return arrays


def name_of(digest: str) -> str:
    return f"{FOLDER}/{digest}.npz"


# Drafts


def draft(study: Study) -> BaselineDraft:
    """Return the human baseline of a study as it would be published now."""
    found, people = results.gather(study), people_of(study)
    index = SplitIndex.open(study.split)
    excluded = [one for one in people if one.participant.excluded is not None and not one.participant.is_test]
    top = results.headline(found)
    sides = exclusion_effect.sides(study, found, people)
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


def arrays_of(found: GatheredAnswers) -> Arrays:
    parts = (results.predictions_of(found), found.votes.questions, found.votes.people, found.votes.answers)
    return _as_arrays(dict(zip(ARRAYS, parts, strict=True)), words=found.vocabulary)


def _as_arrays(parts: Mapping[str, NDArray[np.integer]], *, words: Sequence[str]) -> Arrays:
    predictions, questions, people, answers = (parts[name].astype(NUMBERS) for name in ARRAYS)
    return Arrays(predictions, questions, people, answers, tuple(words))


def digest_of(arrays: Arrays) -> str:
    """Return the digest of a baseline's arrays; it does not depend on the compression of the file."""
    parts = [getattr(arrays, name).astype(NUMBERS).tobytes() for name in ARRAYS]
    words = json.dumps(arrays.words, ensure_ascii=False).encode()
    lengths = " ".join(str(len(part)) for part in (*parts, words)).encode()
    return hashlib.sha256(b"\0".join([lengths, *parts, words])).hexdigest()


def still_open(study: Study, people: Sequence[Person]) -> Unsettled:
    slots = Slot.objects.filter(study=study, answered=False)
    answered = study.questions.filter(slots__answered=True).distinct().count()
    counted = [one for one in people if one.participant.excluded is None and not one.participant.is_test]
    return Unsettled(
        missing=slots.count(),
        under_way=slots.filter(lease__gte=Now()).count(),
        unanswered=study.questions.count() - answered,
        flagged=[one for one in counted if one.flags],
    )


def is_outdated(baseline: Baseline, found: GatheredAnswers) -> bool:
    return digest_of(arrays_of(found)) != baseline.digest


# Publishing


def publish(study: Study, *, by: int, seal: str) -> Baseline:
    """Publish the human baseline of a closed study and return it; return the latest one if nothing has changed.

    Parameters
    ----------
    study : Study
    by : int
        The key of the account that publishes the baseline.
    seal : str
        The seal of the draft that the publisher saw.

    Raises
    ------
    NotPublished
        If the study is not closed, has no answers, or changed since the publisher saw the draft.
    """
    check(study)
    wanted = draft(study)
    if wanted.seal != seal:
        raise NotPublished("The figures have changed since you opened this page. It now shows the current figures.")
    if not wanted.top.majority.n:
        raise NotPublished("Expected a study with answers that count, got one without any.")
    files.put(name_of(wanted.digest), pack_arrays(wanted.arrays))
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
        baseline_disclosure.decide(made)
        return made


def check(study: Study) -> None:
    # Figures of an open study would soon be outdated.
    if study.state != Study.State.CLOSED:
        raise NotPublished(f"Expected a closed study, got one that is {study.get_state_display()}. Close it first.")


def withdraw(baseline: Baseline, reason: str) -> bool:
    """Withdraw a published baseline; its page then shows the reason. Return False if it was withdrawn before."""
    standing = Baseline.objects.filter(pk=baseline.pk, withdrawn=None)
    done = standing.update(withdrawn=Now(), reason=reason) == 1
    baseline.refresh_from_db()
    return done


def pack_arrays(arrays: Arrays) -> bytes:
    """Return the content of the file in which a baseline's arrays are stored."""
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


def _circumstances(study: Study, found: GatheredAnswers) -> dict[str, Any]:
    """Return how the answers were collected: dates, times, pay, the size of the sample, and the wanted answers."""
    answers = Answer.objects.filter(question__study=study, participant__is_test=False)
    times = answers.aggregate(first=Min("received"), last=Max("received"))
    return {
        "first": None if times["first"] is None else times["first"].date().isoformat(),
        "last": None if times["last"] is None else times["last"].date().isoformat(),
        "seconds": results.median_seconds(found, timing.count_time(study)),
        "hourly_pay": f"{study.hourly_pay:.2f}",
        "reward": None if study.reward is None else f"{study.reward:.2f}",
        "currency": study.currency,
        "sampled": study.questions.count(),
        "wanted": study.slots.count(),
        "evenly": study.evenly,
        "seed": study.seed,
    }


def _facets(found: GatheredAnswers, facets: Sequence[IndexedFacet]) -> list[dict[str, Any]]:
    """Return all facets with their slices; whether a user may see a facet is checked when it is shown."""
    parts = {facet.name: results.slicing_of(facet) for facet in facets}
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
