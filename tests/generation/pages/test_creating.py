"""The page for a new dataset: access, form and JSON, presets, errors, and creating the dataset."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from generation.engine.worlds import find_preset
from generation.models import Dataset, Quota
from generation.specs.editor import text_of
from tests.generation import small
from tests.generation.pages.drafting import NEW, TINY, json_on, sent, summary_of, text
from tests.generation.pages.hostile import HOSTILE
from tests.proof import sample
from webapp.models import User

pytestmark = pytest.mark.django_db


# Access ---------------------------------------------------------------------------------------------------


def test_visitors_are_asked_to_sign_in(client: Client) -> None:
    response = client.get(NEW)
    assert (response.status_code, response["Location"].startswith("/accounts/login/")) == (302, True)


@pytest.mark.parametrize("verb", ["get", "post"])
def test_members_are_told_whom_to_ask(client: Client, verb: str) -> None:
    client.force_login(User.objects.create_user("member"))
    response = getattr(client, verb)(NEW, sent() if verb == "post" else None)
    assert response.status_code == 403
    assert "Ask the staff" in text(response)
    assert not Dataset.objects.exists()


def test_staff_are_researchers_too(client: Client) -> None:
    client.force_login(User.objects.create_user("boss", is_staff=True))
    assert client.get(NEW).status_code == 200


def test_other_verbs_are_refused(page: Client) -> None:
    assert page.put(NEW).status_code == 405


def test_the_list_links_to_the_page_only_for_researchers(page: Client, client: Client) -> None:
    assert [NEW in text(who.get("/datasets/")) for who in (page, client)] == [True, False]


# All errors are shown at once -------------------------------------------------------------------------------


def links_of(response: Any) -> list[str]:
    """Return the ids of the fields that the summary of errors links to; check that each is on the page."""
    shown = text(response)
    targets = re.findall(r'href="#([^"]+)"', summary_of(response))
    assert [target for target in targets if f'id="{target}"' not in shown] == []
    return targets


def test_all_errors_are_shown_at_once_with_a_link_to_each_field(page: Client) -> None:
    wrong = {"slug": "a b", "licence": "x" * 500, "seed": "-1", "scene.objects_max": "x", "split-0-name": "train"}
    spec = {**TINY, "splits": {"train": {"scenes": 0}}}
    response = page.post(NEW, sent(spec, action="create", **wrong, **{"split-0-was": "train", "split-0-scenes": "-4"}))
    assert response.status_code == 400
    assert links_of(response) == [
        "id_slug",
        "id_licence",
        "split-0-scenes",
        "parameter-seed",
        "parameter-scene.objects_max",
    ]
    assert "more to mend" not in text(response)


def test_a_limit_of_the_site_is_shown_with_other_errors(page: Client) -> None:
    response = page.post(NEW, sent(action="preview", **{"scene.objects_max": "999999", "seed": "-1"}))
    assert set(links_of(response)) == {"parameter-scene.objects_max", "parameter-seed"}


def test_invalid_json_and_an_empty_name_are_shown_together(page: Client) -> None:
    assert links_of(page.post(NEW, sent(action="create", slug="", spec="{"))) == ["id_slug", "spec"]


def test_an_unknown_base_and_an_empty_name_are_shown_together(page: Client) -> None:
    assert links_of(page.post(NEW, sent({**TINY, "base": "zebra"}, action="create", slug=""))) == ["id_slug", "spec"]


def test_a_preview_shows_only_errors_of_the_spec(page: Client) -> None:
    assert links_of(page.post(NEW, sent(action="preview", slug="", seed="-1"))) == ["parameter-seed"]


# Presets, and where the page scrolls to after a request -----------------------------------------------------


def test_presets_are_grouped_by_world_and_folded_once_one_is_chosen(page: Client) -> None:
    first, chosen = page.get(NEW), page.get(NEW, {"preset": "babi"})
    worlds = [group.world for group in first.context["worlds"]]
    assert worlds[0] == "CLEVR"
    assert {"ShapeWorld", "bAbI"} < set(worlds)
    assert '<details class="preset-choice" open>' in text(first)
    assert '<details class="preset-choice">' in text(chosen)
    assert chosen.context["chosen"].name == "babi"
    for action in ("form", "create"):
        back = page.post(NEW, sent(action=action, slug="", preset="clevr-mini"))
        assert '<details class="preset-choice">' in text(back)
        assert back.context["chosen"].name == "clevr-mini"


def test_an_unknown_preset_in_a_form_is_forgotten(page: Client) -> None:
    assert page.post(NEW, sent(action="form", preset="zebra")).context["chosen"] is None


def test_the_page_scrolls_to_what_is_new(page: Client) -> None:
    assert f'action="{NEW}#arrive"' in text(page.get(NEW))
    assert 'id="arrive"' not in text(page.get(NEW))
    for action, place in (("preview", 'class="preview" id="arrive"'), ("form", "data-arrive")):
        assert place in text(page.post(NEW, sent(action=action)))
    assert 'id="arrive"' in text(page.post(NEW, sent(action="create", slug="")))


# The form --------------------------------------------------------------------------------------------------


def test_the_page_shows_presets_parameters_and_json(page: Client) -> None:
    shown = text(page.get(NEW))
    for part in ("?preset=clevr-mini", 'name="scene.objects_max"', 'name="seed"', "All settings", 'value="clevr-mini"'):
        assert part in shown
    assert shown.index('name="scene.min_pixels"') < shown.index("All settings") < shown.index('name="scene.margin"')


def test_a_preset_fills_the_form(page: Client) -> None:
    response = page.get(NEW, {"preset": "clevr"})
    assert json_on(response) == find_preset("clevr")
    assert 'value="70000"' in text(response)


def test_an_unknown_preset_is_not_found(page: Client) -> None:
    assert page.get(NEW, {"preset": "zebra"}).status_code == 404


def test_the_page_needs_few_queries(page: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(13):
        page.get(NEW)


def test_a_taken_name_is_not_proposed(page: Client) -> None:
    small.begun("clevr-mini")
    assert page.get(NEW).context["about"].initial["slug"] == "clevr-mini-2"


def test_the_form_changes_the_json(page: Client) -> None:
    response = page.post(NEW, sent(action="form", **{"scene.objects_max": "5", "questions.degeneracy": "clevr"}))
    data = json_on(response)
    assert response.status_code == 200
    assert (data["scene"], data["questions"]["degeneracy"]) == ({"min_pixels": 0, "objects_max": 5}, "clevr")
    assert data["vocabulary"] == TINY["vocabulary"] if "vocabulary" in TINY else "vocabulary" not in data


def test_the_json_changes_the_form(page: Client) -> None:
    spec = text_of({**TINY, "seed": 12})
    response = page.post(NEW, sent(action="json", spec=spec, seed="0"))
    assert response.context["plain"]["seed"].value == "12"


def test_the_later_of_two_changes_counts(page: Client) -> None:
    both = {"spec": text_of({**TINY, "seed": 12}), "seed": "7", "action": "preview"}
    for last, seed in (("form", 7), ("json", 12)):
        response = page.post(NEW, sent(**both | {"action": last}))
        assert json_on(response)["seed"] == seed


def test_two_changes_without_an_order_are_refused(page: Client) -> None:
    response = page.post(NEW, sent(action="create", spec=text_of({**TINY, "seed": 12}), seed="7"))
    assert response.status_code == 400
    assert "Both the form and the JSON were changed" in text(response)
    assert not Dataset.objects.exists()


def test_full_size_presets_are_folded_behind_the_mini_ones(page: Client) -> None:
    response = page.get(NEW)
    clevr = response.context["worlds"][0]
    plain = ["clevr", "clevr-cogent", "clevr-length", "clevr-skeleton"]
    assert [card.name for card in clevr.cards] == [f"{name}-mini" for name in plain]
    assert [card.name for card in clevr.full_size] == plain
    assert "Full size: 4 presets" in text(response)
    for group in response.context["worlds"]:
        mini = [card for card in (*group.cards, *group.full_size) if card.name.endswith("-mini")]
        assert not mini or group.cards == mini
    for card in (*clevr.cards, *clevr.full_size):
        assert page.get(NEW, {"preset": card.name}).status_code == 200


def test_each_preset_shows_its_thumbnail(page: Client) -> None:
    shown = text(page.get(NEW))
    assert "presets/clevr-mini.webp" in shown
    assert "Mary went over to the garden." in shown


def test_the_form_shows_rules_as_lines_under_all_settings(page: Client) -> None:
    shown = text(page.get(NEW, {"preset": "clevr-skeleton-mini"}))
    assert shown.index("All settings") < shown.index('name="scene.only"') < shown.index('name="questions.never"')
    assert ">\nskeleton=scene-unique-query_color,scene-filter-unique-query_material," in shown
    assert "The JSON also changes questions.never, questions.only for this split." in shown


def test_rules_are_written_as_lines(page: Client) -> None:
    rules = {"scene.never": "shape=cube color=red,blue\r\nsize=small", "questions.only": "length=..8"}
    response = page.post(NEW, sent(action="form", **rules))
    data = json_on(response)
    assert response.status_code == 200
    assert data["scene"]["never"] == [{"shape": ["cube"], "color": ["red", "blue"]}, {"size": ["small"]}]
    assert data["questions"]["only"] == [{"length": ["..8"]}]
    cleared = page.post(NEW, sent(data, action="form", **{"scene.never": "", "questions.only": ""}))
    assert json_on(cleared) == TINY


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("scene.only", "shape=cube\ncolor=pink", "Rule 2, color: Expected one of blue, brown"),
        (
            "scene.never",
            "just cubes",
            "Rule 1: Expected rules about size, color, material, shape, got &#x27;just cubes&#x27;",
        ),
        ("questions.only", "length=99..", "Rule 1, length: Expected a number of 0.."),
        ("questions.only", "template=84", "Expected rules that leave 4 families to ask"),
        ("questions.never", "[3]", "Rule 1: Expected"),
    ],
)
def test_a_wrong_rule_is_marked_where_it_was_typed(page: Client, field: str, typed: str, said: str) -> None:
    response = page.post(NEW, sent(action="create", **{field: typed}))
    assert response.status_code == 400
    assert said in text(response)
    assert f'aria-describedby="parameter-{field}-error"' in text(response)
    assert not Dataset.objects.exists()


def test_an_emptied_parameter_gets_its_default_again(page: Client) -> None:
    response = page.post(NEW, sent(action="form", **{"scene.min_pixels": ""}))
    assert "scene" not in json_on(response)


def test_splits_are_renamed_withheld_added_and_left_out(page: Client) -> None:
    data = {**TINY, "splits": {"train": {"scenes": 4, "overrides": {"seed": None}}, "val": {"scenes": 2}}}
    data["splits"]["train"]["overrides"] = {"scene": {"objects_max": 4}}
    rows = {
        "split-0-was": "train",
        "split-0-name": "trainA",
        "split-0-scenes": "6",
        "split-0-withheld": "on",
        "split-1-was": "val",
        "split-1-name": "",
        "split-1-scenes": "2",
        "split-2-was": "",
        "split-2-name": "extra",
        "split-2-scenes": "3",
        "split-2-reference": "trainA",
    }
    splits = json_on(page.post(NEW, sent(data, action="form", **rows)))["splits"]
    assert list(splits) == ["trainA", "extra"]
    assert splits["trainA"] == {"scenes": 6, "overrides": {"scene": {"objects_max": 4}}, "withheld": True}
    assert splits["extra"] == {"scenes": 3, "reference": "trainA"}


def test_a_split_of_the_base_can_be_left_out(page: Client) -> None:
    rows = {"split-0-was": "train", "split-0-name": "train", "split-0-scenes": "60"}
    response = page.post(NEW, sent({"world": "clevr", "base": "clevr-mini"}, action="form", **rows))
    assert list(response.context["draft"].spec.splits) == ["train"]


# What is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("scene.objects_max", "500", "Expected at most 40 objects in a scene, got 500."),
        ("images.width", "9999", "Expected at most 1,024 pixels of a picture&#x27;s width or height, got 9,999."),
        ("scene.objects_min", "many", "Expected a valid integer, got &quot;many&quot;."),
        ("questions.degeneracy", "<script>", "got &quot;&lt;script&gt;&quot;"),
        ("seed", "-1", "Expected greater than or equal to 0, got -1."),
        ("seed", "9" * 400, "Expected a valid integer"),
        ("scene.margin", "1e999", "Expected a valid number"),
    ],
)
def test_a_wrong_parameter_is_marked_with_the_engines_message(page: Client, name: str, value: str, words: str) -> None:
    response = page.post(NEW, sent(action="create", **{name: value}))
    shown = text(response)
    assert response.status_code == 400
    place = shown.index(f'name="{name}"')
    assert words in shown[place : place + 900]
    assert not Dataset.objects.exists()


@pytest.mark.parametrize("spec", sample(HOSTILE, gate=9))
@pytest.mark.parametrize("action", ["json", "create"])
def test_hostile_json_is_refused_with_a_page(page: Client, spec: str, action: str) -> None:
    response = page.post(NEW, sent(action=action, spec=spec))
    assert response.status_code == 400
    assert "root:" not in text(response)
    again = page.post(
        NEW, {**sent(action="form"), "shown": response.context["shown"], "spec": response.context["shown"]}
    )
    assert again.status_code in (200, 302, 400)


def test_an_empty_form_is_refused(page: Client) -> None:
    assert page.post(NEW, {}).status_code == 400
    assert page.post(NEW, {"shown": "?", "spec": "?"}).status_code == 400


def test_hostile_text_is_escaped(page: Client) -> None:
    nasty = '</textarea><script>alert(1)</script>" onfocus="x'
    response = page.post(NEW, sent({**TINY, "title": nasty}, action="create", authors=nasty, citation=nasty))
    assert response.status_code == 302
    shown = text(page.get("/datasets/mine/"))
    assert "<script>alert" not in shown and 'onfocus="x' not in shown
    again = page.post(NEW, sent({**TINY, "title": nasty}, action="form", authors=nasty))
    assert "<script>alert" not in text(again)


@pytest.mark.parametrize("slug", ["", "new", "Größe", "a b", "x" * 61, "-a", "../x"])
def test_a_wrong_name_is_marked(page: Client, slug: str) -> None:
    response = page.post(NEW, sent(action="create", slug=slug))
    assert response.status_code == 400
    assert response.context["about"].errors["slug"]


def test_a_taken_name_is_marked(page: Client) -> None:
    small.begun("mine")
    response = page.post(NEW, sent(action="create"))
    assert (response.status_code, "which already exists" in text(response)) == (400, True)


# Creating --------------------------------------------------------------------------------------------------


def test_creating_starts_the_jobs_and_leads_to_their_progress(page: Client, researcher: User) -> None:
    about = {"authors": "Ada\nBob", "version": "2", "citation": "Ada 2026", "visibility": "link"}
    response = page.post(NEW, sent(action="create", **about, title="Mine", description="About it"))
    assert (response.status_code, response["Location"]) == (302, "/datasets/mine/#making")
    dataset = Dataset.objects.get(slug="mine")
    assert (dataset.owner, dataset.visibility, dataset.licence) == (researcher, "link", "CC BY 4.0")
    assert (dataset.title, dataset.description, dataset.authors) == ("Mine", "About it", "Ada\nBob")
    assert dataset.jobs.filter(state="waiting").count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_requests_at_once_cannot_exceed_the_quota(page: Client, researcher: User) -> None:
    Quota.objects.create(user=researcher, scenes=7)
    with ThreadPoolExecutor(2) as threads:
        codes = threads.map(lambda slug: _created(page, slug), ("one", "two"))
        assert sorted(codes) == [302, 400]
    assert Dataset.objects.count() == 1


def _created(page: Client, slug: str) -> int:
    client = Client()
    client.cookies = page.cookies
    try:
        return client.post(NEW, sent(action="create", slug=slug)).status_code
    finally:
        connection.close()


def test_a_dataset_can_be_made_without_pictures(page: Client) -> None:
    fields = sent(action="create")
    del fields["images"]
    page.post(NEW, fields)
    assert not Dataset.objects.get(slug="mine").with_images
