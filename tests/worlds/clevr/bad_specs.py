"""Specs of CLEVR with an error in one field each."""

from typing import Any

ORANGE = {"rgb": [255, 128, 0], "synonyms": ["tangerine"]}
CONE = {"solid": "cone", "synonyms": {"pylon": "pylons"}}
COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")


def at(path: str, value: Any) -> dict[str, Any]:
    """Return a spec that changes one field of clevr-mini."""
    for key in reversed(path.split(".")):
        value = {key: value}
    assert isinstance(value, dict)
    return value


# Each entry: the change of clevr-mini, the path of the field, and words in the message: what was expected, what came.
FAULTS: dict[str, tuple[dict[str, Any], str, tuple[str, ...]]] = {
    "a title with a NUL": (at("title", "a\0b"), "title", ("NUL",)),
    "more pixels than the picture has": (at("scene.min_pixels", 60_000), "", ("3", "60000", "153600")),
    "an unknown key": (at("colour", 1), "colour", ("known key",)),
    "an unknown parameter": (at("scene.objets_max", 5), "scene.objets_max", ("known key",)),
    "an unknown key of a colour": (at("vocabulary.colors.red.hue", 5), "vocabulary.colors.red.hue", ("known key",)),
    "text for a number": (at("seed", "7"), "seed", ("integer", '"7"')),
    "a fraction for a count": (at("scene.objects_max", 5.5), "scene.objects_max", ("integer", "5.5")),
    "true for a number": (at("scene.objects_max", True), "scene.objects_max", ("integer", "true")),
    "text for a list": (at("vocabulary.colors.red.rgb", "red"), "vocabulary.colors.red.rgb", ("red",)),
    "a list for an object": (at("scene", []), "scene", ("object", "[]")),
    "a number for splits": (at("splits", 3), "splits", ("object", "3")),
    "500 objects": (at("scene.objects_max", 500), "scene.objects_max", ("63", "500")),
    "no objects": (at("scene.objects_min", 0), "scene.objects_min", ("1", "0")),
    "more at least than at most": (at("scene.objects_min", 11), "scene", ("objects_min", "11", "10")),
    "no room in a line": (
        {"scene": {"objects_max": 40, "margin": 0.4, "relation_threshold": 0.2}},
        "scene",
        ("40", "0.4", "lower"),
    ),
    "no room on the ground": (
        {"scene": {"objects_max": 40, "margin": 0.2, "min_distance": 2.0}},
        "",
        ("40", "lower"),
    ),
    "a threshold above the margin": (at("scene.relation_threshold", 0.5), "scene", ("0.5", "0.4")),
    "a size below 0": (at("scene.min_distance", -1.0), "scene.min_distance", ("0", "-1.0")),
    "a seed below 0": (at("seed", -1), "seed", ("0", "-1")),
    "a seed too large": (at("seed", 2**64), "seed", (str(2**64),)),
    "no colours": (at("vocabulary.colors", dict.fromkeys(COLORS)), "vocabulary.colors", ("at least 1",)),
    "a colour beyond bytes": (
        at("vocabulary.colors.red.rgb", [256, 0, 0]),
        "vocabulary.colors.red.rgb.0",
        ("255", "256"),
    ),
    "a colour of two numbers": (at("vocabulary.colors.red.rgb", [1, 2]), "vocabulary.colors.red.rgb.2", ("none came",)),
    "a name with a capital": (at("vocabulary.colors.Orange", ORANGE), "vocabulary.colors.Orange", ("Orange",)),
    "a name shared by two attributes": (at("vocabulary.shapes.red", CONE), "vocabulary", ("'red'", "colors", "shapes")),
    "a name that is an answer": (at("vocabulary.shapes.yes", CONE), "vocabulary", ("'yes'", "answers")),
    "a name that is a number": (at("vocabulary.shapes.7", CONE), "vocabulary.shapes.7", ("7",)),
    "an unknown solid": (
        at("vocabulary.shapes.cube.solid", "tesseract"),
        "vocabulary.shapes.cube.solid",
        ("tesseract", "torus"),
    ),
    "an unknown material": (
        at("vocabulary.materials.rubber.kind", "glass"),
        "vocabulary.materials.rubber.kind",
        ("glass", "metal"),
    ),
    "a relation without words": (at("vocabulary.relations.left", []), "vocabulary", ("left",)),
    "an unknown relation": (at("vocabulary.relations.above", ["above"]), "vocabulary.relations.above", ("left",)),
    "no things": (at("vocabulary.things", {"thing": None, "object": None}), "vocabulary.things", ("at least 1",)),
    "a synonym that is markup": (
        at("vocabulary.colors.red.synonyms", ["<Z>"]),
        "vocabulary.colors.red.synonyms.0",
        ("<Z>",),
    ),
    "a mesh for no mesh": (at("vocabulary.shapes.cube.mesh", "0" * 64), "vocabulary.shapes.cube", ("mesh",)),
    "a mesh without file": (at("vocabulary.shapes.duck", {"solid": "mesh"}), "vocabulary.shapes.duck", ("mesh",)),
    "a mesh that did not come": (
        at("vocabulary.shapes.duck", {"solid": "mesh", "mesh": "0" * 64}),
        "vocabulary.shapes.duck.mesh",
        ("did not come", "0" * 64),
    ),
    "families that did not come": (
        at("questions.families", {"own.json": "0" * 64}),
        "questions.families.own.json",
        ("did not come",),
    ),
    "families by path": (at("questions.families", "/etc/passwd"), "questions.families", ("/etc/passwd",)),
    "too many questions a scene": (at("questions.per_scene", 91), "questions.per_scene", ("90", "91")),
    "far too many questions a scene": (at("questions.per_scene", 1000), "questions.per_scene", ("200", "1000")),
    "an unknown degeneracy": (at("questions.degeneracy", "strict"), "questions.degeneracy", ("reference", "strict")),
    "an unknown renderer": (at("images.renderer", "crayon"), "images.renderer", ("tracer", "crayon")),
    "too large a picture": (at("images.width", 100_000), "images.width", ("4096", "100000")),
    "no splits": (at("splits", {"train": None, "val": None, "test": None}), "splits", ("at least 1",)),
    "an empty split": (at("splits.train.scenes", 0), "splits.train.scenes", ("1", "0")),
    "a bad name of a split": (at("splits.a b", {"scenes": 1}), "splits.a b", ("a b",)),
    "a split that starts with a digit": (at("splits.1st", {"scenes": 1}), "splits.1st", ("1st",)),
    "a split that is a path": ({"splits": {"../x": {"scenes": 1}}}, "splits.../x", ("../x",)),
    "a reserved name of a split": (at("splits.new", {"scenes": 1}), "splits.new", ("new",)),
    "an unknown reference": (at("splits.val.reference", "trian"), "splits.val.reference", ("train", "trian")),
    "its own reference": (at("splits.val.reference", "val"), "splits.val.reference", ("val",)),
    "an unknown key of a split": (at("splits.val.size", 3), "splits.val.size", ("known key",)),
    "a forbidden override": (
        at("splits.val.overrides", {"seed": 5}),
        "splits.val.overrides",
        ("settings", "seed"),
    ),
    "an override of the splits": (
        at("splits.val.overrides", {"splits": {}, "world": "clevr"}),
        "splits.val.overrides",
        ("splits", "world"),
    ),
    "an unknown override": (
        at("splits.val.overrides", {"scene": {"objets_max": 5}}),
        "splits.val.overrides.scene.objets_max",
        ("known key",),
    ),
    "a bad override": (
        at("splits.val.overrides", {"scene": {"objects_max": 500}}),
        "splits.val.overrides.scene.objects_max",
        ("63", "500"),
    ),
    "an override that asks too much": (
        at("splits.val.overrides", {"questions": {"per_scene": 91}}),
        "splits.val.overrides.questions.per_scene",
        ("90", "91"),
    ),
    "an override whose families did not come": (
        at("splits.val.overrides", {"questions": {"families": {"own.json": "0" * 64}}}),
        "splits.val.overrides.questions.families.own.json",
        ("did not come",),
    ),
    "overrides that are a list": (at("splits.val.overrides", [1]), "splits.val.overrides", ("[1]",)),
    "an unknown base": (at("base", "clevr-maxi"), "base", ("clevr-mini", "clevr-maxi")),
    "a base that is no name": (at("base", 5), "base", ("5",)),
    "another world": (at("world", "babi"), "world", ("clevr", "babi")),
    "not a number": (at("scene.margin", float("nan")), "scene.margin", ()),
    "no number": (at("scene.extent", float("inf")), "scene.extent", ()),
    "rules that are no list": (at("scene.only", {"shape": "cube"}), "scene.only", ("array", "cube")),
    "a rule that says nothing": (at("scene.never", [{}]), "scene.never.0", ("at least 1",)),
    "a rule without values": (at("scene.never", [{"shape": []}]), "scene.never.0.shape", ("at least 1",)),
    "a rule about what objects lack": (at("scene.only", [{"hue": "red"}]), "scene.only.0", ("size", "shape", "'hue'")),
    "a rule about an unknown colour": (
        at("scene.only", [{"shape": "cube"}, {"color": ["red", "pink"]}]),
        "scene.only.1.color",
        ("gray", "'pink'"),
    ),
    "rules that leave no object": (at("scene.never", [{"size": ["large", "small"]}]), "scene.never", ("no object",)),
    "a rule of a split about an unknown shape": (
        at("splits.val.overrides", {"scene": {"only": [{"shape": "cone"}]}}),
        "splits.val.overrides.scene.only.0.shape",
        ("cube, cylinder, sphere", "'cone'"),
    ),
    "a rule about an unknown facet": (
        at("questions.only", [{"lenght": "..8"}]),
        "questions.only.0",
        ("length", "'lenght'"),
    ),
    "a rule about what train has seen": (
        at("questions.never", [{"seen_text": "yes"}]),
        "questions.never.0",
        ("rules about", "'seen_text'"),
    ),
    "a rule about an unknown type": (
        at("questions.only", [{"type": ["count", "sum"]}]),
        "questions.only.0.type",
        ("count", "'sum'"),
    ),
    "a rule about no number": (
        at("questions.only", [{"length": "short"}]),
        "questions.only.0.length",
        ("8..12", "'short'"),
    ),
    "a rule about numbers that aren't there": (
        at("questions.only", [{"length": "90.."}]),
        "questions.only.0.length",
        ("0..27", "'90..'"),
    ),
    "rules that leave too few families": (
        at("questions.only", [{"type": "count", "topology": "zero-hop"}]),
        "questions.only",
        ("10", "leave 1."),
    ),
    "rules of a split that leave too few families": (
        at("splits.test.overrides", {"questions": {"never": [{"length": "4.."}]}}),
        "splits.test.overrides.questions.never",
        ("10", "leave"),
    ),
}
