"""A site of riddles for the crawler. A secret determines all of its content."""

import functools
import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.cache import caches
from django.core.management.color import no_style
from django.db import connection, models, transaction

from annotations.answering import slot_assignment
from annotations.answering.throttle import Throttle
from annotations.models import Answer, Baseline, Participant, Study
from annotations.results import baseline
from annotations.studies import lifecycle
from generation.access import RESEARCHERS, AccessCheck, What, recorded
from generation.browsing.pictures import version_of
from generation.charts import drawing
from generation.charts.drawing import DrawingOrder
from generation.engine.worlds import REGISTRY
from generation.making import dataset_jobs
from generation.models import Dataset, Export, FreshTwin, Import, Job, Question, Scene, Split
from generation.queue import leases
from generation.splits.split_recipes import read_recipe
from generation.storage import files
from tests import crawl as crawling
from tests import proof, riddles
from tests.annotations.answered import put
from tests.crawl import Browser, PlainClient, Replies, Request, crawl
from tests.generation.complete_datasets import finish
from webapp.api import authentication
from webapp.api.files import questions_file
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.models import (
    Disclosure,
    DisclosureSettings,
    Method,
    SavedView,
    Submission,
    Suite,
    SuiteMember,
    Training,
)
from webapp.leaderboards.training.results import about_name
from webapp.models import User

STUDY = "riddle0001"
HUMAN_ANSWERS = dict(
    zip(("train", "test"), riddles.ANSWERS, strict=True)
)  # the answer of all people to questions of a split
A_MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STRANGERS = ("visitor", "member", "researcher")  # the last one may see most
BRIEFLY = proof.SHARE < 1
PEOPLE = STRANGERS[-1:] if BRIEFLY else STRANGERS
SECRETS = ("0f" * 16, "a5" * 16)
# Filters and other queries of a riddle's pages; some of them would reveal withheld data.
QUERIES: tuple[str, ...] = (
    *(
        "?answer=untypically",
        "?page=2",
        "?page=x",
        "?q=riddle",
        "?q=untypically",
        "?split=test",
        "?nothing=1",
        "?format=json",
    ),
    *("?step=0", "?step=1", "?step=99", "?list=0,1", "?list=7,99", "?ask=1", "?present=1", "?sort=answer"),
    *("?answer=redundantly", "?answer=1", "?type=riddle", "?type=riddle&answer=untypically"),
    *("?things=2", "?things=2..4", "?things.from=2&things.to=4", "?shift=gigantic", "?type=riddle&things=3"),
)
QUERIES = QUERIES[::8] if BRIEFLY else QUERIES
# Limits of addresses of a route that get other methods, and of followed links of one kind; withheld splits come first.
MOST, MOST_LINKS = (1, 1) if BRIEFLY else (crawling.MOST, crawling.MOST)
OTHER_WAYS = (("POST", {}), ("GET", {"HX-Request": "true"})) if BRIEFLY else crawling.VARIANTS

CheckKey = tuple[str, str, What | None]  # an access check: dataset, split ("" for the whole dataset), kind of thing
_sites = itertools.count()


class Crawled(NamedTuple):
    """The result of crawling a site as one visitor.

    Attributes
    ----------
    replies : Replies
    asked : dict of Request to set of CheckKey
        The access checks of `generation.access` that were made before each answer.
    values : dict of str to list of str
        The values in addresses.
    published : dict of str to str
        The hashes that are public from the start, each with a name of the same length.
    canaries : set of str
        Words that only owner and staff may see.
    evidence : dict of What to set of bytes
        Texts and files that an answer contains only if it shows this kind of thing of split test.
    """

    replies: Replies
    asked: dict[Request, set[CheckKey]]
    values: dict[str, list[str]]
    published: dict[str, str]
    canaries: set[str]
    evidence: dict[What, set[bytes]]


@functools.cache
def crawled(who: str, secret: str) -> Crawled:
    """Make the site that a secret determines and crawl it; as owner, do not try methods that change it."""
    with site(secret):
        return crawl_site(who, changes=who != "owner")


