"""Forms for datasets."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.validators import MaxLengthValidator

from generation.engine.errors import BadSpec
from generation.engine.reading.dataset_reader import find_reader
from generation.engine.worlds import READERS
from generation.making.creation import check_slug
from generation.models import Dataset, Split
from generation.splits.count_shifts import CountShift
from generation.splits.split_recipes import Recipe, read_recipe

if TYPE_CHECKING:
    Base = forms.ModelForm[Dataset]
else:
    Base = forms.ModelForm

SEEN_BY = {
    Dataset.Visibility.PRIVATE: "you and staff",
    Dataset.Visibility.LINK: "everybody who has the link",
    Dataset.Visibility.PUBLIC: "everybody",
}


class AboutForm(Base):
    """Who may see a dataset, and facts about it. None of them is part of the content hash."""

    class Meta:
        """The fields and their widgets."""

        model = Dataset
        fields: ClassVar[tuple[str, ...]] = ("visibility", "authors", "licence", "version", "citation")
        widgets = {  # noqa: RUF012 - Django's own way
            "authors": forms.Textarea(attrs={"rows": 2}),
            "citation": forms.Textarea(attrs={"rows": 3}),
        }
        labels = {"visibility": "Who sees it"}  # noqa: RUF012
        help_texts = {  # noqa: RUF012
            "authors": "One author on each line, as they want to be named.",
            "citation": "How others should cite it: a sentence, or BibTeX.",
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["visibility"].widget.choices = list(SEEN_BY.items())
        for name, longest in (("authors", 2000), ("citation", 5000)):
            self.fields[name].validators.append(MaxLengthValidator(longest))


class EditForm(AboutForm):
    """Everything that can be changed in a finished dataset."""

    class Meta(AboutForm.Meta):
        """The fields of `AboutForm`, with title, description and the visibility of pictures."""

        fields = ("title", "description", *AboutForm.Meta.fields, "images_visible")
        labels = {**AboutForm.Meta.labels, "images_visible": "Everybody who sees the dataset also sees its pictures"}  # noqa: RUF012
        help_texts = {**AboutForm.Meta.help_texts, "images_visible": ""}  # noqa: RUF012
        widgets = {**AboutForm.Meta.widgets, "description": forms.Textarea(attrs={"rows": 4, "maxlength": 5000})}  # noqa: RUF012

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["description"].validators.append(MaxLengthValidator(5000))
        if not self.instance.with_images or not self.instance.splits.filter(kind=Split.Kind.IMPORTED).exists():
            del self.fields["images_visible"]  # pictures drawn here are visible with the dataset


class SeveralFiles(forms.FileField):
    """Several files that are uploaded together, at least one."""

    def __init__(self, **options: Any) -> None:
        options["widget"] = _Several()
        super().__init__(**options)

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Return the files; raise `ValidationError` if two have the same name."""
        files = [super(SeveralFiles, self).clean(one, initial) for one in data or [None]]
        names = [file.name for file in files]
        if len(set(names)) < len(names):
            raise forms.ValidationError("Expected files with different names, got two with the same name.")
        return files


class _Several(forms.ClearableFileInput):
    allow_multiple_selected = True

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return files.getlist(name)


class NewSlugField(forms.CharField):
    """The name of a new dataset in addresses, which no other dataset has."""

    def __init__(self) -> None:
        super().__init__(
            label="Name in web addresses",
            max_length=60,
            help_text="Small letters, digits and hyphens. It never changes.",
            widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
        )

    def clean(self, value: Any) -> str:
        slug = super().clean(value)
        try:
            check_slug(slug)
        except BadSpec as error:
            raise forms.ValidationError(error.reason) from error
        if Dataset.objects.filter(slug=slug).exists():
            raise forms.ValidationError(f"Expected a new name, got {slug}, which already exists.")
        return slug


