"""Strange requests: each gets a message on every database, and no unknown parameter is ignored."""

import io
import json
import random
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from annotations.answering.throttle import Throttle
from generation.models import Split
from generation.splits.query_string import BadAddress, check_names
from generation.storage.split_index import SplitIndex
from tests.leaderboards import sent
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from tests.proof import size
from tests.webapp.api.conftest import program_of
from tests.webapp.api.test_frame import error_of
from webapp.api import authentication
from webapp.leaderboards.board_lookup import suite_named
from webapp.leaderboards.forms import split_named
from webapp.leaderboards.models import Method, Submission
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undrawn")]

BOARD, API = "/leaderboards/read/val/", "/api/v1/boards/read/val/"
SIDES = ("slices/", "compare/", "pairs/", "confusion/", "costs/", "curves/", "steps/", "questions/")
FILES = (
    "board.csv",
    "board.json",
    "board.tex",
    "slices.csv",
    "slices.json",
    "compare.csv",
    "curves.csv",
    "pairs.csv",
    "confusion.json",
)
NAMES = (
    "page",
    "q",
    "show",
    "made",
    "sort",
    "by",
    "view",
    "bands",
    "panel",
    "entry",
    "along",
    "target",
    "type",
    "x\0",
)
NAMES += ("ranks", "weights", "weigh", "weight.count", "right", "given", "unread", "most")
VALUES = (
    *("", " ", "\0", "a\0b", "é😀", "\u202e", "x" * 5000, "-1", "0", "9" * 9, "9" * 10, "9" * 25, "1e309", "nan"),
    *("٣", "²", "..", "1..", "1..2..3", "٣..٤", "<b>", "%", "../../etc/passwd", "m1-1-1-1", "m" + "9" * 18, "h1"),
    *("s1--", "\r\nA: b"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_throttle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the limit of requests from one address."""
    monkeypatch.setattr(authentication, "throttle", Throttle(10**9, 60.0))


@pytest.fixture
def maker(db: None) -> User:
    return User.objects.create_user("maker", "maker@example.org", "x")


@pytest.fixture
def rows(val: Split, maker: User) -> list[Submission]:
    """Give two rows of val's board."""
    index = SplitIndex.open(val)
    return [submit(method(maker, name), val, noisy(index, 0.4, seed=len(name))) for name in ("Good", "Bad")]


def test_every_strange_address_gets_a_page_or_a_message(rows: list[Submission]) -> None:
    chance, client = random.Random(6), Client()
    where = [BOARD, API, *(f"{start}{side}" for start in (BOARD, API) for side in SIDES)]
    where += [f"{BOARD}{file}" for file in FILES]
    chosen = [("entry", f"m{row.method_id}") for row in rows]
    plain = [f"{place}?{urlencode([(name, 'x'), *chosen])}" for place in where for name in NAMES]
    addresses = chance.sample(plain, size(len(plain), name="addresses of boards with one wrong value", least=100))
    for _ in range(size(4000, name="strange addresses of boards")):
        pairs = [(chance.choice(NAMES), chance.choice(VALUES)) for _ in range(chance.choice((1, 1, 2)))]
        addresses.append(f"{chance.choice(where)}?{urlencode([*pairs, *chance.choice(([], chosen))])}")
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code in (200, 400, 404, 422), address
        if answer.status_code != 200:
            assert b"xpected" in answer.content, address


@pytest.mark.parametrize("page", ["", *SIDES, *FILES])
def test_an_unknown_parameter_is_refused(rows: list[Submission], page: str) -> None:
    answer = Client().get(f"{BOARD}{page}?method=5")
    assert answer.status_code == 400
    assert "&#x27;method&#x27;" in answer.content.decode()


@pytest.mark.parametrize("part", ["", *SIDES])
def test_the_api_refuses_unknown_parameters_too(rows: list[Submission], part: str) -> None:
    answer = Client().get(f"{API}{part}?method=5")
    assert answer.status_code == 400
    assert "'method'" in error_of(answer)["message"]


def test_parameters_are_compared_with_the_known_ones() -> None:
    check_names([], [])
    check_names(["b", "a"], ["a", "b"])
    with pytest.raises(BadAddress, match="Expected a, b in the address, got 'c'"):
        check_names(["a", "c"], ["a", "b"])


@pytest.mark.parametrize("kind", ["csv", "json", "tex"])
def test_a_table_can_be_sorted_only_by_columns_of_its_board(rows: list[Submission], kind: str) -> None:
    assert Client().get(f"{BOARD}board.{kind}?sort=count").status_code == 200
    answer = Client().get(f"{BOARD}board.{kind}?sort=nothing")
    assert answer.status_code == 400
    assert "Expected to sort by one of" in answer.content.decode()


@pytest.mark.parametrize("file", ["board.x", "template.x", "slices.x", "compare.x", "curves.x", "/suites/all/board.x"])
def test_an_unknown_kind_of_file_is_refused_with_the_known_kinds(val: Split, file: str) -> None:
    sent.suite_of("all", val)
    answer = Client().get(file if file.startswith("/") else f"{BOARD}{file}")
    assert answer.status_code == 404
    assert "Expected one of" in answer.content.decode()


@pytest.mark.parametrize("to", ["", "read", "read/none", "suite/none", "suite/\0", "\0/val", "read/" + "x" * 3000])
def test_a_submission_to_an_unknown_split_gets_a_hint_how_to_begin(val: Split, maker: User, to: str) -> None:
    client = Client()
    client.force_login(maker)
    answer = client.get(f"/submissions/new/?{urlencode({'to': to})}")
    assert answer.status_code == 404
    assert "Open a board" in answer.content.decode()


def test_a_name_with_a_nul_is_not_looked_up(val: Split, maker: User, django_assert_num_queries: Any) -> None:
    sent.suite_of("both", val)
    with django_assert_num_queries(0):
        assert suite_named(maker, "both\0") is None
    assert suite_named(maker, "both") is not None
    for text in ("read/val\0", "read\0/val", "\0"):
        with pytest.raises(ValidationError):
            split_named(maker, text)


def test_a_name_with_a_nul_does_not_match_another_name(val: Split, maker: User) -> None:
    made, program = method(maker, "Mine"), program_of(maker)
    right = {"method": made.name, "split": "read/val"}
    sent.suite_of("both", val)
    for slip in ({"split": "read/\0val"}, {"method": "Mine\0"}, {"method": "\0"}, {"split": "", "suite": "both\0"}):
        file = sent.as_file(sent.truth_of(val))
        file.name = "answers.json"
        answer = program.post("/api/v1/submissions/", {**right, **slip, "file": file})
        assert answer.status_code == 404, slip
        assert "xpected" in error_of(answer)["message"]
    assert not Submission.objects.exists()
    assert program.get("/api/v1/suites/both%00/").status_code == 404


@pytest.mark.parametrize("field", ["name", "description", "prompt", "model"])
def test_a_lone_surrogate_is_refused(maker: User, field: str) -> None:
    body = json.dumps({"name": "A method", field: "half \ud83d of one"})
    answer = program_of(maker).post(
        "/api/v1/methods/", io.BytesIO(body.encode()).read(), content_type="application/json"
    )
    assert answer.status_code == 422
    assert "half a character" in error_of(answer)["message"]
    assert not Method.objects.exists()


@pytest.mark.parametrize(
    "place",
    ["boards/{}/val/", "boards/{}/val/slices/", "suites/{}/", "datasets/{}/", "datasets/{}/splits/val/questions/"],
)
@pytest.mark.parametrize("name", ["%00", "read%00", "r%C3%A9ad", "a.b", "x" * 3000])
def test_a_bad_name_is_not_looked_up(place: str, name: str, db: None, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1 if name.startswith("x") else 0):
        answer = Client().get(f"/api/v1/{place.format(name)}")
    assert answer.status_code == 404
    assert error_of(answer)["code"] == "not_found"
