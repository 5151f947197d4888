"""The answers that sentences name, and the one that a sentence asserts as a whole."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from generation.engine.replies.assertions import (
    AMOUNT,
    CARRIED,
    COLON,
    COUNTED,
    DESCRIBED,
    FILLERS,
    HAS,
    INVERSE,
    MOVED,
    NEGATIVE,
    OUT_OF,
    PATTERNS,
    REASON_TAIL,
    REASONED,
    SEEN,
    STATED,
    STATED_LAST,
    SUBJECT_WORDS,
    VERB,
    Phrase,
    phrases_of,
    statements_in,
    stripped_sentence,
)
from generation.engine.replies.characters import words_of
from generation.engine.replies.counted_things import count_of_things, has_no_things, is_number_of_things
from generation.engine.replies.statements import (
    DETERMINER,
    EMPTY_HANDED,
    EXISTENCE,
    GONE,
    LEAD_IN,
    NONE_EXISTS,
    OPEN_DENIAL,
    PLACE,
    THINGS,
    TRUE,
    TRUE_THAT,
    UNTRUE,
    bare,
    denied_parts,
    is_asserted,
)
from generation.engine.replies.vocabulary import NUMBERS, OUTSIDE, AnswerVocabulary, ComposedAnswers, plain

LONGEST_SENTENCE = 600  # characters of a sentence that may assert an answer
REMEMBERED = 10_000  # the most cached replies, and the most cached sentences
WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:[-']\w+)*")
NUMERIC = re.compile(r"\d[\d.,'-]*")
NO_NUMBER_ALONE = re.compile(r"(?<![\w.])[-−.](?=\d)|[<>≤≥]=? ?(?=\d)|\d ?%|\d\+(?! ?\d)")
TENS = "thirty forty fifty sixty seventy eighty ninety dozen hundred thousand million billion"
NUMBER_WORDS = frozenset(f"{NUMBERS} {TENS}".split())
BEFORE_ONE = words_of(
    "is are was only exactly just see count find has have of holds carries carrying there's be so total contains shows "
    "or and to gives makes precisely"
)
PRONOUN = re.compile(
    "".join(rf"(?<!\b{word} )" for word in sorted(BEFORE_ONE))
    + r"(?<=\w )one\b|\bone(?= (?:fewer|more|less|of|another|or two|or more)\b)"
)
"""The word one that is no number: `the red one`, `upload one`."""
ARITHMETIC = re.compile(
    r"(?:[\d\s+*×x().,-]{2,80}|(?:\d{1,4}(?: \w{1,20}){0,3} ?\+ ?){1,20}\d{1,4}(?: \w{1,20}){0,3} ?)"
    rf"(?:=|gives|makes|equals) ?(\d{{1,6}})(?: (?:{'|'.join(sorted(THINGS))}))*(?: (?:altogether|in total|in all))?"
)
BEFORE = re.compile(r"^before (?:\w+ ){0,4}the (\w+), (?=\w)|(?<=\w) before (?:\w+ ){0,4}the (\w+)$")
"""What came after the answer: `before the office, it was in the kitchen`."""
TRUTHS = ("yes", "no", "maybe")
PHRASE = re.compile(r"[\w\s'\".,&/-]+")
RELATIVE = re.compile(
    r" (?:that|which|who|of (?:them|those|these)|matching|meeting|with|(?:in|on)(?! (?:each|every)\b)|either)\b"
)
NUMBERED = re.compile(r"^(?!\w+$)[a-z][a-z -]* #?\d+$|\b(?:colou?rs|sizes|kinds|materials|textures|surfaces|lights)\b")
"""The number of a thing, as in `figure 2`, and numbers of what nobody counts: `8 colors`."""
OWNER = re.compile(r"^\w+'s (?=\w)|\b\w+(?= (?:is|was) (?:carrying|holding)\b)")
KIND_OF = re.compile(r" are\b| an? ")
"""What tells the kind of a name, or is about a kind: `Lily is a swan`, `swans are white`."""
ATTRIBUTE = re.compile(r"\b(?:colou?r|shape|size|material|texture|place|location|path)\b")
WITHOUT = re.compile(r"(?:none|nothing|maybe|no|yes)$")
TRUTH_OF = re.compile(
    r"\s*(?:it|this|that|(?:the|this|that|your) (?:\w+ )?(?:caption|statement|claim|sentence|description|assertion|"
    r"answer))\b[\w' ]{0,20}$"
)
CLAUSES = re.compile(
    r";|, (?:but|while|whereas)\b|, (?:and|so)\b| so (?=(?:no|yes)\b)| - |–|—|, (?=(?:it|he|she|they|this|that|the)\b)|"
    r"(?:,| and) (?=(?!who\b|which\b|that\b)\w+ (?:is|was|went|moved|travell?ed|journeyed|walked|looks|stays)\b)|"
    r", (?=(?!who\b|which\b|that\b)\w+ are\b)| and (?=they are\b)"
)
BROKEN_END = re.compile(r"\b(?:the|an|and|or)$")
WRONG_ASIDE = re.compile(
    r"\((?:wrong|incorrect|false|not|no|guess\w*|just|joke|kidding|example|sample)\b[^()]{0,30}\)|"
    r"^\W*(?:(?:the|my|final) )*(?:answer|colou?r|shape|size|material|count|number)[ *]*[(\[]"
    r"(?!(?:final|short|one[- ]word|single[- ]word|yes[/ ]|word|an? |in |number|integer|english))"
    r"[^()\[\]]{1,40}[)\]] ?:"
)
"""What takes an answer or a label back: `red (just kidding)`, `Answer (wrong): red`."""
ARTICLES = re.compile(r"\b(?:the|an?|both|only|just|still)\b ?")
INFORMAL = {"nope": "no", "nah": "no", "yep": "yes", "yeah": "yes", "yup": "yes"}


class NamedAnswers(NamedTuple):
    """The codes of all answers that a sentence names, and of those that it denies; whether it has another number.

    An answer is denied after a negation or comparison, or before a denial: `not red`, `more than 3`, `red is wrong`.
    Another number is one that is no answer: `3 or 12`, `twenty-three`, `-3`. Then no number of the text is an answer.
    """

    codes: frozenset[int]
    denied: frozenset[int]
    has_other_number: bool


class SentenceReader:
    """Reads sentences; `admitted` has the codes of the possible answers to each kind of question."""

    def __init__(self, vocabulary: AnswerVocabulary, admitted: Sequence[Iterable[int]]) -> None:
        self.vocabulary = vocabulary
        self.admitted = tuple(frozenset(codes) for codes in admitted)
        self.given: dict[tuple[str, int], int | None] = {}  # what sentences assert
        self.numbers = frozenset(code for way, code in vocabulary.ways.items() if way.lstrip("+-").isdecimal())
        self.words = {way: code for way, code in vocabulary.ways.items() if WORD.fullmatch(way)}
        self.phrases = sorted((way for way in vocabulary.ways if way not in self.words and way), key=len, reverse=True)
        self.nouns = THINGS | FILLERS | {part for way in vocabulary.ways for part in WORD.findall(way)}
        self.truths = tuple(
            codes <= {self.vocabulary.ways.get(one, OUTSIDE) for one in TRUTHS} for codes in self.admitted
        )
        self.counts = tuple(bool(codes & self.numbers) for codes in self.admitted)
        self.has_truths_alone = set(vocabulary.answers) <= set(TRUTHS)
        self.has_counts_alone = all(answer.isdecimal() for answer in vocabulary.answers)
        self.zero = vocabulary.exact.get("0", OUTSIDE)
        self.no = vocabulary.ways.get("no", OUTSIDE)
        self.maybe = vocabulary.ways.get("maybe", OUTSIDE - 1)
        self.informal = {way: vocabulary.ways[meant] for way, meant in INFORMAL.items() if meant in vocabulary.ways}
        self.words.update({way: code for way, code in self.informal.items() if way not in self.words})

    def _answer(self, said: str, kind: int) -> int:
        """Return the code of a text that is a possible answer to a question of a kind."""
        arithmetic = ARITHMETIC.fullmatch(said)
        code = self.vocabulary.code(said if arithmetic is None else arithmetic[1])
        if code in self.admitted[kind]:
            return code
        small = plain(said)
        composed = self._composed(kind)
        code = self.informal.get(small, OUTSIDE) if composed is None else composed.code(small)
        return code if code in self.admitted[kind] else OUTSIDE

    def _given(self, sentence: str, kind: int) -> int | None:
        """Return the code of the answer that a sentence asserts, `OUTSIDE` if it asserts several; None without one."""
        if (sentence, kind) not in self.given:
            if len(self.given) > REMEMBERED:
                self.given.clear()
            self.given[sentence, kind] = self._compute_given(sentence, kind)
        return self.given[sentence, kind]

    def _compute_given(self, sentence: str, kind: int) -> int | None:
        if len(sentence) > LONGEST_SENTENCE or OPEN_DENIAL.search(sentence):
            return None
        if not is_asserted(sentence, doubts=not self._has_maybe(kind)):
            return None
        if WRONG_ASIDE.search(sentence) or BROKEN_END.search(sentence):
            return None
        said = stripped_sentence(self._without_next_place(sentence, kind))
        found: set[int] = set()
        for clause in (said,) if self.truths[kind] else CLAUSES.split(said):
            code = self._clause(stripped_sentence(clause), kind, sentence)
            if code is not None:
                found.add(code)
            elif found and (GONE.search(clause) or self._names_other(clause, found, kind)):
                return OUTSIDE
        return None if not found else found.pop() if len(found) == 1 else OUTSIDE

    def _names_other(self, clause: str, found: Collection[int], kind: int) -> bool:
        """Return whether a clause names another answer than those that are found, apart from places and reasons."""
        named = self.named(PLACE.sub(" ", clause))
        return bool((named.codes - named.denied) & self.admitted[kind] - set(found))

    def _without_next_place(self, sentence: str, kind: int) -> str:
        """Return a sentence without the place that somebody went to next: `before the office`."""
        said = bare(sentence)
        found = BEFORE.search(said)
        is_place = found is not None and self._answer(found[1] or found[2], kind) != OUTSIDE
        return BEFORE.sub("", said) if is_place else sentence

    def _clause(self, clause: str, kind: int, sentence: str) -> int | None:
        """Return the code of the answer that a clause of a sentence asserts."""
        if self._composed(kind) is not None:
            return None  # `ComposedReader` reads lists
        if self.truths[kind]:
            claims = {self._claim(one) for one in CLAUSES.split(clause)} & self.admitted[kind]
            if claims:
                return claims.pop() if len(claims) == 1 else OUTSIDE
        if self.zero in self.admitted[kind] and (
            EXISTENCE.match(clause) or (self.has_counts_alone and has_no_things(clause))
        ):
            return self.zero
        if EMPTY_HANDED.fullmatch(clause):
            return self._nothing(kind)
        patterns = (*PATTERNS, COUNTED, DESCRIBED) if self.counts[kind] else PATTERNS
        for core, tail, is_after_colon in statements_in(clause):
            for phrase in phrases_of(core, patterns):
                if phrase.subject and not self._is_subject(phrase, kind):
                    continue
                if (phrase.pattern is HAS and self.has_counts_alone) or (
                    phrase.pattern is CARRIED and self.zero in self.admitted[kind]
                ):
                    continue  # parts of a thing: `the dog has 4 legs`, `CLEVR has 3 shapes`
                if is_after_colon and not phrase.rest.strip():
                    continue  # a bare answer after an unknown label, such as `Score: 3`
                code = self._phrase(phrase.text, kind)
                if code != OUTSIDE:
                    return code if self._is_whole(code, phrase, core, tail, kind, sentence) else OUTSIDE
        return None

    def _nothing(self, kind: int) -> int | None:
        """Return the code of the answer that nobody carries anything; None if there is none."""
        code = self._answer("none", kind)
        return None if code == OUTSIDE else code

    def _is_subject(self, phrase: Phrase, kind: int) -> bool:
        """Return whether a subject is a phrase of known words for things, or a name; a name is of no kind."""
        subject = phrase.subject
        if VERB.search(subject) or (self.counts[kind] and not AMOUNT.search(subject)):
            return False
        if subject in ("he", "she") and KIND_OF.search(f"{phrase.rest} {phrase.text}"):
            return False
        if self.has_counts_alone and is_number_of_things(subject):
            return True
        words = WORD.findall(OWNER.sub(" ", subject).replace("-", " ").replace("'s", ""))
        strange = [word for word in words if word not in SUBJECT_WORDS and not self._is_noun(word)]
        is_name = len(words) == 1 and strange == words
        return not strange or (is_name and not KIND_OF.search(f"{phrase.rest} {phrase.text}"))

    def _claim(self, clause: str) -> int:
        """Return the code of yes or no for a clause about existence or a caption: `there is no such object`."""
        if EXISTENCE.match(clause) or UNTRUE.match(clause) or NONE_EXISTS.fullmatch(clause):
            return self.no
        is_true = TRUE.match(clause) or (self.has_truths_alone and TRUE_THAT.match(clause))
        return self.vocabulary.ways.get("yes", OUTSIDE) if is_true else OUTSIDE

    def _is_whole(self, code: int, phrase: Phrase, core: str, tail: str, kind: int, sentence: str) -> bool:
        """Return whether the rest of a sentence leaves an answer as it is."""
        is_number = code in self.numbers
        if is_number and phrase.pattern is COLON and ATTRIBUTE.search(phrase.rest):
            return False
        if phrase.pattern is MOVED and OUT_OF.search(core):
            return False
        if phrase.pattern is SEEN and ", but" in sentence:
            return False
        if self.truths[kind] and phrase.pattern is not None and not TRUTH_OF.match(phrase.rest):
            return False
        others = self.admitted[kind] - {code}
        if phrase.pattern not in (STATED, STATED_LAST, REASONED, INVERSE) and self.named(phrase.rest).codes & others:
            return False
        if is_number and tail.startswith(":") and self._sum_of(tail) == self.vocabulary.answers[code]:
            return True
        reason = REASON_TAIL.match(tail)
        if phrase.pattern is None and tail and reason is None and WITHOUT.match(core):
            return False
        if reason is not None:
            return self._clause(tail[reason.end() :].strip(), kind, sentence) in (None, code)
        return not self.named(tail).codes & others

    def _sum_of(self, text: str) -> str:
        """Return the sum of the numbers in a text: `one red, one blue and 2 green ones`."""
        found = (self.vocabulary.code(word) for word in WORD.findall(PRONOUN.sub(" ", text)))
        return str(sum(int(self.vocabulary.answers[code]) for code in found if code in self.numbers))

    def _phrase(self, phrase: str, kind: int) -> int:
        """Return the code of the only answer in a phrase of words for things; `OUTSIDE` for other phrases."""
        said = bare(phrase)
        code = OUTSIDE if said in self.vocabulary.bits else self._answer(" ".join(ARTICLES.sub("", said).split()), kind)
        if code != OUTSIDE or self.truths[kind]:
            return code
        if self.counts[kind]:
            said = RELATIVE.split(said)[0]
            if NUMBERED.search(said):
                return OUTSIDE
            count = count_of_things(bare(phrase)) if self.has_counts_alone else None
            if count is not None:
                return self._answer(count, kind)
        if PHRASE.fullmatch(said) is None or NEGATIVE.search(said):
            return OUTSIDE
        if not all(self._is_noun(word) for word in WORD.findall(said.replace("-", " ").replace("'s", ""))):
            return OUTSIDE
        named = self.named(said)
        codes = named.codes & self.admitted[kind]
        is_unclear = len(codes) != 1 or (named.has_other_number and codes & self.numbers)
        return OUTSIDE if is_unclear else next(iter(codes))

    def _without_lead(self, said: str, kind: int) -> str:
        """Return a text without words such as `it is`, and without `color` or `size` unless it is about a number."""
        lead = LEAD_IN.match(said)
        if lead is None or (self.counts[kind] and ATTRIBUTE.search(lead[0])):
            return said
        return bare(said[lead.end() :])

    def _is_noun(self, word: str) -> bool:
        return word in self.nouns or word.rstrip("s") in self.nouns or plain(word) in self.nouns

    def _has_maybe(self, kind: int) -> bool:
        return self.maybe in self.admitted[kind]

    def _composed(self, kind: int) -> ComposedAnswers | None:
        return self.vocabulary.composed[kind] if self.vocabulary.composed else None

    def named(self, text: str) -> NamedAnswers:
        """Return the answers that occur in a text as whole words; a longer phrase hides a shorter one."""
        said = plain(text)
        denied = denied_parts(said)
        if self.no != OUTSIDE:
            said = TRUE.sub(" yes ", UNTRUE.sub(" no ", EXISTENCE.sub(" no. ", said)))
            said = DETERMINER.sub(" ", said) if "no " in said else said
        codes, has_other_number = self._search(said)
        return NamedAnswers(codes, self._search(denied)[0] if denied else frozenset(), has_other_number)

    def _search(self, said: str) -> tuple[frozenset[int], bool]:
        """Return the codes of the answers in a plain text, and whether it has a number that is no answer."""
        found = set()
        if self.numbers and "one" in said:
            said = PRONOUN.sub(" ", said)
        for phrase in self.phrases:
            if phrase in said:
                rest = re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", _blank_unless_it_goes_on, said)
                found |= {self.vocabulary.ways[phrase]} if rest != said else set()
                said = rest
        words = {word[0] for word in WORD.finditer(said) if said.isascii() or not _goes_on(word)}
        parts = {part for word in words for part in _parts(word)}
        codes = frozenset(found | {self.words[word] for word in (words | parts) & self.words.keys()})
        return codes, NO_NUMBER_ALONE.search(said) is not None or any(map(_is_number, parts - self.words.keys()))


def _goes_on(word: re.Match[str]) -> bool:
    r"""Return whether a word goes on with a mark, such as a vowel of Hindi, which `\w` does not match."""
    return unicodedata.category(word.string[word.end() : word.end() + 1] or " ").startswith("M")


def _blank_unless_it_goes_on(phrase: re.Match[str]) -> str:
    return phrase[0] if _goes_on(phrase) else " "


def _parts(word: str) -> Sequence[str]:
    """Return the parts of a compound word, as in `sphere-shaped` and `cube's`; a decimal number is a single part."""
    if word.isalnum() or word.startswith("non-"):
        return (word,)
    return (plain(word),) if word[:1].isdigit() else re.split(r"[-']", word)


def _is_number(word: str) -> bool:
    return word in NUMBER_WORDS or NUMERIC.fullmatch(word) is not None
