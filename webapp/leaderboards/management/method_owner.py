"""The account for which a command makes a method."""

from django.core.management.base import CommandError

from generation.management.console import BAD_INPUT
from webapp.leaderboards.method_names import spellings
from webapp.models import User


def find_owner(account: str | None, *, method: str = "") -> User:
    """Return the named account, or the only one that has a method of this name, or the only superuser.

    Raises `CommandError` if there is none, or more than one.
    """
    if account is not None:
        wanted, found = f"an account {account!r}", list(User.objects.filter(username=account))
    else:
        wanted, found = (
            f"one owner of a method {method!r}",
            list(User.objects.filter(methods__name__in=spellings(method)).distinct()[:2]),
        )
        if not found:
            wanted, found = "one superuser", list(User.objects.filter(is_superuser=True)[:2])
    if len(found) != 1:
        came = "several" if found else "none"
        raise CommandError(
            f"Expected {wanted}, got {came}: name the account with --owner ACCOUNT.", returncode=BAD_INPUT
        )
    return found[0]
