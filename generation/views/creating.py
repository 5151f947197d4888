"""A new dataset: its spec as a form and as JSON, a preview, an estimate, and a button to make it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.contrib.auth.decorators import login_required
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation.access import is_researcher, researchers_only, takes_uploads
from generation.engine.errors import BadSpec
from generation.engine.items import Media
from generation.engine.worlds import find_preset, get_world
from generation.forms import NewForm
from generation.making import dataset_jobs
from generation.making.creation import SlugTaken
from generation.models import Dataset, Upload
from generation.models.quotas import UPLOAD_BYTES
from generation.specs import editor, estimates, limits, loading, previews
from generation.specs import fields as parameters
from generation.specs.editor import SpecDraft
from generation.specs.estimates import Estimate
from generation.specs.presets import first_preset, preset_card, preset_groups, preset_names

BAD = 400


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes_uploads(researchers_only)
def new_dataset(request: HttpRequest) -> HttpResponse:
    """Return the page for describing a new dataset. The button `create` starts making it."""
    if not is_researcher(request.user):
        return render(request, "generation/not_researcher.html", status=403)
    if request.method == "POST":
        return SentPage(request).answer()
    chosen = request.GET.get("preset", "")
    preset = chosen or first_preset()
    try:
        most = limits.limits_for(request.user)
        draft = editor.draft_of(find_preset(preset), files={}, most=most)
    except BadSpec as error:
        raise Http404(str(error)) from error
    about = NewForm(initial={"slug": _free_slug(preset)})
    return _page(request, draft, about=about, most=most, preset=preset, is_choosing=not chosen)


class SentPage:
    """A submitted page: its content and the action of its button."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.about = NewForm(request.POST)
        self.action = request.POST.get("action", "")
        named = request.POST.get("preset", "")
        self.preset = named if named in preset_names() else ""
        self.most = limits.limits_for(request.user)
        self.draft = self._draft()

    def answer(self) -> HttpResponse:
        """Return the page again, with a preview if wanted; or redirect to the new dataset."""
        if self.action == "create":
            return self._create()
        self.about = NewForm(initial=self._typed())
        if self.draft.refused is not None:
            return self._page(status=BAD)
        return self._preview() if self.action == "preview" else self._page(is_updated=True)

    def _draft(self) -> SpecDraft:
        last = self.action if self.action in ("form", "json") else self.request.POST.get("last", "")
        typed = self.request.POST.get("spec", "")
        try:
            data, contradict = editor.read(self.request.POST.dict(), last=last)
            data = self._with_uploads(data)
        except BadSpec as error:
            return SpecDraft(typed, self._shown(), None, editor.each(error))
        images = "images" in self.request.POST
        draft = editor.draft_of(data, files=self._files(data), most=self.most, images=images)
        if contradict and draft.refused is None:
            refused = BadSpec(
                "Both the form and the JSON were changed. The JSON counts, and the form now shows its values."
            )
            return draft._replace(faults=(refused,))
        return draft

    def _shown(self) -> dict[str, Any]:
        """Return the JSON that the page had; the first preset if the page sent invalid JSON."""
        try:
            return editor.parse(self.request.POST.get("shown", ""))
        except BadSpec:
            return find_preset(first_preset())

    def _with_uploads(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON with the digests of the files that were sent with it."""
        for parameter in parameters.parameters_of(loading.world_of(data)):
            came = self.request.FILES.getlist(parameter.path) if parameter.kind == "files" else []
            if came:
                data = parameters.with_value(data, parameter.path, {_name(file): self._keep(file) for file in came})
        sent = {_name(file): self._keep(file) for file in self.request.FILES.getlist("files")}
        return editor.with_files(data, sent) if sent else data

    def _keep(self, file: UploadedFile) -> str:
        if (file.size or 0) > UPLOAD_BYTES:
            raise BadSpec(f"Expected files of at most {UPLOAD_BYTES:,} bytes, got {file.size:,}.", where=_name(file))
        return Upload.objects.keep(self.request.user, name=_name(file), content=file.read())

    def _files(self, data: dict[str, Any]) -> dict[str, bytes]:
        kept = Upload.objects.named_in(self.request.user, editor.text_of(data))
        return {digest: bytes(upload.content) for digest, upload in kept.items()}

    def _typed(self) -> dict[str, Any]:
        """Return the other fields as they were typed, so that they are not validated yet."""
        names = self.about.fields
        return {name: self.request.POST.get(name, "") for name in names if name != "images"} | {
            "images": "images" in self.request.POST
        }

    def _preview(self) -> HttpResponse:
        assert self.draft.spec is not None
        split = next(iter(self.draft.spec.splits))
        try:
            found = previews.preview(
                self.request.user, self.draft.spec.to_json(), split=split, files=self._files(self.draft.data)
            )
        except (previews.NoPreview, BadSpec) as error:
            return self._page(status=BAD, no_preview=str(error))
        smooth = get_world(self.draft.spec.world).display.smooth
        return self._page(preview=found.scenes, left_out=found.left_out, preview_split=split, is_crisp=not smooth)

    def _create(self) -> HttpResponse:
        if not self.about.is_valid() or self.draft.refused is not None:
            return self._page(status=BAD)
        try:
            dataset = self._started()
        except SlugTaken as error:  # another request has taken the name
            self.about.add_error("slug", error.reason)
            return self._page(status=BAD)
        except BadSpec as error:
            self.draft = self.draft._replace(faults=editor.each(error))
            return self._page(status=BAD)
        dataset_jobs.RUNNER.wake()
        return redirect(f"{dataset.get_absolute_url()}#making")

    def _started(self) -> Dataset:
        """Start the new dataset. The requests of an account are serialised, so that none exceeds the quota."""
        user, about = self.request.user, self.about.cleaned_data
        assert self.draft.spec is not None and user.pk is not None
        with transaction.atomic():
            list(get_user_model().objects.select_for_update().filter(pk=user.pk))
            estimates.check(self.draft.spec, user, images=about["images"])
            dataset = dataset_jobs.start(
                self.draft.spec.to_json(),
                slug=about["slug"],
                files=self._files(self.draft.data),
                owner=user,
                visibility=about["visibility"],
                images=about["images"],
            )
            named = ("authors", "licence", "version", "citation")
            Dataset.objects.filter(pk=dataset.pk).update(**{name: about[name] for name in named})
        return dataset

    def _page(self, *, status: int = 200, **more: Any) -> HttpResponse:
        return _page(
            self.request, self.draft, about=self.about, most=self.most, preset=self.preset, status=status, **more
        )


def _page(
    request: HttpRequest,
    draft: SpecDraft,
    *,
    about: NewForm,
    most: Mapping[str, int],
    preset: str = "",
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """Return the page of a draft; `most` are the limits of the user."""
    data, faults = _showable(draft)
    fields, rows = editor.fields_of(data, faults, most), editor.rows_of(data)
    beside_json = [
        f"{fault.where}: {fault.reason}".removeprefix(": ") for fault in editor.without_field(faults, fields)
    ]
    found, too_much = _estimate(draft, request)
    beside_splits = _beside_splits(faults, rows, too_much)
    context = {
        "worlds": preset_groups(),
        "chosen": preset_card(preset) if preset else None,
        "world": get_world(loading.world_of(data)).label,
        "media": (media := get_world(loading.world_of(data)).media),
        "draws": media == Media.IMAGE,
        "draft": draft,
        "shown": editor.text_of(data),
        "about": about,
        "rows": rows,
        "plain": {field.parameter.path: field for field in fields if not field.parameter.group},
        "groups": _grouped([field for field in fields if field.parameter.is_common and field.parameter.path != "seed"]),
        "others": _grouped([field for field in fields if not field.parameter.is_common and field.parameter.group]),
        "others_wrong": any(field.error for field in fields if not field.parameter.is_common),
        "json_errors": beside_json,
        "splits_errors": [wrong.text for wrong in beside_splits],
        "wrong": _wrong(fields, beside_splits, beside_json) if draft.faults or about.errors else [],
        "estimate": found,
        "too_much": too_much,
        **more,
    }
    return render(request, "generation/new.html", context, status=status)


def _showable(draft: SpecDraft) -> tuple[dict[str, Any], Sequence[BadSpec]]:
    """Return the JSON for the form, and its faults. For an unknown world it is the first preset's JSON."""
    try:
        parameters.parameters_of(loading.world_of(parameters.expand(draft.data)))
    except BadSpec as error:
        return find_preset(first_preset()), draft.faults or (error,)
    return draft.data, draft.faults


def _estimate(draft: SpecDraft, request: HttpRequest) -> tuple[Estimate | None, str]:
    """Return the estimate for a draft, and why it is too large; nothing for a draft that is refused."""
    if draft.spec is None:
        return None, ""
    try:
        return estimates.check(draft.spec, request.user), ""
    except estimates.TooMuch as error:
        return error.estimate, error.reason


class Wrong(NamedTuple):
    label: str
    field: str  # its id
    text: str


def _beside_splits(faults: Sequence[BadSpec], rows: Sequence[editor.SplitField], too_much: str) -> list[Wrong]:
    """Return the faults of splits, including that they are too large."""
    numbers = {row.name: number for number, row in enumerate(rows) if row.name}
    found = []
    for fault in filter(editor.is_of_splits, faults):
        _, _, place = fault.where.partition(".")
        name, _, key = place.partition(".")
        field = f"split-{numbers.get(name, 0)}-{key if key in ('scenes', 'reference') else 'name'}"
        found.append(Wrong(f"Split {name}" if name else "Splits", field, f"{place}: {fault.reason}".removeprefix(": ")))
    is_said = any(fault.where == "splits" for fault in faults)
    return [*found, *([Wrong("Splits", "split-0-scenes", too_much)] if too_much and not is_said else [])]


def _wrong(fields: Sequence[editor.Field], beside_splits: Sequence[Wrong], beside_json: Sequence[str]) -> list[Wrong]:
    beside = [Wrong(one.parameter.label, f"parameter-{one.parameter.path}", one.error) for one in fields if one.error]
    return [*beside_splits, *beside, *(Wrong("Spec, as JSON", "spec", text) for text in beside_json)]


def _grouped(fields: list[editor.Field]) -> list[tuple[str, list[editor.Field]]]:
    """Return fields grouped by the part of the spec that contains them."""
    groups: dict[str, list[editor.Field]] = {}
    for field in fields:
        groups.setdefault(field.parameter.group.replace(".", ", ").capitalize(), []).append(field)
    return list(groups.items())


def _free_slug(name: str) -> str:
    taken = set(Dataset.objects.filter(slug__startswith=name).values_list("slug", flat=True))
    return next(slug for slug in [name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))] if slug not in taken)


def _name(file: UploadedFile) -> str:
    return str(file.name or "file")
