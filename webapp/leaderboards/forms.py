"""Forms for methods, submissions, suites and saved views."""

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qsl, urlencode

from django import forms
from django.db import transaction

from annotations import markdown
from generation.access import What, may_see
from generation.models import Dataset, Split
from generation.splits.query_string import BadAddress, shorten
from webapp.leaderboards import method_names
from webapp.leaderboards.board_lookup import PageAddress, page_of_board
from webapp.leaderboards.method_names import BadMethodName
from webapp.leaderboards.models import BoardSettings, Method, SavedView, Suite
from webapp.leaderboards.models.saved_views import LONGEST_NAME, LONGEST_QUERY
from webapp.leaderboards.ranking.slice_weights import FACET
from webapp.leaderboards.uploads import LONGEST_COLUMN

if TYPE_CHECKING:
    MethodBase = forms.ModelForm[Method]
    SuiteBase = forms.ModelForm[Suite]
else:
    MethodBase = SuiteBase = forms.ModelForm

LONGEST_TEXT = 20_000  # characters of a description or a prompt
MOST_OF_BOARD, MOST_OF_ACCOUNT = 50, 1000  # views of an account
MOST_MEMBERS = 30
MOST_GAPS = 30
USUAL_COLUMNS = (
    "answer", "prediction", "pred", "response", "output", "model_answer", "generated_text", "text", "filtered_resps",
)  # fmt: skip
NUMBER = re.compile(r"[0-9]{1,9}([.][0-9]{1,6})?")


