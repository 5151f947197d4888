"""Views that publish and withdraw a study's human baseline, after pages that explain the consequences."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotations.answering.participants import people_of
from annotations.models import Baseline, Study
from annotations.results import baseline as baselines
from annotations.results.baseline import NotPublished
from annotations.results_forms import WithdrawForm
from annotations.views.studies import NOTHING, find_study
from generation.models import Dataset

BAD, CONFLICT = 400, 409
NAMED = 8  # at most this many participants with flags are named


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def study_publish(request: HttpRequest, code: str) -> HttpResponse:
    """Return a page that shows what becomes public and what is unfinished; a POST with `confirm` publishes it."""
    study = find_study(request.user, code)
    if request.method != "POST":
        return _page(request, study)
    if not request.POST.get("confirm"):
        return _page(
            request,
            study,
            trouble="Expected the box to be ticked. It confirms that you have read what becomes public.",
            status=BAD,
        )
    assert request.user.pk is not None
    try:
        made = baselines.publish(study, by=request.user.pk, seal=request.POST.get("seal", ""))
    except NotPublished as error:
        return _page(request, study, trouble=error.reason, status=CONFLICT)
    messages.success(request, "The human baseline is published.")
    return redirect(made)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def study_withdraw(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Return a page that asks why a published baseline is withdrawn; a POST with a reason withdraws it."""
    study = find_study(request.user, code)
    rows = Baseline.objects.select_related("split__dataset", "split__parent")
    found = rows.filter(study=study, number=number).first() if number < 2**31 else None
    if found is None:
        raise Http404(NOTHING)
    form = WithdrawForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        if baselines.withdraw(found, form.cleaned_data["reason"]):
            messages.success(request, "The human baseline is withdrawn. Its page stays and shows the reason.")
        return redirect(found)
    context = {"study": study, "baseline": found, "form": form}
    return render(request, "annotations/withdraw.html", context, status=BAD if form.errors else 200)


def _page(request: HttpRequest, study: Study, *, trouble: str = "", status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {"study": study, "trouble": trouble, "draft": None, "dataset": study.split.dataset}
    if study.state == Study.State.CLOSED:
        people = people_of(study)
        latest = Baseline.objects.filter(study=study).select_related("split__dataset").last()
        draft = baselines.draft(study)
        still = baselines.still_open(study, people)
        context |= {
            "draft": draft,
            "open": still,
            "flagged": still.flagged[:NAMED],
            "more_flagged": max(0, len(still.flagged) - NAMED),
            "latest": latest,
            "is_same": latest is not None and latest.seal == draft.seal and not latest.is_withdrawn,
            "is_private": study.split.dataset.visibility == Dataset.Visibility.PRIVATE,
        }
    return render(request, "annotations/publish.html", context, status=status)
