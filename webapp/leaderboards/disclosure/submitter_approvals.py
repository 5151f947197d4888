"""Who may submit to a split with withheld answers. Accounts are free, and every figure reveals something.

If the site can send mail, an account needs a verified e-mail address or the approval of the dataset's owner; otherwise
it needs the approval. An owner's refusal holds in any case. The owner and staff need nothing.
"""

from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.urls import reverse

from generation.access import is_withheld, owns
from generation.models import Split
from webapp.leaderboards.models import SubmitterApproval

State = SubmitterApproval.State


def can_send_mail() -> bool:
    return bool(settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory")


def may_submit(user: Any, split: Split) -> bool:
    """Return whether an account may submit to a split."""
    if not is_withheld(split) or owns(user, split.dataset):
        return True
    found = approval_of(user, split)
    if found is not None and found.state != State.ASKED:
        return found.state == State.APPROVED
    return can_send_mail() and EmailAddress.objects.filter(user=user.pk, verified=True).exists()


def approval_of(user: Any, split: Split) -> SubmitterApproval | None:
    # One request covers a split and its question sets.
    return SubmitterApproval.objects.filter(split=split.source, account=user.pk).first()


def reason_for(user: Any, split: Split, *, has_button: bool = False) -> str:
    """Explain why an account may not submit and what to do; `has_button` if the page can ask for approval."""
    found = approval_of(user, split)
    what = f"The answers of {split} are withheld, so "
    if found is not None and found.state == State.REFUSED:
        return f"{what}only accounts that its owner approves may submit, and the owner refused yours."
    wait = "You have asked for approval; wait for the owner's decision." if found is not None else ""
    ask = wait or (
        "Ask the owner for approval here."
        if has_button
        else f"Ask the owner for approval: {address_of(split)} has a button."
    )
    if can_send_mail():
        verify = f"You can verify your address at {reverse('account_email')}."
        return f"{what}an account needs a verified e-mail address, or the owner's approval. {verify} {ask}"
    return f"{what}an account needs the owner's approval. {ask}"


def address_of(split: Split) -> str:
    return f"{reverse('submission_new')}?to={split}"


def ask(user: Any, split: Split) -> SubmitterApproval:
    return SubmitterApproval.objects.get_or_create(split=split.source, account=user)[0]


def decide(split: Split, number: int, *, by: Any, is_approved: bool) -> bool:
    wanted = State.APPROVED if is_approved else State.REFUSED
    rows = SubmitterApproval.objects.filter(pk=number, split=split.source)
    return rows.update(state=wanted, decided=Now(), decided_by=by.pk) == 1


def requests_for(split: Split) -> QuerySet[SubmitterApproval]:
    return SubmitterApproval.objects.filter(split=split.source).select_related("account", "decided_by")