class MethodForm(MethodBase):
    """The form of a method, without its owner and publication."""

    class Meta:
        """The fields and their widgets."""

        model = Method
        fields = ("name", "made", "shots", "description", "link", "model", "model_date", "prompt", "anonymous")
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "description": forms.Textarea(attrs={"rows": 4, "maxlength": markdown.LONGEST}),
            "prompt": forms.Textarea(attrs={"rows": 4, "maxlength": LONGEST_TEXT}),
            "model_date": forms.DateInput(attrs={"type": "date"}),
        }
        labels: ClassVar[dict[str, str]] = {"anonymous": "Without my name"}
        help_texts: ClassVar[dict[str, str]] = {
            "name": "The name that tables show, for example “CNN+LSTM+SA”.",
            "description": "What the method is and how it answers. Write Markdown.",
            "link": "A web address, such as https://…",
            "shots": "Only for few-shot methods.",
            "model": "The name that the provider of the model uses.",
            "model_date": "The date of the version that answered.",
            "prompt": "The exact text that the model got.",
            "anonymous": "Boards show the method without the name of its owner. Staff can see the owner.",
        }
        field_classes: ClassVar[dict[str, Any]] = {"link": partial(forms.URLField, assume_scheme="https")}

    def __init__(self, *args: Any, owner: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.owner = owner
        made = self.fields["made"]
        assert isinstance(made, forms.ChoiceField)
        self.fields["name"].validators.clear()  # `clean_name` has one message for each fault
        known = [(value, label) for value, label in Method.Made.choices if value != Method.Made.HUMAN]
        if self.instance._state.adding:
            made.choices = [("", "choose one"), *known]
            self.initial["made"] = ""
            made.error_messages["required"] = "Expected how the method was made, got nothing."
        else:
            made.choices = known
        self.fields["link"].widget.attrs["placeholder"] = "https://"

    def clean_name(self) -> str:
        """Return the name; the names of an account's methods never look the same."""
        name = str(self.cleaned_data["name"])
        old = "" if self.instance._state.adding else str(self.initial["name"])
        try:
            return name if name == old else method_names.read(name, owner=self.owner, spared=old)
        except BadMethodName as error:
            raise forms.ValidationError(str(error)) from error

    def save_if_valid(self) -> Method | None:
        """Return the stored method of the owner, or None if the form has errors; nobody takes the name meanwhile."""
        with method_names.lock(self.owner):
            if not self.is_valid():
                return None
            self.instance.owner_id = self.owner.pk
            made: Method = self.save()
            return made

    def clean_prompt(self) -> str:
        """Return the prompt; refuse one that is too long."""
        text = str(self.cleaned_data["prompt"])
        if len(text) > LONGEST_TEXT:
            raise forms.ValidationError(f"Expected at most {LONGEST_TEXT:,} characters, got {len(text):,}.")
        return text

    def clean(self) -> dict[str, Any]:
        """Return the data; only few-shot methods have a number of examples in the prompt."""
        data = super().clean() or {}
        if data.get("made") != Method.Made.FEW_SHOT:
            data["shots"] = None
        elif data.get("shots") is None and "shots" not in self.errors:
            self.add_error("shots", "Expected the number of examples in the prompt, got nothing.")
        markdown.check_fields(self, ["description"])
        return data


class SubmissionForm(forms.Form):
    """The form of a run: the file, its method, and how it was made."""

    file = forms.FileField(
        label="Predictions",
        help_text="A file with one answer for each question, at most 100 MB: JSON, JSONL, CSV, Excel, Parquet, or one "
        "line for each question in order. It may be compressed with gzip or zip. "
        '<a href="/docs/predictions/">All formats</a>',
        error_messages={
            "required": "Expected a file of predictions, got none.",
            "empty": "Expected predictions, got an empty file.",
        },
    )
    method = forms.ModelChoiceField(
        Method.objects.none(),
        empty_label=None,
        error_messages={"invalid_choice": "Expected one of your methods, got another."},
    )
    column = forms.CharField(
        required=False,
        label="Column of answers",
        max_length=LONGEST_COLUMN,
        widget=forms.Select,
        help_text="Only if several columns of the file may have the answers of the model. <i>Check only</i> lists the "
        "columns of your file here.",
    )
    replies = forms.FileField(
        required=False,
        label="Replies of the model",
        help_text="If a language model answered: its replies as JSON lines, as <code>ask.py</code> writes them. "
        'At most 100 MB; they may be compressed with gzip. <a href="/docs/predictions/#replies">Format</a>',
        error_messages={"empty": "Expected replies, got an empty file."},
    )
    run = forms.CharField(
        required=False,
        max_length=60,
        help_text="A seed or a name, if there are several runs. Boards show their mean. "
        "A new submission replaces the same run.",
    )
    trained_on = forms.CharField(
        label="Trained on", required=False, max_length=120, help_text="A split of this site, such as clevr/train."
    )
    train_size = forms.IntegerField(
        label="Training examples",
        required=False,
        min_value=1,
        help_text="The number of different examples. Learning curves use it.",
    )
    examples_seen = forms.IntegerField(
        label="Examples seen", required=False, min_value=1, help_text="The total number, with repeats."
    )
    note = forms.CharField(required=False, max_length=500, help_text="The page of the submission shows this note.")

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        method = self.fields["method"]
        assert isinstance(method, forms.ModelChoiceField)
        method.queryset = Method.objects.of(user)
        names = method_names.shown_names(method.queryset)
        method.label_from_instance = lambda one: names[one.pk]  # type: ignore[assignment]
        self.offer_columns(USUAL_COLUMNS)

    def offer_columns(self, names: Sequence[str]) -> None:
        """Let people choose one of these columns, or the one that they chose before."""
        chosen = str(self.data.get("column") or "")
        widget = self.fields["column"].widget
        assert isinstance(widget, forms.Select)
        offered = dict.fromkeys([*names, *([chosen] if chosen else [])])
        widget.choices = [("", "Recognise it"), *((name, name) for name in offered)]

    def clean_trained_on(self) -> Split | None:
        text = str(self.cleaned_data["trained_on"]).strip()
        return split_named(self.user, text) if text else None


class BoardSettingsForm(forms.Form):
    """The owner's settings of a split's board, and of the boards of its dataset; an empty field sets nothing."""

    split_coverage = forms.IntegerField(label="Least coverage of this board, in percent", required=False)
    dataset_coverage = forms.IntegerField(
        label="Least coverage of all boards of the dataset, in percent",
        required=False,
        help_text="It applies to the splits and question sets that have no percentage themselves.",
    )

    def __init__(self, data: Any = None, *, split: Split) -> None:
        self.split = split
        self.rows: dict[str, dict[str, Any]] = {
            "split_coverage": {"split": split},
            "dataset_coverage": {"dataset": split.dataset},
        }
        found = {name: BoardSettings.objects.filter(**key).first() for name, key in self.rows.items()}
        super().__init__(data, initial={name: row.least_coverage for name, row in found.items() if row is not None})
        for name in self.rows:
            field = self.fields[name]
            field.widget.attrs |= {"min": "0", "max": "100", "inputmode": "numeric"}
        self.fields["split_coverage"].help_text = (
            "A submission with answers to fewer questions is refused. 0 accepts every submission. If this is empty, "
            "the percentage below applies."
        )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in self.rows:
            value = data.get(name)
            if value is not None and not 0 <= value <= 100:
                self.add_error(name, f"Expected a percentage from 0 to 100, got {value:,}.")
        return data

    def save(self) -> None:
        """Store the settings; an empty field deletes them."""
        with transaction.atomic():
            for name, key in self.rows.items():
                value = self.cleaned_data[name]
                if value is None:
                    BoardSettings.objects.filter(**key).delete()
                else:
                    BoardSettings.objects.update_or_create(**key, defaults={"least_coverage": value})


def split_named(user: Any, text: str) -> Split:
    return splits_named(user, [text])[0]


def splits_named(user: Any, texts: Sequence[str]) -> list[Split]:
    """Return the splits named `dataset/split` with one query; raise `ValidationError` if one is missing."""
    pairs = [_slug_and_name(text) for text in texts]
    rows = Split.objects.select_related("dataset", "parent").exclude(dataset__state=Dataset.State.DELETING)
    rows = rows.filter(dataset__slug__in={slug for slug, _ in pairs}, name__in={name for _, name in pairs})
    known = {(row.dataset.slug, row.name): row for row in rows}
    found = []
    for text, pair in zip(texts, pairs, strict=True):
        split = known.get(pair)
        if split is None or not may_see(user, split, What.QUESTION):
            raise forms.ValidationError(
                f"Expected a split such as clevr/train, got {shorten(text)}, which does not exist."
            )
        found.append(split)
    return found


def _slug_and_name(text: str) -> tuple[str, str]:
    slug, _, name = text.replace("\0", "/").partition("/")  # no name contains `/` here, and databases refuse NUL
    return slug, name


class SuiteForm(SuiteBase):
    """The form of a suite; members, gaps and the numbers of a grid are one line of text each."""

    members = forms.CharField(
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="On each line, a split or question set, = and its heading, for example: clevr-cogent/valA = seen.",
    )
    gaps = forms.CharField(
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="On each line, a name, = and two headings with a minus, for example: gap = seen - unseen.",
    )

    grid = forms.CharField(
        label="k of each split",
        required=False,
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Only if the suite is a grid. On each line, a heading, = and its number k, for example: seen = 15.",
    )

    class Meta:
        """The fields and their widgets."""

        model = Suite
        fields = ("title", "slug", "description", "k_name", "is_public")
        widgets: ClassVar[dict[str, forms.Widget]] = {
            "description": forms.Textarea(attrs={"rows": 4, "maxlength": markdown.LONGEST})
        }
        help_texts: ClassVar[dict[str, str]] = {
            "slug": "The name in web addresses: small letters, digits and hyphens.",
            "description": "What the suite shows. Write Markdown.",
            "k_name": "Only if the splits differ by a number k: what k counts, with its unit, for example: entities. "
            'The suite is then a <a href="/docs/reading-boards/#grids">grid</a>.',
        }

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.order_fields(["title", "slug", "description", "members", "gaps", "k_name", "grid", "is_public"])

    def clean_members(self) -> list[tuple[str, Split]]:
        """Return label and split of each member."""
        lines = _lines(self.cleaned_data["members"])
        if not 2 <= len(lines) <= MOST_MEMBERS:
            raise forms.ValidationError(f"Expected 2 to {MOST_MEMBERS} splits, got {len(lines)}.")
        parts = [line.partition("=") for line in lines]
        splits = splits_named(self.user, [named.strip() for named, _, _ in parts])
        found = [(label.strip() or split.name, split) for (_, _, label), split in zip(parts, splits, strict=True)]
        for split in splits:
            if not split.is_complete:
                raise forms.ValidationError(f"Expected complete splits, got {split}, which isn't complete yet.")
        labels = [label for label, _ in found]
        if len(set(labels)) < len(labels) or len({split.pk for split in splits}) < len(splits):
            raise forms.ValidationError("Expected each split and each heading only once, got one twice.")
        if max(map(len, labels)) > 60:
            raise forms.ValidationError("Expected headings of at most 60 characters, got a longer one.")
        return found

    def clean_gaps(self) -> list[tuple[str, str, str]]:
        """Return the name and both labels of each gap."""
        labels = [label for label, _ in self.cleaned_data.get("members", [])]
        found = []
        lines = _lines(self.cleaned_data["gaps"])
        if len(lines) > MOST_GAPS:
            raise forms.ValidationError(f"Expected at most {MOST_GAPS} gaps, got {len(lines)}.")
        for line in lines:
            name, _, rest = (part.strip() for part in line.partition("="))
            high, minus, low = (part.strip() for part in rest.partition(" - "))
            if not name or not minus or high == low or not {high, low} <= set(labels):
                raise forms.ValidationError(
                    f"Expected a line such as gap = {' - '.join(labels[:2]) or 'seen - unseen'}, got {shorten(line)}."
                )
            found.append((name[:60], high, low))
        if len({name for name, _, _ in found}) < len(found):
            raise forms.ValidationError("Expected a different name for each gap, got one twice.")
        return found

    def clean_grid(self) -> dict[str, float]:
        """Return the number k by label; empty if the suite is not a grid."""
        lines, name = _lines(self.cleaned_data["grid"]), self.cleaned_data.get("k_name", "")
        labels = [label for label, _ in self.cleaned_data.get("members", [])]
        if not labels:
            return {}  # the message about the members is enough
        if bool(lines) != bool(name):
            got = "what k counts" if name else "the k of headings"
            raise forms.ValidationError(
                f"Expected what k counts and the k of each heading, or neither, got only {got}."
            )
        found: dict[str, float] = {}
        for line in lines:
            label, _, number = (part.strip() for part in line.rpartition("="))
            if label not in labels or label in found or not NUMBER.fullmatch(number):
                raise forms.ValidationError(
                    f"Expected one line for each heading, such as {labels[0]} = 15, with a number from 0, "
                    f"got {shorten(line)}."
                )
            found[label] = float(number)
        missing = [label for label in labels if label not in found]
        if found and missing:
            raise forms.ValidationError(f"Expected a k for each heading, got none for {shorten(missing[0])}.")
        if len(set(found.values())) < len(found):
            raise forms.ValidationError("Expected a different k for each heading, got the same k twice.")
        return found

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        markdown.check_fields(self, ["description"])
        return data


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


class SavedViewForm(forms.Form):
    """The form of a saved view: its name, and who sees it; a new one also has its address."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        error_messages={"required": "Expected a name, got nothing."},
        help_text=f"What the view shows, at most {LONGEST_NAME} characters.",
    )
    is_public = forms.BooleanField(
        label="Public",
        required=False,
        help_text="Everybody who may open the board sees the view, with your name.",
    )

    def __init__(self, *args: Any, user: Any, split: Split, view: SavedView | None = None, **kwargs: Any) -> None:
        if view is not None:
            kwargs["initial"] = {"name": view.name, "is_public": view.is_public}
        super().__init__(*args, **kwargs)
        self.user, self.split, self.view = user, split, view
        if view is None:
            self.fields["address"] = forms.CharField(
                max_length=LONGEST_QUERY * 3,
                widget=forms.HiddenInput,
                error_messages={"required": f"Expected an address of a page of the board of {split}, got nothing."},
            )

    def clean_name(self) -> str:
        """Return the name; an account's views of a board have different names."""
        name = " ".join(str(self.cleaned_data["name"]).split())
        owner = self.user.pk if self.view is None else self.view.owner_id
        same = SavedView.objects.filter(owner=owner, split=self.split, name=name)
        if self.view is not None:
            same = same.exclude(pk=self.view.pk)
        if same.exists():
            raise forms.ValidationError(f"Expected a new name, got {shorten(name)}, the name of another view of yours.")
        return name

    def clean_address(self) -> PageAddress:
        """Return the address without the field of the board that only opens a form."""
        try:
            found = page_of_board(str(self.cleaned_data["address"]), self.split)
        except BadAddress as error:
            raise forms.ValidationError(str(error)) from error
        query = urlencode([pair for pair in parse_qsl(found.query) if pair[0] != FACET])
        if len(query) > LONGEST_QUERY or "%00" in query:
            raise forms.ValidationError(
                f"Expected an address with at most {LONGEST_QUERY:,} characters of parameters and no zero character, "
                f"got {len(query):,} characters."
            )
        return found._replace(query=query)

    def clean(self) -> dict[str, Any]:
        """Return the data; refuse a new view if the account has as many as it may have."""
        data = super().clean() or {}
        if self.view is None:
            own = SavedView.objects.filter(owner=self.user.pk)
            on_board, everywhere = own.filter(split=self.split).count(), own.count()
            if on_board >= MOST_OF_BOARD or everywhere >= MOST_OF_ACCOUNT:
                raise forms.ValidationError(
                    f"Expected at most {MOST_OF_BOARD} views of a board and {MOST_OF_ACCOUNT:,} in all, got "
                    f"{on_board} and {everywhere:,}. Delete some first."
                )
        return data

    def save(self) -> SavedView:
        """Return the new or changed view."""
        data = self.cleaned_data
        if self.view is None:
            address: PageAddress = data["address"]
            return SavedView.objects.create(
                split=self.split,
                owner=self.user,
                name=data["name"],
                is_public=data["is_public"],
                page=address.page,
                position=address.position,
                query=address.query,
            )
        self.view.name, self.view.is_public = data["name"], data["is_public"]
        self.view.save(update_fields=["name", "is_public"])
        return self.view
