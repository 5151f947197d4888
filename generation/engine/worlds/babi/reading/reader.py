"""A reader of stories: the events of their lines, the antecedents of pronouns, and the answers to questions."""

from collections.abc import Callable, Mapping, Sequence

from generation.engine.worlds.babi.reading import people_and_animals, possession, sentences, spatial_relations
from generation.engine.worlds.babi.reading.possession import Conclusion
from generation.engine.worlds.babi.reading.sentences import PRONOUNS, Event, ParsedQuestion

CONCLUDES: Mapping[str, Callable[..., Conclusion | None]] = {
    "where is": people_and_animals.where_is,
    "where is the thing": possession.where_is_thing,
    "where was": people_and_animals.where_was,
    "where was the thing": possession.where_was_thing,
    "what lies": spatial_relations.what_lies,
    "of what it lies": spatial_relations.of_what_it_lies,
    "what was given": possession.what_was_given,
    "who gave to": possession.who_gave_to,
    "who gave": possession.who_gave,
    "who received": possession.who_received,
    "to whom": possession.to_whom,
    "is in": people_and_animals.is_in,
    "how many": possession.how_many,
    "which": possession.which,
    "afraid of": people_and_animals.afraid_of,
    "colour": people_and_animals.colour,
    "fits": spatial_relations.fits,
    "bigger": spatial_relations.bigger,
    "stands": spatial_relations.stands,
    "path": spatial_relations.path,
    "will go": people_and_animals.will_go,
    "why": people_and_animals.why,
}


class StoryReader:
    """Reads a story.

    Parameters
    ----------
    texts : sequence of str
        The story's lines.

    Attributes
    ----------
    events : list of tuple of Event
        The events of each line; empty if the line cannot be read.
    antecedents : list of int or None
        For each line with a pronoun, the line that names whom it means.
    unread : list of int
        The lines that cannot be read.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.events: list[tuple[Event, ...]] = []
        self.antecedents: list[int | None] = []
        self.unread: list[int] = []
        self._last_named: tuple[int, tuple[str, ...]] | None = None
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
            assert self._last_named is not None
            self.events.append(
                tuple((event[0], who, *event[2:]) for who in self._last_named[1] for event in said.events)
            )
            self.antecedents.append(self._last_named[0])
        else:
            self.events.append(said.events)
            self.antecedents.append(None)
            self._last_named = (line, said.who) if said.who else self._last_named

    def _is_meant(self, pronoun: str) -> bool:
        return self._last_named is not None and (len(self._last_named[1]) > 1) == (pronoun == "they")

    def answer(self, asked: ParsedQuestion, scope: int | None = None) -> Conclusion | None:
        """Return the conclusion for a question from the first `scope` lines, or None if there is none."""
        found = CONCLUDES[asked.kind](self._facts(scope), *asked.about)
        return None if found is None else found._replace(lines=self._with_antecedents(found.lines))

    def others(self, asked: ParsedQuestion, scope: int | None = None) -> list[Conclusion]:
        """Return other possible conclusions if a question does not say that the last gift counts."""
        return possession.earlier_gifts(self._facts(scope), *asked.about) if asked.kind == "what was given" else []

    def orders(self, asked: ParsedQuestion, lines: Sequence[int], scope: int | None = None) -> bool:
        """Return whether the facts of these lines form a chain that answers a question about sizes."""
        if asked.kind not in ("fits", "bigger"):
            return False
        one, other = asked.about
        return spatial_relations.ordered_by(self._facts(scope), one, other, lines)

    def is_contradicted(self, asked: ParsedQuestion, scope: int | None = None) -> bool:
        """Return whether a question asks for a colour of which the animals of the species have several."""
        return asked.kind == "colour" and len(people_and_animals.colours_of_kind(self._facts(scope), *asked.about)) > 1

    def _facts(self, scope: int | None) -> list[tuple[int, Event]]:
        count = len(self.events) if scope is None else scope
        return [(line, event) for line, events in enumerate(self.events[:count]) for event in events]

    def _with_antecedents(self, lines: Sequence[int]) -> tuple[int, ...]:
        whole: list[int] = []
        for line in lines:
            antecedent = self.antecedents[line]
            whole += [line] if antecedent is None else [antecedent, line]
        return tuple(dict.fromkeys(whole))
