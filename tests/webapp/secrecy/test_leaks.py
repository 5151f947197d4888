"""No route and no header reveals withheld answers to users who may not see them."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from generation.making import dataset_jobs
from generation.models import Question
from generation.queue import leases
from tests.crawl import Replies, Request, addresses, routes
from tests.generation.complete_datasets import finish
from tests.proof import size
from tests.riddle_site import BRIEFLY, PEOPLE, SECRETS, Crawled
from tests.webapp.conftest import Crawls

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

SIGMAS = 4


class SiteView(NamedTuple):
    """The answers of a site without the published hashes, the words for its owner only, and the values in addresses."""

    replies: Replies
    canaries: set[str]
    values: dict[str, list[str]]


@pytest.fixture(params=PEOPLE)
def sites(request: pytest.FixtureRequest, crawled: Crawls) -> tuple[SiteView, SiteView]:
    """Give the view of two sites that differ only in the withheld split's answers, scenes and values in programs."""
    first, second = (crawled(request.param, secret) for secret in SECRETS)
    return view_of(first), view_of(second)


def view_of(site: Crawled) -> SiteView:
    return SiteView(without_published_hashes(site.replies, site.published), site.canaries, site.values)


def without_published_hashes(replies: Replies, hashes: dict[str, str]) -> Replies:
    """Return the answers with the published hashes replaced by names."""

    def without(body: bytes) -> bytes:
        for text in sorted(hashes, key=len, reverse=True):
            body = body.replace(text.encode(), hashes[text].encode())
        return body

    return {request: reply._replace(body=without(reply.body)) for request, reply in replies.items()}


def test_two_sites_that_differ_only_in_withheld_data_look_the_same(sites: tuple[SiteView, SiteView]) -> None:
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


def test_no_answer_contains_a_withheld_word(sites: tuple[SiteView, SiteView]) -> None:
    for replies, canaries, _ in sites:
        assert [(one, word) for one, reply in replies.items() for word in canaries if reply.contains(word)] == []


def test_the_crawler_finds_all_withheld_words_as_owner(crawled: Crawls) -> None:
    replies, canaries, _ = view_of(crawled("owner", SECRETS[0]))
    assert {word for word in canaries if not any(reply.contains(word) for reply in replies.values())} == set()


def test_the_crawler_requests_every_route_and_gets_no_error(sites: tuple[SiteView, SiteView]) -> None:
    for replies, _, values in sites:
        asked = {request.address for request in replies}
        for route in routes():
            assert set(addresses(route, values, combined=not BRIEFLY)) <= asked, route
        assert [request for request, reply in replies.items() if reply.status >= 500] == []


def test_the_crawler_finds_pages_pictures_and_questions_of_the_withheld_split(sites: tuple[SiteView, SiteView]) -> None:
    replies = {request.address: reply for request, reply in sites[0].replies.items() if request.method == "GET"}
    assert b"Riddle 1 of picture 3" in replies["/datasets/riddles/test/q/7/"].body
    assert b"Riddle 1 of picture 3" in replies["/datasets/riddles/test/"].body
    assert replies["/datasets/riddles/test/?answer=untypically"].status == 400
    assert any("/riddles/test/scene/3/" in address and reply.status == 200 for address, reply in replies.items())
    assert replies["/datasets/hidden/"].status == 404
    exports = [reply.status for address, reply in replies.items() if "/riddles/export/" in address and "zip" in address]
    assert sorted(exports) == [200, 404, 404]  # one for everybody, one for the owner, and one that does not exist
    part = [reply.body for address, reply in replies.items() if re.fullmatch(r"/datasets/riddles/part/q/\d+/", address)]
    assert any(b"of picture" in page for page in part)
    assert part and all(b"answers of part are withheld" in page for page in part)


NAMING = ("trained on hidden/train", '"trained_on": "hidden/train"', "<dd>hidden/train</dd>")


def find_training_split(replies: Replies) -> list[Request]:
    return [request for request, reply in replies.items() if any(reply.contains(text) for text in NAMING)]


def test_only_users_with_access_to_a_private_split_see_that_a_method_was_trained_on_it(
    sites: tuple[SiteView, SiteView], crawled: Crawls
) -> None:
    assert find_training_split(sites[0].replies) == []
    named = {request.route.view_name for request in find_training_split(crawled("owner", SECRETS[0]).replies)}
    assert named >= {"board", "board_file", "board_curves", "submission", "suite", "api:board", "api:submission"}


# Chance -----------------------------------------------------------------------------------------------------


def test_the_public_spec_made_again_gives_no_withheld_answer_better_than_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leases, "RENEWAL", 86_400.0)  # the renewing thread cannot see this test's transaction
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
    """Make a split and return its questions in their order."""
    spec = {
        "world": "clevr",
        "splits": {"test": {"scenes": scenes, "withheld": withheld}},
        "scene": {"min_pixels": 0},
        "questions": {"per_scene": 10},
    }
    dataset = finish(dataset_jobs.start(spec, slug=slug, images=False, **options))
    return list(Question.objects.filter(split__dataset=dataset).order_by("position"))


def assert_no_better_than_chance(asked: Sequence[Question], guesses: Sequence[str | None]) -> None:
    """Fail if guesses are right more often than the same guesses for other questions of the same type."""
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
