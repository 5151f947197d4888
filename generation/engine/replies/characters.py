"""Characters of replies: other forms of letters, digits and quotation marks become the plain ones."""

import html
import re
import unicodedata

INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\u20e3\ufeff")
DIRECTIONS = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
QUOTES = {"‘": "'", "’": "'", "‚": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
BREAKS = frozenset("\r\x0b\x0c\x85\u2028\u2029")
FULL_WIDTH = range(0xFF01, 0xFF5F)
STOPS = {"。": ". ", "、": ", ", "，": ", ", "；": "; "}

SYMBOLS = re.compile(
    "[✗✘☒❌❎✖☐☑✓✔🚫👎👍❓⛔]|~~|</?(?:s|del|strike|unk)>|\\[[ xX]\\]\\s*\\w|(?:^|\\s)(?:!=?|~|≠)\\s?\\w|←|\\[MASK\\]"
)

CROSSED, DOUBTED = "⊗", "⊘"  # a cross and a sign of doubt after `with_crosses`; no answer has them
CROSSES = re.compile("[✗✘☒❌❎✖🚫👎⛔]")
DOUBTS = re.compile("[❓❔🤷🤔]")
STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(del|strike)>.{0,200}?</\1>", re.IGNORECASE | re.DOTALL)
NOT_SIGN = re.compile(r"(?:(?<=[\s:(])|^)(?:!=?|¬|≠|~(?=[^\W\d])) ?(?=\w)", re.MULTILINE)


class _Plain(dict[int, str]):
    """The plain form of each character, by its number, as `str.translate` needs it."""

    def __missing__(self, number: int) -> str:
        self[number] = found = _plain(chr(number))
        return found


def _plain(character: str) -> str:
    if character in INVISIBLE or character in DIRECTIONS:
        return ""
    if character in BREAKS:
        return "\n"
    if character in STOPS or character in QUOTES:
        return STOPS.get(character) or QUOTES[character]
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if ord(character) > 0x2000 and unicodedata.category(character) in ("So", "Sk"):
        return " "  # such as an emoji
    narrow = unicodedata.normalize("NFKC", character)
    is_letter = len(narrow) == 1 and unicodedata.category(character) in ("Ll", "Lu")
    return narrow if narrow.isascii() and (is_letter or ord(character) in FULL_WIDTH) else character


_PLAIN = _Plain()


def plain_characters(text: str) -> str:
    """Return a text with plain letters, digits, quotation marks and line breaks, and without invisible characters."""
    if "&" in text:
        text = html.unescape(text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(_PLAIN))


def with_crosses(text: str) -> str:
    """Return a text without what is struck out, with plain signs.

    All crosses become one sign, and so do all signs of doubt such as `🤷`; `!`, `≠` and `~` before a word become `not`.
    """
    if not text.isascii():
        text = DOUBTS.sub(DOUBTED, CROSSES.sub(CROSSED, text))
    return NOT_SIGN.sub(" not ", STRUCK.sub(" ", text))


def has_crosses(text: str) -> bool:
    """Return whether a text has a cross or a sign of doubt: `red ❌`."""
    return CROSSES.search(text) is not None or DOUBTS.search(text) is not None


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text with single spaces."""
    return frozenset(text.split())


def has_symbols(text: str) -> bool:
    """Return whether a text ticks or crosses out what it lists: `apple ✓, fig ✗`, `~~apple~~`, `[x] apple`."""
    return SYMBOLS.search(text) is not None
