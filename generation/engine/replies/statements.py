r"""What a text asserts: its sentences, and which of them say something without a doubt.

Plain sentences are in small letters, with single spaces, and without marks of font.
A sentence asserts an answer unless it is a question, a condition, a doubt, an instruction, an offer of help, or says
that the model could not see or answer. /docs/predictions/#free-text has the rules as a table with examples.
"""

import re
from collections.abc import Sequence

from generation.engine.replies.characters import words_of

DRESS = " \t\r\n….,:;!?¡¿→\"'*_`$()[]{}<>|#=~“”‘’"
DRESS_OF_NUMBERS = "".join(set(DRESS) - set(".<>$"))
SIGNED_NUMBER = re.compile(r"\$\d+[^$]*$|[-−.] ?(?=\d)|[<>≤≥]=? ?(?=\d)")
MACRO = re.compile(r"\\(?:text|textbf|textit|mathrm|mathbf|mathit|bf|rm|displaystyle|boxed)\b\s?\{?|\\[()\[\],;! ]")
EMPHASIS = re.compile(r"[*`#~|]+|(?<![^\W_])_+|_+(?![^\W_])")
BULLET = re.compile(r"^(?:(?:[-•+–—→▶‣◦·]|>(?! ?\d)) +)*(?:\(?\d{1,3}[.)] +(?=\S))?")
SENTENCE_END = re.compile(r"(?<=\.\.\.)(?=\w)|(?<=[.!?;])[\"')\]]* +(?=\S)")
ABBREVIATION = re.compile(r"\b(e\.g|eg|ex|fig|nr|vs|approx|ca)\. ")
NUMBER_RANGE = re.compile(r"(?<=\d)[–—](?=\d)")
PARENTHESES = re.compile(r"\([^()]{0,400}\)|\[[^\[\]]{0,400}\]")

