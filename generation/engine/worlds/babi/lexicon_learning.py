"""Learning of a lexicon from files in the release's form, in any language, and the English files of the same stories.

The meaning of the English lines is known. A phrase of the other language stands for a word if every line with the
phrase has the word. The rest of a line becomes a sentence of the lexicon.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from generation.engine.errors import BadRecord
from generation.engine.reading.dataset_reader import SplitFiles
from generation.engine.worlds.babi.formats import file_names, split_files
from generation.engine.worlds.babi.formats.release_reader import files_of_tasks
from generation.engine.worlds.babi.formats.story_files import RawStory
from generation.engine.worlds.babi.lexicon import BabiLexicon, Meaning, meaning
from generation.engine.worlds.babi.story_parameters import StoryParameters
from generation.engine.worlds.babi.tasks import BY_NUMBER

TOKEN = re.compile(r"\w+|[^\w\s]")
LONGEST = 4  # tokens of a phrase that stands for a word
COMMON = 0.9  # such a phrase does not begin or end with a token that this share of the other lines has
ROUNDS = 3  # a word within another word is found only after the other word
TELLING = 5  # times a word must be expected in a sentence before its absence counts

Word = tuple[str, str]
"""A class of words, and a plain English word."""


class LineExample(NamedTuple):
    """The meaning of a line, and its text."""

    meant: Meaning
    text: str

    @property
    def words(self) -> dict[str, Word]:
        """The words by role."""
        return {role: (role.rstrip("2"), word) for role, word in self.meant.roles.items()}


class LexiconLearner:
    """Collects stories in two languages, and makes a lexicon of the second one."""

    def __init__(self) -> None:
        self.pairs: Counter[LineExample] = Counter()
        self.answers: dict[str, Counter[str]] = defaultdict(Counter)

    def take(self, english: Iterable[RawStory], other: Iterable[RawStory], *, where: str) -> None:
        """Add the stories of a file; raise `BadRecord` if two stories differ in form."""
        for number, (one, two) in enumerate(_together(english, other, where=where), 1):
            asked = [(question.scope, question.supports) for question in one.questions]
            if len(one.lines) != len(two.lines) or asked != [(each.scope, each.supports) for each in two.questions]:
                raise BadRecord(
                    f"Expected the lines, questions and supporting facts of English, got others in story {number}.",
                    where=where,
                )
            for line, said in zip(one.lines, two.lines, strict=True):
                self._take(line, said)
            for question, its in zip(one.questions, two.questions, strict=True):
                self._take(question.text, its.text)
                for part, spelt in zip(question.answer.split(","), its.answer.split(","), strict=False):
                    if part and spelt:
                        self.answers[part][spelt] += 1

    def _take(self, english: str, said: str) -> None:
        meant = meaning(english)
        if meant is not None and len(set(meant.words)) == len(meant.words):
            self.pairs[LineExample(meant, said)] += 1

    def learned(self) -> BabiLexicon:
        """Return the lexicon; raise `BadRecord` if no sentence could be read."""
        if not self.pairs or not self.answers:
            raise BadRecord("Expected stories and questions in the release's English, got none that can be read.")
        words: dict[str, list[dict[str, str]]] = defaultdict(list)
        ways: dict[str, list[dict[str, Any]]] = defaultdict(list)
        seen: dict[tuple[str, str], set[str]] = defaultdict(set)
        for pair in self.pairs:
            for role, (_, word) in pair.words.items():
                seen[pair.meant.kind, role].add(word)
        for (kind, plain), (times, forms) in sorted(self._patterns().items(), key=lambda found: -found[1][0]):
            tables = {role: _table(words[role.rstrip("2")], own) for role, own in forms.items()}
            only = {
                role: sorted(own)
                for role, own in forms.items()
                if set(own) < seen[kind, role] and times >= TELLING * len(seen[kind, role])
            }
            text = plain
            for role, table in tables.items():
                text = text.replace(f"{{{role}}}", f"{{{role}{table}}}")
            ways[kind].append({"text": text, "times": times, **({"only": only} if only else {})})
        return BabiLexicon.model_validate({"words": words, "sentences": ways, "answers": self._spellings()})

    def _patterns(self) -> dict[tuple[str, str], tuple[int, dict[str, dict[str, str]]]]:
        """Return, for each kind and sentence, how often it occurs, and the words in each role."""
        found: dict[tuple[str, str], tuple[int, dict[str, dict[str, str]]]] = {}
        for pair, places in _find_places(self.pairs).items():
            if set(places) != set(pair.words):
                continue
            text = pair.text
            forms = {role: text[start:end] for role, (start, end) in places.items()}
            for role, (start, end) in sorted(places.items(), key=lambda place: -place[1][0]):
                text = f"{text[:start]}{{{role}}}{text[end:]}"
            times, own = found.get((pair.meant.kind, text), (0, {role: {} for role in forms}))
            for role, form in forms.items():
                own[role].setdefault(pair.words[role][1], form)
            found[pair.meant.kind, text] = (times + self.pairs[pair], own)
        return found

    def _spellings(self) -> dict[str, str]:
        found = {part: spelt.most_common(1)[0][0] for part, spelt in self.answers.items()}
        if all(part == spelt for part, spelt in found.items()):  # English: add rare answers that the files do not have
            rare = (answer for task in BY_NUMBER.values() for answer in task.answers(StoryParameters()))
            found |= {part: part for answer in rare for part in answer.split(",")}
        return found


def _together(
    english: Iterable[RawStory], other: Iterable[RawStory], *, where: str
) -> Iterator[tuple[RawStory, RawStory]]:
    try:
        yield from zip(english, other, strict=True)
    except ValueError as error:
        raise BadRecord("Expected as many stories as in English, got more or fewer.", where=where) from error


def _table(tables: list[dict[str, str]], own: Mapping[str, str]) -> str:
    """Return the suffix that names the table with these words; add them to the first table that does not contradict."""
    for number, table in enumerate(tables):
        if all(table.get(word, form) == form for word, form in own.items()):
            table.update(own)
            return f".{number}" if number else ""
    tables.append(dict(own))
    return f".{len(tables) - 1}" if len(tables) > 1 else ""


Place = tuple[int, int]
"""Where a phrase begins and ends in a text."""


class _Line:
    """A line in which words are searched: its tokens, and the place of each word found."""

    def __init__(self, pair: LineExample) -> None:
        self.pair = pair
        self.spans = [match.span() for match in TOKEN.finditer(pair.text)]
        self.tokens: list[str | None] = [pair.text[start:end] for start, end in self.spans]
        self.found: dict[str, Place] = {}

    @property
    def sought(self) -> dict[str, Word]:
        return {role: word for role, word in self.pair.words.items() if role not in self.found}

    def phrases(self) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield runs of tokens that belong to no word yet: the first position, the one after the last, the tokens."""
        for first in range(len(self.tokens)):
            for end in range(first + 1, min(first + LONGEST, len(self.tokens)) + 1):
                if self.tokens[end - 1] is None:
                    break
                yield first, end, tuple(str(token) for token in self.tokens[first:end])

    def take(self, role: str, first: int, end: int) -> None:
        self.found[role] = (self.spans[first][0], self.spans[end - 1][1])
        self.tokens[first:end] = [None] * (end - first)


