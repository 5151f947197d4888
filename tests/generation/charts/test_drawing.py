"""Charts are drawn once, by a separate process, and kept on disk."""

import base64
import fcntl
import json
import os
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest

from generation.charts import drawing as charts_drawing
from generation.charts.counts import Chart, CountCell, CountColumn, CountRow, as_csv
from generation.charts.drawing import DrawingOrder, drawings, folder_of
from generation.charts.vega import ELSEWHERE, MOST_BARS, OF_PAPER, OF_THE_PAGE, most_frequent, spec_of
from generation.engine.items import ChartView
from generation.engine.scoring.goodness_of_fit import Fit
from generation.making import dataset_jobs
from generation.making.deletion import remove
from generation.models import Dataset
from generation.queue import sandbox
from tests.proof import size

SVG = "{http://www.w3.org/2000/svg}"
VIEW = ChartView("answers", "Answers & more", "answer", "answer")
HOSTILE = ("<script>alert(1)</script>", 'a"b', "&amp;", "</svg>", "é–行", "rate 0.0125")


def chart_of(labels: tuple[str, ...], *, is_along: bool = False) -> Chart:
    """Return a chart of two splits in which all values are equally frequent."""
    rows = [
        CountRow(
            str(at),
            label,
            [CountCell(40, 0.4, f"/datasets/x/{name}/?answer={at}&q=a%20b") for name in ("train", "val")],
        )
        for at, label in enumerate(labels)
    ]
    return Chart(VIEW, is_along, [CountColumn("train", 100), CountColumn("val", 100)], rows, ["test"])


def with_expected_shares(chart: Chart) -> Chart:
    """Return the chart with the shares that the spec asks for in its first split."""
    rows = [
        row._replace(cells=[row.cells[0]._replace(expected=1 / len(chart.rows)), *row.cells[1:]]) for row in chart.rows
    ]
    first, *others = chart.columns
    return chart._replace(rows=rows, columns=[first._replace(fit=Fit(1.0, 1, 0.3)), *others])


def order_of(chart: Chart, *, kind: str = "page", site: str = "") -> DrawingOrder:
    spec = spec_of(chart, colors=OF_THE_PAGE if kind == "page" else OF_PAPER, title="" if kind == "page" else "Mine")
    assert spec is not None
    return DrawingOrder(spec, kind=kind, site=site)


@pytest.fixture
def long_time_limit(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Iterator[None]:
    """Keep drawings in a folder for this test, and give them enough time on a busy machine."""
    monkeypatch.setattr(charts_drawing, "SECONDS", 60)
    settings.VAR_DIR = tmp_path
    yield
    wait(list(charts_drawing._studio._begun.values()))


def refuse(*_: object, **limits: int) -> bytes:
    raise AssertionError("Expected that nothing is drawn.")


@pytest.mark.slow
def test_drawings_for_a_page_as_svg_and_as_pdf(long_time_limit: None, monkeypatch: pytest.MonkeyPatch) -> None:
    chart = chart_of(HOSTILE)
    broken = DrawingOrder({**order_of(chart).spec, "mark": "no such mark"})
    orders = [
        order_of(chart),
        order_of(chart, kind="svg", site="https://example.org"),
        order_of(chart, kind="pdf"),
        order_of(chart_of(("1–2", "3–4"), is_along=True)),
        broken,
    ]
    made = drawings("x", orders)
    page, svg, pdf, along, nothing = made
    assert page is not None and svg is not None and pdf is not None and along is not None
    assert nothing is None
    check_drawing(page, chart, site="")
    check_drawing(svg, chart, site="https://example.org")
    assert b"var(--chart-2)" in page and b"#" not in page and b"font-family" not in page
    assert b"var(--" not in svg and b"Answers &amp; more" in svg and b"test: answers withheld" in svg
    assert len(links_of(along)) == 4
    assert pdf.startswith(b"%PDF-")
    assert "vl_convert" not in sys.modules
    monkeypatch.setattr(sandbox, "run", refuse)
    assert drawings("x", orders) == made


SEVERAL_FONTS = """
import base64, json, sys
from generation.charts import drawing_process
order = json.loads(sys.stdin.read())
made = [drawing_process.draw({**order, "kind": kind}) for kind in ("page", "svg", "pdf", "pdf")]
print(json.dumps([base64.b64encode(one).decode() for one in made]))
"""


def test_a_drawing_has_the_same_bytes_in_each_process() -> None:
    texts = [("plain – λ", "normal", "normal"), ("bold", "bold", "normal"), ("italic", "normal", "italic")]
    marks = [{"type": "text", "text": text, "fontWeight": weight, "fontStyle": style} for text, weight, style in texts]
    bars = {"mark": "bar", "encoding": {"x": {"field": "n", "type": "quantitative"}, "y": {"field": "label"}}}
    rows = [{"label": label, "n": number} for number, label in enumerate(("日本語", "עברית", "many"))]
    rules = [{"mark": {"type": "rule", "opacity": 0.3}, "encoding": {"x": {"datum": 0.3 * n}}} for n in range(9)]
    spec = {"data": {"values": rows}, "layer": [bars, *({"mark": mark} for mark in marks), *rules]}
    asked = json.dumps({**DrawingOrder(spec)._asdict(), "elsewhere": ELSEWHERE, "shrunk": 1.0})
    command = [sys.executable, "-c", SEVERAL_FONTS]
    drawn = []
    for seed in ("0", "random", "1")[: size(3, least=2)]:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, input=asked, env=environment, text=True, stdout=subprocess.PIPE, check=True)
        drawn.append(json.loads(done.stdout))
    assert all(one == drawn[0] for one in drawn)
    assert drawn[0][2] == drawn[0][3]  # the order of the fonts was random in each call
    check_pdf(base64.b64decode(drawn[0][2]))


