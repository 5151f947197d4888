"""Whether a statement tests anything: each trained method in it must be better than constant answers.

The guesses of a figure are the best constant answer to each type of question, chosen on the same questions. A method
is better if the whole 95 % interval of its figure is above them. It counts where the method is better in at least one
part of the statement: in a fall from one split to another, the method has to be better on the first one only. A
statement that is about a failure names the figures that show that the method has learned, in `learned`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from webapp.leaderboards.findings.definitions import Definition, FindingCell, FindingStatement, SizeName
from webapp.leaderboards.findings.records import RecordedFigure


def unlearned_rows(
    statement: FindingStatement, definition: Definition, size: SizeName, figures: Mapping[str, RecordedFigure]
) -> list[str]:
    """Return the labels of the methods that are not better than guesses, so that the statement is not tested.

    Figures whose guesses are not known, such as those of other metrics than accuracy, are left out.
    """
    cells = {cell.key: cell for table in definition.tables_of(size) for cell in table.cells()}
    parts = [statement.plus, statement.minus] if statement.learned is None else [statement.learned]
    found = defaultdict[str, list[bool]](list)
    for part in parts:
        for label, some in _by_row(part, cells).items():
            known = [figures[name] for name in some if name in figures and figures[name].guess is not None]
            if known:
                found[label].append(fmean(one.low for one in known) > fmean(one.guess or 0.0 for one in known))
    return [label for label, are_better in found.items() if not any(are_better)]


def _by_row(names: Sequence[str], cells: Mapping[str, FindingCell]) -> dict[str, list[str]]:
    """Return the figures of trained methods by the labels of their rows."""
    found = defaultdict[str, list[str]](list)
    for name in dict.fromkeys(names):
        if not cells[name].kind:
            found[cells[name].row.label].append(name)
    return found
