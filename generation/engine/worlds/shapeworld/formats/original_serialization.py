"""Models of microworlds and captions in the original program's form, and captions in its two Polish notations.

The original's triangles, pentagons and semicircles are upside down, and its sizes are half of ours. Its implications
have the conclusion first and the condition second. It knows `the` only for the subject of a statement and for the
reference of a distance; other references have `a`.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from generation.engine.worlds.shapeworld.logical_form import (
    Body,
    ComparedCounts,
    Conjunction,
    Meaning,
    Noun,
    QuantifiedStatement,
    Relation,
    SelectedEntity,
    Statement,
    There,
)
from generation.engine.worlds.shapeworld.phrases import COMPARISONS, ONLY, QUANTIFIERS
from generation.engine.worlds.shapeworld.scene import DIGITS, Entity, FlatScene
from generation.engine.worlds.shapeworld.shape_geometry import reach
from generation.engine.worlds.shapeworld.vocabulary import ShapeVocabulary

Model = dict[str, Any]
UPSIDE_DOWN = ("triangle", "pentagon", "semicircle")
RELATIONS: Mapping[str, tuple[str, int]] = {
    "left": ("x-rel", -1),
    "right": ("x-rel", 1),
    "above": ("y-rel", -1),
    "below": ("y-rel", 1),
    "behind": ("z-rel", -1),
    "front": ("z-rel", 1),
    "closer": ("proximity-rel", -1),
    "farther": ("proximity-rel", 1),
    "same shape": ("shape-rel", 1),
    "different shape": ("shape-rel", -1),
    "same color": ("color-rel", 1),
    "different color": ("color-rel", -1),
    "smaller": ("size-rel", -1),
    "bigger": ("size-rel", 1),
    "darker": ("shade-rel", -1),
    "lighter": ("shade-rel", 1),
}
SELECTORS: Mapping[str, tuple[str, int]] = {
    "left": ("x-two", -1),
    "right": ("x-two", 1),
    "upper": ("y-two", -1),
    "lower": ("y-two", 1),
    "smaller": ("size-two", -1),
    "bigger": ("size-two", 1),
    "darker": ("shade-two", -1),
    "lighter": ("shade-two", 1),
    "closer": ("proximity-two", -1),
    "farther": ("proximity-two", 1),
    "leftmost": ("x-max", -1),
    "rightmost": ("x-max", 1),
    "topmost": ("y-max", -1),
    "bottommost": ("y-max", 1),
    "smallest": ("size-max", -1),
    "biggest": ("size-max", 1),
    "darkest": ("shade-max", -1),
    "lightest": ("shade-max", 1),
    "closest": ("proximity-max", -1),
    "farthest": ("proximity-max", 1),
}
RANGES = {"less": "lt", "atmost": "leq", "exactly": "eq", "not": "neq", "atleast": "geq", "more": "gt"}
PROPOSITIONS = {"and": "conjunction", "or": "disjunction", "if": "implication", "iff": "equivalence"}


def world_model(scene: FlatScene, words: ShapeVocabulary) -> Model:
    """Return the original's model of a microworld."""
    return {
        "size": scene.width,
        "color": {"name": "black", "rgb": [value / 255 for value in words.background], "shade": 0.0},
        "noise_range": scene.noise,
        "entities": [_entity(number, entity, words) for number, entity in enumerate(scene.entities)],
    }


def _entity(number: int, entity: Entity, words: ShapeVocabulary) -> Model:
    across, along = reach(entity)
    turned = entity.rotation + 0.5 * (entity.shape in UPSIDE_DOWN)
    rgb = [value / 255 for value in words.colors[entity.color].rgb]
    return {
        "id": number,
        "shape": {"name": entity.shape, "size": _point(entity.width / 2, entity.height / 2)},
        "color": {"name": entity.color, "rgb": rgb, "shade": entity.shade},
        "texture": {"name": "solid"},
        "center": _point(entity.x, entity.y),
        "rotation": round(turned % 1.0, DIGITS),
        "bounding_box": {
            "topleft": _point(entity.x - across, entity.y - along),
            "bottomright": _point(entity.x + across, entity.y + along),
        },
    }


def _point(x: float, y: float) -> Model:
    return {"x": round(x, DIGITS + 1), "y": round(y, DIGITS + 1)}


def caption_model(meaning: Meaning) -> Model:
    """Return the original's model of a caption: a tree of components."""
    if isinstance(meaning, Conjunction):
        first, second = (caption_model(statement) for statement in (meaning.first, meaning.second))
        clauses = [second, first] if meaning.connective == "if" else [first, second]
        return {"component": "Proposition", "proptype": PROPOSITIONS[meaning.connective], "clauses": clauses}
    return _statement(meaning)


def _statement(statement: Statement) -> Model:
    match statement:
        case There(noun, None):
            return _type(noun)
        case There(noun, body):
            return _existential(_type(noun), body or Noun())
        case ComparedCounts():
            return _compared(statement)
    if isinstance(statement.restrictor, SelectedEntity):
        return _existential(_picked(statement.restrictor), statement.body)
    if statement.quantifier == "the":
        return _existential(_only(statement.restrictor), statement.body)
    if statement.quantifier == "a" and isinstance(statement.body, Relation):
        return _existential(_type(statement.restrictor), statement.body)
    return _quantified(statement, statement.restrictor)


