"""A study on a site of a fault test, and checks of the answers that are stored in the end."""

from collections import Counter
from typing import Any, NamedTuple

from tests.faults.stack import SLUG, Site
from tests.generation import fake_world

WANTED = 3
PER_SCENE = 3
BEGIN = """
from annotations.answering import slot_assignment as assign
from annotations.models import Study
from generation.making import dataset_jobs as jobs
from generation.storage.split_index import SplitIndex
from webapp.models import User
made = jobs.start(given["spec"], slug=given["slug"], visibility="public", images=False)
jobs.work(dataset=made)
split = made.splits.get()
owner, _ = User.objects.get_or_create(username="rosa")
study = Study.objects.create(
    split=split, owner=owner, title="How well people count", per_question=given["wanted"], per_session=1000,
    practice=0, practice_right=0, checks=0, attention=2, completed="DONE", full="FULL",
)
scenes = SplitIndex.open(split).scenes[: given["questions"]].tolist()
assign.lay_out(study, list(enumerate(scenes)), ranks=range(len(scenes)))
print(study.code, end="")
"""


class Held(NamedTuple):
    """A stored answer: its participant and question, whether it is superseded, and the slot that it fills, or None."""

    client: str
    text: str
    participant: int
    question: int
    slot: int | None
    superseded: bool


def begin_study(site: Site, *, questions: int) -> str:
    """Make a dataset and an open study of it, and return the code of the study."""
    scenes = -(-questions // PER_SCENE)
    spec: dict[str, Any] = {**fake_world.PRESET, "questions_per_scene": PER_SCENE, "scenes_per_chunk": 50}
    spec["splits"] = {"train": {"scenes": scenes}}
    return site.python(BEGIN, {"spec": spec, "slug": SLUG, "wanted": WANTED, "questions": questions})


def let_leases_end(site: Site) -> None:
    """End the leases of all slots, so that questions of participants who left are given to others."""
    site.tell("UPDATE annotations_slot SET lease = '2000-01-01 00:00:00' WHERE lease IS NOT NULL")


def answers_of(site: Site) -> list[Held]:
    """Return every answer to a question of the sample."""
    columns = "client, text, participant_id, question_id, slot_id, superseded"
    rows = site.ask(f"SELECT {columns} FROM annotations_answer ORDER BY id")
    return [Held(_client(row[0]), *row[1:5], bool(row[5])) for row in rows]


def stored(site: Site) -> dict[str, str]:
    """Return the stored text for each client id, and check that no client id is stored twice.

    This includes answers to questions that are not in the sample.
    """
    rows = [(one.client, one.text) for one in answers_of(site)]
    rows += [(_client(client), text) for client, text in site.ask("SELECT client, text FROM annotations_easyanswer")]
    assert len(dict(rows)) == len(rows), "an answer is stored twice"
    return dict(rows)


def _client(text: Any) -> str:
    return str(text).replace("-", "")


def plain(acknowledged: dict[str, str]) -> dict[str, str]:
    """Return the acknowledged answers with client ids in the form that SQLite stores, without hyphens."""
    return {_client(client): text for client, text in acknowledged.items()}


def check_consistent(site: Site) -> None:
    """Check the rules that hold at every moment.

    No participant gets a question twice, no question has too many answers, and every slot is filled or can be given to
    a participant.
    """
    answers = answers_of(site)
    counted = [one for one in answers if one.slot is not None]
    assert max(Counter(one.question for one in counted).values(), default=0) <= WANTED
    assert len({one.slot for one in counted}) == len(counted)
    current = [(one.participant, one.question) for one in answers if not one.superseded]
    assert len(set(current)) == len(current)
    given = site.ask("SELECT participant_id, question_id FROM annotations_given")
    assert len(set(given)) == len(given)
    assert set(current) <= set(given)
    slots = site.ask("SELECT id, participant_id, answered, lease FROM annotations_slot")
    filled = {slot for slot, _, answered, _ in slots if answered}
    assert filled == {one.slot for one in counted}, "a slot says that it is answered, and has no answer"
    stuck = [slot for slot, person, answered, lease in slots if person and not answered and lease is None]
    assert stuck == [], "slots that somebody holds for ever"


def check_finished(site: Site, *, questions: int) -> None:
    """Check that each question has exactly the wanted number of answers, from different participants."""
    check_consistent(site)
    counted = [(one.question, one.participant) for one in answers_of(site) if one.slot is not None]
    assert len(set(counted)) == len(counted)
    assert sorted(Counter(question for question, _ in counted).values()) == [WANTED] * questions
