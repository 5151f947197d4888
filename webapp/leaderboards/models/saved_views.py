"""Saved views: names that accounts give to addresses of a board's pages."""

from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse

from generation.models import Split

LONGEST_NAME, LONGEST_QUERY = 80, 4000
BOARD_PAGE = ""
PAGES = {
    BOARD_PAGE: "Board",
    "slices": "Slices",
    "compare": "Compare",
    "pairs": "All pairs",
    "confusion": "Confusion",
    "questions": "Question by question",
    "curves": "Curves",
    "metrics": "Metrics",
    "steps": "Skipped steps",
    "costs": "Accuracy and cost",
}


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def visible_to(self, user: Any) -> Self:
        # Staff see the private views of others only in the admin pages.
        return self.filter(Q(is_public=True) | Q(owner=user.pk) if user.is_authenticated else Q(is_public=True))

    def for_board(self, user: Any, split: Split, *, is_open: bool) -> Self:
        """Return a board's views that a visitor may see, their own first.

        If the answers are withheld from the visitor, only views of the board itself are left: the others cannot open.
        """
        found = self.visible_to(user).filter(split=split)
        found = found if is_open else found.filter(page=BOARD_PAGE)
        is_own = models.Case(models.When(owner=user.pk, then=0), default=1, output_field=models.IntegerField())
        return found.select_related("owner", "split__dataset").annotate(others=is_own).order_by("others", "name", "pk")


class SavedView(models.Model):
    """A name for an address of a board's pages. It shows what the address shows to the visitor who opens it."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="saved_views")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=LONGEST_NAME)
    page = models.CharField(max_length=12, choices=list(PAGES.items()), blank=True)
    position = models.PositiveIntegerField("question", null=True, blank=True, help_text="Of a single question's page.")
    query = models.CharField(max_length=LONGEST_QUERY, blank=True, help_text="The parameters of the address.")
    is_public = models.BooleanField("shown to everybody who may open the board", default=False)
    created = models.DateTimeField(db_default=Now())

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        """An account's views of a board have different names, and only pages of questions have a position."""

        constraints = (
            models.UniqueConstraint(fields=["split", "owner", "name"], name="savedview_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="savedview_has_name"),
            models.CheckConstraint(condition=Q(page__in=list(PAGES)), name="savedview_page_known"),
            models.CheckConstraint(condition=Q(position=None) | Q(page="questions"), name="savedview_position_of_page"),
        )

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address that the view names."""
        board = [self.split.dataset.slug, self.split.name]
        if self.position is not None:
            path = reverse("board_question", args=[*board, self.position])
        else:
            path = reverse(f"board_{self.page}" if self.page else "board", args=board)
        return f"{path}?{self.query}" if self.query else path

    @property
    def page_text(self) -> str:
        return f"Question {self.position}" if self.position is not None else str(PAGES[self.page])