def check_pdf(pdf: bytes) -> None:
    """Check that every entry of the cross-reference table is the place of its object, and that references exist."""
    table = int(pdf[pdf.rindex(b"startxref") :].split()[1])
    places = [int(entry) for entry in re.findall(rb"(\d{10}) 00000 n", pdf[table:])]
    for number, place in enumerate(places, start=1):
        assert pdf[place:].startswith(b"%d 0 obj" % number)
        head = pdf[place : pdf.index(b"endobj", place)].partition(b"stream\n")[0]
        assert all(1 <= int(other) <= len(places) for other in re.findall(rb"(\d+) 0 R", head))
    assert pdf.startswith(b"xref\n0 %d\n" % (len(places) + 1), table) and pdf.endswith(b"%%EOF")
    assert len(re.findall(rb"/Subtype\s*/Type0", pdf)) >= 3


def links_of(drawing: bytes) -> list[ET.Element]:
    return list(ET.fromstring(drawing).iter(f"{SVG}a"))


def check_drawing(drawing: bytes, chart: Chart, *, site: str) -> None:
    """Check that each bar has a link to its questions and a title, and that the rest is text and shapes."""
    wanted = {
        site + cell.address: f"{row.label}: 40.0 % (n = 40) of {column.split} (n = 100)"
        for row in chart.rows
        for column, cell in zip(chart.columns, row.cells, strict=True)
    }
    found = {link.attrib["href"]: link.findtext(f"{SVG}title") for link in links_of(drawing)}
    assert found == wanted
    assert {link.get("tabindex") for link in links_of(drawing)} == {None if site else "-1"}
    root = ET.fromstring(drawing)
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{tag}" for tag in ["svg", "g", "path", "rect", "line", "text", "tspan", "title", "a"]
    }
    assert not any(name.startswith("on") or name == "style" for element in root.iter() for name in element.attrib)
    assert b"<script" not in drawing
    assert "<script>alert(1)</script>" in [text.text for text in root.iter(f"{SVG}text")]
    assert 350 <= float(root.attrib["width"]) <= 362


