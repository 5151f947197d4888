"""API of submissions: takes a file of predictions and returns the progress of its scoring."""

from typing import Any, BinaryIO, cast

from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponseBase
from ninja import File, Form, Header, Router, Status
from ninja.files import UploadedFile

from generation.access import may_see_exact_figures, takes_uploads
from generation.browsing.sidebar import page_of
from generation.engine.predictions import Findings
from generation.engine.scoring.figures import Averaged, figure
from generation.models import Split
from generation.splits.query_string import QueryString, read_query
from generation.storage.split_index import SplitIndex
from webapp.api.authentication import refuse_strangers
from webapp.api.errors import Problem
from webapp.api.openapi_operations import changes, reads
from webapp.api.pagination import PAGE, page_json
from webapp.api.schemas import submissions as shapes
from webapp.api.schemas.common import PageOut
from webapp.leaderboards import method_names, scoring, uploads
from webapp.leaderboards.analysis.slices import SliceCell, SliceContext, by_one, partition
from webapp.leaderboards.analysis.summary import slices_of, weakest
from webapp.leaderboards.board_lookup import HIDDEN, find_submission, may_see_replies, owns, suite_named, trained_on
from webapp.leaderboards.boards import own_columns_of
from webapp.leaderboards.disclosure import limits
from webapp.leaderboards.disclosure.visibility import Outcome, facets_for, outcome_json, outcomes_of
from webapp.leaderboards.entries import find_entry
from webapp.leaderboards.forms import split_named
from webapp.leaderboards.models import Method, Submission, Suite
from webapp.leaderboards.replies.reply_figures import usage_figures
from webapp.leaderboards.uploads import Order, UploadRefused
from webapp.leaderboards.views.analysis.board_selection import contenders_of
from webapp.leaderboards.views.submissions import submission_findings, submission_replies

router = Router(tags=["Submissions"])
ACCEPTED = 202
NAMED = 20  # lines that a refusal names
KEPT = ("state", "message", "run", "train_size", "examples_seen", "note", "created", "started", "finished")
RELATED = ("method__owner", "split__dataset", "split__parent", "trained_on__dataset", "trained_on__parent")


@reads(router, "submissions/", PageOut[shapes.SubmissionOut], parameters=[PAGE], accounts=True)
def submissions(request: HttpRequest) -> dict[str, Any]:
    """Return a page of your submissions, the latest first."""
    rows = Submission.objects.filter(method__owner=request.user.pk).select_related(*RELATED).order_by("-pk")
    page = page_of(read_query(QueryString.of(request).pairs, facets=()), rows.count(), of="submissions")
    shown = rows[page.start : page.stop]
    return page_json(request, page, [_submission_json(request.user, one) | _own(one) for one in shown])


@reads(router, "submissions/{position:number}/", shapes.SubmissionOut)
def submission(request: HttpRequest, number: int) -> dict[str, Any]:
    """Return a submission: its progress, why it was refused, its scores, and what you may still submit."""
    found = find_submission(request.user, number)
    said = _submission_json(request.user, found)
    if owns(request.user, found):
        said |= _own(found) | {"left": limits.remaining(request.user, found.split)._asdict()}
    if found.is_scored:
        said |= {"scores": [_score(request.user, one) for one in outcomes_of(request.user, found)]}
        if may_see_exact_figures(request.user, found.split):
            said |= {"slices_url": f"/api/v1/submissions/{found.pk}/slices/"}
        if may_see_replies(request.user, found):
            said |= {"replies_url": f"/api/v1/submissions/{found.pk}/replies"}
    return said


