"""A slow twin of the table of pairs with given shares of subjects and objects."""

from generation.engine.worlds.simtown.frequencies import Marginals


def slow_pair_table(found: Marginals) -> list[list[float]]:
    """Return the table by plain loops: rows and columns are scaled in turn."""
    count = len(found.subjects)
    table = [
        [0.0 if row == column else found.subjects[row] * found.objects[column] for column in range(count)]
        for row in range(count)
    ]
    for _ in range(5_000):
        worst = 0.0
        for row in range(count):
            total = sum(table[row])
            worst = max(worst, abs(total - found.subjects[row]))
            for column in range(count):
                table[row][column] *= found.subjects[row] / total if total else 0.0
        for column in range(count):
            total = sum(table[row][column] for row in range(count))
            for row in range(count):
                table[row][column] *= found.objects[column] / total if total else 0.0
        if worst < 1e-13:
            break
    return table
