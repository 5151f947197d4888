"""Forms for researchers who run studies."""

import re
import secrets
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.conf import settings
from django.core.validators import (
    MaxLengthValidator,
    MaxValueValidator,
    MinValueValidator,
    RegexValidator,
    URLValidator,
)

from annotations import markdown
from annotations.answering import color_vision, exclusion_rules
from annotations.answering.exclusion_rules import ExclusionRules, Fast, Straight
from annotations.models import Study
from annotations.studies import lifecycle, planning, question_filter, sampling
from annotations.studies.question_filter import BadFilter
from annotations.studies.sampling import BadSample
from generation.access import Visitor, may_mention
from generation.engine.items import Media
from generation.splits.split_recipes import MOST_LETTERS
from generation.storage.split_index import SplitIndex

if TYPE_CHECKING:
    Base = forms.ModelForm[Study]
else:
    Base = forms.ModelForm

LONGEST_TEXT = 20_000
TEXT_HELP = "Write Markdown. Every version is kept."
MOST_CHECKS = 50
CODE = re.compile(r"[A-Za-z0-9_-]{1,60}")
PARAMETERS = ("person_parameter", "study_parameter", "session_parameter")
TAKEN = {"test", "anew"}  # parameters that the site uses itself
SAMPLE = ("wanted", "evenly", "per_question", "per_session")
FILTER = "filter"
PRACTICE = ("easy", "practice", "practice_right")
PAY = ("hourly_pay", "currency", "reward")
TEXTS = ("consent", "instructions")
ENDS = ("completed", "screened_out", "full")
BOXES = ("out_straight", "out_buttons", "out_colours", "out_unfinished")
MONEY = ("hourly_pay", "reward")
FEW = ("checks", "attention")  # numbers per session, each at most `MOST_CHECKS`
REST = ("seed", "checks", "attention", "palette", "not_from", "lease_minutes", "opens", "closes", *PARAMETERS)
FIXED = (
    FILTER,
    *SAMPLE,
    *PRACTICE,
    *exclusion_rules.FIELDS,
    "seed",
    "checks",
    "attention",
    "palette",
)  # fields that can't be changed after the study was opened
OF_COLOURS = {"palette", "out_colours"}  # hidden for datasets without pictures
NUMBERS = (FILTER, *SAMPLE, "practice", "seed", "checks", "attention", *PAY)  # fields that the plan depends on

PALETTE = {
    Study.Palette.RECORD: "continue; this is recorded",
    Study.Palette.SCREEN_OUT: "leave; they are screened out",
    Study.Palette.COLOUR_FREE: "continue with questions that need no colour",
}  # what happens to participants who confuse colours

WORDS = {
    Media.IMAGE: ("pictures", "Look"),
    Media.STORY: ("stories", "Read"),
    Media.NONE: ("scenes", "Read"),
}  # the noun for the things that questions are about, and the verb in the instructions
CONSENT = """\
You are invited to take part in a study of how people answer questions about {things}.

- It takes about {{minutes}} minutes. You may stop at any time.
- We store your answers, how long they took, and the number that the platform gives you. We do not store your
  name or address.
- We publish no names.

If you are 18 or older and you agree, continue.
"""
INSTRUCTIONS = """\
You will see one {thing} at a time, with a question about it. {look} closely, then choose the answer.

If the {thing} is missing, or the question does not have exactly one answer, press “I cannot answer this”.
"""


