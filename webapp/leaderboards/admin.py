"""Leaderboards in the admin pages: to look at; their own pages change them."""

from django.contrib import admin

from annotations.admin import Unchanged
from webapp.leaderboards.models import Method, Submission, Suite


@admin.register(Method)
class MethodAdmin(Unchanged):
    """Methods, anonymous ones with their owners."""

    list_display = ("name", "made", "owner", "anonymous", "published", "created")
    list_select_related = ("owner",)
    list_filter = ("made", "anonymous")
    search_fields = ("name", "owner__username")


@admin.register(Submission)
class SubmissionAdmin(Unchanged):
    """Submissions."""

    list_display = ("__str__", "state", "run", "size", "created", "finished", "message")
    list_select_related = ("method", "split__dataset")
    list_filter = ("state", "format")
    search_fields = ("method__name", "split__dataset__slug", "digest")


@admin.register(Suite)
class SuiteAdmin(Unchanged):
    """Suites."""

    list_display = ("title", "slug", "owner", "is_public", "created")
    list_select_related = ("owner",)
    search_fields = ("title", "slug")