def _existential(restrictor: Model, body: Body) -> Model:
    return {"component": "Existential", "restrictor": restrictor, "body": _body(body)}


def _quantified(statement: QuantifiedStatement, restrictor: Noun) -> Model:
    quantifier = QUANTIFIERS[statement.quantifier]
    model = {
        "component": "Quantifier",
        "qtype": "ratio" if quantifier.is_share else "count",
        "qrange": RANGES[quantifier.comparator],
        "quantity": _number(quantifier.quantity, is_share=quantifier.is_share),
        "restrictor": _type(restrictor),
        "body": _body(statement.body),
    }
    if statement.bound is None:
        return model
    return {"component": "NumberBound", "bound": statement.bound, "quantifier": model}


def _compared(statement: ComparedCounts) -> Model:
    comparison = COMPARISONS[statement.comparison]
    is_share = comparison.factor != 1
    return {
        "component": "ComparativeQuantifier",
        "qtype": "ratio" if is_share else "count",
        "qrange": RANGES[comparison.comparator],
        "quantity": _number(comparison.factor, is_share=True) if is_share else comparison.more,
        "restrictor": _type(statement.restrictor),
        "comparison": _type(statement.other),
        "body": _body(statement.body),
    }


def _number(quantity: Fraction, *, is_share: bool) -> int | float:
    return float(quantity) if is_share else int(quantity)


def _type(noun: Noun) -> Model:
    named = [("shape", noun.shape), ("color", noun.color)]
    attributes = [{"component": "Attribute", "predtype": name, "value": value} for name, value in named if value]
    return {"component": "EntityType", "predtype": "type", "value": attributes}


def _only(noun: Noun) -> Model:
    return {"component": "Selector", "predtype": "unique", "scope": _type(noun)}


def _picked(picked: SelectedEntity) -> Model:
    if picked.selector == ONLY:
        return _only(picked.noun)
    predtype, value = SELECTORS[picked.selector]
    model = {"component": "Selector", "predtype": predtype, "value": value, "scope": _type(picked.noun)}
    return model if picked.near is None else {**model, "comparison": _only(picked.near)}


def _body(body: Body) -> Model:
    if isinstance(body, Noun):
        of_type = _type(body)
        if body.named == 1 and body.shape is None:
            return {"component": "Relation", "predtype": "attribute", "value": of_type["value"][0]}
        return {"component": "Relation", "predtype": "type", "value": of_type}
    model = _related(body)
    return {"component": "Relation", "predtype": "negation", "value": -1, "reference": model} if body.negated else model


def _related(body: Relation) -> Model:
    """Return a relation's model; for nearness, distances are measured from its `comparison`."""
    predtype, value = RELATIONS[body.relation]
    model = {"component": "Relation", "predtype": predtype, "value": value}
    if body.comparison is None:
        return {**model, "reference": _type(body.reference)}
    return {**model, "reference": _type(body.comparison), "comparison": _only(body.reference)}


def polish(model: Model) -> list[str]:
    """Return a caption's model in Polish notation: each component, then the number of its parts, then its parts."""
    symbols, parts = _notation(model)
    return [*symbols, *(symbol for part in parts for symbol in polish(part))]


def reverse_polish(model: Model) -> list[str]:
    """Return a caption's model in reverse Polish notation: the parts, then the number of them, then the component."""
    symbols, parts = _notation(model)
    return [*(symbol for part in parts for symbol in reverse_polish(part)), *reversed(symbols)]


def _notation(model: Model) -> tuple[list[str], list[Model]]:
    """Return a component's symbols and its parts; the symbols include the number of parts if it can vary."""
    name = model["component"]
    match name:
        case "EntityType":
            return [name, str(len(model["value"]))], model["value"]
        case "Proposition":
            return [f"{name}-{model['proptype']}", str(len(model["clauses"]))], model["clauses"]
        case "Attribute":
            return [f"{name}-{model['predtype']}-{model['value']}"], []
        case "NumberBound":
            return [f"{name}-{model['bound']}"], [model["quantifier"]]
        case "Quantifier" | "ComparativeQuantifier":
            symbol = f"{name}-{model['qtype']}-{model['qrange']}-{model['quantity']}"
            return [symbol], list(_present(model, ("restrictor", "comparison", "body")))
        case "Existential":
            return [name], [model["restrictor"], model["body"]]
    if isinstance(model.get("value"), dict):
        return [f"{name}-{model['predtype']}"], [model["value"]]
    marks = [name, model["predtype"], *([str(model["value"])] if "value" in model else [])]
    return ["-".join(marks)], list(_present(model, ("scope", "reference", "comparison")))


def _present(model: Model, names: Iterable[str]) -> Iterable[Model]:
    return (model[name] for name in names if name in model)
