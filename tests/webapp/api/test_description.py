"""Requests that the API's description allows or forbids cause no server error and no undescribed answer."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django.plugin import DjangoDbBlocker
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from annotations.answering.throttle import Throttle
from annotations.models import Study
from generation.models import Dataset
from tests.annotations import answered
from tests.proof import size
from webapp.api import authentication, urls
from webapp.models import ApiToken, User

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)


OPERATIONS = [
    f"{verb.upper()} {path}" for path, verbs in urls.api.get_openapi_schema()["paths"].items() for verb in verbs
]
KNOWN = {"slug": "shapes", "name": "train", "number": "3", "position": "2", "code": "shapes0001"}


@pytest.fixture(scope="module")
def in_this_transaction() -> Iterator[None]:
    """Make requests use the test's database connection, as Django's test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(scope="module")
def operations(in_this_transaction: None, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> dict[str, Any]:
    """Give the operations of the API by their labels."""
    with django_db_blocker.unblock():
        schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
    return {found.ok().label: found.ok() for found in schema.get_all_operations()}


@pytest.fixture(scope="module")
def kept_study(kept: int, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """Give the key of a study of the dataset; the changes of each test are rolled back."""
    with django_db_blocker.unblock():
        study = answered.answered(Dataset.objects.get(pk=kept), random.Random(5), split="train")
    yield study.pk
    with django_db_blocker.unblock():
        answered.delete(study)


@pytest.fixture
def described(
    operations: dict[str, Any], shapes: Dataset, kept_study: int, owner: User, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """Give the operations of the API, on a site with a dataset and a study, and without a limit of requests."""
    monkeypatch.setattr(authentication, "throttle", Throttle(10**9, 60.0))
    Dataset.objects.update(owner=owner)
    Study.objects.filter(pk=kept_study).update(code=KNOWN["code"], owner=owner)
    return operations


@pytest.mark.parametrize("label", OPERATIONS)
def test_every_request_gets_a_described_answer(described: dict[str, Any], owner: User, label: str) -> None:
    examples = size(100, name="requests of each kind, from the API's description", least=5)
    header = {"Authorization": f"Bearer {ApiToken.objects.make(owner, 'x')}"}
    plain = {"Accept-Encoding": "identity"}  # schemathesis does not decompress answers of an in-process app

    @given(described[label].as_strategy(), st.booleans(), st.booleans())
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), deadline=None)
    def ask(case: Any, leads_somewhere: bool, signed_in: bool) -> None:
        if leads_somewhere and case.path_parameters:
            case.path_parameters = {name: KNOWN.get(name, value) for name, value in case.path_parameters.items()}
        answer = case.call(headers=plain | (header if signed_in else {}))
        case.validate_response(answer, checks=CHECKS)

    ask()
