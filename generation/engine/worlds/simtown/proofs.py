"""Proofs of SimTown's items: scenes keep the spec's rules, texts say what programs ask, pictures show the scene."""

from collections.abc import Sequence

from generation.engine.items import Item, Question
from generation.engine.verification.proof import Outputs, PictureProver, Proof
from generation.engine.worlds.simtown.camera import RIGHT
from generation.engine.worlds.simtown.picture import draw, visible_pixels
from generation.engine.worlds.simtown.programs import RELATIONS, REVERSED, words_of
from generation.engine.worlds.simtown.question_text import parse
from generation.engine.worlds.simtown.road import is_inside, overlap
from generation.engine.worlds.simtown.scene import DIGITS, SimTownScene, Vehicle
from generation.engine.worlds.simtown.scene_sampling import SEEN, aside, stand_apart
from generation.engine.worlds.simtown.spec import SimTownSpec
from generation.engine.worlds.simtown.street import LANES


class SimTownProver(PictureProver):
    """Proves the items of one split.

    Parameters
    ----------
    spec : SimTownSpec
        The spec of the split.
    """

    def __init__(self, spec: SimTownSpec) -> None:
        images = spec.images
        super().__init__(
            lambda item: draw(_scene_of(item), width=images.width, height=images.height, samples=images.samples)
        )
        self.spec = spec

    def prove(self, item: Item, given: Sequence[Outputs | None], proof: Proof) -> None:
        """Check the scene, and that each text and answer belong to it."""
        scene = _scene_of(item)
        self._prove_scene(scene, proof)
        for number, question in enumerate(item.questions):
            self._prove_question(scene, question, number, proof)

    def _prove_scene(self, scene: SimTownScene, proof: Proof) -> None:
        vehicles, names = scene.vehicles, [one.entity for one in scene.vehicles]
        wanted = 3 if self.spec.distractor else 2
        proof.same("scenes", (wanted, self.spec.distractor), (len(vehicles), scene.distractor), what="vehicles: ")
        proof.hold("scenes", len(set(names)) == len(names), "different vehicles", names)
        proof.hold("scenes", set(names) <= set(self.spec.names), f"the first {self.spec.entities} entities", names)
        proof.hold("scenes", scene.weather in self.spec.scene.weathers, "a weather of the spec", scene.weather)
        if not set(names) <= set(self.spec.names):
            return
        for number, one in enumerate(vehicles):
            proof.hold("scenes", abs(one.y - LANES[one.lane]) <= 0.3, "vehicles in their lanes", one)
            proof.hold("scenes", is_inside(one), "vehicles wholly inside the picture", one)
            apart = not any(overlap(one, other) for other in vehicles[:number])
            proof.hold("scenes", apart, "vehicles with a gap between them", one)
        fewest = int(visible_pixels(vehicles, width=SEEN[0], height=SEEN[1]).min())
        least = self.spec.scene.least_pixels
        proof.hold("scenes", fewest >= least, f"{least} visible pixels of each vehicle", fewest)

    def _prove_question(self, scene: SimTownScene, question: Question, number: int, proof: Proof) -> None:
        asked = None if question.program is None else words_of(question.program)
        proof.same("texts", asked, parse(question.text), what="a text about ", question=number)
        if asked is None:
            return
        subject, relation, other = asked
        yes = self._is_true(scene, subject, relation, other)
        came = question.answer.text if question.answer else None
        proof.same("answers", "yes" if yes else "no", came, question=number)
        if scene.distractor and self.spec.distractor_placement == "random":
            third = scene.vehicles[-1].entity
            words = "a distractor that is neither the object nor a subject of which the question is true"
            proof.hold("rules", third != other and not (yes and third == subject), words, third, question=number)
        elif scene.distractor:
            self._prove_beside(scene, relation, other, question=number, proof=proof)

    def _prove_beside(self, scene: SimTownScene, relation: str, other: str, *, question: int, proof: Proof) -> None:
        second = scene.number_of(other)
        if second is not None and second != len(scene.vehicles) - 1:
            apart = stand_apart(
                scene.vehicles[-1], scene.vehicles[second], relation, margin=aside(relation, self.spec.questions.margin)
            )
            words = f"a distractor neither {RELATIONS[relation]} nor {RELATIONS[REVERSED[relation]]} the object"
            proof.hold("rules", not apart, words, scene.vehicles[-1], question=question)

    def _is_true(self, scene: SimTownScene, subject: str, relation: str, other: str) -> bool:
        first = [one for one in scene.vehicles if one.entity == subject]
        second = [one for one in scene.vehicles if one.entity == other]
        return any(_distance(a, b, relation) >= self.spec.questions.margin for a in first for b in second)


def _distance(one: Vehicle, two: Vehicle, relation: str) -> float:
    """Return how far a vehicle is from another in the direction of a relation; places on its axis are rounded first."""
    a, b, _ = RIGHT
    x, y = {"right": (a, b), "left": (-a, -b), "behind": (-b, a), "front": (b, -a)}[relation]
    return round(round(x * one.x + y * one.y, DIGITS) - round(x * two.x + y * two.y, DIGITS), DIGITS)


def _scene_of(item: Item) -> SimTownScene:
    assert isinstance(item.scene, SimTownScene)
    return item.scene
