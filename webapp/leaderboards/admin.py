"""Leaderboards in the admin pages, read-only: their own pages change them."""

from typing import ClassVar

from django.contrib import admin
from django.db.models import Field, URLField

from annotations.admin import ReadOnlyAdmin
from webapp.leaderboards.models import BoardSettings, Method, SavedView, Submission, Suite, Training


@admin.register(Method)
class MethodAdmin(ReadOnlyAdmin):
    list_display = ("name", "made", "owner", "anonymous", "published", "created")
    list_select_related = ("owner",)
    list_filter = ("made", "anonymous")
    search_fields = ("name", "owner__username")
    formfield_overrides: ClassVar[dict[type[Field], dict[str, str]]] = {URLField: {"assume_scheme": "https"}}


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "state", "run", "size", "created", "finished", "message")
    list_select_related = ("method", "split__dataset")
    list_filter = ("state", "format")
    search_fields = ("method__name", "split__dataset__slug", "digest")


@admin.register(Training)
class TrainingAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "state", "seed", "owner", "created", "finished", "message")
    list_select_related = ("owner", "train__dataset")
    list_filter = ("state", "method")
    search_fields = ("name", "owner__username", "train__dataset__slug")


@admin.register(Suite)
class SuiteAdmin(ReadOnlyAdmin):
    list_display = ("title", "slug", "owner", "is_public", "created")
    list_select_related = ("owner",)
    search_fields = ("title", "slug")


@admin.register(SavedView)
class SavedViewAdmin(ReadOnlyAdmin):
    list_display = ("name", "split", "page", "owner", "is_public", "created")
    list_select_related = ("owner", "split__dataset")
    list_filter = ("is_public", "page")
    search_fields = ("name", "owner__username", "split__dataset__slug")


@admin.register(BoardSettings)
class BoardSettingsAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "least_coverage")
    list_select_related = ("split__dataset", "dataset")
