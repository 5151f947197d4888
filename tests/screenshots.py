"""`python -m tests.screenshots SITE LINK [NAME ...]`: take the pictures of the documentation and the README anew.

SITE is the address of a running site that has the demo dataset, LINK the link with which `make run` signs in as admin.
Each picture is kept as `static/docs/NAME.webp`, where NAME is the page of the documentation that shows it. Those of the
README are `static/readme/...`. The picture of a study makes a study, opens it, and takes part by its test link.
"""

import io
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

STATIC = Path(__file__).resolve().parent.parent / "static"
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1120, "height": 700}
PHONE = {"width": 390, "height": 740}
QUALITY = 70
LONGEST = 120_000  # milliseconds: a preview draws four pictures
DEMO = "/datasets/clevr-mini"
ORANGE = """{
  "base": "clevr-mini",
  "vocabulary": {
    "colors": {"orange": {"rgb": [240, 120, 20]}},
    "shapes": {"cone": {"solid": "cone"}}
  }
}"""

Take = Callable[[Page], None]


def at(address: str, show: str = "") -> Take:
    """Return what opens an address, and scrolls to the first element that a selector finds."""

    def take(page: Page) -> None:
        page.goto(address)
        if show:
            page.locator(show).first.evaluate("one => one.scrollIntoView({ block: 'start' })")

    return take


def preview(preset: str, spec: str = "") -> Take:
    """Return what previews a new dataset."""

    def take(page: Page) -> None:
        page.goto(f"/datasets/new/?preset={preset}")
        if spec:
            page.fill("#spec", spec)
        page.click("button[value=preview]")
        page.locator(".previews").wait_for()

    return take


def opened(address: str, facet: str) -> Take:
    """Return what opens a list with the values of a facet."""

    def take(page: Page) -> None:
        page.goto(f"{address}?open={facet}")
        page.locator(f"#facet-{facet}").evaluate("one => one.scrollIntoView({ block: 'start' })")

    return take


def study(page: Page) -> None:
    """Show a question of a new study on a phone, as a participant sees it."""
    page.goto("/studies/new/?split=clevr-mini/val")
    page.fill("[name=title]", "People on CLEVR")
    page.fill("[name=practice]", "0")
    page.fill("[name=practice_right]", "0")
    page.click("button[value=save]")
    page.get_by_role("button", name="Open", exact=True).click()
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.get_by_role("link", name="the test link").click()
    while not page.locator(".choices").count():
        for same in page.locator("input[value=same]").all():
            same.check()
        page.locator("form button[type=submit]").first.click()
        page.wait_for_load_state("networkidle")


def slices(page: Page) -> None:
    """Show a board by slices, when its charts are drawn."""
    page.goto("/leaderboards/clevr-mini/val/slices/")
    while not page.locator(".panels svg").count():
        page.wait_for_timeout(1000)
        page.reload()


SHOTS: Mapping[str, Take] = {
    "index": at("/"),
    "browsing": at(f"{DEMO}/train/?type=count&sort=-length"),
    "diagnostics": at(f"{DEMO}/train/q/5/"),
    "shortcuts": at(f"{DEMO}/shortcuts/"),
    "question-sets": at(f"{DEMO}/train/derive/?type=count"),
    "export": at(f"{DEMO}/export/"),
    "api": at("/api/v1/docs"),
    "datasets": at("/datasets/new/?preset=clevr-mini"),
    "spec": at(f"{DEMO}/", "#spec"),
    "vocabulary": preview("clevr-mini", ORANGE),
    "families": opened(f"{DEMO}/train/", "template"),
    "shapeworld": preview("shapeworld-multishape"),
    "captions": preview("shapeworld-logical"),
    "babi": preview("babi"),
    "import": at("/datasets/new/import/"),
    "worlds": at("/datasets/new/"),
    "studies": at("/studies/new/?split=clevr-mini/val"),
    "leaderboards": at("/leaderboards/clevr-mini/val/"),
    "predictions": at("/submissions/new/?to=clevr-mini/val"),
    "reading-boards": slices,
    "running": at("/datasets/"),
    "operating": at("/admin/generation/job/"),
    "readme/browsing": at(f"{DEMO}/train/q/5/?step=3"),
    "readme/study": study,
    "readme/board": slices,
}


def main(arguments: list[str]) -> int:
    """Take the pictures that are named, or all."""
    parser = ArgumentParser(prog="python -m tests.screenshots")
    parser.add_argument("site", metavar="SITE", help="address of a running site, such as http://127.0.0.1:8000")
    parser.add_argument("link", metavar="LINK", help="link that signs in as admin, as make run prints it")
    parser.add_argument("names", metavar="NAME", nargs="*", help=", ".join(SHOTS))
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(SHOTS))
    if unknown:
        parser.error(f"Expected names of {', '.join(SHOTS)}, got {', '.join(unknown)}.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(base_url=options.site, viewport=SIZE, color_scheme="light", reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_default_timeout(LONGEST)
        page.goto(options.link)
        page.locator("main button[type=submit]").click()
        page.wait_for_url(f"{options.site.rstrip('/')}/")
        for name in options.names or SHOTS:
            page.set_viewport_size(SIZE)  # type: ignore[arg-type]
            SHOTS[name](page)
            page.wait_for_load_state("networkidle")
            sys.stdout.write(f"{name}: {keep(name, page.screenshot()):,} bytes\n")
        browser.close()
    return 0


def keep(name: str, picture: bytes) -> int:
    """Return how many bytes the picture has that is kept now."""
    path = STATIC / f"{name if '/' in name else f'docs/{name}'}.webp"
    Image.open(io.BytesIO(picture)).convert("RGB").save(path, "WEBP", quality=QUALITY, method=6)
    return path.stat().st_size


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
