"""Submissions of methods, and their scores."""

import json
import zlib
from functools import cached_property
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse

from generation.models import Dataset, Split
from generation.models.jobs import AbstractJob, AbstractJobQuerySet, from_now
from webapp.leaderboards.models.methods import Method
from webapp.leaderboards.models.trainings import Training

A_DAY = 86_400.0  # seconds
GONE = 10**12  # larger numbers stand for deleted splits
FITTED_ON_HIDDEN = Q(method__baseline__gt="") & (
    Q(trained_on__withheld=True)
    | Q(trained_on__parent__withheld=True)
    | Q(trained_on__dataset__visibility=Dataset.Visibility.PRIVATE)
)
RELATED = ("method__owner", "split", "trained_on__dataset", "trained_on__parent")  # related rows that boards read


def fitted_on_hidden(user: Any) -> Q:
    """Return the condition for baselines that repeat withheld or private answers which this visitor may not see.

    The owner of a fresh twin need not own the split that the baselines of the twin are fitted on.
    """
    if not user.is_authenticated:
        return FITTED_ON_HIDDEN
    return Q(pk__in=()) if user.is_staff else FITTED_ON_HIDDEN & ~Q(trained_on__dataset__owner=user.pk)


class SubmissionQuerySet(AbstractJobQuerySet["Submission"]):
    def scored(self) -> Self:
        return self.filter(state=AbstractJob.State.DONE)  # only these count as submissions

    def visible_to(self, user: Any) -> Self:
        """Return the submissions that lists may show a visitor, by their methods and datasets.

        A link-only dataset is named to its owner, to staff, and to those who submitted to it. A baseline that learned
        from withheld answers repeats some of them, so only the owner of these answers and staff may see it.
        """
        known = self.filter(method__in=Method.objects.visible_to(user))
        if user.is_authenticated and user.is_staff:
            return known
        named = Q(split__dataset__visibility=Dataset.Visibility.PUBLIC)
        if user.is_authenticated:
            named |= Q(split__dataset__owner=user.pk) | Q(method__owner=user.pk)
        return known.filter(named).exclude(fitted_on_hidden(user))

    def under_way(self) -> Self:
        return self.filter(state__in=[AbstractJob.State.WAITING, AbstractJob.State.RUNNING])

    def of_last_day(self) -> Self:
        return self.scored().filter(finished__gt=from_now(-A_DAY))


class Submission(AbstractJob):
    """A run of a method on a split: a file that was uploaded, checked and scored, or a baseline's own predictions.

    Waiting: the file is stored but not read yet. Failed: `message` says why. Done: there is a `Score` for its split and
    for each question set of it; `finished` is the time of the scoring. Uploaded files are deleted when they are scored
    or refused; the codes in `predictions`, the stored `replies`, and the upload's size and digest are kept.
    """

    account = "method__owner"

    method = models.ForeignKey(Method, on_delete=models.CASCADE, related_name="submissions")
    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="submissions")
    run = models.CharField(max_length=60, blank=True, help_text="A seed or a name, where there are several.")
    trained_on = models.ForeignKey(
        Split,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="trained",
        help_text="A split of this site.",
    )
    trained_on_name = models.CharField(
        max_length=130, blank=True, editable=False, help_text="What that split was called, once it is deleted."
    )
    trained_on_listed = models.BooleanField(
        default=False, editable=False, help_text="Whether its dataset was public when it was deleted."
    )
    train_size = models.PositiveBigIntegerField(
        "training examples", null=True, blank=True, help_text="How many different ones."
    )
    examples_seen = models.PositiveBigIntegerField(
        "examples seen", null=True, blank=True, help_text="In all, repeats included."
    )
    file = models.CharField(max_length=200, blank=True, help_text="Where the upload is kept.")
    filename = models.CharField(max_length=200, blank=True, help_text="What it was called.")
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the upload.")
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes of the upload.")
    format = models.CharField(max_length=40, blank=True)
    predictions = models.CharField(max_length=64, blank=True, help_text="Digest of the codes, which names their file.")
    replies_file = models.CharField(max_length=200, blank=True, help_text="Where the uploaded replies are kept.")
    replies_size = models.PositiveBigIntegerField(default=0, help_text="Bytes of the uploaded replies.")
    replies = models.CharField(max_length=64, blank=True, help_text="Digest of the stored replies, which names them.")
    kept = models.PositiveBigIntegerField(default=0, help_text="Bytes of the files of codes and replies.")
    outside = models.PositiveIntegerField(default=0, help_text="Answers that the vocabulary doesn't have.")
    failures = models.PositiveIntegerField(default=0, help_text="Of them, texts of a runner that got no reply.")
    key = models.CharField(max_length=200, blank=True, help_text="The Idempotency-Key that it came with.")
    batch = models.UUIDField(null=True, blank=True, help_text="Of what came in one upload to a suite.")
    findings = models.CharField(max_length=200, blank=True, help_text="File of everything that is wrong with it.")
    note = models.CharField(max_length=500, blank=True, help_text="For yourself and readers of the board.")
    column = models.CharField(max_length=200, blank=True, help_text="The column of answers, if the sender named it.")
    training = models.ForeignKey(
        Training, null=True, blank=True, editable=False, on_delete=models.SET_NULL, related_name="submissions"
    )

    objects = SubmissionQuerySet.as_manager()

    class Meta(AbstractJob.Meta):
        """A scored submission has predictions."""

        abstract = False
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *AbstractJob.Meta.constraints,
            models.CheckConstraint(
                condition=~Q(state="done") | (~Q(predictions="") & Q(finished__isnull=False)),
                name="submission_done_has_predictions",
            ),
            models.UniqueConstraint(
                fields=["method", "split", "key"], condition=~Q(key=""), name="submission_key_once"
            ),
        )
        indexes = (models.Index(fields=["split", "state"], name="submission_by_split"),)

    def __str__(self) -> str:
        return f"submission {self.pk} of {self.method} to {self.split}"

    def get_absolute_url(self) -> str:
        return reverse("submission", args=[self.pk])

    @property
    def is_scored(self) -> bool:
        return self.state == self.State.DONE

    @property
    def is_under_way(self) -> bool:
        return self.state in (self.State.WAITING, self.State.RUNNING)

    @property
    def reason_without_score(self) -> str:
        if self.message or not self.is_under_way:
            return self.message or f"Expected a score, got a submission that is {self.state}."
        return f"Expected a score, got a submission that is still {self.state}. The same command waits for it again."

    @property
    def configuration(self) -> tuple[int | None, int | None, int | None]:
        """Return what the runs of one entry share: training split, training size, and examples seen.

        A deleted split counts by its name, as a number that no split has.
        """
        number = self.trained_on_id
        if number is None and self.trained_on_name:
            number = GONE + zlib.crc32(self.trained_on_name.encode())
        return (number, self.train_size, self.examples_seen)