IMAGE = (
    r"(?:image|picture|photo|photograph|figure|screenshot|attachment|file|visual|scene|input|upload|story|passage|"
    r"context)s?"
)
REFUSAL = re.compile(
    "|".join(
        (
            # I can't see the image; I am unable to view pictures
            r"\b(?:can't|cannot|can not|couldn't|could not|unable to|not able to|don't|do not|didn't|did not|failed to|"
            r"won't be able to|no way to|without) (?:\w+ ){0,3}(?:see|seeing|view|access|open|load|read|process|"
            r"analy[sz]e|"
            r"display|retrieve|receive|find|have|look at|interpret|inspect|examine|make out|perceive|detect)"
            rf"(?: \w+){{0,3}}? {IMAGE}\b(?! (?:of|with|that|where|containing|showing))",
            r"\b(?:can't|cannot|can not|unable to|not able to|couldn't|could not|impossible to|hard to|difficult to|"
            r"not possible to|no way to) (?:\w+ ){0,2}(?:determine|tell|say|answer|identify|know|discern|assist|help|"
            r"judge|decide|count|give (?:you )?an?|state|commit|choose|verify|confirm|comply|provide|make out|see "
            r"clearly|distinguish)\b",
            # there is no attached image
            rf"\bno (?:[\w-]+ ){{0,2}}?{IMAGE}\b(?! (?:of|with|that|where|which|containing|showing|contains|shows)\b)",
            rf"\b(?:without|missing|lacks?|lacking) (?:an?|the|any|your) (?:\w+ )?{IMAGE}\b",
            rf"\b{IMAGE} (?:\w+ ){{0,2}}?(?:is|was|are|were|seems?|appears?|looks?|did|does|has|have|could|can|"
            rf"failed|isn't|"
            r"wasn't|didn't|doesn't|hasn't|couldn't|can't) (?:to be |to |been |\w+ly )?(?:not|n't|missing|too|"
            r"blurry|blurred|"
            r"unclear|unreadable|unavailable|dark|compressed|distorted|pixelated|noisy|cropped|overexposed|"
            r"corrupt\w*|broken|empty|blank|black|fail\w*|load|come|attached|provided|"
            r"uploaded|included|be)\b(?! (?:a|an|the|there|show|contain|match|depict|support)\b)",
            # please upload one
            r"\b(?:please|kindly|could you|can you|would you|you can|you could|you need to|you may|if you|once you|"
            r"when you|feel free to|try|make sure to) (?:\w+ ){0,3}?(?:upload\w*|attach\w*|shar(?:e|ing)|re-?upload\w*|"
            r"resend\w*|re-?attach\w*|send\w*|provid(?:e|ing)|past(?:e|ing)|supply|describe|clarif\w+|give|take|"
            r"use|wait|contact|try again|re-?submit\w*|"
            r"includ(?:e|ing))\b",
            rf"\b(?:send|sending|give|show|showing|provide|share|upload|attach|paste|need|want|require|await|"
            rf"waiting for|get)\b"
            rf"(?: (?:me|us|to|see|have|with|it|over|access)){{0,3}} (?:an?|the|your|that|this|another|actual|"
            rf"some) (?:\w+ )?{IMAGE}\b",
            # Error 7: ...; HTTP 429
            r"^\W*(?:\w+ ){0,2}(?:error|exception|traceback|warning|err)(?:\b|_)",
            r"\berror(?: code)?[ :#(]*\d|\b(?:http|status|code) ?\d{3}\b|\btraceback\b|\b\w+(?:error|exception):|"
            r"\b(?:rate limit\w*|too many requests|timed out|time-?out|service unavailable|bad gateway|internal "
            r"server|quota|"
            r"api key|payload|unauthori[sz]ed|forbidden|(?:access|permission) denied|overloaded|exceeded|bad request|"
            r"connection (?:reset|refused|lost|closed)|request (?:entity|failed)|invalid (?:request|image|input)|"
            r"content (?:policy|filter)|safety (?:policy|guidelines?|system))\b|^\W*[45]\d\d\b",
            # as an AI; I don't know; not enough information
            r"\bas an? (?:\w+ ){0,2}(?:ai|language model|assistant)\b",
            r"\bi (?:do not|don't|honestly don't) know\b|\bno (?:idea|clue|answer|information)\b|\bn/a\b",
            r"\b(?:not|n't) (?:\w+ )?enough (?:\w+ )?(?:information|detail|context|data)|\binsufficient\b|"
            r"\bunanswerable\b|\bcannot be (?:\w+ )?(?:answered|determined|known|seen|inferred)\b|"
            r"\bcan't be (?:answered|determined|known|inferred|told)\b|\bunknown\b|\bundetermined\b|\bundeterminable\b",
            r"\bi(?:'m| am| must)? (?:\w+ )?(?:decline|refuse|abstain)\b|\bi won't\b|\bi will not\b|\bagainst my\b",
            r"\btoo (?:small|dark|large|big|blurry|bright|far|low|unclear|noisy|grainy)\b(?: \w+){0,3} (?:to|for)\b",
            r"\blow (?:quality|resolution)\b",
            r"\bi (?:can't|cannot|can not|couldn't|don't|didn't) (?:\w+ )?(?:see|view|make out) "
            r"(?:anything|nothing)\W*$|"
            r"\bi (?:can't|cannot|can not|couldn't) see\W*$|\bi see nothing(?: at all)?\W*$|\bi(?:'m| am) blind\b",
        )
    )
)
"""The model could not see or answer."""

OFFER = re.compile(
    r"\b(?:i|we)(?:'d| would|'m| am|'ll| will| can)? (?:be )?(?:happy|glad|pleased|able|delighted)? ?(?:to )?(?:\w+ )?"
    r"(?:help|assist|analy[sz]e|take a look|do (?:that|this|so)|answer (?:that|this|your|any)|describe)\b|"
    r"\b(?:what|which|how) (?:would|can|do|question|else)\b.*\?|"
    r"^(?:yes|no|sure|ok|okay|of course)?\W*(?:i|we) (?:can |do |have |could )?(?:see|view|received?|got|have|"
    r"understand|"
    rf"looked at) (?:the|your|this|an?) (?:\w+ )?{IMAGE}\b(?! (?:of|with|that))"
)
"""The model offers help, or says that it has the picture: `Yes, I can help!`"""

DOUBT = re.compile(
    r"\b(?:(?<!no )(?<!without )(?<!without a )(?<!beyond )(?<!beyond any )doubt\w*|not (?:\w+ )?(?:sure|certain|"
    r"clear|confident|convinced)|n't (?:sure|certain|think(?! so\W*$)|believe|say)|unsure|"
    r"uncertain|unlikely|unclear|might|maybe|perhaps|possibly|could (?:also |well |either )?be|may (?:also |well )?be|"
    r"may or may not|whether|not think|not believe|wonder|hesitat\w*|suspect|either way|depend\w*|ambiguous|"
    r"(?:partly|partially)(?! (?:hidden|occluded|covered|obscured|visible|behind|by|in|cut)\b)|rumou?r|wouldn't|"
    r"would not|some (?:people )?would|others would|"
    r"supposed(?:ly)?|allegedly|pretend|imagine|guessing)\b"
)
"""Doubts. Weaker words, such as `probably`, `I think` and `looks`, still assert."""

