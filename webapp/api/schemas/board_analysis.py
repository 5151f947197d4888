"""JSON schemas of a board's analysis."""

from ninja import Schema
from pydantic import Field

from webapp.api.schemas.common import PageOut


class ReadOut(Schema):
    dataset: str
    split: str
    fingerprint: str


class Cell(Schema):
    """An accuracy on a part of a split's questions."""

    panel: str
    value: str
    label: str
    column: str
    n: int
    accuracy: float | None
    low: float | None
    high: float | None
    deviation: float | None
    runs: int
    right: str | None = Field(description="How many are right in each run, where that may be told.")


class Slices(ReadOut):
    """A board broken down: every cell of every panel, the total of each column first."""

    slices: list[Cell]


class RowName(Schema):
    """A row of a board."""

    key: str
    label: str


class MetricLineOut(Schema):
    """A figure of a row, or of the difference of the first two rows, on the questions with one value of a facet."""

    metric: str
    row: str
    slice: str
    label: str
    n: int
    runs: int
    value: float | None
    low: float | None
    high: float | None
    deviation: float | None


class PrecisionOut(Schema):
    """The average precision of a row whose predictions have boxes."""

    row: str
    iou: float = Field(description="The least intersection over union of a box and the true box that it finds.")
    n: int
    runs: int
    value: float | None
    low: float | None
    high: float | None
    deviation: float | None


class MetricsOut(ReadOut):
    """A metric of rows by a facet, and average precisions."""

    metric: str
    is_better: str = Field(description="Which figures are better: higher or lower.")
    slices: list[MetricLineOut]
    average_precision: list[PrecisionOut]


class ComparedOut(Schema):
    """Two rows on the same questions; only `n` if there are too few."""

    facet: str = Field(description="Empty of all questions.")
    value: str
    label: str
    n: int
    first: float | None = Field(description="The share that the first row has right.")
    second: float | None
    difference: float | None
    low: float | None = Field(description="Where the difference's 95 % interval begins.")
    high: float | None
    only_first: int | None = Field(description="Questions that the first row alone has right.")
    only_second: int | None
    p: float | None = Field(description="Of the test that `test` names.")
    p_holm: float | None = Field(description="The same, adjusted for there being several slices of this facet.")


class ComparisonOut(ReadOut):
    """Two rows of a board, compared."""

    first: RowName
    second: RowName
    test: str = Field(description="McNemar’s exact test, or with several runs the paired permutation test.")
    whole: ComparedOut
    slices: list[ComparedOut]


class RankedRowOut(RowName):
    """A row of the comparison of all pairs; figures are null if there are too few questions."""

    accuracy: float | None
    rank: int | None
    low: int | None = Field(description="The best rank that no significant difference excludes.")
    high: int | None = Field(description="The worst of these ranks.")


class PairOut(Schema):
    """Two rows on the same questions; the first is at least as accurate as the second."""

    first: str
    first_label: str
    second: str
    second_label: str
    n: int
    first_accuracy: float
    second_accuracy: float
    difference: float
    low: float
    high: float
    only_first: int
    only_second: int
    p: float
    p_holm: float = Field(description="The same, adjusted for the number of pairs.")


class PairsOut(ReadOut):
    """Every two rows of a board, compared."""

    questions: int
    test: str = Field(description="McNemar’s exact test, or with several runs the paired permutation test.")
    rows: list[RankedRowOut]
    pairs: list[PairOut]


class CostPointOut(Schema):
    """A row of a board with its accuracy and what it costs."""

    key: str
    row: str
    n: int
    accuracy: float | None
    low: float | None
    high: float | None
    on_front: bool = Field(description="Whether no other method is at most as expensive and at least as accurate.")
    value: float | None


class CostsOut(ReadOut):
    """Rows of a board against their cost, tokens or latency, the cheapest first."""

    along: str
    unit: str
    rows: list[CostPointOut]
    without: list[str] = Field(description="The rows without this figure.")


class AnswerPairOut(Schema):
    """How often a row gives one answer to the questions with one right answer."""

    right: str
    given: str = Field(description="Empty if it is no word of the vocabulary.")
    unread: str = Field(description="Then outside, none or tie; otherwise empty.")
    times: int = Field(description="Over all runs.")
    n: int = Field(description="The questions with this right answer.")
    runs: int
    share: float | None = Field(description="Of the answers of all runs; null for too few questions.")


