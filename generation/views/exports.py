"""Exports: the page that requests and lists them, the actions on each, and its file."""

from typing import Any, NamedTuple

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from generation.access import Visitor, owns
from generation.engine import formats
from generation.engine.errors import EngineError
from generation.exchange import export_jobs, export_requests
from generation.exchange.export_requests import ExportForm
from generation.models import Dataset, Export, Split
from generation.queue import DEFAULT
from generation.queue.workers import describe_waiting
from generation.views.access_checks import find_dataset
from generation.views.stored_files import sent_by_proxy, sent_by_site

BAD, CONFLICT = 400, 409
ZIP = "application/zip"
NOTHING = "There is no such export, or you may not see it."


class ExportRow(NamedTuple):
    """An export in the page's list."""

    export: Export
    label: str
    details: str
    size: str
    is_managed: bool
    is_had: bool


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the page of a dataset's exports. Its button requests an export for a user who is signed in."""
    found = find_dataset(request.user, slug)
    splits = _splits(found)
    if request.method != "POST":
        return _page(request, found, splits, form=_form(request, found, splits))
    if not request.user.is_authenticated:
        return redirect(f"/accounts/login/?next={request.path}")
    form = _form(request, found, splits, data=request.POST)
    if form is None:
        return _page(request, found, splits, form=None, status=CONFLICT)
    if form.is_valid():
        try:
            return redirect(export_requests.ask(found, request.user, **form.wanted()))
        except EngineError as error:
            form.add_error(None, str(error))
    return _page(request, found, splits, form=form, status=BAD)


@require_safe
@never_cache
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    found = find_dataset(request.user, slug)
    return render(request, "generation/_exports.html", _listed(request.user, found, _splits(found)))


@require_POST
@login_required
def cancel(request: HttpRequest, slug: str, export: int) -> HttpResponse:
    """Cancel an export that waits or is being built."""
    found = _managed(request.user, slug, export)
    if not export_jobs.cancel(found):
        return _conflict(request, found, wanted="that waits or is being built")
    return redirect(found)


@require_POST
@login_required
def retry(request: HttpRequest, slug: str, export: int) -> HttpResponse:
    """Build an export again that failed or was cancelled."""
    found = _managed(request.user, slug, export)
    if not export_jobs.retry(found):
        return _conflict(request, found, wanted="that failed or was cancelled")
    return redirect(found)


@require_POST
@login_required
def delete(request: HttpRequest, slug: str, export: int) -> HttpResponse:
    found = _managed(request.user, slug, export)
    export_jobs.delete(found)
    return redirect("dataset_export", found.dataset.slug)


@require_safe
@never_cache
def download(request: HttpRequest, slug: str, export: int) -> HttpResponseBase:
    """Return an export's file if the user may still see everything in it."""
    found = _export(request.user, slug, export)
    if found.state != Export.State.DONE or not export_requests.may_have(request.user, found):
        raise Http404(NOTHING)
    response: HttpResponseBase | None = sent_by_proxy(found.file, content_type=ZIP)
    if response is None:
        response = sent_by_site(found.file, content_type=ZIP, lost="The file of this export is lost. Build it again.")
    response["Content-Disposition"] = f'attachment; filename="{found.file_name}"'
    response["ETag"] = f'"{found.file.rpartition("-")[2].removesuffix(".zip")}"'
    return response


def _splits(dataset: Dataset) -> list[Split]:
    splits = dataset.splits.select_related("dataset", "parent").order_by("ordinal")
    return [split for split in splits if split.is_complete]


def _form(request: HttpRequest, dataset: Dataset, splits: list[Split], data: Any = None) -> ExportForm | None:
    if not splits or dataset.state != Dataset.State.COMPLETE or not request.user.is_authenticated:
        return None
    return ExportForm(data, dataset=dataset, splits=splits, is_owner=owns(request.user, dataset))


def _page(
    request: HttpRequest, dataset: Dataset, splits: list[Split], *, form: ExportForm | None, status: int = 200
) -> HttpResponse:
    context = {
        "dataset": dataset,
        "form": form,
        "is_complete": dataset.state == Dataset.State.COMPLETE and bool(splits),
        "size": export_requests.size_in_words(export_requests.size_of(dataset)) if form is not None else "",
        "withheld": [split.name for split in splits if split.withheld],
        **_listed(request.user, dataset, splits),
    }
    return render(request, "generation/export.html", context, status=status)


def _listed(user: Visitor, dataset: Dataset, splits: list[Split]) -> dict[str, Any]:
    """Return the context for the list of exports."""
    rows = [_row(user, one, splits) for one in Export.objects.for_list(dataset) if _is_listed(user, one, splits)]
    unfinished = [row for row in rows if row.export.state in (Export.State.WAITING, Export.State.RUNNING)]
    return {
        "dataset": dataset,
        "rows": rows,
        "state": " ".join(f"{row.export.pk}-{row.export.state}" for row in rows),
        "is_live": bool(unfinished),
        **describe_waiting(DEFAULT, waits=bool(unfinished)),
        "owns": owns(user, dataset),
    }


def _is_listed(user: Visitor, one: Export, splits: list[Split]) -> bool:
    return export_requests.may_list(user, one, splits=splits)


def _row(user: Visitor, one: Export, splits: list[Split]) -> ExportRow:
    details = [", ".join(one.split_names) or "all splits", *([] if one.images else ["without pictures"])]
    details += [f"{name}: {value}" for name, value in one.option_values.items() if value not in (False, "")]
    if one.view == Export.View.ALL:
        details.append("with withheld answers")
    return ExportRow(
        one,
        _label(one),
        ", ".join(details).replace(": True", ""),
        export_requests.size_in_words(one.size) if one.size else "",
        export_requests.may_manage(user, one),
        one.state == Export.State.DONE and export_requests.may_have(user, one, splits=splits),
    )


def _label(one: Export) -> str:
    """Return the label of an export's format, or its name if the format no longer exists."""
    try:
        return formats.find(one.format, one.dataset.get_world()).label
    except EngineError:
        return one.format


def _export(user: Visitor, slug: str, number: int) -> Export:
    """Return an export of a dataset that this user may open; raise `Http404`."""
    dataset = find_dataset(user, slug)
    found = Export.objects.filter(pk=number, dataset=dataset).first()
    if found is None:
        raise Http404(NOTHING)
    found.dataset = dataset
    return found


def _managed(user: Visitor, slug: str, number: int) -> Export:
    """Return an export that this user may manage; otherwise raise `Http404`, as for no export."""
    found = _export(user, slug, number)
    if not export_requests.may_manage(user, found):
        raise Http404(NOTHING)
    return found


def _conflict(request: HttpRequest, found: Export, *, wanted: str) -> HttpResponse:
    found.refresh_from_db(fields=["state"])
    message = f"Expected an export {wanted}, got one that is {found.state}."
    return render(request, "generation/conflict.html", {"dataset": found.dataset, "message": message}, status=CONFLICT)
