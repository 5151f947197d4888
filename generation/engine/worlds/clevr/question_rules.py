"""A spec's rules over questions, checked for a whole family where possible, otherwise for each question."""

from collections.abc import Mapping

from generation.engine.errors import BadSpec
from generation.engine.items import FacetKind, Needs
from generation.engine.language.families import Family
from generation.engine.language.possible_answers import Variety, possible_answers, reason_left_out
from generation.engine.only_never_rules import RuleSet, RuleValues, read_rules
from generation.engine.programs.question_demands import demands
from generation.engine.worlds.clevr.allowed_objects import ORDER, check_objects, palette
from generation.engine.worlds.clevr.facets import facets, group
from generation.engine.worlds.clevr.programs import name_of, templates
from generation.engine.worlds.clevr.spec import ClevrSpec, read_spec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES


def question_rules(spec: ClevrSpec, *, where: str = "") -> RuleSet:
    """Return a spec's rules over questions; raise `BadSpec` naming the rule with an unknown facet or value."""
    if not spec.questions.only and not spec.questions.never:
        return RuleSet()
    known = {
        facet.name: RuleValues(facet.values, facet.kind == FacetKind.INTEGER)
        for facet in facets(spec)
        if facet.needs == Needs.ITEM
    }
    return RuleSet(
        only=read_rules(spec.questions.only, known=known, where=f"{where}questions.only"),
        never=read_rules(spec.questions.never, known=known, where=f"{where}questions.never"),
    )


def trivial_families(spec: ClevrSpec) -> Mapping[int, str]:
    """Return the numbers of the families that ask nothing with a spec's vocabulary and rules, with the reasons."""
    return spec.once("trivial families", lambda: _trivial_families(spec))


def _trivial_families(spec: ClevrSpec) -> dict[int, str]:
    if spec.scenes_file is None:
        objects = [dict(zip(ORDER, one, strict=True)) for one in palette(spec).allowed]
        present = {name: tuple(dict.fromkeys(one[name] for one in objects)) for name in ATTRIBUTES}
        variety = Variety(present, spec.scene.objects_min, spec.scene.objects_max)
    else:
        variety = Variety(dict(spec.language.attributes), 1, spec.scene.objects_max)
    found = {family.number: possible_answers(family, spec.language, variety) for family in spec.families}
    return {number: reason_left_out(answers) for number, answers in found.items() if len(answers) < 2}


def left_out(spec: ClevrSpec) -> Mapping[int, str]:
    """Return the families that a spec leaves out although they have several answers in its language, with reasons."""
    return {} if spec.questions.trivial_families is None else trivial_families(spec)


def with_trivial_families_left_out(spec: ClevrSpec) -> ClevrSpec:
    """Return a new dataset's spec, which states that trivial families are left out if a split has any."""
    own = [spec.for_split(name) for name in spec.splits]
    if not any(family.askable and family.number in trivial_families(one) for one in own for family in one.families):
        return spec
    data = spec.to_json()
    data["questions"]["trivial_families"] = "left-out"
    return read_spec(data, files=spec.files)


def possible(spec: ClevrSpec, family: Family) -> Mapping[str, frozenset[str]]:
    """Return, for each facet that a family restricts, the values that its questions may have."""
    kind = name_of(family.operations[-1])
    wanted = demands(tuple([template.function for template in templates(family.operations)]))
    found = {
        "group": {group(kind)},
        "type": {kind},
        "template": {str(family.number)},
        "answer": set(family.answers),
        "topology": {str(wanted.topology)},
        "spatial": {str(wanted.spatial)},
        "same": {str(wanted.same)},
    }
    if spec.outlines is not None:
        outlines = spec.outlines[family.number]
        found["skeleton"] = {outline.skeleton for outline in outlines}
        found["length"] = {str(n) for outline in outlines for n in range(outline.least, outline.most + 1)}
    return {name: frozenset(values) for name, values in found.items()}


def check_rules(spec: ClevrSpec) -> None:
    """Raise `BadSpec` naming the field if rules are malformed, or leave a split too few families or no object."""
    for name, split in spec.splits.items():
        own = spec.for_split(name)
        where = f"splits.{name}.overrides."
        check_objects(own, where=where if "scene" in split.overrides else "")
        _check_questions(own, where=where if "questions" in split.overrides else "")


def _check_questions(spec: ClevrSpec, *, where: str) -> None:
    wanted, trivial = question_rules(spec, where=where), left_out(spec)
    families = [family for family in spec.families if family.askable and family.number not in trivial]
    if len(families) < spec.questions.per_scene:
        raise BadSpec(
            f"Expected at most {len(families)}, the number of families that can have two different answers with this "
            f"vocabulary, got {spec.questions.per_scene}.",
            where=f"{where}questions.per_scene",
        )
    if not wanted.names:
        return
    left = sum(wanted.may_allow(possible(spec, family)) for family in families)
    if left < spec.questions.per_scene:
        raise BadSpec(
            f"Expected rules that leave {spec.questions.per_scene} families to ask, as many as questions.per_scene, "
            f"got rules that leave {left}.",
            where=f"{where}questions.{'only' if wanted.only else 'never'}",
        )