EARLIER = re.compile(
    r"\b(?:before (?:that|this|then)|^before (?!(?:\w+ ){0,4}the \w+,)|earlier|previously|at first|originally|"
    r"initially|used to|formerly|in "
    r"the beginning)\b"
)
"""What was before: `at first she was in the garden`."""
CONDITION = re.compile(
    r"\b(?:example|sample|format|template|instance) ?:|\b(?:if|unless|^suppose|supposing|assuming|provided that|in "
    r"case|were to|would (?:\w+ )?be|would have|should it|"
    r"otherwise|(?:example|sample|expected|template|possible|your) (?:answer|reply|response|output|format)|could "
    r"look|should (?:be|look) (?:a |an |one |like)|you can (?:just )?(?:write|say|answer)|for example|for instance|"
    r"e\.g\.|such as|hypothetically)\b|\be\.?g\b"
)
INSTRUCTION = re.compile(
    r"\b(?:answer|reply|respond|write|say|type) (?:only |just |simply )?(?:with|in|using|by|either)\b|"
    r"\b(?:options|choices|possible answers|candidates|possibilities|alternatives) (?:are|were|include|given)\b|"
    r"\b(?:options|choices|possible answers)\b ?:|\bpossible \w+ (?:are|were)\b|^(?:question|q|caption|statement|"
    r"prompt) ?:|"
    r"\b(?:need|have|want|going|try|trying|asked|task is|question is|goal is|question asks|asks?) (?:me |us |you |"
    r"is )?(?:to(?! (?:the|go|walk|head|move|travel|turn)\b)|if|whether|"
    r"about|how|what|which)\b"
)
CONCLUSION = re.compile(
    r"(?:^|[,;:] |\band |\bis that | (?=so (?:yes|no)\b))(?:so(?! (?:is|are|was|were|does|do|did|has|have|much|"
    r"many|far)\b)|therefore|thus|hence|in total|overall|in conclusion|in summary|to conclude|"
    r"altogether|all in all|consequently|accordingly|finally|total|sum(?= ?:)|the total|that's|that (?:gives|makes|"
    r"means|leaves)|"
    r"this (?:gives|makes|means|leaves)|which (?:gives|makes|means|leaves)|giving|making|leaving|conclusion|"
    r"ergo)\b|\b(?:asked for|in question|a total of|the (?:count|total|number|sum|result) is)\b"
)
RETRACTION = re.compile(
    r"\b(?:wait|actually|correction|scratch that|on second thought|let me (?:re|look again|check again|correct|count "
    r"again)\w*|i was (?:wrong|mistaken)|my mistake|i made (?:a|an) (?:mistake|error)|i meant|i mean|oops|sorry|"
    r"revis\w+|changed? my mind|hold on|hmm|rather(?! than)|no longer|instead(?! of)|alternatively|on the other "
    r"hand|make (?:that|it)|closer inspection)\b|^no\b(?=[,.!]| wait)"
)
REASON = re.compile(
    r"[:;–—]| - |\b(?:because|since|as|which|that|who|while|whereas|though|although|with|where|based on|given|after|"
    r"considering|due to|so|when|except|even though|however)\b"
)
HEAD_END = re.compile(
    r"[.!?;](?=[ \"')\]]|$)|,(?!\d)|:(?!\d)|[(\[–—]| - | (?:because|since|as|which|that|who|while|whereas|though|"
    r"although|with|where|based on|given|after|considering|due to|if|unless|but|"
    r"instead of|rather than|not|and not|when|so)\b"
)
LEAD_IN = re.compile(
    r"^(?:(?:sure|ok|okay|well|hmm|so|of course|certainly|absolutely|definitely|clearly|indeed|simply|exactly|just|"
    r"only|"
    r"there (?:is|are)|there's|it is|it's|it was|they are|they're|that is|that's|this is|i see|i count|i counted|"
    r"i'd say|"
    r"i would say|i think|i believe|i say|color|colour|shape|size|material|the|a|an|in the|at the|to the|she|he|is "
    r"in|be|total of|a total of|about|"
    r"likely|probably|most likely|about|approximately)\b[,:!]? ?)+"
)

