"""The child process that renders users' Markdown as sanitised HTML."""

import json
import re
import sys
from collections.abc import Iterator, Sequence

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = nh3.ALLOWED_TAGS - {"img", "h1"}  # a page has one h1, and external images would tell other sites about visitors
MOST_LEVELS = 20  # the most levels of nested lists, quotes, emphasis and other elements
MOST_CELLS = 20_000
MOST_QUOTED = 40_000  # the depth of nested quotes times lines, because the parser checks each quote on each line
DELIMITERS = " \t|:->"  # the characters of the line below a table's header
LARGEST = 150_000  # characters of HTML
QUOTES = re.compile(r"[ \t>]*")  # the beginning of a quoted line
READ_LEVELS = MOST_LEVELS + 2  # the parser needs time for each level, so it skips deeper levels


def html_of(text: str) -> str:
    """Return Markdown as sanitised HTML; raise ValueError if it is nested too deeply or too large."""
    lines = text.splitlines()
    columns = max((line.count("|") + 1 for line in lines if not line.strip(DELIMITERS)), default=0)
    if columns * len(lines) > MOST_CELLS:  # the parser adds empty cells until all rows of a table have this many
        raise ValueError(f"Expected tables of at most {MOST_CELLS:,} cells, columns times lines of the text, got more.")
    quotes = max((_quotes(line) for line in lines), default=0)
    if min(quotes, READ_LEVELS) * len(lines) > MOST_QUOTED:
        raise ValueError(
            f"Expected at most {MOST_QUOTED:,} for the depth of quotes times the lines of the text, got more."
        )
    parser = MarkdownIt("commonmark", {"maxNesting": READ_LEVELS}).enable("table")
    parser.validateLink = _is_any  # type: ignore[method-assign,assignment]  # the sanitiser removes bad links
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
    """Read Markdown from stdin; write JSON with the HTML, or with the reason why there is none."""
    try:
        answer = {"html": html_of(sys.stdin.buffer.read().decode())}
    except ValueError as error:
        answer = {"refused": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
