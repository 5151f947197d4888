"""Saves views of boards: reads an address of a board's page and checks that it is one."""

from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from django import forms
from django.urls import Resolver404, resolve

from generation.models import Split
from generation.splits.query_string import shorten
from webapp.leaderboards.models import SavedView
from webapp.leaderboards.models.saved_views import LONGEST_NAME, LONGEST_QUERY, PAGES
from webapp.leaderboards.ranking.slice_weights import FACET

MOST_OF_BOARD, MOST_OF_ACCOUNT = 50, 1000  # views of an account
QUESTION = "board_question"


class ViewAddress(NamedTuple):
    """An address of a board's page: the page, the position of a single question, and the parameters."""

    page: str
    position: int | None
    query: str


def read_address(text: str, split: Split) -> ViewAddress:
    """Return the parts of an address; raise `ValidationError` unless it is a page of this split's board."""
    problem = forms.ValidationError(f"Expected an address of a page of the board of {split}, got {shorten(text)}.")
    try:
        parts = urlsplit(text)
        route = resolve(parts.path)
    except (ValueError, Resolver404) as error:
        raise problem from error
    is_elsewhere = parts.scheme or parts.netloc or not text.startswith("/")
    is_board = (route.kwargs.get("slug"), route.kwargs.get("name")) == (split.dataset.slug, split.name)
    pages = {f"board_{page}" if page else "board": page for page in PAGES} | {QUESTION: "questions"}
    if is_elsewhere or not is_board or route.url_name not in pages:
        raise problem
    query = urlencode([pair for pair in parse_qsl(parts.query) if pair[0] != FACET])
    if len(query) > LONGEST_QUERY or "%00" in query:
        raise forms.ValidationError(
            f"Expected an address with at most {LONGEST_QUERY:,} characters of parameters, got {len(query):,}."
        )
    position = route.kwargs["number"] if route.url_name == QUESTION else None
    return ViewAddress(pages[str(route.url_name)], position, query)


class SavedViewForm(forms.Form):
    """The form of a saved view: its name, and who sees it; a new one also has its address."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        error_messages={"required": "Expected a name, got nothing."},
        help_text=f"What the view shows, at most {LONGEST_NAME} characters.",
    )
    is_public = forms.BooleanField(
        label="Public",
        required=False,
        help_text="Everybody who may open the board sees the view, with your name.",
    )

    def __init__(self, *args: Any, user: Any, split: Split, view: SavedView | None = None, **kwargs: Any) -> None:
        if view is not None:
            kwargs["initial"] = {"name": view.name, "is_public": view.is_public}
        super().__init__(*args, **kwargs)
        self.user, self.split, self.view = user, split, view
        if view is None:
            self.fields["address"] = forms.CharField(
                max_length=LONGEST_QUERY * 3,
                widget=forms.HiddenInput,
                error_messages={"required": f"Expected an address of a page of the board of {split}, got nothing."},
            )

    def clean_name(self) -> str:
        """Return the name; an account's views of a board have different names."""
        name = " ".join(str(self.cleaned_data["name"]).split())
        owner = self.user.pk if self.view is None else self.view.owner_id
        same = SavedView.objects.filter(owner=owner, split=self.split, name=name)
        if self.view is not None:
            same = same.exclude(pk=self.view.pk)
        if same.exists():
            raise forms.ValidationError(f"Expected a new name, got {shorten(name)}, which another view of yours has.")
        return name

    def clean_address(self) -> ViewAddress:
        return read_address(str(self.cleaned_data["address"]), self.split)

    def clean(self) -> dict[str, Any]:
        """Return the data; refuse a new view if the account has as many as it may have."""
        data = super().clean() or {}
        if self.view is None:
            own = SavedView.objects.filter(owner=self.user.pk)
            on_board, everywhere = own.filter(split=self.split).count(), own.count()
            if on_board >= MOST_OF_BOARD or everywhere >= MOST_OF_ACCOUNT:
                raise forms.ValidationError(
                    f"Expected at most {MOST_OF_BOARD} views of a board and {MOST_OF_ACCOUNT:,} in all, got "
                    f"{on_board} and {everywhere:,}. Delete some first."
                )
        return data

    def save(self) -> SavedView:
        """Return the new or changed view."""
        data = self.cleaned_data
        if self.view is None:
            address: ViewAddress = data["address"]
            return SavedView.objects.create(
                split=self.split,
                owner=self.user,
                name=data["name"],
                is_public=data["is_public"],
                page=address.page,
                position=address.position,
                query=address.query,
            )
        self.view.name, self.view.is_public = data["name"], data["is_public"]
        self.view.save(update_fields=["name", "is_public"])
        return self.view


def view_json(view: SavedView) -> dict[str, Any]:
    return {
        "name": view.name,
        "owner": view.owner.get_username(),
        "page": view.page_text,
        "address": view.get_absolute_url(),
        "is_public": view.is_public,
        "created": view.created.isoformat(),
    }
