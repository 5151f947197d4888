"""JSON schemas of methods, submissions and boards."""

from datetime import date, datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field, field_validator


class FigureOut(Schema):
    """An accuracy, 0 to 1, over the runs of a method; only `n` if there are too few questions."""

    n: int
    accuracy: float | None
    low: float | None = Field(description="Where its 95 % interval begins.")
    high: float | None
    runs: int
    deviation: float | None = Field(description="The standard deviation over runs, of several.")


class NewMethod(Schema):
    """The description of a method. It is private until it is published on its page."""

    name: str
    made: str = Field("trained", description="zero-shot, few-shot, trained, elsewhere or baseline")
    shots: int | None = Field(None, description="Of few-shot ones: how many examples the prompt has.")
    description: str = ""
    link: str = ""
    model: str = ""
    model_date: date | None = None
    prompt: str = ""
    anonymous: bool = False

    @field_validator("*")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
            raise ValueError("Expected Unicode characters, got half a character.")
        return value


class MethodOut(NewMethod):
    """A method."""

    id: int
    by: str = Field(description="Whose it is; empty where it is anonymous.")
    is_public: bool
    created: datetime
    url: str
    page: str


class LeftOut(Schema):
    """What may still be submitted to a split; null if there is no limit."""

    scores: int | None
    attempts: int | None
    next_at: datetime | None = Field(description="When one more may come, where none may now and it is known.")
    shared: int | None = Field(description="How many all accounts together may still have published today.")
    published: int | None = Field(description="Of how many more submissions a figure can be published in all.")


class DisclosureOut(Schema):
    """What is published of a submission while the answers are withheld."""

    state: str = Field(description="published, deferred (its figure is shown when the answers are opened) or undecided")
    is_new: bool = Field(description="Whether this submission set the method's figure.")
    figure: float | None = Field(description="The method's figure after it.")
    step: float = Field(description="By how much a score has to beat that to change it.")
    parts: dict[str, float | None] = Field(description="The method's figures on the parts that the owner chose.")


class UsageOut(Schema):
    """What the replies of a row took: means over its runs; a figure is null if it is not known."""

    coverage: float = Field(description="The share of questions with an answer. The others count as wrong.")
    answered: float = Field(description="How many questions have an answer.")
    asked: int
    tokens_per_question: float | None = Field(description="Of prompt and completion, with all attempts.")
    dollars_per_1000_questions: float | None
    median_seconds: float | None = Field(description="The median time until a reply.")


class ScoredOut(FigureOut):
    """The score of a submission on its split, or on a question set derived from it.

    While the answers are withheld, everything but `n` is null for all but the dataset's owner, and `disclosure` shows
    what is published. `accuracy` is present if this submission set the method's figure.
    """

    split: str
    accuracy_read: float | None = Field(description="With answers read out of free text.")
    unreadable: int | None = Field(description="Answers in which none could be read.")
    usage: UsageOut | None = Field(description="Coverage, tokens, cost and latency, as far as they are known.")
    among_answered: FigureOut | None = Field(description="On the questions with an answer only.")
    columns: dict[str, FigureOut] = Field(description="By the columns of the board.")
    disclosure: DisclosureOut | None = Field(description="Null where everything is shown.")


class SubmissionOut(Schema):
    """A run of a method on a split, with its progress."""

    id: int
    state: str = Field(description="waiting, running, done, failed or cancelled")
    message: str = Field(description="Why it failed, or why it is tried again.")
    method: int
    name: str = Field(description="The method's name.")
    split: str
    run: str
    trained_on: str | None = Field(None, description="Absent where it is a private split.")
    train_size: int | None
    examples_seen: int | None
    note: str
    created: datetime = Field(description="Since when it waits.")
    started: datetime | None = Field(description="Since when it is being scored.")
    finished: datetime | None
    url: str = Field(description="Where to ask how far it is.")
    page: str
    format: str | None = None
    size: int | None = Field(None, description="Bytes of the file.")
    digest: str | None = Field(None, description="SHA-256 of the file.")
    outside: int | None = Field(None, description="Answers outside the vocabulary.")
    failures: int | None = Field(None, description="Of them, texts of a runner that got no reply.")
    findings: str | None = Field(None, description="Where the full list is of what is wrong with the file.")
    left: LeftOut | None = Field(None, description="What may still be submitted to this split.")
    scores: list[ScoredOut] | None = None
    slices_url: str | None = Field(None, description="Where its accuracy is by every facet.")
    replies_url: str | None = Field(None, description="Where its replies are, if it has some that you may see.")


class Part(Schema):
    """An accuracy on a part of a split's questions; only `n` if there are too few."""

    n: int
    accuracy: float | None = None
    low: float | None = None
    high: float | None = None


class WeakOut(Schema):
    """A slice on which a submission is less accurate than on all questions."""

    facet: str
    value: str
    label: str = Field(description="Facet and value for people.")
    n: int
    accuracy: float
    low: float
    high: float


class SubmissionSlices(Schema):
    """Accuracies of a submission by the values of each facet, in their order."""

    split: str
    facets: dict[str, dict[str, Part]]
    weakest: list[WeakOut] = Field(description="The five slices of 30 questions or more that it is least right on.")


class Taken(Schema):
    """The result of an upload: a submission for each split."""

    id: int = Field(description="Of the first.")
    url: str
    is_repeat: bool = Field(description="Whether it had come before with the same Idempotency-Key.")
    submissions: list[SubmissionOut]


class Checked(Schema):
    """The result of checking a file."""

    split: str
    n: int
    format: str
    outside: int
    unreadable: int
    examples: list[tuple[int, str]] = Field(description="Question and answer of the first outside the vocabulary.")
    failures: int = Field(description="Answers that are failures of the runner that wrote the file.")
    unanswered: dict[str, int] = Field(description="Questions without an answer, by state. They count as wrong.")
    replies: int | None = Field(description="Records of replies; null without them.")


