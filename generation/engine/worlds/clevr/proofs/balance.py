"""A replay of the balance of answers: what each family had answered in a chunk before each question."""

from collections import Counter

from generation.engine.language.families import Family
from generation.engine.worlds.clevr.spec import QuestionParameters


class Balance:
    """Counts of the answers of a chunk's families. Questions of one scene are counted together, by `settle`.

    Parameters
    ----------
    parameters : QuestionParameters
    strict : bool
        Whether relations may be idle only in a limited share of each family's questions.
    """

    def __init__(self, parameters: QuestionParameters, *, strict: bool) -> None:
        self.parameters, self.strict = parameters, strict
        self.answers: dict[int, Counter[str]] = {}
        self.idle: Counter[int] = Counter()
        self._now: list[tuple[int, str, bool]] = []

    def refusal(self, family: Family, answer: str, *, is_idle: bool) -> str:
        """Return why a family may not give this answer now, or an empty string. The answer is counted in both cases."""
        self._now.append((family.number, answer, is_idle))
        counts = self.answers.setdefault(family.number, Counter())
        so_far = [counts[one] for one in family.answers]
        rules, count = self.parameters.balance, counts[answer]
        second = sorted(so_far)[-2] if len(so_far) > 1 else 0
        if count > rules.ratio * second:
            return f"an answer given at most {rules.ratio:g} times as often as the second most frequent ({second})"
        middle = max(sorted(so_far)[len(so_far) // 2], rules.median_floor)
        if count > rules.median_ratio * middle:
            return f"an answer given at most {rules.median_ratio:g} times as often as the median ({middle})"
        used = counts.total()
        if self.strict and is_idle and self.idle[family.number] + 1 > self.parameters.trivial_share * (used + 1):
            share = f"{100 * self.parameters.trivial_share:g} %"
            return f"relations that are idle in at most {share} of a family's questions"
        return ""

    def settle(self) -> None:
        """Count the questions of one scene."""
        for family, answer, is_idle in self._now:
            self.answers[family][answer] += 1
            self.idle[family] += is_idle
        self._now = []
