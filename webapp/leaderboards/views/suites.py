"""Views of suites: the list, a suite's board and its file, and the form."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotations.markdown import render_row
from generation.site_addresses import site_address
from generation.splits.query_string import shorten
from webapp.leaderboards import suites as reading
from webapp.leaderboards.analysis import downloads
from webapp.leaderboards.board_lookup import find_own_suite, find_suite, owns_suite
from webapp.leaderboards.deletion import delete_suite
from webapp.leaderboards.forms import SuiteForm
from webapp.leaderboards.models import Suite, SuiteGap, SuiteMember

A_PAGE = 40
BAD, ABSENT = 400, 404


@require_safe
def suites(request: HttpRequest) -> HttpResponse:
    page = Paginator(Suite.objects.visible_to(request.user).order_by("title", "pk"), A_PAGE)
    return render(request, "leaderboards/suites.html", {"page": page.get_page(request.GET.get("page"))})


@require_safe
def suite(request: HttpRequest, slug: str) -> HttpResponse:
    found = find_suite(request.user, slug)
    context = {
        "suite": found,
        "board": reading.board_of(request.user, found),
        "description": render_row(found, "description"),
        "is_own": owns_suite(request.user, found),
    }
    return render(request, "leaderboards/suite.html", context)


@require_safe
def suite_file(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """Return a suite's board as CSV, JSON or LaTeX."""
    found = find_suite(request.user, slug)
    if kind not in downloads.KINDS:
        message = f"Expected one of {', '.join(downloads.KINDS)}, got {shorten(kind)}."
        return render(request, "generation/refused.html", {"message": message}, status=ABSENT)
    site = site_address(request)
    board = reading.board_of(request.user, found)
    return downloads.response(downloads.of_suite(board, site=site), kind=kind, name=f"{found.slug}-board")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def suite_new(request: HttpRequest) -> HttpResponse:
    """Return the form of a new suite, or create it."""
    form = SuiteForm(request.POST if request.method == "POST" else None, user=request.user)
    if request.method == "POST" and form.is_valid():
        form.instance.owner_id = request.user.pk
        return redirect(_saved(form))
    return render(request, "leaderboards/suite_form.html", {"form": form}, status=BAD if form.errors else 200)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def suite_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the form of a suite, or save it."""
    found = find_own_suite(request.user, slug)
    form = SuiteForm(
        request.POST if request.method == "POST" else None, user=request.user, instance=found, initial=_lines_of(found)
    )
    if request.method == "POST" and form.is_valid():
        messages.success(request, "The suite is saved.")
        return redirect(_saved(form))
    context = {"form": form, "suite": find_own_suite(request.user, slug)}
    return render(request, "leaderboards/suite_form.html", context, status=BAD if form.errors else 200)


def _lines_of(suite: Suite) -> dict[str, str]:
    """Return members, gaps and the numbers of a grid as text for the form."""
    members = list(suite.members.select_related("split__dataset"))
    gaps = suite.gaps.select_related("minuend", "subtrahend").order_by("pk")
    return {
        "members": "\n".join(f"{one.split} = {one.label}" for one in members),
        "gaps": "\n".join(f"{gap.label} = {gap.minuend.label} - {gap.subtrahend.label}" for gap in gaps),
        "grid": "\n".join(f"{one.label} = {one.k_text}" for one in members if one.k is not None),
    }


def _saved(form: SuiteForm) -> Suite:
    """Save the suite with its members and gaps, and return it."""
    with transaction.atomic():
        found: Suite = form.save()
        found.members.all().delete()
        members: dict[str, Any] = {}
        ks = form.cleaned_data["grid"]
        for ordinal, (label, split) in enumerate(form.cleaned_data["members"]):
            members[label] = SuiteMember.objects.create(
                suite=found, split=split, ordinal=ordinal, label=label, k=ks.get(label)
            )
        for label, high, low in form.cleaned_data["gaps"]:
            SuiteGap.objects.create(suite=found, label=label, minuend=members[high], subtrahend=members[low])
    return found


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def suite_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the page that says what is deleted with a suite and what stays; its button deletes it."""
    found = find_own_suite(request.user, slug)
    if request.method == "POST":
        delete_suite(found)
        messages.success(request, f"{found.title} is deleted. Its splits and their submissions stay.")
        return redirect("suites")
    return render(request, "leaderboards/suite_delete.html", {"suite": found})
