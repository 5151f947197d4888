"""Data about users who make datasets: limits, quotas, uploaded files, and running previews."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce, Now

from generation.engine.errors import BadSpec
from generation.engine.spec import LIMITS
from generation.models.datasets import Dataset, Split
from generation.models.jobs import from_now

DEFAULT_SCENES = 200_000
UPLOADS_KEPT = 86_400.0  # seconds
UPLOADS_EACH = 100
UPLOAD_BYTES = 2_000_000
TURN = 20.0  # seconds after which a preview's turn ends in any case


class LimitQuerySet(models.QuerySet["Limit"]):
    """Reads of limits."""

    def set_for(self, user: Any) -> dict[str, int]:
        # Rows for everybody come first, so that an account's own limits replace them.
        rows = self.filter(Q(user=None) | Q(user=user)).order_by(F("user").asc(nulls_first=True))
        return dict(rows.values_list("name", "most"))


class Limit(models.Model):
    """A limit of a spec that staff changed, for an account or for everybody."""

    name = models.CharField("limit on", max_length=20, choices=[(name, limit.unit) for name, limit in LIMITS.items()])
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="limits",
        db_index=False,
        verbose_name="for",
        help_text="Whom it holds for. Empty: for everybody who has none of her own.",
    )
    most = models.PositiveIntegerField(
        "at most",
        help_text="Without a row: "
        + "; ".join(f"{limit.standard:,} {limit.unit} ({limit.ceiling:,} can be had)" for limit in LIMITS.values())
        + ". How many scenes an account may have in all is its quota's.",
    )

    objects = LimitQuerySet.as_manager()

    class Meta:
        """Each limit has at most one row per account."""

        constraints = (
            models.UniqueConstraint(fields=["user", "name"], name="limit_once_a_user"),
            models.UniqueConstraint(fields=["name"], condition=Q(user=None), name="limit_once_for_all"),
        )

    def __str__(self) -> str:
        return f"{self.user or 'everybody'}: {self.most:,} {self.get_name_display()}"

    def clean(self) -> None:
        limit = LIMITS.get(self.name)
        if limit is not None and self.most is not None and not 1 <= self.most <= limit.ceiling:
            raise ValidationError({"most": f"Expected 1 to {limit.ceiling:,} {limit.unit}, got {self.most:,}."})


class QuotaQuerySet(models.QuerySet["Quota"]):
    """Reads of quotas."""

    def allowed(self, user: Any) -> int:
        found = self.filter(user=user).values_list("scenes", flat=True).first()
        return DEFAULT_SCENES if found is None else found

    def used(self, user: Any) -> int:
        kept = Split.objects.own().filter(dataset__owner=user).exclude(dataset__state=Dataset.State.DELETING)
        used: int = kept.aggregate(n=Coalesce(Sum("scenes"), 0))["n"]
        return used


class Quota(models.Model):
    """How many scenes an account's datasets may have in total. Staff can change it; without a row it is the default."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="quota")
    scenes = models.PositiveIntegerField(default=DEFAULT_SCENES)

    objects = QuotaQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.user}: {self.scenes} scenes"


class UploadQuerySet(models.QuerySet["Upload"]):
    """Reads and writes of uploads."""

    def keep(self, user: Any, *, name: str, content: bytes) -> str:
        """Store a file for a day and return its digest; raise `BadSpec` if it is too large or there are too many."""
        if len(content) > UPLOAD_BYTES:
            raise BadSpec(f"Expected files of at most {UPLOAD_BYTES:,} bytes, got {len(content):,}.", where=name)
        self.filter(user=user).outdated().delete()
        if self.filter(user=user).count() >= UPLOADS_EACH:
            raise BadSpec(f"Expected at most {UPLOADS_EACH} files a day, got one more.", where=name)
        digest = hashlib.sha256(content).hexdigest()
        self.update_or_create(user=user, digest=digest, defaults={"name": name, "content": content, "created": Now()})
        return digest

    def outdated(self) -> "UploadQuerySet":
        return self.filter(created__lt=from_now(-UPLOADS_KEPT))

    def named_in(self, user: Any, text: str) -> Mapping[str, "Upload"]:
        digests = [digest for digest in self.filter(user=user).values_list("digest", flat=True) if digest in text]
        return {upload.digest: upload for upload in self.filter(user=user, digest__in=digests).order_by("digest")}


class Upload(models.Model):
    """A file that a user uploaded for an unfinished spec."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    digest = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    content = models.BinaryField()
    created = models.DateTimeField(db_default=Now())

    objects = UploadQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["user", "digest"], name="upload_once"),)

    def __str__(self) -> str:
        return self.name


class PreviewTurnQuerySet(models.QuerySet["PreviewTurn"]):
    """Claims of previews."""

    def take(self, user: Any) -> str:
        """Return the token of this account's turn; empty while another preview of the account runs."""
        token = secrets.token_hex(16)
        self.filter(user=user, until__lt=Now()).delete()
        try:
            with transaction.atomic():
                self.create(user=user, token=token, until=from_now(TURN))
        except IntegrityError:
            return ""
        return token

    def give_back(self, token: str) -> None:
        self.filter(token=token).delete()


class PreviewTurn(models.Model):
    """The one preview that an account has running."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    token = models.CharField(max_length=32)
    until = models.DateTimeField()

    objects = PreviewTurnQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.user} until {self.until}"
