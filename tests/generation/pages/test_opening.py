"""Opening the answers of a split that withholds them."""

import hashlib
import re
import shlex
import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client

from generation.making import dataset_jobs
from generation.models import Dataset
from tests.generation import small
from webapp.models import User

OVERVIEW, OPEN = "/datasets/shapes/", "/datasets/shapes/test/open/"
QUESTION, BROWSE = "/datasets/shapes/test/q/1/", "/datasets/shapes/test/"


def text_of(response):
    return response.content.decode()


def split_of(dataset):
    return dataset.splits.get(name="test")


def test_page_says_what_becomes_public_and_opens_nothing(as_owner, shapes):
    response = as_owner.get(OPEN)
    page = text_of(response)
    assert response.status_code == 200
    assert page.count("<h1") == 1
    assert "You cannot undo this" in page
    assert "2 scenes and 8 questions" in page
    for what in ("the answers", "the programs", "the objects", "the secret", "filters and counts by answer"):
        assert what in page
    assert split_of(shapes).withheld
    assert as_owner.head(OPEN).status_code == 200
    assert split_of(shapes).withheld


@pytest.mark.parametrize(("visibility", "said"), [("link", "who has the link"), ("private", "only you and staff")])
def test_page_says_who_will_see_the_answers(as_owner, shapes, visibility, said):
    Dataset.objects.filter(pk=shapes.pk).update(visibility=visibility)
    assert said in text_of(as_owner.get(OPEN))


def test_button_opens_the_answers_to_everybody(as_owner, client, shapes):
    assert 'class="the-answer"' not in text_of(client.get(QUESTION))
    assert client.get(BROWSE, {"answer": "yes"}).status_code == 400
    response = as_owner.post(OPEN, follow=True)
    assert response.redirect_chain == [(OVERVIEW + "#withheld", 302)]
    assert "The answers of test are open since" in text_of(response)
    opened = split_of(shapes)
    assert not opened.withheld
    assert opened.opened is not None
    assert text_of(response).count(f'<time datetime="{opened.opened:%Y-%m-%dT%H:%M:%S}') >= 2
    assert 'class="the-answer"' in text_of(client.get(QUESTION))
    assert 'id="step-0"' in text_of(client.get(QUESTION))
    assert client.get(BROWSE, {"answer": "yes"}).status_code == 200


def test_staff_may_open_the_answers_too(shapes):
    staff = Client()
    staff.force_login(User.objects.create_user("staff", password="x", is_staff=True))
    assert f'href="{OPEN}"' in text_of(staff.get(OVERVIEW))
    staff.post(OPEN)
    assert not split_of(shapes).withheld


@pytest.mark.parametrize("who", ["client", "as_stranger"])
def test_strangers_get_404_and_open_nothing(request, shapes, who):
    browser = request.getfixturevalue(who)
    assert browser.get(OPEN).status_code == 404
    assert browser.post(OPEN).status_code == 404
    assert OPEN not in text_of(browser.get(OVERVIEW))
    assert split_of(shapes).withheld


def test_another_site_cannot_press_the_button(shapes, owner):
    Dataset.objects.filter(pk=shapes.pk).update(owner=owner)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    assert browser.post(OPEN).status_code == 403
    assert split_of(shapes).withheld


def test_a_split_that_is_not_complete_is_refused(as_owner, owner, shapes):
    begun = small.begun("begun", owner=owner)
    for response in (as_owner.get("/datasets/begun/test/open/"), as_owner.post("/datasets/begun/test/open/")):
        assert response.status_code == 409
        assert "Expected a complete split, got test, whose state is" in text_of(response)
    assert split_of(begun).withheld
    assert "/open/" not in text_of(as_owner.get("/datasets/begun/"))


def test_an_open_split_redirects_to_the_overview(as_owner, shapes):
    for response in (as_owner.get("/datasets/shapes/train/open/"), as_owner.post("/datasets/shapes/train/open/")):
        assert (response.status_code, response["Location"]) == (302, OVERVIEW + "#withheld")


@pytest.mark.parametrize("address", ["/datasets/shapes/nothing/open/", "/datasets/nothing/test/open/"])
def test_an_unknown_split_or_dataset_gets_404(as_owner, shapes, address):
    assert as_owner.post(address).status_code == 404


def test_other_verbs_are_refused(as_owner, shapes):
    assert as_owner.put(OPEN).status_code == 405
    assert as_owner.delete(OPEN).status_code == 405


def test_opening_needs_few_queries(as_owner, shapes, django_assert_max_num_queries):
    with django_assert_max_num_queries(8):  # session, account, split, dataset, two updates, a transaction
        as_owner.post(OPEN)


# Proof of the answers ----------------------------------------------------------------------------------------


def test_hashes_of_secret_and_split_are_public_from_the_start(client, shapes):
    page = text_of(client.get(OVERVIEW))
    assert hashlib.sha256(bytes.fromhex(small.SECRET)).hexdigest() in page
    assert page.count(split_of(shapes).fingerprint) >= 2
    assert small.SECRET not in page


def test_hash_of_the_secret_is_shown_before_the_dataset_is_made(client, db):
    begun = small.begun("begun")
    assert split_of(begun).secret_sha256 in text_of(client.get("/datasets/begun/"))


def test_owner_sees_the_secret_and_that_others_do_not_see_it(as_owner, shapes):
    page = text_of(as_owner.get(OVERVIEW))
    assert "which only you and staff see" in page
    assert small.SECRET in page


@pytest.mark.full
@pytest.mark.slow
def test_the_command_on_the_overview_gives_the_same_fingerprint_on_another_site(
    as_owner, client, tmp_path, migrated_environment, shapes
):
    as_owner.post(OPEN)
    page = text_of(client.get(OVERVIEW))
    assert "The answers of test are open since" in page
    (script,) = re.findall(r"<code>(python manage.py generate .*)</code>", page)
    assert f"--secret test={small.SECRET}" in script
    (tmp_path / "shapes.json").write_bytes(client.get(OVERVIEW + "spec.json").content)

    def run(*command: str) -> str:
        there = {"cwd": tmp_path, "env": migrated_environment, "check": True, "capture_output": True, "text": True}
        return subprocess.run([sys.executable, str(settings.BASE_DIR / "manage.py"), *command], **there).stdout

    assert run(*shlex.split(script)[2:], "--no-images").split()[-1] == shapes.fingerprint


def test_without_the_secret_the_split_is_different(shapes):
    again = dataset_jobs.start(small.SPEC, slug="again", images=False)
    dataset_jobs.work(dataset=again)
    hashes = [{split.name: split.fingerprint for split in one.splits.all()} for one in (shapes, again)]
    assert {name for name in hashes[0] if hashes[0][name] == hashes[1][name]} == {"train", "val"}