NEGATION = re.compile(
    r"(?:\b(?:(?:not|no(?! (?:or|and)\b))(?: idea| clue| way that| chance that| way| true that)?|cannot|never|"
    r"neither|nor|none|nothing|than|at (?:least|most)|up to|except|unlike|"
    r"instead of|rather than|as opposed to|(?:anything|everything|all|any \w+) but|other than|excluding|far from|"
    r"hardly|rul(?:e|ed|es|ing) out|exclud(?:e|ed|es|ing)|eliminat(?:e|ed|es|ing)|"
    r"discard(?:ed)?|dropped|le(?:ft|aves)(?= the )|leaving|(?:minimum|maximum) of|fewer|less|more|(?:over|under|"
    r"above|below)(?= \d)|besides|apart from|aside from|without|no longer|(?:almost|nearly|roughly)(?= \d))|n't)"
    r"[\"']{0,2}(?=((?: (?!(?:and|but|so|because|no|therefore|thus)\b|-)[^\s.,:;!?–—()]+){1,4}))"
)
"""A negation or comparison, and up to four words after it that it may be about, within the same part of a sentence."""
CONTRAST = re.compile(
    r"(?:[,;(–—-] ?(?:and |but )?| and | but )not "
    r"(?!(?:this|that|really|quite|at all|sure|certain|exactly|even|true|final)\b)"
    r"(?:an? |the )?[^.;:!?()]{1,30}?(?=[.;:!?)]|$|, (?:because|since|"
    r"as|so|and)\b)|"
    r",? (?:rather than|instead of|as opposed to) (?:an? |the )?[^\s.,;:!?()]+(?: [^\s.,;:!?()]+)?(?=[.,;:!?)]|$| "
    r"(?:because|since|as|so)\b)|"
    r"\bnot (?:an? |the )?[^.,;:!?()]{1,30},? but\b"
)
"""What is not the answer, beside what is: `, not blue` in `red, not blue`, and `rather than blue`."""
NEGATED_PAIR = re.compile(r"\b(?:neither|not (?:either )?) ?([^.,:;!?–—()]{1,40}) (?:nor|or) ([^.,:;!?–—()]{1,40})")
DENIAL = re.compile(
    r"(?<![\w.'-])(\w[\w.'-]*)[\"']{0,3} (?:"
    r"(?:is|was)(?: not|n't) (?:right|correct|true|possible|the (?:right |correct )?(?:answer|case|one))|"
    r"(?:is|was|would be|can be|has been|have been|are|were) (?:wrong|incorrect|impossible|ruled out|excluded|"
    r"eliminated|"
    r"false|unlikely)|can(?:not|'t) be (?:right|correct|true|the (?:right |correct )?answer)|(?:doesn't|does not) "
    r"(?:fit|apply|match))\b"
)
"""A word that is denied directly after it: `red is not right`."""

