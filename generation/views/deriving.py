"""Question sets: the forms that make one, or several with shifted counts, and the page that deletes one."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation import extension_points
from generation.access import Visitor, owns
from generation.browsing.navigation import PICKING
from generation.engine.items import FacetKind
from generation.forms import AmountForm, CountShiftForm, DeriveForm
from generation.making import dataset_jobs
from generation.models import Split
from generation.splits import count_shifts, question_sets
from generation.splits.count_shifts import ShiftedSet
from generation.splits.query_string import QueryString
from generation.splits.split_recipes import BadRecipe, Chooser, Recipe, in_words
from generation.storage.split_index import SplitIndex
from generation.views.access_checks import NOTHING, find_split, refuse

COUNT = "count"
FIELDS = {"name": "name", "sample": "amount", "first": "amount", "share": "amount", "seed": "seed"}
SHIFT_FIELDS = {"name": "name", "parity.grouped_by": "grouped_by", "parity.removed": "removed"}
BAD, CONFLICT = 400, 409


class QuestionSetSize(NamedTuple):
    said: str = ""  # in words
    trouble: str = ""  # why it cannot be made
    is_large: bool = False


class SetLine(NamedTuple):
    name: str
    n: int
    recipe: str  # in words


class CountShiftSize(NamedTuple):
    lines: tuple[SetLine, ...] = ()
    trouble: str = ""  # why they cannot be made


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def derive(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the form for a question set from the questions that match the address. Its button makes the set.

    `action=count` only returns the page with the size of the set.
    """
    split = _find_own(request.user, slug, name)
    asked = _read_request(request, split)
    if isinstance(asked, HttpResponse):
        return asked
    if request.method != "POST":
        first = asked.first_form()
        return _page(request, asked, form=DeriveForm(initial=first), amount=AmountForm(first))
    if request.POST.get("action") == COUNT:
        return _page(request, asked, form=DeriveForm(initial=request.POST.dict()), amount=AmountForm(request.POST))
    form = DeriveForm(request.POST)
    if form.is_valid():
        try:
            made = dataset_jobs.derive(split, name=form.cleaned_data["name"], recipe=form.recipe(split, asked.filter))
            return redirect(made)
        except BadRecipe as error:
            form.add_error(FIELDS.get(error.where), error.reason)
    return _page(request, asked, form=form, amount=AmountForm(request.POST), status=BAD)


def _read_request(request: HttpRequest, split: Split) -> "QuestionSetRequest | HttpResponse":
    """Return the questions that the address names, or the page that refuses them."""
    try:
        question_sets.check_parent(split)
        return QuestionSetRequest(split, str(QueryString.of(request).without(*PICKING)))
    except BadRecipe as error:
        return refuse(request, split, error.reason, status=CONFLICT if error.where == "parent" else BAD)


