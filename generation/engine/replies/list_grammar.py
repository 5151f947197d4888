r"""The grammar of replies that list parts: statements around a list, and what changes a list after it was given.

Texts are in small letters, with single spaces. `ComposedReader` reads with it. What a statement may say about its list
is a list of what is known: `the things she lost are ...` has an unknown word, and gives nothing.
"""

import re

from generation.engine.replies.characters import words_of
from generation.engine.replies.vocabulary import NUMBERS

ANY_NUMBER = rf"\d+|{'|'.join(NUMBERS.split())}"
STILL = r"(?: (?:still|now|currently|only|just|both|then|therefore|thus|finally|actually|right now|at the end))*"
PERSON = (
    r"(?!(?:nobody|none|noone|who|whom|what|which|everybody|everyone|somebody|someone|anybody|anyone|nothing|it|this|"
    r"that|there|one|we|i|you|these|those|both|all|not|but|if|when|while|stopped|ceased|quit|was|were|by|after|before|"
    r"never|hardly|rarely|barely|scarcely|almost|nearly|avoid\w*|forgot|hates?|without|bag|shop|basket|wrong|"
    r"story|text|passage|question|kitchen|garden|hallway|bathroom|bedroom|office|room|fridge|table|floor|box|"
    r"list)\b)[^\W\d_][\w-]{0,30}?"
)
HOLDS = r"(?:carrying|holding|carries|carry|holds|hold|has|have|possesses|owns)"
NOUN = r"(?:objects?|items?|things?)"
OWN_NOUN = (
    rf"(?:(?:the|her|his|their|all|both|only|following|final|current|(?:{ANY_NUMBER})|{PERSON}'s) )*"
    rf"(?:{NOUN}|lists?|inventory|answer|possessions?|belongings|hands?|result)"
)
HELD_BY = (
    rf"(?:,? (?:that |which )?{PERSON}(?:'s| is| are)?{STILL} {HOLDS}| (?:being |currently )*(?:carried|held|owned) by "
    rf"{PERSON}| (?:that are |which are )?in (?:his|her|their|{PERSON}'s) (?:hands?|possession|inventory)|"
    rf" of {NOUN}| with (?:him|her|them))*{STILL}"
)
CARRIES = re.compile(
    rf"{PERSON}(?:(?:'s| is| are| has| have)?{STILL} (?:carrying|holding|carries|carry|holds|hold|owns|possesses|"
    rf"in possession of|left with)|(?:'s| has| have) got|{STILL} (?:has|have)|{STILL} ends? up (?:carrying|holding|"
    rf"with))"
    rf"{STILL},?:? (?P<phrase>.+)"
)
LISTED_ARE = re.compile(
    rf"(?:they|these|those|that|it|{OWN_NOUN}{HELD_BY})(?: (?:is|are|includes?|consists? of)|'s|"
    rf"'re){STILL}:? (?P<phrase>.+)"
)
ARE_LISTED = re.compile(
    rf"(?P<phrase>.+) (?:is|are) (?:the )?{OWN_NOUN} (?:that |which )?{PERSON}(?:'s| is| are)?{STILL} {HOLDS}{STILL}"
)
ARE_HELD = re.compile(
    rf"(?P<phrase>.+?) (?:is|are|remains?|stays?){STILL} (?:(?:(?:being )?(?:carried|held) by|in the hands? of|"
    rf"with) {PERSON}|"
    r"in (?:her|his|their) \w+)"
)
LABEL_OF_SET = (
    rf"(?:so|now|therefore|thus|hence|conclusion|currently|carrying|holding|{PERSON}(?:'s| is|"
    rf" are)?{STILL} {HOLDS}{STILL}|"
    rf"{OWN_NOUN}{HELD_BY}|(?:carried|held) {NOUN})(?: is| are)?"
    rf"(?: (?:as follows|the following|these|{ANY_NUMBER}))?(?: {NOUN})?"
)
PATH_NOUN = (
    r"(?:(?:the|my|your|this|that|correct|(?!final steps)final|shortest|required|right|full|whole|"
    r"complete) )*(?:path|way|route|"
    r"directions?|steps?)(?: (?:from|to) (?:the )?\w+| you (?:should|need to|have to|must) (?:take|follow))*"
)
PATH_IS = re.compile(
    rf"(?:{PATH_NOUN}|it|that|this)(?: (?:is|are|would be)|'s)(?: to)?(?: as follows)?:? (?P<phrase>.+)|"
    r"(?:the )?\w+ (?:is|can be) reached by (?:going|heading|walking|moving) (?P<walk>.+)"
)
LABEL_OF_PATH = (
    rf"(?:{PATH_NOUN}|here(?:'s| is| are) {PATH_NOUN}|to (?:get|go|travel|walk)(?: from|"
    rf" to) (?:the )?(?: ?\w+){{1,6}}|to reach the \w+|so|therefore|thus|"
    r"hence|conclusion)(?: is| are)?(?: as follows)?"
)
LABELLED_SET, LABELLED_PATH = (re.compile(rf"{label} ?[:=] ?(?P<phrase>.+)") for label in (LABEL_OF_SET, LABEL_OF_PATH))
STATEMENTS_OF_SETS = (CARRIES, LISTED_ARE, ARE_LISTED, ARE_HELD, LABELLED_SET)
STATEMENTS_OF_PATHS = (PATH_IS, LABELLED_PATH)
"""Statements around a list: `Mary carries ...`, `the two things she has are ...`, `directions: ...`."""
HEADING_OF_SET = re.compile(rf"(?:{LABEL_OF_SET}|(?:final )?answer|(?:here|these) (?:is|are) {OWN_NOUN}{HELD_BY})")
HEADING_OF_PATH = re.compile(
    rf"(?:{LABEL_OF_PATH}|(?:final )?answer|how to (?:get|go|reach|travel|walk)(?: \w+){{1,9}}|"
    r"follow these steps|you (?:should|need to|have to|must|can|go)(?: go| take| follow)?(?: these steps| as follows)?)"
)
"""What stands above the rows of a list."""