@reads(router, "submissions/{position:number}/slices/", shapes.SubmissionSlices)
def submission_slices(request: HttpRequest, number: int) -> dict[str, Any]:
    """Return the accuracy of a scored submission by every facet that you may see."""
    found = find_submission(request.user, number)
    if not may_see_exact_figures(request.user, found.split):
        raise Problem(
            403, f"The answers of {found.split} are withheld. Its slices are shown when its owner opens them."
        )
    split, entry = found.split, find_entry(request.user, found.split, f"s{found.pk}")
    if entry is None:
        raise Http404("There is no score yet.")
    index, [one] = SplitIndex.open(split), contenders_of([entry])
    ground, by = SliceContext(index, ""), [partition(facet) for facet in facets_for(request.user, split, index)]
    facets = {}
    for facet in by:
        [panel] = by_one(ground, [one], facet)
        facets[facet.facet.name] = {row.value: _cell_json(row.cells[0]) for row in panel.rows}
    weak = weakest(slices_of(ground, one, by), entry.figure)
    return {"split": str(split), "facets": facets, "weakest": [one.to_json() for one in weak]}


def _cell_json(cell: SliceCell) -> dict[str, Any]:
    """Return an accuracy with its interval as JSON data; only `n` if there are too few questions."""
    one = cell.figure
    if one.is_missing:
        return {"n": cell.n}
    return {"n": cell.n, "accuracy": one.share, "low": one.low, "high": one.high}


@reads(router, "submissions/{position:number}/findings", media=["text/plain"], accounts=True)
def findings(request: HttpRequest, number: int) -> HttpResponseBase:
    """Return the complete list of problems of a refused file, one per line."""
    return submission_findings(request, number)


@reads(router, "submissions/{position:number}/replies", media=["application/x-ndjson"])
def replies(request: HttpRequest, number: int) -> HttpResponseBase:
    """Return the replies that came with a submission, one record per line, if you may see its answers."""
    return submission_replies(request, number)


@changes(router, "submissions/", {ACCEPTED: shapes.Taken, 200: shapes.CheckedUploadOut})
@takes_uploads(refuse_strangers)
def submit(
    request: HttpRequest,
    said: Form[shapes.NewSubmission],
    file: File[UploadedFile],
    replies: UploadedFile | None = File(None),  # noqa: B008 - as django-ninja declares an optional file
    idempotency_key: str = Header("", alias="Idempotency-Key"),
) -> Any:
    """Accept a file of predictions, to be scored in the background; `url` returns the progress.

    `replies` may have the replies that the answers were read from: JSON lines, perhaps compressed with gzip.
    Sending the same `Idempotency-Key` again returns the first result. With `dry_run=1` the files are checked but not
    stored.
    """
    _check_names(request)
    try:
        order, content = _order(request, said, key=idempotency_key), cast("BinaryIO", file)
        also = cast("BinaryIO | None", replies)
        if said.dry_run:
            found = uploads.check_upload(request.user, order, content, file.name or "", replies=also)
            return Status(200, {"checked": [one._asdict() | {"split": str(one.split)} for one in found]})
        received = uploads.receive(request.user, order, content, file.name or "", replies=also)
    except UploadRefused as error:
        raise _problem(error) from error
    scoring.RUNNER.wake()
    made = [_submission_json(request.user, one) | _own(one) for one in received.submissions]
    first = {name: made[0][name] for name in ("id", "url")}
    return Status(ACCEPTED, first | {"is_repeat": received.is_repeat, "submissions": made})


def _check_names(request: HttpRequest) -> None:
    """Refuse unknown fields, since a misspelt one would be ignored otherwise."""
    known = {*shapes.NewSubmission.model_fields, "file", "replies", "csrfmiddlewaretoken"}
    unknown = sorted({*request.POST, *request.FILES} - known)
    if unknown:
        raise Problem(422, f"Expected the fields {', '.join(sorted(known))}, got {unknown[0][:60]!r}.")


def _order(request: HttpRequest, said: shapes.NewSubmission, *, key: str) -> Order:
    return Order(
        method=_method(request.user, said.method),
        target=_target(request.user, said),
        trained_on=_split(request.user, said.trained_on, where="trained_on") if said.trained_on else None,
        key=key,
        **{
            name: getattr(said, name)
            for name in ("run", "train_size", "examples_seen", "column", "fingerprint", "note")
        },
    )


