"""The metrics of counting and grounding besides the accuracy: their names, units and what they need.

`count_errors` and `grounding` compute them. The page /docs/metrics/ defines each by formula and source.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from generation.engine.scoring.figures import percent


class Better(StrEnum):
    """Whether higher or lower figures of a metric are better."""

    HIGHER = "higher"
    LOWER = "lower"


class MetricNeeds(StrEnum):
    """What predictions must have for a metric: words of the vocabulary, numbers, or boxes with scores."""

    ANSWERS = "answers"
    NUMBERS = "numbers"
    BOXES = "boxes"


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric of predictions.

    Attributes
    ----------
    name : str
        Its name in files, addresses and the API.
    label : str
        Its name on pages, and its heading on the page of metrics.
    unit : str
        "%" for a share of 1, which is shown in per cent; "objects" for a number of objects.
    is_better : Better
    needs : MetricNeeds
    about : str
        One sentence that says what the metric is.
    """

    name: str
    label: str
    unit: str
    is_better: Better
    needs: MetricNeeds
    about: str

    @property
    def anchor(self) -> str:
        """Return the anchor of its definition on the page of metrics."""
        return self.name.replace("_", "-")

    def text(self, figure: float) -> str:
        """Return a figure as text, without the unit unless it is a percentage."""
        return (percent(figure) if self.unit == "%" else f"{figure:.2f}").replace("-", "−")


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="accuracy_rounded",
            label="Accuracy, rounded",
            unit="%",
            is_better=Better.HIGHER,
            needs=MetricNeeds.NUMBERS,
            about="The share of questions whose number is right after it is clipped and rounded.",
        ),
        Metric(
            name="rmse",
            label="RMSE",
            unit="objects",
            is_better=Better.LOWER,
            needs=MetricNeeds.NUMBERS,
            about="The root of the mean squared error of the numbers, which are not rounded.",
        ),
        Metric(
            name="l1",
            label="L1",
            unit="objects",
            is_better=Better.LOWER,
            needs=MetricNeeds.NUMBERS,
            about="The mean absolute error of the numbers, which are not rounded.",
        ),
        Metric(
            name="relative_error",
            label="Relative error",
            unit="%",
            is_better=Better.LOWER,
            needs=MetricNeeds.NUMBERS,
            about="The mean absolute error, where each error is divided by the right number, or by 1 if it is 0.",
        ),
        Metric(
            name="mean_over_labels",
            label="Mean over labels",
            unit="%",
            is_better=Better.HIGHER,
            needs=MetricNeeds.NUMBERS,
            about="The mean of the rounded accuracies of the right numbers 0, 1, 2 and so on, with equal weights.",
        ),
        Metric(
            name="odd",
            label="Odd",
            unit="%",
            is_better=Better.HIGHER,
            needs=MetricNeeds.NUMBERS,
            about="The rounded accuracy on the questions whose right number is odd.",
        ),
        Metric(
            name="even",
            label="Even",
            unit="%",
            is_better=Better.HIGHER,
            needs=MetricNeeds.NUMBERS,
            about="The rounded accuracy on the questions whose right number is even.",
        ),
        Metric(
            name="own_parity",
            label="Own parity",
            unit="%",
            is_better=Better.HIGHER,
            needs=MetricNeeds.NUMBERS,
            about="The rounded accuracy on the questions whose right number has the parity that is frequent in train.",
        ),
        Metric(
            name="opposite_parity",
            label="Opposite parity",
            unit="%",
            is_better=Better.HIGHER,
            needs=MetricNeeds.NUMBERS,
            about="The rounded accuracy on the questions whose right number has the parity that is rare in train.",
        ),
        Metric(
            name="biased_errors",
            label="Biased errors",
            unit="%",
            is_better=Better.LOWER,
            needs=MetricNeeds.NUMBERS,
            about="The share of the errors that are the train split's most frequent answer to the question's type.",
        ),
        Metric(
            name="groundp",
            label="GroundP",
            unit="%",
            is_better=Better.HIGHER,
            needs=MetricNeeds.BOXES,
            about="The share of the scores of all boxes that lies inside the true boxes.",
        ),
        Metric(
            name="ap",
            label="AP",
            unit="%",
            is_better=Better.HIGHER,
            needs=MetricNeeds.BOXES,
            about="The average precision of the boxes, where a box finds a true box if their IoU is at least 0.2.",
        ),
    )
}
