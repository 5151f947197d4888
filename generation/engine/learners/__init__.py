"""Learners: methods of papers that can be trained. `find_learner` returns a learner by its name.

Learners of `classical` need only NumPy. Learners of `networks` need PyTorch, but their names, settings and needs can be
read without it.
"""

from importlib import import_module

from generation.engine.errors import BadTraining
from generation.engine.learners.base import Learner

CLASSICAL = {
    "n-grams": "ngrams:Ngrams",
    "nearest-question": "nearest_question:NearestQuestion",
    "bag-of-words": "bag_of_words:BagOfWords",
    "structured-svm": "structured_svm:StructuredSvm",
    "memn2n": "memory_network:MemoryNetwork",
    "memnn": "memnn:MemNN",
}
NETWORKS: dict[str, str] = {
    "lstm": "answering.question_lstm:QuestionLstm",
    "cnn-bow": "answering.picture_and_question:CnnBow",
    "cnn-lstm": "answering.picture_and_question:CnnLstm",
    "cnn-lstm-sa": "answering.stacked_attention:StackedAttention",
    "cnn-lstm-mcb": "answering.compact_bilinear:CompactBilinear",
    "caption-lstm": "answering.captions:CaptionLstm",
    "cnn-lstm-multiplied": "answering.captions:CnnLstmMultiplied",
    "cnn-lstm-concatenated": "answering.captions:CnnLstmConcatenated",
    "story-lstm": "answering.story_lstm:StoryLstm",
    "relation-network": "answering.relation_network:RelationNetwork",
    "film": "answering.film:Film",
    "convolutional-lstm": "relations.convolutional_lstm:ConvolutionalLstm",
    "predicate-boxes": "relations.predicate_boxes:PredicateBoxes",
    "q-only": "counting.without_regions:QuestionOnly",
    "i-only": "counting.without_regions:ImageOnly",
    "q-and-i": "counting.without_regions:QuestionAndImage",
    "mutan": "counting.mutan:Mutan",
    "counter": "counting.counter:Counter",
    "rcn": "counting.relational_counting:RelationalCounting",
    "rcn-regression": "counting.relational_counting:RelationalCountingRegression",
    "scn": "counting.spatial_counting:SpatialCounting",
    "scn-without-entropy": "counting.spatial_counting:SpatialCountingWithoutEntropy",
}

METHODS = {
    **{name: f"classical.{place}" for name, place in CLASSICAL.items()},
    **{name: f"networks.{place}" for name, place in NETWORKS.items()},
}


def find_learner(name: str) -> type[Learner]:
    """Return the learner with a name; raise `BadTraining` with the names that exist."""
    if name not in METHODS:
        raise BadTraining(f"Expected one of {', '.join(METHODS)}, got {name!r}.", where="method")
    module, _, attribute = METHODS[name].partition(":")
    found: type[Learner] = getattr(import_module(f"{__name__}.{module}"), attribute)
    return found


def is_network(name: str) -> bool:
    """Return whether a method needs PyTorch."""
    return name in NETWORKS
