"""From signing up to the skipped step, in a real browser; each number is compared with counting by question.

A user signs up, makes methods and uploads files: the most frequent answer of each type, the right answers, three runs
of the right answers with noise, and noisier runs for smaller training sizes. The counts use only the rows of questions
and the uploaded files.
"""

import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from generation.charts import drawing
from generation.models import Question, Split
from generation.reports import report_jobs, skipped_steps
from tests.generation import small
from webapp.leaderboards import baselines, scoring

pytestmark = [pytest.mark.slow, pytest.mark.full]

BOARD = "/leaderboards/shapes/val/"
NOISE = {"1": 0.3, "2": 0.34, "3": 0.38}
SIZES = {100: 0.7, 1000: 0.5}
RUN_SIZE = 5000
NAMES = {"mode": "Mode of my own", "oracle": "Oracle", "noisy": "Noisy oracle"}


@pytest.fixture
def val(transactional_db: None, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Split:
    """Give a split of 240 questions about 24 scenes; its dataset also has the reference split."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(drawing, "SECONDS", 60)
    # 240 questions have few wrong answers that are usable for the report on skipped steps
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 2)
    splits = {"train": {"scenes": 24}, "val": {"scenes": 24}}
    made = small.made(with_images=False, splits=splits, questions={"per_scene": 10})
    return Split.objects.for_browse().get(dataset=made, name="val")


class ExpectedCounts:
    """The questions of both splits and the uploaded files, from which all expected numbers are counted."""

    def __init__(self, val: Split) -> None:
        rows = Question.objects.order_by("position").values_list("kind", "answer", "family")
        self.asked = list(rows.filter(split=val))
        self.train = list(rows.filter(split__name="train"))
        self.words = sorted({answer for _, answer, _ in [*self.asked, *self.train]})
        self.sent: dict[str, list[list[str]]] = {"mode": [self._mode()], "oracle": [[row[1] for row in self.asked]]}
        self.sent["noisy"] = [self._noisy(wrong, seed=int(run)) for run, wrong in NOISE.items()]
        self.sent |= {f"noisy {size}": [self._noisy(wrong, seed=size)] for size, wrong in SIZES.items()}

    def _mode(self) -> list[str]:
        seen: dict[str, Counter[str]] = defaultdict(Counter)
        for kind, answer, _ in self.train:
            seen[kind][answer] += 1
        return [seen[kind].most_common(1)[0][0] if seen[kind] else "yes" for kind, _, _ in self.asked]

    def _noisy(self, wrong: float, *, seed: int) -> list[str]:
        chance = random.Random(seed)
        return [
            chance.choice([word for word in self.words if word != answer]) if chance.random() < wrong else answer
            for _, answer, _ in self.asked
        ]

    def rights(self, name: str, kind: str = "") -> tuple[list[int], int]:
        """Return the numbers of right answers of the files, and of questions; only those of `kind` if it is given."""
        wanted = [at for at, row in enumerate(self.asked) if kind in ("", row[0])]
        return [sum(file[at] == self.asked[at][1] for at in wanted) for file in self.sent[name]], len(wanted)

    def share(self, name: str, kind: str = "") -> float:
        """Return the mean share of right answers over the files of a method."""
        rights, n = self.rights(name, kind)
        return sum(rights) / len(rights) / n


@pytest.fixture
def page(browser: Browser, live_server: Any, val: Split) -> Iterator[Page]:
    """Give a page of a browser without a signed-in account."""
    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def in_percent(share: float) -> str:
    return f"{100 * share:.1f}"


def test_from_signing_up_to_the_skipped_step(page: Page, val: Split, tmp_path: Path) -> None:
    known = ExpectedCounts(val)
    sign_up(page)
    for key, name in NAMES.items():
        make_method(page, name)
        for number, answers in enumerate(known.sent[key], start=1):
            upload(page, tmp_path, name, answers, run=str(number) if key == "noisy" else "", size=RUN_SIZE)
    for size in SIZES:
        upload(page, tmp_path, NAMES["noisy"], known.sent[f"noisy {size}"][0], run="", size=size)
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()
    check_board(page, known)
    check_slices(page, known)
    check_comparison(page, known)
    check_curve(page, known)
    check_steps(page, known, val)


def sign_up(page: Page) -> None:
    page.goto("/accounts/signup/")
    for label, text in (("Username", "mira"), ("Email", "mira@example.org")):
        page.get_by_label(label, exact=False).first.fill(text)
    for field in page.locator("input[type=password]").all():
        field.fill("a long enough phrase 7")
    page.get_by_role("button", name=re.compile("sign up|create", re.I)).click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def make_method(page: Page, name: str) -> None:
    page.goto("/methods/new/")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("How it was made").select_option("trained")
    page.get_by_role("button", name="Create the method").click()
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("button", name="Hide from boards")).to_be_visible()


def upload(page: Page, folder: Path, method: str, answers: list[str], *, run: str, size: int) -> None:
    file = folder / "predictions.json"
    file.write_text(json.dumps([{"question_id": at, "answer": answer} for at, answer in enumerate(answers)]))
    page.goto(BOARD)
    page.get_by_role("link", name="Submit predictions").click()
    page.get_by_label("Predictions").set_input_files(file)
    page.get_by_label("Method").select_option(label=method)
    page.get_by_label("Run").fill(run)
    page.get_by_label("Training examples").fill(str(size))
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("heading", name="This submission is waiting to be scored")).to_be_visible()
    scoring.RUNNER.take_turn()
    expect(page.get_by_role("heading", name="Scored")).to_be_visible(timeout=15_000)  # the page updates by itself
    assert Axe().run(page).response["violations"] == []


def row_of(page: Page, name: str) -> list[str]:
    row = page.locator(".board tbody tr", has=page.get_by_role("link", name=name, exact=True))
    return [cell.inner_text() for cell in row.locator("th, td").all()]


def check_board(page: Page, known: ExpectedCounts) -> None:
    page.goto(BOARD)
    heads = [head.inner_text().strip() for head in page.locator(".board thead th").all()]
    kinds = {"exist": "exist", "count": "count"}  # for so few questions, the columns are groups of types
    for key, name in NAMES.items():
        cells = dict(zip(heads, row_of(page, name), strict=True))
        assert cells["Accuracy"].split()[0] == in_percent(known.share(key)), name
        for head, kind in kinds.items():
            rights, n = known.rights(key, kind)
            expected = in_percent(sum(rights) / len(rights) / n) if n >= 30 else f"n = {n}"
            assert cells[head].strip() == expected, (name, head)
    ordered = sorted(NAMES, key=lambda key: -known.share(key))
    assert [row_of(page, NAMES[key])[1].strip() for key in ordered] == ["1", "2", "3"]
    rights, n = known.rights("noisy")
    mean = sum(rights) / 3 / n
    deviation = math.sqrt(sum((right / n - mean) ** 2 for right in rights) / 2)
    assert f"± {in_percent(deviation)}" in row_of(page, NAMES["noisy"])[3]
    page.get_by_text("3 runs").click()
    listed = page.locator(".runs li").all_inner_texts()
    assert listed == [f"{run}: {in_percent(right / n)}" for run, right in enumerate(rights, start=1)]
    expect(page.get_by_role("link", name="Q-type mode")).to_be_visible()


def keys_of(page: Page, *names: str) -> str:
    """Return the part of an address that selects the rows of the board with these names."""
    page.goto(BOARD)
    found = []
    for name in names:
        row = page.locator(".board tbody tr", has=page.get_by_role("link", name=name, exact=True))
        found.append(str(row.locator("input[name=entry]").get_attribute("value")))
    return "&".join(f"entry={key}" for key in found)


def check_slices(page: Page, known: ExpectedCounts) -> None:
    page.goto(f"{BOARD}slices/?by=type&{keys_of(page, NAMES['mode'], NAMES['noisy'])}")
    labels = {label: kind for kind, label in (("count", "count"), ("exist", "exist"), ("query_shape", "query shape"))}
    seen = 0
    for row in page.locator(".panels tbody tr").all():
        label = row.locator("th").inner_text()
        if label in labels:
            cells = row.locator("td").all_inner_texts()
            for key, cell in zip(("mode", "noisy"), cells, strict=True):
                n = known.rights(key, labels[label])[1]
                assert f"n = {n}" in cell
                assert n < 30 or cell.startswith(in_percent(known.share(key, labels[label])))
            seen += 1
    assert seen >= 2
    whole = page.locator(".panels tr.whole td").all_inner_texts()
    assert [cell.split()[0] for cell in whole] == [in_percent(known.share(key)) for key in ("mode", "noisy")]


def check_comparison(page: Page, known: ExpectedCounts) -> None:
    page.goto(f"{BOARD}compare/?{keys_of(page, NAMES['oracle'], NAMES['mode'])}")
    [truth], [mode] = known.sent["oracle"], known.sent["mode"]
    only = sum(one != other for one, other in zip(truth, mode, strict=True))
    facts = dict(
        zip(page.locator(".facts dt").all_inner_texts(), page.locator(".facts dd").all_inner_texts(), strict=True)
    )
    assert facts[f"Only {NAMES['oracle']} is right"] == f"{only:,}"
    assert facts[f"Only {NAMES['mode']} is right"] == "0"
    assert facts["Difference, in points"].split()[0].lstrip("+") == in_percent(1 - known.share("mode"))
    assert facts["McNemar’s exact test"].startswith("p <")  # p is 2 / 2 ** only
    page.locator(".facts a").first.click()
    expect(page.get_by_text(f"{only:,} questions", exact=True)).to_be_visible()


def check_curve(page: Page, known: ExpectedCounts) -> None:
    page.goto(f"{BOARD}curves/?target=60")
    text = page.get_by_role("group", name="Curves as a table").inner_text()
    for size in SIZES:
        assert f"{size:,}" in text and in_percent(known.share(f"noisy {size}")) in text
    assert in_percent(known.share("noisy")) in text
    sizes = {RUN_SIZE: known.share("noisy"), **{size: known.share(f"noisy {size}") for size in SIZES}}
    reached = min((size for size, share in sizes.items() if share >= 0.6), default=None)
    row = page.locator("main table tbody tr", has=page.get_by_role("rowheader", name=NAMES["noisy"])).first
    assert (f"{reached:,}" if reached else "not reached") in row.inner_text()
    page.goto(f"{BOARD}curves/?target=100")
    row = page.locator("main table tbody tr", has=page.get_by_role("rowheader", name=NAMES["noisy"])).first
    assert "not reached" in row.inner_text()


def check_steps(page: Page, known: ExpectedCounts, val: Split) -> None:
    page.goto(f"{BOARD}steps/?{keys_of(page, NAMES['noisy'])}")
    for _ in range(60):
        if not page.get_by_text("The report is being computed").count():
            break
        report_jobs.SKIPPED_STEPS.work()
        page.reload()
    wrong = [n - right for right in known.rights("noisy")[0] for n in [known.rights("noisy")[1]]]
    expect(
        page.get_by_text(f"{round(sum(wrong) / 3):,} wrong answers to {len(known.asked):,} questions")
    ).to_be_visible()
    found = skipped_steps.find(val.dataset.get_world(), val)
    words = {word: code for code, word in enumerate(val.dataset.get_world().answers(val.read_spec()))}
    counts = {label: count_hits(known, found.codes[at], words) for at, label in enumerate(labels_of(val))}
    checked = 0
    for row in page.locator(".skipping tbody tr").all():
        label, cell = row.locator("th").inner_text().lower(), row.locator("td").first
        if label in counts and not cell.inner_text().startswith("too few"):
            hit, n = counts[label]
            assert cell.inner_text().startswith(f"{100 * hit / n:.1f} %"), (label, hit, n)
            checked += 1
    assert checked >= 1


def labels_of(val: Split) -> list[str]:
    return [one.label.lower() for one in val.dataset.get_world().ablations]


def count_hits(known: ExpectedCounts, ablated: Any, words: dict[str, int]) -> tuple[int, int]:
    """Return how many usable wrong answers equal the answer without a step, and how many are usable (at least 1)."""
    hit = n = 0
    for file in known.sent["noisy"]:
        for at, said in enumerate(file):
            truth, given = words[known.asked[at][1]], int(ablated[at])
            if words[said] != truth and given >= 0 and given != truth and has_many_answers(known.asked[at][0]):
                n += 1
                hit += words[said] == given
    return hit, max(1, n)


def has_many_answers(kind: str) -> bool:
    """Return whether a type of questions has more than two possible answers."""
    return kind in ("count", "query_color", "query_shape")
