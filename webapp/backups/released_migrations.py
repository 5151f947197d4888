"""The last migration of each app in each release since 0.2.0, and the release that a database needs before this one.

`make release` refuses a version whose migrations are not listed here.
"""

from collections.abc import Mapping, Sequence

RELEASED: dict[str, dict[str, str]] = {
    "0.2.0": {
        "annotations": "0009_placeholders",
        "generation": "0018_heartbeat_processes",
        "leaderboards": "0018_submission_column",
        "webapp": "0003_api_tokens",
    },
}


def releases_before(version: str) -> list[str]:
    # The oldest first.
    return sorted((one for one in RELEASED if _number(one) < _number(version)), key=_number)


def release_needed_first(migrations: Mapping[str, Sequence[str]], *, version: str) -> str:
    """Return the release to install before a version on a database with these migrations, or an empty text."""
    for release in releases_before(version):
        if any(name not in migrations.get(app, ()) for app, name in RELEASED[release].items()):
            return release
    return ""


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