def test_a_page_stops_waiting_for_the_drawings_of_other_processes(
    long_time_limit: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "run", refuse)
    monkeypatch.setattr(charts_drawing, "PATIENCE", 0.1)
    folder_of("").mkdir(parents=True)
    with (folder_of("") / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert drawings("x", [order_of(chart_of(("a",)))]) == [None]
    assert not folder_of("x").exists()


def test_a_page_waits_for_a_limited_time_and_the_next_page_has_the_drawing(
    long_time_limit: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    order, may_continue = order_of(chart_of(("a",))), threading.Event()

    def drawn(orders: list[DrawingOrder]) -> dict[str, bytes | None]:
        assert may_continue.wait(60)
        return {order.digest: b"<svg/>" for order in orders}

    monkeypatch.setattr(charts_drawing, "_drawn", drawn)
    assert drawings("x", [order], wait=0.05) == [None]
    may_continue.set()
    assert drawings("x", [order]) == [b"<svg/>"]


def test_drawings_never_block_most_web_threads(
    long_time_limit: None, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.WEB_THREADS = 8
    may_continue = threading.Event()
    monkeypatch.setattr(charts_drawing, "_drawn", lambda orders: may_continue.wait(60) and {})
    orders = [order_of(chart_of((str(number),))) for number in range(24)]
    with ThreadPoolExecutor(24) as pages:
        begun = [pages.submit(drawings, "x", [order]) for order in orders]
        assert len(wait(begun, timeout=5).not_done) <= 2
        may_continue.set()


def test_the_least_recently_used_drawings_are_removed(long_time_limit: None) -> None:
    folder = folder_of("x")
    folder.mkdir(parents=True)
    for age in range(10):
        (folder / str(age)).write_bytes(b"x" * 10_000)
        os.utime(folder / str(age), (1_000_000 - age, 1_000_000 - age))
    assert charts_drawing.make_room(most=35_000) == 7
    assert sorted(path.name for path in folder.iterdir()) == ["0", "1", "2"]


def test_a_drawing_that_another_process_made_meanwhile_is_used(
    long_time_limit: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = order_of(chart_of(("a",)))
    monkeypatch.setattr(sandbox, "run", refuse)

    def locked(lock: int) -> bool:
        folder_of("x").mkdir()
        (folder_of("x") / order.digest).write_bytes(b"<svg/>")
        return True

    monkeypatch.setattr(charts_drawing, "_locked", locked)
    assert drawings("x", [order]) == [b"<svg/>"]


@pytest.mark.parametrize("error", [sandbox.TooLong("x"), sandbox.TooBig("x"), sandbox.Broken("x"), OSError("x")])
def test_an_error_while_drawing_gives_no_drawing(
    long_time_limit: None, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def run(*_: object, **limits: int) -> bytes:
        raise error

    monkeypatch.setattr(sandbox, "run", run)
    assert drawings("x", [order_of(chart_of(("a",)))]) == [None]


def test_a_folder_that_cannot_be_written_gives_no_drawing(
    long_time_limit: None, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(sandbox, "run", refuse)
    settings.VAR_DIR.joinpath("cache").write_text("in the way")
    assert drawings("x", [order_of(chart_of(("a",)))]) == [None]


def test_a_drawing_is_returned_although_the_disk_is_full(
    long_time_limit: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_no_space(*_: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(charts_drawing.files, "write_whole", raise_no_space)
    monkeypatch.setattr(charts_drawing, "_drawn", lambda orders: {order.digest: b"<svg/>" for order in orders})
    assert drawings("x", [order_of(chart_of(("a",)))]) == [b"<svg/>"]


def test_drawings_are_deleted_with_their_dataset(long_time_limit: None, begin: Callable[..., Dataset]) -> None:
    dataset = begin()
    dataset_jobs.cancel(dataset)
    for slug in (dataset.slug, "another"):
        folder_of(slug).mkdir(parents=True)
        (folder_of(slug) / "drawing").touch()
    remove(dataset)
    assert not folder_of(dataset.slug).exists()
    assert folder_of("another").exists()


# Specifications ----------------------------------------------------------------------------------------------


def test_only_the_most_frequent_of_many_values_are_drawn_in_their_order() -> None:
    rows = [CountRow(str(at), f"v{at}", [CountCell(at % 50, (at % 50) / 4000, "/")]) for at in range(100)]
    drawn = most_frequent(Chart(VIEW, False, [CountColumn("train", 4000)], rows, []))
    assert len(drawn) == MOST_BARS
    assert [int(row.value) for row in drawn] == sorted(int(row.value) for row in drawn)
    left = [row for row in rows if row not in drawn]
    assert min(row.cells[0].n for row in drawn) >= max(row.cells[0].n for row in left)


def test_an_empty_chart_has_no_specification() -> None:
    assert spec_of(chart_of(()), colors=OF_PAPER) is None
    small = chart_of(("a",))._replace(columns=[CountColumn("train", 2), CountColumn("val", 3)])
    assert spec_of(small, colors=OF_PAPER) is None


def test_addresses_in_a_specification_do_not_contain_the_site() -> None:
    spec = spec_of(chart_of(("a",)), colors=OF_THE_PAGE)
    assert spec is not None
    assert all(one["address"].startswith(f"{ELSEWHERE}/datasets/x/") for one in spec["data"]["values"])


@pytest.mark.slow
def test_a_mark_is_drawn_for_each_share_that_the_spec_asks_for(long_time_limit: None) -> None:
    chart = with_expected_shares(chart_of(("taxi", "bus")))
    [plain], [marked] = drawings("x", [order_of(chart_of(("taxi", "bus")))]), drawings("x", [order_of(chart)])
    assert plain is not None and marked is not None
    marks = [path for path in ET.fromstring(marked).iter(f"{SVG}path") if path.get("fill") == "var(--ink)"]
    assert len(marks) == 2
    assert not [path for path in ET.fromstring(plain).iter(f"{SVG}path") if path.get("fill") == "var(--ink)"]


@pytest.mark.slow
def test_long_titles_are_drawn_in_several_lines_and_not_cut_off(long_time_limit: None) -> None:
    title = "Some streets with many large vehicles, in all weathers: the first 20,000 training examples of each number"
    view = ChartView("subject-shares", "Frequency of the subject in training (figure 13)", "subject", "subject")
    spec = spec_of(chart_of(("taxi", "bus"))._replace(view=view), colors=OF_PAPER, title=title)
    assert spec is not None
    [drawn] = drawings("x", [DrawingOrder(spec, kind="svg")])
    assert drawn is not None and "…" not in drawn.decode()
    words = " ".join(text for text in ET.fromstring(drawn).itertext())
    assert title in " ".join(words.split()) and view.title in " ".join(words.split())


def test_csv_has_the_shares_that_the_spec_asks_for() -> None:
    lines = as_csv(with_expected_shares(chart_of(("taxi", "bus")))).splitlines()
    assert lines[0] == "split,answer,label,n,questions,share,expected"
    assert lines[1:3] == ["train,0,taxi,40,100,0.400000,0.500000", "val,0,taxi,40,100,0.400000,"]
