"""Views of studies for researchers: the list, the overview, and the buttons that open and close a study."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotations.answering import exclusion_rules, question_tokens
from annotations.forms import StudyForm
from annotations.models import Participant, Study
from annotations.studies import lifecycle, planning, question_filter
from annotations.studies.lifecycle import NotReady, may_study
from generation.access import Visitor, is_researcher
from generation.models import find_one
from generation.site_addresses import site_address

NOTHING = "There is no such study, or it isn't yours."
A_PAGE = 50
CONFLICT = 409


@login_required
@never_cache
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """Return the list of the user's studies; staff see all studies."""
    listed = listed_for(request.user)
    if not is_researcher(request.user) and not listed.exists():
        return render(request, "annotations/not_researcher.html", status=403)
    page = Paginator(listed, A_PAGE).get_page(request.GET.get("page"))
    shown = [study for study in page.object_list if may_study(request.user, study.split)]
    return render(request, "annotations/studies.html", {"studies": shown, "page": page})


def listed_for(user: Any) -> "QuerySet[Study]":
    found = Study.objects.select_related("split__dataset", "split__parent", "owner").order_by("-pk")
    found = found.annotate(answered=Count("slots", filter=Q(slots__answered=True)))
    return found if user.is_staff else found.filter(owner_id=user.pk)


@login_required
@never_cache
@require_safe
def study(request: HttpRequest, code: str) -> HttpResponse:
    found = find_study(request.user, code)
    return _overview(request, found)


@login_required
@require_POST
def study_open(request: HttpRequest, code: str) -> HttpResponse:
    """Open or reopen a study; if it can't be opened, show the reason."""
    found = find_study(request.user, code)
    try:
        lifecycle.open_study(found)
    except NotReady as error:
        return _overview(request, found, refused=error.reason, status=CONFLICT)
    lifecycle.reopen(found)
    messages.success(request, "The study is open.")
    return redirect(found)


@login_required
@require_POST
def study_close(request: HttpRequest, code: str) -> HttpResponse:
    """Close a study; no more questions are given."""
    found = find_study(request.user, code)
    if lifecycle.close(found):
        messages.success(request, "The study is closed. Answers to questions that are already shown still count.")
    return redirect(found)


@login_required
@never_cache
@require_safe
def study_test_link(request: HttpRequest, code: str) -> HttpResponse:
    """Redirect to the test link of a study; answers that are given through it never count."""
    found = find_study(request.user, code)
    if found.is_draft:
        return _overview(
            request,
            found,
            refused="Expected a study that was opened, got a draft. The test link works after you open the study.",
            status=CONFLICT,
        )
    return redirect(test_address(found))


def find_study(user: Visitor, code: str) -> Study:
    """Return the study with this code; raise `Http404` if there is none or the user may not run it."""
    found = Study.objects.select_related("split__dataset", "split__parent", "easy__dataset", "owner")
    one = find_one(found.filter(code=code))
    if one is None or not may_study(user, one.split) or not (user.is_staff or one.owner_id == user.pk):
        raise Http404(NOTHING)
    return one


def test_address(study: Study) -> str:
    return f"{reverse('study_join', args=[study.code])}?test={question_tokens.test_token(study)}"


def address_of(study: Study, site: str) -> str:
    """Return the study's URL with Prolific's placeholders, which Prolific replaces for each participant."""
    names = (study.person_parameter, study.study_parameter, study.session_parameter)
    held = zip(names, ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"), strict=True)
    pairs = "&".join(f"{name}={{{{%{placeholder}%}}}}" for name, placeholder in held)
    return f"{site}{reverse('study_join', args=[study.code])}?{pairs}"


def _overview(request: HttpRequest, study: Study, *, refused: str = "", status: int = 200) -> HttpResponse:
    site = site_address(request)
    plan = planning.plan(study, times=planning.times_of(study))
    context: dict[str, Any] = {
        "study": study,
        "plan": plan,
        "said": question_filter.describe(study),
        "found_at": question_filter.address_of(study),
        "freezing": question_filter.trouble(study),
        "published": study.baselines.select_related("split__dataset").last(),
        "refused": refused,
        "problems": _labelled((one.where, one.reason) for one in lifecycle.problems(study)) if study.is_draft else [],
        "contradictions": [] if study.state == Study.State.CLOSED else _labelled(planning.contradictions(study, plan)),
        "answered": study.slots.filter(answered=True).count(),
        "people": _people(study),
        "rules": exclusion_rules.in_words(exclusion_rules.rules_of(study)),
        "address": address_of(study, site),
        "test_address": "" if study.is_draft else f"{site}{test_address(study)}",
    }
    return render(request, "annotations/study.html", context, status=status)


def _labelled(found: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    fields = StudyForm.base_fields
    return [(field, str(fields[field].label) if field in fields else field, text) for field, text in found]


def _people(study: Study) -> dict[str, int]:
    """Return how many participants came, and how many reached each end, without participants of the test link."""
    stages = Participant.Stage
    return Participant.objects.filter(study=study, is_test=False).aggregate(
        all=Count("pk"),
        completed=Count("pk", filter=Q(stage=stages.COMPLETED)),
        screened_out=Count("pk", filter=Q(stage=stages.SCREENED_OUT)),
        full=Count("pk", filter=Q(stage=stages.FULL)),
        excluded=Count("pk", filter=Q(excluded__isnull=False)),
    )
