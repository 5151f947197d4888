"""The owner's form for the publication of figures of withheld answers."""

from decimal import Decimal
from typing import Any

from django import forms
from django.db import transaction

from generation.engine.scoring.ladder import least_step, usual_budget
from generation.models import Split
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.models import DisclosureSettings

POINTS = 10  # thousandths of a share in a percentage point
MOST_FIGURES = 2**31 - 1  # the largest number that the database stores


class DisclosureForm(forms.Form):
    """Step, budget and partition of a split."""

    budget = forms.IntegerField(
        label="Figures that may be published",
        min_value=0,
        max_value=MOST_FIGURES,
        help_text="The total for all methods and accounts.",
    )
    step = forms.DecimalField(
        label="Step, in points",
        max_value=100,
        decimal_places=1,
        help_text="A figure changes only by at least this much.",
    )
    partition = forms.ChoiceField(
        required=False,
        label="Parts that also have figures",
        help_text="Each part with 30 questions or more has a figure for each method. It counts as one more figure. The "
        "choice is fixed once a submission's figure is published.",
    )

    def __init__(self, data: Any = None, *, split: Split) -> None:
        self.split, self.plan, self.n = split, disclosure_budget.plan_of(split), max(1, split.questions)
        initial = {
            "budget": self.plan.budget,
            "step": Decimal(self.plan.step) / POINTS,
            "partition": self.plan.partition,
        }
        super().__init__(data, initial=initial)
        least = Decimal(least_step(self.n)) / POINTS
        step, budget, partition = (self.fields[name] for name in ("step", "budget", "partition"))
        assert isinstance(partition, forms.ChoiceField)
        step.widget.attrs |= {"min": str(least), "step": "0.1"}
        step.help_text = f"A figure changes only by at least this much. The smallest step is {least}, which is 1/√n."
        budget.help_text = f"The total for all methods and accounts. The usual number is {usual_budget(self.n):,}."
        facets = disclosure_budget.facets_for_partition(split)
        partition.choices = [("", "none"), *((facet.name, facet.label) for facet in facets)]
        partition.disabled = disclosure_budget.is_partition_fixed(split)

    def clean_step(self) -> int:
        """Return the step in thousandths of a share."""
        step, least = int(self.cleaned_data["step"] * POINTS), least_step(self.n)
        if step < least:
            raise forms.ValidationError(f"Expected at least {Decimal(least) / POINTS} points, got {step / POINTS}.")
        return step

    def save(self) -> None:
        """Store the settings; the partition only if it is not fixed yet."""
        data = self.cleaned_data
        chosen: dict[str, Any] = {"budget": data["budget"], "step": data["step"], "partition": data["partition"]}
        with transaction.atomic():
            disclosure_budget.lock(self.split)
            if disclosure_budget.is_partition_fixed(self.split):
                chosen["partition"] = disclosure_budget.plan_of(self.split).partition
            DisclosureSettings.objects.update_or_create(split=self.split, defaults=chosen)
