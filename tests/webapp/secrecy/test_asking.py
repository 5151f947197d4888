"""Every route that shows parts of a dataset makes an access check before, and every stored field has a rule."""

from typing import Any, NamedTuple

import pytest
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import path

from annotations.models import Baseline
from generation.access import What
from generation.models import AblationReport, BlindReport, Chunk, FreshTwin, Question, Scene, Split
from tests import riddle_site
from tests.crawl import Reply, Request, routes
from tests.riddle_site import SECRETS, STRANGERS, CheckKey, Crawled
from tests.webapp.conftest import Crawls
from webapp.leaderboards.models import SavedView, Score, Submission, Training

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

# Routes that show nothing of any dataset. All other routes must make an access check for a dataset.
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
ABOUT_NO_DATASET |= {"ask_script", "submit_script", "favicon"}
ABOUT_NO_DATASET |= {"own_account", "token_new", "token_revoke", "sign_in_links"}
ABOUT_NO_DATASET |= {"api:openapi-json", "api:openapi-view", "api:api-root", "api:account"}
# Methods belong to their owners and show nothing of a dataset. Submissions are shown after a check of their split.
ABOUT_NO_DATASET |= {"method_new", "method_edit", "method_publish", "method_hide", "method_delete", "methods"}
# Findings show records, which are files; they link datasets that the visitor may see, as lists of datasets do.
ABOUT_NO_DATASET |= {"findings", "finding", "finding_file"}
ABOUT_NO_DATASET |= {"submissions", "suites", "suite_new", "suite_edit", "suite_delete"}
ABOUT_NO_DATASET |= {"api:methods", "api:method", "api:new_method", "api:submissions", "api:submit", "api:suites"}
# Participants have no account. They may see the questions given to them, by the secret in the address and by tokens.
ABOUT_NO_DATASET |= {
    "study_join", "study_session", "study_go_on", "study_answer", "study_here", "study_picture", "study_pair",
}  # fmt: skip
# Accounts, also of other providers; redirects of old addresses; pages for staff, which strangers never get.
PACKAGES = ("account_", "socialaccount_", "openid_connect_", "django.views.generic.", "admin:", "django.contrib.admin.")

