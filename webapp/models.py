"""Accounts, sign-in links that work once, and API tokens."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.urls import reverse
from django.utils import timezone

LOGIN_LINK_LIFE = timedelta(hours=24)
BEGINS = "hs_"  # the prefix of all tokens, by which people and secret scanners recognise them
TOKENS_EACH = 50
USE_NOTED = timedelta(hours=1)  # the last use of a token is stored at most once per hour, to save writes


class User(AbstractUser):
    """An account. The project has its own class, so that fields can be added later."""


class LoginLinkQuerySet(models.QuerySet["LoginLink"]):
    def make(self, user: User, *, life: timedelta = LOGIN_LINK_LIFE) -> str:
        token = secrets.token_urlsafe(32)
        self.create(digest=digest_of(token), user=user, expires_at=timezone.now() + life)
        return token

    def usable(self, token: str) -> "LoginLinkQuerySet":
        return self.filter(digest=digest_of(token), used_at=None, expires_at__gt=timezone.now(), user__is_active=True)

    def spent(self) -> "LoginLinkQuerySet":
        return self.filter(models.Q(used_at__isnull=False) | models.Q(expires_at__lte=timezone.now()))


class LoginLink(models.Model):
    """A link that signs in one account, once, before it expires."""

    digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    objects = LoginLinkQuerySet.as_manager()

    def __str__(self) -> str:
        return f"login link for {self.user} until {self.expires_at:%Y-%m-%d %H:%M}"

    def use(self) -> bool:
        # Only one of simultaneous calls returns True.
        return LoginLink.objects.filter(pk=self.pk, used_at=None).update(used_at=timezone.now()) == 1


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def make(self, user: User, name: str) -> str:
        token = BEGINS + secrets.token_urlsafe(32)
        self.create(digest=digest_of(token), user=user, name=name)
        return token

    def usable(self, token: str) -> "ApiTokenQuerySet":
        return self.filter(digest=digest_of(token), revoked=None, user__is_active=True).select_related("user")

    def of(self, user: User) -> "ApiTokenQuerySet":
        return self.filter(user=user, revoked=None).order_by("-pk")


class ApiToken(models.Model):
    """A secret that allows a program to act for an account."""

    digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True, blank=True)
    revoked = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    def __str__(self) -> str:
        return f"API token {self.name!r} of {self.user}"

    def note_use(self) -> None:
        now = timezone.now()
        if self.last_used is None or self.last_used < now - USE_NOTED:
            ApiToken.objects.filter(pk=self.pk).update(last_used=now)

    def revoke(self) -> bool:
        return ApiToken.objects.filter(pk=self.pk, revoked=None).update(revoked=timezone.now()) == 1


def digest_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def address_of(token: str) -> str:
    return reverse("login_link", args=[token])
