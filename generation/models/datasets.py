"""Datasets, the files of their specs, and their splits."""

import functools
import json
import operator
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q, Sum
from django.db.models.functions import Coalesce, Now
from django.urls import reverse

from generation.engine.errors import BadSpec
from generation.engine.items import Display, Media
from generation.engine.spec import RESERVED_NAMES, BaseSpec
from generation.engine.worlds import World, get_world
from generation.program_version import describe

SLUG_PATTERN = r"^[a-z0-9][a-z0-9-]{0,59}\Z"
SLICE = 25  # scenes per job that draws pictures
IMAGE_WEIGHT = 15  # time for a scene's picture relative to its questions

OWN = ~Q(splits__kind="derived")  # splits with their own scenes and questions

Viewer = Any  # settings.AUTH_USER_MODEL or AnonymousUser


class Progress(NamedTuple):
    """The progress of making a dataset: each count with its goal."""

    scenes: int
    of_scenes: int
    images: int
    of_images: int
    splits: int
    of_splits: int
    read: int = 0  # bytes of imported files
    of_bytes: int = 0

    @property
    def is_import(self) -> bool:
        return self.of_bytes > 0  # the number of scenes of an import is not known in advance

    @property
    def share(self) -> float:
        """Return the finished share, 0 .. 1, weighted by the time of each part."""
        if self.is_import:
            return (self.read / self.of_bytes + self.splits / self.of_splits) / 2
        goal = self.of_scenes + IMAGE_WEIGHT * self.of_images + self.of_splits
        return (self.scenes + IMAGE_WEIGHT * self.images + self.splits) / goal if goal else 1.0


class DatasetQuerySet(models.QuerySet["Dataset"]):
    """Reads of datasets."""

    def visible_to(self, user: Viewer) -> "DatasetQuerySet":
        """Return the datasets that lists may show to a user: public ones and the user's own; staff see all.

        Datasets that are being deleted are left out; archived ones are listed only for owner and staff.
        """
        kept = self.exclude(state=Dataset.State.DELETING)
        listed = Q(visibility=Dataset.Visibility.PUBLIC, archived=None)
        if user is None or isinstance(user, AnonymousUser):
            return kept.filter(listed)
        if user.is_staff:
            return kept
        return kept.filter(listed | Q(owner=user))

    def matching(self, *, words: Iterable[str] = (), **values: Collection[str]) -> "DatasetQuerySet":
        """Return datasets whose fields have one of the values, and whose texts contain every word.

        The texts are title, slug, description and authors.
        """
        found = self.filter(**{f"{name}__in": wanted for name, wanted in values.items()})
        for word in words:
            spoken = [Q(**{f"{name}__icontains": word}) for name in ("slug", "title", "description", "authors")]
            found = found.filter(functools.reduce(operator.or_, spoken))
        return found

    def newest_first(self) -> "DatasetQuerySet":
        return self.order_by("-created", "-pk")

    def for_list(self) -> "DatasetQuerySet":
        """Return datasets, newest first, with the data that a list shows.

        Adds the counts `scenes` and `questions`, and prefetches the splits.
        """
        return (
            self.annotate(
                scenes=Coalesce(Sum("splits__scenes", filter=OWN), 0),
                questions=Coalesce(Sum("splits__questions", filter=OWN), 0),
            )
            .prefetch_related("splits")
            .newest_first()
        )