class ConfusionOut(ReadOut):
    """The answers of a row by right answer."""

    row: RowName
    questions: int
    runs: int
    right: int = Field(description="Right answers of all runs.")
    answers: list[AnswerPairOut]


class GivenOut(Schema):
    """An answer of a row's runs."""

    text: str = Field(description="In quotation marks what the vocabulary doesn't have.")
    times: int = Field(description="How many runs say so.")
    is_right: bool | None = Field(description="Null of a guess by chance.")


class ExcerptOut(Schema):
    """The state and the beginning of a row's reply; the reply itself is in the file of the submission's replies."""

    state: str
    excerpt: str


class Answered(Schema):
    """A question with the rows' answers, by their keys."""

    question_id: int
    question: str
    answer: str | None
    given: dict[str, list[GivenOut]]
    replies: dict[str, ExcerptOut | None] = Field(description="Null for a row without a reply.")
    url: str
    page: str


class AnsweredPage(PageOut[Answered]):
    """A page of the questions with these answers."""

    show: str
    rows: list[RowName]


class Point(Schema):
    """The accuracy of runs with one training size, or another metric; only `n` if there are too few questions."""

    size: int
    n: int
    runs: int
    accuracy: float | None = Field(None, description="Missing if another metric is asked for.")
    value: float | None = Field(None, description="The figure of the metric; missing for the accuracy.")
    low: float | None
    high: float | None
    deviation: float | None


class ReachedOut(Schema):
    """The smallest size that reaches a target, and the highest accuracy; null if there is none."""

    reached: int | None
    highest: float | None


class CurveOut(Schema):
    """The points of a method by size, and the smallest size whose mean accuracy reaches the target, or null."""

    label: str
    reached: int | None
    points: list[Point]
    columns: dict[str, ReachedOut] = Field(
        description="The same of each column of the board; empty for a view's series."
    )


class Curves(ReadOut):
    """The curves of a board."""

    along: str
    target: float = Field(description="The target accuracy in percent, whichever metric the points have.")
    metric: str = Field(description="`accuracy`, or the metric that is asked for.")
    is_better: str = Field(description="Which figures are better: higher or lower.")
    curves: list[CurveOut]


class GridMemberOut(Schema):
    """A split of a grid, with its number k."""

    label: str
    split: str
    k: float


class NeededOut(Schema):
    """The smallest size that reaches a target for one k, with its interval; null if no size does."""

    k: float
    reached: int | None
    low: int | None = Field(description="Where its 95 % interval begins.")
    high: int | None = Field(description="Where its 95 % interval ends; null if this is above the largest size.")
    interval_over: str | None = Field(description="`runs`; `questions` if a size has a single run; null without runs.")
    highest: float | None = Field(description="The highest accuracy; null without runs or with too few questions.")
    largest: int | None = Field(description="The largest measured size.")


class GridTargetOut(Schema):
    """The sizes that a target in percent needs, and the slope of log n over log k, null if fewer than two reach it."""

    target: int
    slope: float | None
    slope_low: float | None = Field(description="Where its 95 % interval over runs begins; null with single runs.")
    slope_high: float | None
    sizes: list[NeededOut]


class GridMethodOut(Schema):
    """A method on a grid."""

    key: str
    label: str
    targets: list[GridTargetOut]


class GridOut(Schema):
    """How the training size that reaches a target grows with k, for each method."""

    suite: str
    k_name: str
    members: list[GridMemberOut]
    methods: list[GridMethodOut]


class ExplainedOut(Schema):
    """How many of a row's wrong answers something else also gives; only `n` if there are too few."""

    label: str
    n: int
    share: float | None
    low: float | None
    high: float | None
    chance: float | None
    p_holm: float | None


class SkippingOut(Schema):
    """What explains a row's wrong answers: the best step and baseline, and all of them."""

    key: str
    label: str
    wrong: int
    n: int
    of_two: int = Field(description="wrong answers to questions with two possible answers, which tell nothing")
    usable: int = Field(description="wrong answers to other questions whose answer some step left out changes")
    step: str | None
    baseline: str | None
    steps: list[ExplainedOut]
    baselines: list[ExplainedOut]


class Steps(ReadOut):
    """The step that each row skips."""

    state: str = Field(description="done, waiting, running or failed; none where no step can be left out")
    rows: list[SkippingOut]
