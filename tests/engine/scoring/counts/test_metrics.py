"""The descriptions of metrics."""

import pytest

from generation.engine.scoring.counts.metrics import METRICS, Better, Metric, MetricNeeds


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_is_described_in_one_sentence(metric: Metric) -> None:
    assert metric.about.endswith(".") and metric.about.count(". ") == 0
    assert METRICS[metric.name] is metric


def test_errors_are_better_if_they_are_lower_and_boxes_are_needed_for_grounding() -> None:
    lower = {name for name, metric in METRICS.items() if metric.is_better == Better.LOWER}
    assert lower == {"rmse", "l1", "relative_error", "biased_errors"}
    boxes = {name for name, metric in METRICS.items() if metric.needs == MetricNeeds.BOXES}
    assert boxes == {"groundp", "ap"}


def test_shares_are_shown_in_per_cent_and_errors_as_numbers() -> None:
    assert METRICS["ap"].text(0.2274) == "22.7 %"
    assert METRICS["rmse"].text(1.087) == "1.09"
