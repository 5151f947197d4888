"""Nothing tells a withheld answer: to nobody who may not see it, by no route, in no header."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from generation.making import dataset_jobs
from generation.models import Dataset, Question
from generation.queue import leases
from tests.crawl import Replies, Request, addresses, routes
from tests.proof import size
from tests.riddle_site import PEOPLE, SECRETS, Crawled
from tests.webapp.conftest import Crawls

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

SIGMAS = 4


class Seen(NamedTuple):
    """What somebody saw of a site, the published hashes apart, and what only its owner may see there."""

    replies: Replies
    canaries: set[str]
    values: dict[str, list[str]]


@pytest.fixture(params=PEOPLE)
def sites(request: pytest.FixtureRequest, crawled: Crawls) -> tuple[Seen, Seen]:
    """Give two sites that differ in the withheld split's answers, scenes and values alone, as somebody sees them."""
    first, second = (crawled(request.param, secret) for secret in SECRETS)
    return seen(first), seen(second)


def seen(site: Crawled) -> Seen:
    return Seen(apart(site.replies, site.published), site.canaries, site.values)


def apart(replies: Replies, hashes: dict[str, str]) -> Replies:
    """Return answers with the published hashes left out."""

    def without(body: bytes) -> bytes:
        for text in sorted(hashes, key=len, reverse=True):
            body = body.replace(text.encode(), hashes[text].encode())
        return body

    return {request: reply._replace(body=without(reply.body)) for request, reply in replies.items()}


def test_two_sites_that_differ_in_what_is_withheld_look_the_same(sites: tuple[Seen, Seen]) -> None:
    first, second = (site.replies for site in sites)
    assert list(first) == list(second)
    different = [request for request in first if first[request] != second[request]]
    assert different == [], "\n".join(f"{request}: {difference(first, second, request)}" for request in different[:5])


def difference(first: Replies, second: Replies, request: Request) -> str:
    a, b = first[request], second[request]
    if a.body == b.body:
        return str(set(a.headers) ^ set(b.headers))
    at = next(
        (i for i, (x, y) in enumerate(zip(a.body, b.body, strict=False)) if x != y), min(len(a.body), len(b.body))
    )
    return f"{a.body[max(0, at - 80) : at + 80]!r} is {b.body[max(0, at - 80) : at + 80]!r}"


def test_no_word_of_what_is_withheld_turns_up(sites: tuple[Seen, Seen]) -> None:
    for replies, canaries, _ in sites:
        assert [(one, word) for one, reply in replies.items() for word in canaries if reply.contains(word)] == []


def test_owner_finds_all_of_it_with_the_same_crawler(crawled: Crawls) -> None:
    replies, canaries, _ = seen(crawled("owner", SECRETS[0]))
    assert {word for word in canaries if not any(reply.contains(word) for reply in replies.values())} == set()


def test_crawler_asks_every_route_and_meets_no_error(sites: tuple[Seen, Seen]) -> None:
    for replies, _, values in sites:
        asked = {request.address for request in replies}
        for route in routes():
            assert set(addresses(route, values)) <= asked, route
        assert [request for request, reply in replies.items() if reply.status >= 500] == []


def test_crawler_sees_pages_pictures_and_questions_of_the_withheld_split(sites: tuple[Seen, Seen]) -> None:
    replies = {request.address: reply for request, reply in sites[0].replies.items() if request.method == "GET"}
    assert b"Riddle 1 of picture 3" in replies["/datasets/riddles/test/q/7/"].body
    assert b"Riddle 1 of picture 3" in replies["/datasets/riddles/test/"].body
    assert replies["/datasets/riddles/test/?answer=untypically"].status == 400
    assert any("/riddles/test/scene/3/" in address and reply.status == 200 for address, reply in replies.items())
    assert replies["/datasets/hidden/"].status == 404
    exports = [reply.status for address, reply in replies.items() if "/riddles/export/" in address and "zip" in address]
    assert sorted(exports) == [200, 404, 404]  # everybody's, the owner's, and one that isn't there
    part = [reply.body for address, reply in replies.items() if re.fullmatch(r"/datasets/riddles/part/q/\d+/", address)]
    assert any(b"of picture" in page for page in part)
    assert part and all(b"answers of part are withheld" in page for page in part)


NAMING = ("trained on hidden/train", '"trained_on": "hidden/train"', "<dd>hidden/train</dd>")


def names_what_it_learned_from(replies: Replies) -> list[Request]:
    return [request for request, reply in replies.items() if any(reply.contains(text) for text in NAMING)]


def test_only_who_may_open_a_private_split_reads_what_was_trained_on_it(
    sites: tuple[Seen, Seen], crawled: Crawls
) -> None:
    assert names_what_it_learned_from(sites[0].replies) == []
    named = {request.route.view_name for request in names_what_it_learned_from(crawled("owner", SECRETS[0]).replies)}
    assert named >= {"board", "board_file", "board_curves", "submission", "suite", "api:board", "api:submission"}


# Chance -----------------------------------------------------------------------------------------------------


def test_the_public_spec_made_again_tells_no_withheld_answer_better_than_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leases, "RENEWAL", 86_400.0)  # its thread does not see into this test's transaction
    scenes = size(5000, name="withheld questions made again without the secret", least=400) // 10
    stored = questions("stored", scenes=scenes, withheld=True, secrets={"test": SECRETS[0]})
    proven = questions("proven", scenes=scenes, withheld=True, secrets={"test": SECRETS[0]})
    assert [question.answer for question in proven] == [question.answer for question in stored]
    with pytest.raises(AssertionError):
        assert_no_better_than_chance(stored, [question.answer for question in proven])
    for guess in (
        questions("plain", scenes=scenes, withheld=False),
        questions("other", scenes=scenes, withheld=True, secrets={"test": SECRETS[1]}),
    ):
        assert_no_better_than_chance(stored, [question.answer for question in guess])
        by_text = {question.text: question.answer for question in guess}
        known = [question for question in stored if question.text in by_text]
        assert_no_better_than_chance(known, [by_text[question.text] for question in known])


def questions(slug: str, *, scenes: int, withheld: bool, **options: Any) -> list[Question]:
    """Return the questions of a split that is made now, in order."""
    spec = {
        "world": "clevr",
        "splits": {"test": {"scenes": scenes, "withheld": withheld}},
        "scene": {"min_pixels": 0},
        "questions": {"per_scene": 10},
    }
    dataset = dataset_jobs.start(spec, slug=slug, images=False, **options)
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return list(Question.objects.filter(split__dataset=dataset).order_by("position"))


def assert_no_better_than_chance(asked: Sequence[Question], guesses: Sequence[str | None]) -> None:
    """Fail where guesses are right more often than the same guesses, each put to other questions of its type."""
    answers: dict[str, Counter[str | None]] = defaultdict(Counter)
    for question in asked:
        answers[question.kind][question.answer] += 1
    right, expected, variance = 0, 0.0, 0.0
    for question, guess in zip(asked, guesses, strict=True):
        others = answers[question.kind].total() - 1
        if others:
            chance = (answers[question.kind][guess] - (question.answer == guess)) / others
            right += question.answer == guess
            expected += chance
            variance += chance * (1 - chance)
    assert right <= expected + SIGMAS * max(variance, 1) ** 0.5, f"{right} of {len(asked)}, by chance {expected:.1f}"
