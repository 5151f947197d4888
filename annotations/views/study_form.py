"""Views of the form for a new or an existing study, which also shows the study's plan."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotations.answering import exclusion_rules
from annotations.forms import BOXES, ENDS, FILTER, PAY, PRACTICE, REST, SAMPLE, TEXTS, PlanForm, StudyForm, first_values
from annotations.models import Study
from annotations.studies import lifecycle, planning, question_filter, sampling
from annotations.studies.lifecycle import may_study
from annotations.studies.planning import Plan, SampleBreakdown
from annotations.studies.question_filter import BadFilter
from annotations.studies.sampling import BadSample
from annotations.views.studies import find_study
from generation.access import is_researcher
from generation.models import Dataset, Split
from generation.storage.split_index import SplitIndex
from generation.views.access_checks import NOTHING, find_split, refuse

BAD, CONFLICT = 400, 409
OPENED = "Expected a draft, but the study was opened in the meantime, so its questions are fixed. Reload the page."
MOST_SPLITS = 200  # the most splits in the list from which a user chooses


class PlanView(NamedTuple):
    """The plan that is shown with the form, with the slices of the sample; `trouble` is the reason if there is no plan.

    `found` describes what the filter finds, and `back` is the URL at which these questions can be browsed.
    `contradictions` are the texts that state another duration than the plan.
    """

    plan: Plan | None = None
    breakdowns: list[SampleBreakdown] = []  # noqa: RUF012 - a tuple's default, never changed
    trouble: str = ""
    found: str = ""
    back: str = ""
    filter_trouble: str = ""
    contradictions: list[tuple[str, str]] = []  # noqa: RUF012


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def study_new(request: HttpRequest) -> HttpResponse:
    """Return the form of a new study of the split that the URL names, or a list of splits if the URL names none."""
    if not is_researcher(request.user):
        return render(request, "annotations/not_researcher.html", status=403)
    named = request.GET.get("split", "")
    if not named:
        return render(request, "annotations/study_split.html", {"splits": _offered(request)})
    split = _find(request, named)
    if not split.is_complete:
        message = f"Expected a complete split, got one whose state is {split.state}."
        return refuse(request, split, message, status=CONFLICT)
    assert request.user.pk is not None
    study = Study(split=split, owner_id=request.user.pk)
    typed = _typed(request.GET)
    return _answer(request, study, first=_first(split, filter_=typed.get(FILTER, "")) | typed)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def study_edit(request: HttpRequest, code: str) -> HttpResponse:
    """Return the form of an existing study; after the study was opened, the questions and rules can't be changed."""
    study = find_study(request.user, code)
    if waiting := question_filter.trouble(study):
        messages.warning(request, waiting)
        return redirect(study)
    return _answer(request, study, first={})


def _first(split: Split, *, filter_: str) -> dict[str, Any]:
    """Return initial values for a new study; the split for practice is one of the same dataset if possible."""
    own = [one.pk for one in lifecycle.easy_splits(split) if one.dataset_id == split.dataset_id and not one.is_derived]
    wanted = min(Study._meta.get_field("wanted").default, _there(split, filter_))
    return {
        **first_values(split.dataset.media),
        "title": f"Study of {split}",
        "easy": own[0] if own else None,
        "wanted": wanted,
    }


def _there(split: Split, filter_: str) -> int:
    """Return how many questions a study may ask; if the filter is invalid, all: its error is shown with the form."""
    try:
        return len(question_filter.pool(Study(split=split, filter=filter_), SplitIndex.open(split)))
    except BadFilter:
        return split.questions


def _answer(request: HttpRequest, study: Study, *, first: dict[str, Any]) -> HttpResponse:
    """Return the form; a POST that saves a valid form redirects to the study."""
    action = request.POST.get("action", "save")
    if request.method != "POST":
        form = StudyForm(instance=study, initial=first, user=request.user)
        return _page(request, study, form, _plan_view(study, request, first))
    if action in ("plan", "paper"):
        as_paper = _paper_values(study) if action == "paper" and study.is_draft else {}
        typed = _typed(request.POST) | _ticked(request.POST) | as_paper
        form = StudyForm(instance=study, initial=typed, user=request.user)
        return _page(request, study, form, _plan_view(study, request, typed))
    form = StudyForm(request.POST, instance=study, user=request.user)
    if not form.is_valid():
        return _page(request, study, form, _plan_view(study, request, _typed(request.POST)), status=BAD)
    made = _saved(form)
    if made is None:
        form.add_error(None, OPENED)
        return _page(request, study, form, _plan_view(study, request, _typed(request.POST)), status=CONFLICT)
    lifecycle.keep_texts(made)
    messages.success(request, f"{made.title} is saved.")
    return redirect(made)


