"""Logs do not contain addresses and ids of participants."""

import logging

import pytest

from webapp.monitoring.log_masking import MaskingFormatter, mask


@pytest.mark.parametrize(
    ("said", "logged"),
    [
        ("Not Found: /s/abc/def/", "Not Found: /s/…"),
        ('"GET /s/abc/?PROLIFIC_PID=p1&SESSION_ID=s1 HTTP/1.1" 303', '"GET /s/… HTTP/1.1" 303'),
        ("https://site.example/s/abc/def/ and more", "https://site.example/s/… and more"),
        ("Resolver404: {'tried': [], 'path': 's/abc/def/'}", "Resolver404: {'tried': [], 'path': 's/…'}"),
        ("DETAIL:  Failing row contains (1, p1, s1).", "DETAIL:  Failing row contains (…)."),
        (
            "DETAIL:  Key (study_id, identity)=(1, p1) already exists.",
            "DETAIL:  Key (study_id, identity)=(…) already exists.",
        ),
        ("Not Found: /studies/abc/", "Not Found: /studies/abc/"),
        ("It was 3 m/s /s/ or so", "It was 3 m/s /s/ or so"),
    ],
)
def test_only_data_of_participants_are_masked(said: str, logged: str) -> None:
    assert mask(said) == logged


def test_a_traceback_is_masked_too() -> None:
    try:
        raise ValueError("of /s/abc/def/")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "broken", (), (ValueError, error, None))
    assert MaskingFormatter("{message}", style="{").format(record) == "broken\nValueError: of /s/…"
