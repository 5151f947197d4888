"""Secrets that this server generates, stored in files that only its owner can read."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

LENGTH = 32  # the minimum number of characters


def kept_secret(path: Path) -> str:
    """Return the secret in the file; create the secret if the file is missing.

    If several processes create it at the same time, all of them get the same secret.
    """
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # the database will be in this folder too
            _write(path, secrets.token_urlsafe(48))
        return _read(path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"VAR_DIR: expected a folder this user can write, got {path.parent} ({error.strerror}). "
            f"Name another one in VAR_DIR."
        ) from error


def put_secret(path: Path, secret: str) -> None:
    draft = _drafted(path, secret)
    draft.replace(path)


def _read(path: Path) -> str:
    text = path.read_text().strip()
    if len(text) < LENGTH:
        raise ImproperlyConfigured(
            f"{path}: expected a secret of {LENGTH} characters or more, got {len(text)}. Delete the file."
        )
    return text


def _write(path: Path, secret: str) -> None:
    """Store the complete secret atomically, unless another process has just stored one."""
    draft = _drafted(path, secret)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _drafted(path: Path, secret: str) -> Path:
    """Write the secret to a draft file next to this file, and sync it to disk; only its owner can read the draft."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        draft.unlink()
        raise
    return draft
