"""Views of methods: the list, the form, a method's page, and the buttons that publish, hide and delete it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.markdown import render_row
from generation.access import What, may_see
from generation.models import Split
from webapp.leaderboards import baselines, deletion
from webapp.leaderboards.board_lookup import boards_for, find_method, find_own_method, with_figures
from webapp.leaderboards.forms import MethodForm
from webapp.leaderboards.method_names import shown_names
from webapp.leaderboards.models import Method, Submission

A_PAGE = 40
OFFERED = 6  # splits suggested for a submission
BAD, CONFLICT = 400, 409


@never_cache
@require_safe
def methods(request: HttpRequest) -> HttpResponse:
    """Return the list of methods that this visitor may see, their own first."""
    known = Submission.objects.scored().visible_to(request.user)
    scored = Count("submissions", filter=Q(submissions__in=known))
    rows = Method.objects.visible_to(request.user).filter(baseline="").annotate(scored=scored).for_list()
    mine = list(rows.filter(owner=request.user.pk)) if request.user.is_authenticated else []
    others = rows.exclude(owner=request.user.pk) if request.user.is_authenticated else rows
    page = Paginator(others, A_PAGE).get_page(request.GET.get("page"))
    names = shown_names([*mine, *page.object_list])
    named = [[(one, names[one.pk]) for one in rows] for rows in (mine, page.object_list)]
    context = {"mine": named[0], "others": named[1], "page": page}
    return render(request, "leaderboards/methods.html", context)


@never_cache
@require_safe
def method(request: HttpRequest, number: int) -> HttpResponse:
    """Return a method's page with its submissions."""
    found = find_method(request.user, number)
    is_own = found.owner_id is not None and found.owner_id == request.user.pk
    rows = (
        found.submissions.visible_to(request.user)
        .select_related("split__dataset", "split__parent", "trained_on__dataset")
        .order_by("-pk")
    )
    rows = rows if is_own or request.user.is_staff else rows.filter(state=Submission.State.DONE)
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    context = {
        "method": found,
        "is_own": is_own,
        "description": render_row(found, "description"),
        "said": baselines.describe(found),
        "removed": found.removed.all()[:A_PAGE] if is_own or request.user.is_staff else [],
        "page": page,
        "rows": with_figures(request.user, page.object_list),
        "targets": _targets(request.user) if is_own and not page.object_list else [],
    }
    return render(request, "leaderboards/method.html", context)


def _targets(user: Any) -> list[Split]:
    return [split for split in boards_for(user)[:OFFERED] if may_see(user, split, What.QUESTION)]


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def method_new(request: HttpRequest) -> HttpResponse:
    """Return the form of a new method, or create it; `?to=` leads on to its first submission."""
    form = MethodForm(request.POST if request.method == "POST" else None, owner=request.user)
    if request.method == "POST" and (made := form.save_if_valid()) is not None:
        to = request.POST.get("to", "")
        if not _is_target(to):
            messages.success(request, f"{made.name} is created.")
        return redirect(f"/submissions/new/?to={to}&method={made.pk}" if _is_target(to) else made.get_absolute_url())
    context = {"form": form, "to": request.GET.get("to", "")}
    return render(request, "leaderboards/method_form.html", context, status=BAD if form.errors else 200)


def _is_target(text: str) -> bool:
    return bool(text) and text.replace("/", "").replace("-", "").replace("_", "").isalnum() and len(text) < 150


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def method_edit(request: HttpRequest, number: int) -> HttpResponse:
    """Return the form of a method, or save it."""
    found = find_own_method(request.user, number)
    form = MethodForm(request.POST if request.method == "POST" else None, instance=found, owner=request.user)
    if request.method == "POST" and form.save_if_valid() is not None:
        messages.success(request, "The method is saved.")
        return redirect(found)
    return render(
        request, "leaderboards/method_form.html", {"form": form, "method": found}, status=BAD if form.errors else 200
    )


@login_required
@require_POST
def method_publish(request: HttpRequest, number: int) -> HttpResponse:
    """Show a method on boards to everybody."""
    found = find_own_method(request.user, number)
    if Method.objects.filter(pk=found.pk, published=None).update(published=Now()):
        messages.success(request, "Everybody who may open a split now sees the method and its scores on this split.")
    return redirect(found)


@login_required
@require_POST
def method_hide(request: HttpRequest, number: int) -> HttpResponse:
    """Hide a method from boards again."""
    found = find_own_method(request.user, number)
    if Method.objects.filter(pk=found.pk, published__isnull=False).update(published=None):
        messages.success(request, "Only you and staff see the method now.")
    return redirect(found)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def method_delete(request: HttpRequest, number: int) -> HttpResponse:
    """Return the page that says what is deleted with a method; its button deletes it."""
    found = find_own_method(request.user, number)
    trouble = ""
    if request.method == "POST":
        try:
            deletion.delete_method(found)
        except deletion.CountsToday as error:
            trouble = str(error)
        else:
            messages.success(request, f"{found.name} is deleted, with its submissions.")
            return redirect("methods")
    context = {"method": found, "n": found.submissions.count(), "trouble": trouble}
    return render(request, "leaderboards/method_delete.html", context, status=CONFLICT if trouble else 200)
