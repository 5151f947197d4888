"""Views of a study's participants for researchers: their work, and how to exclude, pay and erase them."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotations.answering import exclusion_rules, participants, slot_assignment
from annotations.answering.participants import AT_ONCE, apply, people_of, placeholders_of, pseudonym
from annotations.models import Participant, Study
from annotations.results.payment import Payment, reconcile
from annotations.results_forms import PaymentForm, ReasonForm
from annotations.studies import planning
from annotations.views.studies import NOTHING, find_study
from generation.access import takes_uploads

A_PAGE = 100
BAD = 400
PAYMENT_MEGABYTES = 10  # the size of the largest request with a platform's export


def study_owners_only(request: HttpRequest, *, code: str) -> None:
    find_study(request.user, code)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@takes_uploads(study_owners_only, megabytes=PAYMENT_MEGABYTES)
def study_people(request: HttpRequest, code: str) -> HttpResponse:
    """Return a page with each participant's work.

    A POST with a platform's export also shows who must be paid; the export is not stored.
    """
    study = find_study(request.user, code)
    if request.method != "POST":
        return _page(request, study, form=PaymentForm())
    form = PaymentForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, study, form=form, status=BAD)
    payment = reconcile(study, form.cleaned_data["file"], people_of(study))
    return _page(request, study, form=form, payment=payment)


@require_POST
def study_exclude(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Exclude a participant's answers from all figures, with a reason."""
    study = find_study(request.user, code)
    person = _find(study, number)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        trouble = " ".join(str(text) for texts in form.errors.values() for text in texts)
        return _page(request, study, form=PaymentForm(), trouble=(pseudonym(number), trouble), status=BAD)
    if person.excluded is None:
        slot_assignment.exclude(person, reason=form.cleaned_data["reason"])
        messages.success(request, f"{pseudonym(number)} is excluded from the data. This does not change their pay.")
    return _back(study, number)


@require_POST
def study_take_back(request: HttpRequest, code: str, number: int) -> HttpResponse:
    study = find_study(request.user, code)
    person = _find(study, number)
    if person.excluded is not None:
        slot_assignment.take_back(person)
        messages.success(request, f"{pseudonym(number)} counts again, and no rule excludes this participant any more.")
    return _back(study, number)


@require_POST
def study_apply_rules(request: HttpRequest, code: str) -> HttpResponse:
    """Exclude the participants whose answers still count although the stated rules exclude them."""
    study = find_study(request.user, code)
    left_out = apply(study)
    names = ", ".join(person.pseudonym for person in left_out)
    who = "1 participant is" if len(left_out) == 1 else f"{len(left_out):,} participants are"
    messages.success(request, f"{who} excluded by the rules{': ' if names else ''}{names}.")
    return redirect(f"{reverse('study_people', args=[study.code])}#rules")


@require_POST
def study_erase(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """Erase a participant's identity and comment; `confirm` is required, because this can't be undone."""
    study = find_study(request.user, code)
    person = _find(study, number)
    if not request.POST.get("confirm"):
        trouble = (pseudonym(number), "Expected the box to be ticked, because you cannot undo this.")
        return _page(request, study, form=PaymentForm(), trouble=trouble, status=BAD)
    participants.erase(person)
    messages.success(request, f"The identity and the comment of {pseudonym(number)} are erased. The answers stay.")
    return _back(study, number)


def _find(study: Study, number: int) -> Participant:
    """Return the participant with this number; participants are numbered from 1 in the order in which they joined."""
    everybody = study.participants.order_by("pk")
    if not 1 <= number <= everybody.count():
        raise Http404(NOTHING)
    return everybody[number - 1]


def _back(study: Study, number: int) -> HttpResponse:
    page = (number - 1) // A_PAGE + 1
    return redirect(f"{reverse('study_people', args=[study.code])}?page={page}#{pseudonym(number)}")


def _page(
    request: HttpRequest,
    study: Study,
    *,
    form: PaymentForm,
    payment: Payment | None = None,
    trouble: tuple[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    everybody = people_of(study)
    shown = Paginator(list(enumerate(everybody, start=1)), A_PAGE)
    at = (int(trouble[0][1:]) - 1) // A_PAGE + 1 if trouble is not None else request.GET.get("page")
    reward = planning.plan(study).pay if payment is not None and study.reward is None else study.reward
    hourly = payment.hourly(reward) if payment is not None and reward is not None else None
    context: dict[str, Any] = {
        "study": study,
        "n": len(everybody),
        "page": shown.get_page(at),
        "placeholders": placeholders_of(everybody),
        "rules": exclusion_rules.in_words(exclusion_rules.rules_of(study)),
        "waiting": [person for person in everybody if person.is_waiting],
        "at_once": AT_ONCE,
        "under_way": sum(not person.has_ended and bool(person.said) for person in everybody),
        "form": form,
        "payment": payment,
        "reward": reward,
        "hourly": hourly,
        "worth": payment.worth(study.hourly_pay) if payment is not None else None,
        "pays_too_little": hourly is not None and hourly < study.hourly_pay,
        "trouble_of": trouble[0] if trouble is not None else "",
        "trouble": trouble[1] if trouble is not None else "",
    }
    return render(request, "annotations/people.html", context, status=status)
