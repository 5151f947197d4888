"""Figures of the CLEVR paper: figure 3's table, Q-type mode and people as sections 4.2 and 4.1 tell of them."""

from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES
from generation.engine.worlds.published import People, Published, Texts

ATTRIBUTE_SHARES = {"size": 1 / 2, "color": 1 / 8, "material": 1 / 2, "shape": 1 / 3}

PUBLISHED = Published(
    source="Johnson et al. 2017",
    texts={
        "": Texts(999_968, 853_554),
        "train": Texts(699_989, 608_607),
        "val": Texts(149_991, 140_448, 17_338),
        "test": Texts(149_988, 140_352, 17_335),
    },
    type_mode={
        "count": 0.35,
        "exist": 0.5,
        **{f"query_{name}": share for name, share in ATTRIBUTE_SHARES.items()},
        **{f"equal_{name}": 0.5 for name in ATTRIBUTES},
    },
    people=People(5500, 3),
)
