"""Rules for the whole API: authentication, the shape of errors, limits, and its description."""

import json
import re
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client, override_settings

from annotations.answering.throttle import Throttle
from generation.models import Dataset
from tests.webapp.api.conftest import program_of
from webapp.api import authentication, datasets, errors
from webapp.models import ApiToken, User

pytestmark = pytest.mark.django_db

WRONG = ("Bearer hs_guess", "Bearer ", "Bearer", "Basic b3duZXI6eA==", "hs_x", "Bearer \0", "é")
LIST, ONE, ACCOUNT = "/api/v1/datasets/", "/api/v1/datasets/shapes/", "/api/v1/account/"


def error_of(answer: Any) -> dict[str, Any]:
    """Return the error in an answer, after a check of its shape."""
    assert answer["Content-Type"] == "application/json"
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "details"}
    assert isinstance(body["error"]["details"], dict)
    assert body["error"]["message"].endswith((".", "docs", "/")), "a sentence, or where more is"
    return body["error"]


# Who asks ---------------------------------------------------------------------------------------------------


def test_a_token_acts_for_its_account(owner: User) -> None:
    answer = program_of(owner).get(ACCOUNT)
    assert answer.json() == {"username": "owner", "name": "", "is_researcher": False, "is_staff": False}
    assert ApiToken.objects.get().last_used is not None


def test_a_session_acts_for_its_account(as_stranger: Client) -> None:
    assert as_stranger.get(ACCOUNT).json()["username"] == "stranger"


def test_visitors_get_401_with_the_reason(client: Client) -> None:
    answer = client.get(ACCOUNT)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert error_of(answer)["code"] == "not_signed_in"


@pytest.mark.parametrize("address", [ACCOUNT, LIST])
@pytest.mark.parametrize(
    "sent", ["Bearer hs_guess", "Bearer ", "Bearer", "Basic b3duZXI6eA==", "hs_x", "Bearer \0", "é"]
)
def test_an_invalid_token_is_refused_even_if_no_token_is_needed(as_stranger: Client, address: str, sent: str) -> None:
    answer = as_stranger.get(address, headers={"Authorization": sent})
    assert answer.status_code == 401
    assert error_of(answer)["code"] in ("unknown_token", "not_signed_in")


def test_a_revoked_token_is_refused(owner: User) -> None:
    program = program_of(owner)
    ApiToken.objects.get().revoke()
    assert program.get(ACCOUNT).status_code == 401


def test_a_token_takes_precedence_over_a_session(as_stranger: Client, owner: User) -> None:
    token = ApiToken.objects.make(owner, "x")
    answer = as_stranger.get(ACCOUNT, headers={"Authorization": f"bearer {token}"})
    assert answer.json()["username"] == "owner"


def test_only_the_owner_sees_a_private_dataset(
    private: Dataset, program: Client, as_owner: Client, stranger: Client, client: Client
) -> None:
    assert [one.get(ONE).status_code for one in (program, as_owner)] == [200, 200]
    for one in (stranger, client):
        assert one.get(ONE).status_code == 404
        assert error_of(one.get(ONE)) == error_of(one.get(ONE.replace("shapes", "nothing")))
        assert one.get(LIST).json()["results"] == []


def test_answers_are_not_cached_for_other_users(client: Client, shapes: Dataset) -> None:
    answer = client.get(ONE)
    assert "private" in answer["Cache-Control"]
    assert {"Authorization", "Cookie"} <= set(re.split(", *", answer["Vary"]))


# Errors -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        ("GET", "/api/", 404, "not_found"),
        ("GET", "/api/v1/", 404, "not_found"),
        ("GET", "/api/v1/nothing/", 404, "not_found"),
        ("POST", "/api/v1/nothing/", 404, "not_found"),
        ("GET", "/api/v1/datasets/nothing/", 404, "not_found"),
        ("POST", LIST, 405, "method_not_allowed"),
        ("DELETE", LIST, 405, "method_not_allowed"),
        ("OPTIONS", LIST, 405, "method_not_allowed"),
        ("GET", f"{LIST}?nothing=1", 400, "bad_request"),
        ("GET", f"{LIST}?page=99", 404, "not_found"),
        ("GET", f"{LIST}?page=x", 400, "bad_request"),
        ("GET", f"{LIST}?q=%00", 400, "bad_request"),
    ],
)
def test_all_errors_have_the_same_shape(client: Client, method: str, address: str, status: int, code: str) -> None:
    answer = client.generic(method, address)
    assert (answer.status_code, error_of(answer)["code"]) == (status, code)


