"""The estimate of a training's memory, from its settings and its splits, before the training starts.

Texts and stories are read in a sample of scenes that are spread over the training split. Networks are estimated by a
process that has PyTorch.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from math import log2

from django.conf import settings

from generation.engine.errors import BadTraining
from generation.engine.language.token_vocabulary import split_words
from generation.engine.learners import is_network
from generation.engine.learners.base import DataShape, Learner, LearnerConfig
from generation.engine.learners.visible_parts import visible_parts, visible_questions
from generation.engine.scoring.ngram_classifier import grams_of
from generation.models import Question, Split
from generation.storage.files import GIB
from generation.storage.items import load_items
from generation.storage.split_index import SplitIndex
from webapp.leaderboards.training import process

SAMPLE = 120  # scenes that are read
RUNS = 40  # equal parts of a split, of each of which the first scenes are read
QUESTION_BYTES = 1000  # of a question and its parts as Python objects, while they are read
LINE_BYTES = 120  # of a line of a story as a Python object, without its characters
SIZES = (
    "batch", "embedding", "units", "question", "layers", "starts", "hops", "memory", "height", "width", "channels",
    "filters", "pair", "patches", "hidden", "sketch",
)  # fmt: skip


def check(
    learner: type[Learner],
    config: LearnerConfig,
    train: Split,
    *,
    val: Split,
    tests: Sequence[Split],
    device: str = "auto",
) -> None:
    """Raise `BadTraining` if a training probably needs more memory than TRAINING_MEMORY_GB."""
    others = (val, max(tests, key=lambda split: split.questions))
    shape = shape_of(learner, config, train, others=others)
    estimate = _estimate(learner, config, shape, device) / GIB
    if estimate > settings.TRAINING_MEMORY_GB:
        sizes = [name for name in SIZES if name in type(config).model_fields]
        advice = f"Reduce {', '.join(sizes)}, take" if sizes else "Take"
        raise BadTraining(
            f"Expected a training that needs at most {settings.TRAINING_MEMORY_GB:.1f} GB of memory "
            f"(TRAINING_MEMORY_GB), got one that needs about {estimate:.1f} GB. {advice} a smaller split, or change "
            "TRAINING_MEMORY_GB.",
            where=learner.name,
        )


def _estimate(learner: type[Learner], config: LearnerConfig, shape: DataShape, device: str) -> int:
    if not is_network(learner.name):
        return learner.estimate_memory(config, shape)
    order = {"method": learner.name, "config": config.model_dump(mode="json"), "device": device}
    text = json.dumps({**order, "shape": shape._asdict()}, sort_keys=True)
    return process.estimate_memory(learner.name, text, process.python_for(learner.name))


def shape_of(learner: type[Learner], config: LearnerConfig, train: Split, *, others: Sequence[Split]) -> DataShape:
    """Return the size of a training split's examples. `others` are the splits that are in memory at the same time."""
    index, sample = SplitIndex.open(train), _Sample(learner, config, train)
    return DataShape(
        questions=index.n,
        pictures=train.scenes,
        other_questions=sum(split.questions for split in others),
        other_pictures=sum(split.scenes for split in others),
        words=len(sample.words.union(index.vocabulary)),
        answers=len(index.answer_values),
        kinds=Question.objects.filter(split=train.source).order_by().values("kind").distinct().count(),
        kind_words=sample.kind_words,
        texts=min(index.n, sample.grow(sample.texts)),
        lines=sample.grow(sample.lines),
        phrases=max(map(sample.grow, sample.phrases.values()), default=1),
        question_words=sample.question_words,
        line_words=sample.line_words,
        story_lines=sample.story_lines,
        regions=sample.regions,
        example_bytes=sample.bytes // max(1, sample.questions),
    )


class _Sample:
    """The texts of some scenes of a split. For each text, line and phrase, it has the number of the first scene."""

    def __init__(self, learner: type[Learner], config: LearnerConfig, split: Split) -> None:
        self.scenes, self.read, self.questions, self.bytes = split.scenes, 0, 0, 0
        self.words: set[str] = set()
        self.texts: dict[str, int] = {}
        self.lines: dict[str, int] = {}
        self.phrases: dict[str, dict[str, int]] = defaultdict(dict)
        self.question_words, self.line_words, self.story_lines, self.regions = 1, 0, 0, 0
        visible, world, spec = visible_parts(learner, config), split.dataset.get_world(), split.read_spec()
        runs = RUNS if split.scenes > SAMPLE else 1
        # One scene of each part in turn, so that the first half of the sample is spread over the split, too.
        parts = (load_items(split, split.scenes * run // runs, SAMPLE // runs) for run in range(runs))
        for stored in (one for some in zip(*parts, strict=False) for one in some):
            self.read += 1
            if visible.regions:
                self.regions = max(self.regions, len(world.elements(spec, stored.item)))
            for question in visible_questions(stored.item, visible=visible, world=world):
                self._add(question.text, question.kind, tuple(question.parts.get("stories") or ()))

    def _add(self, text: str, kind: str, story: tuple[str, ...]) -> None:
        self.questions += 1
        self.bytes += QUESTION_BYTES + sum(LINE_BYTES + len(line) for line in story)
        self.texts.setdefault(text, self.read)
        phrases = self.phrases[kind]
        for part in (text, *story):
            words = split_words(part)
            self.words.update(words)
            for phrase in grams_of(words):
                phrases.setdefault(phrase, self.read)
        self.question_words = max(self.question_words, len(split_words(text)))
        self.line_words = max(self.line_words, *(len(split_words(line)) for line in story), 0)
        self.story_lines = max(self.story_lines, len(story))
        for line in story:
            self.lines.setdefault(line, self.read)

    @property
    def kind_words(self) -> int:
        kinds = [{text: scene for text, scene in some.items() if " " not in text} for some in self.phrases.values()]
        return sum(map(self.grow, kinds)) // max(1, len(kinds))

    def grow(self, found: dict[str, int]) -> int:
        """Return roughly how many different texts the whole split has, if they grow as they did in the sample.

        By Heaps' law, twice as many scenes always have the same multiple of different texts.
        """
        half = sum(2 * scene <= self.read for scene in found.values())
        if not half or self.read >= self.scenes:
            return len(found)
        power = min(1.0, log2(len(found) / half))
        return int(len(found) * (self.scenes / self.read) ** power)
