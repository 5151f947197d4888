"""Views of a board's saved views: the list, and the forms that save, rename and delete one."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation.access import may_see_exact_figures, owns
from generation.models import Split
from webapp.leaderboards.board_lookup import find_board
from webapp.leaderboards.forms import SavedViewForm
from webapp.leaderboards.models import SavedView

A_PAGE = 40
BAD = 400
NO_VIEW = "There is no such view, or it isn't yours."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def saved_views(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the board's saved views that this visitor may see; a POST saves an address and leads back to it."""
    split = find_board(request.user, slug, name)
    if request.method != "POST":
        is_open = may_see_exact_figures(request.user, split)
        rows = SavedView.objects.for_board(request.user, split, is_open=is_open)
        page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
        return render(
            request,
            "leaderboards/saved_views.html",
            {**_context(request, split), "page": page, "owns_board": owns(request.user, split.dataset)},
        )
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("board", args=[slug, name]))
    form = SavedViewForm(request.POST, user=request.user, split=split)
    return _save(request, split, form)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def saved_view_edit(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponse:
    """Return the form of a view, or change its name and who sees it."""
    split = find_board(request.user, slug, name)
    view = _find(request, split, number, may_all=bool(request.user.is_staff))
    form = SavedViewForm(request.POST if request.method == "POST" else None, user=request.user, split=split, view=view)
    return _save(request, split, form)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def saved_view_delete(request: HttpRequest, slug: str, name: str, number: int) -> HttpResponse:
    """Return the page that asks whether to delete a view; its button deletes it."""
    split = find_board(request.user, slug, name)
    view = _find(request, split, number, may_all=owns(request.user, split.dataset))
    if request.method == "POST":
        view.delete()
        messages.success(request, f"The view “{view.name}” is deleted.")
        return redirect("board_views", slug, name)
    return render(request, "leaderboards/saved_view_delete.html", {**_context(request, split), "view": view})


def _save(request: HttpRequest, split: Split, form: SavedViewForm) -> HttpResponse:
    """Return the form, with its errors if it has some, or save the view."""
    if form.is_valid():
        try:
            with transaction.atomic():
                found = form.save()
        except IntegrityError:  # the same form was sent twice at the same moment
            form.add_error("name", "Expected a new name, got the name of another view of yours.")
        else:
            messages.success(request, f"The view “{found.name}” is saved.")
            return redirect(found) if form.view is None else redirect("board_views", split.dataset.slug, split.name)
    context = {**_context(request, split), "form": form, "view": form.view}
    return render(request, "leaderboards/saved_view_form.html", context, status=BAD if form.errors else 200)


def _find(request: HttpRequest, split: Split, number: int, *, may_all: bool) -> SavedView:
    """Return a view of this board if it belongs to the account or, with `may_all`, if it is public."""
    rows = SavedView.objects.visible_to(request.user).select_related("owner", "split__dataset")
    found = rows.filter(split=split, pk=number).first()
    if found is None or not (may_all or found.owner_id == request.user.pk):
        raise Http404(NO_VIEW)
    return found


def _context(request: HttpRequest, split: Split) -> dict[str, Any]:
    return {
        "split": split,
        "dataset": split.dataset,
        "here": "Saved views",
        "is_open": may_see_exact_figures(request.user, split),
    }