class ScoreQuerySet(models.QuerySet["Score"]):
    def on(self, split: Split) -> Self:
        """Return the scores on a split, without baselines that are fitted on another split than its reference.

        A question set with a reference of its own has such baselines from its parent.
        """
        kept = self.filter(split=split).select_related(*(f"submission__{name}" for name in RELATED))
        if split.is_derived:
            is_baseline = ~Q(submission__method__baseline="") & Q(submission__trained_on__isnull=False)
            kept = kept.exclude(is_baseline & ~Q(submission__trained_on=split.reference_id))
        return kept.order_by("submission__finished", "pk")

    def known_to(self, user: Any, split: Split) -> Self:
        found = self.on(split).filter(submission__method__in=Method.objects.visible_to(user))
        hidden = Submission.objects.filter(fitted_on_hidden(user), trained_on=split.reference_id)
        return found.exclude(submission__in=hidden)


class Score(models.Model):
    """The result of a submission on its split or on a question set derived from it. It never changes."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="scores")
    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="scores")
    n = models.PositiveIntegerField(help_text="Questions.")
    right = models.FloatField(
        help_text="Of them answered rightly, taken strictly; of guesses, as many as are expected."
    )
    right_read = models.FloatField(help_text="The same with answers read out of free text.")
    unreadable = models.PositiveIntegerField(help_text="Answers in which no answer could be read.")
    answered = models.PositiveIntegerField(null=True, help_text="Questions with an answer; empty if it isn't known.")
    right_answered = models.FloatField(null=True, help_text="Of these answered rightly.")
    tokens = models.FloatField(null=True, help_text="Tokens for each question, if the replies have them.")
    cost = models.FloatField(null=True, help_text="US dollars for 1,000 questions, if the replies have it.")
    latency = models.FloatField(null=True, help_text="Seconds of a reply, the median, if the replies have it.")
    columns = models.TextField(help_text="JSON: for each column of the world's board [right, n].")
    made = models.DateTimeField(db_default=Now())

    objects = ScoreQuerySet.as_manager()

    class Meta:
        """One score for each split, with plausible counts."""

        constraints = (
            models.UniqueConstraint(fields=["submission", "split"], name="score_once"),
            models.CheckConstraint(
                condition=Q(right__range=(0, F("n")), right_read__range=(0, F("n")), unreadable__lte=F("n")),
                name="score_of_n",
            ),
            models.CheckConstraint(
                condition=Q(answered=None, right_answered=None)
                | Q(answered__lte=F("n"), right_answered__range=(0, F("answered"))),
                name="score_of_answered",
            ),
        )
        indexes = (models.Index(fields=["split"], name="score_by_split"),)

    def __str__(self) -> str:
        return f"{self.right:g} of {self.n} of {self.submission}"

    @property
    def accuracy(self) -> float | None:
        return self.right / self.n if self.n else None

    @property
    def has_text(self) -> bool:
        """Return whether some answers were free text. Questions without an answer are outside the vocabulary, too."""
        unanswered = 0 if self.answered is None else self.n - self.answered
        outside = self.submission.outside
        if self.split_id == self.submission.split_id:
            return outside > unanswered
        # How many of these answers belong to the question set is not stored; reading them changes its other counts.
        return outside > 0 and (self.unreadable > unanswered or self.right_read != self.right)

    @cached_property
    def columns_json(self) -> dict[str, list[float]]:
        data: dict[str, list[float]] = json.loads(self.columns)
        return data


class Attempt(models.Model):
    """A file that was sent for a split with withheld answers. Each attempt counts for a limit, even a refused one."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="attempts")
    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="attempts")
    made = models.DateTimeField(db_default=Now())

    objects = models.Manager()

    class Meta:
        indexes = (models.Index(fields=["user", "split", "made"], name="attempt_by_user"),)

    def __str__(self) -> str:
        return f"attempt of {self.user} at {self.split}"


class RemovedSubmissions(models.Model):
    """A note on a method's page: submissions were deleted together with a dataset or question set."""

    method = models.ForeignKey(Method, on_delete=models.CASCADE, related_name="removed")
    submissions = models.PositiveIntegerField(help_text="How many.")
    made = models.DateTimeField(db_default=Now())

    objects = models.Manager()

    class Meta:
        ordering = ("-made", "-pk")

    def __str__(self) -> str:
        return f"{self.submissions} submissions of {self.method}"