EMPTY_HANDS = re.compile(
    rf"{PERSON}(?: is| does| has|'s)?(?: currently| now)*(?:n't| not| no longer)(?: currently| now| still| actually)* "
    rf"(?:carry|carrying|hold|holding|have|having|possess)(?: currently| now)? (?:anything|any {NOUN})(?P<tail>.*)|"
    rf"{PERSON}(?:'s| is)?{STILL} {HOLDS} (?:no {NOUN}|nothing(?: at all| left)?)(?P<end>.*)|"
    rf"{PERSON}(?:'s| is){STILL} empty[- ]handed|{PERSON}(?:'s hands are empty| has empty hands)|"
    rf"there is nothing (?:that )?{PERSON}(?:'s| is) (?:carrying|holding)"
)
EMPTY_TAIL = re.compile(
    r"(?: (?:now|any ?more|at all|anymore|at (?:the|this) (?:moment|end)(?: of the story)?|currently|right now|left|"
    r"either))*"
)
"""Somebody carries nothing."""

NOTHING_AS = re.compile(r"(nothing|none)(?: at all)?(?:(?:,| [-–—]|:|;) .+)?")
LIST_LEAD = re.compile(
    rf"(?:(?:(?:the following|all|both|these) )?(?P<count>{ANY_NUMBER}|a single)(?: {NOUN})?(?:: ?| - |, )|"
    rf"(?:the )?{NOUN}: |"
    r"(?:first|just|only|both|all|exactly|simply|precisely|nothing (?:but|except)|the following:?|everything:|an?) )+"
)
COUNTED_THINGS = re.compile(rf"\b({ANY_NUMBER}) {NOUN}\b")
LIST_TAIL = re.compile(
    r",? (?:and nothing else|only|too|as well|with (?:him|her|them)|in total|(?:right )?now|currently|"
    r"at (?:the|this) moment|at the end(?: of the story)?|in (?:his|her|their) (?:hands?|possession)|"
    r"i (?:think|believe|guess)|(?:in|at) the (?!end|start|beginning|story|text|passage|question|first|last|"
    r"middle|past|fridge)\w+)$"
)
LIST_REASON = re.compile(
    r"(?:[,;–—]| -)? ?(?:\b(?:because|since|as) (?P<clause>(?:he|she|they|the|both|[\w-]+ (?:has|had|picked|took|got|"
    r"grabbed|dropped|never|did))\b.*)|\bhaving (?:just )?(?:dropped|left|put down|discarded|given away)\b.*|"
    r"\b(?:which|that|having) (?:he |she |they )?(?:just )?(?:picked|took|got|grabbed)\b"
    r"(?P<taken>(?: (?!and\b|then\b|later\b|but\b)[\w-]+)*)|\b(?:based on|according to|given|from) (?:the |this |"
    r"these )?"
    r"(?:given |above |provided )?(?:story|text|passage|context|information|facts?|sequence|events?|statements?|lines?)"
    r"(?: (?!and\b|then\b|to\b|later\b|until\b|but\b)[\w-]+){0,4})$"
)
"""The reason after a list, which names no part of it that is gone."""
JOINED_PARTS = re.compile(r",? (?:as well as|along with|together with|in addition to|plus|followed by) ")
APART_FROM = re.compile(r"(.+?)(?:,? (?:and|but)|,) (?:(?:certainly|definitely) )?(?:not|no longer) (.+)")
NOT_BUT = re.compile(r"not (?!only\b)(.+?),? but (?:rather )?(.+)")
IN_BRACKETS = re.compile(r"\(([^()]{0,400})\)|\[([^\[\]]{0,400})\]|<([^<>]{0,400})>")
HARMLESS_REMARK = re.compile(
    r"(?:(?:both|\w+) )?(?:picked up|took|taken|got|grabbed)(?: (?!and\b|then\b|later\b|but\b|by\b|from\b|away\b|off\b|"
    r"back\b)[\w-]+)*|"
    r"in that order|"
    rf"(?:{ANY_NUMBER}) (?:{NOUN}|steps?|moves?)|(?:final answer|total|in total)|(?:see |from )?lines? [\d, and]+|"
    r"from (?:the )?\w+|(?:from )?(?:the )?\w+(?: ?(?:→|->|to) ?(?:the )?\w+)+"
)
"""A remark in brackets that leaves the list before it as it is."""
CLAUSE_BREAK = re.compile(
    r"(?=;|,? (?:but|while|whereas|although|though)\b|, (?:and )?(?:then )?so\b|,? and (?:then )?(?:he|she|they)\b|"
    r"(?<!,)(?<! and) so (?:he|she|they|the)\b|, (?:he|she|they) )"
)
DESCRIBED_ROW = re.compile(
    r"(.{1,40}?)(?: [-–—] |: | \()(?:(?:he|she|they) )?(?:picked up|took|taken|grabbed|got|acquired|"
    r"collected)\b"
    r"(?: (?!and\b|then\b|later\b|but\b)[\w-]+)*\)?"
)
NUMBERED_ROW = re.compile(r"\s*[*_]*(?:step )?\(?(\d{1,3})[.):]", re.IGNORECASE)
EMPTY_ROW = re.compile(r"\n[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]*\Z")
SIGN_OF_ROW = re.compile(r"^[ \t]*([-+]) ", re.MULTILINE)
FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
HEADING = re.compile(r"\s*#|.*:[\s*_]*$")
AROUND = " \t\r\n.,:;\"'`*_$#=|"
OPEN_END = re.compile(r"(?:\.\.\.|…|,|\?|\b(?:then|and|or|plus))[\s\"'`*_)]*$")
"""What is around a list in its sentence, and where a sentence ends before its list does."""