def _paper_values(study: Study) -> dict[str, int]:
    people = study.split.dataset.get_world().published.people
    return {} if people is None else {"wanted": people.questions, "per_question": people.each}


def _saved(form: StudyForm) -> Study | None:
    """Save only the fields of the form and return the study; return None if it was opened in the meantime."""
    study: Study = form.instance
    if study._state.adding:
        return form.save()
    with transaction.atomic():
        now = Study.objects.select_for_update().get(pk=study.pk)
        if now.is_draft != study.is_draft or now.split_id != study.split_id:
            return None
        form.save(commit=False)
        study.save(update_fields=[*(name for name in form.cleaned_data if name != "not_from"), *form.html_fields])
        form.save_m2m()
    return study


def _typed(data: QueryDict) -> dict[str, Any]:
    several = {"not_from": data.getlist("not_from")} if "not_from" in data else {}
    return {name: data[name] for name in StudyForm.Meta.fields if name in data} | several


def _ticked(data: QueryDict) -> dict[str, bool]:
    return {name: name in data for name in BOXES}


def _plan_view(study: Study, request: HttpRequest, typed: dict[str, Any]) -> PlanView:
    """Return the plan of a study with the values that are typed in the form."""
    copy = Study.objects.filter(pk=study.pk).first() or Study(split=study.split, owner_id=study.owner_id)
    copy.split = study.split
    held = {name: getattr(copy, f"{name}_id" if name == "easy" else name) for name in PlanForm.Meta.fields}
    form = PlanForm(held | typed, instance=copy, user=request.user)
    if not form.is_valid():
        said = [f"{form.fields[name].label}: {text}" for name, texts in form.errors.items() for text in texts]
        return PlanView(trouble=" ".join(said), filter_trouble=" ".join(map(str, form.errors.get(FILTER, []))))
    try:
        sample = sampling.draw(copy)
    except BadSample as error:
        return PlanView(trouble=error.reason)
    plan = planning.plan(copy, times=planning.times_of(study))
    for name in TEXTS:
        setattr(copy, name, typed.get(name, getattr(copy, name)))
    return PlanView(
        plan,
        planning.breakdowns(copy, sample),
        found=question_filter.describe(copy),
        back=question_filter.address_of(copy),
        contradictions=planning.contradictions(copy, plan),
    )


def _find(request: HttpRequest, named: str) -> Split:
    if "\0" in named:
        raise Http404(NOTHING)
    slug, _, name = named.partition("/")
    split = find_split(request.user, slug[:60], name[:40])
    if not may_study(request.user, split):
        raise Http404(NOTHING)
    return split


def _offered(request: HttpRequest) -> list[Split]:
    """Return the complete splits of which this user may make a study, the splits of the latest datasets first."""
    seen = Dataset.objects.visible_to(request.user)
    splits = Split.objects.for_browse().filter(state=Split.State.COMPLETE, dataset__in=seen)
    latest = splits.order_by("-dataset__created", "-dataset", "ordinal")[:MOST_SPLITS]
    return [split for split in latest if may_study(request.user, split)]


def _page(request: HttpRequest, study: Study, form: StudyForm, shown: PlanView, *, status: int = 200) -> HttpResponse:
    context = {
        "study": study,
        "split": study.split,
        "form": form,
        "shown": shown,
        "address": request.get_full_path(),
        "filter": form[FILTER],
        "paper": study.split.dataset.get_world().published if study.is_draft else None,
        "others_wrong": any(name in form.errors for name in REST),
        **{
            name: [form[field] for field in fields if field in form.fields]
            for name, fields in (
                ("sample", SAMPLE),
                ("practice", PRACTICE),
                ("leaving", exclusion_rules.FIELDS),
                ("pay", PAY),
                ("texts", TEXTS),
                ("ends", ENDS),
                ("rest", REST),
            )
        },
    }
    return render(request, "annotations/study_form.html", context, status=status)
