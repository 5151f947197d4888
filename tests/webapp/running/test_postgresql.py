"""Kept connections to PostgreSQL: their state is checked without a query, and a closed connection is detected."""

import time

import dj_database_url
import psycopg
import pytest
from django.db import connection
from django.db.backends.postgresql import base

from webapp.postgresql.base import DatabaseWrapper

pytestmark = pytest.mark.django_db


def open_connection(url: str) -> DatabaseWrapper:
    """Return an open Django connection to this database, with the settings of the site."""
    own = {
        "ENGINE": "webapp.postgresql",
        "OPTIONS": {},
        "TIME_ZONE": None,
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }
    wrapper = DatabaseWrapper({**connection.settings_dict, **dj_database_url.parse(url), **own})
    wrapper.ensure_connection()
    return wrapper


def test_a_live_connection_is_checked_without_a_query(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapper = open_connection(postgres_url)
    monkeypatch.setattr(base.DatabaseWrapper, "is_usable", lambda self: pytest.fail("asked"))
    assert all(wrapper.is_usable() for _ in range(50))
    wrapper.close()


def test_a_connection_that_the_server_closed_is_opened_again(postgres_url: str) -> None:
    wrapper = open_connection(postgres_url)
    pid = wrapper.connection.info.backend_pid
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [pid])
    time.sleep(0.2)
    assert not wrapper.is_usable()
    wrapper.close_if_unusable_or_obsolete()
    wrapper.health_check_done = False
    with wrapper.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    assert wrapper.connection.info.backend_pid != pid
    wrapper.close()


def test_a_connection_with_an_unexpected_notice_is_checked_by_a_query(postgres_url: str) -> None:
    wrapper = open_connection(postgres_url)
    wrapper.connection.autocommit = True
    wrapper.connection.execute("LISTEN horsesense")
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("NOTIFY horsesense")
    time.sleep(0.2)
    assert wrapper.is_usable()
    wrapper.close()


def test_a_closed_connection_is_not_usable(postgres_url: str) -> None:
    wrapper = open_connection(postgres_url)
    wrapper.close()
    assert not wrapper.is_usable()
