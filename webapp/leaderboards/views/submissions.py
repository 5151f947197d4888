"""Views of submissions: the upload form, a submission's page with its progress, and its files."""

import json
from typing import Any

import numpy as np
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from generation.access import Visitor, accounts_only, is_withheld, may_see_exact_figures, takes_uploads
from generation.durations import duration
from generation.engine.predictions import template
from generation.engine.scoring.figures import TOO_FEW, Figure
from generation.models import Split
from generation.queue import DEFAULT
from generation.queue.workers import describe_waiting
from generation.reports.reweighting import weights_source
from generation.reports.scoring import expected_of
from generation.reports.shortcuts import choices_of
from generation.splits.query_string import shorten
from generation.splits.references import reference_for
from generation.storage import files
from generation.storage.split_index import SplitIndex
from generation.views.stored_files import sent_by_site
from webapp.leaderboards import deletion, scoring, stored_predictions, uploads
from webapp.leaderboards.analysis.slices import SliceContext, partition
from webapp.leaderboards.analysis.summary import describe_row, slices_of, weakest
from webapp.leaderboards.board_lookup import (
    find_board,
    find_own_submission,
    find_submission,
    may_see_replies,
    owns,
    suite_named,
    trained_on,
    with_figures,
)
from webapp.leaderboards.boards import columns_of
from webapp.leaderboards.disclosure import disclosure_budget, limits, submitter_approvals
from webapp.leaderboards.disclosure.visibility import facets_for, outcomes_of
from webapp.leaderboards.entries import find_entry, reweighted_by, reweighted_figure
from webapp.leaderboards.forms import SubmissionForm, split_named
from webapp.leaderboards.models import Method, Submission, Suite
from webapp.leaderboards.replies import stored_replies
from webapp.leaderboards.replies.coverage import least_coverage
from webapp.leaderboards.replies.reply_figures import usage_figures
from webapp.leaderboards.replies.reply_views import summary_of
from webapp.leaderboards.training import orders
from webapp.leaderboards.uploads import Order, UploadRefused
from webapp.leaderboards.views.analysis.board_selection import contenders_of

A_PAGE = 40
ABSENT, CONFLICT = 404, 409
TEMPLATES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
NO_TARGET = "Expected a split or suite, such as ?to=clevr/val. Open a board and use the button “Submit predictions”."


@login_required
@never_cache
@require_safe
def submissions(request: HttpRequest) -> HttpResponse:
    """Return the list of the visitor's own submissions, the latest first."""
    rows = Submission.objects.filter(method__owner=request.user.pk)
    rows = rows.select_related("method", "split__dataset", "split__parent").order_by("-pk")
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    return render(
        request, "leaderboards/submissions.html", {"page": page, "rows": with_figures(request.user, page.object_list)}
    )


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes_uploads(accounts_only)
def submission_new(request: HttpRequest) -> HttpResponse:
    """Return the form for a split or suite (`?to=clevr/val` or `?to=suite/cogent`), or check or store an upload."""
    target = _target(request)
    if target is None:
        return render(request, "generation/refused.html", {"message": NO_TARGET}, status=ABSENT)
    if not Method.objects.of(request.user).exists():
        return redirect(f"{reverse('method_new')}?to={request.GET.get('to', '')}")
    first = {name: request.GET[name] for name in ("method", "run") if name in request.GET}
    form = SubmissionForm(
        request.POST if request.method == "POST" else None, request.FILES or None, user=request.user, initial=first
    )
    checked = None
    if request.method == "POST" and form.is_valid():
        data = dict(form.cleaned_data)
        file, replies = data.pop("file"), data.pop("replies")
        order = Order(target=target, **data)
        try:
            if "check" in request.POST:
                checked = uploads.check_upload(request.user, order, file, file.name, replies=replies)
            else:
                received = uploads.receive(request.user, order, file, file.name, replies=replies)
                scoring.RUNNER.wake()
                return redirect(received.submissions[0] if len(received.submissions) == 1 else "submissions")
        except UploadRefused as error:
            if "columns" in error.details:
                form.offer_columns(error.details["columns"])
            form.add_error(
                None if error.details.get("field") not in form.fields else error.details["field"], str(error)
            )
            return _form(request, form, target, status=error.status)
    return _form(request, form, target, status=400 if form.errors else 200, checked=checked)