STRONG_RETRACTION = re.compile(
    r"\b(?:wait|scratch that|on second thought|i was (?:wrong|mistaken)|my mistake|i made (?:a|an) (?:mistake|"
    r"error)|oops|sorry|"
    r"take (?:that|it) back|made (?:that|this|it) up|ignore|disregard|forget (?:that|this|it|what|my)|never ?mind|"
    r"(?:scrap|strike) (?:that|this|it)|redo|on reflection|correct (?:myself|that|this)|misread|edit(?=\W)|hold on|"
    r"let me (?:re|check|look|correct|verify|count|think|see|double|find|identify|locate|analy)\w*|"
    r"(?:that|which|this|but (?:it|that|this))(?:'s| is| was| would be) (?:\w+ )?(?:wrong|incorrect|mistaken|false|"
    r"an? (?:mistake|"
    r"error)|not (?:right|correct|true))|that (?:can't|cannot) be (?:right|correct|true)|not sure|hmm|now (?:line|"
    r"to)|could (?:just as well|also|"
    r"equally)|may be wrong|might be wrong|i give up|"
    r"jok(?:e|ed|ing)|kidding|a lie|lied|(?:equally|just as|also) (?:plausible|possible|likely))\b"
)
"""The text takes back what it said before, or goes on searching."""
RETREAT = re.compile(
    r"^(?:well|at least|or rather|or not|but then|then again)\b|\b(?:s?he|they|it) (?:\w+ )?left(?: it| again|"
    r" there)?[.!]?$"
)
"""A later sentence takes an answer back, or says that it does not hold any more: `She then left.`"""
MISSING = re.compile(
    r"\b(?:isn't|is not|aren't|are not|wasn't|was not|doesn't|does not|don't|never|not|no longer) (?:\w+ "
    r"){0,2}(?:mention\w*|give|given|named|reveal\w*|stat(?:e|ed)|"
    r"specified|sa(?:y|id)|known|shown|describe\w*|listed|told|tell|visible)\b|\b(?:is|are) hidden\b|\bnobody\b|"
    r"\bno \w+ (?:is|was|are) (?:given|stated|mentioned|named|provided|shown)\b"
)
"""The text says that what was asked for is not there."""
GONE = re.compile(
    r"\b(?:went|goes|moved|travell?ed|journeyed|walked|ran|returned|came|headed)\b(?! (?:back )?there\b)|\belsewhere\b|"
    r"\b(?:somewhere else|after (?:that|which) to|then to)\b"
)
"""Somebody went on to a place; if it is none of the answers, the place before it is none either."""
EMPTY_HANDED = re.compile(
    r"(?!(?:i|we|you|it|this|that|which|what|nobody)\b)\w{2,20}(?: is| does| has)?(?:n't| not)"
    r"(?: currently| now| still)? (?:carry|carrying|hold|holding|have) anything"
    r"(?: (?:now|any ?more|at all|anymore|at the moment|currently))?"
)
UNCOUNTED = re.compile(
    r"\b(?:(?:is|are|be) (?:\w+ )?(?:hidden|occluded)|hidden ones?|out of (?:view|frame)|not counting|minus the|"
    r"(?:thing|object|one)s? (?:that )?i (?:can't|cannot|couldn't)|more may|"
    r"may be more|"
    r"others? (?:may|might|could)|as far as i can (?:see|tell)|(?:can't|cannot|couldn't) see "
    r"(?:all|the (?:rest|others?))|so far|up to now|until now|for now|and counting)\b"
)
"""There may be more than the text counts: `There are 3, but others are hidden.`"""
FURTHER = re.compile(
    r"\b(?:many|several|some|few|one|two|three|\d|with|and) more\b(?! than)|"
    r"(?:\band|,) more (?:outside|beyond|behind|off|out)\b|"
    r"(?:\band|\bwith|\bplus|,) (?:others|another|the rest|many|several|some|a crowd|a few|more)\b"
    r"(?: \w+){0,3}? (?:in|behind|on|at|to|further|beyond|near)\b"
)
"""A count of a part: `There are 3 in front and several more behind.`"""
ELSEWHERE = re.compile(
    r"\b(?:usual(?:ly)?|typical(?:ly)?|normally|generally|often|sometimes|by default|in general|as a rule|"
    r"(?:other|another|previous|last|earlier|next|different|most|many|some|all|similar|such) (?:\w+ )?"
    rf"(?:{IMAGE}|question|example|case|dataset|puzzle|problem|version|task|stor(?:y|ies))s?)\b|"
    r"\baccording to (?:the|an?|some|my|your|its|most) (?!(?:\w+ )?(?:image|picture|photo|scene|story|text|passage|"
    r"context|"
    r"line|lines|given|facts?|statements?|sentences?|information|trace|clues?|rules?)\b)\w+|"
    r"\b(?:people|they|someone|somebody|others|who|caption|title|label|legend|name|user|student|annotator|teacher|"
    r"colleague|"
    r"friend|assistant|model) (?:\w+ ){0,2}?(?:says?|said|claim(?:s|ed)?|suggests?|states?|heard|told|wrote|writes|"
    r"answers|answered|reported|reports)\b|"
    r"\bi (?:heard|read|was told)\b|\byou (?:say|said|claim)\b"
)
"""What somebody else says, what holds in general, and what is so in another picture."""
REJECTED = re.compile(
    r"[^a-z,]{0,3}(?:(?:is|was|seems|looks|would be|can be|must be) )?(?:\w+ly )?(?:wrong|incorrect|ruled|excluded|"
    r"eliminated|"
    r"impossible|not\b|isn't|wasn't|can't|cannot|doesn't)"
)
"""What rejects an answer or a letter before it: `is wrong`, `is not my answer`."""
CHAT = re.compile(
    r"\b(?:attach\w*|upload\w*|loaded|you (?:did|didn't|have|haven't|sent|asked|gave))\b|"
    r"\b(?:question|help|ready|understand|please|thank\w*|error|an? (?:\w+ )?(?:image|picture|photo)|problem|issue|"
    r"let me|let's|one (?:second|sec|moment|minute)|"
    r"go ahead|happy|glad|given an?|"
    r"been given|our side|"
    r"went wrong|i'm here|i got|sir|"
    r"an? (?:caption|statement|text)|misunderst\w+|another time|moment|"
    r"image (?:has|is|was|hasn't|isn't)|good one|tough one|read the|"
    r"have (?:read|looked)|a look at)\b"
)
"""Words after yes or no that are about the conversation, not about the picture."""
OPEN_DENIAL = re.compile(r"(?:\b(?:is|are|was|does|do|did) not|n't)[.!]?$")
"""A denial at the end of a sentence: `The cube is red and the ball isn't`."""
THINGS = words_of(
    "object objects thing things item items shape shapes figure figures one ones cube cubes sphere spheres "
    "cylinder cylinders ball balls block blocks square squares circle circles triangle triangles rectangle "
    "rectangles pentagon pentagons cross crosses ellipse ellipses semicircle semicircles cone cones torus dot "
    "dots vehicle vehicles car cars truck trucks bus buses person people animal animals red green blue yellow "
    "gray grey brown purple cyan magenta white black orange pink large big small tiny metal metallic shiny matte "
    "rubber"
)
"""Words for what a picture can have, and for how it can look."""
EXISTENCE = re.compile(
    r"\bthere(?: is|'s| are| was| were|re) (?:no|not|n't any)((?: (?:"
    + "|".join(sorted(THINGS | {"such", "a", "an", "any", "matching", "single", "visible"}))
    + r"))+)(?= [^a-z]|[.,;!]| (?:in|on|at|to|of|left|right|"
    r"behind|front|here|visible|present|that|which|with|so|because|and so|above|below|near|next|matching|there|"
    r"therefore|hence|thus)\b|$)"
)
"""`There is no red cube` says no. The noun must be a thing: `there is no difference` says yes."""
NONE_EXISTS = re.compile(
    rf"no(?: (?:such|matching|other|{'|'.join(sorted(THINGS))}))+ (?:exists?|"
    r"(?:is|are) (?:present|visible|there|found|shown))(?: in (?:the|this) (?:image|picture|scene|photo))?|"
    rf"there (?:is|are) no other(?: (?:{'|'.join(sorted(THINGS))}))+ (?:with|of|that (?:has|have|is|are)) the same\b.*"
)
"""`No such object exists` says no, and so does `there is no other cube with the same color`."""
CAPTION = (
    r"(?:(?:the|this|that|your|given) ){0,3}(?:caption|statement|claim|sentence|description|assertion)"
    r"(?: \"[^\"]{1,120}\")?(?: is|'s| was)"
)
UNTRUE = re.compile(
    rf"{CAPTION}(?: \w+ly)? (?:wrong|incorrect|inaccurate|untrue|false)\b|(?:that|this|it)(?: is|'s) (?:incorrect|"
    rf"untrue|false)$|"
    r"(?:the |this )?(?:caption|statement|claim|sentence|description) (?:does not|doesn't) (?:match|hold|describe|"
    r"fit|apply)\b|"
    rf"{CAPTION}(?: not|n't)(?: \w+)? (?:true|correct|accurate|the case)\b|(?:that|this|it)(?: is|'s| was)"
    r"(?: not|n't)(?: \w+)? (?:true|correct|accurate|the case)(?:$| that\b(?!.*\b(?:no|not|never|none)\b))"
)
"""`The caption is not true` says no."""
WHOLLY = r"(?= ?(?:$|[^\w\s])| (?:because|since|as|so|given|and|for (?:the|this)|in (?:the|this)|based|here|that)\b)"
TRUE = re.compile(
    rf"(?:{CAPTION}(?: \w+ly)? (?:correct|accurate|right|true)|"
    r"(?:the|this|that) (?:caption|statement|description|sentence) (?:fits|matches|describes)"
    rf"(?: (?:the|this) (?:image|picture|photo|scene))?)\b{WHOLLY}"
)
ADMITS = re.compile(r"it(?: is|'s)(?: \w+ly)? (?:true|correct|right) that\b")
TRUE_THAT = re.compile(
    r"it(?: is|'s)(?: \w+ly)? true that (?=(?:there|the|an?|most|all|some|both|every|each|exactly|only|at|more|fewer|"
    r"less|half|two|three|four|five|\d+)\b)(?!.*\b(?:no|not|never|caption|statement|claim|sentence|description|image|people|"
    rf"can|way|ways|question)\b)(?=.*\b(?:{'|'.join(sorted(THINGS))})\b)"
)
PLACE = re.compile(
    r"\b(?:(?:which|that) (?:is|are) )?(?:behind|in front of|(?:to the |on the )?(?:left|right) of|next to|"
    r"near(?:er)?(?: to)?|beside|besides|above|below|underneath|"
    r"under|between|clos(?:e|er|est) to|adjacent to|opposite|the same (?:\w+ )?as|(?:bigg|small|larg|tall|dark|"
    r"light|bright|wid|thick)er than|compared (?:to|with))"
    r"(?: (?!(?:is|are|was|were|has|looks?|appears?|seems?|it (?:is|was|has|looks)|it's|there|so|but|because|the "
    r"(?:answer|object)|and (?:in front|behind|next|near|close|beside|above|below|under|to the (?:left|right)|left|"
    r"right|(?:it|the \w+|the \w+ \w+) (?:is|are)))\b)[\w'-]+){1,6}(?: (?:that|which) (?:is|are) (?:\w+ ){0,2}\w+)?"
)
"""A phrase about another object: `behind the red cube`."""
DETERMINER = re.compile(
    r"\bno(?= (?!(?:it|there|i|the|this|that|these|those|they|he|she|we|because|since|as|and|but|not|wait|in|at|"
    r"none|nothing|"
    r"only|all|neither|a|an|both|is|was|for|if|object has)\b)[\"']?[^\W\d_])"
)
"""The word no before a noun, which is not the answer no: `no other objects`, `no doubt`."""


