"""Pages of a list: which part is shown, and the numbers below it."""

from typing import NamedTuple

from generation.splits.filters import Query

PER_PAGE = 50
AROUND = 2  # page numbers shown on each side of this one


class NoSuchPage(Exception):
    """The page lies past the end; the text says where that is."""


class PageLink(NamedTuple):
    """A page's number and address; no number where some are left out."""

    number: int | None
    address: str
    current: bool


class Page(NamedTuple):
    """A part of a list: `start` and `stop` as slices have them, `total` how long the list is."""

    number: int
    pages: int
    start: int
    stop: int
    total: int
    links: list[PageLink]
    previous: str
    next: str

    @property
    def first(self) -> int:
        """Return the place of the first entry, counted from 1; 0 where there is none."""
        return self.start + 1 if self.total else 0


def page_of(query: Query, total: int, *, size: int = PER_PAGE, of: str = "questions") -> Page:
    """Return the page that a query asks for, of `total` entries called `of`; an empty list has one page.

    Raises
    ------
    NoSuchPage
        If the list ends before it.
    """
    pages = max(1, -(-total // size))
    number = query.page
    if number > pages:
        raise NoSuchPage(f"Expected a page from 1 to {pages:,}, got {number:,} ({of}: {total:,}).")
    start = (number - 1) * size
    return Page(
        number=number,
        pages=pages,
        start=start,
        stop=min(start + size, total),
        total=total,
        links=_links(query, pages),
        previous=query.on_page(number - 1).address if number > 1 else "",
        next=query.on_page(number + 1).address if number < pages else "",
    )


def _links(query: Query, pages: int) -> list[PageLink]:
    """Return the first page, the last, this one and some around it, with gaps between."""
    near = range(query.page - AROUND, query.page + AROUND + 1)
    shown = sorted({1, pages, *(number for number in near if 1 <= number <= pages)})
    links: list[PageLink] = []
    for number in shown:
        if links and links[-1].number != number - 1:
            links.append(PageLink(None, "", False))
        links.append(PageLink(number, query.on_page(number).address, number == query.page))
    return links
