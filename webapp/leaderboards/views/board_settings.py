"""View of the settings of a board, for the owner of its dataset and staff."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation.access import owns
from generation.views.access_checks import NOTHING
from webapp.leaderboards.board_lookup import find_board
from webapp.leaderboards.forms import BoardSettingsForm
from webapp.leaderboards.replies.coverage import least_coverage

BAD = 400


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def board_settings(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the settings of a board, or store them."""
    split = find_board(request.user, slug, name)
    if not owns(request.user, split.dataset):
        raise Http404(NOTHING)
    form = BoardSettingsForm(request.POST if request.method == "POST" else None, split=split)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "The settings are saved.")
        return redirect("board_settings", slug, name)
    context = {
        "split": split,
        "dataset": split.dataset,
        "form": form,
        "least": least_coverage(split),
        "usual": settings.LEAST_COVERAGE,
    }
    return render(request, "leaderboards/board_settings.html", context, status=BAD if form.errors else 200)