class Dataset(models.Model):
    """A spec, and what was made from it."""

    class State(models.TextChoices):
        """The state of making the dataset."""

        MAKING = "making"
        COMPLETE = "complete"
        FAILED = "failed"
        CANCELLED = "cancelled"
        DELETING = "deleting"

    class Visibility(models.TextChoices):
        PRIVATE = "private", "private"  # only the owner and staff, who may always see it
        LINK = "link", "whoever has the link"
        PUBLIC = "public", "public"

    slug = models.CharField(
        max_length=60,
        unique=True,
        validators=[RegexValidator(SLUG_PATTERN, "Expected small letters, digits and hyphens, 60 at most.")],
    )
    title = models.CharField(max_length=200, blank=True)
    description = models.TextField(blank=True)
    authors = models.TextField(blank=True, help_text="One a line, as they want to be named.")
    licence = models.CharField(max_length=100, blank=True, default="CC BY 4.0")
    version = models.CharField(max_length=40, blank=True)
    citation = models.TextField(blank=True, help_text="As others should cite it: a sentence, or BibTeX.")
    world = models.CharField(max_length=40)
    spec = models.TextField(help_text="JSON with every default spelled out, keys in their order.")
    engine_version = models.CharField(max_length=20)
    release = models.CharField(max_length=40, help_text="The version of the program that made it.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.MAKING)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PRIVATE)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="datasets"
    )
    created = models.DateTimeField(db_default=Now())
    completed = models.DateTimeField(null=True, blank=True)
    archived = models.DateTimeField(null=True, blank=True, help_text="Since when only its owner's lists show it.")
    fingerprint = models.CharField(max_length=64, blank=True)
    with_images = models.BooleanField(default=True)
    images_visible = models.BooleanField(
        "pictures are shown to others", default=True, help_text="Off: only you and staff see its pictures."
    )
    images_folder = models.CharField(
        max_length=1000, blank=True, help_text="Folder of this machine below which linked pictures lie."
    )
    error = models.TextField(blank=True)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        """Rules that the database enforces."""

        constraints = (
            models.CheckConstraint(
                condition=~Q(slug__in=sorted(RESERVED_NAMES)) & ~Q(slug=""), name="dataset_slug_allowed"
            ),
            models.CheckConstraint(
                condition=~Q(state="complete") | (~Q(fingerprint="") & Q(completed__isnull=False)),
                name="dataset_complete_has_fingerprint",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["making", "complete", "failed", "cancelled", "deleting"]),
                name="dataset_state_known",
            ),
            models.CheckConstraint(
                condition=Q(visibility__in=["private", "link", "public"]), name="dataset_visibility_known"
            ),
        )

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        return reverse("dataset", args=[self.slug])

    @property
    def made_by(self) -> str:
        return describe(release=self.release, engine_version=self.engine_version)

    @property
    def name(self) -> str:
        return self.title or self.slug

    @property
    def spec_data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.spec)
        return data

    def get_world(self) -> World:
        return get_world(self.world)

    @property
    def display(self) -> Display:
        """Return how its pictures are shown; the default if its world is not installed."""
        try:
            return self.get_world().display
        except BadSpec:
            return Display()

    @property
    def media(self) -> Media:
        """Return its media; pictures if its world is not installed."""
        try:
            return self.get_world().media
        except BadSpec:
            return Media.IMAGE

    @property
    def tells(self) -> bool:
        """Return whether its scenes are stories."""
        try:
            return self.get_world().has_stories
        except BadSpec:
            return False

    def read_spec(self) -> BaseSpec:
        return _read_spec(self.world, self.spec, self.pk)


@functools.lru_cache(maxsize=16)
def _read_spec(world: str, text: str, pk: int) -> BaseSpec:
    # A cached spec is never outdated, because its text names its files by digest.
    files = {file.digest: bytes(file.content) for file in SpecFile.objects.filter(dataset_id=pk).order_by("digest")}
    return get_world(world).read_stored_spec(json.loads(text), files=files)