class ImportForm(Base):
    """The form of an import: files, a name, and what others may see."""

    format = forms.ChoiceField(label="Format", choices=lambda: [(name, find_reader(name).label) for name in READERS])
    files = SeveralFiles(  # type: ignore[assignment]  # a form's own `files` are those that were sent
        label="Files",
        help_text="Files of scenes, of questions, or of both, for one or more splits. Each file says what it contains.",
    )

    class Meta:
        """The fields and their texts."""

        model = Dataset
        fields: ClassVar[tuple[str, ...]] = ("title", "licence", "visibility")
        labels = {"visibility": "Who sees it"}  # noqa: RUF012 - Django's own way
        help_texts = {"licence": "The terms of use for others. If empty, no licence is stated."}  # noqa: RUF012

    slug = NewSlugField()
    field_order = ("format", "files", "slug", "title", "licence", "visibility")

    def __init__(self, *args: Any, **options: Any) -> None:
        options.setdefault("initial", {}).setdefault("licence", "")
        super().__init__(*args, **options)
        self.fields["visibility"].widget.choices = list(SEEN_BY.items())


class NewForm(AboutForm):
    slug = NewSlugField()
    images = forms.BooleanField(label="Draw pictures", required=False, initial=True)
    field_order = ("slug", "images")  # the order on the page, so that errors are listed in it


class AmountForm(forms.Form):
    """How many of the matching questions a question set takes."""

    how = forms.ChoiceField(
        label="Take",
        choices=[("all", "all of them"), ("first", "the first"), ("sample", "a sample of"), ("share", "a share of")],
    )
    amount = forms.CharField(
        label="How many",
        required=False,
        max_length=12,
        help_text="A number of questions, or the percentage of a share. Leave it empty to take all questions.",
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**64 - 1,
        initial=0,
        help_text="The seed of a sample or a share. The same seed draws the same questions.",
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )

    def clean(self) -> dict[str, Any]:
        """Return the data with the amount as a number."""
        data: dict[str, Any] = dict(self.cleaned_data)
        how, text = data.get("how"), data.get("amount", "").replace(",", "").replace(" ", "")
        if how == "all":
            return data | {"amount": None}
        try:
            data["amount"] = float(text.removesuffix("%")) if how == "share" else int(text)
        except ValueError:
            wanted = "a percentage, such as 10" if how == "share" else "a number of questions, such as 200"
            self.add_error("amount", f"Expected {wanted}, got {text[:20] or 'nothing'}.")
        return data

    def recipe(self, parent: Split, text: str) -> Recipe:
        typed = self.cleaned_data
        way = {} if typed["how"] == "all" else {typed["how"]: typed["amount"]}
        return read_recipe({"parent": parent.name, "filter": text, "seed": typed["seed"], **way})


class CountShiftForm(forms.Form):
    """The question sets of train, val and test in which numbers of one parity are rare as answers."""

    kept = forms.ChoiceField(
        label="Frequent answers in train and val",
        choices=[("odd", "odd numbers; even numbers in test"), ("even", "even numbers; odd numbers in test")],
    )
    removed = forms.DecimalField(
        label="Share of the other numbers to remove, in percent",
        min_value=0,
        max_value=100,
        max_digits=5,
        decimal_places=2,
        initial=90,
        help_text="With 0, nothing changes; with 100, the other numbers are missing.",
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    grouped_by = forms.ChoiceField(
        label="Groups",
        required=False,
        help_text="Questions with the same values are a group. Each group loses the same share.",
    )
    name = forms.CharField(
        label="End of the names",
        required=False,
        max_length=29,
        help_text="For example small for train-small. If it is empty, the names end like train-odd-even-90.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**64 - 1,
        initial=0,
        help_text="The same seed draws the same questions.",
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
    )

    def __init__(self, *args: Any, facets: Iterable[tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        by_facet = [(name, f"the same answer and {label.lower()}") for name, label in facets]
        groups = self.fields["grouped_by"]
        assert isinstance(groups, forms.ChoiceField)
        groups.choices = [("", "the same answer"), *by_facet]

    def shift(self, text: str) -> CountShift:
        typed = self.cleaned_data
        return CountShift(typed["kept"], float(typed["removed"]), text, typed["grouped_by"], typed["seed"])


class DeriveForm(AmountForm):
    """The form of a question set, with its name."""

    name = forms.CharField(
        label="Name in web addresses",
        max_length=40,
        help_text="A letter, then letters, digits, - and _. It never changes.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}),
    )
    field_order = ("name", "how", "amount", "seed")
