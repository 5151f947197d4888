"""Whatever shows something of a dataset asks first: every route, and everything that is stored about a split."""

from typing import Any, NamedTuple

import pytest
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import path

from annotations.models import Baseline
from generation.access import What
from generation.models import AblationReport, BlindReport, Chunk, Question, Scene, Split
from tests import riddle_site
from tests.crawl import Reply, Request, routes
from tests.riddle_site import SECRETS, STRANGERS, Crawled, Put
from tests.webapp.conftest import Crawls
from webapp.leaderboards.models import Score, Submission

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

# Routes that show nothing of any dataset. Whatever else there is has to ask about one that it shows.
ABOUT_NO_DATASET = {
    "health",
    "health_web",
    "health_ready",
    "health_live",
    "metrics",
    "login_link",
    "docs",
    "docs_page",
    "dataset_new",
    "import_new",
}
ABOUT_NO_DATASET |= {"submit_script", "favicon", "own_account", "token_new", "token_revoke", "sign_in_links"}
ABOUT_NO_DATASET |= {"api:openapi-json", "api:openapi-view", "api:api-root", "api:account"}
# Methods are their owners', and nothing of a dataset; what they submitted is shown with the access check of its split.
ABOUT_NO_DATASET |= {"method_new", "method_edit", "method_publish", "method_hide", "method_delete", "methods"}
ABOUT_NO_DATASET |= {"submissions", "suites", "suite_new", "suite_edit", "suite_delete"}
ABOUT_NO_DATASET |= {"api:methods", "api:method", "api:new_method", "api:submissions", "api:submit", "api:suites"}
# Participants have no account: what was given to one is theirs to see, by the secret in the address and by tokens.
ABOUT_NO_DATASET |= {
    "study_join", "study_session", "study_go_on", "study_answer", "study_picture", "study_pair",
}  # fmt: skip
# Accounts, elsewhere too; old addresses that lead on; pages for staff, which strangers never get.
PACKAGES = ("account_", "socialaccount_", "openid_connect_", "django.views.generic.", "admin:", "django.contrib.admin.")

# What each stored field belongs to. A field that isn't here fails a test: say which of `What` guards it.
PUBLIC = None
JOB = (
    "state", "priority", "attempts", "crashes", "waits", "not_before", "created", "started", "finished",
    "token", "worker", "lease", "deadline", "key",
)  # fmt: skip
FIELDS = {
    Split: {
        **dict.fromkeys(("id", "dataset", "name", "ordinal", "kind", "state", "withheld", "reference"), PUBLIC),
        **dict.fromkeys(("opened", "parent", "recipe"), PUBLIC),  # no recipe asks what a withheld split reveals
        **dict.fromkeys(("secret_sha256", "scenes", "questions", "fingerprint", "index_digest", "seen_digest"), PUBLIC),
        "secret": What.ANSWER,
        "replaced": What.SCENE,
    },
    Chunk: {
        **dict.fromkeys(("id", "split", "number", "first_scene", "scenes", "first_question", "questions"), PUBLIC),
        **dict.fromkeys(("made",), PUBLIC),
        "replaced": What.SCENE,
    },
    Scene: {
        **dict.fromkeys(("id", "split", "chunk", "position"), PUBLIC),
        **dict.fromkeys(("image", "linked", "width", "height"), What.IMAGE),
        **dict.fromkeys(("data", "view", "replaced", "source_number", "source_image"), What.SCENE),
        "ids_image": What.IDS_IMAGE,
    },
    Question: {
        **dict.fromkeys(("id", "split", "scene", "position", "kind", "family", "scope"), PUBLIC),
        "text": What.QUESTION,
        "program": What.PROGRAM,
        **dict.fromkeys(("answer", "answer_kind", "spelling"), What.ANSWER),
        "source_id": What.SCENE,
    },
    Baseline: {
        **dict.fromkeys(("id", "study", "split", "number", "published", "publisher"), PUBLIC),
        **dict.fromkeys(("per_question", "people", "ties", "withdrawn", "reason"), PUBLIC),
        **dict.fromkeys(
            ("digest", "seal", "right", "asked", "figures", "methods"), What.HUMAN_ANSWERS
        ),  # in part: see `shown`
    },
    Submission: {
        **dict.fromkeys(("id", "split", "method", "run", "trained_on", "train_size", "examples_seen", "note"), PUBLIC),
        **dict.fromkeys((*JOB, "batch", "size", "kept", "format", "outside", "filename"), PUBLIC),
        **dict.fromkeys(("trained_on_name", "trained_on_listed"), PUBLIC),  # see `training`
        **dict.fromkeys(("file", "digest", "predictions", "findings", "message"), What.PER_QUESTION_RESULT),
    },
    Score: {
        **dict.fromkeys(("id", "submission", "split", "n", "made"), PUBLIC),
        **dict.fromkeys(("right", "right_read", "unreadable", "columns"), What.PER_QUESTION_RESULT),  # see `visibility`
    },
    AblationReport: {
        **dict.fromkeys(("id", "split", *JOB), PUBLIC),
        **dict.fromkeys(("found", "message"), What.PROGRAM),
    },
    BlindReport: {
        **dict.fromkeys(("id", "dataset", *JOB), PUBLIC),
        **dict.fromkeys(("figures", "message"), What.ANSWER),
    },
}


