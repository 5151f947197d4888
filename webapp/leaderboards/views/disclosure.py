"""Views of an owner's disclosure page: published figures, budget, step, parts, and who may submit."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from generation.access import is_withheld, owns
from generation.engine.scoring.figures import TOO_FEW, is_too_few, points
from generation.engine.scoring.ladder import expected_gain
from generation.models import Split
from generation.views.access_checks import NOTHING
from webapp.leaderboards.board_lookup import find_board
from webapp.leaderboards.disclosure import disclosure_budget, limits, submitter_approvals
from webapp.leaderboards.disclosure.form import DisclosureForm

BAD = 400
DECISIONS = {"approve": True, "refuse": False}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def disclosure(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the owner's page of a split with withheld answers, or store the owner's settings."""
    split = _find_own(request.user, slug, name)
    form = DisclosureForm(request.POST if request.method == "POST" else None, split=split)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "The settings are saved.")
        return redirect("board_disclosure", slug, name)
    return render(request, "leaderboards/disclosure.html", _context(split, form), status=BAD if form.errors else 200)


def _context(split: Split, form: DisclosureForm) -> dict[str, Any]:
    plan, spending = disclosure_budget.plan_of(split), disclosure_budget.spending_on(split)
    budgets = {"Published so far": spending.figures, "When the budget is spent": plan.budget}
    budgets |= {"With twice the budget": 2 * plan.budget, "With five times the budget": 5 * plan.budget}
    gains = [
        (label, figures, points(expected_gain(figures, max(1, split.questions)))) for label, figures in budgets.items()
    ]
    return {
        "split": split,
        "dataset": split.dataset,
        "form": form,
        "plan": plan,
        "spending": spending,
        "room": disclosure_budget.room_on(split),
        "is_small": is_too_few(split.questions),
        "smallest": TOO_FEW,
        "gains": gains,
        "cost": disclosure_budget.cost_of(split),
        "daily": limits.shared_limit(split),
        "requests": submitter_approvals.requests_for(split),
        "can_send_mail": submitter_approvals.can_send_mail(),
    }


@login_required
@require_POST
def approval_ask(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Ask the owner of a split to approve the visitor's account."""
    split = find_board(request.user, slug, name)
    if not is_withheld(split):
        raise Http404(NOTHING)
    if not submitter_approvals.may_submit(request.user, split):
        submitter_approvals.ask(request.user, split)
        messages.success(request, "The owner can see your request now.")
    return redirect(submitter_approvals.address_of(split))


@login_required
@require_POST
def approval_decide(request: HttpRequest, slug: str, name: str, number: int, decision: str) -> HttpResponse:
    """Approve or refuse a request."""
    split = _find_own(request.user, slug, name)
    if decision not in DECISIONS:
        raise Http404(NOTHING)
    if not submitter_approvals.decide(split, number, by=request.user, is_approved=DECISIONS[decision]):
        raise Http404("There is no such request.")
    return redirect("board_disclosure", slug, name)


def _find_own(user: Any, slug: str, name: str) -> Split:
    """Return a split with withheld answers that this account owns; staff may open all of them."""
    split = find_board(user, slug, name)
    if not (owns(user, split.dataset) and is_withheld(split)):
        raise Http404(NOTHING)
    return split
