"""Accounts in the admin pages."""

from allauth.account.decorators import secure_admin_login
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest

from generation.access import RESEARCHERS
from webapp.models import User

admin.site.site_header = admin.site.site_title = "Horsesense"

# Django's own sign-in form does not limit the number of tries, but the form of allauth does.
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]


class AccountAdmin(UserAdmin):
    """Accounts. Only superusers may change staff accounts, and the rights of any account."""

    actions = ("make_researchers", "end_researchers")

    @admin.action(description="Make researchers: they may make datasets and run studies", permissions=["decide"])
    def make_researchers(self, request: HttpRequest, chosen: QuerySet[User]) -> None:
        Group.objects.get(name=RESEARCHERS).user_set.add(*chosen)
        self.message_user(request, f"Researchers now: {_names(chosen)}.", messages.SUCCESS)

    @admin.action(description="No longer researchers", permissions=["decide"])
    def end_researchers(self, request: HttpRequest, chosen: QuerySet[User]) -> None:
        Group.objects.get(name=RESEARCHERS).user_set.remove(*chosen)
        self.message_user(request, f"No longer researchers: {_names(chosen)}.", messages.SUCCESS)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return isinstance(request.user, User) and request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and is_below(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and is_below(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        fields = tuple(super().get_readonly_fields(request, obj))
        is_superuser = isinstance(request.user, User) and request.user.is_superuser
        return fields if is_superuser else (*fields, "is_staff", "is_superuser", "groups", "user_permissions")


def _names(chosen: QuerySet[User]) -> str:
    return ", ".join(sorted(chosen.values_list("username", flat=True)))


def is_below(request: HttpRequest, account: User | None) -> bool:
    """Return whether the user may change an account: superusers may change all, others only accounts that are no staff.

    Return True if no account is given.
    """
    if account is None or (isinstance(request.user, User) and request.user.is_superuser):
        return True
    return not (account.is_staff or account.is_superuser)


admin.site.register(User, AccountAdmin)
