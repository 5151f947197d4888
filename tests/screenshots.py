"""`python -m tests.screenshots SITE LINK [NAME ...]`: take new screenshots for the documentation and the README.

SITE is the address of a running site with the demo dataset. LINK is the link of `make run` that signs in as admin. Each
picture is saved as `static/docs/NAME.webp`, and NAME is the page of the documentation that shows it. The pictures of
the README are `static/readme/...`. The picture of a study creates a study, opens it, and takes part by its test link.
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
LONGEST = 120_000  # milliseconds; long, because a preview draws four pictures
DEMO = "/datasets/clevr-mini"
ORANGE = """{
  "base": "clevr-mini",
  "vocabulary": {
    "colors": {"orange": {"rgb": [240, 120, 20]}},
    "shapes": {"cone": {"solid": "cone"}}
  }
}"""

Take = Callable[[Page], None]


def open_address(address: str, show: str = "") -> Take:
    """Return a function that opens an address, and scrolls to the first element that the selector `show` finds."""

    def take(page: Page) -> None:
        page.goto(address)
        if show:
            page.locator(show).first.evaluate("one => one.scrollIntoView({ block: 'start' })")

    return take


def open_preview(preset: str, spec: str = "") -> Take:
    """Return a function that opens the preview of a new dataset."""

    def take(page: Page) -> None:
        page.goto(f"/datasets/new/?preset={preset}")
        if spec:
            page.fill("#spec", spec)
        page.click("button[value=preview]")
        page.locator(".previews").wait_for()

    return take


def open_facet(address: str, facet: str) -> Take:
    """Return a function that opens a list of questions with the values of a facet."""

    def take(page: Page) -> None:
        page.goto(f"{address}?open={facet}")
        page.locator(f"#facet-{facet}").evaluate("one => one.scrollIntoView({ block: 'start' })")

    return take


def show_study(page: Page) -> None:
    """Show a question of a new study on a phone, as a participant sees it."""
    page.goto("/studies/new/?split=clevr-mini/val")
    page.fill("[name=title]", "People on CLEVR")
    page.fill("[name=practice]", "0")
    page.click("button[value=save]")
    page.get_by_role("button", name="Open", exact=True).click()
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.get_by_role("link", name="the test link").click()
    while not page.locator(".choices").count():
        for same in page.locator("input[value=same]").all():
            same.check()
        page.locator("form button[type=submit]").first.click()
        page.wait_for_load_state("networkidle")


def show_slices(page: Page) -> None:
    """Show a board by slices, after its charts are drawn."""
    page.goto("/leaderboards/clevr-mini/val/slices/")
    while not page.locator(".panels svg").count():
        page.wait_for_timeout(1000)
        page.reload()


SHOTS: Mapping[str, Take] = {
    "index": open_address("/"),
    "browsing": open_address(f"{DEMO}/train/?type=count&sort=-length"),
    "diagnostics": open_address(f"{DEMO}/train/q/5/"),
    "shortcuts": open_address(f"{DEMO}/shortcuts/"),
    "question-sets": open_address(f"{DEMO}/train/derive/?type=count"),
    "export": open_address(f"{DEMO}/export/"),
    "api": open_address("/api/v1/docs"),
    "datasets": open_address("/datasets/new/?preset=clevr-mini"),
    "spec": open_address(f"{DEMO}/", "#spec"),
    "vocabulary": open_preview("clevr-mini", ORANGE),
    "families": open_facet(f"{DEMO}/train/", "template"),
    "shapeworld": open_preview("shapeworld-multishape"),
    "captions": open_preview("shapeworld-logical"),
    "babi": open_preview("babi"),
    "import": open_address("/datasets/new/import/"),
    "worlds": open_address("/datasets/new/"),
    "studies": open_address("/studies/new/?split=clevr-mini/val"),
    "leaderboards": open_address("/leaderboards/clevr-mini/val/"),
    "predictions": open_address("/submissions/new/?to=clevr-mini/val"),
    "reading-boards": show_slices,
    "findings": open_address("/findings/counting-shortcuts/?size=mini"),
    "running": open_address("/datasets/"),
    "operating": open_address("/admin/generation/job/"),
    "readme/browsing": open_address(f"{DEMO}/train/q/5/?step=3"),
    "readme/study": show_study,
    "readme/board": show_slices,
}


def main(arguments: list[str]) -> int:
    """Take the named pictures, or all pictures if no name is given."""
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
            sys.stdout.write(f"{name}: {save_picture(name, page.screenshot()):,} bytes\n")
        browser.close()
    return 0


def save_picture(name: str, picture: bytes) -> int:
    """Save a picture as WebP and return its size in bytes."""
    path = STATIC / f"{name if '/' in name else f'docs/{name}'}.webp"
    Image.open(io.BytesIO(picture)).convert("RGB").save(path, "WEBP", quality=QUALITY, method=6)
    return path.stat().st_size


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
