"""API of questions and their scenes, as far as the user may see them."""

from collections.abc import Collection, Sequence
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Router

from generation.access import What, may_see
from generation.browsing.navigation import read_filters, visible_facets
from generation.browsing.sidebar import page_of
from generation.browsing.stories import lines_of
from generation.engine.errors import EngineError
from generation.engine.formats import value_of
from generation.engine.worlds.story_text import prompt_of
from generation.models import Question, Scene, Split
from generation.splits.query_string import PAGE as PAGE_NAME
from generation.splits.query_string import BadAddress, Query, QueryString, read_query
from generation.storage import items
from generation.storage.items import engine_question
from generation.storage.split_index import IndexedFacet, SplitIndex
from generation.views.access_checks import find_split
from webapp.api.datasets import split_url
from webapp.api.openapi_operations import reads
from webapp.api.pagination import PAGE, SIZE_NAME, SIZED, WORDS, keeping, page_json, page_size_of
from webapp.api.schemas import common

router = Router(tags=["Questions"])
SPLIT = "datasets/{slug:slug}/splits/{split:name}/"
ABSENT = "There is no such question."


@reads(router, SPLIT + "questions/", common.PageOut[common.QuestionOut], parameters=[WORDS, PAGE, SIZED])
def questions(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return a page of a split's questions, in order.

    Filters are those of the split's page, each by a facet's name: `?type=count&type=exist&length=8..12&q=metal`. The
    split lists its facets.
    """
    found = find_split(request.user, slug, name)
    if not found.is_complete:
        raise Http404(f"Expected a complete split, got {found}, whose state is {found.get_state_display()}.")
    index = SplitIndex.open(found)
    facets = visible_facets(request.user, found, index)
    size, asked = page_size_of(QueryString.of(request))
    query = read_filters(asked, user=request.user, split=found, index=index)
    positions = index.select(query.filters, query.each_word)
    page = page_of(query, len(positions), size=size)
    allowed = allowed_of(request, found)
    shown = items.in_full(found, positions[page.start : page.stop].tolist())
    answer = page_json(request, page, [question_json(found, row, allowed=allowed, facets=facets) for row in shown])
    return keeping(answer, size)


@reads(router, SPLIT + "questions/{position:number}/", common.QuestionInFull)
def question(request: HttpRequest, slug: str, name: str, number: int) -> dict[str, Any]:
    """Return one question by its position in the split."""
    found = find_split(request.user, slug, name)
    row = items.question_at(found, number)
    if row is None:
        raise Http404(ABSENT)
    facets = visible_facets(request.user, found, SplitIndex.open(found)) if found.is_complete else []
    full = question_json(found, row, allowed=allowed_of(request, found), facets=facets)
    full |= _asking(found, row, lines=full.get("story"))
    if found.is_derived:
        full["parent_question_id"] = items.position_in_source(found, number)
    return full


@reads(router, SPLIT + "scenes/", common.PageOut[common.SceneOut], parameters=[PAGE, SIZED])
def scenes(request: HttpRequest, slug: str, name: str) -> dict[str, Any]:
    """Return a page of a split's scenes, in order."""
    found = _with_scenes(request, slug, name)
    size, asked = page_size_of(QueryString.of(request))
    if asked.without(PAGE_NAME).pairs:
        raise BadAddress(f"Expected only {PAGE_NAME} and {SIZE_NAME}, got {asked.pairs[0][0]!r}.")
    query: Query = read_query(asked.pairs, facets=())
    page = page_of(query, found.scenes if found.is_complete else 0, size=size, of="scenes")
    listed = list(Scene.objects.between(found, page.start, page.stop - page.start))
    return keeping(page_json(request, page, _scenes_json(request, found, listed)), size)


@reads(router, SPLIT + "scenes/{position:position}/", common.SceneOut)
def scene(request: HttpRequest, slug: str, name: str, position: int) -> dict[str, Any]:
    """Return one scene by its position."""
    found = _with_scenes(request, slug, name)
    listed = list(Scene.objects.between(found, position, 1))
    if not listed:
        raise Http404("There is no such scene.")
    return _scenes_json(request, found, listed)[0]


def allowed_of(request: HttpRequest, split: Split) -> frozenset[What]:
    return frozenset(what for what in What if may_see(request.user, split, what))


def question_json(
    split: Split, row: Question, *, allowed: Collection[What], facets: Sequence[IndexedFacet]
) -> dict[str, Any]:
    """Return a question as JSON data, with only what is in `allowed` and only these facets."""
    said: dict[str, Any] = {
        "question_id": row.position,
        "dataset": split.dataset.slug,
        "split": split.name,
        "question": row.text,
        "kind": row.kind,
        "scene": row.scene.position,
        "facets": _values(facets, row.position),
        "url": f"{split_url(split)}questions/{row.position}/",
        "page": f"{split.get_absolute_url()}q/{row.position}/",
    }
    told = {
        "family": row.family,
        "scope": row.scope,
        "image": image_url(split, row.scene) if What.IMAGE in allowed else None,
        "story": _lines(split, row) if What.STORY in allowed else None,
        "source_id": (row.source_id or None) if What.SCENE in allowed else None,
        "program": row.program_json if What.PROGRAM in allowed else None,
    }
    if What.ANSWER in allowed:
        told |= {"answer": row.answer, "answer_kind": row.answer_kind or None, "spelling": row.spelling}
    return said | {name: value for name, value in told.items() if value is not None}


def image_url(split: Split, scene: Scene) -> str | None:
    return f"{_scene_url(split, scene)}image" if scene.has_picture else None


def _scene_url(split: Split, scene: Scene) -> str:
    return f"{split_url(split.source)}scenes/{scene.position}/"


def _values(facets: Sequence[IndexedFacet], position: int) -> dict[str, Any]:
    codes = [(facet, int(facet.codes[position])) for facet in facets]
    return {facet.name: value_of(facet, code) for facet, code in codes if code != facet.none}


def _lines(split: Split, row: Question) -> list[str] | None:
    lines = lines_of(row.scene, split.dataset)
    return None if lines is None else list(lines[: row.scope])


def _asking(split: Split, row: Question, *, lines: Sequence[str] | None) -> dict[str, Any]:
    """Return how to ask a model the question; empty if this release does not have the split's world."""
    try:
        world, asked = split.dataset.get_world(), engine_question(row)
        spec = split.read_spec()
        form = world.answer_form(spec, asked)
        return {"prompt": prompt_of(world, spec, asked, lines), "choices": list(form.choices)}
    except EngineError:
        return {}


def _with_scenes(request: HttpRequest, slug: str, name: str) -> Split:
    """Return a split with its own scenes; raise `Http404` for a question set, which uses its parent's scenes."""
    found = find_split(request.user, slug, name)
    if found.is_derived:
        raise Http404(
            f"Expected a split that is not a question set, got {found}. Its scenes are those of {found.source}."
        )
    return found


def _scenes_json(request: HttpRequest, split: Split, listed: Sequence[Scene]) -> list[dict[str, Any]]:
    allowed = allowed_of(request, split)
    asked: dict[int, list[int]] = {scene.pk: [] for scene in listed}
    pairs = Question.objects.filter(scene__in=list(asked)).order_by("position").values_list("scene", "position")
    for key, position in pairs:
        asked[key].append(position)
    return [_scene_json(split, scene, questions=asked[scene.pk], allowed=allowed) for scene in listed]


def _scene_json(split: Split, scene: Scene, *, questions: list[int], allowed: Collection[What]) -> dict[str, Any]:
    said: dict[str, Any] = {
        "scene": scene.position,
        "dataset": split.dataset.slug,
        "split": split.name,
        "questions": questions,
        "url": _scene_url(split, scene),
    }
    if What.IMAGE in allowed and scene.has_picture:
        said |= {"image": image_url(split, scene), "width": scene.width, "height": scene.height}
    if What.IDS_IMAGE in allowed and scene.ids_image:
        said["ids_image"] = f"{_scene_url(split, scene)}ids"
    if What.STORY in allowed and (lines := lines_of(scene, split.dataset)) is not None:
        said["story"] = list(lines)
    if What.SCENE in allowed:
        told = {"data": scene.scene_json, "view": scene.view_json}
        said |= {name: value for name, value in told.items() if value is not None}
    return said