def _form(
    request: HttpRequest, form: SubmissionForm, target: Split | Suite, *, status: int, **more: Any
) -> HttpResponse:
    is_split = isinstance(target, Split)
    context = {
        "form": form,
        "target": target,
        "split": target if is_split else None,
        "suite": None if is_split else target,
        "left": limits.remaining(request.user, target) if isinstance(target, Split) else None,
        "least_coverage": least_coverage(target) if isinstance(target, Split) else 0,
        "to": request.GET.get("to", ""),
        **(_approval(request, target) if isinstance(target, Split) else {}),
        **more,
    }
    return render(request, "leaderboards/submission_form.html", context, status=status)


def _approval(request: HttpRequest, split: Split) -> dict[str, Any]:
    """Return the context for an account that may not submit."""
    if submitter_approvals.may_submit(request.user, split):
        return {}
    can_ask = submitter_approvals.approval_of(request.user, split) is None
    return {"unapproved": submitter_approvals.reason_for(request.user, split, has_button=True), "can_ask": can_ask}


def _target(request: HttpRequest) -> Split | Suite | None:
    """Return the split or suite of the URL, or None if this account can't submit to it."""
    text = request.GET.get("to", "")
    kind, _, slug = text.partition("/")
    suite = suite_named(request.user, slug) if kind == "suite" else None
    if suite is not None:
        return suite
    try:
        split = split_named(request.user, text)
    except ValidationError:
        return None
    return split if split.is_complete else None


@never_cache
@require_safe
def submission(request: HttpRequest, number: int) -> HttpResponse:
    """Return a submission's page: its progress or why it was refused, and its scores."""
    found = find_submission(request.user, number)
    context = {
        **_state(request, found),
        "is_open": may_see_exact_figures(request.user, found.split),
        **_outcomes(request.user, found),
        "plan": disclosure_budget.plan_of(found.split) if is_withheld(found.split) else None,
        "trained_on": trained_on(request.user, found),
        **_trained(found),
        **_summary(request.user, found),
        **_replies(request.user, found),
    }
    return render(request, "leaderboards/submission.html", context)


def _replies(user: Visitor, found: Submission) -> dict[str, Any]:
    """Return the summary of a submission's replies, and its coverage, as far as the visitor may see them."""
    if not (owns(user, found) or may_see_exact_figures(user, found.split)):
        return {}
    score = found.scores.filter(split=found.split_id).first()
    usage = None if score is None else usage_figures([score])
    summary = summary_of(found) if may_see_replies(user, found) else {}
    may_see_among = usage is not None and may_see_exact_figures(user, found.split)
    return {"usage": usage, "may_see_among": may_see_among, **summary}


def _trained(found: Submission) -> dict[str, Any]:
    """Return what is known about the training that made a submission; empty for other submissions."""
    training = found.training
    if training is None:
        return {}
    return {
        "trained": training,
        "trained_in": duration(training.seconds),
        "trained_settings": json.dumps(orders.settings_of(training)),
    }


def _outcomes(user: Visitor, found: Submission) -> dict[str, Any]:
    outcomes = outcomes_of(user, found)
    rows = [(one, _reweighted(user, found, one.split) if one.is_open else None) for one in outcomes]
    return {
        "outcomes": outcomes,
        "rows": rows,
        "has_reweighted": any(figure is not None for _, figure in rows),
        "has_text": any(one.read is not None for one in outcomes),
    }


def _reweighted(user: Visitor, found: Submission, split: Split) -> Figure | None:
    source = weights_source(split, reference_for(user, split))
    return None if source is None else reweighted_figure([reweighted_by(found.predictions, source)])


def _summary(user: Visitor, found: Submission) -> dict[str, Any]:
    """Return a summary of the score and its weakest slices, if the visitor may see all figures; otherwise empty."""
    split = found.split
    entry = find_entry(user, split, f"s{found.pk}") if found.is_scored and may_see_exact_figures(user, split) else None
    if entry is None:
        return {}
    index, [one] = SplitIndex.open(split), contenders_of([entry])
    ground = SliceContext(index, reverse("board_questions", args=[split.dataset.slug, split.name]))
    columns = columns_of(user, split, index)
    groups = slices_of(ground, one, [partition(index.facets[columns[0].facet])]) if columns else []
    slices = slices_of(ground, one, [partition(facet) for facet in facets_for(user, split, index)])
    chance = None if entry.is_chance else float((1 / np.maximum(1, choices_of(split, index))).mean())
    return {
        "told": describe_row(entry.name, entry.figure, chance, groups),
        "weakest": weakest(slices, entry.figure),
        "key": entry.key,
        "least": TOO_FEW,
    }


