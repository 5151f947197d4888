"""One question and its program, step by step."""

import re

import pytest

from generation.browsing.question import count_noun, graph
from generation.engine.program import Step, execute
from generation.models import Dataset, Question, Scene, Split
from generation.storage.items import item_of
from tests.generation import small
from tests.generation.small import read_ids

PAGE = "/datasets/shapes/train/q/5/"
WITHHELD = "/datasets/shapes/test/q/1/"


def text_of(response):
    return response.content.decode()


def asked(dataset, *, split="train", position=5):
    return Question.objects.select_related("scene", "split__dataset").get(
        split__dataset=dataset, split__name=split, position=position
    )


def traced(question):
    """Return the result of each step as the engine computes it."""
    dataset = question.split.dataset
    spec = dataset.read_spec().for_split(question.split.name)
    world = dataset.get_world()
    item = item_of(question.scene, world=world)
    return execute(question.steps, item.scene, table=world.functions(spec))


def test_page_shows_picture_text_answer_program_and_objects(client, shapes):
    question = asked(shapes)
    response = client.get(PAGE)
    page = text_of(response)
    assert page.count("<h1") == 1
    assert question.text in page
    assert f"<b>{question.answer}</b>" in page
    assert page.count('id="step-') == len(question.steps)
    assert len(response.context["shown"].elements) == len(question.scene.scene_json["objects"])
    assert 'class="outlines"' not in page


def test_every_step_outlines_exactly_the_visible_objects_that_it_points_at(client, shapes):
    question = asked(shapes)
    seen = set((read_ids(question.scene).ravel() - 1).tolist())
    for number, step in enumerate(traced(question)):
        page = text_of(client.get(PAGE, {"step": number}))
        outlined = {int(one) for one in re.findall(r'data-element="(\d+)"', page)}
        assert outlined == set(step.elements) & seen
        assert page.count('aria-current="step"') == 1


def test_every_step_shows_its_result(client, shapes):
    question = asked(shapes)
    rows = client.get(PAGE).context["shown"].rows
    for row, step in zip(rows, traced(question), strict=True):
        if step.type == "ObjectSet":
            assert row.outcome == count_noun(len(step.elements), "object")
        assert [element.id for element in row.elements] == list(step.elements)
    assert rows[-1].outcome == question.answer


def test_steps_link_to_the_next_and_the_previous_step(client, shapes):
    last = len(asked(shapes).steps) - 1
    player = [client.get(PAGE, query).context["player"] for query in ({}, {"step": 1}, {"step": last})]
    assert [(one.previous, one.following) for one in player] == [(None, 0), (0, 2), (last - 1, None)]


@pytest.mark.parametrize("step", ["99", "-1", "x", "", "1.5", "9" * 5000, "²"])
def test_an_unknown_step_gets_400_with_a_message(client, shapes, step):
    response = client.get(PAGE, {"step": step})
    assert response.status_code == 400
    assert "Expected a step from 0 to" in text_of(response)


def test_a_question_past_the_end_gets_404_with_a_message(client, shapes):
    response = client.get("/datasets/shapes/train/q/16/")
    assert response.status_code == 404
    assert "from 0 to 15, got 16" in text_of(response)


@pytest.mark.parametrize(
    "address",
    [
        "/datasets/shapes/train/q/x/",
        "/datasets/shapes/train/q/-1/",
        "/datasets/shapes/train/q/99999999999/",
        "/datasets/shapes/nothing/q/0/",
        "/datasets/nothing/train/q/0/",
    ],
)
def test_an_unknown_question_gets_404(client, shapes, address):
    assert client.get(address).status_code == 404


def test_neighbours_and_the_other_questions_of_the_scene_are_linked(client, shapes):
    page = text_of(client.get(PAGE))
    for position in (4, 6, 7):
        assert f'href="/datasets/shapes/train/q/{position}/"' in page
    assert client.get("/datasets/shapes/train/q/0/").context["trail"].previous is None
    assert client.get("/datasets/shapes/train/q/15/").context["trail"].following is None


def test_facts_link_to_the_questions_that_share_them(client, shapes):
    for fact in client.get(PAGE).context["facts"]:
        for value in fact.values:
            found = client.get(value.address)
            assert 5 in [one.position for group in found.context["groups"] for one in group.questions]


def test_each_fact_is_shown_once_with_all_its_values(client, shapes):
    labels = [fact.facet.label for fact in client.get(PAGE).context["facts"]]
    assert len(labels) == len(set(labels))
    assert text_of(client.get(PAGE)).count("<dt>Spatial relations</dt>") == 1


def test_a_withheld_question_shows_only_picture_text_and_facets_that_reveal_nothing(client, as_stranger, shapes):
    question = asked(shapes, split="test", position=1)
    for who in (client, as_stranger):
        response = who.get(WITHHELD)
        page = text_of(response)
        assert question.text in page
        assert "are withheld" in page
        assert 'class="the-answer"' not in page
        assert 'class="answer"' not in page
        assert 'id="step-' not in page
        assert "Objects" not in page
        plain = {"group", "type", "template", "length", "words", "topology", "spatial", "same", "skeleton"}
        seen = {"seen_text", "seen_program", "seen_skeleton", "seen_pair"}
        assert {fact.facet.name for fact in response.context["facts"]} == plain | seen
        assert "<img" in page


def test_a_step_of_a_withheld_program_is_refused(client, shapes):
    response = client.get(WITHHELD + "?step=0")
    assert response.status_code == 400
    assert "outlines" not in text_of(response)


def test_the_owner_sees_what_is_withheld(as_owner, shapes):
    page = text_of(as_owner.get(WITHHELD + "?step=0"))
    assert 'class="the-answer"' in page
    assert 'class="outlines"' in page


