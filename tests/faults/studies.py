"""A study on a site that is done harm to, and what is stored of it in the end."""

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
    """An answer as it is stored: whose it is, to what, and whether it stands and fills a slot."""

    client: str
    text: str
    participant: int
    question: int
    slot: int | None
    superseded: bool


def begin_study(site: Site, *, questions: int) -> str:
    """Return the code of an open study of a dataset that is made for it."""
    scenes = -(-questions // PER_SCENE)
    spec: dict[str, Any] = {**fake_world.PRESET, "questions_per_scene": PER_SCENE, "scenes_per_chunk": 50}
    spec["splits"] = {"train": {"scenes": scenes}}
    return site.python(BEGIN, {"spec": spec, "slug": SLUG, "wanted": WANTED, "questions": questions})


def let_leases_end(site: Site) -> None:
    """Let the time be over that people have for questions they were given and left."""
    site.tell("UPDATE annotations_slot SET lease = '2000-01-01 00:00:00' WHERE lease IS NOT NULL")


def answers_of(site: Site) -> list[Held]:
    """Return every answer to a question of the sample."""
    columns = "client, text, participant_id, question_id, slot_id, superseded"
    rows = site.ask(f"SELECT {columns} FROM annotations_answer ORDER BY id")
    return [Held(_client(row[0]), *row[1:5], bool(row[5])) for row in rows]


def stored(site: Site) -> dict[str, str]:
    """Return what is stored of each client id, whatever it answers; each is there once."""
    rows = [(one.client, one.text) for one in answers_of(site)]
    rows += [(_client(client), text) for client, text in site.ask("SELECT client, text FROM annotations_easyanswer")]
    assert len(dict(rows)) == len(rows), "an answer is stored twice"
    return dict(rows)


def _client(text: Any) -> str:
    return str(text).replace("-", "")


def plain(acknowledged: dict[str, str]) -> dict[str, str]:
    """Return what was acknowledged with client ids as SQLite has them."""
    return {_client(client): text for client, text in acknowledged.items()}


def check_consistent(site: Site) -> None:
    """Check what holds at every moment: nobody asked twice, never too many answers, every slot filled or to be had."""
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
    """Check that each question has exactly the answers that are wanted, of different people."""
    check_consistent(site)
    counted = [(one.question, one.participant) for one in answers_of(site) if one.slot is not None]
    assert len(set(counted)) == len(counted)
    assert sorted(Counter(question for question, _ in counted).values()) == [WANTED] * questions
