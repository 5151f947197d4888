"""The command `horsesense`: `horsesense ask` is `static/ask.py` of the installed package."""

from pathlib import Path

import pytest

from generation.asking.installed_command import run
from tests.asking.conftest import KEY, answers, arguments, truth
from tests.asking.model_stub import ModelStub
from tests.webapp.contrary import TOKEN, Contrary


def test_it_asks_with_the_arguments_of_the_script(
    site: Contrary, model: ModelStub, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HORSESENSE_TOKEN", TOKEN)
    monkeypatch.setenv("MODEL_API_KEY", KEY)
    assert run(["ask", *arguments(site, model, folder)]) == 0
    assert answers(folder) == truth(8)
    assert "right: 8 of 8 (100.0 %)" in capsys.readouterr().out


def test_the_help_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["ask", "--help"])
    assert ended.value.code == 0 and capsys.readouterr().out.startswith("usage: horsesense ask ")
    assert run(["--help"]) == 0 and capsys.readouterr().out.startswith("usage: horsesense ask SITE ")


@pytest.mark.parametrize(("given", "got"), [([], "none"), (["submit"], "'submit'"), (["asks", "--help"], "'asks'")])
def test_another_subcommand_is_refused_with_the_usage(
    given: list[str], got: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(given) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(f"Expected the subcommand ask, got {got}.\nusage: horsesense ask SITE ")