# The kind of thing (`What`) whose access check protects each stored field. A test fails if a field is missing here.
PUBLIC = None
JOB = (
    "state", "priority", "attempts", "crashes", "waits", "not_before", "created", "started", "finished",
    "token", "worker", "lease", "deadline", "key",
)  # fmt: skip
FIELDS = {
    Split: {
        **dict.fromkeys(("id", "dataset", "name", "ordinal", "kind", "state", "withheld", "reference"), PUBLIC),
        **dict.fromkeys(
            ("opened", "parent", "recipe"), PUBLIC
        ),  # no recipe filters by facets that a withheld split hides
        **dict.fromkeys(("secret_sha256", "scenes", "questions", "fingerprint", "index_digest", "seen_digest"), PUBLIC),
        "secret": What.ANSWER,
        "replaced": What.SCENE,
    },
    FreshTwin: {
        **dict.fromkeys(("id", "split", "source", "number"), PUBLIC),  # the source only if its dataset may be named
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
        **dict.fromkeys((*JOB, "batch", "size", "kept", "format", "outside", "failures", "filename"), PUBLIC),
        **dict.fromkeys(("replies_size", "column"), PUBLIC),
        **dict.fromkeys(("replies", "replies_file"), What.ANSWER),  # see `may_see_replies`
        **dict.fromkeys(("trained_on_name", "trained_on_listed", "training"), PUBLIC),  # see `training`
        **dict.fromkeys(("file", "digest", "predictions", "findings", "message"), What.PER_QUESTION_RESULT),
    },
    # Only owners of trainings and staff see them. Parameters, time and settings are shown on pages of submissions.
    Training: {
        **dict.fromkeys(("id", "method", "owner", "train", "val", "config", "size", "seed", "device", "name"), PUBLIC),
        **dict.fromkeys(("seconds", "parameters", "examples_seen", "code_version", *JOB[:-1]), PUBLIC),
        **dict.fromkeys(("progress", "history", "message"), What.PER_QUESTION_RESULT),
        **dict.fromkeys(("model", "model_digest", "model_size"), What.ANSWER),
    },
    Score: {
        **dict.fromkeys(("id", "submission", "split", "n", "made"), PUBLIC),
        **dict.fromkeys(("right", "right_read", "unreadable", "columns"), What.PER_QUESTION_RESULT),  # see `visibility`
        **dict.fromkeys(
            ("answered", "right_answered", "tokens", "cost", "latency"), What.PER_QUESTION_RESULT
        ),  # see `reply_figures`
    },
    SavedView: dict.fromkeys(
        ("id", "split", "owner", "name", "page", "position", "query", "is_public", "created"), PUBLIC
    ),  # an owner chooses the name; the page of the address asks for the rest
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
    """An answer of the site, and the access checks that were made before."""

    request: Request
    reply: Reply
    asked: set[CheckKey]


class Watched(NamedTuple):
    """The answers to an owner and to a stranger, and the texts and files that show a kind of thing of split test."""

    owner: list[Answered]
    stranger: list[Answered]
    evidence: dict[What, set[bytes]]


@pytest.fixture
def watched(crawled: Crawls) -> Watched:
    """Give the answers to an owner, who sees everything, and to a stranger, who also tries to change things."""
    owner, stranger = (crawled(who, SECRETS[0]) for who in ("owner", STRANGERS[-1]))
    return Watched(answers_of(owner), answers_of(stranger), owner.evidence)


def answers_of(crawled: Crawled) -> list[Answered]:
    return [Answered(request, reply, crawled.asked[request]) for request, reply in crawled.replies.items()]


def is_about_no_dataset(name: str) -> bool:
    return name in ABOUT_NO_DATASET or name.startswith(PACKAGES)


def find_unchecked(answers: list[Answered], evidence: dict[What, set[bytes]]) -> list[str]:
    """Return the things of split test that were shown without an access check.

    For answers, facets, pictures and stories a check of any split is enough, because they are the same in split train.
    """
    return [
        f"{request.method} {request.address} shows {what}"
        for request, reply, asked in answers
        for what, texts in evidence.items()
        if any(text in reply.body for text in texts) and not was_checked(what, asked)
    ]


def was_checked(what: What, asked: set[CheckKey]) -> bool:
    if what in (What.ANSWER, What.FACET, What.IMAGE, What.IDS_IMAGE, What.STORY):
        return what in {one[2] for one in asked}
    return ("test", what) in {one[1:] for one in asked}


def routes_with_checks(watched: Watched) -> set[str]:
    """Return the names of the routes that made an access check for a dataset."""
    answers = [*watched.owner, *watched.stranger]
    return {one.request.route.view_name for one in answers if one.asked and one.request.route}


# Routes -----------------------------------------------------------------------------------------------------


def test_every_route_makes_an_access_check_for_a_dataset(watched: Watched) -> None:
    silent = {route.name for route in routes() if not is_about_no_dataset(route.name)} - routes_with_checks(watched)
    assert silent == set(), "These routes ask nothing of generation.access, or belong into ABOUT_NO_DATASET."


def test_routes_listed_as_about_no_dataset_exist_and_make_no_check(watched: Watched) -> None:
    assert {route.name for route in routes()} >= ABOUT_NO_DATASET
    assert {name for name in routes_with_checks(watched) if is_about_no_dataset(name)} == set()


@pytest.mark.parametrize("who", ["owner", "stranger"])
@pytest.mark.parametrize("slug", ["riddles", "broken", "hidden"])
def test_answers_that_name_a_dataset_made_an_access_check_for_it(watched: Watched, who: str, slug: str) -> None:
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


def test_every_kind_of_thing_is_shown_after_an_access_check(watched: Watched) -> None:
    assert find_unchecked(watched.owner, watched.evidence) == []
    assert find_unchecked(watched.stranger, watched.evidence) == []


def test_every_kind_of_thing_is_shown_somewhere(watched: Watched) -> None:
    for what, texts in watched.evidence.items():
        assert any(text in reply.body for _, reply, _ in watched.owner for text in texts), what


@pytest.mark.parametrize("model", FIELDS)
def test_every_stored_field_has_a_rule_of_access(model: type[Model]) -> None:
    assert {field.name for field in model._meta.concrete_fields} == set(FIELDS[model])


# The test itself --------------------------------------------------------------------------------------------


def careless_view(request: HttpRequest, slug: str) -> HttpResponse:
    question = Question.objects.filter(split__dataset__slug=slug, split__name="test").first()
    return HttpResponse(f"<b>{question.answer}</b>" if question else "")


urlpatterns = [path("careless/<slug:slug>/", careless_view, name="careless")]


def test_a_careless_view_is_found(db: None, settings: Any) -> None:
    with riddle_site.site(SECRETS[0]):
        settings.ROOT_URLCONF = __name__
        crawled = riddle_site.crawl_site("visitor", changes=False)
    answers = answers_of(crawled)
    shown = find_unchecked(answers, {What.ANSWER: crawled.evidence[What.ANSWER]})
    assert "GET /careless/riddles/ shows answer" in shown
    assert not any(one.asked for one in answers)
    assert [route.name for route in routes()] == ["careless"]
