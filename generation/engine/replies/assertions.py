r"""Sentences that assert an answer: a small grammar of whole sentences.

A sentence asserts an answer only as a whole: `Red.`, `A red cube.`, `It is red.`, `The ball behind the cube is red.`,
`There are 3 cubes.`, `Mary is in the kitchen.`, `Go north and then west.` What a sentence says besides (a place, a
reason, an aside) is left out first. Every other sentence that has an answer word, such as `The background is red.` or
`It took 3 seconds.`, asserts nothing. /docs/predictions/#free-text has the table.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from generation.engine.replies.characters import words_of
from generation.engine.replies.statements import CONTRAST, PARENTHESES, PLACE, THINGS, bare

FILLERS = words_of(
    "a an the its of such very quite rather bright dark deep light solid single only exactly other visible different "
    "colored coloured shaped sized color colour shape size material kind made them those these just "
    "matching distinct separate total shade hue surface finish texture look looking object's object"
)
LEAD = re.compile(
    r"(?:(?:in (?:the|this) (?:image|picture|photo|scene)(?= (?:there|i|we|you)\b)|"
    r"no doubt(?: about it)?|without (?:a |any )?doubt|so yes|sure thing|sure|ok|okay|well|hmm|so|thus|hence|"
    r"therefore|of course|certainly|absolutely|indeed|overall|finally|clearly|"
    r"obviously|in (?:conclusion|summary|short)|to conclude|consequently|accordingly|then|now|and|but|also|"
    r"probably|likely|"
    r"most likely|apparently|here|great|alright|all right|answer|result|"
    r"(?:i|we) (?:(?:can|do|also|would|'d|could) )?(?:think|believe|say|guess|conclude|suppose|see|know|find|tell)(?: "
    r"that)?(?= (?:it|the|there|that|this|he|she|they|its|both|all)\b)|"
    r"i(?:'m| am) (?:\w+ )?(?:sure|confident|certain)(?: that)?|i(?:'d| would) say(?: that)?|i (?:think|believe|"
    r"guess)(?: it's| it is)?|"
    r"my (?:best )?guess (?:is|would be)|"
    r"it (?:seems|appears|looks like|follows|is clear)(?: that)?(?= (?:it|the|there|he|she|they|its)\b)|(?:this|that) "
    r"means(?: that)?|"
    r"(?:to (?:get|go|reach|travel|walk|move)|"
    r"based on|from|according to|in|looking at|judging by|judging from|\w+ing|among|out of|going by|although|"
    r"though|while|after|"
    r"since|because|as|given|considering|"
    r"despite|when|with|on|at|by|excluding|including|for) [^,.;:]{1,160},|"
    r"(?:based on|judging (?:by|from)|looking at|according to) [^,.;:]{1,80}:)[,:!]? )",
)
TAIL = re.compile(
    r"(?:,|;| -|–|—|:)? ?\b(?:because|since|like (?=the|all|its|every)|with (?:him|her|them)(?= |$)|as (?=shown|seen|"
    r"described|stated|indicated|it|the|there|he|she|they|we|"
    r"i|can|you)|which(?= (?:is|are|was|"
    r"were|has|have|can|means))|though|although|based on|given (?:that|the|how)|due to|"
    r"considering|according to|even though|thanks to|judging|for (?:the|this) (?:image|picture|scene)|i (?:think|"
    r"believe|guess|suppose|would say)|to me|for sure|for certain|"
    r"in (?:the|this) (?:image|picture|scene|photo|story|text|room)|(?:in|on|at|to|from|with|for) (?:the|its) "
    r"(?:left|right|back|front|middle|center|"
    r"centre|top|bottom|foreground|edge|corner|side|end)\b.*|from (?:left|right)|now|at the moment|right now|in "
    r"total|altogether|all together|as well|after all|in (?:colou?r|size|shape)|compared (?:to|with)|"
    r"visible|present|shown|displayed|depicted|pictured|though)\b.*$| (?:here|there|now|then|again|too|either|so|"
    r"overall|indeed|though)$"
)
REASON_TAIL = re.compile(
    r"(?:[,;:–—]| -|\()? ?\b(?:because|since|as|so that|given|due to|based on|considering|which means)\b"
)
ADVERBS = (
    r"(?:clearly|definitely|probably|presumably|likely|most likely|almost certainly|certainly|simply|obviously|"
    r"exactly|only|"
    r"actually|really|truly|completely|entirely|mostly|mainly|primarily|fairly|relatively|slightly|apparently|"
    r"evidently|undoubtedly|undeniably|distinctly|visibly|noticeably|currently|presently|finally|indeed|also|still|"
    r"now|just|therefore|thus|again|in fact|both|all)"
)
COPULA = (
    r"(?:is|are|was|were|looks?|appears?|seems?|must be|should be|has to be|can only be|will be|remains?|equals?|'s)"
    rf"(?: (?:to be|like|{ADVERBS}|described as|called|(?:made|built)(?: out)? of|of|colored|coloured))*"
)
NO_SUBJECT = re.compile(
    r"\b(?:backgrounds?|floor|ground|wall|surface|screen|image|picture|photo|light|lighting|lamp|text|shadow|"
    r"reflection|scene|"
    r"sky|table|tint|answers?|confidence|i|you|we|version|model|file|error|code|status|server|request|label|nothing|"
    r"nobody|none|everything|everybody|somebody|someone|chance|resolution|difference|game|opposite|reverse|format|"
    r"output|score|"
    r"first guess|description|example|sample|template|bill for|edge|radius|faces|flagged|content|mentioned|\w*_\w*)\b"
)


SUBJECT_WORDS = words_of(
    "it this that he she they these those the its a an both all each his her their them itself what which who whose on "
    "in of at to with by for from front behind left right back top middle center centre above below near next beside "
    "between closest nearest first second third last leftmost rightmost remaining same only is are was being and or "
    "asked about question described mentioned number count total sum result overall person giver receiver recipient "
    "place location current motivation reason feeling partly partially mostly hidden you're we're you we i i'm "
    "facing using made there here having has have most as than gave given received got took handed over passed "
    "correct actual "
    "carrying "
    "holding foreground corner edge side group row"
)
"""Words that a subject may have besides words for things and answers, which the reader knows."""
VERB = re.compile(
    r"(?<!that )(?<!which )(?<!who )(?<!what )\b(?:is|are|was|were|has|have|looks?|seems?|appears?)\b(?! (?:carrying|"
    r"holding)\b)"
)
AMOUNT = re.compile(r"\b(?:it|that|this|they|these|those|number|count|total|sum|result|all)\b")


class Assertion(NamedTuple):
    """A whole statement that asserts the answer in its group `phrase`; an example, and the phrase of the example."""

    example: str
    phrase: str
    pattern: re.Pattern[str]


STATED = Assertion(
    "the small ball is red",
    "red",
    re.compile(
        rf"(?P<subject>(?:it|this|that|he|she|they|these|those|the|its|an?|both|all|each|his|her|their|what|on|"
        rf"\w[\w'’.-]{{0,30}})\b[^,;:]{{0,160}}?)"
        rf"(?:(?<=it)|(?<=that)|(?<=he)|(?<=she)|(?<=this)|\b|(?<=\w)) ?\b{COPULA} (?P<phrase>[^,;:]{{1,80}})"
    ),
)
STATED_LAST = Assertion(
    "the thing that looks small is a red ball",
    "a red ball",
    re.compile(STATED.pattern.pattern.replace("{0,160}?)", "{0,160})", 1)),
)
HAS = Assertion(
    "it has a red surface",
    "red surface",
    re.compile(
        r"(?:it|this|that|the (?!dataset|data|model|question|task)[^,;:]{1,80}?|each|both) "
        r"(?:has|have|had|shows?|gives?) (?:a|an|the|its)? "
        r"?(?P<phrase>[^,;:]{1,60})"
    ),
)
SEEN = Assertion(
    "i can see exactly 3 cubes",
    "3 cubes",
    re.compile(
        r"(?:there(?: is| are| was| were|'s|'re|re| seems? to be| appears? to be)|(?:i|we|you) (?:can |do |also |could "
        r")?(?:see|count|counted|spot|find|observe|"
        r"found|get|got|have)|(?:the|this) (?:image|picture|scene|photo) (?:shows|contains|has|depicts|features|"
        r"includes|displays)|it (?:shows|"
        r"contains|has|depicts)|"
        r"(?:that|this|which)(?: is| are| was| makes| gives| leaves| means)(?: us| me)?|(?:in )?total|"
        r"making|giving|makes|equals) (?:(?:exactly|only|just|a total of|in total|precisely|therefore|thus) "
        r")*(?P<phrase>[^,;:]{1,80})"
    ),
)
MOVED = Assertion(
    "mary went back to the kitchen",
    "kitchen",
    re.compile(
        r"(?!(?:you|i|we)\b)(?:(?:the )?[\w']{1,20}(?: (?:and )?[\w']{1,20})?)"
        r"(?: (?:last|final|latest|most recent) (?:move|trip|journey|stop|visit))? ?(?:\b|(?='))"
        r"(?:(?:is|was|were|are|'s)(?: now| still| currently| again| both| located)?|"
        r"can be found|(?:will |would |must |should )?(?:went|goes?|"
        r"stay(?:s|ed)|remain(?:s|ed)|moved|travell?ed|journeyed|walked|ran|"
        r"returned|came|moves|travels|walks|headed|go)(?: back| over)?)(?: (?:in|at|to|inside|into|back to))(?: the)? "
        r"(?P<phrase>[\w -]{1,30})"
    ),
)
FELT = Assertion(
    "because he was very tired",
    "tired",
    re.compile(
        r"(?:because )?(?:they (?:are|were|felt|feel|got)|[\w']{2,20} (?:is|was|felt|feels|got))(?: very| so| just)? "
        r"(?P<phrase>\w+)"
    ),
)
CARRIED = Assertion(
    "john is still carrying the milk and the apple",
    "the milk and the apple",
    re.compile(
        r"(?:he|she|they|[\w']{2,20}) (?:is |are |was |still |now |currently |only |just |has |have )*(?:carrying|"
        r"holding|carries|carry|holds|hold|has|have|got|owns|"
        r"with)(?: still| now| only| just| exactly)* (?P<phrase>[^;:]{1,120})"
    ),
)
WALKED = Assertion(
    "you should go south and then west",
    "south and then west",
    re.compile(
        r"(?:first |to get there |you |we |she |he |one |should |must |can |could |have to |need to |just |simply |"
        r"then |the (?:path|way|route|directions?) (?:is|are)|"
        r"it is|take|turn|move|walk|go|head|travel|step|to the |from there )*(?P<phrase>(?:(?:to|from|into|through|"
        r"towards?) the \w+|north|south|east|west|[\W→]| |and|then|to|the|go|again|twice|two times|walk|head|move|"
        r"once|more|n|s|"
        r"e|w|turn|finally|after that|next)+)"
    ),
)
ACTED = Assertion(
    "it was jeff",
    "jeff",
    re.compile(
        r"(?:it was |that was |it is |that is |it's |the (?:person|thing|object|item)[^,;:]{0,60} (?:is|was) )?(?:the "
        r")?(?P<phrase>\w+)(?: did| does| was| is| has it| did it| got it| received it)?"
    ),
)
WHICH = Assertion(
    "it is the object on the left, which is red",
    "red",
    re.compile(
        r"(?:(?:it is |that is )?the [^,;:]{1,80}, which (?:is|are|looks)|(?:it|the) [^,;:]{1,120}, which (?:indicates|"
        r"suggests|means)(?: that)?(?: it is| it's)?) (?P<phrase>[^,;:]{1,60})"
    ),
)
COLON = Assertion(
    "the number of cubes: 3",
    "3",
    re.compile(
        r"(?:[^:]{0,80}\b(?:colou?r|shape|size|material|count|sum|(?:number|total)(?: of [\w ]{1,40})?|so|therefore|"
        r"thus|"
        r"hence|is|are|it|answer|"
        r"conclusion|namely|(?:final|current|last) (?:location|place|position) of [\w ]{1,40}|"
        r"carries|holds|carrying|holding|has|place|location|paths?|way|route|directions?|induction|"
        r"reason))(?: is| "
        r"are)? ?[:=] ?(?P<phrase>[^,;:]{1,60})"
    ),
)
INVERSE = Assertion(
    "jeff is the one who received the milk",
    "jeff",
    re.compile(
        r"(?P<phrase>(?:an?|the) [^,;:]{1,60}|\w+) (?:is|was) the (?:colou?r|shape|size|material|object|thing|"
        r"one|item|answer|person|receiver|recipient|giver)(?: [^,;:]{0,40}(?<! the)(?<! of))?"
    ),
)
RECEIVED = Assertion(
    "he got it from jeff",
    "jeff",
    re.compile(
        r"(?:(?:(?P<subject>[\w' ]{1,40}?) )?(?:(?:was|were) )?(?:given|handed|passed|received|got|gotten|gave|took|"
        r"taken|bought|brought)(?: [\w' ]{1,30})? )?(?:from|to|by) (?P<phrase>\w+)"
    ),
)
GAVE = Assertion(
    "bill gave it",
    "bill",
    re.compile(r"(?P<phrase>\w+) (?:gave|received|got|handed|passed|took|has|had) (?:it|that|this)(?: over)?"),
)
FEARED = Assertion(
    "gertrude is afraid of the wolf",
    "wolf",
    re.compile(
        r"(?:(?:\w+ )?(?:is |was )?(?:most )?(?:afraid|scared|frightened) of|\w+ fears|\w+ feared) "
        r"(?:the |an? )?(?P<phrase>\w+)"
    ),
)
REASONED = Assertion(
    "sumit went to the kitchen because he was hungry",
    "hungry",
    re.compile(
        r"[^,;:]{0,120}\b(?:because|since|as) (?:he|she|they|[a-z]+) (?:is|was|felt|feels|got|are|were)(?: very| so|"
        r" just| now)? "
        r"(?P<phrase>\w+)"
    ),
)
COUNTED = Assertion(
    "exactly 3 of them match",
    "3 of them",
    re.compile(
        r"(?:only |exactly |just |precisely )?(?P<phrase>[^,;:]{1,60}?) (?:meets?|match(?:es)?|fits?|satisf(?:y|ies)|"
        r"shares?|remains?|qualify|qualifies|have (?:this|that|these|the same)|"
        r"(?:are$|(?:is|are) (?:visible|present|there|shown|left|seen|found|"
        r"in (?:the|this|"
        r"it))))\b.*"
    ),
)
DESCRIBED = Assertion(
    "3 things are made of metal",
    "3 things",
    re.compile(
        r"(?:only |exactly |just |precisely )?(?P<phrase>(?!(?:the|these|those|all|both)\b)[^,;:]{1,60}?) are "
        rf"(?:either |also |all |both )?(?:made of )?(?:{'|'.join(sorted(THINGS))})\b.*"
    ),
)
OUT_OF = re.compile(r"\b(?:out|outside|way|heading|near|left|leaving)\b")
PATTERNS = (
    REASONED,
    FEARED,
    STATED,
    STATED_LAST,
    HAS,
    SEEN,
    MOVED,
    FELT,
    WHICH,
    COLON,
    ACTED,
    CARRIED,
    INVERSE,
    GAVE,
    RECEIVED,
)
NEGATION_WORD = re.compile(r"\b(?:not|no|nothing|none|never|nor|neither|cannot|nobody|hardly)\b|n't\b")
NEGATIVE = re.compile(
    r"\b(?:not|no|never|nor|neither|none|cannot|without|nobody|hardly|fewer|less|more|than|either|or|between|over|"
    r"under)\b|n't\b"
)


ASIDE = re.compile(
    r", (?:which|who|positioned|located|placed|situated|seen|shown|visible|found)\b[^,;:]{1,80}, (?=(?:is|was|has|"
    r"looks|appears)\b)"
)
APPOSITION = re.compile(r"^(\w+), an? \w+, (?=is\b|was\b)")


def stripped_sentence(sentence: str) -> str:
    """Return a plain sentence without parentheses, phrases such as `, not blue`, and words such as `so`."""
    said = bare(PARENTHESES.sub(" ", CONTRAST.sub(" ", ASIDE.sub(" ", sentence))))
    for _ in range(6):
        lead = LEAD.match(f"{said} ")
        if lead is None or lead.end() >= len(said):
            break
        said = said[lead.end() :].lstrip()
    return APPOSITION.sub(r"\1 ", said)


SAID = re.compile(
    r"\b(?:say|says|said|wrote|writes|answer\w*|reads?|line|question|example|quote\w*|caption|label|step|\w*\d)\b"
)
STANDS = re.compile(r"(?!(?:only |exactly |just )?(?:one|1)\b).*(?: (?:is|was)|'s)$|the .* (?:are|were)$")
"""What is left of `the cube is behind the sphere`: it says where something is, not what."""
STANDS_TOO = re.compile(r",? and (?:it )?(?:is|are)$")
NO_WORDS = re.compile(r" ?, ?, ?")


class Statement(NamedTuple):
    """A sentence without places, and the end that was left out: a reason, or where something is seen."""

    core: str
    tail: str
    is_after_colon: bool = False


def statements_in(sentence: str) -> Iterator[Statement]:
    """Yield a stripped sentence whole, without its tail, and without what follows a colon."""
    said = STANDS_TOO.sub("", bare(NO_WORDS.sub(" ", " ".join(PLACE.sub(" ", sentence).split()))))
    if said == bare(sentence) or STANDS.match(said) is None:
        yield Statement(said, "")
    tail = TAIL.search(said)
    if tail is not None and tail.start() > 0 and STANDS.match(bare(said[: tail.start()])) is None:
        yield Statement(bare(said[: tail.start()]), tail[0])
    before, _, after = said.partition(": ")
    if after:
        yield Statement(bare(before), f": {after}")
    if after and SAID.search(before) is None:
        yield Statement(bare(after), "", is_after_colon=True)


class Phrase(NamedTuple):
    """A phrase of a statement that may be the answer, the rest of the statement, and the pattern that fits."""

    text: str
    rest: str
    pattern: Assertion | None
    subject: str = ""


def phrases_of(core: str, patterns: Iterable[Assertion]) -> Iterator[Phrase]:
    """Yield the phrase in which each pattern that fits a whole statement has the answer."""
    yield Phrase(core, "", None)
    for pattern in patterns:
        found = pattern.pattern.fullmatch(core)
        if found is None:
            continue
        rest = f"{core[: found.start('phrase')]} {core[found.end('phrase') :]}"
        subject = found.groupdict().get("subject")
        if NEGATION_WORD.search(rest) or (subject is not None and NO_SUBJECT.search(subject)):
            continue
        yield Phrase(found["phrase"], rest, pattern, subject or "")