class SpecFile(models.Model):
    """A file that a spec names by its digest: families, scenes, a mesh."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="files", db_index=False)
    digest = models.CharField(max_length=64)
    content = models.BinaryField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["dataset", "digest"], name="specfile_once"),)

    def __str__(self) -> str:
        return self.digest


class SplitQuerySet(models.QuerySet["Split"]):
    """Reads of splits."""

    def for_browse(self) -> "SplitQuerySet":
        return self.select_related("dataset", "reference", "parent").order_by("dataset", "ordinal")

    def own(self) -> "SplitQuerySet":
        return self.exclude(kind=Split.Kind.DERIVED)


class Split(models.Model):
    """A part of a dataset with a role: train, val, test."""

    class Kind(models.TextChoices):
        GENERATED = "generated"
        IMPORTED = "imported"
        DERIVED = "derived"

    class State(models.TextChoices):
        """The state of making it. A complete split never changes."""

        WAITING = "waiting"
        MAKING = "making"
        COMPLETE = "complete"
        FAILED = "failed"

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="splits", db_index=False)
    name = models.CharField(max_length=40)
    ordinal = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.GENERATED)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    withheld = models.BooleanField(default=False)
    opened = models.DateTimeField(null=True, blank=True, help_text="When its withheld answers were opened.")
    secret = models.CharField(
        max_length=32, blank=True, help_text="16 bytes as hexadecimal digits; for owner and staff."
    )
    secret_sha256 = models.CharField(max_length=64, blank=True)
    reference = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="measured")
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="derived",
        help_text="Of a derived split: the one that has its scenes and questions.",
    )  # fmt: skip
    recipe = models.TextField(blank=True, help_text="Of a derived split: JSON that says which questions it has.")
    scenes = models.PositiveIntegerField(default=0)
    questions = models.PositiveIntegerField(default=0)
    replaced = models.PositiveIntegerField(default=0)
    fingerprint = models.CharField(max_length=64, blank=True)
    index_digest = models.CharField(max_length=64, blank=True)
    seen_digest = models.CharField(
        max_length=64, blank=True, help_text="Of the part of the index that tells what the reference split had seen."
    )

    objects = SplitQuerySet.as_manager()

    class Meta:
        """Rules that the database enforces."""

        ordering = ("dataset", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=["dataset", "name"], name="split_name_once"),
            models.CheckConstraint(
                condition=~Q(state="complete") | (~Q(fingerprint="") & ~Q(index_digest="")),
                name="split_complete_is_sealed",
            ),
            models.CheckConstraint(
                condition=~Q(kind="generated", withheld=True) | ~Q(secret=""),
                name="split_withheld_has_secret",
            ),
            models.CheckConstraint(
                condition=(Q(secret="") & Q(secret_sha256="")) | (~Q(secret="") & ~Q(secret_sha256="")),
                name="split_secret_has_digest",
            ),
            models.CheckConstraint(condition=Q(opened=None) | Q(withheld=False), name="split_opened_is_open"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "making", "complete", "failed"]), name="split_state_known"
            ),
            models.CheckConstraint(condition=Q(kind__in=["generated", "imported", "derived"]), name="split_kind_known"),
            models.CheckConstraint(
                condition=Q(kind="derived", parent__isnull=False) & ~Q(recipe="")
                | ~Q(kind="derived") & Q(parent__isnull=True, recipe=""),
                name="split_derived_has_parent",
            ),
        )

    def __str__(self) -> str:
        return f"{self.dataset.slug}/{self.name}"

    def get_absolute_url(self) -> str:
        return reverse("split", args=[self.dataset.slug, self.name])

    @property
    def is_complete(self) -> bool:
        return self.state == self.State.COMPLETE

    @property
    def is_derived(self) -> bool:
        return self.kind == self.Kind.DERIVED

    @property
    def source(self) -> "Split":
        return self.parent if self.parent is not None else self

    @property
    def own_reference(self) -> "Split | None":
        # The reference of a fresh twin is in another dataset, that of its source.
        found = self.reference
        return found if found is not None and found.dataset_id == self.dataset_id else None

    def read_spec(self) -> BaseSpec:
        return self.dataset.read_spec().for_split(self.source.name)

    @property
    def secret_bytes(self) -> bytes:
        return bytes.fromhex(self.secret)  # the split is generated from it and the seed