def _find_places(pairs: Counter[LineExample]) -> dict[LineExample, dict[str, Place]]:
    """Return the place of each role's word in each line; roles whose words were not found are left out."""
    lines = [_Line(pair) for pair in pairs]
    for _ in range(ROUNDS):
        _locate(lines, pairs)
    return {line.pair: line.found for line in lines}


def _locate(lines: Sequence[_Line], pairs: Mapping[LineExample, int]) -> None:
    """Find words in lines: among the phrases that fit a word only, take the most frequent one, then the longest."""
    total: Counter[tuple[str, tuple[str, ...]]] = Counter()  # lines with a phrase and a class of words
    having: Counter[tuple[Word, tuple[str, ...]]] = Counter()  # of these, lines that still search the word
    tokens: Counter[tuple[str, str]] = Counter()  # lines of a kind with a token
    beside: Counter[tuple[str, Word, str]] = Counter()  # of these, lines with a word
    kinds: Counter[str | tuple[str, Word]] = Counter()  # lines of a kind, and of these, lines with a word
    for line in lines:
        times, kind, words = pairs[line.pair], line.pair.meant.kind, set(line.pair.words.values())
        for phrase in {phrase for _, _, phrase in line.phrases()}:
            total.update(dict.fromkeys(((name, phrase) for name, _ in words), times))
            having.update(dict.fromkeys(((word, phrase) for word in set(line.sought.values())), times))
        own = {token for token in line.tokens if token is not None}
        tokens.update(dict.fromkeys(((kind, token) for token in own), times))
        beside.update(dict.fromkeys(((kind, word, token) for word in words for token in own), times))
        kinds.update(dict.fromkeys((kind, *((kind, word) for word in words)), times))

    def is_edge(kind: str, word: Word, token: str) -> bool:
        others = kinds[kind] - kinds[kind, word]
        return not others or tokens[kind, token] - beside[kind, word, token] < COMMON * others

    for line in lines:
        kind = line.pair.meant.kind
        for role, word in line.sought.items():
            fit = [
                (having[word, phrase], end - first, -first, end)
                for first, end, phrase in line.phrases()
                if having[word, phrase] == total[word[0], phrase]
                and is_edge(kind, word, phrase[0])
                and is_edge(kind, word, phrase[-1])
            ]
            if fit:
                *_, first, end = max(fit)
                line.take(role, -first, end)


def learn(path: Path, *, english: Path | None = None) -> BabiLexicon:
    """Return the lexicon of the release's files; raise `BadRecord` if it cannot be learned.

    Parameters
    ----------
    path : Path
        A folder of the release, also within an archive, or one file.
    english : Path or None
        The English files of the same stories; None for the folder beside it with the release's name for English.
    """
    learner = LexiconLearner()
    other = _splits(path)
    folder = next(iter({part.folder for part in split_files.search([path])}), "")
    if english is None and file_names.language_of(folder) != "english":
        english = path.with_name(path.name.replace(folder.partition("-")[0], file_names.LANGUAGES["english"], 1))
    own = other if english is None else _splits(english)
    for name, split in other.items():
        if name not in own:
            raise BadRecord(f"Expected {name} files in English, too, got none.", where=str(english))
        with ExitStack() as stack:
            theirs = files_of_tasks(split, opened=_open, stack=stack)
            ours = files_of_tasks(own[name], opened=_open, stack=stack)
            for task, stories in theirs.items():
                if task not in ours:
                    raise BadRecord(f"Expected task {task} in English, too, got no file of it.", where=str(english))
                learner.take(ours[task], stories, where=f"{path}, task {task} of {name}")
    return learner.learned()


def _splits(path: Path) -> dict[str, SplitFiles]:
    parts = split_files.choose_files(split_files.search([path]), is_ours=False, where=str(path))
    return {split.name: split for split in split_files.splits(parts, {})}


def _open(name: str) -> BinaryIO:
    return Path(name).open("rb")
