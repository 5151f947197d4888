"""No figure of a split reveals answers of its reference: two sites with other withheld answers look the same.

In both sites, everybody may see the exact figures of split val, and the owner of its fresh twin those of the twin. The
answers of their reference, split train, are withheld, and so are those of split test.
"""

import functools
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Group
from django.db import transaction

from generation.access import RESEARCHERS
from generation.engine.scoring.counts.metrics import METRICS
from generation.engine.worlds import REGISTRY
from generation.making import creation, dataset_jobs, fresh_twins
from generation.models import Dataset, Split
from generation.reports import report_jobs
from generation.storage import files
from generation.storage.split_index import SplitIndex
from tests import riddle_site, tallies
from tests.crawl import Replies, Request, addresses, reply_of, routes
from tests.generation.complete_datasets import finish
from tests.riddle_site import A_MOMENT, BRIEFLY, SECRETS
from tests.webapp.secrecy.test_leaks import without_published_hashes
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.models import DisclosureSettings, Method, Submission, Suite, SuiteMember
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

TALLIES, TWIN = "tallies", "tallies-val-fresh-1"
STRANGERS = ("rosa",) if BRIEFLY else ("rosa", "member", "visitor")  # rosa owns the twin
OWNERS = ("owner",) if BRIEFLY else ("owner", "staff")  # of the dataset
NAMES = ["val", "test"] if BRIEFLY else ["train", "val", "test", "part"]
SKIPPED = ("account_", "socialaccount_", "openid_connect_", "admin:", "django.", "docs", "study_", "login_link")
FIGURES = re.compile("leaderboards|boards|suites|submissions|shortcuts")  # in addresses
VALUES = {
    "slug": [TALLIES] if BRIEFLY else [TALLIES, TWIN],
    "name": NAMES,
    "split": NAMES,
    "number": ["1"],
    "position": ["1"],
    "kind": ["json"] if BRIEFLY else ["csv", "json", "tex"],
    "chart": ["answers"],
    "pk": ["1"],
}  # fmt: skip
ASKED = ("rmse", "ap", "biased_errors") if BRIEFLY else tuple(METRICS)
SORTS = ("reweighted", *ASKED)
BOARD = f"{TALLIES}/val/"
DIFFERENT = {  # for those who may see the answers
    *(f"/leaderboards/{BOARD}{query}" for query in ("", "?sort=biased_errors", "?sort=reweighted")),
    *(f"/api/v1/boards/{BOARD}{page}" for page in ("", "metrics/?metric=biased_errors")),
    f"/leaderboards/{BOARD}metrics/?metric=biased_errors",
    f"/leaderboards/{BOARD}curves.json?metric=biased_errors",
    "/submissions/1/",
    f"/suites/{TALLIES}/over-k.json?metric=biased_errors",
}


def queried(board: str) -> Iterator[str]:
    """Yield the addresses of a board that ask for one of its figures."""
    for query in ("?show=all", "?ranks=1", "?weights=type:equal", *(f"?sort={one}" for one in SORTS)):
        yield from (f"/leaderboards/{board}{query}", f"/api/v1/boards/{board}{query}")
    for metric in ASKED:
        for query in (f"?metric={metric}", f"?metric={metric}&by=type&entry=m1&entry=m2"):
            yield from (f"/leaderboards/{board}metrics/{query}", f"/api/v1/boards/{board}metrics/{query}")
        yield f"/leaderboards/{board}curves.json?metric={metric}"
        yield f"/suites/{TALLIES}/over-k.json?metric={metric}"
    for page in ("compare", "confusion", "slices", "questions"):
        yield f"/leaderboards/{board}{page}/?entry=m2&entry=m3"


def all_addresses() -> list[str]:
    """Return the addresses of every route of the site with these values, and of each figure of each board."""
    known = [one for one in routes() if not one.name.startswith(SKIPPED)]
    if BRIEFLY:
        known = [one for one in known if FIGURES.search(one.template)]
    every = [one for route in known for one in addresses(route, VALUES, combined=not BRIEFLY)]
    values = {**VALUES, "number": [str(pk) for pk in Submission.objects.values_list("pk", flat=True)]}
    of_submissions = [one for route in routes() if "submission" in route.name for one in addresses(route, values)]
    boards = [f"{TALLIES}/{name}/" for name in NAMES] + [f"{TWIN}/val/"]
    return list(dict.fromkeys([*every, *of_submissions, *(one for board in boards for one in queried(board))]))


@contextmanager
def site(secret: str) -> Iterator[None]:
    """Fill the database with a site whose withheld answers a secret determines, except those of the twin."""
    with riddle_site.riddle_world(), pytest.MonkeyPatch.context() as patch, transaction.atomic():
        patch.setitem(REGISTRY, tallies.NAME, tallies.WHERE)
        patch.setattr(creation, "chance", SimpleNamespace(token_hex=lambda size: "3c" * size))
        riddle_site.number_from_one()
        for name in ("member", "rosa", "owner", "staff"):
            user = User.objects.create_user(name, f"{name}@example.org", "x", date_joined=A_MOMENT)
            user.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
        User.objects.filter(username="staff").update(is_staff=True, is_superuser=True)
        _make_splits(secret)
        _score_guesses()
        riddle_site.stop_clocks()
        yield
        transaction.set_rollback(True)


