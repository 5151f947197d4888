"""Views of a split's fresh twins: the list with its progress, and the form that makes further ones."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from generation.engine.errors import BadSpec
from generation.making import dataset_jobs
from generation.making.fresh_twins import TwinRefused, check_source, may_make_twin
from generation.models import FreshTwin, Heartbeat, Split
from generation.queue import GENERATION
from generation.queue.workers import start_command
from generation.views.access_checks import refuse
from webapp.leaderboards.board_lookup import find_board
from webapp.leaderboards.fresh_twins.forms import FreshTwinForm
from webapp.leaderboards.fresh_twins.listing import address_of, rows_of, suite_links
from webapp.leaderboards.fresh_twins.suite import make_twins_with_suite

A_PAGE = 40
BAD, FORBIDDEN, CONFLICT = 400, 403, 409


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def fresh_twins(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return a split's fresh twins and the form for further ones, or make them."""
    split = find_board(request.user, slug, name)
    may_make = may_make_twin(request.user, split)
    trouble = _trouble(split)
    form = FreshTwinForm(request.POST if request.method == "POST" else None, split=split)
    if request.method == "POST":
        if not may_make:
            return render(request, "generation/not_researcher.html", status=FORBIDDEN)
        if trouble:
            return refuse(request, split, trouble, status=CONFLICT)
        if form.is_valid() and _make(request, split, form):
            return redirect(f"{address_of(split)}#making")
    context = {
        **_list(request, split),
        "form": form if may_make and not trouble else None,
        "trouble": trouble,
        "suites": suite_links(request.user, split),
        "here": "Fresh twins",
    }
    return render(request, "leaderboards/fresh_twins.html", context, status=BAD if form.errors else 200)


def _trouble(split: Split) -> str:
    """Return why the split can have no twin; empty if it can."""
    try:
        check_source(split)
    except TwinRefused as error:
        return error.reason
    return ""


def _make(request: HttpRequest, split: Split, form: FreshTwinForm) -> bool:
    """Make the twins of a valid form; return False if they are refused, with the reason in the form."""
    count, questions = form.cleaned_data["seeds"], form.cleaned_data["questions"]
    try:
        made = make_twins_with_suite(split, count=count, questions=questions, owner=request.user)
    except (TwinRefused, BadSpec) as error:
        form.add_error(None, error.reason)
        return False
    dataset_jobs.RUNNER.wake()
    messages.success(request, f"{len(made.twins)} fresh twin{'' if len(made.twins) == 1 else 's'} will be made.")
    return True


@never_cache
@require_safe
def fresh_twins_progress(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    split = find_board(request.user, slug, name)
    return render(request, "leaderboards/_fresh_twins.html", _list(request, split))


def _list(request: HttpRequest, split: Split) -> dict[str, Any]:
    """Return the context for the list of twins that this visitor may see, with their progress."""
    twins = FreshTwin.objects.filter(source=split).visible_to(request.user).for_list()
    page = Paginator(twins, A_PAGE).get_page(request.GET.get("page"))
    rows = rows_of(request.user, page.object_list)
    is_making = any(row.is_making for row in rows)
    alive = not is_making or Heartbeat.objects.reading(GENERATION).alive().exists()
    address = reverse("fresh_twins_progress", args=[split.dataset.slug, split.name])
    return {
        "split": split,
        "dataset": split.dataset,
        "page": page,
        "rows": rows,
        "is_making": is_making,
        "is_alone": not alive,
        "may_start": any(row.is_own for row in rows),
        "progress_address": address + (f"?page={page.number}" if page.number > 1 else ""),
        "start_command": start_command(GENERATION),
    }
