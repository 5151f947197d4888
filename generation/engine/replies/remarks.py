r"""What may follow an answer and leave it as it is: descriptions, reasons, remarks about certainty, polite ends.

A reply that begins with an answer goes on with anything. Only what is listed here leaves the answer as it is:
`Red, because ...`, `Red. The cube is ...`, `Red (matte)`. After `Red, I lied.` and `Red (just kidding)` there is no
answer.
"""

import re

from generation.engine.replies.characters import words_of
from generation.engine.replies.statements import OPEN_DENIAL, THINGS

REMARK_SIGNS = " \t\r\n….,:;!\"'*_`$()[]{}<>|=“”‘’–—-→"
FIRST_WORDS = words_of(
    # descriptions
    "the a an it its it's they they're their there there's he she his her these those that's both all each every "
    "one two three four five six seven eight nine ten none only exactly namely "
    # reasons and places
    "because since so given due thanks based according considering considered judging from with which that where "
    "while whereas whose when for of by in on at left right behind near above below between beside under "
    "located positioned standing sitting placed made looking facing compared and but also instead unlike then "
    "therefore thus hence rather "
    # certainty
    "definitely same verified confirmed period great certainly clearly obviously surely absolutely indeed "
    "unfortunately apparently visibly evidently likely probably specifically precisely approximately altogether "
    "overall again here now too answer high "
    # headings
    "explanation explanations method reason reasons reasoning rationale justification detail details evidence "
    "note notes notice description step steps look see counting key summary context background location position "
    "line lines "
    # polite ends
    "please sir madam hope hopefully cheers enjoy here's"
)
FIRST_PHRASE = re.compile(
    r"(?:\d+|(?:confidence|certainty)\b(?!\W*(?:zero|none|no|0 ?%?)\W*$)|next to|need any|"
    r"if (?:you|there)\b|like (?:the|its|an?|all|every|both|most)|double.checked|"
    r"as(?! if\b)|about as|"
    r"to(?! be (?:verified|confirmed|checked|determined|decided)\b)|who(?! knows?\b)|"
    r"just (?:the|an?|one|as|\d+)|nothing else|nobody else|no (?:other|more|doubt)|(?:some|many|most) \w+|"
    r"other (?!option|answer|possib|choice)\w+|"
    r"without (?:any )?(?:the |a )?doubt|not (?:the|an?|in|on|at|to|from)|at least one|"
    r"this (?:is|was|can|matches|object|thing|one|shape|cube|ball|block|caption|includes?|counts?|means)|"
    r"i (?:can |do |also |could |only )?(?:see|saw|find|found|count|counted|spot|observe|notice|included?|excluded?)|"
    r"i (?:think|believe|guess|suppose|hope|know|would say)|i'd say|"
    r"i(?: a|')m (?:[\w%]+ )?(?:sure|certain|confident|positive)|"
    r"we (?:can |also )?(?:see|find|count|know|have|are told)|you can (?:see|find|count)|"
    r"trust me|final answer|my (?:final )?answer|my reasoning|thank you|let me (?:know|explain)|feel free|"
    r"have (?:a|fun)|good luck|happy to|glad to|is there|do you|would you|anything else|shall i|any other|"
    r"[a-z][\w'-]* (?:[\w'-]+ ){0,3}(?:is|are|was|were|has|have|went|moved|travell?ed|journeyed|walked|took|got|gave|"
    r"picked|dropped|put|left|stayed|received|handed|passed|discarded|grabbed|fits?|matches|match|looks?|appears?|"
    r"isn't|aren't|did|does))(?!\w)",
    re.IGNORECASE,
)
FIRST_WORD = re.compile(r"[a-z][a-z']*(?![\w-])", re.IGNORECASE)
REMARK_HEADING = re.compile(
    r"\W*(?!(?:source|status|other|option|second|update|correction|corrected|edit|truth|wrong|alternative|instead|real|"
    r"true|false|note to)\b)"
    r"[a-z]+(?: [a-z]+){0,2}:(?!\W*(?:no|none|false|zero|0 ?%?)\W*$)",
    re.IGNORECASE,
)
"""How a remark after a colour or a count begins."""
GUESSED = re.compile(
    r"(?<!\bi )\bguess\w*|\b(?:placeholder|random\w*|arbitrar\w*|imagination|made up|who knows|on nothing)\b",
    re.IGNORECASE,
)
UNDONE = re.compile(
    rf"{GUESSED.pattern}|\b(?:example|sample|testing|imagin\w+|assum\w+|theory|reality|unverified|rejected|failed|"
    r"(?<!no )doubt\w*|no certainty|missing|might|may be|you say)\b|\b(?:can't|cannot) see (?:it|this|that|them)\W*$|"
    r"\b(?:above|previous|last|this|that|it|line|answer) (?:\w+ ){0,2}(?:is|was) (?:wrong|false|incorrect|untrue)\b|"
    r", no\W*$|^\W*(?:wrong|false|incorrect|untrue)\b",
    re.IGNORECASE,
)
"""What takes an answer back in a remark that begins as a harmless one: a guess, an example, a denial."""

GOES_ON = re.compile(
    r"^[,;:.!()\s–—-]+(?:and |but |though |in fact |indeed |actually )?(?:there|it|its|their|his|her|it's|they|"
    r"they're|both|the|an?|all|no|none|only|one|two|three|four|\d+|because|since|as(?! if\b)|"
    r"he|she|i (?:can |do |also |could )?(?:see|find|count|spot|observe|notice|don't see|can't see|cannot see|"
    r"can't find|cannot find|couldn't find|(?:do|did|can|could) not (?:see|find)|found|(?:don't|do not) think so|"
    r"(?:do|am)(?= (?:sure|certain|confident)|\W*$))|"
    r"you can see|we (?:can )?see|these|those|behind|in|at|on|left|right|to|from|based|according|although|while|"
    r"nothing|not(?! really\b| ?[!.])|some|at least|"
    r"each|every|exactly|just|more|fewer|less|definitely|of course|absolutely|certainly|"
    r"that's|that is|this is|indeed|"
    rf"(?:this|that) (?:caption|statement|description|sentence|{'|'.join(sorted(THINGS))})|"
    r"which|with|so|if|by|for|my|\w+(?:'s)? (?:is|was|are|has|went|took|got|gave|left|stayed|picked|dropped|"
    r"journeyed|travelled|isn't|wasn't|aren't|moved|did|does)|"
    r"[a-z]+ (?:\w+ ){0,3}(?:is|are|was|isn't|aren't|has))\b"
)
"""What may follow yes or no: denials as well."""


def leaves_answer(text: str) -> bool:
    """Return whether a plain text after an answer leaves it as it is."""
    said = text.strip(REMARK_SIGNS)
    if not said:
        return True
    first = FIRST_WORD.match(said)
    is_remark = (
        (first is not None and first[0].lower() in FIRST_WORDS)
        or FIRST_PHRASE.match(said)
        or REMARK_HEADING.match(text)
    )
    return bool(is_remark) and OPEN_DENIAL.search(said) is None and UNDONE.search(said) is None