def _make_splits(secret: str) -> None:
    owner, rosa = (User.objects.get(username=name) for name in ("owner", "rosa"))
    options = {"owner": owner, "visibility": Dataset.Visibility.PUBLIC, "images": False}
    finish(dataset_jobs.start(tallies.SPEC, slug=TALLIES, secrets=dict.fromkeys(("train", "test"), secret), **options))
    [twin] = fresh_twins.make_twins(split_of(TALLIES, "val"), owner=rosa)
    finish(twin.split.dataset)
    assert twin.split.dataset.slug == TWIN and split_of(TWIN, "val").reference == split_of(TALLIES, "train")
    part = {"parent": "val", "filter": "type=sheep"}
    dataset_jobs.derive(split_of(TALLIES, "val"), name="part", recipe=riddle_site.read_recipe(part))
    riddle_site.publish_human_baseline(TALLIES, "val", answer="3")
    suite = Suite.objects.create(slug=TALLIES, title="Tallies", owner=owner, is_public=True, k_name="fields")
    for k, split in enumerate((split_of(TALLIES, "val"), split_of(TWIN, "val"), split_of(TALLIES, "test"))):
        SuiteMember.objects.create(suite=suite, split=split, ordinal=k, label=f"member {k}", k=k + 1)
    DisclosureSettings.objects.bulk_create(
        DisclosureSettings(split=split, step=1000)
        for split in Split.objects.own()  # all published figures are 0
    )


def split_of(slug: str, name: str) -> Split:
    return Split.objects.for_browse().get(dataset__slug=slug, name=name)


def _score_guesses() -> None:
    """Score a method for each constant answer, and one with fractions and boxes, on val, its twin and test."""
    member = User.objects.get(username="member")
    box = {"boxes": [[0, 0, 6, 4], [3, 0, 9, 4]], "scores": [0.75, 0.5]}
    constants = range(0, tallies.MOST + 1, 2 if BRIEFLY else 1)
    guesses = [*({"answer": number} for number in constants), {"answer": 1.25, **box}]
    for pk, guess in enumerate(guesses, start=1):
        method = Method.objects.create(pk=pk, name=f"Rule {pk}", owner=member, published=A_MOMENT)
        for slug, name in ((TALLIES, "val"), (TWIN, "val"), (TALLIES, "test")):
            split, file = split_of(slug, name), f"submissions/{slug}-{name}-{pk}"
            rows = "".join(json.dumps({"question_id": at, **guess}) + "\n" for at in range(split.questions))
            files.put(file, rows.encode())
            Submission.objects.create(
                method=method, split=split, file=file, filename="rule.jsonl", train_size=10 * pk,
                trained_on=split_of(TALLIES, "val"),
            )  # fmt: skip
    while baselines.begin():
        pass
    for _ in range(3):
        scoring.RUNNER.take_turn()
    assert set(Submission.objects.values_list("state", flat=True)) == {"done"}
    report_jobs.SHORTCUTS.take_turn()


@functools.cache
def looks(secret: str) -> tuple[dict[str, Replies], Counter[str]]:
    """Return what the site answers to each visitor, and the withheld answers of the reference."""
    with site(secret):
        replies = {}
        for who in (*STRANGERS, *OWNERS):
            client = riddle_site.browser(who)()
            asked = sorted(DIFFERENT) if who in OWNERS and BRIEFLY else all_addresses()
            found = {Request("GET", one): reply_of(client, Request("GET", one)) for one in asked}
            replies[who] = without_published_hashes(found, riddle_site.published())
        index = SplitIndex.open(split_of(TALLIES, "train"))
        return replies, Counter(index.answer_values[code] for code in index.answers.tolist())


def different_addresses(who: str) -> list[str]:
    (first, _), (second, _) = map(looks, SECRETS)
    assert list(first[who]) == list(second[who])
    return [one.address for one in first[who] if first[who][one] != second[who][one]]


@pytest.mark.parametrize("who", STRANGERS)
def test_visitors_who_may_not_see_the_reference_get_the_same_pages_for_all_its_answers(who: str) -> None:
    assert different_addresses(who) == []


@pytest.mark.parametrize("who", OWNERS)
def test_every_figure_that_reads_the_reference_differs_for_those_who_may_see_it(who: str) -> None:
    (_, answers), (_, others) = map(looks, SECRETS)
    assert answers.most_common(1)[0][0] != others.most_common(1)[0][0], "or nothing could differ"
    assert set(different_addresses(who)) >= DIFFERENT


def test_the_pages_show_figures_and_not_errors() -> None:
    replies = looks(SECRETS[0])[0]
    for who in (*STRANGERS, *OWNERS):
        assert [one.address for one, reply in replies[who].items() if reply.status >= 500] == []
    statuses = {one.address: reply.status for one, reply in replies["rosa"].items()}
    board = f"/leaderboards/{TALLIES}/val/"
    without = [name for name in ASKED if statuses[f"{board}metrics/?metric={name}"] != 200]
    assert [name for name in without if "parity" not in name] == ["biased_errors"]  # only shifts have an own parity
    assert statuses[f"/leaderboards/{TALLIES}/test/metrics/"] == 403
    assert statuses[f"/leaderboards/{TWIN}/val/metrics/?metric=rmse"] == 200