def test_strangers_get_404_for_a_private_dataset(client, as_stranger, private):
    assert client.get(PAGE).status_code == 404
    assert as_stranger.get(PAGE).status_code == 404


def test_the_page_of_a_question_without_picture_says_so_and_shows_the_program(client, db):
    dataset = small.made("bare", with_images=False)
    page = text_of(client.get("/datasets/bare/train/q/5/?step=0"))
    assert "made without pictures" in page
    assert 'id="step-0"' in page
    assert "Column, row" not in page
    assert dataset.with_images is False


def test_a_question_without_program_and_answer_shows_neither(client, shapes):
    Question.objects.filter(pk=asked(shapes).pk).update(program=None, answer=None)
    response = client.get(PAGE)
    page = text_of(response)
    assert response.status_code == 200
    assert 'id="program"' not in page
    assert 'class="the-answer"' not in page
    assert "withheld" not in page


def test_the_page_says_why_a_program_cannot_be_run(client, shapes):
    Question.objects.filter(pk=asked(shapes).pk).update(
        program='[{"function":"scene","inputs":[],"value_inputs":[]},'
        '{"function":"unique","inputs":[0],"value_inputs":[]}]'
    )
    page = text_of(client.get(PAGE))
    assert "can't be run" in page
    assert "Expected exactly one object" in page


def test_a_question_of_an_unknown_world_shows_picture_and_answer(client, shapes):
    Dataset.objects.filter(pk=shapes.pk).update(world="vanished")
    page = text_of(client.get(PAGE))
    assert "can&#x27;t be run" in page or "can't be run" in page
    assert 'class="the-answer"' in page
    assert "<img" in page


def test_without_object_ids_the_program_is_shown_without_outlines(client, shapes):
    Scene.objects.filter(pk=asked(shapes).scene_id).update(ids_image="gone/away.png")
    page = text_of(client.get(PAGE + "?step=0"))
    assert 'id="step-0"' in page
    assert "outlines" not in page


def test_a_finished_question_of_an_incomplete_split_is_shown(client, shapes):
    Split.objects.filter(dataset=shapes, name="train").update(state=Split.State.MAKING)
    assert client.get(PAGE).status_code == 200
    response = client.get("/datasets/shapes/train/q/99/")
    assert response.status_code == 404
    assert "isn&#x27;t made yet" in text_of(response)


def test_other_verbs_are_refused(client, shapes):
    assert client.post(PAGE).status_code == 405


def test_page_needs_five_queries(client, shapes, django_assert_num_queries):
    """Two of them ask whether people and methods have answered the question."""
    client.get(PAGE)  # the spec is read once per process
    for query in ("", "?step=2"):
        with django_assert_num_queries(5):
            client.get(PAGE + query)


def test_branches_of_a_program_are_side_by_side():
    lines = graph(
        (
            Step("scene"),
            Step("filter_size", (0,), ("large",)),
            Step("count", (1,)),
            Step("scene"),
            Step("count", (3,)),
            Step("less_than", (2, 4)),
        )
    )
    first, second = lines[0].node, lines[3].node
    assert [one.node for one in lines] == [first, first, first, second, second, first]
    assert lines[3].passes == (first,)
    assert lines[5].joins == (first, second)
    assert [one.goes_on for one in lines] == [True] * 5 + [False]


def test_a_step_that_is_used_twice_keeps_its_lane_until_its_last_use():
    lines = graph((Step("scene"), Step("count", (0,)), Step("exist", (0,)), Step("both", (1, 2))))
    assert lines[1].node != lines[0].node
    assert lines[0].node in lines[1].passes
    assert lines[2].joins == (lines[0].node,)


def test_pages_work_for_a_world_without_functions(client, db):
    from generation.making import dataset_jobs
    from tests.generation import fake_world

    dataset = dataset_jobs.start({**fake_world.PRESET}, slug="rows", visibility="public", secrets={"test": "0f" * 16})
    dataset_jobs.work(dataset=dataset)
    assert Dataset.objects.get(slug="rows").state == Dataset.State.COMPLETE
    response = client.get("/datasets/rows/train/q/0/")
    assert response.status_code == 200
    assert response.context["shown"].rows == []
    assert len(response.context["shown"].elements) == 4
    assert client.get("/datasets/rows/train/?has=zero&total=1..30").status_code == 200
    assert client.get("/datasets/rows/").status_code == 200


def test_the_page_shows_the_shortest_equivalent_question_if_it_is_shorter(client, shapes):
    shorter = longer = 0
    dataset = asked(shapes).split
    for position in range(16):
        question = asked(shapes, position=position)
        item = item_of(question.scene, world=shapes.get_world())
        found = shapes.get_world().equivalent(dataset.read_spec(), item, question.steps)
        page = text_of(client.get(f"/datasets/shapes/train/q/{position}/"))
        assert page.index("<h1") < page.index('id="equivalent"') < page.index('id="picture"')
        assert (f'<p class="asked-so" lang="en" dir="auto">{found.text}</p>' in page) == (
            len(found.program) < len(question.steps)
        )
        assert ('class="hint known"' in page) == bool(found.known)
        shorter += len(found.program) < len(question.steps)
        longer += len(found.program) == len(question.steps)
    assert shorter and longer


def test_the_shortest_equivalent_question_is_hidden_with_the_answer(client, shapes):
    assert 'id="equivalent"' in text_of(client.get(PAGE))
    assert 'id="equivalent"' not in text_of(client.get(PAGE, {"ask": "on"}))
    assert 'id="equivalent"' not in text_of(client.get(WITHHELD))
