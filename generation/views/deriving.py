"""Question sets: the form that makes one from some of a split's questions, and the page that deletes one."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from generation import extension_points
from generation.access import Visitor, owns
from generation.browsing.navigation import PICKING
from generation.forms import AmountForm, DeriveForm
from generation.making import dataset_jobs
from generation.models import Split
from generation.splits import question_sets
from generation.splits.query_string import QueryString
from generation.splits.split_recipes import BadRecipe, Chooser, Recipe, in_words
from generation.storage.split_index import SplitIndex
from generation.views.access_checks import NOTHING, find_split, refuse

FIELDS = {"name": "name", "sample": "amount", "first": "amount", "share": "amount", "seed": "seed"}
BAD, CONFLICT = 400, 409


class QuestionSetSize(NamedTuple):
    """The size of a question set in words, or why it cannot be made."""

    said: str = ""
    trouble: str = ""
    is_large: bool = False


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def derive(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the form for a question set from the questions that match the address. Its button makes the set.

    `action=count` only returns the page with the size of the set.
    """
    split = _find_own(request.user, slug, name)
    try:
        question_sets.check_parent(split)
        asked = QuestionSetRequest(split, str(QueryString.of(request).without(*PICKING)))
    except BadRecipe as error:
        return refuse(request, split, error.reason, status=CONFLICT if error.where == "parent" else BAD)
    if request.method != "POST":
        first = asked.first_form()
        return _page(request, asked, form=DeriveForm(initial=first), amount=AmountForm(first))
    if request.POST.get("action") == "count":
        return _page(request, asked, form=DeriveForm(initial=request.POST.dict()), amount=AmountForm(request.POST))
    form = DeriveForm(request.POST)
    if form.is_valid():
        try:
            made = dataset_jobs.derive(split, name=form.cleaned_data["name"], recipe=form.recipe(split, asked.filter))
            return redirect(made)
        except BadRecipe as error:
            form.add_error(FIELDS.get(error.where), error.reason)
    return _page(request, asked, form=form, amount=AmountForm(request.POST), status=BAD)


class QuestionSetRequest:
    """The questions from which a set is made: those of a split that match a filter."""

    def __init__(self, split: Split, text: str) -> None:
        self.split, self.index = split, SplitIndex.open(split)
        self.query = Chooser(split, self.index).read_filter(text)
        self.filter = self.query.trail.removeprefix("?")
        self.found = len(self.index.find(self.query.filters, self.query.each_word).positions)

    def first_form(self) -> dict[str, Any]:
        """Return the initial values of the form: all filtered questions, or a tenth of an unfiltered split."""
        if self.query.is_plain:
            return {"how": "sample", "amount": max(1, self.found // 10), "seed": 0}
        return {"how": "all", "amount": "", "seed": 0}

    def counted(self, amount: AmountForm) -> QuestionSetSize:
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
    """Return the split at this address if the user owns its dataset; otherwise raise the same `Http404` as for none."""
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
        "address": request.get_full_path(),
        "counted": asked.counted(amount),
    }
    return render(request, "generation/derive.html", context, status=status)
