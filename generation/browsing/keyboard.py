"""The table of keyboard shortcuts. Pages name the key on its link (`data-key`), and list their keys."""

from typing import NamedTuple


class Shortcut(NamedTuple):
    key: str  # as browsers name it
    shown: str
    does: str


BROWSE = (
    Shortcut("ArrowRight", "→", "next page"),
    Shortcut("ArrowLeft", "←", "previous page"),
    Shortcut("/", "/", "search the questions"),
    Shortcut("?", "?", "show these keys"),
)
QUESTION = (
    Shortcut("ArrowRight", "→", "next step"),
    Shortcut("ArrowLeft", "←", "previous step"),
    Shortcut("k", "K", "play or pause the program"),
    Shortcut("n", "N", "next question"),
    Shortcut("p", "P", "previous question"),
    Shortcut("b", "B", "back to the list"),
    Shortcut("a", "A", "turn “Ask first” on or off"),
    Shortcut("s", "S", "show the answer"),
    Shortcut("f", "F", "enter or leave the full screen"),
    Shortcut("Escape", "Esc", "leave the full screen"),
    Shortcut("?", "?", "show these keys"),
)
OF_STORY = (Shortcut("l", "L", "show the supporting lines"), *QUESTION)
