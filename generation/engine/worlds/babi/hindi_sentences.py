"""How sentences are said in Hindi: each English pattern with its own.

A slot `{who}` takes a word of `hindi_words.VARIANTS`, one of several with a digit after its kind; in Hindi `{place.o}`
takes the form before a postposition, `{state.who}` that which agrees with another slot, and `<who:a/i/e/in>` an ending
that agrees with it: masculine, feminine, and those of several, masculine and feminine. Patterns that don't begin with
a name are in small letters; sentences begin with a capital.
"""

MOVES = (
    ("went over to the", "{place.o} chal<WHO:a/i/e/i> gay<WHO:a/i/e/in>"),
    ("returned to the", "{place.o} laut<WHO:a/i/e/in>"),
    ("journeyed to the", "yatra karke {place.o} gay<WHO:a/i/e/in>"),
    ("moved on to the", "aage badhkar {place.o} gay<WHO:a/i/e/in>"),
    ("travelled to the", "safar karke {place.o} pahunch<WHO:a/i/e/in>"),
)
WAYS_TO_SAY_A_MOVE = (  # in English around the verb and the place, in Hindi before them, and whom the verb agrees with
    ("{who} VERB {place}.", "{who}", "who"),
    ("{who} and {who2} VERB {place}.", "{who} aur {who2}", "who+who2"),
    ("{link}, {pronoun} VERB {place}.", "{link} {pronoun}", "pronoun"),
    ("{time} {who} VERB {place}.", "{time} {who}", "who"),
    ("{who} VERB {place} {time}.", "{who} {time}", "who"),
)
DEEDS = (
    ("got the", "paay<thing:a/i>"),
    ("took the", "li<thing:ya/>"),
    ("grabbed the", "pakd<thing:a/i>"),
    ("picked up the", "uthay<thing:a/i>"),
    ("dropped the", "giray<thing:a/i>"),
    ("discarded the", "phenk<thing:a/i>"),
    ("left the", "chhod<thing:a/i>"),
    ("put down the", "neeche rakh<thing:a/i>"),
)
GIVES = (("gave", "di<thing:ya/>"), ("handed", "thamay<thing:a/i>"), ("passed", "pakday<thing:a/i>"))

STATEMENTS = (
    ("{who} is in the {place}.", "{who} {place.o} mein hai."),
    ("{who} is no longer in the {place}.", "{who} ab {place.o} mein nahin hai."),
    ("{who} is not in the {place}.", "{who} {place.o} mein nahin hai."),
    ("{who} is either in the {place} or in the {place2}.", "{who} ya to {place.o} mein hai ya {place2.o} mein."),
    ("the {place} lies {direction} of the {place2}.", "{place} {place2.o} ke {direction} mein hai."),
    ("{kinds} are afraid of {kinds2}.", "{kinds} {kinds2.o} se dart<kinds:a/i/e/i> hain."),
    ("{who} is a {species}.", "{who} ek {species} hai."),
    ("{who} is {colour}.", "{who} ka rang {colour} hai."),
    ("{who} is {state}.", "{who} {state.who} hai."),
    ("the {shape} is {side} the {shape2}.", "{shape} {shape2.o} ke {side} hai."),
    ("the {solid} fits inside the {solid2}.", "{solid} {solid2.o} ke andar sama jaat<solid:a/i> hai."),
    ("the {solid} is bigger than the {solid2}.", "{solid} {solid2.o} se bad<solid:a/i> hai."),
)
QUESTIONS = (
    ("where is {who} now?", "{who} ab kahan hai?"),
    ("where is the {thing} now?", "{thing} ab kahan hai?"),
    (
        "where was the {thing} before it was in the {place}?",
        "{place.o} mein hone se pehle {thing} kahan th<thing:a/i>?",
    ),
    ("which place lies {direction} of the {place}?", "{place.o} ke {direction} mein kaun si jagah hai?"),
    ("the {place} lies {direction} of which place?", "{place} kis jagah ke {direction} mein hai?"),
    ("is {who} in the {place} now?", "kya {who} ab {place.o} mein hai?"),
    ("how many things does {who} carry?", "{who} ke paas kitni cheezein hain?"),
    ("which things does {who} carry?", "{who} ke paas kaun si cheezein hain?"),
    ("where was {who} right before the {place}?", "{who} {place.o} se theek pehle kahan th<who:a/i>?"),
    ("of which animal is {who} afraid?", "{who} kis jaanvar se dart<who:a/i> hai?"),
    ("which colour is {who}?", "{who} ka rang kaun sa hai?"),
    ("is the {shape} {side} the {shape2}?", "kya {shape} {shape2.o} ke {side} hai?"),
    ("does the {solid} fit inside the {solid2}?", "kya {solid} {solid2.o} ke andar sama jaat<solid:a/i> hai?"),
    ("is the {solid} bigger than the {solid2}?", "kya {solid} {solid2.o} se bad<solid:a/i> hai?"),
    ("how does one get from the {place} to the {place2}?", "{place.o} se {place2.o} tak kaise jaate hain?"),
    ("where will {who} go?", "{who} kahan jaayeg<who:a/i>?"),
    ("why did {who} go to the {place}?", "{who} {place.o} kyon gay<who:a/i>?"),
    ("why did {who} get the {thing}?", "{who} ne {thing} kyon li<thing:ya/>?"),
)
GIFTS = (  # with LAST or without it
    ("what did {who} LASTgive to {who2}?", "{who} ne {who2} ko LASTkya diya?"),
    ("who LASTgave the {thing} to {who}?", "{who} ko LAST{thing} kisne di<thing:ya/>?"),
    ("who LASTgave the {thing} to somebody?", "kisi ko LAST{thing} kisne di<thing:ya/>?"),
    ("who LASTreceived the {thing}?", "LAST{thing} kise mil<thing:a/i>?"),
    ("to whom did {who} LASTgive the {thing}?", "{who} ne LAST{thing} kise di<thing:ya/>?"),
)

PATTERNS: tuple[tuple[str, str], ...] = (
    *(
        (english.replace("VERB", verb), f"{hindi} {said}.".replace("WHO", whom))
        for english, hindi, whom in WAYS_TO_SAY_A_MOVE
        for verb, said in MOVES
    ),
    *(
        (f"{{who}} {verb} {{thing}}{there}.", f"{{who}} ne {wahan}{{thing}} {said}.")
        for verb, said in DEEDS
        for there, wahan in (("", ""), (" there", "wahan "))
    ),
    *(
        (f"{{who}} {verb} the {{thing}} to {{who2}}.", f"{{who}} ne {{who2}} ko {{thing}} {said}.")
        for verb, said in GIVES
    ),
    *STATEMENTS,
    *QUESTIONS,
    *(
        (english.replace("LAST", last), hindi.replace("LAST", aakhiri))
        for english, hindi in GIFTS
        for last, aakhiri in (("last ", "aakhiri baar "), ("", ""))
    ),
)
