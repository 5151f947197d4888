r"""The grammar of replies that list parts: statements around a list, and what changes a list after it was given.

Texts are in small letters, with single spaces. `ComposedReader` reads with it.
"""

import re

from generation.engine.replies.characters import words_of
from generation.engine.replies.vocabulary import NUMBERS

NOUN = r"(?:objects?|items?|things?|lists?|inventory|set|answer|possessions?|belongings|hands?|contents|result)"
STILL = r"(?: (?:still|now|currently|only|just|both|then|therefore|thus|finally|actually))*"
ANY_NUMBER = rf"\d+|{'|'.join(NUMBERS.split())}"
CARRIES = re.compile(
    r"(?P<subject>he|she|they|[^\W\d_][\w'-]{1,30}?)"
    rf"(?:(?:'s| is| are| has| have)?{STILL} (?:carrying|holding|carries|carry|holds|hold|owns|possesses)|"
    rf"(?:'s| has| have) got|{STILL} (?:has|have)){STILL},?:? (?P<phrase>.+)"
)
LISTED_ARE = re.compile(
    rf"(?P<subject>they|these|those|that|it|[^,:;]{{0,80}}\b{NOUN}\b[^,:;]{{0,80}})"
    rf"(?: (?:is|are|includes?|consists? of)|'s|'re){STILL}:? (?P<phrase>.+)"
)
LABELLED = re.compile(
    rf"(?P<subject>[^:]{{0,80}}\b(?:{NOUN}|carr(?:ies|y|ying)|hold(?:s|ing)?|has|have|got|so|now|therefore|thus|hence|"
    r"conclusion|namely|paths?|way|route|directions?|steps?|currently)(?: is| are)?) ?[:=] ?(?P<phrase>.+)"
)
PATH_IS = re.compile(
    r"(?P<subject>[^,:;]{0,80}\b(?:path|way|route|directions?|steps?|it|that|this))"
    r"(?: (?:is|are|would be)|'s)(?: to)?:? (?P<phrase>.+)"
)
STATEMENTS_OF_SETS = (CARRIES, LISTED_ARE, LABELLED)
STATEMENTS_OF_PATHS = (PATH_IS, LABELLED)
"""Statements around a list: `Mary carries ...`, `the two things are ...`, `directions: ...`."""

LIST_LEAD = re.compile(
    r"(?:(?:first|just|only|both|all|exactly|simply|precisely|nothing (?:but|except)|the following) |"
    rf"(?:(?:the following|all|both|these) )?(?P<count>{ANY_NUMBER})(?: {NOUN})?(?:: ?| - |, )|(?:the )?{NOUN}: )+"
)
COUNTED_THINGS = re.compile(rf"\b({ANY_NUMBER}) (?:\w+ )?{NOUN}\b")
LIST_TAIL = re.compile(
    r",? (?:and nothing else|only|too|as well|with (?:him|her|them)|in total|(?:right )?now|respectively|currently|"
    r"at (?:the|this) moment|at the end(?: of the story)?|in (?:his|her|their) (?:hands?|possession)|"
    r"i (?:think|believe|guess)|(?:in|at) the (?!end)\w+)$"
)
LIST_REASON = re.compile(
    r"(?:[,;–—]| -)? ?\b(?:because|since|as (?=he|she|they|the)|given|based on|according to|which (?=he|she|they)|"
    r"having|from line)\b.*$"
)
APART_FROM = re.compile(r"(.+?)(?:,? (?:and|but)|,) (?:(?:certainly|definitely) )?(?:not|no longer) (.+)")
NOT_BUT = re.compile(r"not (.+?),? but (?:rather )?(.+)")
IN_BRACKETS = re.compile(r"\(([^()]{0,400})\)|\[([^\[\]]{0,400})\]|<([^<>]{0,400})>")
CLAUSE_BREAK = re.compile(
    r"(?=;|,? (?:but|while|whereas|although|though)\b|, (?:and )?(?:then )?so\b|,? and (?:then )?(?:he|she|they)\b|"
    r"(?<!,)(?<! and) so (?:he|she|they|the)\b|, (?:he|she|they) )"
)
CLAUSE_OR_COLON = re.compile(rf"{CLAUSE_BREAK.pattern}|(?<=: )")
HEADING = re.compile(r"\s*#|.*:[\s*_]*$")
AROUND = " \t\r\n.,:;!\"'`*_$#=|"
OPEN_END = re.compile(r"(?:\.\.\.|…|,|\?)[\s\"'`*_)]*$")
"""What is around a list in its sentence, and where a sentence ends before its list does."""

