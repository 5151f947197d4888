"""The documentation: Markdown files in docs/, which are rendered as sanitised HTML and listed in an index."""

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import markdown
import nh3
from django.conf import settings
from PIL import Image

from generation.engine.learners import METHODS, find_learner, is_network
from generation.engine.worlds import usable
from generation.engine.worlds.levels import NAMES
from webapp.leaderboards.training.suitable_methods import describe

FOLDER = Path(__file__).with_name("docs")
GENERATED = re.compile(r"^<!-- generated: (settings|methods|levels) -->$", re.MULTILINE)
USUAL_SITE = "http://127.0.0.1:8000"  # the site's address in the files; pages show the real one

# The pages in reading order, grouped by purpose. The first heading of a file is the title of its page.
GROUPS = {
    "": ("index",),
    "Use": ("browsing", "diagnostics", "shortcuts", "question-sets", "export", "export-formats", "verify", "api"),
    "Make": (
        *("datasets", "spec", "vocabulary", "families", "shapeworld", "captions", "babi"),
        *("simtown", "counting", "import", "worlds", "stream", "environment", "blender"),
    ),
    "Study": ("studies",),
    "Compare": (
        "leaderboards",
        "predictions",
        "asking",
        "training",
        "reading-boards",
        "fresh-twins",
        "metrics",
        "findings",
    ),
    "Run": ("running", "settings", "operating", "backups", "files", "performance"),
    "Develop": ("architecture",),
}
LAST = "More"  # the group of the pages that are not listed above

TAGS = nh3.ALLOWED_TAGS | {"section"}
ATTRIBUTES = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
for _heading in ("h1", "h2", "h3", "h4"):
    ATTRIBUTES[_heading] = {"id"}
ATTRIBUTES["a"] = ATTRIBUTES.get("a", set()) | {"class", "title", "aria-label"}
ATTRIBUTES["code"] = {"class"}
ATTRIBUTES["div"] = {"class"}
# Elements that scroll must get the keyboard focus. An empty table heading becomes a normal cell.
FINISH = {
    "<table>": '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table>',
    "</table>": "</table></div>",
    "<pre>": '<pre tabindex="0">',
    "<th></th>": "<td></td>",
}


PICTURE = re.compile(r'<img alt="(?P<alt>[^"]*)" src="/static/(?P<file>docs/[a-z-]+\.webp)">')


class NoSuchDocument(Exception):
    """The documentation has no page with this name."""


@dataclass(frozen=True, kw_only=True)
class Heading:
    anchor: str
    text: str


@dataclass(frozen=True, kw_only=True)
class DocumentationPage:
    """A page: its name in the URL, its title, its HTML and its headings."""

    name: str
    title: str
    body: str
    headings: Sequence[Heading]

    def at(self, site: str) -> "DocumentationPage":
        return replace(self, body=self.body.replace(USUAL_SITE, site))


def group_pages() -> dict[str, list[str]]:
    """Return the names of all pages by group, in reading order; pages that are in no group come last."""
    found = {path.stem for path in FOLDER.glob("*.md")}
    placed = {group: [name for name in wanted if name in found] for group, wanted in GROUPS.items()}
    left = sorted(found - {name for wanted in GROUPS.values() for name in wanted})
    return placed | ({LAST: left} if left else {})


def names() -> list[str]:
    return [name for wanted in group_pages().values() for name in wanted]


def contents() -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (group, [(name, title_of(_first_line(name))) for name in wanted]) for group, wanted in group_pages().items()
    ]


def _first_line(name: str) -> str:
    with _file(name).open(encoding="utf-8") as lines:
        return next(lines, "")


def _file(name: str) -> Path:
    return FOLDER / f"{name}.md"


def page(name: str) -> DocumentationPage:
    """Return the page with this name.

    Raises
    ------
    NoSuchDocument
        If there is no page with this name.
    """
    if name not in names():
        raise NoSuchDocument(f"Expected the name of a page of the documentation, got {name!r}")
    return _render(name) if not settings.DEBUG else _render.__wrapped__(name)


