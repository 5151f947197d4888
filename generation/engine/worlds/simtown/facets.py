"""Facets of SimTown's questions, and the charts and boards that use them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from generation.engine.items import AnswerForm, AnswerKind, ChartView, Column, Facet, FacetKind, Item, Needs, Question
from generation.engine.worlds import SEEN, UNSEEN
from generation.engine.worlds.breakdowns import BoardView
from generation.engine.worlds.simtown.frequencies import pair_table
from generation.engine.worlds.simtown.programs import RELATIONS, words_of
from generation.engine.worlds.simtown.road import box_of
from generation.engine.worlds.simtown.scene import DIGITS, SimTownScene, Vehicle
from generation.engine.worlds.simtown.spec import SimTownSpec
from generation.engine.worlds.simtown.weather import WEATHERS

ANSWERS = ("yes", "no")
WAYS: Mapping[str, str] = {
    "true": "true",
    "reversed": "false: reversed relation",
    "wrong": "false: the distractor as subject",
    "absent-subject": "false: absent subject",
    "absent-object": "false: absent object",
}
MOST_METRES = 20
OVERLAPS: Mapping[str, str] = {
    "none": "no overlap",
    "10": "up to 10 %",
    "25": "up to 25 %",
    "50": "up to 50 %",
    "over": "over 50 %",
}
SHARES: Mapping[str, float] = {"20": 0.2, "10": 0.1, "5": 0.05, "2": 0.02, "1": 0.01, "under": 0.0}
SHARE_LABELS = ("20 % or more", "10 to 20 %", "5 to 10 %", "2 to 5 %", "1 to 2 %", "under 1 %")
PAIRS: Mapping[str, float] = {"1e-1": 1e-1, "3e-2": 3e-2, "1e-2": 1e-2, "3e-3": 3e-3, "1e-3": 1e-3, "under": 0.0}
PAIR_LABELS = (
    "1 of 10 questions or more",
    "1 of 33 to 1 of 10",
    "1 of 100 to 1 of 33",
    "1 of 330 to 1 of 100",
    "1 of 1,000 to 1 of 330",
    "less than 1 of 1,000",
)
TRAIN: Mapping[str, str] = {"seen_text": "question seen in train", "seen_pair": "subject and object seen in train"}
OF_PROGRAM = ("subject", "object", "subject_share", "object_share", "pair_share")
OF_SCENE = ("weather", "distractor", "way", "distance", "overlap")

VIEWS = (
    ChartView("types", "Relations", "type", "relation"),
    ChartView("answers", "Answers", "answer", "answer"),
    ChartView("subjects", "Subjects", "subject", "subject"),
    ChartView("objects", "Objects", "object", "object"),
    ChartView(
        "subject-shares", "Frequency of the subject in training (figure 13)", "subject_share", "share of subjects"
    ),
    ChartView("object-shares", "Frequency of the object in training (figure 13)", "object_share", "share of objects"),
    ChartView("pair-shares", "Frequency of the pair in training", "pair_share", "share of pairs"),
    ChartView("ways", "How questions are true or false", "way", "way"),
    ChartView("weathers", "Weather", "weather", "weather"),
    ChartView("distances", "Distance of subject and object", "distance", "metres"),
    ChartView("overlaps", "Overlap of subject and object in the picture", "overlap", "of the smaller box"),
)


def _board_views() -> Iterator[BoardView]:
    yield BoardView("pair-shares", "Frequency of the pair in training", "pair_share", "share of pairs")
    yield BoardView("subject-shares", "Frequency of the subject in training", "subject_share", "share of subjects")
    yield BoardView("object-shares", "Frequency of the object in training", "object_share", "share of objects")
    yield BoardView("ways", "How questions are true or false", "way", "way")
    yield BoardView("types", "By relation", "type", "relation")
    yield BoardView("subjects", "By subject", "subject", "subject")
    yield BoardView("objects", "By object", "object", "object")
    yield BoardView("weathers", "Weather", "weather", "weather")
    yield BoardView("distances", "Distance of subject and object", "distance", "metres")
    yield BoardView("overlaps", "Overlap of subject and object in the picture", "overlap", "of the smaller box")


BOARD_VIEWS: tuple[BoardView, ...] = tuple(_board_views())


def facets(spec: SimTownSpec) -> tuple[Facet, ...]:
    """Return the facets of a dataset, in the order of the pages."""
    return tuple(_facets(spec.names, tuple(RELATIONS)))


def _facets(names: tuple[str, ...], relations: tuple[str, ...]) -> Iterator[Facet]:
    category = FacetKind.CATEGORY
    yield Facet("type", "relation", category, relations, False, labels=tuple(RELATIONS.values()))
    yield Facet("answer", "answer", category, ANSWERS, reveals=True)
    yield Facet("subject", "subject", category, names, reveals=False)
    yield Facet("object", "object", category, names, reveals=False)
    for what in ("subject", "object"):
        label = f"frequency of the {what} in training"
        yield Facet(f"{what}_share", label, category, tuple(SHARES), False, labels=SHARE_LABELS)
    yield Facet("pair_share", "frequency of the pair in training", category, tuple(PAIRS), False, labels=PAIR_LABELS)
    yield Facet("way", "how it is true or false", category, tuple(WAYS), True, labels=tuple(WAYS.values()))
    yield Facet("weather", "weather", category, tuple(WEATHERS), reveals=True)
    yield Facet("distractor", "distractor", category, ("yes", "no"), reveals=True)
    metres = tuple(str(number) for number in range(MOST_METRES + 1))
    yield Facet("distance", "distance of subject and object in metres", FacetKind.INTEGER, metres, reveals=True)
    labels = tuple(OVERLAPS.values())
    yield Facet(
        "overlap", "overlap of subject and object in the picture", category, tuple(OVERLAPS), True, labels=labels
    )
    for name, label in TRAIN.items():
        yield Facet(name, label, category, (SEEN, UNSEEN), False, Needs.TRAIN, labels=("seen", "new"))


def facet_codes(spec: SimTownSpec, item: Item) -> Mapping[str, Sequence[int]]:
    """Return each facet's code for each question of a scene; codes are positions in the facet's `values`."""
    rows = [_codes(spec, item.scene if isinstance(item.scene, SimTownScene) else None, one) for one in item.questions]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _codes(spec: SimTownSpec, scene: SimTownScene | None, question: Question) -> dict[str, int]:
    answer = question.answer.text if question.answer else None
    asked = None if question.program is None else words_of(question.program)
    codes = {"type": _code(tuple(RELATIONS), question.kind), "answer": _code(ANSWERS, answer)}
    codes |= dict.fromkeys((*OF_PROGRAM, *OF_SCENE), -1)
    if asked is not None and asked[0] in spec.names and asked[2] in spec.names:
        subject, relation, other = asked
        a, b = spec.names.index(subject), spec.names.index(other)
        shares = spec.usual.subjects[a], spec.usual.objects[b]
        codes |= {"subject": a, "object": b, "pair_share": _bin(PAIRS, float(pair_table(spec.usual)[a, b]))}
        codes |= {"subject_share": _bin(SHARES, shares[0]), "object_share": _bin(SHARES, shares[1])}
        if scene is not None:
            codes |= _of_pair(scene, subject, relation, other)
    if scene is not None:
        codes |= {"weather": _code(tuple(WEATHERS), scene.weather), "distractor": int(not scene.distractor)}
    return codes


def _of_pair(scene: SimTownScene, subject: str, relation: str, other: str) -> dict[str, int]:
    one, two = scene.number_of(subject), scene.number_of(other)
    if one is None or two is None:
        return {"way": _code(tuple(WAYS), "absent-subject" if one is None else "absent-object")}
    first, second = scene.vehicles[one], scene.vehicles[two]
    apart = round(first.along(RELATIONS[relation]) - second.along(RELATIONS[relation]), DIGITS)
    way = "true" if apart > 0 else "reversed"
    if scene.distractor and one == len(scene.vehicles) - 1:
        way = "wrong"
    metres = int(((first.x - second.x) ** 2 + (first.y - second.y) ** 2) ** 0.5)
    return {
        "way": _code(tuple(WAYS), way),
        "distance": metres if metres <= MOST_METRES else -1,
        "overlap": _code(tuple(OVERLAPS), _overlap(first, second)),
    }


def _overlap(one: Vehicle, two: Vehicle) -> str:
    """Return how much of the smaller of two vehicles' boxes in the picture the other box covers."""
    a, b = box_of(one), box_of(two)
    common = max(min(a[2], b[2]) - max(a[0], b[0]), 0.0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0.0)
    share = common / min((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b))
    if share < 0.005:
        return "none"
    return next((name for name, most in (("10", 0.1), ("25", 0.25), ("50", 0.5)) if share <= most), "over")


