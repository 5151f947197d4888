"""The list of datasets: its pages, and the search words and filters in its address."""

from datetime import UTC, datetime, timedelta

import pytest

from generation.browsing.dataset import MOST_WORDS, PER_PAGE
from generation.models import Dataset, Split
from tests.proof import size

LIST = "/datasets/"
START = datetime(2026, 1, 1, tzinfo=UTC)


def text_of(response):
    return response.content.decode()


def slugs(response):
    return [card.dataset.slug for card in response.context["cards"]]


def rows(count, **values):
    """Store rows of datasets that have no content; later ones are newer."""
    return Dataset.objects.bulk_create(
        [
            Dataset(
                slug=f"set-{number}",
                title=f"Set {number}",
                world="clevr",
                spec="{}",
                visibility="public",
                created=START + timedelta(minutes=number),
                **values,
            )
            for number in range(count)
        ],
        batch_size=500,
    )


@pytest.fixture
def none(db):
    """Delete all datasets for the duration of a test; other tests of the module use one."""
    Dataset.objects.all().delete()


@pytest.fixture
def five(none, owner):
    """Give five datasets that differ in everything that the list is filtered by."""
    rows(5)
    change = Dataset.objects.filter
    change(slug="set-0").update(state="failed", description="Cubes, of RUBBER alone")
    change(slug="set-1").update(world="bricks", authors="Grace Hopper")
    change(slug="set-2").update(visibility="private", owner=owner, description="rubber")
    change(slug="set-3").update(state="cancelled", visibility="link", owner=owner)


def test_pages_follow_one_another_from_the_newest_to_the_oldest(client, none):
    rows(2 * PER_PAGE + 1)
    found, address = [], LIST
    while address:
        response = client.get(address)
        found += slugs(response)
        address = LIST + response.context["page"].next if response.context["page"].next else ""
    assert found == [f"set-{number}" for number in reversed(range(2 * PER_PAGE + 1))]
    assert 'aria-label="Pages"' in text_of(response)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=rubber", ["set-0"]),
        ("q=RUBBER+cubes", ["set-0"]),
        ("q=rubber+spheres", []),
        ("q=hopper", ["set-1"]),
        ("q=set-4", ["set-4"]),
        ("q=%25", []),
        ("world=clevr", ["set-4", "set-0"]),
        ("state=failed", ["set-0"]),
        ("state=failed&state=making", ["set-4", "set-1", "set-0"]),
        ("state=making&world=clevr", ["set-4"]),
        ("visibility=public", ["set-4", "set-1", "set-0"]),
        ("visibility=private", []),
        ("visibility=link", []),
        ("state=cancelled", []),
    ],
)
def test_filters_show_matching_datasets_and_no_hidden_ones(client, five, query, expected):
    assert slugs(client.get(f"{LIST}?{query}")) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [("q=rubber", ["set-2", "set-0"]), ("visibility=private", ["set-2"]), ("state=cancelled", ["set-3"])],
)
def test_the_owner_finds_her_own_hidden_datasets(client, five, owner, query, expected):
    client.force_login(owner)
    assert slugs(client.get(f"{LIST}?{query}")) == expected


def test_the_form_shows_active_filters_and_chips_remove_them(client, five, owner):
    client.force_login(owner)
    response = client.get(f"{LIST}?world=clevr&state=failed&q=rubber")
    page = text_of(response)
    assert '<option value="failed" selected>failed</option>' in page
    assert 'name="q" value="rubber"' in page
    assert [(chip.name, chip.value, chip.address) for chip in response.context["chips"]] == [
        ("world", "CLEVR", "?state=failed&q=rubber"),
        ("state", "failed", "?world=clevr&q=rubber"),
        ("words", "rubber", "?world=clevr&state=failed"),
    ]
    assert 'name="visibility"' in page


def test_empty_fields_of_the_form_are_removed_from_the_address(client, five):
    response = client.get(f"{LIST}?q=&world=&state=failed")
    assert (response.status_code, response["Location"]) == (302, f"{LIST}?state=failed")
    assert client.get(f"{LIST}?q=&world=&state=")["Location"] == LIST


def test_a_short_list_has_no_form_unless_it_is_filtered(client, shapes):
    assert 'role="search"' not in text_of(client.get(LIST))
    assert 'role="search"' in text_of(client.get(LIST + "?q=shapes"))


def test_an_empty_result_says_that_no_dataset_matches(client, shapes):
    assert "No dataset matches these filters" in text_of(client.get(LIST + "?q=zebra"))


def test_an_empty_list_tells_researchers_how_to_make_a_dataset(page, private):
    assert "Make the first one: the preset" in text_of(page.get(LIST))


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("?state=deleting", 400, "expected one of complete, making, failed, cancelled"),
        ("?world=zebra", 400, "expected one of"),
        ("?world=" + "x" * 10_000, 400, "expected one of"),
        ("?visibility=mine", 400, "expected one of public, link, private"),
        ("?owner=1", 400, "Expected a filter (world, state, visibility, q) or a page"),
        ("?spec__contains=1", 400, "Expected a filter"),
        ("?page=0", 400, "page number from 1"),
        ("?page=2", 404, "Expected a page from 1 to 1, got 2 (datasets: 1)."),
        ("?page=999999999", 404, "Expected a page from 1 to 1"),
        ("?page=" + "9" * 5000, 400, "page number from 1"),
        ("?q=" + "x" * 10_000, 400, "at most 200 characters, got 10,000"),
        ("?q=" + "a+" * (MOST_WORDS + 1), 400, f"at most {MOST_WORDS} words, got {MOST_WORDS + 1}"),
        ("?q=%00", 400, "zero character"),
        ("?%00=1", 400, "Expected a filter"),
    ],
)
def test_an_invalid_query_is_refused_with_a_message(client, shapes, query, status, says):
    response = client.get(LIST + query)
    assert response.status_code == status
    assert says in text_of(response)


def test_a_list_of_many_datasets_needs_five_queries(client, db, django_assert_num_queries):
    many = size(10_000, least=2 * PER_PAGE, name="datasets in one list")
    made = rows(many)
    Split.objects.bulk_create(
        [Split(dataset=dataset, name="train", ordinal=0, scenes=5, questions=50) for dataset in made], batch_size=500
    )
    for query in ("", f"?page={-(-many // PER_PAGE)}", "?q=set+9", "?state=making&world=clevr&page=2"):
        with django_assert_num_queries(5):
            assert client.get(LIST + query).status_code == 200
