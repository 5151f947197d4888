"""Accounts, and links that let somebody in once."""

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.urls import reverse
from django.utils import timezone

LOGIN_LINK_LIFE = timedelta(hours=24)


class User(AbstractUser):
    """An account. Our own class, so that it can grow fields without moving everybody."""


class LoginLinkQuerySet(models.QuerySet["LoginLink"]):
    """Reads and writes of login links."""

    def make(self, user: User, *, life: timedelta = LOGIN_LINK_LIFE) -> str:
        """Return the token of a new link for this account. Only its digest is kept."""
        token = secrets.token_urlsafe(32)
        self.create(digest=digest_of(token), user=user, expires_at=timezone.now() + life)
        return token

    def usable(self, token: str) -> "LoginLinkQuerySet":
        """Return the link that this token opens, while it still does."""
        return self.filter(digest=digest_of(token), used_at=None, expires_at__gt=timezone.now(), user__is_active=True)

    def spent(self) -> "LoginLinkQuerySet":
        """Return links that open nothing any more."""
        return self.filter(models.Q(used_at__isnull=False) | models.Q(expires_at__lte=timezone.now()))


class LoginLink(models.Model):
    """A link that logs one account in, once, before it expires."""

    digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    objects = LoginLinkQuerySet.as_manager()

    def __str__(self) -> str:
        """Return whom the link is for, and until when."""
        return f"login link for {self.user} until {self.expires_at:%Y-%m-%d %H:%M}"

    def use(self) -> bool:
        """Return whether this call is the one that spends the link; of several at once, one is."""
        return LoginLink.objects.filter(pk=self.pk, used_at=None).update(used_at=timezone.now()) == 1


def digest_of(token: str) -> str:
    """Return what the database keeps of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def address_of(token: str) -> str:
    """Return the path of a token's page."""
    return reverse("login_link", args=[token])