WALK_LEAD = re.compile(
    r"(?:i (?:think|believe|suppose|would say)(?: it's| it is| that)?|to (?:get|go|reach|travel|walk|move) [^,]{1,80},|"
    r"from the [\w ]{1,30}?,?|(?:you|we|i|one)(?:'ll|'d)?(?: would| should| must| need to| have to| can| will)?|"
    r"(?:start|begin) by|afterwards|next|heading|going) "
)
DOUBLE_STEP = re.compile(r"(\w+) (?:twice|two times)\b")
ONE_STEP = re.compile(r"\b(?:one|a) (?:step|room|move|block|unit) ")
REACHES = re.compile(r",? (?:in order )?to (?:reach|get to|arrive at|enter) the \w+(?=$|,? )")
TURNS = re.compile(r"\b(?:up|down|left|right|forwards?|backwards?|straight|around|back)\b")
"""What is around the steps of a path, and steps that are no direction."""

LET_GO = (
    r"drop\w*|left|leav\w+|gave|gives?|given|put|discard\w*|pass(?:ed|es)|handed|gone|lost|threw|no longer|before|"
    r"earlier|previously|used to|no|not|never|nor|neither|without|other|else"
)
NOT_HELD = re.compile(rf"\b(?:{LET_GO})\b|n't\b")
"""Words of a sentence about things that somebody does not have, or not any more."""
WHAT_IS_NOT_HELD = re.compile(
    rf"(?:{NOT_HELD.pattern})(?: (?:has|have|holds?|carr(?:y|ies)|holding|carrying))?"
    r"(?P<what>(?: (?!(?:but|so|because|then|has|have|is|still|kept|picked|took)\b)[\w',-]+){0,9})"
)
LET_GO_ALL = re.compile(
    r"\b(?:drop\w*|left|put|discard\w*|gave|lost|threw|passed|handed) (?:down )?"
    r"(?:it|them|that|this|everything|all|both|each)\b"
)
ALL_BUT = re.compile(
    r"\b(?:all|everything|anything|everyone|any \w+) (?:but|except|save|apart)\b|\b(?<!nothing )except\b"
)
UNSURE_SUBJECT = re.compile(
    r"\b(?:pick\w*|took|taken|grab\w*|possible|mentioned|options?|choices|story|in the|at the|on the|started|opposite|"
    r"reverse|wrong|incorrect|example)\b"
)
"""Words of a subject or heading whose list is perhaps not the answer: `objects in the story: ...`."""
ADDS = re.compile(
    r"^(?:(?P<is_weak>and|then|in addition)|also|plus|or|as well as|along with|together with|additionally|"
    r"alternatively|maybe|perhaps)\b|^[&+]"
)
MORE_PARTS = re.compile(
    r"\b(?:also|too|as well|in addition|additionally|another|so on|etc|(?:something|anything|someone) else|"
    r"(?:other|more|few) (?:things|items|objects)|or more|among others|vice versa|(?:either|any) order)\b|\.\.\.|…"
)
REMARK_SPOILS = re.compile(
    r"^\W*(?:and|plus|also|or|either|maybe|possibly|perhaps|no|not|yes|no longer|in (?:either|any) order|reverse\w*|"
    r"uncertain|unsure|dropped|gone|left|discarded)\b|\?"
)
"""What a remark in brackets has that changes the list before it: `(or the milk)`."""
CROSSED = re.compile("[✗✘☒❌❎✖]|~~|</?(?:s|del|strike|unk)>")
HAS_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does?|did|can|could|will|would|should|must|took|takes?|got|gets?|left|"
    r"leaves?|put|went|goes?|go|gave|gives?|held|knows?|found|came|comes?|made|kept|said|told|"
    r"(?:pick|grab|drop|mov|travel|journey|walk|pass|hand|discard|hold|carr[iy]|follow|track|look|see|let|start|end|need|"
    r"return|arriv|stay|contain|mention|list|say|explain|stat|find|check|confirm|conclud|hope|read|count|keep|remain|stand|"
    r"head|turn|reach|lead|help|show)\w*)\b|'s\b|n't\b"
)
THING = re.compile(r"(?:(?:the|an?|some|her|his|their|one|two|three|four|five|\d+) )?[^\W\d_][\w'-]*(?: [\w'-]+){0,3}")
NO_THING = re.compile(
    r"(?:just |then |also |already )*(?:\w+ed|got|taken|put|left|given|gone|been|made|lost|to|no|not|had|it|them|this|"
    r"that|him|her|both|everything|all|any\w*|nothing|something|empty)\b"
)
CHATTER = words_of(
    "as well too also both only just now currently still respectively together in total all else nothing sure ok okay "
    "yes so thus hence therefore finally thanks thank please i we he she they it that this because since from to here "
    "there order answer sorry explanation reasoning step steps note summary conclusion result why how analysis details "
    "story facts confidence certain correct done good great luck problem solution path route directions direction "
    "final inventory list"
)
"""Words of a remark without a verb that names no part of a list."""