ABOUT_TEXT = (
    r"(?:story|text|passage|context|information|facts?|sequence|events?|statements?|actions|given|provided|above)"
)
LIST_FRAME = re.compile(
    r"(?:so|therefore|thus|hence|ok|okay|sure|well|finally|overall|now|and|but|yes|in (?:conclusion|summary|short|"
    r"total)|"
    r"to (?:conclude|summarize|sum up)|consequently|accordingly|indeed|clearly|certainly|apparently|probably|likely|"
    r"right now|currently|at (?:the|this) (?:end|moment|point)(?: of the story)?|in the end|"
    r"by the end(?: of the story)?|as a result|here|i'd say(?: that)?|"
    r"(?:i|we) (?:think|believe|conclude|can conclude|can see|see)(?: that)?|it (?:follows|seems|appears)(?: that)?|"
    r"this means(?: that)?|that means(?: that)?|the answer is|"
    rf"(?:based on|from|according to|given|looking at|considering|following|in|after|by tracking) (?:all |the |this |"
    rf"these |those |"
    rf"that )*{ABOUT_TEXT}(?: [\w ]{{1,40}})?,|after (?:dropping|leaving|discarding|putting down|"
    rf"giving away) [^,]{{1,40}},)"
    r"[,:!]? "
)
WALK_FRAME = re.compile(
    r"(?:(?:so|therefore|thus|hence|ok|okay|sure|well|finally|first|next|then|afterwards|after that|now|and|but|yes|"
    r"in (?:conclusion|summary|short)|overall),? (?!steps?\b)|step \d+: ?|"
    r"to (?:get|go|reach|travel|walk|move) (?:[^,.;]{1,80}, |(?:to )?the \w+ )|from (?:the )?\w+,? |"
    r"(?:start|starting|begin|beginning) (?:in|at|from) (?:the )?\w+, (?:and )?|(?:start|begin) by |"
    rf"(?:based on|according to|given|looking at|in) (?:the |this )*{ABOUT_TEXT}(?: [\w ]{{1,40}})?, |"
    r"(?:i|we) (?:think|believe|suppose|would say)(?: that)?(?: it's| it is)? |"
    r"(?:you|we|i|one)(?:'ll|'d)?(?: would| should| must| need to| have to| will)? |(?:going|heading) |it is )"
)
DOUBLE_STEP = re.compile(r"\b([a-z]+) (?:twice|two times)\b|\b(?:two|2) (?:steps|rooms|times) ([a-z]+)\b")
FILLER_OF_WALK = re.compile(
    r"\b(?:one|a) (?:step|room|move|block|unit) (?:to the )?|(?<=\w) (?:exit|door)\b|(?<=\w) first\b(?=,? (?:and|"
    r"then))|"
    r",? (?:in order )?to (?:reach|get to|arrive at|enter) the \w+(?=$|,? )|(?<=then )(?:you|we)\b ?(?:should |must )?|"
    r"\b(?:you|we) (?=go |walk |head |move )"
)
LETTERS_ALONE = re.compile(r"(?:(?:go|then|and|first|next|move|head|walk|[a-z]|to|the)\b[ ,;→>-]*)+")
ARRIVES = re.compile(r"(?:you|we)(?:'re| are| will be| arrive| reach| get)(?: now)?(?: in| at| to)? (?:the )?\w+")
TURNS = re.compile(r"\b(?:up|down|left|right|forwards?|backwards?|straight|around|back)\b")
OTHER_STEP = re.compile(
    r"^(?:but |then |first |finally |and |also )*(?:climb|take|leave|exit|keep|cross|open|pass|enter|turn|jump|use|"
    r"step|continue|repeat|"
    r"do|return|come|ascend|descend|start|begin|stop|skip|ignore)\b|\bmore steps?\b"
)
OTHER_GOAL = re.compile(r"^(?:first,? )?(?:to (?:get|go|reach|travel|walk|move)|from) ")
"""What is around the steps of a path, and steps that are no direction."""