class CheckedUploadOut(Schema):
    """A dry run: nothing was stored."""

    checked: list[Checked]


class NewSubmission(Schema):
    """The fields that come with a file of predictions."""

    method: Annotated[str, Field(description="A method of yours: its number or its name.")]
    split: str = Field("", description="What it is for: dataset/split.")
    suite: str = Field("", description="Or a suite's name; the file is a zip then, its files named after the splits.")
    run: str = Field("", description="A seed or a name, where there are several.")
    trained_on: str = Field("", description="A split of this site: dataset/split.")
    train_size: int | None = Field(None, ge=1, description="How many different examples it was trained on.")
    examples_seen: int | None = Field(None, ge=1, description="How many in all, repeats included.")
    column: str = Field("", description="The column of answers, if several columns may have them.")
    fingerprint: str = Field("", description="The split's content hash; another one is refused.")
    note: str = ""
    dry_run: bool = Field(False, description="Check the file and keep nothing.")


class TasksOut(Schema):
    """A row's result over the columns that are tasks; null if one of them has too few questions."""

    of: int = Field(description="How many tasks it was asked.")
    mean: float | None
    failed: int | None = Field(description="Tasks in which fewer are right than the board's `passed_at`.")


class MetricFigureOut(Schema):
    """A figure of a metric: the mean over runs, with its 95 % interval over the questions."""

    n: int
    runs: int
    value: float | None
    low: float | None
    high: float | None
    deviation: float | None


class RanksOut(Schema):
    """The ranks that are compatible with the significant differences between the ranked rows of a board."""

    rank: int
    low: int = Field(description="The best of these ranks.")
    high: int = Field(description="The worst of these ranks.")


class BoardRowOut(Schema):
    """A method with one configuration; its runs are one row."""

    key: str
    rank: int | None = Field(description="Entries as accurate share one; people and baselines have none.")
    method: int | None
    name: str
    by: str
    made: str
    circumstances: str
    date: datetime
    submissions: list[int]
    accuracy: FigureOut
    accuracy_read: FigureOut | None
    unreadable: float | None
    shared: FigureOut | None = Field(description="On the questions that people were asked.")
    reweighted: FigureOut | None = Field(description="With each question weighted by how rare it is in training.")
    ranks: RanksOut | None = Field(description="With `ranks=1`, for rows that have a rank.")
    weighted: FigureOut | None = Field(description="With `weights`: the mean of the slices with these weights.")
    weighted_rank: int | None = Field(description="The rank by the weighted accuracy.")
    usage: UsageOut | None = Field(description="Null for people, baselines, and while answers are withheld.")
    among_answered: FigureOut | None = Field(description="On the questions with an answer only.")
    tasks: TasksOut | None
    metrics: dict[str, MetricFigureOut | None] = Field(description="The world's other metrics, by name.")
    columns: dict[str, FigureOut]


class BoardOut(Schema):
    """A split's board."""

    split: str
    fingerprint: str
    questions: int
    titles: dict[str, str] = Field(description="What columns with short names are about.")
    least_coverage: int = Field(description="Percent of the questions that a submission must answer.")
    passed_at: float | None = Field(description="From which accuracy a task is passed, where columns are tasks.")
    address: str
    weights: str = Field(description="The weights of the weighted accuracy, as in the address; empty without.")
    weights_left_out: dict[str, int] = Field(
        description="Values with a weight that do not count, because they have fewer than 30 questions."
    )
    rows: list[BoardRowOut]


class SavedViewOut(Schema):
    """A name for an address of a board's pages."""

    name: str
    owner: str
    page: str = Field(description="The page that the address shows.")
    address: str
    is_public: bool
    created: datetime


class SuiteOut(Schema):
    """Several splits on one board."""

    slug: str
    title: str
    description: str
    url: str
    page: str


class SuiteRowOut(Schema):
    """A method with one configuration on every split of a suite."""

    rank: int | None
    method: int | None
    name: str
    made: str
    columns: dict[str, FigureOut | None]
    mean: float | None
    gaps: dict[str, float | None]
    gap_intervals: dict[str, tuple[float, float] | None] = Field(
        description="The 95 % interval of each gap, over the questions of both splits."
    )
    harmonic_means: dict[str, float | None] = Field(
        description="For each gap the harmonic mean of the accuracies on both splits."
    )
    fresh_twins: dict[str, "TwinGapOut"] = Field(
        description="For each split with fresh twins in the suite: its accuracy minus the mean accuracy on its twins."
    )


class TwinGapOut(Schema):
    """The gap between a row's accuracy on a split and its mean accuracy on the fresh twins of this split."""

    twins: int
    answered: int = Field(description="The number of twins on which the row has an accuracy.")
    missing: list[str] = Field(description="The splits of the group on which it has none.")
    mean: float | None
    gap: float | None
    low: float | None = Field(description="The lower end of the 95 % interval of the gap, over the questions.")
    high: float | None
    lowest: float | None = Field(description="The lowest accuracy on a twin.")
    lowest_twin: str
    rounded: bool = Field(description="Whether an accuracy is a published figure, rounded down to a step.")


class SuiteBoardOut(Schema):
    """A suite's board."""

    suite: str
    address: str
    members: dict[str, str]
    k_name: str = Field(description="What the number k of each split counts; empty if the suite is not a grid.")
    k: dict[str, float] = Field(description="The number k of each split of a grid.")
    fresh_twins: dict[str, list[str]] = Field(description="For each split with fresh twins in the suite: the twins.")
    rows: list[SuiteRowOut]
