"""The page about metrics: it defines each metric under its anchor, and its constants are those of the code."""

import pytest

from generation.engine.scoring import question_terms, statistics
from generation.engine.scoring.counts import grounding
from generation.engine.scoring.counts.metrics import METRICS, Better, Metric
from webapp import documentation


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_a_metric_has_a_heading_a_formula_and_a_row(metric: Metric) -> None:
    page, text = documentation.page("metrics"), documentation.source("metrics")
    assert (metric.anchor, metric.label) in [(heading.anchor, heading.text) for heading in page.headings]
    assert f"\n## {metric.label}\n\n```text\n" in text
    [row] = [line for line in text.splitlines() if line.startswith("|") and f"(#{metric.anchor})" in line]
    assert f"| {'↑' if metric.is_better == Better.HIGHER else '↓'} | {metric.needs} |" in row


def test_constants_are_those_of_the_code() -> None:
    text = " ".join(documentation.source("metrics").split())
    assert f"if the IoU is at least {grounding.AP_IOU}" in text
    assert f"the IoU {', '.join(map(str, grounding.IOUS[:4]))} ... {grounding.IOUS[-1]}" in text
    assert [float(cutoff) for cutoff in (*grounding.CUTOFFS[:3], grounding.CUTOFFS[-1])] == [0, 0.1, 0.2, 1]
    assert f"{statistics.RESAMPLES:,} resamples" in text
    assert f"more than {question_terms.FEW} questions" in text
