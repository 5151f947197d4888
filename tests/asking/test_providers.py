"""The habits of providers: each is asked all questions through `static/ask.py` once."""

from pathlib import Path

import pytest

from tests.asking import colour_site
from tests.asking.conftest import Call, answers, records, truth
from tests.asking.model_stub import ModelStub
from tests.asking.providers import PROVIDERS, Provider
from tests.webapp.contrary import Contrary

THINKING = {"openai responses", "openrouter", "mistral", "deepseek", "vllm"}


def attempts_of(provider: Provider, count: int) -> list[list[str]]:
    """Return the states of the attempts of each question; those with refused parameters belong to the first."""
    found = [list(habit.states) for habit in provider.habits]
    found[0] = [*["failed"] * len(provider.refuses), *found[0]]
    return found + [["answered"]] * (count - len(found))


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_habit_of_a_provider_is_understood(
    name: str, call: Call, site: Contrary, model: ModelStub, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provider = PROVIDERS[name]
    colour_site.fill(site, 10)
    model.check, model.write = provider.check, provider.write
    for habit in provider.habits:
        model.troubles.extend([habit.trouble, None][: len(habit.states)])
    base = model.address.removesuffix("/v1") + provider.base
    assert call("--base-url", base, "--max-tokens", "64") == 0
    lines = records(folder)
    found = [[line["state"] for line in lines if line["question"] == number] for number in range(10)]
    assert found == attempts_of(provider, 10)
    right = truth(10)
    assert answers(folder) == [right[at] if states[-1] == "answered" else None for at, states in enumerate(found)]
    errors = [line["error"] for line in lines[len(provider.refuses) :] if line["error"]]
    for habit in provider.habits:
        assert not habit.error or any(habit.error in error for error in errors), habit
    assert model.asked[-1].body[provider.limit] == 64
    assert {"max_tokens", "max_completion_tokens", "max_output_tokens"} & model.asked[-1].body.keys() == {
        provider.limit
    }
    thoughts = [line["reasoning"] for line in lines if line["state"] == "answered"]
    assert all("It could be green." in str(one) for one in thoughts) == (name in THINKING)
    out, err = capsys.readouterr()
    refused = sum(states[-1] == "refused" for states in found)
    assert f"refused {refused}," in out and all(error in out + err for error in errors)
    assert call("--base-url", base, "--max-tokens", "64", "--resume") == 0