LET_GO = (
    r"drop\w*|left(?! with)|leav\w+|gave|gives?|given|put|plac\w+|set|lay|laid|discard\w*|pass(?:ed|es)|hand(?:ed|"
    r"s) over|handed|gone|lost|threw|"
    r"throws?|releas\w+|abandon\w*|got rid|gets? rid|let go|lets go|ate|eats?|drank|drinks?|ditch\w*|toss\w*|"
    r"surrender\w*|fell|falls?|stole|no longer|no more|"
    r"before|earlier|"
    r"previously|used to|until|no|not|never|nor|neither|without|other|else"
)
NOT_HELD = re.compile(rf"\b(?:{LET_GO})\b|n't\b")
"""Words of a sentence about things that somebody does not have, or not any more."""
WHAT_IS_NOT_HELD = re.compile(
    rf"(?:{NOT_HELD.pattern})(?: (?:of|has|have|holds?|carr(?:y|ies)|holding|carrying))?"
    r"(?P<what>(?: (?!(?:but|so|because|then|has|have|is|still|kept|picked|took)\b)[\w',-]+){0,9})"
)
WAS_LET_GO = re.compile(
    r"(?P<what>(?:[\w',-]+ ){1,8})(?:(?:was|were|is|are|has been|have been|got)(?: later| then| now| both)? "
    r"(?:dropped|left|given|put|placed|discarded|passed|handed|gone|lost|thrown|released|abandoned|on the|in the|"
    r"at the|not|no longer)"
    r"|(?:(?:is|are|was|were)(?: now)?|ends? up) with (?!her\b|him\b|them\b))"
)
LET_GO_ALL = re.compile(
    r"\b(?:drop\w*|left|leav\w+|put|plac\w+|set|lay|laid|discard\w*|gave|gives?|lost|threw|passed|handed|releas\w+|"
    r"abandon\w*|rid of|let go of|"
    r"ate|drank|ditch\w*|toss\w*|took|takes?|grabs?|stole|swap\w*) (?:down )?(?:it|them|that|this|everything|all|"
    r"both|each)\b|\b(?:it|they|them|"
    r"both|all)\b(?: \w+){0,3} "
    r"(?:dropped|fell|gone|lost|given|left|on the|in the|taken|anymore)\b|\b(?:has|have|holds|carries) (?:it|them|"
    r"both) now\b|\bnow (?:has|have|holds|carries) (?:it|them|both)\b|"
    r"\bfrom (?:her|him|them)\b|\b(?:until|no longer)\b"
)
ALL_BUT = re.compile(
    r"^(?:when|while|once|until|as long as)\b|\bbut first\b|"
    r"\b(?:all|everything|anything|anywhere|everyone|any \w+|(?:all|any) (?:the )?\w+) (?:but|except|save|apart)\b|"
    r"\b(?<!nothing )except\b|\bnot only\b|\b(?:part|half|some|one|piece) of\b"
)
TAKES_BACK = re.compile(
    r"^(?:no|nope|nah)\b|\b(?:kidding|joke|joking|revers\w+|opposite|wrong|incorrect|false|example|placeholder|guess|"
    r"backwards|"
    r"student|candidate|mistake|correction|does(?:n't| not) work|nowhere|lost|blocked|belongs? to)\b"
)
ADDS = re.compile(
    r"^(?:(?P<is_weak>and|then|in addition)|also|plus|or|as well as|along with|together with|additionally|otherwise|"
    r"failing that|if not|alternatively|maybe|perhaps|don't forget)\b|^[&+]"
)
MORE_PARTS = re.compile(
    r"\b(?:also|too|as well|in addition|additionally|another|so on|etc|(?:something|anything|someone) else|"
    r"(?:other|more|few) (?:things|items|objects)|or more|among others|vice versa|(?:either|any) order|but first)\b|"
    r"\.\.\.|…"
)
HAS_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does?|did|can|could|will|would|should|must|took|takes?|got|gets?|left|"
    r"leaves?|put|went|goes?|go|gave|gives?|held|knows?|found|came|comes?|made|kept|said|told|"
    r"(?:pick|grab|drop|mov|travel|journey|walk|pass|hand|discard|hold|carr[iy]|follow|track|look|see|let|start|end|"
    r"need|return|arriv|stay|contain|mention|list|say|explain|stat|find|check|confirm|conclud|hope|read|count|keep|"
    r"remain|stand|head|turn|reach|lead|help|show)\w*)\b|'s\b|n't\b"
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
    "final inventory list json"
)
"""Words of a remark without a verb that names no part of a list."""
