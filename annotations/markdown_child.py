"""The child process that turns people's Markdown into clean HTML."""

import json
import re
import sys
from collections.abc import Iterator, Sequence

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = nh3.ALLOWED_TAGS - {"img", "h1"}  # a page has one title, and tells nobody else that it is looked at
MOST_LEVELS = 20  # lists, quotes, emphasis and other parts inside one another
MOST_CELLS = 20_000
MOST_QUOTED = 40_000  # quotes inside one another, times lines: each of them looks at each line that may go on with it
DELIMITERS = " \t|:->"  # what the line below the heads of a table consists of
LARGEST = 150_000  # characters of HTML
QUOTES = re.compile(r"[ \t>]*")  # with which a line of quotes begins
READ_LEVELS = MOST_LEVELS + 2  # the parser leaves out what is deeper, and takes time for each level


def html_of(text: str) -> str:
    """Return Markdown as clean HTML; raise ValueError for what is nested too deep or becomes too long."""
    lines = text.splitlines()
    columns = max((line.count("|") + 1 for line in lines if not line.strip(DELIMITERS)), default=0)
    if columns * len(lines) > MOST_CELLS:  # the parser fills up the rows of a table
        raise ValueError(f"Expected tables of at most {MOST_CELLS:,} cells, columns times lines of the text, got more.")
    quotes = max((_quotes(line) for line in lines), default=0)
    if min(quotes, READ_LEVELS) * len(lines) > MOST_QUOTED:
        raise ValueError(
            f"Expected at most {MOST_QUOTED:,} as quotes inside one another times lines of the text, got more."
        )
    parser = MarkdownIt("commonmark", {"maxNesting": READ_LEVELS}).enable("table")
    parser.validateLink = _is_any  # type: ignore[method-assign,assignment]  # the cleaning knows which may stay
    tokens = parser.parse(text)
    if max(_levels(tokens), default=0) > MOST_LEVELS:
        raise ValueError(
            f"Expected at most {MOST_LEVELS} lists, quotes and other parts of Markdown inside one another, got more."
        )
    body = parser.renderer.render(tokens, parser.options, {})
    if len(body) > LARGEST:
        raise ValueError(
            f"Expected Markdown that becomes at most {LARGEST:,} characters of HTML, got {len(body):,}. "
            "Wide tables become long."
        )
    return nh3.clean(body, tags=TAGS, link_rel="noopener noreferrer")


def _quotes(line: str) -> int:
    begun = QUOTES.match(line)
    return begun[0].count(">") if begun else 0


def _is_any(address: str) -> bool:
    return True


def _levels(tokens: Sequence[Token]) -> Iterator[int]:
    for token in tokens:
        yield token.level
        for inner in token.children or ():
            yield token.level + inner.level


def main() -> None:
    """Read Markdown, and write JSON: the HTML, or why there is none."""
    try:
        answer = {"html": html_of(sys.stdin.buffer.read().decode())}
    except ValueError as error:
        answer = {"refused": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
