"""Studies and participants in the admin pages. They are read-only there, because the pages of studies change them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from annotations.models import Participant, Study, StudyText
from generation.admin import LookOnly


class ReadOnlyAdmin(LookOnly):
    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # only the pages of studies change these rows


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    list_display = ("title", "code", "state", "split", "owner", "wanted", "per_question", "created", "opened", "closed")
    list_select_related = ("split__dataset", "owner")
    list_filter = ("state",)
    search_fields = ("title", "code", "owner__username")


@admin.register(StudyText)
class StudyTextAdmin(ReadOnlyAdmin):
    list_display = ("__str__", "created")
    list_select_related = ("study",)
    list_filter = ("kind",)
    search_fields = ("study__title", "study__code")


@admin.register(Participant)
class ParticipantAdmin(ReadOnlyAdmin):
    """Participants without their secret, because anybody who knows the secret can continue the session."""

    list_display = ("__str__", "identity", "stage", "is_test", "joined", "finished", "excluded")
    list_select_related = ("study",)
    list_filter = ("stage", "is_test")
    search_fields = ("study__code", "identity")
    exclude = ("secret",)
