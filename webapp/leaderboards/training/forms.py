"""The form that orders a training on a dataset."""

from collections.abc import Sequence
from typing import Any

from django import forms

from generation.access import is_withheld
from generation.engine.errors import BadTraining
from generation.engine.learners.base import Learner
from generation.models import Split
from webapp.leaderboards import method_names
from webapp.leaderboards.models import Training
from webapp.leaderboards.training import orders
from webapp.leaderboards.training.orders import LARGEST_SEED, TrainingOrder

LONGEST_CONFIG = 20_000  # characters


class TrainingForm(forms.Form):
    """The method, its splits of one dataset, and its settings."""

    method = forms.ChoiceField()
    train = forms.ChoiceField(label="Train on", help_text="The split from which the method learns.")
    val = forms.ChoiceField(
        label="Validation split",
        help_text="The accuracy on this split decides when the training stops.",
    )
    tests = forms.MultipleChoiceField(
        label="Splits to answer",
        widget=forms.CheckboxSelectMultiple,
        help_text="The method answers the questions of these splits, whose answers may be withheld.",
        error_messages={"required": "Expected at least one split to answer, got none."},
    )
    size = forms.ChoiceField(choices=Training.Size.choices, initial=Training.Size.MINI, label="Settings")
    seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        initial=0,
        help_text="Another seed is another run of the same method. The same seed gives the same answers again.",
    )
    name = forms.CharField(
        label="Name on boards",
        required=False,
        max_length=method_names.LONGEST,
        help_text="If this is empty, the method gets its usual name.",
    )
    config = forms.CharField(
        label="Changed settings",
        required=False,
        max_length=LONGEST_CONFIG,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text='JSON, for example {"epochs": 5}. <a href="/docs/training/">All settings</a>',
    )

    def __init__(self, *args: Any, splits: Sequence[Split], learners: Sequence[type[Learner]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.splits = {split.name: split for split in splits}
        learned = [(split.name, split.name) for split in splits if not is_withheld(split)]
        choices = {
            "method": [(learner.name, learner.label) for learner in learners],
            "train": learned,
            "val": learned,
            "tests": [(split.name, _choice_label(split)) for split in splits],
        }
        for name, values in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = values

    def clean_config(self) -> dict[str, Any]:
        """Return the changed settings."""
        text = str(self.cleaned_data["config"]).strip()
        try:
            return orders.config_of(text, where="settings") if text else {}
        except BadTraining as error:
            raise forms.ValidationError(str(error)) from error

    def order(self, owner: Any) -> TrainingOrder:
        data = dict(self.cleaned_data)
        tests = tuple(self.splits[name] for name in data.pop("tests"))
        train, val = (self.splits[data.pop(name)] for name in ("train", "val"))
        return TrainingOrder(owner=owner, train=train, val=val, tests=tests, **data)


def _choice_label(split: Split) -> str:
    return f"{split.name}, whose answers are withheld" if is_withheld(split) else split.name
