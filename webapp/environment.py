"""Reads settings from environment variables; only the variables in one table can be read."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError

KINDS = {
    "text": "str",
    "yes or no": "bool",
    "whole number": "int",
    "number": "float",
    "list": "list",
    "path": "path",
    "database address": "dj_db_url",
    "email address": "dj_email_url",
}
DATABASES = {"django.db.backends.sqlite3", "django.db.backends.postgresql"}
MAIL_SERVER = "django.core.mail.backends.smtp.EmailBackend"


@dataclass(frozen=True, kw_only=True)
class Variable:
    """An environment variable: its name, how it is parsed, and its default.

    `default` is the value that the program uses if the variable is not set; `shown` describes it if the value itself is
    not helpful. A value must be one of `choices` (upper or lower case), at least `least`, and accepted by `fits`;
    `expected` describes these conditions in words. The value of a `secret` variable is never printed.
    """

    name: str
    kind: str
    default: Any
    about: str
    group: str
    shown: str = ""
    secret: bool = False
    choices: Sequence[str] = ()
    least: float | None = None
    fits: Callable[[Any], object] | None = None
    expected: str = ""

    def checked(self, value: Any) -> Any:
        """Return a valid value, or the choice that it spells in any case; raise `ValueError` for an invalid value."""
        if self.choices:
            return self.choices[[choice.lower() for choice in self.choices].index(value.strip().lower())]
        if self.least is not None and not self.least <= value < math.inf:
            raise ValueError(value)
        if self.fits is not None and not self.fits(value):
            raise ValueError(value)
        return value

    @property
    def expected_text(self) -> str:
        """Describe the values that are valid."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.least is not None:
            return f"a {self.kind} of {self.least:g} or more"
        return self.expected or (self.kind if self.kind == "yes or no" else f"a {self.kind}")

    @property
    def default_text(self) -> str:
        """Return the default value as the documentation shows it."""
        if self.shown:
            return self.shown
        if isinstance(self.default, bool):
            return "yes" if self.default else "no"
        if isinstance(self.default, list):
            return ",".join(self.default) or "none"
        return str(self.default) if self.default not in (None, "") else "none"


class SiteEnvironment:
    """The values of the variables in the table; other variables can't be read."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self.variables = {variable.name: variable for variable in variables}
        self._env = Env()

    def __getitem__(self, name: str) -> Any:
        """Return the variable's value, or its default if it is absent or empty."""
        variable = self.variables[name]
        if not self._env.str(name, "").strip():
            return variable.default
        try:
            return variable.checked(getattr(self._env, KINDS[variable.kind])(name))
        except (EnvError, ValueError) as error:
            raise ImproperlyConfigured(self._complaint(variable)) from error

    def _complaint(self, variable: Variable) -> str:
        value = "something else" if variable.secret else repr(self._env.str(variable.name))
        return f"{variable.name}: expected {variable.expected_text}, got {value}. The settings: webapp/docs/settings.md"


def resolve(value: str | Path, *, base: Path) -> Path:
    return (base / Path(value).expanduser()).resolve()


def locate(value: str | Path, *, base: Path) -> Path:
    return base / Path(value).expanduser()


# Validators: each returns False or raises ValueError for an invalid value.


def is_site(address: str) -> bool:
    names_a_host = re.fullmatch(r"https?://([\w.-]+|\[[0-9a-f:.]+\])(:\d+)?/*", address, flags=re.IGNORECASE)
    return bool(names_a_host) and urlsplit(address).port != 0


def is_web_address(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0


def is_redis(address: str) -> bool:
    parts = urlsplit(address)
    named = parts.scheme in ("redis", "rediss") and bool(parts.hostname) and parts.port != 0
    return named and not parts.path.strip("/")


def is_database(parsed: dict[str, Any]) -> bool:
    return parsed["ENGINE"] in DATABASES and bool(parsed["NAME"] or parsed.get("OPTIONS", {}).get("service"))


def is_mail(parsed: dict[str, Any]) -> bool:
    backend = parsed.get("EMAIL_BACKEND")
    return backend is not None and (backend != MAIL_SERVER or bool(parsed["EMAIL_HOST"]))


def is_time_zone(name: str) -> bool:
    """Return whether this machine knows a time zone with this name."""
    try:
        ZoneInfo(name)
    except (LookupError, OSError):  # the name is unknown, or is a folder of time zones
        return False
    return True
