"""What the name of a column says about it: ids of questions, a model's reply, the truth, or something else."""

import re
from collections.abc import Iterable

IDS = (
    "question_id", "question_index", "questionId", "index", "doc_id", "custom_id", "qid", "id", "idx", "sample_id",
)  # fmt: skip
COUNTERS = ("index", "id", "idx")  # ids that may also count the rows of another file
ANSWER = "answer"
KEY = ""  # the name of the column of ids in an object that maps ids to answers


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


REPLY_WORDS = _words(
    "prediction predictions predicted predict pred preds response responses resp resps output outputs reply replies "
    "generated generation generations completion completions hypothesis hypotheses hyp decoded guess ans"
)
REPLY_NAMES = _words("text content modelanswer modeloutput modelresponse generatedtext filteredresps")
MODEL_WORDS = _words(
    "model llm vlm mllm lmm final extracted parsed my your candidate given assistant system agent bot student"
)
TRUTH_WORDS = _words(
    "gt gts gold golden truth target targets reference references ref correct expected true ground solution"
)
ABOUT_REPLIES = _words(
    "time ms seconds sec latency tokens token length len count path file url id ids index score scores prob probs "
    "probability logprob logprobs logits confidence config type format model name cost hash status state date reason "
    "usage error attempt attempts epoch finish is has hit match"
)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
OTHERS = _words(
    "question prompt input instruction query context passage hint image images imageid imagepath imageindex split kind "
    "family scope program choices options story facets category l2category type questiontype model modelid modelname "
    "method note notes comment source dataset subset fold task metadata answerid boxes scores run seed difficulty "
    "level language lang topic tag tags group user author version licence license"
)  # names without capitals and marks that never have replies


def plain_name(name: str) -> str:
    """Return a name without capitals, spaces and marks, so that `Question ID` is `question_id`."""
    return "".join(letter for letter in name if letter.isalnum()).casefold()


def find_ids(names: Iterable[str]) -> list[str]:
    """Return the columns that may have the ids of questions, the likeliest first."""
    known = list(names)
    if KEY in known:
        return [KEY]
    plain = {plain_name(one): at for at, one in reversed(list(enumerate(IDS)))}
    found = [name for name in known if plain_name(name) in plain]
    exact = {name: at for at, name in enumerate(IDS)}
    return sorted(found, key=lambda name: (exact.get(name, len(IDS)), plain[plain_name(name)]))


def is_answer(name: str) -> bool:
    """Return whether a column has answers: those of a model, or the right ones."""
    return plain_name(name) == ANSWER


def is_reply(name: str) -> bool:
    """Return whether a column looks like the replies or predictions of a model."""
    words = {word.casefold() for word in WORD.findall(name)}
    if plain_name(name) in REPLY_NAMES:
        return True
    if words & (ABOUT_REPLIES - MODEL_WORDS) or words & TRUTH_WORDS:
        return False
    return bool(words & REPLY_WORDS) or (ANSWER in words and bool(words & MODEL_WORDS))


def is_known(name: str) -> bool:
    """Return whether a name is a common one for the ids of questions or for answers."""
    plain = plain_name(name)
    return is_answer(name) or plain in REPLY_NAMES | REPLY_WORDS | {plain_name(one) for one in IDS}


def may_be_reply(name: str) -> bool:
    """Return whether a column of unknown meaning may have replies: names of inputs and figures are left out."""
    words = {word.casefold() for word in WORD.findall(name)}
    return len(name) > 1 and plain_name(name) not in OTHERS and not words & ABOUT_REPLIES and not is_answer(name)
