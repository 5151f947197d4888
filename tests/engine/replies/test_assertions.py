"""The table of assertions: each pattern reads its own example."""

from generation.engine.replies.assertions import COUNTED, DESCRIBED, PATTERNS, WALKED, phrases_of


def test_each_pattern_finds_the_phrase_of_its_example() -> None:
    for assertion in (*PATTERNS, COUNTED, DESCRIBED, WALKED):
        found = {phrase.pattern: phrase.text.strip() for phrase in phrases_of(assertion.example, (assertion,))}
        assert found.get(assertion) == assertion.phrase, assertion.example