def without_macros(text: str) -> str:
    """Return a text without LaTeX's commands for font and mathematics."""
    return MACRO.sub(" ", text).replace("{", " ").replace("}", " ") if "\\" in text else text


def plain_sentence(text: str) -> str:
    """Return a text in small letters with single spaces, and without marks of font."""
    if text.count("$") > 1:
        text = text.replace("$", "")
    said = " ".join(EMPHASIS.sub("", without_macros(text)).split()).casefold()
    return ABBREVIATION.sub(r"\1.", NUMBER_RANGE.sub("-", said)).replace("i.e. ", "")


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text that have words, as plain sentences without the signs and numbers of lists."""
    return [BULLET.sub("", said) for said in map(plain_sentence, text.split("\n")) if said.strip(DRESS)]


def sentences_of(lines: Sequence[str]) -> list[str]:
    """Return the sentences of plain lines."""
    found = (one for line in lines for one in SENTENCE_END.split(line) if one.strip(DRESS))
    return [_without_earlier_doubt(one) for one in found]


def _without_earlier_doubt(sentence: str) -> str:
    """Return what follows `but`, if a doubt or an earlier state is before it: `I am not sure, but red`."""
    before, but, after = sentence.partition(", but ")
    return after if but and (DOUBT.search(before) or EARLIER.search(before)) else sentence


def bare(text: str) -> str:
    """Return a text without the signs around it, apart from those that belong to a number: `-3`, `.5`, `< 5`."""
    return text.strip() if SIGNED_NUMBER.match(text.lstrip(DRESS_OF_NUMBERS)) else text.strip(DRESS)


def is_refusal(sentence: str) -> bool:
    """Return whether a plain sentence says that the model could not see or answer."""
    return REFUSAL.search(sentence) is not None


def is_asserted(sentence: str, *, doubts: bool = True) -> bool:
    """Return whether a plain sentence is no question, condition, instruction, offer and, with `doubts`, no doubt."""
    return not (
        sentence.rstrip("\"') ").endswith("?")
        or CONDITION.search(sentence)
        or INSTRUCTION.search(sentence)
        or OFFER.search(sentence)
        or EARLIER.search(sentence)
        or ELSEWHERE.search(sentence)
        or (doubts and DOUBT.search(sentence))
    )


def denied_parts(sentence: str) -> str:
    """Return the parts of a plain sentence that a negation, a comparison or a denial is about."""
    pairs = [part for pair in NEGATED_PAIR.findall(sentence) for part in pair]
    return " . ".join([*NEGATION.findall(sentence), *DENIAL.findall(sentence), *pairs])
