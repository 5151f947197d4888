"""Child processes with limits of time and memory."""

from typing import Any

import pytest

from generation.queue import sandbox

pytestmark = pytest.mark.slow  # each test starts processes


@pytest.mark.parametrize(
    ("source", "error"),
    [("while True: pass", sandbox.TooLong), ("import time; time.sleep(9)", sandbox.ClockRanOut),
     ("kept = bytearray(3 << 30)", sandbox.TooBig), ("1 / 0", sandbox.Broken)],
)  # fmt: skip
def test_a_child_that_exceeds_its_limits_is_stopped_with_an_error(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, source: str, error: Any
) -> None:
    (tmp_path / "generation").symlink_to(sandbox.ROOT / "generation")
    (tmp_path / "greedy.py").write_text(source)
    monkeypatch.setattr(sandbox, "ROOT", tmp_path)
    with pytest.raises(error):
        sandbox.run("greedy", b"", seconds=1, memory=1 << 30)


def test_a_child_does_not_get_secrets_from_the_environment(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "generation").symlink_to(sandbox.ROOT / "generation")
    (tmp_path / "nosy.py").write_text("import os; print(os.environ.get('SECRET_KEY', 'nothing'))")
    monkeypatch.setattr(sandbox, "ROOT", tmp_path)
    monkeypatch.setenv("SECRET_KEY", "sesame")
    assert sandbox.run("nosy", b"", seconds=5, memory=1 << 30) == b"nothing\n"
