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
    "while whereas whose when if for of by in on at left right behind near above below between beside under like "
    "located positioned standing sitting placed made looking facing compared and but also instead unlike then "
    "therefore thus hence rather "
    # certainty
    "definitely same verified confirmed period great certainly clearly obviously surely absolutely indeed "
    "unfortunately apparently visibly evidently likely probably specifically precisely approximately altogether "
    "overall again here now too answer confidence certainty high "
    # headings
    "explanation explanations method reason reasons reasoning rationale justification detail details evidence "
    "note notes notice description step steps look see counting key summary context background location position "
    "line lines "
    # polite ends
    "please sir madam hope hopefully cheers enjoy here's"
)
FIRST_PHRASE = re.compile(
    r"(?:\d+|next to|need any|double.checked|as(?! if\b)|about as|"
    r"to(?! be (?:verified|confirmed|checked|determined|decided)\b)|who(?! knows?\b)|"
    r"just (?:the|an?|one|as|\d+)|nothing else|nobody else|no (?:other|more|doubt)|(?:some|many|most|other) \w+|"
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
    r"\W*(?!(?:source|update|correction|corrected|edit|truth|wrong|alternative|instead|real|true|false|note to)\b)"
    r"[a-z]+(?: [a-z]+){0,2}:",
    re.IGNORECASE,
)
"""How a remark after a colour or a count begins."""

GOES_ON = re.compile(
    r"^[,;:.!()\s–—-]+(?:and |but |though |in fact |indeed |actually )?(?:there|it|its|their|his|her|it's|they|"
    r"they're|both|the|an?|all|no|none|only|one|two|three|four|\d+|because|since|as(?! if\b)|"
    r"he|she|i (?:can |do |also |could )?(?:see|find|count|spot|observe|notice|don't see|can't see|cannot see|"
    r"can't find|cannot find|couldn't find|(?:do|did|can|could) not (?:see|find)|found|"
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
    return bool(is_remark) and OPEN_DENIAL.search(said) is None
