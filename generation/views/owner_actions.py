"""The owner's actions on a dataset: watching, stopping and resuming its making, archiving, deleting, editing it."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from generation import extension_points
from generation.access import Visitor, What, may_see, owns
from generation.engine.errors import EngineError
from generation.forms import EditForm
from generation.making import dataset_jobs
from generation.making.progress import making_of
from generation.models import Dataset, Job, Split
from generation.queue import GENERATION
from generation.queue.workers import start_command
from generation.views.access_checks import NOTHING, find_dataset

CONFLICT = 409


def making_context(user: Visitor, dataset: Dataset, splits: Sequence[Split]) -> dict[str, Any]:
    """Return the context for the state of making a dataset; `splits` are all of its splits."""
    return {
        "dataset": dataset,
        "making": None if dataset.state == Dataset.State.COMPLETE else making_of(dataset),
        "shows_error": all(may_see(user, split, What.SCENE) for split in splits),
        "start_command": start_command(GENERATION),
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
    """Stop making the dataset."""
    found = find_own(request.user, slug)
    if not dataset_jobs.cancel(found):
        return _conflict(request, found, wanted="that is being made")
    return _back(found)


@require_POST
def resume(request: HttpRequest, slug: str) -> HttpResponse:
    """Resume a dataset that was stopped or failed."""
    found = find_own(request.user, slug)
    if found.state not in (Dataset.State.CANCELLED, Dataset.State.FAILED):
        return _conflict(request, found, wanted="whose making was cancelled or failed")
    try:
        dataset_jobs.resume(found)
    except EngineError as error:
        return _refuse(request, found, str(error))
    dataset_jobs.RUNNER.wake()
    return _back(found)


@require_POST
def retry(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Try a failed job again."""
    found = find_own(request.user, slug)
    job = get_object_or_404(Job.objects.select_related("dataset"), pk=number, dataset=found)
    try:
        tried = dataset_jobs.retry(job)
    except EngineError as error:
        return _refuse(request, found, str(error))
    if not tried:
        return _refuse(request, found, f"Expected a failed job, got one that is {job.state}.")
    dataset_jobs.RUNNER.wake()
    return _back(found)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the page that asks for confirmation. Its button deletes the dataset."""
    found = find_own(request.user, slug)
    if request.method != "POST":
        return render(request, "generation/delete.html", _parting(found))
    if request.POST.get("confirm") != found.slug:
        wrong = f"Expected {found.slug}, got {request.POST.get('confirm', '')[:60] or 'nothing'}."
        return render(request, "generation/delete.html", {**_parting(found), "wrong": wrong}, status=400)
    try:
        dataset_jobs.delete(found)
    except extension_points.Referred as error:
        return _refuse(request, found, str(error))
    dataset_jobs.RUNNER.wake()
    messages.success(request, f"{found.name} is being deleted.")
    return redirect("datasets")


@require_POST
def archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Archive a dataset or, with `undo`, restore it."""
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
    """Return the form for what can be changed in a dataset: who sees it, and its description."""
    found = find_own(request.user, slug)
    name = found.name  # the form changes `found` before it is saved
    form = EditForm(request.POST or None, instance=found)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect(found)
    status = 400 if request.method == "POST" else 200
    context = {"dataset": found, "name": name, "form": form}
    return render(request, "generation/edit.html", context, status=status)


def find_own(user: Visitor, slug: str) -> Dataset:
    """Return the dataset at this address if this user owns it; otherwise raise `Http404`, as for no dataset."""
    found = find_dataset(user, slug)
    if not owns(user, found):
        raise Http404(NOTHING)
    return found


def _parting(dataset: Dataset) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "referring": extension_points.referring_to(dataset),
        "losses": extension_points.losses_of(dataset.splits.all()),
        "here": "Delete",
    }


def _conflict(request: HttpRequest, dataset: Dataset, *, wanted: str) -> HttpResponse:
    dataset.refresh_from_db(fields=["state"])
    return _refuse(request, dataset, f"Expected a dataset {wanted}, got one that is {dataset.state}.")


def _refuse(request: HttpRequest, dataset: Dataset, message: str) -> HttpResponse:
    return render(request, "generation/conflict.html", {"dataset": dataset, "message": message}, status=CONFLICT)


def _back(dataset: Dataset) -> HttpResponse:
    return redirect(f"{dataset.get_absolute_url()}#making")