def test_a_refused_method_gets_the_list_of_allowed_ones(client: Client) -> None:
    assert client.post(LIST)["Allow"] == "GET, HEAD"


def test_head_has_the_headers_of_get(client: Client, shapes: Dataset) -> None:
    head, got = client.head(ONE), client.get(ONE)
    assert head.status_code == 200
    assert head.headers == got.headers
    assert head.content == b""


def test_a_request_that_is_too_large_has_the_same_shape_of_error(client: Client) -> None:
    answer = client.post(LIST, data="x", content_type="text/plain", headers={"Content-Length": str(10**12)})
    assert answer.status_code == 413
    assert error_of(answer)["code"] == "too_large"


def test_an_unknown_host_has_the_same_shape_of_error(client: Client) -> None:
    assert error_of(client.get(LIST, headers={"Host": "evil.example.org"}))["code"] == "bad_request"


@pytest.mark.parametrize(
    ("raised", "status", "code"),
    [(RuntimeError("a secret"), 500, "our_mistake"), (OperationalError("a secret"), 503, "away")],
)
def test_server_errors_have_the_same_shape_and_reveal_nothing(
    monkeypatch: pytest.MonkeyPatch, raised: Exception, status: int, code: str
) -> None:
    def fail(*args: Any) -> None:
        raise raised

    monkeypatch.setattr(datasets, "cards_of", fail)
    answer = Client(raise_request_exception=False).get(LIST)
    assert (answer.status_code, error_of(answer)["code"]) == (status, code)
    assert "a secret" not in answer.text


def test_wrong_parameters_are_named() -> None:
    raised = errors.ValidationError([{"loc": ("query", "step"), "msg": "Input should be a number", "type": "int"}])
    problem = errors.problem_of(raised)
    assert (problem.status, problem.code) == (422, "invalid")
    assert problem.details == {"fields": [{"where": "query.step", "message": "Input should be a number"}]}


# Limits -----------------------------------------------------------------------------------------------------


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Throttle:
    """Set the limit to three requests a minute."""
    throttle = Throttle(3, 60.0)
    monkeypatch.setattr(authentication, "throttle", throttle)
    return throttle


def test_too_many_requests_are_refused_with_a_time_to_wait(client: Client, few: Throttle) -> None:
    assert [client.get(LIST).status_code for _ in range(4)] == [200, 200, 200, 429]
    answer = client.get(LIST)
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert error_of(answer)["details"] == {"retry_after": int(answer["Retry-After"])}


def test_requests_are_counted_for_each_account_and_not_for_each_address(
    few: Throttle, owner: User, stranger: Client, client: Client
) -> None:
    first, second = program_of(owner), program_of(owner)
    assert [one.get(LIST).status_code for one in (first, second, first, second)] == [200, 200, 200, 429]
    assert stranger.get(LIST).status_code == 200
    assert client.get(LIST).status_code == 200


def test_guesses_of_tokens_are_limited(client: Client, few: Throttle) -> None:
    guess = {"Authorization": "Bearer hs_guess"}
    assert [client.get(LIST, headers=guess).status_code for _ in range(4)] == [401, 401, 401, 429]


# Its description --------------------------------------------------------------------------------------------


def test_the_description_names_every_address_and_how_to_sign_in(client: Client) -> None:
    described = client.get("/api/v1/openapi.json").json()
    assert described["info"]["title"] == "Horsesense"
    assert set(described["components"]["securitySchemes"]) == {"Token", "Session"}
    for path, verbs in described["paths"].items():
        assert path.startswith("/api/v1/")
        for verb, operation in verbs.items():
            assert verb in ("get", "post", "delete"), path
            assert operation["description"], path
            assert operation["responses"]["4XX"]["content"]["application/json"]["schema"]["$ref"].endswith("ErrorBody")
    ids = [one["operationId"] for verbs in described["paths"].values() for one in verbs.values()]
    assert len(ids) == len(set(ids))


def test_the_page_of_the_description_loads_nothing_from_other_sites(client: Client) -> None:
    page = client.get("/api/v1/docs")
    assert page.status_code == 200
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert loaded
    assert all(one.startswith("/static/") for one in loaded)
    assert page["Content-Security-Policy"] == client.get("/")["Content-Security-Policy"]


@override_settings(DEBUG=False)
def test_the_list_of_datasets_is_that_of_the_page(client: Client, shapes: Dataset) -> None:
    (found,) = client.get(LIST, {"q": "some", "world": "clevr"}).json()["results"]
    assert found["slug"] == "shapes"
    assert found["fingerprint"] == shapes.fingerprint
    assert json.loads(client.get(LIST, {"q": "nothing"}).content)["count"] == 0
