"""A program that draws charts: it reads Vega-Lite specifications as JSON and writes SVG and PDF as JSON.

It is a separate, short-lived process, because V8, which runs Vega, takes 100 MB and more the longer it lives, cannot be
used in a forked process, and ends its process when memory runs out.
"""

import base64
import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import vl_convert

from generation.charts.pdf_order import in_order

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
KNOWN = {"svg", "g", "path", "line", "rect", "text", "tspan", "a"}
LONG = re.compile(r"-?\d+\.\d{3,}(?:e-\d+)?")
TEXTS = {"href", "aria-label"}  # attributes in which numbers are not coordinates


def draw(order: Mapping[str, Any]) -> bytes:
    """Return a drawing as bytes.

    `order` has `spec` (Vega-Lite), `kind` (`page` for an SVG within a page, `svg` for a separate SVG, or `pdf`),
    `elsewhere` (the placeholder for this site in the addresses of bars), `site` (its replacement) and `shrunk` (the
    factor for font sizes).
    """
    root = ET.fromstring(vl_convert.vegalite_to_svg(order["spec"], allowed_base_urls=[]))  # noqa: S314 - drawn here
    _tidy(root)
    for text in root.iter(f"{{{SVG}}}text"):
        text.set("font-size", f"{order['shrunk'] * float(text.attrib['font-size'].removesuffix('px')):.2f}")
    for link in root.iter(f"{{{SVG}}}a"):
        _link(link, order)
    if order["kind"] == "page":
        _belong(root)
    _round(root)
    ET.register_namespace("", SVG)
    svg = ET.tostring(root, encoding="unicode")
    return in_order(vl_convert.svg_to_pdf(svg)) if order["kind"] == "pdf" else svg.encode()


def _tidy(root: ET.Element) -> None:
    """Remove invisible elements; raise ValueError for elements that no chart has."""
    for parent in root.iter():
        if parent.tag.removeprefix(f"{{{SVG}}}") not in KNOWN or any(name.startswith("on") for name in parent.attrib):
            raise ValueError(f"Expected {', '.join(sorted(KNOWN))} in an SVG, got {parent.tag} {parent.attrib}.")
        for child in [child for child in parent if child.get("class") in ("background", "foreground")]:
            parent.remove(child)
        for name in ("role", "aria-roledescription", "aria-hidden"):
            parent.attrib.pop(name, None)


def _link(link: ET.Element, order: Mapping[str, Any]) -> None:
    """Make a bar's link lead to this site, and give it a title."""
    address = link.attrib.pop(f"{{{XLINK}}}href")
    if not address.startswith(order["elsewhere"] + "/"):
        raise ValueError(f"Expected an address of this site, got {address}.")
    link.set("href", order["site"] + address.removeprefix(order["elsewhere"]))
    bar = link[0]
    title = ET.SubElement(link, f"{{{SVG}}}title")
    title.text = bar.attrib.pop("aria-label", "")
    if order["kind"] == "page":
        link.set("tabindex", "-1")  # the table beside it has the same links


def _belong(root: ET.Element) -> None:
    """Make an SVG part of a page: it is as wide as the page allows, and hidden from screen readers."""
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    for element in root.iter():
        element.attrib.pop("aria-label", None)
        element.attrib.pop("font-family", None)


def _round(root: ET.Element) -> None:
    """Round coordinates, which makes the drawing smaller; numbers in texts stay as they are."""
    for element in root.iter():
        for name, value in element.items():
            if name not in TEXTS:
                element.set(name, LONG.sub(lambda number: f"{float(number[0]):.2f}", value))


def main() -> None:
    """Answer the one request on standard input: for each order a drawing, or the reason why there is none."""
    answers = []
    for order in json.load(sys.stdin):
        try:
            answers.append({"drawing": base64.b64encode(draw(order)).decode()})
        except Exception as error:  # after any error the other charts are still drawn
            answers.append({"reason": repr(error)})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
