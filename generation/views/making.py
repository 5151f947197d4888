"""What an owner does with a dataset: watches it being made, stops it, goes on, archives, deletes, describes it."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from generation import extensions
from generation.access import Visitor, What, may_see, owns
from generation.engine.errors import EngineError
from generation.forms import EditForm
from generation.making import datasets
from generation.making.progress import making_of
from generation.models import Dataset, Job, Split
from generation.views.finding import NOTHING, find_dataset

START_COMMAND = "python manage.py process generation"
HINTS = 8
CONFLICT = 409


def making_context(user: Visitor, dataset: Dataset, splits: Sequence[Split]) -> dict[str, Any]:
    """Return what the part of a page shows that says how the making goes; `splits` are all of the dataset's."""
    return {
        "dataset": dataset,
        "making": None if dataset.state == Dataset.State.COMPLETE else making_of(dataset),
        "shows_error": all(may_see(user, split, What.SCENE) for split in splits),
        "start_command": START_COMMAND,
        "owns": owns(user, dataset),
    }


@require_safe
@never_cache
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    found = find_dataset(request.user, slug)
    splits = list(found.splits.own().select_related("dataset"))
    return render(request, "generation/_making.html", making_context(request.user, found, splits))


@require_POST
def cancel(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop the making."""
    found = find_own(request.user, slug)
    if not datasets.cancel(found):
        return _conflict(request, found, wanted="that is being made")
    return _back(found)


@require_POST
def resume(request: HttpRequest, slug: str) -> HttpResponse:
    """Let a dataset be made to its end that was stopped or has failed."""
    found = find_own(request.user, slug)
    if found.state not in (Dataset.State.CANCELLED, Dataset.State.FAILED):
        return _conflict(request, found, wanted="whose making was cancelled or failed")
    try:
        datasets.resume(found)
    except EngineError as error:
        return _refuse(request, found, str(error))
    datasets.wake(HINTS)
    return _back(found)


@require_POST
def retry(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Let a failed job be tried again."""
    found = find_own(request.user, slug)
    job = get_object_or_404(Job.objects.select_related("dataset"), pk=number, dataset=found)
    try:
        tried = datasets.retry(job)
    except EngineError as error:
        return _refuse(request, found, str(error))
    if not tried:
        return _refuse(request, found, f"Expected a failed job, got one that is {job.state}.")
    datasets.wake(HINTS)
    return _back(found)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the page that asks whether the dataset shall go; its button deletes it."""
    found = find_own(request.user, slug)
    if request.method != "POST":
        return render(request, "generation/delete.html", _parting(found))
    if request.POST.get("confirm") != found.slug:
        wrong = f"Expected {found.slug}, got {request.POST.get('confirm', '')[:60] or 'nothing'}."
        return render(request, "generation/delete.html", {**_parting(found), "wrong": wrong}, status=400)
    try:
        datasets.delete(found)
    except extensions.Referred as error:
        return _refuse(request, found, str(error))
    datasets.wake(1)
    messages.success(request, f"{found.name} is being deleted.")
    return redirect("datasets")


@require_POST
def archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Put a dataset among the archived ones, or with `undo` take it back."""
    found = find_own(request.user, slug)
    undo = "undo" in request.POST
    rows = Dataset.objects.filter(pk=found.pk, archived__isnull=not undo)
    if rows.update(archived=None if undo else Now()) != 1:
        wanted = "that is archived" if undo else "that is not archived yet"
        return _refuse(request, found, f"Expected a dataset {wanted}.")
    return redirect(found)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the form of what may change of a dataset: who sees it, and what is said of it."""
    found = find_own(request.user, slug)
    name = found.name  # the form changes its own copy of the row
    form = EditForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect(found)
    status = 400 if request.method == "POST" else 200
    context = {"dataset": found, "name": name, "form": form, "here": "Edit"}
    return render(request, "generation/edit.html", context, status=status)


def find_own(user: Visitor, slug: str) -> Dataset:
    """Return the dataset at this address, if it is this visitor's; others get the 404 of what isn't there."""
    found = find_dataset(user, slug)
    if not owns(user, found):
        raise Http404(NOTHING)
    return found


def _parting(dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "referring": extensions.referring_to(dataset),
        "losses": extensions.losses_of(dataset.splits.all()),
        "here": "Delete",
    }


def _conflict(request: HttpRequest, dataset: Dataset, *, wanted: str) -> HttpResponse:
    dataset.refresh_from_db(fields=["state"])
    return _refuse(request, dataset, f"Expected a dataset {wanted}, got one that is {dataset.state}.")


def _refuse(request: HttpRequest, dataset: Dataset, message: str) -> HttpResponse:
    return render(request, "generation/conflict.html", {"dataset": dataset, "message": message}, status=CONFLICT)


def _back(dataset: Dataset) -> HttpResponse:
    return redirect(f"{dataset.get_absolute_url()}#making")
