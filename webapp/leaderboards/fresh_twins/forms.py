"""The form that makes fresh twins."""

from typing import Any

from django import forms

from generation.engine.spec import LIMITS
from generation.making.fresh_twins import LEAST_QUESTIONS, MOST
from generation.models import Split


class FreshTwinForm(forms.Form):
    """How many twins to make, and how many questions each of them has."""

    seeds = forms.IntegerField(
        label="Number of twins",
        min_value=1,
        max_value=MOST,
        initial=1,
        help_text="Each twin has its own secret. With several twins, the interval of the gap is narrower.",
    )
    questions = forms.IntegerField(
        label="Questions of each twin",
        required=False,
        min_value=LEAST_QUESTIONS,
        max_value=LIMITS["scenes"].ceiling,
    )

    def __init__(self, *args: Any, split: Split, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["questions"].help_text = (
            f"If empty, as many as {split.name} has: {split.questions:,}. The number is rounded up to whole "
            f"{split.dataset.media.items}."
        )
