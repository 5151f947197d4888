"""A site of riddles to be crawled: what it holds follows from a secret, and only that."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.cache import cache
from django.db import models, transaction
from django.test import Client

from generation import charts, charts_drawing, files, jobs
from generation.charts_drawing import Order
from generation.engine.worlds import REGISTRY
from generation.models import Dataset, Job, Question, Scene, Split
from generation.pictures import version_of
from tests import riddles
from tests.crawl import Browser
from webapp.access import RESEARCHERS
from webapp.models import User

A_MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PEOPLE = ("visitor", "member", "researcher")
SECRETS = ("0f" * 16, "a5" * 16)
# Filters and other things that addresses of a riddle's pages may have; some of them would tell.
QUERIES = (
    *("?page=2", "?page=x", "?q=riddle", "?q=untypically", "?split=test", "?nothing=1", "?format=json"),
    *("?step=0", "?step=1", "?step=99", "?list=0,1", "?list=7,99", "?ask=1", "?present=1", "?sort=answer"),
    *("?answer=untypically", "?answer=redundantly", "?answer=1", "?type=riddle", "?type=riddle&answer=untypically"),
    *("?things=2", "?things=2..4", "?things.from=2&things.to=4", "?shift=gigantic", "?type=riddle&things=3"),
)


@contextmanager
def riddle_world() -> Iterator[None]:
    """Register riddles, and let the disk be the same at all times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(REGISTRY, riddles.NAME, riddles.WHERE)
        free = SimpleNamespace(total=2**40, used=2**39, free=2**39)
        patch.setattr(shutil, "disk_usage", lambda path: free)
        patch.setattr(charts, "TOO_FEW", 1)
        patch.setattr(charts_drawing, "_drawn", _drawn)
        yield


def _drawn(orders: Sequence[Order]) -> dict[str, bytes | None]:
    """Return drawings that have every word and address of what they are drawn from; nothing of Vega is in them."""
    return {order.digest: f"<svg>{json.dumps(order.spec)}</svg>".encode() for order in orders}


@contextmanager
def site(secret: str) -> Iterator[None]:
    """Fill the database with what follows from a secret; afterwards it is as it was."""
    with riddle_world(), transaction.atomic():
        for name in ("member", "researcher", "owner"):
            User.objects.create_user(name, f"{name}@example.org", "x", date_joined=A_MOMENT)
        User.objects.get(username="researcher").groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
        _complete("riddles", secret)
        _complete("hidden", secret, visibility=Dataset.Visibility.PRIVATE, withheld=False)
        _broken("broken", secret)
        _stop_clocks()
        cache.clear()
        yield
        transaction.set_rollback(True)


def browser(name: str) -> Browser:
    """Return what gives a new client that somebody is logged in with; a visitor is nobody."""
    handler = Client().handler  # which takes 50 ms to set itself up

    def new() -> Client:
        client = Client(raise_request_exception=False)
        client.handler = handler
        if name != "visitor":
            client.force_login(User.objects.get(username=name))
        return client

    return new


def values() -> dict[str, list[str]]:
    """Return what stands in addresses: names and positions that there are, and one that isn't."""
    return {
        "slug": ["riddles", "hidden", "broken", "nothing"],
        "name": ["train", "test"],
        "split": ["train", "test"],
        "number": ["0", "3", "7", "99"],
        "position": ["0", "3", "99"],
        "chart": ["answers"],  # pages link to the others
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
    return words | set(Split.objects.filter(withheld=True).values_list("secret", flat=True))


def name_of_file(scene: Scene) -> str:
    """Return the twelve letters in the name of a scene's picture."""
    return scene.image.rpartition("/")[2].split("-")[0].removesuffix(".png")


def _complete(slug: str, secret: str, **options: Any) -> None:
    withheld = options.pop("withheld", True)
    spec = json.loads(json.dumps(riddles.SPEC))
    spec["splits"]["test"]["withheld"] = withheld
    owner = User.objects.get(username="owner")
    options.setdefault("visibility", Dataset.Visibility.PUBLIC)
    dataset = jobs.start(spec, slug=slug, owner=owner, secrets={"test": secret}, **options)
    jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    for scene in Scene.objects.filter(split__dataset=dataset, split__name="test"):
        _rename(scene, str((scene.scene_json or {})["names"][0]))


def _rename(scene: Scene, word: str) -> None:
    """Give a scene's files names that tell."""
    named = {}
    for field in ("image", "ids_image"):
        stored = getattr(scene, field)
        named[field] = f"imported/{scene.pk}/{word}{'-ids' if field == 'ids_image' else ''}.png"
        files.put(named[field], files.get(stored))
    Scene.objects.filter(pk=scene.pk).update(**named)


def _broken(slug: str, secret: str) -> None:
    """Begin a dataset and let it fail, with a message that quotes what is withheld."""
    owner = User.objects.get(username="owner")
    dataset = jobs.start(riddles.SPEC, slug=slug, visibility="public", owner=owner, secrets={"test": secret})
    job = None
    while Scene.objects.filter(split__dataset=dataset, split__withheld=True).count() == 0:
        job = jobs.claim(dataset=dataset)
        assert job is not None
        jobs.run(job)
    scene = Scene.objects.filter(split__dataset=dataset, split__withheld=True).first()
    message = f"Expected a thing, got {(scene.scene_json or {})['names'][0]}."
    dataset.jobs.exclude(state=Job.State.DONE).update(state=Job.State.FAILED, attempts=3, message=message)
    dataset.splits.exclude(state=Split.State.COMPLETE).update(state=Split.State.FAILED)
    Dataset.objects.filter(pk=dataset.pk).update(state=Dataset.State.FAILED, error=message)


def _stop_clocks() -> None:
    """Let everything have happened at one moment."""
    for model in apps.get_app_config("generation").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, models.DateTimeField):
                model.objects.filter(**{f"{field.name}__isnull": False}).update(**{field.name: A_MOMENT})