def crawl_site(who: str, *, changes: bool) -> Crawled:
    """Crawl the existing site as a visitor or user and return the result."""
    asked: dict[Request, set[CheckKey]] = {}

    @contextmanager
    def observe(request: Request) -> Iterator[None]:
        with recorded() as questions:
            yield
        asked[request] = {_key_of(question) for question in questions}

    is_brief = BRIEFLY and who == "owner"  # who may see everything: what pages show is asked, not what they hide
    known = {"values": values(), "published": published(), "canaries": canaries()}
    evidence = {what: texts for what in What if (texts := evidence_of(what))}
    known_addresses = {
        "values": values(),
        "queries": QUERIES[:1] if is_brief else QUERIES,
        "combined": not BRIEFLY,
        "most": MOST,
        "most_links": MOST_LINKS,
        "variants": () if is_brief else OTHER_WAYS,
    }
    replies = crawl(browser(who), **known_addresses, changes=changes, observe=observe)
    return Crawled(replies=replies, asked=asked, evidence=evidence, **known)


def _key_of(asked: AccessCheck) -> CheckKey:
    return asked.dataset.slug, asked.split.name if asked.split else "", asked.what


@contextmanager
def riddle_world() -> Iterator[None]:
    """Register the world of riddles, and make the site the same in each run.

    The size of the disk is fixed, the cache is empty, and no request is refused for being too frequent. Leases are not
    renewed, because the site is in a transaction, whose rows the renewing thread does not see.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leases, "RENEWAL", 86_400.0)
        patch.setitem(REGISTRY, riddles.NAME, riddles.WHERE)
        kept = caches["default"]
        patch.setattr(
            kept, "key_prefix", f"{kept.key_prefix}site-{next(_sites)}:"
        )  # a Redis also has keys of other tests
        free = SimpleNamespace(total=2**40, used=2**39, free=2**39)
        patch.setattr(shutil, "disk_usage", lambda path: free)
        shutil.rmtree(questions_file.folder(), ignore_errors=True)
        patch.setattr(authentication, "throttle", Throttle(10**9, 60.0))
        patch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
        patch.setattr(drawing, "_drawn", _draw)
        yield


def _draw(orders: Sequence[DrawingOrder]) -> dict[str, bytes | None]:
    """Return drawings that contain the whole specification of the chart, without running Vega."""
    return {order.digest: f"<svg>{json.dumps(order.spec)}</svg>".encode() for order in orders}


@contextmanager
def site(secret: str) -> Iterator[None]:
    """Fill the database with the content that a secret determines; afterwards undo all changes."""
    with riddle_world(), transaction.atomic():
        number_from_one()
        for name in ("member", "researcher", "owner"):
            User.objects.create_user(name, f"{name}@example.org", "x", date_joined=A_MOMENT)
        for name in ("researcher", "owner"):
            User.objects.get(username=name).groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
        _make_complete_dataset("riddles", secret)
        _make_complete_dataset("hidden", secret, visibility=Dataset.Visibility.PRIVATE, withheld=False)
        _make_failed_dataset("broken", secret)
        _make_exports("riddles")
        _make_import("riddles")
        _make_study("riddles")
        for name in ("train", "test"):
            publish_human_baseline("riddles", name, answer=HUMAN_ANSWERS[name])
        _make_submissions("riddles", "test")
        _make_training("riddles")
        stop_clocks()
        yield
        transaction.set_rollback(True)


@contextmanager
def site_with_link_only(slug: str, title: str) -> Iterator[None]:
    """Fill the database with a public dataset, and a link-only dataset that other parts of the site refer to."""
    with site(SECRETS[0]):
        _make_complete_dataset(slug, SECRETS[0], visibility=Dataset.Visibility.LINK, withheld=False)
        Dataset.objects.filter(slug=slug).update(title=title)
        _make_exports(slug)
        for name in ("train", "test"):
            publish_human_baseline(slug, name, answer=HUMAN_ANSWERS[name], code="other")
        _submit_to_link_only(slug)
        stop_clocks()
        yield


def _submit_to_link_only(slug: str) -> None:
    """Make content that refers to the link-only dataset.

    A member's published method is submitted to it and trained on it, and there are baselines and a listed suite.
    """
    member, own = User.objects.get(username="member"), {"dataset__slug": slug}
    method = Method.objects.create(pk=40, name="Another rule", owner=member, published=A_MOMENT)
    for number, (wanted, learned) in enumerate(((own, own), ({"dataset__slug": "riddles"}, own))):
        split = Split.objects.for_browse().get(**wanted, name="train")
        row = Submission.objects.create(
            pk=40 + number, method=method, split=split, file=f"submissions/other-{number}", filename="other.txt",
            trained_on=Split.objects.get(**learned, name="test"),
        )  # fmt: skip
        files.put(row.file, f"{riddles.ANSWERS[0]}\n".encode() * split.questions)
    baselines.begin()
    scoring.RUNNER.take_turn()
    assert set(Submission.objects.filter(split__dataset__slug=slug).values_list("state", flat=True)) == {"done"}
    owner = User.objects.get(username="owner")
    suite = Suite.objects.create(slug="mixed", title="Both", owner=owner, is_public=True, k_name="scenes")
    both = Split.objects.filter(dataset__slug__in=("riddles", slug), name="train")
    for ordinal, one in enumerate(both.order_by("-dataset__slug")):
        SuiteMember.objects.create(suite=suite, split=one, ordinal=ordinal, label=f"member {ordinal}", k=ordinal + 1)


def browser(name: str) -> Browser:
    """Return a function that makes a new client in which a user is logged in; the visitor has no account."""
    handler = PlainClient().handler  # its setup takes 50 ms

    def new() -> PlainClient:
        client = PlainClient(raise_request_exception=False)
        client.handler = handler
        if name != "visitor":
            client.force_login(User.objects.get(username=name))
        return client

    return new


def values() -> dict[str, list[str]]:
    """Return values for addresses: names and positions that exist, and some that do not."""
    return {
        "slug": ["riddles", "hidden", "broken", "nothing"],
        "name": ["test", "train"],  # pages link to the splits that are derived from them
        "split": ["test", "train"],
        "number": ["3", "7", "99"] if BRIEFLY else ["0", "3", "7", "99"],
        "position": ["3", "99"] if BRIEFLY else ["0", "3", "99"],
        "export": [*map(str, Export.objects.order_by("pk").values_list("pk", flat=True)), "99"],
        "code": [STUDY],
        "kind": ["csv", "svg"],
        "chart": ["answers"],  # pages link to the others
        "decision": ["approve", "nothing"],
        "version": [version_of(Dataset.objects.get(slug="riddles")), "0000"],
        "pk": [str(Dataset.objects.get(slug="riddles").pk), "1", "9999"],
        "job": [str(Job.objects.filter(dataset__slug="broken").first().pk), "9999"],
    }


def canaries() -> set[str]:
    """Return the words of the withheld splits' scenes, programs, source ids and file names, and all secrets."""
    questions = Question.objects.filter(split__withheld=True)
    scenes = Scene.objects.filter(split__withheld=True)
    words = {question.source_id for question in questions}
    words |= {value for question in questions for step in question.steps or () for value in step.values}
    words |= {name for scene in scenes for name in (scene.scene_json or {})["names"]}
    words |= {name_of_file(scene) for scene in scenes if scene.image}
    assert all(len(word) == 12 for word in words)
    return words | set(Split.objects.own().filter(withheld=True).values_list("secret", flat=True))