def _state(request: HttpRequest, found: Submission) -> dict[str, Any]:
    is_own = owns(request.user, found)
    return {
        "submission": found,
        "split": found.split,
        "is_own": is_own,
        "left": limits.remaining(request.user, found.split) if is_own else None,
        **describe_waiting(DEFAULT, waits=found.is_under_way),
    }


@never_cache
@require_safe
def submission_progress(request: HttpRequest, number: int) -> HttpResponse:
    found = find_own_submission(request.user, number)
    return render(request, "leaderboards/_submission_state.html", _state(request, found))


@require_safe
def submission_file(request: HttpRequest, number: int) -> HttpResponseBase:
    """Return a submission's predictions to its owner: the upload until it is scored, then from the codes."""
    found = find_own_submission(request.user, number)
    if found.is_scored:
        lines = stored_predictions.lines_of(
            stored_predictions.load(found.predictions),
            SplitIndex.open(found.split).answer_values,
            boxes=stored_predictions.load_boxes(found.predictions),
        )
        response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
        response["Content-Disposition"] = f'attachment; filename="submission-{found.pk}.jsonl"'
        return response
    if not found.file:
        raise Http404("The file was refused and was not kept.")
    stored = sent_by_site(
        found.file, content_type="application/octet-stream", lost="The file is lost. Restore it from a backup."
    )
    stored["Content-Disposition"] = f'attachment; filename="submission-{found.pk}"'
    return stored


@never_cache
@require_safe
def submission_replies(request: HttpRequest, number: int) -> StreamingHttpResponse:
    """Return the replies that came with a submission, as JSON lines, to visitors who may see its answers."""
    found = find_submission(request.user, number)
    if not may_see_replies(request.user, found):
        raise Http404("There are no replies, or they are withheld like the answers.")
    lines = stored_replies.load(found.replies).lines()
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response["Content-Disposition"] = f'attachment; filename="submission-{found.pk}-replies.jsonl"'
    return response


@require_safe
def submission_findings(request: HttpRequest, number: int) -> HttpResponse:
    """Return the complete list of problems of a file to its owner, one per line."""
    found = find_own_submission(request.user, number)
    if not found.findings:
        raise Http404("There is no list of errors. The page of the submission shows its errors.")
    response = HttpResponse(files.get(found.findings), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="submission-{found.pk}-findings.txt"'
    return response


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def submission_delete(request: HttpRequest, number: int) -> HttpResponse:
    """Return the page that says what is deleted with a submission; its button deletes it."""
    found = find_own_submission(request.user, number)
    if found.method.owner_id is None:
        raise Http404("Baselines of the site cannot be deleted.")
    trouble = ""
    if request.method == "POST":
        try:
            deletion.delete_submission(found)
        except deletion.CountsToday as error:
            trouble = str(error)
        else:
            messages.success(request, f"Submission {number} is deleted.")
            return redirect("submissions")
    context = {"submission": found, "split": found.split, "trouble": trouble}
    return render(request, "leaderboards/submission_delete.html", context, status=CONFLICT if trouble else 200)


@require_safe
def template_file(request: HttpRequest, slug: str, name: str, kind: str) -> HttpResponseBase:
    """Return a template file of predictions with one line for each question of a split."""
    split = find_board(request.user, slug, name)
    if kind not in TEMPLATES:
        context: dict[str, Any] = {"split": split, "dataset": split.dataset}
        context["message"] = f"Expected one of {', '.join(TEMPLATES)}, got {shorten(kind)}."
        return render(request, "generation/refused.html", context, status=ABSENT)
    response = StreamingHttpResponse(template(expected_of(split), kind), content_type=TEMPLATES[kind])
    response["Content-Disposition"] = f'attachment; filename="{slug}-{name}.{kind}"'
    return response
