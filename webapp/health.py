"""Whether the site can do its job: database, broker, background processes."""

import sqlite3
from contextlib import closing
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, connection

from generation.models import Heartbeat

TIMEOUT = 2.0  # seconds; whoever asks is waiting


def report() -> dict[str, Any]:
    """Return the state of each part; `ok` is false when the database or the broker fails."""
    parts = {"database": database_trouble(), "broker": broker_trouble()}
    state: dict[str, Any] = {"ok": not any(parts.values())}
    state |= {name: trouble or "ok" for name, trouble in parts.items()}
    return state | {"background_processes": background_processes() if not parts["database"] else None}


def database_trouble() -> str:
    """Return what is wrong with the database in one line, or nothing."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return type(error).__name__
    return ""


def broker_trouble() -> str:
    """Return what is wrong with the broker in one line, or nothing."""
    try:
        if settings.REDIS_URL:
            limits = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
            with closing(redis.from_url(settings.CELERY_BROKER_URL, **limits)) as client:
                client.ping()
        else:
            with closing(sqlite3.connect(settings.BROKER_FILE, timeout=TIMEOUT)) as broker:
                broker.execute("BEGIN IMMEDIATE")
                broker.rollback()
    except (redis.RedisError, sqlite3.Error) as error:
        return type(error).__name__
    return ""


def background_processes() -> int:
    """Return how many background processes lately said that they are alive."""
    return Heartbeat.objects.alive().count()
