"""Datasets and their jobs in the admin pages. Only titles, descriptions, visibility and owners can be changed."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from generation.engine.errors import EngineError
from generation.making import dataset_jobs
from generation.models import Dataset, Export, FreshTwin, Heartbeat, Job, Limit, Quota, Split

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin


class LookOnly(Base):
    """Rows that only the program creates and deletes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # `manage.py delete` also deletes a dataset's files


@admin.register(Dataset)
class DatasetAdmin(LookOnly):
    list_display = ("slug", "title", "world", "state", "visibility", "owner", "created", "completed")
    list_filter = ("state", "visibility", "world")
    search_fields = ("slug", "title")
    fields = (
        *("slug", "title", "description", "visibility", "owner", "world", "state", "error", "archived"),
        *("authors", "licence", "version", "citation"),
        *("engine_version", "release", "fingerprint", "created", "completed", "spec"),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        changeable = ("title", "description", "visibility", "owner")
        return tuple(str(field) for field in self.fields if field not in changeable)


@admin.register(Split)
class SplitAdmin(LookOnly):
    list_display = ("__str__", "kind", "state", "withheld", "opened", "scenes", "questions", "fingerprint")
    list_select_related = ("dataset",)
    list_filter = ("state", "kind", "withheld")
    search_fields = ("dataset__slug", "name")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(FreshTwin)
class FreshTwinAdmin(LookOnly):
    list_display = ("__str__", "split", "source", "number")
    list_select_related = ("split__dataset", "source__dataset")
    search_fields = ("split__dataset__slug", "source__dataset__slug")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Job)
class JobAdmin(LookOnly):
    list_display = ("__str__", "state", "attempts", "worker", "started", "finished", "message")
    list_select_related = ("dataset", "split__dataset", "chunk")
    list_filter = ("state", "kind")
    search_fields = ("dataset__slug",)
    actions = ("retry",)

    @admin.action(description="Try again: those that failed", permissions=["view"])
    def retry(self, request: HttpRequest, chosen: QuerySet[Job]) -> None:
        """Retry the failed jobs among the chosen ones, like the button on their dataset's page."""
        tried = 0
        for job in chosen.select_related("dataset"):
            try:
                tried += dataset_jobs.retry(job)
            except EngineError as error:
                self.message_user(request, f"{job}: {error}", messages.ERROR)
        if tried:
            dataset_jobs.RUNNER.wake()
        said = f"{tried} of {len(chosen)} jobs are tried again. Only failed jobs of datasets that can go on are."
        self.message_user(request, said, messages.SUCCESS if tried else messages.WARNING)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Export)
class ExportAdmin(LookOnly):
    list_display = ("__str__", "state", "view", "user", "size", "created", "expires", "message")
    list_select_related = ("dataset", "user")
    list_filter = ("state", "view", "format")
    search_fields = ("dataset__slug",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Heartbeat)
class HeartbeatAdmin(LookOnly):
    list_display = ("name", "host", "pid", "queues", "seen")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Quota)
class QuotaAdmin(Base):
    list_display = ("user", "scenes")
    search_fields = ("user__username",)
    autocomplete_fields = ("user",)


@admin.register(Limit)
class LimitAdmin(Base):
    """The largest values in specs. Staff can raise them here, for one account or for everybody."""

    list_display = ("__str__", "name", "user", "most")
    list_select_related = ("user",)
    list_filter = ("name",)
    search_fields = ("user__username",)
    autocomplete_fields = ("user",)
