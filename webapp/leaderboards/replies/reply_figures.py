"""Figures of a board's row about its replies: coverage, tokens, cost, latency, and accuracy on answered questions.

The figures are stored with each score, so no file is read. The site's baselines and people have no such figures.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

from generation.engine.scoring.figures import Averaged, Figure, figure, percent, rounded_or_none
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.models import Score


class ReplyUsage(NamedTuple):
    """Means over the runs of an entry. A figure is None if no run has it.

    Attributes
    ----------
    coverage : float
        The share of questions with an answer, 0 .. 1.
    answered : float
        The number of questions with an answer.
    asked : int
        The number of questions.
    tokens : float or None
        Tokens for each question, of prompt and completion.
    cost : float or None
        US dollars for 1,000 questions.
    latency : float or None
        The median time of a reply in seconds, over the questions.
    """

    coverage: float
    answered: float
    asked: int
    tokens: float | None = None
    cost: float | None = None
    latency: float | None = None

    @property
    def coverage_text(self) -> str:
        # Rounded down, because 99.96 % is not everything.
        share = int(1000 * self.coverage + 1e-9) / 1000
        return percent(share)

    @property
    def answered_text(self) -> str:
        return f"{self.answered:,.1f}".removesuffix(".0") + f" of {self.asked:,}"

    @property
    def tokens_text(self) -> str:
        return "" if self.tokens is None else f"{self.tokens:,.0f}"

    @property
    def cost_text(self) -> str:
        return "" if self.cost is None else dollars(self.cost)

    @property
    def latency_text(self) -> str:
        return "" if self.latency is None else seconds(self.latency)

    @property
    def has_replies(self) -> bool:
        return any(one is not None for one in (self.tokens, self.cost, self.latency))

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON data, named with their units."""
        return {
            "coverage": rounded_or_none(self.coverage),
            "answered": self.answered,
            "asked": self.asked,
            "tokens_per_question": self.tokens,
            "dollars_per_1000_questions": self.cost,
            "median_seconds": self.latency,
        }


def usage_of(entry: Entry) -> ReplyUsage | None:
    # Entries have scores only for visitors who may see them.
    return usage_of_scores(entry.scores)


def usage_of_scores(scores: Sequence[Score]) -> ReplyUsage | None:
    known = [score for score in scores if score.answered is not None]
    if not known:
        return None
    answered, asked = fmean(score.answered or 0 for score in known), known[0].n
    return ReplyUsage(
        answered / max(1, asked),
        round(answered, 3),
        asked,
        *(_mean(known, name) for name in ("tokens", "cost", "latency")),
    )


def _mean(scores: Sequence[Score], name: str) -> float | None:
    found = [value for score in scores if (value := getattr(score, name)) is not None]
    return round(fmean(found), 6) if found else None


def accuracy_among_answered(scores: Sequence[Score]) -> Figure | None:
    """Return the accuracy of runs on the questions that they answered; n is the mean number of these questions."""
    known = [score for score in scores if score.answered is not None and score.right_answered is not None]
    if not known:
        return None
    n = int(fmean(score.answered or 0 for score in known))
    shares = [(score.right_answered or 0.0) / score.answered for score in known if score.answered]
    return figure(Averaged(n, tuple(share * n for share in shares)))


class UsageColumn(NamedTuple):
    """A column of boards: its name in URLs, its heading and its help text. Lower is better, except for shares."""

    name: str
    label: str
    about: str
    is_share: bool = False


COVERAGE = UsageColumn("coverage", "Answered", "Share of the questions with an answer; the others count as wrong", True)
AMONG = UsageColumn(
    "among-answered", "Among answered", "Accuracy on the answered questions only, with their number", True
)
TOKENS = UsageColumn("tokens", "Tokens", "Tokens for each question, of prompt and completion, with all attempts")
COST = UsageColumn("cost", "Cost", "US dollars for 1,000 questions")
LATENCY = UsageColumn("latency", "Latency", "Time until a reply: the median over the questions")
COLUMNS = (COVERAGE, AMONG, TOKENS, COST, LATENCY)


class UsageCell(NamedTuple):
    text: str
    beside: str = ""
    order: float | None = None  # the number by which rows are sorted


class UsageFigures(NamedTuple):
    """The figures of some runs as a board shows them."""

    usage: ReplyUsage
    among: Figure

    def cell(self, column: UsageColumn) -> UsageCell:
        usage, among = self.usage, self.among
        if column == COVERAGE:
            return UsageCell(usage.coverage_text, usage.answered_text, usage.coverage)
        if column == AMONG:
            beside = among.said if among.low is not None else f"n = {among.n:,}"
            return UsageCell(among.points, beside, among.share)
        text: str = getattr(usage, f"{column.name}_text")
        return UsageCell(text, "", getattr(usage, column.name))


def usage_figures(scores: Sequence[Score]) -> UsageFigures | None:
    usage, among = usage_of_scores(scores), accuracy_among_answered(scores)
    return None if usage is None or among is None else UsageFigures(usage, among)


def columns_for(found: Sequence[UsageFigures | None], *, has_replies: bool) -> tuple[UsageColumn, ...]:
    """Return the columns that a board needs: none if no row has replies and every question has an answer."""
    usages = [one.usage for one in found if one is not None]
    if not has_replies and all(one.answered == one.asked for one in usages):
        return ()
    shown = {column for column in COLUMNS[2:] if any(getattr(one, column.name) is not None for one in usages)}
    return (COVERAGE, AMONG, *(column for column in COLUMNS if column in shown))


def dollars(amount: float) -> str:
    # Two decimal places, or two digits of a small amount.
    if amount >= 0.1 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.2g}" if amount >= 0.0001 else "<$0.0001"


def seconds(time: float) -> str:
    return f"{time:.2g} s" if time < 10 else f"{time:,.0f} s"
