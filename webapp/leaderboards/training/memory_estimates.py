"""The estimate of a training's memory, from its settings and its split, before the training starts."""

from django.conf import settings

from generation.engine.errors import BadTraining
from generation.engine.language.token_vocabulary import split_words
from generation.engine.learners.base import DataShape, Learner, LearnerConfig
from generation.engine.learners.visible_parts import visible_parts, visible_questions
from generation.models import Split
from generation.storage.files import GIB
from generation.storage.items import load_items
from generation.storage.split_index import SplitIndex

SAMPLE = 50  # scenes that are read for the length of stories
SIZES = ("batch", "embedding", "units", "layers", "starts", "hops", "memory", "height", "width")


def check(learner: type[Learner], config: LearnerConfig, split: Split) -> None:
    """Raise `BadTraining` if a training from `split` probably needs more memory than TRAINING_MEMORY_GB."""
    estimate = learner.estimate_memory(config, shape_of(learner, config, split)) / GIB
    if estimate > settings.TRAINING_MEMORY_GB:
        sizes = [name for name in SIZES if name in type(config).model_fields]
        advice = f"Reduce {', '.join(sizes)}, take" if sizes else "Take"
        raise BadTraining(
            f"Expected a training that needs at most {settings.TRAINING_MEMORY_GB:.1f} GB of memory "
            f"(TRAINING_MEMORY_GB), got one that needs about {estimate:.1f} GB. {advice} a smaller split, or change "
            "TRAINING_MEMORY_GB.",
            where=learner.name,
        )


def shape_of(learner: type[Learner], config: LearnerConfig, split: Split) -> DataShape:
    """Return the size of a split's examples. Stories are counted in its first scenes; the others are taken as equal."""
    index, visible, world = SplitIndex.open(split), visible_parts(learner, config), split.dataset.get_world()
    kinds, words, lines, longest, most = set[str](), set[str](), set[str](), 1, 0
    read = 0
    for stored in load_items(split, 0, SAMPLE):
        read += 1
        for question in visible_questions(stored.item, visible=visible, world=world):
            story = tuple(question.parts.get("stories") or ())
            own = split_words(question.text)
            texts = [split_words(line) for line in story]
            kinds.add(question.kind)
            lines.update(story)
            words.update(own, *texts)
            longest, most = max(longest, len(own) + sum(map(len, texts))), max(most, len(story))
    return DataShape(
        questions=index.n,
        words=len(words.union(index.vocabulary)),
        answers=len(index.answer_values),
        kinds=max(1, len(kinds)),
        lines=len(lines) * split.scenes // max(1, read),
        example_words=longest,
        story_lines=most,
    )