def _bin(bins: Mapping[str, float], share: float) -> int:
    return next(code for code, least in enumerate(bins.values()) if share >= least)


@lru_cache(maxsize=64)
def _positions(values: tuple[str, ...]) -> Mapping[str | None, int]:
    return {value: code for code, value in enumerate(values)}


def _code(values: tuple[str, ...], value: str | None) -> int:
    return _positions(values).get(value, -1)


def expected_shares(spec: SimTownSpec) -> Mapping[str, Sequence[float]]:
    """Return the shares of subjects, objects and relations that the spec asks for, for each value of the facet."""
    wanted, asked = spec.marginals, spec.questions.relations
    found: dict[str, Sequence[float]] = {"subject": wanted.subjects, "object": wanted.objects}
    found["type"] = [(name in asked) / len(asked) for name in RELATIONS]
    for what, shares, usual in (
        ("subject_share", wanted.subjects, spec.usual.subjects),
        ("object_share", wanted.objects, spec.usual.objects),
    ):
        sums = [0.0] * len(SHARES)
        for share, one in zip(shares, usual, strict=True):
            sums[_bin(SHARES, one)] += share
        found[what] = sums
    return found


def train_keys(question: Question) -> Mapping[str, Sequence[str]]:
    """Return, for each facet that needs the train split, the keys that the train split must have."""
    asked = None if question.program is None else words_of(question.program)
    return {"seen_text": (question.text,), "seen_pair": () if asked is None else (f"{asked[0]}, {asked[2]}",)}


def columns(spec: SimTownSpec) -> tuple[Column, ...]:
    """Return the columns of a dataset's boards: how often the pair occurs in training, then the ways."""
    used = [Column(label, "pair_share", name) for name, label in zip(PAIRS, PAIR_LABELS, strict=True)]
    ways = [name for name in WAYS if spec.distractor or name != "wrong"]
    return (*used, *(Column(WAYS[name].removeprefix("false: "), "way", name, WAYS[name]) for name in ways))


def answer_form() -> AnswerForm:
    """Return how a person answers: yes or no."""
    return AnswerForm(AnswerKind.YES_NO, ANSWERS, {})
