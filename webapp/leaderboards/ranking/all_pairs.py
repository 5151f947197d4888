"""All pairs of a board's rows, compared on the same questions, and the interval of ranks of each row."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

from generation.engine.scoring import figures
from generation.engine.scoring.ranking.all_pairs import AllPairs, RankInterval, compare_all
from generation.reports.scoring import truth_of
from generation.storage.split_index import open_digest
from webapp.leaderboards.entries import Codes, Contender, Entry, asked_positions, codes_on, people_of

MOST_PAIRED = 60  # rows: they have 1,770 pairs


class RowSource(NamedTuple):
    """The stored predictions of a row: one digest for each run, or that of a human baseline."""

    digests: tuple[str, ...]
    is_human: bool

    def runs(self, index: str) -> list[Codes]:
        if self.is_human:
            return [people_of(digest).predictions for digest in self.digests]
        return [codes_on(digest, open_digest(index)) for digest in self.digests]


def source_of(entry: Entry) -> RowSource:
    if entry.baseline is not None:
        return RowSource((entry.baseline.digest,), True)
    return RowSource(tuple(submission.predictions for submission in entry.submissions), False)


def all_pairs(entries: Sequence[Entry]) -> AllPairs:
    """Return the comparison of every two of at least one entry of a board; the visitor must see exact figures.

    If people are among the entries, only the questions that people were asked count.
    """
    return _compare(entries[0].split.index_digest, tuple(map(source_of, entries)), figures.TOO_FEW)


@functools.lru_cache(maxsize=100)
def _compare(index: str, sources: tuple[RowSource, ...], least: int) -> AllPairs:
    rows = [Contender("", "", one.runs(index), one.is_human) for one in sources]
    runs = [row.runs for row in rows]
    return compare_all(runs, truth_of(open_digest(index)), among=asked_positions(rows), least=least)


def ranked(entries: Sequence[Entry]) -> list[Entry]:
    # People and the site's baselines have no rank.
    return [entry for entry in entries if not (entry.is_human or entry.is_site_baseline or entry.is_deferred)]


def rank_intervals(entries: Sequence[Entry]) -> dict[str, RankInterval]:
    """Return the interval of ranks of each entry that has a rank, by its key; empty if there are too many."""
    found = ranked(entries)
    if not 0 < len(found) <= MOST_PAIRED:
        return {}
    return {entry.key: one for entry, one in zip(found, all_pairs(found).ranks, strict=True)}
