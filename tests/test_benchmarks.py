"""Tests of the program that runs benchmarks. Benchmarks at full size are run by hand."""

import importlib
import json
from typing import Any

import pytest

from tests.benchmarks import __main__ as program
from tests.benchmarks.figures import figure, together


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace the benchmark `generate` by one that returns a fixed result, and give this result."""
    result = together("generate", [figure("speed", 2, "x", least=1.8), figure("memory", 900, "MB", most=500, cores=1)])
    monkeypatch.setattr("tests.benchmarks.generate.run", lambda: result)
    return result


def test_an_unknown_benchmark_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["nonsense"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "generate" in err


def test_no_benchmark_is_one_line_and_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        program.main([])
    assert caught.value.code == 2 and capsys.readouterr().err.count("\n") == 1


def test_every_name_is_a_benchmark() -> None:
    for name in program.names():
        assert callable(importlib.import_module(f"tests.benchmarks.{name}").run), name


def test_a_missed_goal_is_reported_but_is_not_a_failure(
    quick: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["generate"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "goal at least 1.8: ok" in lines[0] and "goal at most 500: MISSED" in lines[1]


def test_json_is_one_document(quick: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["generate", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == quick
    assert (document["value"], document["ok"], len(document["details"])) == (2, False, 2)
    assert set(document["details"][0]) == {"name", "value", "unit", "goal", "ok", "cores", "details"}


@pytest.mark.full
@pytest.mark.slow
def test_browsing_is_measured_on_a_scratch_site() -> None:
    from tests.benchmarks import browse

    result = browse.run(scenes=300, queries=20)
    names = [one["name"] for one in result["details"]]
    assert "3,000 questions" in names[0]
    assert result["value"] == result["details"][0]["value"]
    assert all(one["value"] > 0 for one in result["details"])
    assert [one["goal"] for one in result["details"][:4]] == ["at most 60", None, None, "at most 400"]


@pytest.mark.slow
def test_facets_are_measured_in_comparison_with_making_questions() -> None:
    from tests.benchmarks import diagnose

    result = diagnose.run(most=5)
    assert [one["goal"] for one in result["details"]] == ["at most 100", None, None]
    assert all(one["value"] > 0 for one in result["details"])


@pytest.mark.full
@pytest.mark.slow
def test_verifying_and_importing_are_measured_by_their_commands() -> None:
    from tests.benchmarks import exchange

    result = exchange.run(scenes=20)
    names = [one["name"] for one in result["details"]]
    assert "200 questions proved" in names[0]
    assert all(one["value"] > 0 for one in result["details"])
    assert [one["goal"] for one in result["details"][:3]] == ["at least 100000", None, "at least 5000"]


@pytest.mark.full
@pytest.mark.slow
def test_scoring_is_measured_in_every_format_and_on_a_scratch_site() -> None:
    from tests.benchmarks import score

    result = score.run(n=500, many=1000, megabytes=1, submissions=3, known=3000)
    assert all(one["value"] > 0 for one in result["details"])
    goals = ["at most 0.5", *["at most 1.5"] * 5, "at most 10", "at most 300", "at most 1.5"]
    goals += [None, None, "at most 150", None, "at least 10", None, None]
    assert [one["goal"] for one in result["details"]] == goals


@pytest.mark.full
@pytest.mark.slow
def test_metrics_of_counting_are_measured() -> None:
    from tests.benchmarks import counting

    result = counting.run(n=400, train=900)
    goals = [one["goal"] for one in result["details"] if one["goal"]]
    assert goals == ["at most 2", "at most 1", "at most 60", "at most 500", "at most 10"]
    assert all(one["value"] > 0 for one in result["details"])


@pytest.mark.slow
def test_asking_is_measured_in_comparison_with_the_server() -> None:
    from tests.benchmarks import asking

    result = asking.run(questions=40, concurrency=4, delay=0.01)
    assert [one["goal"] for one in result["details"]] == ["at most 2", None]
    assert all(one["value"] > 0 for one in result["details"])


@pytest.mark.slow
def test_an_environment_is_measured_with_two_processes() -> None:
    from tests.benchmarks import environment

    result = environment.run(items=30)
    goals = [one["goal"] for one in result["details"]]
    assert goals == ["at least 300", None] * 5 + [None, None]
    assert all(one["value"] > 0 for one in result["details"])
