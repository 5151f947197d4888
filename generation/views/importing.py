"""Importing on a page: the user uploads published files, and a background process reads them."""

import secrets
from pathlib import PurePosixPath
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from generation.access import is_researcher, owns, researchers_only, takes_uploads
from generation.engine.errors import EngineError
from generation.engine.worlds import READERS
from generation.forms import ImportForm
from generation.making import dataset_jobs, imports, ingestion
from generation.models import Dataset, Import
from generation.storage import files as storage
from generation.storage import storage_quotas
from generation.views.owner_actions import making_context

BAD, FORBIDDEN = 400, 403
SHOWN = 10  # imports in the page's list


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes_uploads(researchers_only)
def new_import(request: HttpRequest) -> HttpResponse:
    """Return the page for uploading published files. Its button starts the import."""
    if not is_researcher(request.user):
        return render(request, "generation/not_researcher.html", status=FORBIDDEN)
    if request.method != "POST":
        return _page(request, ImportForm())
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=BAD)
    try:
        imported = _ordered(request, form.cleaned_data)
    except EngineError as error:
        form.add_error("slug" if error.where == "slug" else "files", str(error))
        return _page(request, form, status=BAD)
    dataset_jobs.RUNNER.wake()
    return redirect(imported)


@login_required
@never_cache
@require_safe
def import_state(request: HttpRequest, number: int) -> HttpResponse:
    """Return the state of an import, or why it was refused; redirect to the dataset of a finished import."""
    found = Import.objects.select_related("dataset").filter(pk=number).first()
    if found is None or not _is_own(request.user, found):
        raise Http404("There is no such import, or it is somebody else's.")
    dataset = found.dataset
    if dataset is not None and not found.message and dataset.state == Dataset.State.COMPLETE:
        return redirect(dataset)
    context: dict[str, Any] = {"run": found, "is_sorted": dataset is not None and dataset.splits.exists()}
    if dataset is not None and not found.message:
        context |= making_context(request.user, dataset, list(dataset.splits.select_related("dataset")))
    return render(request, "generation/import_state.html", context)


def _is_own(user: Any, found: Import) -> bool:
    if found.dataset is not None:
        return owns(user, found.dataset)
    return bool(user.is_staff or (found.owner_id is not None and found.owner_id == user.pk))


def _page(request: HttpRequest, form: ImportForm, *, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "megabytes": settings.UPLOAD_MB,
        "example": min(READERS),
        "runs": Import.objects.of(request.user)[:SHOWN],
        "here": "Import",
    }
    return render(request, "generation/import.html", context, status=status)


def _ordered(request: HttpRequest, said: dict[str, Any]) -> Import:
    """Store the files and return the new import. If it is refused, the files are deleted."""
    shortage = storage.disk_shortage()
    if shortage:
        raise EngineError(shortage)
    storage_quotas.check(request.user, sum(file.size for file in said["files"]))
    folder = f"{ingestion.UPLOADS}/{secrets.token_hex(8)}"
    try:
        names = [_kept(file, folder) for file in said["files"]]
        about = {name: said[name] for name in ("slug", "format", "licence", "visibility", "title")}
        return imports.order(names, imports.ImportRequest(**about, owner=request.user, stored=folder))
    except BaseException:
        storage.drop_folder(folder)
        raise


def _kept(file: UploadedFile, folder: str) -> str:
    """Store an uploaded file in parts; return its name in the storage."""
    name = f"{folder}/{PurePosixPath(str(file.name)).name}"
    path = storage.local_path(name)
    if path is None:
        return default_storage.save(name, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as target:
        for part in file.chunks():
            target.write(part)
    return name
