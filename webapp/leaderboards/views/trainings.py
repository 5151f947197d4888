"""Views of trainings: the list, the form, the page of a training with its progress and buttons, and its model."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from generation.access import What, is_withheld, may_see
from generation.durations import duration
from generation.engine.errors import BadTraining
from generation.models import Split
from generation.queue import DEFAULT
from generation.queue.workers import describe_waiting
from generation.views.access_checks import find_dataset
from generation.views.stored_files import sent_by_site
from webapp.leaderboards.board_lookup import find_training, trainings_for, with_figures
from webapp.leaderboards.models import Training
from webapp.leaderboards.training import orders, results, suitable_methods, training_jobs
from webapp.leaderboards.training.forms import TrainingForm
from webapp.leaderboards.training.progress import best_accuracy, describe, epoch_rows

A_PAGE = 40
BAD, ABSENT, CONFLICT = 400, 404, 409
NO_DATASET = "Expected a dataset, such as ?on=clevr-mini. Open a board and use the button “Train a baseline”."
NO_TRAINING = "There is no such dataset, or you may not train methods on it."
KINDS = ("safetensors", "json")


@login_required
@never_cache
@require_safe
def trainings(request: HttpRequest) -> HttpResponse:
    page = Paginator(trainings_for(request.user), A_PAGE).get_page(request.GET.get("page"))
    rows = [(one, describe(one)) for one in page.object_list if may_see(request.user, one.train, What.QUESTION)]
    return render(request, "leaderboards/trainings.html", {"page": page, "rows": rows})


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def training_new(request: HttpRequest) -> HttpResponse:
    """Return the form for a dataset or split (`?on=clevr` or `?on=clevr/test`); a POST orders the training."""
    slug, _, name = request.GET.get("on", "").partition("/")
    if not slug:
        return render(request, "generation/refused.html", {"message": NO_DATASET}, status=ABSENT)
    dataset = find_dataset(request.user, slug.replace("\0", ""))
    if not orders.may_train(request.user, dataset):
        raise Http404(NO_TRAINING)
    splits = [one for one in Split.objects.for_browse().filter(dataset=dataset) if one.is_complete and one.questions]
    learned = [split for split in splits if not is_withheld(split)]
    if not learned:
        message = "Expected a split whose answers are open, got none: methods cannot learn from withheld answers."
        return render(request, "generation/refused.html", {"dataset": dataset, "message": message}, status=CONFLICT)
    suitable = suitable_methods.suitable_for(learned)
    data = request.POST if request.method == "POST" else None
    form = TrainingForm(data, splits=splits, learners=suitable.learners, initial=_initial(splits, learned, name))
    if data is not None and form.is_valid():
        try:
            training = orders.create(form.order(request.user))
        except BadTraining as error:
            form.add_error(None, str(error))
        else:
            training_jobs.RUNNER.wake()
            return redirect(training)
    context = {
        "dataset": dataset,
        "form": form,
        "on": request.GET["on"],
        "methods": _method_rows(suitable.learners),
        "lacking": [(part, ", ".join(labels)) for part, labels in suitable.lacking.items()],
    }
    return render(request, "leaderboards/training_form.html", context, status=BAD if form.errors else 200)


def _initial(splits: list[Split], learned: list[Split], name: str) -> dict[str, Any]:
    """Return the usual choice of splits: train, val, and the split of the address or all others."""
    names = [split.name for split in learned]
    train = "train" if "train" in names else names[0]
    others = [one for one in names if one != train]
    val = "val" if "val" in others else (others or names)[0]
    rest = [split.name for split in splits if split.name not in (train, val) and not split.is_derived]
    tests = [name] if name in {split.name for split in splits} else rest or [val]
    return {"train": train, "val": val, "tests": tests}


def _method_rows(learners: list[Any]) -> list[dict[str, str]]:
    return [{"label": one.label, "sees": suitable_methods.describe(one), "source": one.source} for one in learners]


@login_required
@never_cache
@require_safe
def training(request: HttpRequest, number: int) -> HttpResponse:
    """Return a training's page: its progress, its epochs, and its submissions."""
    found = find_training(request.user, number)
    submissions = found.submissions.select_related("method__owner", "split__dataset", "split__parent").order_by("pk")
    context = {
        **_state(request, found),
        "tests": [split for split in found.test_splits if may_see(request.user, split, What.QUESTION)],
        "settings": orders.settings_of(found).items(),
        "changed": found.config_data,
        "took": duration(found.seconds) if found.seconds else "",
        "rows": with_figures(request.user, submissions),
    }
    return render(request, "leaderboards/training.html", context)


@login_required
@never_cache
@require_safe
def training_progress(request: HttpRequest, number: int) -> HttpResponse:
    found = find_training(request.user, number)
    return render(request, "leaderboards/_training_state.html", _state(request, found))


def _state(request: HttpRequest, found: Training) -> dict[str, Any]:
    return {
        "training": found,
        "split": found.train,
        "about": describe(found),
        "epochs": epoch_rows(found),
        "best": best_accuracy(found),
        "may_continue": found.can_continue and orders.may_train(request.user, found.train.dataset),
        **describe_waiting(DEFAULT, waits=found.state == Training.State.WAITING),
    }


@login_required
@require_safe
def training_model(request: HttpRequest, number: int, kind: str) -> HttpResponseBase:
    """Return the weights (safetensors) or the settings (JSON) of a trained model."""
    found = find_training(request.user, number)
    if not found.model or kind not in KINDS:
        raise Http404("There is no model yet, or no such file.")
    name = found.model if kind == KINDS[0] else results.about_name(found.model)
    response = sent_by_site(
        name, content_type="application/octet-stream", lost="The file is lost. Restore it from a backup."
    )
    response["Content-Disposition"] = f'attachment; filename="training-{found.pk}.{kind}"'
    return response


@login_required
@require_POST
def training_cancel(request: HttpRequest, number: int) -> HttpResponse:
    """Cancel a training that waits or runs."""
    found = find_training(request.user, number)
    if not orders.cancel(found):
        return _conflict(request, found, "Expected a training that waits or runs")
    return redirect(found)


@login_required
@require_POST
def training_continue(request: HttpRequest, number: int) -> HttpResponse:
    """Continue a training that failed or was cancelled, after its last complete epoch."""
    found = find_training(request.user, number)
    if not orders.may_train(request.user, found.train.dataset):
        raise Http404(NO_TRAINING)
    try:
        is_resumed = orders.resume(found)
    except BadTraining as error:
        return _refused(request, found, str(error))
    if not is_resumed:
        return _conflict(request, found, "Expected a training that failed or was cancelled")
    training_jobs.RUNNER.wake()
    return redirect(found)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def training_delete(request: HttpRequest, number: int) -> HttpResponse:
    """Return the page that asks whether to delete a training; a POST deletes it."""
    found = find_training(request.user, number)
    if request.method != "POST":
        return render(request, "leaderboards/training_delete.html", {"training": found})
    training_jobs.delete(found)
    messages.success(request, f"Training {number} is deleted.")
    return redirect("trainings")


def _conflict(request: HttpRequest, found: Training, wanted: str) -> HttpResponse:
    found.refresh_from_db()
    return _refused(request, found, f"{wanted}, got one whose state is {found.get_state_display().lower()}.")


def _refused(request: HttpRequest, found: Training, message: str) -> HttpResponse:
    context = {"split": found.train, "dataset": found.train.dataset, "message": message}
    return render(request, "generation/refused.html", context, status=CONFLICT)
