"""What the API answers of what pages beside a board tell."""

from ninja import Schema
from pydantic import Field

from webapp.api.shapes.general import Page


class Read(Schema):
    """What figures are of."""

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


class Slices(Read):
    """A board broken down: every cell of every panel, the whole of each column first."""

    slices: list[Cell]


class RowName(Schema):
    """A row of a board."""

    key: str
    label: str


class Compared(Schema):
    """Two rows on the same questions; of too few nothing but `n`."""

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


class Comparison(Read):
    """Two rows of a board, compared."""

    first: RowName
    second: RowName
    test: str = Field(description="McNemar’s exact test, or with several runs the paired permutation test.")
    whole: Compared
    slices: list[Compared]


class Given(Schema):
    """An answer of a row's runs."""

    text: str = Field(description="In quotation marks what the vocabulary doesn't have.")
    times: int = Field(description="How many runs say so.")
    is_right: bool | None = Field(description="Null of a guess by chance.")


class Answered(Schema):
    """A question with what rows say of it, by their keys."""

    question_id: int
    question: str
    answer: str | None
    given: dict[str, list[Given]]
    url: str
    page: str


class AnsweredPage(Page[Answered]):
    """A part of the questions that were answered so."""

    show: str
    rows: list[RowName]


class Point(Schema):
    """An accuracy of runs that learned from so much; of too few questions nothing but `n`."""

    size: int
    n: int
    runs: int
    accuracy: float | None
    low: float | None
    high: float | None
    deviation: float | None


class Reached(Schema):
    """The smallest size with which a target is reached, and the highest accuracy; null where there is none."""

    reached: int | None
    highest: float | None


class Curve(Schema):
    """The points of a method by size, and the smallest size whose mean reaches the target; null where none does."""

    label: str
    reached: int | None
    points: list[Point]
    columns: dict[str, Reached] = Field(description="The same of each column of the board; empty for a view's series.")


class Curves(Read):
    """The curves of a board."""

    along: str
    target: float
    curves: list[Curve]


class Explained(Schema):
    """How many of a row's wrong answers something else gives too; of too few nothing but `n`."""

    label: str
    n: int
    share: float | None
    low: float | None
    high: float | None
    chance: float | None
    p_holm: float | None


class Skipping(Schema):
    """What a row's wrong answers are: the step left out and the baseline that explain most, and all of them."""

    key: str
    label: str
    wrong: int
    n: int
    of_two: int = Field(description="wrong answers to questions with two possible answers, which tell nothing")
    usable: int = Field(description="wrong answers to other questions whose answer some step left out changes")
    step: str | None
    baseline: str | None
    steps: list[Explained]
    baselines: list[Explained]


class Steps(Read):
    """Which step each row skips."""

    state: str = Field(description="done, waiting, running or failed; none where no step can be left out")
    rows: list[Skipping]
