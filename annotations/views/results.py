"""What came out of a study, for those who run it: figures, questions to look at, text to paste, files."""

from collections.abc import Iterator
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotations import doubts, kinds, results
from annotations.exporting import Line, as_csv, as_jsonl, lines
from annotations.methods import methods_text
from annotations.models import Study
from annotations.people import Person, people_of
from annotations.results import Gathered
from annotations.views.studies import find_study
from generation.index import IndexedFacet, SplitIndex
from webapp.access import Visitor, What, may_see, may_see_facet

A_PAGE = 50
MOST_CONFUSED = 30
EVERY = "every"


@require_safe
@never_cache
def study_results(request: HttpRequest, code: str) -> HttpResponse:
    """Return the figures of a study; `?flag=split` (or `wrong`, `refused`, `every`) says which questions are listed."""
    study = find_study(request.user, code)
    context: dict[str, Any] = {"study": study, "progress": None}
    if not study.is_draft:
        found, people = results.gather(study), people_of(study)
        context |= {
            **_figures(study, found, people),
            "breakdowns": results.break_down(found, _facets(request.user, study)),
            **_by_question(request, study, found),
        }
    return render(request, "annotations/results.html", context)


def _figures(study: Study, found: Gathered, people: list[Person]) -> dict[str, Any]:
    names = {person.participant.pk: person.pseudonym for person in people}
    excluded = [one for one in people if one.participant.excluded is not None and not one.participant.is_test]
    stated = results.headline(found)
    everyone = results.headline(results.gather(study, everyone=True)) if excluded else stated
    estimated = kinds.estimate(found, kinds.kinds_of(study, found.asked.nonzero()[0].tolist()))
    return {
        "progress": results.progress(study),
        "stated": stated,
        "everyone": everyone,
        "excluded": len(excluded),
        "seconds": results.median_seconds(found),
        "kinds": [(row, [names[found.people[one]] for one in row.simple]) for row in estimated],
        "confused": results.confusion(found)[:MOST_CONFUSED],
        "methods": methods_text(study, stated, everyone, people),
        "too_few": results.TOO_FEW,
    }


def _facets(user: Visitor, study: Study) -> list[IndexedFacet]:
    facets = SplitIndex.open(study.split).facets.values()
    return [facet for facet in facets if may_see_facet(user, study.split, facet)]


def _by_question(request: HttpRequest, study: Study, found: Gathered) -> dict[str, Any]:
    """Return a page of the questions whose flag is asked for; of those with any, where none is; or of all."""
    flag = request.GET.get("flag", "")
    flag = flag if flag in (*doubts.FLAGS, EVERY) else ""
    rows = doubts.by_question(found)
    if flag != EVERY:
        rows = [row for row in rows if (doubts.FLAGS[flag] in row.flags if flag else row.flags)]
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    times = doubts.median_times(study, [row.position for row in page.object_list])
    return {
        "questions": [(row, times.get(row.position)) for row in page.object_list],
        "page": page,
        "flag": flag,
        "flags": {"": "any flag", **doubts.FLAGS, EVERY: "every question"},
    }


@require_safe
@never_cache
def study_answers_csv(request: HttpRequest, code: str) -> StreamingHttpResponse:
    """Return every answer as a CSV file."""
    study = find_study(request.user, code)
    return _file(study, as_csv(_lines(request.user, study)), kind="csv", content_type="text/csv; charset=utf-8")


@require_safe
@never_cache
def study_answers_jsonl(request: HttpRequest, code: str) -> StreamingHttpResponse:
    """Return every answer as lines of JSON."""
    study = find_study(request.user, code)
    return _file(study, as_jsonl(_lines(request.user, study)), kind="jsonl", content_type="application/x-ndjson")


def _lines(user: Visitor, study: Study) -> Iterator[Line]:
    return lines(
        study,
        correct=may_see(user, study.split, What.ANSWER),
        easy_correct=study.easy is None or may_see(user, study.easy, What.ANSWER),
    )


def _file(study: Study, parts: Iterator[str], *, kind: str, content_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(parts, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="study-{study.code}-answers.{kind}"'
    return response
