"""A reader of stories: what their lines tell, whom pronouns mean, and what follows for a question."""

from collections.abc import Callable, Mapping, Sequence

from generation.engine.worlds.babi.reading import carried, known, placed, sentences
from generation.engine.worlds.babi.reading.carried import Concluded
from generation.engine.worlds.babi.reading.sentences import PRONOUNS, Event, ParsedQuestion

CONCLUDES: Mapping[str, Callable[..., Concluded | None]] = {
    "where is": known.where_is,
    "where is the thing": carried.where_is_thing,
    "where was": known.where_was,
    "where was the thing": carried.where_was_thing,
    "what lies": placed.what_lies,
    "of what it lies": placed.of_what_it_lies,
    "what was given": carried.what_was_given,
    "who gave to": carried.who_gave_to,
    "who gave": carried.who_gave,
    "who received": carried.who_received,
    "to whom": carried.to_whom,
    "is in": known.is_in,
    "how many": carried.how_many,
    "which": carried.which,
    "afraid of": known.afraid_of,
    "colour": known.colour,
    "fits": placed.fits,
    "bigger": placed.bigger,
    "stands": placed.stands,
    "path": placed.path,
    "will go": known.will_go,
    "why": known.why,
}


class StoryReader:
    """Reads a story.

    Parameters
    ----------
    texts : sequence of str
        Its lines.

    Attributes
    ----------
    events : list of tuple of Event
        What each line tells; nothing where it can't be read.
    antecedents : list of int or None
        For each line with a pronoun the line that says whom it means.
    unread : list of int
        The lines that can't be read.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.events: list[tuple[Event, ...]] = []
        self.antecedents: list[int | None] = []
        self.unread: list[int] = []
        self._named: tuple[int, tuple[str, ...]] | None = None
        for line, text in enumerate(texts):
            self._read(line, text)

    def _read(self, line: int, text: str) -> None:
        said = sentences.statement(text)
        is_pronoun = said is not None and said.who[:1] and said.who[0] in PRONOUNS
        if said is None or (is_pronoun and not self._is_meant(said.who[0])):
            self.unread.append(line)
            self.events.append(())
            self.antecedents.append(None)
        elif is_pronoun:
            assert self._named is not None
            self.events.append(tuple((event[0], who, *event[2:]) for who in self._named[1] for event in said.events))
            self.antecedents.append(self._named[0])
        else:
            self.events.append(said.events)
            self.antecedents.append(None)
            self._named = (line, said.who) if said.who else self._named

    def _is_meant(self, pronoun: str) -> bool:
        """Return whether those who were named last may be meant: several by `they`, one by `he` and `she`."""
        return self._named is not None and (len(self._named[1]) > 1) == (pronoun == "they")

    def answer(self, asked: ParsedQuestion, scope: int | None = None) -> Concluded | None:
        """Return what follows for a question from the first lines of the story; None where nothing does."""
        found = CONCLUDES[asked.kind](self._told(scope), *asked.about)
        return None if found is None else found._replace(lines=self._with_antecedents(found.lines))

    def others(self, asked: ParsedQuestion, scope: int | None = None) -> list[Concluded]:
        """Return what else may be meant where a question does not say that the last time counts."""
        return carried.earlier_gifts(self._told(scope), *asked.about) if asked.kind == "what was given" else []

    def orders(self, asked: ParsedQuestion, lines: Sequence[int], scope: int | None = None) -> bool:
        """Return whether the facts of some lines, chained, answer a question about sizes."""
        if asked.kind not in ("fits", "bigger"):
            return False
        one, other = asked.about
        return placed.ordered_by(self._told(scope), one, other, lines)

    def is_contradicted(self, asked: ParsedQuestion, scope: int | None = None) -> bool:
        """Return whether a colour is asked for where animals of the kind have several."""
        return asked.kind == "colour" and len(known.colours_of_kind(self._told(scope), *asked.about)) > 1

    def _told(self, scope: int | None) -> list[tuple[int, Event]]:
        count = len(self.events) if scope is None else scope
        return [(line, event) for line, events in enumerate(self.events[:count]) for event in events]

    def _with_antecedents(self, lines: Sequence[int]) -> tuple[int, ...]:
        whole: list[int] = []
        for line in lines:
            antecedent = self.antecedents[line]
            whole += [line] if antecedent is None else [antecedent, line]
        return tuple(dict.fromkeys(whole))
