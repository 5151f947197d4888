"""Views of a study's results for researchers: figures, questions to review, the methods text, files."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotations.answering import exclusion_rules, timing
from annotations.answering.participants import Person, people_of
from annotations.answering.timing import CountedTime
from annotations.models import Baseline, Study
from annotations.results import baseline, dawid_skene, exclusion_effect, question_review, study_statistics
from annotations.results.answer_files import AnswerLine, as_csv, as_jsonl, as_workbook, lines
from annotations.results.methods_text import methods_text
from annotations.results.study_statistics import GatheredAnswers
from annotations.views.studies import NOTHING, find_study
from generation.access import Visitor, What, may_see, may_see_facet
from generation.engine.formats.workbooks import MEDIA_TYPE
from generation.engine.scoring.figures import TOO_FEW
from generation.splits.query_string import BadAddress, QueryString
from generation.storage.split_index import IndexedFacet, SplitIndex

A_PAGE = 50
MOST_CONFUSED = 30
BAD, NOTHING_NEW = 400, 204


@require_safe
@never_cache
def study_results(request: HttpRequest, code: str) -> HttpResponse:
    """Return the page with the figures of a study.

    `?flag=split` (or `wrong`, `refused`, `every`), `?by=type&value=count`, `?right=yes` and `?given=no` select the
    questions that are listed.
    """
    study = find_study(request.user, code)
    context = _context(request, study)
    return render(request, "annotations/results.html", context, status=BAD if context.get("trouble") else 200)


@require_safe
@never_cache
def study_results_live(request: HttpRequest, code: str) -> HttpResponse:
    """Return the part of the page with the figures; an empty response with status 204 if `?seen=` is still current."""
    study = find_study(request.user, code)
    if study.is_draft:
        raise Http404(NOTHING)
    if study.is_open and QueryString.of(request).last("seen") == study_statistics.state_of(study):
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "annotations/_figures.html", _context(request, study))


def _context(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return the template context of the page and of its live part."""
    context: dict[str, Any] = {"study": study, "progress": None}
    if study.is_draft:
        return context
    seen = study_statistics.state_of(study)  # read first: a change in between is shown twice, but never missed
    found, times = study_statistics.gather(study), timing.count_time(study)
    people = people_of(study, times=times)
    names = {person.participant.pk: person.pseudonym for person in people}
    facets = _facets(request.user, study)
    context |= {
        **_figures(study, found, people, names, times=times),
        "breakdowns": study_statistics.break_down(found, facets),
        **_listed(request, study, found, facets, names, times=times),
        **_published(study, found),
    }
    if study.is_open and not context["trouble"]:
        query = urlencode([*_asked(request).pairs, ("page", context["page"].number), ("seen", seen)])
        context["live"] = f"{reverse('study_results_live', args=[study.code])}?{query}"
    return context


def _published(study: Study, found: GatheredAnswers) -> dict[str, Any]:
    latest = Baseline.objects.filter(study=study).select_related("split__dataset").last()
    return {"published": latest, "differs": latest is not None and baseline.is_outdated(latest, found)}


def _figures(
    study: Study, found: GatheredAnswers, people: list[Person], names: Mapping[int, str], *, times: CountedTime
) -> dict[str, Any]:
    sides = exclusion_effect.sides(study, found, people)
    estimated = dawid_skene.estimate(found, dawid_skene.kinds_of(study, found.asked.nonzero()[0].tolist()))
    return {
        "progress": study_statistics.progress(study),
        "sides": sides,
        "now": sides.now.headline,
        "rules": exclusion_rules.in_words(exclusion_rules.rules_of(study)),
        "seconds": study_statistics.median_seconds(found, times),
        "kinds": [(row, [names[found.people[one]] for one in row.simple]) for row in estimated],
        "confused": study_statistics.confusion(found)[:MOST_CONFUSED],
        "methods": methods_text(study, sides, people),
        "too_few": TOO_FEW,
    }


def _facets(user: Visitor, study: Study) -> list[IndexedFacet]:
    facets = SplitIndex.open(study.split).facets.values()
    return [facet for facet in facets if may_see_facet(user, study.split, facet)]


def _asked(request: HttpRequest) -> QueryString:
    return QueryString.of(request).only(*question_review.NAMES)


def _listed(
    request: HttpRequest,
    study: Study,
    found: GatheredAnswers,
    facets: list[IndexedFacet],
    names: Mapping[int, str],
    *,
    times: CountedTime,
) -> dict[str, Any]:
    """Return one page of the questions that the URL selects; an invalid URL selects the questions with any flag."""
    trouble = ""
    try:
        narrowed = question_review.read(_asked(request), found, facets)
    except BadAddress as error:
        trouble, narrowed = str(error), question_review.read(QueryString(), found, facets)
    rows = [
        row for row in question_review.by_question(found) if narrowed.among[row.position] and narrowed.has(row.flags)
    ]
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    positions = [row.position for row in page.object_list]
    medians = question_review.median_times(study, positions, times=times)
    raw = question_review.raw_answers(study, positions, names, times=times)
    return {
        "questions": [(row, medians.get(row.position), raw.get(row.position, [])) for row in page.object_list],
        "page": page,
        "narrowed": narrowed,
        "trouble": trouble,
    }


@require_safe
@never_cache
def study_answers_csv(request: HttpRequest, code: str) -> StreamingHttpResponse:
    study = find_study(request.user, code)
    return _file(study, as_csv(_lines(request.user, study)), kind="csv", content_type="text/csv; charset=utf-8")


@require_safe
@never_cache
def study_answers_workbook(request: HttpRequest, code: str) -> StreamingHttpResponse:
    study = find_study(request.user, code)
    content = as_workbook(_lines(request.user, study))
    return _file(study, iter([content]), kind="xlsx", content_type=MEDIA_TYPE)


@require_safe
@never_cache
def study_answers_jsonl(request: HttpRequest, code: str) -> StreamingHttpResponse:
    study = find_study(request.user, code)
    return _file(study, as_jsonl(_lines(request.user, study)), kind="jsonl", content_type="application/x-ndjson")


def _lines(user: Visitor, study: Study) -> Iterator[AnswerLine]:
    return lines(
        study,
        correct=may_see(user, study.split, What.ANSWER),
        easy_correct=study.easy is None or may_see(user, study.easy, What.ANSWER),
    )


def _file(
    study: Study, parts: Iterator[str] | Iterator[bytes], *, kind: str, content_type: str
) -> StreamingHttpResponse:
    response = StreamingHttpResponse(parts, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="study-{study.code}-answers.{kind}"'
    return response