def _method(user: Any, named: str) -> Method:
    """Return the account's method with this number or name."""
    is_number = named.isascii() and named.isdigit() and len(named) < 10
    found = Method.objects.of(user).filter(pk=int(named)).first() if is_number else None
    found = found or method_names.find(user, named)
    if found is None:
        message = (
            f"Expected the number or name of one of your methods, got {named[:60]!r}. "
            "Create one at /methods/new/, or with POST /api/v1/methods/."
        )
        raise Problem(404, message, code="no_method", details={"field": "method"})
    return found


def _target(user: Any, said: shapes.NewSubmission) -> Split | Suite:
    """Return the split or suite that a file is for."""
    if bool(said.split) == bool(said.suite):
        raise Problem(
            422, "Expected a split (dataset/split) or a suite, got both or neither.", details={"field": "split"}
        )
    if said.split:
        return _split(user, said.split, where="split")
    found = suite_named(user, said.suite)
    if found is None:
        raise Problem(404, f"Expected a suite, got {said.suite[:60]!r}.", code="no_suite", details={"field": "suite"})
    return found


def _split(user: Any, named: str, *, where: str) -> Split:
    try:
        return split_named(user, named)
    except ValidationError as error:
        raise Problem(404, error.messages[0], code="no_split", details={"field": where}) from error


def _problem(error: UploadRefused) -> Problem:
    """Return an upload's refusal as an error, with the first wrong lines and the number of problems of each kind."""
    details = {name: value for name, value in error.details.items() if name != "findings"}
    told: Findings | None = error.details.get("findings")
    if told is not None:
        lines = [line for line, _ in zip(told.lines(), range(NAMED), strict=False)]
        details |= {"counts": told.counts, "lines": lines}
    wait = details.get("retry_after")
    headers = {"Retry-After": str(wait)} if wait is not None else {}
    return Problem(error.status, error.message, code=error.code, details=details, headers=headers)


def _submission_json(user: Any, one: Submission) -> dict[str, Any]:
    """Return a submission as JSON data for users who may see it."""
    trained = trained_on(user, one)
    known: dict[str, Any] = {} if trained == HIDDEN else {"trained_on": trained or None}
    return {name: getattr(one, name) for name in KEPT} | {
        "id": one.pk,
        "method": one.method_id,
        "name": one.method.name,
        "split": str(one.split),
        "url": f"/api/v1/submissions/{one.pk}/",
        "page": one.get_absolute_url(),
        **known,
    }


def _own(one: Submission) -> dict[str, Any]:
    """Return the JSON data that only the owner of a submission gets."""
    said: dict[str, Any] = {name: getattr(one, name) for name in ("format", "size", "digest", "outside", "failures")}
    if one.findings:
        said["findings"] = f"/api/v1/submissions/{one.pk}/findings"
    return said


def _score(user: Any, one: Outcome) -> dict[str, Any]:
    """Return the result of a submission on a split as JSON data."""
    split, counts = one.split, {} if one.score is None else one.score.columns_json
    labels = [column.label for column in own_columns_of(user, split, SplitIndex.open(split))] if counts else []
    usage = None if one.score is None else usage_figures([one.score])
    return {
        "split": str(split),
        **one.figure.to_json(),
        "accuracy_read": None if one.score is None else _json(one.score.right_read, one.score.n)["accuracy"],
        "unreadable": one.unreadable,
        "usage": None if usage is None else usage.usage.to_json(),
        "among_answered": None if usage is None else usage.among.to_json(),
        "columns": {label: _json(right, int(n)) for label, (right, n) in counts.items() if label in labels},
        "disclosure": outcome_json(one),
    }


def _json(right: float, n: int) -> dict[str, Any]:
    return figure(Averaged(n, (right,))).to_json()