def name_of_file(scene: Scene) -> str:
    """Return the twelve letters in the name of a scene's picture."""
    return scene.image.rpartition("/")[2].split("-")[0].removesuffix(".png")


def published() -> dict[str, str]:
    """Return the hashes that are public from the start, each with a name of the same length."""
    hashes = {}
    for split in Split.objects.select_related("dataset"):
        for kind, text in (
            ("content", split.fingerprint),
            ("dataset", split.dataset.fingerprint),
            ("secret", split.secret_sha256),
        ):
            if text:
                hashes[text] = f"{split} {kind}".ljust(64, ".")
                hashes[text[:16]] = f"{split} {kind}"[:16].ljust(16, ".")
    return hashes


def evidence_of(what: What) -> set[bytes]:
    """Return texts and files that an answer of the site contains only if it shows this kind of thing of split test."""
    scenes = Scene.objects.filter(split__dataset__slug="riddles", split__name="test")
    questions = Question.objects.filter(split__dataset__slug="riddles", split__name="test")
    steps = [step for question in questions for step in question.steps or ()]
    found: dict[What, set[str | bytes]] = {
        What.ANSWER: {f">{answer}<" for answer in riddles.ANSWERS}
        | {f'"answer": "{answer}"' for answer in riddles.ANSWERS}
        | {split.secret for split in Split.objects.filter(dataset__slug="riddles", name="test")},
        What.PROGRAM: {value for step in steps for value in step.values},
        What.SCENE: {name for scene in scenes for name in (scene.scene_json or {})["names"]},
        What.QUESTION: {"of picture 3: is it so?"},  # split train has only three pictures
        What.IMAGE: {files.get(scene.image) for scene in scenes},
        What.STORY: {riddles.LINES[-1]},
        What.IDS_IMAGE: {files.get(scene.ids_image) for scene in scenes},
        What.FACET: {">middling<", ">gigantic<", '"shift": "gigantic"'},
        What.HUMAN_ANSWERS: {f"{HUMAN_ANSWERS['test']} × 2"},
    }
    return {one if isinstance(one, bytes) else one.encode() for one in found.get(what, set())}


