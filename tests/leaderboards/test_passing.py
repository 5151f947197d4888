"""The figures of rows over tasks, compared with counting one by one."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.figures import Averaged
from generation.engine.worlds.breakdowns import Tasks
from tests.worlds.marbles import WORLD as MARBLES
from webapp.leaderboards.ranking.board_rows import PassedTasks, passed_tasks

AT = Fraction(95, 100)
SOME = st.integers(30, 400).flatmap(
    lambda n: st.builds(Averaged, st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=3).map(tuple))
)


@given(st.lists(SOME, min_size=1, max_size=20))
def test_mean_and_failed_are_counted_over_tasks(tasks: list[Averaged]) -> None:
    shares = [sum(Fraction(right, task.n) for right in task.rights) / len(task.rights) for task in tasks]
    found = passed_tasks(tasks, at=AT)
    assert (found.of, found.failed) == (len(tasks), sum(share < AT for share in shares))
    assert found.mean is not None and abs(found.mean - sum(shares) / len(shares)) < 1e-6


@given(st.lists(SOME, max_size=5), st.integers(1, 29))
def test_a_task_with_too_few_questions_hides_all_figures(tasks: list[Averaged], n: int) -> None:
    assert passed_tasks([*tasks, Averaged(n, (n,))], at=AT) == PassedTasks(len(tasks) + 1)


def test_tasks_without_questions_do_not_count() -> None:
    both = [Averaged(100, (95,)), Averaged(100, (94,))]
    assert passed_tasks([*both, Averaged(0, (0,)), Averaged(40, ())], at=AT) == PassedTasks(2, 0.945, 1)
    assert passed_tasks([], at=AT) == PassedTasks(0)


def test_a_mean_share_equal_to_the_target_passes() -> None:
    assert passed_tasks([Averaged(1000, (949, 950, 951))], at=AT).failed == 0
    assert passed_tasks([Averaged(1000, (949, 949, 951))], at=AT).failed == 1


def test_a_world_has_no_tasks_by_default() -> None:
    assert MARBLES.tasks is None
    assert Tasks("type", "task", AT).percent == "95"