class StudyForm(Base):
    """The form of a study, without its split; after the study was opened, some fields can't be changed."""

    class Meta:
        """The fields and their widgets."""

        model = Study
        fields: ClassVar[tuple[str, ...]] = (
            "title", FILTER, *SAMPLE, *PRACTICE, *exclusion_rules.FIELDS, *PAY, *TEXTS, *ENDS, *REST,
        )  # fmt: skip
        labels = {  # noqa: RUF012 - Django's own way
            "practice_right": "Right answers needed in practice",
            "not_from": "Exclude participants of",
            "hourly_pay": "Pay per hour",
            "palette": "Participants who confuse colours",
            "lease_minutes": "Minutes to answer a question",
            "out_attention": "Failed attention items, at least",
            "out_checks": "Wrong check questions, at least",
            "out_fast": "Median answer time below",
            "out_straight": "The same answer over and over",
            "out_buttons": "The same button over and over",
            "out_colours": "Confuses colours",
            "out_unfinished": "Did not finish",
            "opens": "Opens at",
            "closes": "Closes at",
        }
        help_texts = {  # noqa: RUF012
            "title": "Participants see the title, so it should not reveal answers.",
            "filter": "Copy it from the address of the split’s page, after the question mark. If empty: all questions.",
            "per_question": "Each answer is from a different person. Three is usual; an even number can cause ties.",
            "per_session": "How many questions one person answers.",
            "easy": "Another split of the same world. Its answers must be open.",
            "practice": "They come before the first question, and show the right answers. A participant has two tries.",
            "hourly_pay": "The pay for a session and the total pay are computed from this.",
            "currency": "Three letters, for example GBP.",
            "reward": "The pay that you enter on the platform. If empty, it is the hourly pay for the planned time.",
            "completed": "A code, or an https address to which participants return.",
            "screened_out": "For participants who leave before the questions.",
            "full": "For people who come when no questions are left.",
            "consent": f"{TEXT_HELP} {planning.MINUTES} stands for the planned minutes of a session; opening the study "
            "fills them in.",
            "instructions": TEXT_HELP,
            "seed": "The same seed draws the same questions.",
            "checks": "Easy questions that check whether a participant reads them. They do not count for the accuracy.",
            "attention": "An attention item says which button to press.",
            "out_attention": "Only if a session has attention items.",
            "out_checks": "Only if a session has check questions. They are easy, but a careful person can miss one.",
            "out_fast": f"In seconds, measured while the page is visible. It needs at least {Fast().answers} answers.",
            "out_straight": f"{Straight().run} times in a row, or in more than {Straight().percent} % of at least "
            f"{Straight().answers} answers. Do not use this rule if most right answers are the same.",
            "out_buttons": "The button at the same place, as often as in the rule above, over all questions or over "
            "questions with the same buttons, such as yes and no.",
            "out_colours": f"More than {color_vision.SLIPS} mistake in {color_vision.PAIRS} pairs of colours. Only if "
            "the dataset has colours.",
            "out_unfinished": f"No answer for {ExclusionRules().hours} hours, or the study was closed.",
            "palette": "If colours matter, participants compare colours of this dataset before the questions.",
            "not_from": "Participants of these studies cannot take part. They are recognised by the platform’s id.",
            "lease_minutes": "After this time, somebody else gets the question.",
            "opens": f"The time zone is {settings.TIME_ZONE}. If empty, people can come as soon as you open the study.",
            "closes": "If empty, the study runs until you close it.",
            "person_parameter": "The name of this parameter in the link for participants.",
        }
        widgets = {  # noqa: RUF012
            "filter": forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off", "maxlength": MOST_LETTERS}),
            "not_from": forms.CheckboxSelectMultiple(),
            "opens": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
            "closes": forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
            "consent": forms.Textarea(attrs={"rows": 8}),
            "instructions": forms.Textarea(attrs={"rows": 6}),
            "seed": forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
        }

    def __init__(self, *args: Any, user: Visitor, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        if "evenly" in self.fields:
            self.fields["evenly"] = self._evenly()
        if "easy" in self.fields:
            self._narrow_easy(user)
        self._name_choices()
        if self.instance.split.dataset.media != Media.IMAGE:
            for name in OF_COLOURS & self.fields.keys():
                del self.fields[name]
        if "not_from" in self.fields:
            others: Any = self.fields["not_from"]
            mine = Study.objects.filter(owner_id=self.instance.owner_id).exclude(pk=self.instance.pk)
            others.queryset = mine.exclude(state=Study.State.DRAFT)
            if not others.queryset.exists():
                del self.fields["not_from"]
        for name in (*TEXTS, *ENDS, *PARAMETERS, *FEW, *MONEY):
            if name in self.fields:
                self.fields[name].validators.append(_validator(name))
        fixed = () if self.instance.is_draft else FIXED
        for name in (*fixed, *([FILTER] if self.instance.is_frozen else [])):
            if name in self.fields:
                self.fields[name].disabled = True

    def _name_choices(self) -> None:
        if "palette" in self.fields:
            palette: Any = self.fields["palette"]
            palette.choices = list(PALETTE.items())

    def _evenly(self) -> forms.ChoiceField:
        split = self.instance.split
        facets = sampling.facets_of(split, SplitIndex.open(split))
        return forms.ChoiceField(
            label="Drawn",
            required=False,
            choices=[("", "uniformly"), *((facet.name, f"evenly over {facet.label.lower()}") for facet in facets)],
            help_text="Evenly means the same number of questions for each value, or all if a value has fewer.",
        )

    def _narrow_easy(self, user: Visitor) -> None:
        """Offer the splits for practice that the user may use and may see in lists.

        Usable splits of the study's own dataset are offered even if the user may not see the dataset in lists. The
        current choice is always offered.
        """
        study = self.instance
        splits = [
            split
            for split in lifecycle.easy_splits(study.split)
            if lifecycle.may_study(user, split)
            and (may_mention(user, split.dataset) or split.dataset_id == study.split.dataset_id)
        ]
        splits += [study.easy] if study.easy is not None else []
        field: Any = self.fields["easy"]
        field.queryset = field.queryset.filter(pk__in=[split.pk for split in splits]).select_related("dataset")
        field.empty_label = "none"

    def clean_filter(self) -> str:
        """Return the filter in its plain form."""
        text: str = self.cleaned_data[FILTER]
        if self.fields[FILTER].disabled:
            return text
        try:
            return question_filter.plain(self.instance.split, text, user=self.user)
        except BadFilter as error:
            raise forms.ValidationError(error.reason) from error

    def clean(self) -> dict[str, Any]:
        """Check the fields that depend on one another, render the texts, and return the data."""
        data: dict[str, Any] = super().clean() or dict(self.cleaned_data)
        opens, closes = data.get("opens"), data.get("closes")
        if opens and closes and opens >= closes:
            self.add_error("closes", "Expected a closing time after the opening time, got one that is not later.")
        if data.get("practice") == 0:
            data["practice_right"] = 0
        if (data.get("practice_right") or 0) > (data.get("practice") or 0) and "practice" in data:
            self.add_error("practice_right", f"Expected at most {data['practice']}, the number of practice questions.")
        for name in FEW:
            if data.get(name) and (data.get(f"out_{name}") or 0) > data[name]:
                self.add_error(f"out_{name}", f"Expected at most {data[name]}, the number in a session.")
        names = [data[name] for name in PARAMETERS if data.get(name)]
        if len({name.casefold() for name in names}) < len(names):
            self.add_error(
                "session_parameter", "Expected three different names of parameters, got the same name twice."
            )
        if not self.instance.is_draft:
            self._fill_in(data)
        self.html_fields = markdown.check_fields(self, TEXTS)
        return data

    def _fill_in(self, data: dict[str, Any]) -> None:
        plan = planning.plan(self.instance, times=planning.times_of(self.instance))
        data.update({name: planning.fill_in(data[name], plan) for name in TEXTS if name in data})

    def _post_clean(self) -> None:
        """Draw the sample of a draft, so that an error in it is shown at the field that causes it."""
        super()._post_clean()  # type: ignore[misc]
        if self.errors or not self.instance.is_draft:
            return
        try:
            sampling.draw(self.instance)
        except BadSample as error:
            self.add_error(error.where, error.reason)


class PlanForm(StudyForm):
    class Meta(StudyForm.Meta):
        fields = NUMBERS


def first_values(media: Media) -> dict[str, Any]:
    """Return initial values for the form of a new study: sample texts and three random codes."""
    codes = {name: secrets.token_hex(4).upper() for name in ENDS}
    things, look = WORDS[media]
    consent, instructions = CONSENT.format(things=things), INSTRUCTIONS.format(thing=media.noun, look=look)
    return {"consent": consent, "instructions": instructions, **exclusion_rules.FIRST, **codes}


def check_end(text: str) -> None:
    """Raise `ValidationError` unless the text is a code or an https address."""
    if "://" in text:
        URLValidator(schemes=["https"], message="Expected an address that begins with https://.")(text)
    elif not CODE.fullmatch(text):
        raise forms.ValidationError("Expected a code of at most 60 letters, digits, - and _, or an https address.")


def check_parameter(text: str) -> None:
    RegexValidator(r"\A[A-Za-z][A-Za-z0-9_]{0,39}\Z", "Expected a letter, then letters, digits and _.")(text)
    if text.casefold() in TAKEN:
        raise forms.ValidationError(f"Expected another name, got {text}, which the site uses itself.")


def _validator(name: str) -> Any:
    if name in TEXTS:
        return MaxLengthValidator(LONGEST_TEXT)
    if name in ENDS:
        return check_end
    if name in FEW:
        return MaxValueValidator(MOST_CHECKS)
    return MinValueValidator(0) if name in MONEY else check_parameter