def source(name: str) -> str:
    # Some pages have tables that are made from the code.
    tables = {"settings": settings_table, "methods": methods_table, "levels": levels_table}
    return GENERATED.sub(lambda mark: tables[mark[1]](), _file(name).read_text(encoding="utf-8"))


def title_of(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ").strip()


@cache
def _render(name: str) -> DocumentationPage:
    """Return the page as sanitised HTML."""
    text = source(name)
    extensions = ["tables", "fenced_code", "toc", "def_list", "sane_lists"]
    options = {"toc": {"permalink": "#", "permalink_class": "anchor", "permalink_title": "Link to this section"}}
    body = markdown.markdown(_plain_fences(text), extensions=extensions, extension_configs=options)
    clean = nh3.clean(body, tags=TAGS, attributes=ATTRIBUTES, link_rel="noopener")
    for plain, ours in FINISH.items():
        clean = clean.replace(plain, ours)
    clean = PICTURE.sub(_framed, clean)
    return DocumentationPage(name=name, title=title_of(text), body=clean, headings=_headings(clean))


def _framed(picture: re.Match[str]) -> str:
    """Return the HTML of a picture with its width and height, so that the text does not move when the picture loads."""
    path = settings.BASE_DIR / "static" / picture["file"]
    with Image.open(path) as image:
        width, height = image.size
    address = f"{settings.STATIC_URL}{picture['file']}"
    size = f'width="{width}" height="{height}"'
    return f'<img src="{address}" alt="{picture["alt"]}" {size} loading="lazy" decoding="async">'


def _plain_fences(text: str) -> str:
    return re.sub(r"^```(\w+) .*$", r"```\1", text, flags=re.MULTILINE)


def _headings(body: str) -> list[Heading]:
    found = re.findall(r'<h2 id="([^"]+)">(.*?)<a ', body, flags=re.DOTALL)
    return [Heading(anchor=anchor, text=html.unescape(re.sub(r"<[^>]+>", "", text))) for anchor, text in found]


def settings_table() -> str:
    """Return the table of settings as Markdown, with one section per group; it is made from the settings file."""
    variables = list(settings.VARIABLES)
    parts = []
    for group in dict.fromkeys(variable.group for variable in variables):
        parts.append(f"## {group}\n\n| Variable | What it does | Without it | Kind |\n|---|---|---|---|")
        parts += [
            f"| `{variable.name}` | {variable.about} | {variable.default_text} | {variable.kind} |"
            for variable in variables
            if variable.group == group
        ]
        parts.append("")
    return "\n".join(parts)


def methods_table() -> str:
    """Return the table of methods that can be trained as Markdown, each with its settings."""
    rows = ["| Method | Name on boards | Sees | Source | Settings | With `--size mini` |", "|---|---|---|---|---|---|"]
    for learner in map(find_learner, METHODS):
        paper = learner.read_config({}).model_dump(mode="json")
        mini = learner.read_config({}, size="mini").model_dump(mode="json")
        changed = {name: value for name, value in mini.items() if value != paper[name]}
        network = " (needs PyTorch)" if is_network(learner.name) else ""
        cells = [f"`{learner.name}`{network}", learner.label, describe(learner), learner.source]
        rows.append(f"| {' | '.join([*cells, _settings_text(paper), _settings_text(changed)])} |")
    return "\n".join(rows)


def levels_table() -> str:
    """Return the tables of the attributes that make questions harder as Markdown, one table for each world."""
    parts = []
    for world in usable():
        if world.levels:
            heads = [*NAMES, "measured by", "number", "all at once"]
            parts.append(f"### {world.label}\n\n| attribute | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
        for one in world.levels:
            cells = [f"`{one.name}`: {one.label}", *(one.labels[name] for name in NAMES), f"`{one.facet}`"]
            cells += ["yes" if one.number else "no", "yes" if one.is_joint else "no"]
            parts.append(f"| {' | '.join(cells)} |")
        parts.append("")
    return "\n".join(parts)


def _settings_text(config: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}` {json.dumps(value)}" for name, value in config.items()) or "–"