def _make_import(slug: str) -> None:
    """Make the row of an import, with a primary key that is in addresses."""
    dataset = Dataset.objects.get(slug=slug)
    Import.objects.create(pk=3, dataset=dataset, owner=dataset.owner, slug=slug, format="theirs", created=A_MOMENT)


def _make_study(slug: str) -> None:
    """Make a draft of a study of the withheld split, with a code that is in addresses."""
    test = Split.objects.get(dataset__slug=slug, name="test")
    owner = User.objects.get(username="owner")
    Study.objects.create(split=test, owner=owner, title="How people riddle", code=STUDY, wanted=2)


def publish_human_baseline(slug: str, name: str, *, answer: str, code: str = "asked") -> None:
    """Publish a human baseline of two people, who always give the same answer, right or wrong."""
    split = Split.objects.for_browse().get(dataset__slug=slug, name=name)
    owner = User.objects.get(username="owner")
    study = Study.objects.create(
        split=split, owner=owner, title=f"People on {name}", code=f"{code}-{name:x<4.4}", per_question=2
    )
    positions = range(split.questions)
    slot_assignment.lay_out(study, [(position, position // 2) for position in positions], ranks=positions)
    for number in range(2):
        person = Participant.objects.create(study=study, secret=f"{code} {name} {number}")
        for position in positions:
            put(person, study, position, answer, number=number)
    Answer.objects.update(received=A_MOMENT)
    assert lifecycle.close(study)
    baseline.publish(study, by=owner.pk, seal=baseline.draft(study).seal)


def _make_submissions(slug: str, name: str) -> None:
    """Make a member's scored submissions, with primary keys that are in addresses.

    The files do not depend on the right answers. The secret determines their scores, but not the published figures,
    because the step of disclosure is larger than the split.
    """
    split = Split.objects.for_browse().get(dataset__slug=slug, name=name)
    member = User.objects.get(username="member")
    method = Method.objects.create(pk=3, name="A rule", owner=member, published=A_MOMENT)
    unknown = Split.objects.get(dataset__slug="hidden", name="train")
    kept = {"trained_on": unknown, "train_size": 7}
    for number, turn in enumerate((4, 2, 1), start=3):
        answers = [riddles.ANSWERS[at // turn % 2] for at in range(split.questions)]
        file = f"submissions/rule{number}"
        row = Submission.objects.create(
            pk=number,
            method=method,
            split=split,
            file=file,
            filename="rule.txt",
            replies_file=f"{file}-replies",
            **kept,
        )
        files.put(row.file, "\n".join([*answers, ""]).encode())
        files.put(row.replies_file, _replies(answers))
        scoring.RUNNER.take_turn()
        row.refresh_from_db()
        assert row.is_scored, row.message
    states = Disclosure.objects.filter(split=split).order_by("pk").values_list("state", "figure", "is_new")
    assert list(states) == [("published", 0, True)] * 2 + [("published", 0, False), ("deferred", None, False)]
    suite = Suite.objects.create(
        slug=slug, title="All riddles", owner=User.objects.get(username="owner"), is_public=True, k_name="scenes"
    )
    for ordinal, one in enumerate(split.dataset.splits.filter(parent=None)):
        SuiteMember.objects.create(suite=suite, split=one, ordinal=ordinal, label=one.name, k=ordinal + 1)
    for number, (page, is_public) in enumerate((("", True), ("confusion", True), ("pairs", False)), start=3):
        SavedView.objects.create(
            pk=number, split=split, owner=suite.owner, name=f"View {number}", page=page, is_public=is_public,
            created=A_MOMENT,
        )  # fmt: skip
    # The suite's page shows the gap between train and its withheld twin.
    FreshTwin.objects.create(split=split, source=split.dataset.splits.get(name="train"), number=1)


def _replies(answers: Sequence[str]) -> bytes:
    """Return a file of replies with these answers, as a model's runner writes it."""
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    rows = [
        {"question": at, "state": "answered", "reply": f"Answer: {answer}", "usage": usage, "cost": 0.001, "latency": 1}
        for at, answer in enumerate(answers)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _make_training(slug: str) -> None:
    """Make a training of the owner that failed, with a primary key that is in addresses, and a file as its model."""
    train, test = (Split.objects.get(dataset__slug=slug, name=name) for name in ("train", "test"))
    owner, model = User.objects.get(username="owner"), "models/3-riddles.safetensors"
    row = Training.objects.create(
        pk=3, method="nearest-question", name="Nearest question", owner=owner, train=train, val=train, state="failed",
        message="Expected more questions, got few.", history="[[1, null, 0.5]]", model=model,
    )  # fmt: skip
    row.tests.set([test])
    for name in (model, about_name(model)):
        files.put(name, b"numbers")


def number_from_one() -> None:
    """Number rows from one, as in an empty database, because PostgreSQL does not roll back its sequences."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)


def _make_complete_dataset(slug: str, secret: str, **options: Any) -> None:
    withheld = options.pop("withheld", True)
    spec = json.loads(json.dumps(riddles.SPEC))
    spec["splits"]["test"]["withheld"] = withheld
    owner = User.objects.get(username="owner")
    options.setdefault("visibility", Dataset.Visibility.PUBLIC)
    dataset = finish(dataset_jobs.start(spec, slug=slug, owner=owner, secrets={"test": secret}, **options))
    for scene in Scene.objects.filter(split__dataset=dataset, split__name="test"):
        _rename(scene, str((scene.scene_json or {})["names"][0]))
    DisclosureSettings.objects.create(split=dataset.splits.get(name="test"), step=1000)
    recipe = read_recipe({"parent": "test", "filter": "type=riddle&q=picture", "sample": 5, "seed": 1})
    part = dataset_jobs.derive(Split.objects.for_browse().get(dataset=dataset, name="test"), name="part", recipe=recipe)
    assert part.is_complete and part.withheld == withheld


def _rename(scene: Scene, word: str) -> None:
    """Rename a scene's files, so that their names contain a word of the scene."""
    named = {}
    for field in ("image", "ids_image"):
        stored = getattr(scene, field)
        named[field] = f"imported/{scene.pk}/{word}{'-ids' if field == 'ids_image' else ''}.png"
        files.put(named[field], files.get(stored))
    Scene.objects.filter(pk=scene.pk).update(**named)


def _make_failed_dataset(slug: str, secret: str) -> None:
    """Begin a dataset and make it fail with a message that quotes a withheld word."""
    owner = User.objects.get(username="owner")
    dataset = dataset_jobs.start(riddles.SPEC, slug=slug, visibility="public", owner=owner, secrets={"test": secret})
    job = None
    while Scene.objects.filter(split__dataset=dataset, split__withheld=True).count() == 0:
        job = dataset_jobs.claim(dataset=dataset)
        assert job is not None
        dataset_jobs.RUNNER.run(job)
    scene = Scene.objects.filter(split__dataset=dataset, split__withheld=True).first()
    message = f"Expected a thing, got {(scene.scene_json or {})['names'][0]}."
    dataset.jobs.exclude(state=Job.State.DONE).update(state=Job.State.FAILED, attempts=3, message=message)
    dataset.splits.exclude(state=Split.State.COMPLETE).update(state=Split.State.FAILED)
    Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.FAILED, error=message)


def _make_exports(slug: str) -> None:
    """Make an export for everybody, and an export for the owner alone that contains all withheld words."""
    dataset = Dataset.objects.get(slug=slug)
    for view, content in (("public", "open to all"), ("all", " ".join(sorted(canaries())))):
        stored = f"exports/{dataset.pk}/{view}-0123.zip"
        files.put(stored, content.encode())
        kinds = [What.QUESTION, What.IMAGE] if view == "public" else list(What)[:7]
        made = {"file": stored, "size": len(content), "finished": A_MOMENT, "expires": A_MOMENT}
        shown = json.dumps({"train": list(What)[:7], "test": kinds})
        Export.objects.create(
            dataset=dataset, user=dataset.owner, view=view, format="jsonl", state="done", shown=shown, **made
        )


def stop_clocks() -> None:
    """Set all times in the database to one moment."""
    ours = (apps.get_app_config(app).get_models() for app in ("generation", "leaderboards"))
    for model in (*itertools.chain.from_iterable(ours), Study, Baseline):
        for field in model._meta.get_fields():
            if isinstance(field, models.DateTimeField):
                model.objects.filter(**{f"{field.name}__isnull": False}).update(**{field.name: A_MOMENT})
