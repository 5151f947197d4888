"""API of the user's studies and their results."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from ninja import Router

from annotations.models import Baseline, Study
from annotations.results import study_statistics
from annotations.results.study_statistics import Headline
from annotations.studies.lifecycle import may_study
from annotations.views.results import study_answers_csv, study_answers_jsonl
from annotations.views.studies import find_study, listed_for
from generation.browsing.sidebar import page_of
from generation.engine.scoring.figures import Interval, Share
from generation.splits.query_string import QueryString, read_query
from webapp.api.openapi_operations import reads
from webapp.api.pagination import PAGE, page_json
from webapp.api.schemas import common

router = Router(tags=["Studies"])


@reads(router, "studies/", common.PageOut[common.StudyOut], parameters=[PAGE], accounts=True)
def studies(request: HttpRequest) -> dict[str, Any]:
    """Return a page of your studies, the latest first."""
    found = listed_for(request.user)
    page = page_of(read_query(QueryString.of(request).pairs, facets=()), found.count(), of="studies")
    shown = [study for study in found[page.start : page.stop] if may_study(request.user, study.split)]
    return page_json(request, page, [_study_json(study) for study in shown])


@reads(router, "studies/{slug:code}/", common.StudyInFull, accounts=True)
def study(request: HttpRequest, code: str) -> dict[str, Any]:
    """Return a study with its current figures: the accuracy of single answers and of majority answers."""
    found = listed_for(request.user).filter(pk=find_study(request.user, code).pk).get()
    latest = Baseline.objects.filter(study=found).order_by("number").last()
    said = _study_json(found)
    if not found.is_draft:
        said["figures"] = _figures(study_statistics.headline(study_statistics.gather(found)))
    if latest is not None and not latest.is_withdrawn:
        said["baseline"] = latest.get_absolute_url()
    return said


@reads(router, "studies/{slug:code}/answers.jsonl", media=["application/x-ndjson"], accounts=True)
def study_answers(request: HttpRequest, code: str) -> HttpResponseBase:
    """Return all answers of a study as lines of JSON, without names."""
    return study_answers_jsonl(request, code)


@reads(router, "studies/{slug:code}/answers.csv", media=["text/csv"], accounts=True)
def study_answers_table(request: HttpRequest, code: str) -> HttpResponseBase:
    """Return all answers of a study as a CSV file, without names."""
    return study_answers_csv(request, code)


def _study_json(study: Study) -> dict[str, Any]:
    kept = ("code", "title", "state", "wanted", "per_question", "created", "opened", "closed")
    return {name: getattr(study, name) for name in kept} | {
        "split": str(study.split),
        "owner": study.owner.username,
        "answers_in": getattr(study, "answered", 0),
        "answers_wanted": study.answers_wanted,
        "url": f"/api/v1/studies/{study.code}/",
        "page": study.get_absolute_url(),
    }


def _figures(found: Headline) -> dict[str, Any]:
    crossed = found.crossed
    return {
        "people": found.people,
        "answers": found.answers,
        "refusals": found.refusals,
        "ties": found.ties,
        "majority": _share_json(found.majority, crossed and crossed.majority),
        "single": _share_json(found.single, crossed and crossed.single),
        "alpha": found.alpha,
    }


def _share_json(share: Share, interval: Interval | None) -> dict[str, Any]:
    """Return a share with its interval as JSON data; if `n` is too small, only `n`, as on pages."""
    said: dict[str, Any] = {"n": share.n}
    if not share.is_too_small:
        said |= {"right": share.right, "share": share.value}
        said |= {} if interval is None else {"low": interval.low, "high": interval.high}
    return said
