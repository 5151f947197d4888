"""The breakdowns of the CLEVR paper's section 4, figures 4 to 9 and 11."""

from collections.abc import Iterator

from generation.engine.programs.diagnosis import Topology
from generation.engine.worlds.boards import BoardView, Series

GROUPS = ("query", "count", "exist")
STEPS = "functions in the program"
SPATIAL = Series("one spatial relation", {"spatial": ("1",), "same": ("0",)})
SAME = Series("one same-attribute relation", {"spatial": ("0",), "same": ("1",)})
CHAIN = Series("chain", {"topology": (Topology.CHAIN,)})
TREE = Series("tree, joined by and", {"topology": (Topology.TREE_AND,)})
EVERY = Series("all", {})
NEEDED = Series("not answered by halves of the picture", {"absolute": ("none", "not-enough")})


def _views() -> Iterator[BoardView]:
    yield BoardView("types", "Question types (figure 4)", "type", "question type")
    yield BoardView(
        "relations",
        "Spatial against same-attribute relations (figure 5)",
        "group",
        "group",
        {"group": GROUPS},
        (SPATIAL, SAME),
    )
    two = {"group": GROUPS, "spatial": ("2",), "same": ("0",)}
    yield BoardView("topology", "Chain against tree (figure 6)", "group", "group", two, (CHAIN, TREE))
    for number, same, name in ((7, "0", "without"), (11, "1", "with")):
        asked = {"group": ("query",), "same": (same,)}
        told = f"of query questions {name} a same-attribute relation (figure {number})"
        yield BoardView(f"length-{name}", f"Program length {told}", "length", STEPS, asked)
        yield BoardView(f"effective-{name}", f"Shortest equivalent length {told}", "effective", STEPS, asked)
    for group in GROUPS:
        chains = {"group": (group,), "topology": (Topology.ZERO_HOP, Topology.CHAIN), "same": ("0",)}
        title = f"Spatial relations of {group} questions in a chain (figure 8)"
        yield BoardView(f"spatial-{group}", title, "spatial", "spatial relations", chains, (EVERY, NEEDED))
    for attribute in ("color", "material"):
        title = f"{attribute.capitalize()} by shape, in each condition (figure 9)"
        asked = {"type": (f"query_{attribute}",)}
        yield BoardView(f"{attribute}-by-shape", title, "asked_shape", "shape asked about", asked, is_across=True)


BOARD_VIEWS: tuple[BoardView, ...] = tuple(_views())