class QuestionSetRequest:
    """The questions from which a set is made: those of a split that match a filter."""

    def __init__(self, split: Split, text: str) -> None:
        self.split, self.index = split, SplitIndex.open(split)
        chooser = Chooser(split, self.index)
        self.facets = [facet for facet in chooser.facets if facet.kind is not FacetKind.FLAGS]
        self.query = chooser.read_filter(text)
        self.filter = self.query.trail.removeprefix("?")
        self.found = len(self.index.find(self.query.filters, self.query.each_word).positions)

    def first_form(self) -> dict[str, Any]:
        if self.query.is_plain:
            return {"how": "sample", "amount": max(1, self.found // 10), "seed": 0}
        return {"how": "all", "amount": "", "seed": 0}

    def size_of_shift(self, form: CountShiftForm) -> CountShiftSize:
        """Return the sets of a shift with their sizes, or why they cannot be made."""
        if not form.is_valid():
            return CountShiftSize(trouble=" ".join(str(text) for texts in form.errors.values() for text in texts))
        try:
            sets = count_shifts.sets_of(
                self.split.dataset, form.shift(self.filter), suffix=form.cleaned_data.get("name", "")
            )
            return CountShiftSize(tuple(_line(one) for one in sets))
        except BadRecipe as error:
            return CountShiftSize(trouble=error.reason)

    def size_of_set(self, amount: AmountForm) -> QuestionSetSize:
        """Return the size of the set, or why it cannot be made."""
        if not amount.is_valid():
            return QuestionSetSize(trouble=" ".join(str(text) for texts in amount.errors.values() for text in texts))
        try:
            recipe: Recipe = amount.recipe(self.split, self.filter)
            n = len(question_sets.choose(self.split, recipe).positions)
        except BadRecipe as error:
            return QuestionSetSize(trouble=error.reason)
        said = in_words(recipe, n=n, parent=self.split, index=self.index)
        return QuestionSetSize(said, is_large=n > question_sets.AT_ONCE)


def _line(one: ShiftedSet) -> SetLine:
    n = len(question_sets.choose(one.parent, one.recipe).positions)
    return SetLine(one.name, n, in_words(one.recipe, n=n, parent=one.parent, index=SplitIndex.open(one.parent)))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def shift_counts(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the form for sets with shifted counts, of the questions that match the address. Its button makes them.

    `action=count` only returns the page with the sizes of the sets.
    """
    split = _find_own(request.user, slug, name)
    asked = _read_request(request, split)
    if isinstance(asked, HttpResponse):
        return asked
    facets = [(one.name, one.label) for one in asked.facets]
    if request.method != "POST":
        first = {"kept": "odd", "removed": "90", "seed": "0", "grouped_by": split.dataset.get_world().count_groups}
        return _shift_page(request, asked, CountShiftForm(first, facets=facets))
    form = CountShiftForm(request.POST, facets=facets)
    if form.is_valid() and request.POST.get("action") != COUNT:
        try:
            made = dataset_jobs.shift_counts(split.dataset, form.shift(asked.filter), suffix=form.cleaned_data["name"])
        except BadRecipe as error:
            form.add_error(SHIFT_FIELDS.get(error.where), error.reason)
        else:
            messages.success(request, f"{', '.join(one.name for one in made)} are made.")
            name = form.cleaned_data["name"] or form.shift(asked.filter).name
            return redirect("count_shift", split.dataset.slug, name)
    return _shift_page(request, asked, form, status=200 if request.POST.get("action") == COUNT else BAD)


def _shift_page(
    request: HttpRequest, asked: QuestionSetRequest, form: CountShiftForm, *, status: int = 200
) -> HttpResponse:
    context = {
        "split": asked.split,
        "dataset": asked.split.dataset,
        "here": "Shift the counts",
        "form": form,
        "back": asked.split.get_absolute_url() + asked.query.trail,
        "address": request.get_full_path(),
        "size": asked.size_of_shift(form),
    }
    return render(request, "generation/shift_counts.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def delete(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the page that asks for confirmation. Its button deletes the question set."""
    split = _find_own(request.user, slug, name)
    if not split.is_derived:
        raise Http404(NOTHING)
    if request.method != "POST":
        context = {
            "split": split,
            "dataset": split.dataset,
            "here": "Delete",
            "said": question_sets.describe_recipe(split),
            "referring": extension_points.referring_to_split(split),
            "losses": extension_points.losses_of(Split.objects.filter(pk=split.pk)),
        }
        return render(request, "generation/delete_split.html", context)
    try:
        question_sets.remove(split)
    except extension_points.Referred as error:
        return refuse(request, split, error.reason, status=CONFLICT)
    messages.success(request, f"{split.name} is deleted.")
    return redirect(split.dataset)


def _find_own(user: Visitor, slug: str, name: str) -> Split:
    """Return the split at this address if the user owns its dataset; otherwise raise `Http404`, as for no split."""
    split = find_split(user, slug, name)
    if not owns(user, split.dataset):
        raise Http404(NOTHING)
    return split


def _page(
    request: HttpRequest, asked: QuestionSetRequest, *, form: DeriveForm, amount: AmountForm, status: int = 200
) -> HttpResponse:
    context = {
        "split": asked.split,
        "dataset": asked.split.dataset,
        "here": "Make a question set",
        "form": form,
        "found": asked.found,
        "back": asked.split.get_absolute_url() + asked.query.trail,
        "shift": reverse("split_shift_counts", args=[asked.split.dataset.slug, asked.split.name]) + asked.query.trail,
        "address": request.get_full_path(),
        "size": asked.size_of_set(amount),
    }
    return render(request, "generation/derive.html", context, status=status)