class Answered(NamedTuple):
    """What the site answered, and what was asked before."""

    request: Request
    reply: Reply
    asked: set[Put]


class Watched(NamedTuple):
    """What an owner and a stranger met, and texts and files that stand only where a kind of thing of test is shown."""

    owner: list[Answered]
    stranger: list[Answered]
    told_by: dict[What, set[bytes]]


@pytest.fixture
def watched(crawled: Crawls) -> Watched:
    """Give what an owner, who sees all, and a stranger, who tries to change things, meet on a site."""
    owner, stranger = (crawled(who, SECRETS[0]) for who in ("owner", STRANGERS[-1]))
    return Watched(answers_of(owner), answers_of(stranger), owner.told_by)


def answers_of(crawled: Crawled) -> list[Answered]:
    return [Answered(request, reply, crawled.asked[request]) for request, reply in crawled.replies.items()]


def of_no_dataset(name: str) -> bool:
    return name in ABOUT_NO_DATASET or name.startswith(PACKAGES)


def unasked(answers: list[Answered], told_by: dict[What, set[bytes]]) -> list[str]:
    """Return what was shown of a split test though nobody asked whether it may be.

    Answers, facets, pictures and stories of splits train are the same: of those, asking about any split will do.
    """
    return [
        f"{request.method} {request.address} shows {what}"
        for request, reply, asked in answers
        for what, texts in told_by.items()
        if any(text in reply.body for text in texts) and not was_asked(what, asked)
    ]


def was_asked(what: What, asked: set[Put]) -> bool:
    if what in (What.ANSWER, What.FACET, What.IMAGE, What.IDS_IMAGE, What.STORY):
        return what in {one[2] for one in asked}
    return ("test", what) in {one[1:] for one in asked}


def asking(watched: Watched) -> set[str]:
    """Return the names of the routes that asked about a dataset."""
    answers = [*watched.owner, *watched.stranger]
    return {one.request.route.view_name for one in answers if one.asked and one.request.route}


# Routes -----------------------------------------------------------------------------------------------------


def test_every_route_asks_about_a_dataset(watched: Watched) -> None:
    silent = {route.name for route in routes() if not of_no_dataset(route.name)} - asking(watched)
    assert silent == set(), "These routes ask nothing of generation.access, or belong into ABOUT_NO_DATASET."


def test_routes_said_to_be_about_no_dataset_exist_and_ask_nothing(watched: Watched) -> None:
    assert {route.name for route in routes()} >= ABOUT_NO_DATASET
    assert {name for name in asking(watched) if of_no_dataset(name)} == set()


@pytest.mark.parametrize("who", ["owner", "stranger"])
@pytest.mark.parametrize("slug", ["riddles", "broken", "hidden"])
def test_whatever_names_a_dataset_has_asked_about_it(watched: Watched, who: str, slug: str) -> None:
    silent = [
        request
        for request, reply, asked in getattr(watched, who)
        if 200 <= reply.status < 300
        and reply.contains(f"/datasets/{slug}/")
        and not any(one[0] == slug for one in asked)
    ]
    assert silent == []


def test_strangers_never_get_a_page_of_the_admin(watched: Watched) -> None:
    for request, reply, _ in watched.stranger:
        if request.address.startswith("/admin/") and not request.address.startswith("/admin/login/"):
            assert reply.status in (301, 302, 403, 404), request


# Fields -----------------------------------------------------------------------------------------------------


def test_every_kind_of_thing_shown_was_asked_for(watched: Watched) -> None:
    assert unasked(watched.owner, watched.told_by) == []
    assert unasked(watched.stranger, watched.told_by) == []


def test_every_kind_of_thing_is_shown_somewhere(watched: Watched) -> None:
    for what, texts in watched.told_by.items():
        assert any(text in reply.body for _, reply, _ in watched.owner for text in texts), what


@pytest.mark.parametrize("model", FIELDS)
def test_every_stored_field_says_what_guards_it(model: type[Model]) -> None:
    assert {field.name for field in model._meta.concrete_fields} == set(FIELDS[model])


# The test itself --------------------------------------------------------------------------------------------


def careless(request: HttpRequest, slug: str) -> HttpResponse:
    question = Question.objects.filter(split__dataset__slug=slug, split__name="test").first()
    return HttpResponse(f"<b>{question.answer}</b>" if question else "")


urlpatterns = [path("careless/<slug:slug>/", careless, name="careless")]


def test_a_careless_view_is_found(db: None, settings: Any) -> None:
    with riddle_site.site(SECRETS[0]):
        settings.ROOT_URLCONF = __name__
        crawled = riddle_site.crawl_site("visitor", changes=False)
    answers = answers_of(crawled)
    told = unasked(answers, {What.ANSWER: crawled.told_by[What.ANSWER]})
    assert "GET /careless/riddles/ shows answer" in told
    assert not any(one.asked for one in answers)
    assert [route.name for route in routes()] == ["careless"]
