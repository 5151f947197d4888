"""Pages, files and the API with replies: figures by hand, hostile texts, filters, and who may see them."""

import csv
import html
import io
import json
import re
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.models import Split
from tests.leaderboards import sent
from tests.leaderboards.replies import replied
from tests.proof import sample
from webapp.leaderboards.models import Method, Submission
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
BOARD = "/leaderboards/scored/val/"
HOSTILE = "\x1b[31m<script>alert(1)</script>\x00\u202eevil\u2066\r\nback\x08\x7f\x9b\U000e0041 “quoted” & done"
SEEN = "⟨ESC⟩[31m<script>alert(1)</script>⟨NUL⟩⟨U+202E⟩evil⟨U+2066⟩\nback⟨BS⟩⟨U+007F⟩⟨U+009B⟩⟨U+E0041⟩ “quoted” & done"


def page_of(client: Client, address: str, *, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status, response.content[:2000]
    return html.unescape(response.content.decode())


@pytest.fixture
def public(member: User) -> Method:
    return Method.objects.create(name="Public", owner=member, published="2026-01-01T00:00:00Z")


@pytest.fixture
def row(public: Method, val: Split) -> Submission:
    """Give a submission with replies to an open split."""
    return replied.submit(public, val, replied.answers_of(val), replied.records_of(val))


def test_a_board_shows_coverage_tokens_cost_and_latency(row: Submission, val: Split, member: User) -> None:
    other = Method.objects.create(name="Without", owner=member, published="2026-01-01T00:00:00Z")
    sent.submitted(other, val, sent.noisy(val, wrong=0.9))
    n = val.questions
    page = page_of(Client(), BOARD)
    for text in ("Among answered", "Tokens", "Cost", "Latency", f"{n - 4} of {n}", f"n = {n - 4},", "$1.00", "1.2 s"):
        assert text in page, text
    assert "Questions without an answer count as wrong" in page
    data = json.loads(Client().get(f"{BOARD}board.json").content)["rows"]
    mine, without = (next(one for one in data if one["name"] == name) for name in ("Public", "Without"))
    score = row.scores.get(split=val)
    assert score.right_answered is not None
    assert mine["usage"] == {
        "coverage": round((n - 4) / n, 6),
        "answered": n - 4,
        "asked": n,
        "tokens_per_question": score.tokens,
        "dollars_per_1000_questions": 1.0,
        "median_seconds": score.latency,
    }
    assert mine["among_answered"]["accuracy"] == round(score.right_answered / (n - 4), 6)
    assert mine["accuracy"]["accuracy"] == round(score.right / n, 6)
    assert without["usage"]["coverage"] == 1 and without["usage"]["tokens_per_question"] is None
    api = json.loads(Client().get("/api/v1/boards/scored/val/").content)["rows"]
    assert [[one[name] for name in ("usage", "among_answered")] for one in api] == [
        [one[name] for name in ("usage", "among_answered")] for one in data
    ]
    lines = list(csv.DictReader(io.StringIO(Client().get(f"{BOARD}board.csv").content.decode())))
    [line] = [line for line in lines if line["method"] == "Public"]
    assert float(line["coverage"]) == mine["usage"]["coverage"] and line["among_answered_n"] == str(n - 4)
    assert float(line["dollars_per_1000_questions"]) == 1
    tex = Client().get(f"{BOARD}board.tex").content.decode()
    assert r"\$1.00" in tex and "Cost of 1,000 questions" in tex


def test_runs_are_averaged(row: Submission, public: Method, val: Split) -> None:
    Submission.objects.filter(pk=row.pk).update(run="1")
    records = replied.records_of(val, incomplete={}, cost=0.003)
    replied.submit(public, val, replied.answers_of(val, incomplete={}), records, run="2")
    [found] = json.loads(Client().get(f"{BOARD}board.json").content)["rows"]
    n = val.questions
    assert found["usage"]["answered"] == n - 2 and found["usage"]["dollars_per_1000_questions"] == 2
    assert found["among_answered"]["n"] == n - 2 and found["among_answered"]["runs"] == 2


def test_a_board_without_replies_has_no_such_columns(public: Method, val: Split) -> None:
    sent.submitted(public, val, sent.noisy(val, wrong=0.3))
    page = page_of(Client(), BOARD)
    assert "Among answered" not in page and "Latency" not in page
    assert "coverage" not in Client().get(f"{BOARD}board.csv").content.decode().splitlines()[0]
    assert "Expected to sort by one of" in page_of(Client(), f"{BOARD}?sort=cost", status=400)


def test_rows_are_sorted_by_these_columns_the_best_first(member: User, val: Split) -> None:
    for name, wrong, incomplete, tokens in (("A", 0.5, {}, 500), ("B", 0.3, replied.INCOMPLETE, 5), ("C", 0.9, {}, 0)):
        made = Method.objects.create(name=name, owner=member, published="2026-01-01T00:00:00Z")
        answers = replied.answers_of(val, incomplete=incomplete, wrong=wrong)
        usage = {"usage": {"prompt_tokens": tokens}, "cost": tokens / 1000, "latency": tokens / 100}
        if name == "C":
            sent.submitted(made, val, [*answers[:-1], None])
        else:
            replied.submit(made, val, answers, replied.records_of(val, incomplete=incomplete, **usage))
    for sort, first in (("coverage", "A"), ("among-answered", "B"), ("tokens", "B"), ("cost", "B"), ("latency", "B")):
        found = [one["name"] for one in json.loads(Client().get(f"{BOARD}board.json?sort={sort}").content)["rows"]]
        assert found[0] == first and set(found) == {"A", "B", "C"}, sort
        assert sort in ("coverage", "among-answered") or found[-1] == "C", sort


def test_the_question_page_shows_hostile_replies_harmlessly(public: Method, val: Split) -> None:
    records = replied.records_of(val, model="<b>model</b>")
    records[7] |= {"reply": HOSTILE, "reasoning": f"because {HOSTILE}"}
    records[3] |= {"error": HOSTILE}
    records[8] |= {"reply": "ü" * 50_000}
    row = replied.submit(public, val, replied.answers_of(val), records)
    client = Client()
    raw = client.get(f"{BOARD}questions/7/?entry=m{public.pk}").content.decode()
    assert "<script>alert" not in raw and "<b>model" not in raw and "\x1b" not in raw and "\u202e" not in raw
    page = html.unescape(raw)
    assert SEEN in page and f"because {SEEN}" in page and "107 " not in page.split("answered")[0]
    assert "100 prompt tokens" in page and "7 completion tokens" in page and "$0.001" in page
    assert html.unescape(page).count("<details") >= 2
    failed = page_of(client, f"{BOARD}questions/3/?entry=m{public.pk}")
    assert ">failed</span>" in failed and SEEN in failed
    long = page_of(client, f"{BOARD}questions/8/?entry=m{public.pk}")
    assert "30,000 more characters are in" in long and f"/submissions/{row.pk}/replies/" in long
    assert len(long) < 100_000
    listed = client.get(f"{BOARD}questions/?entry=m{public.pk}").content.decode()
    assert "<script>alert" not in listed and "\x1b" not in listed and "⟨ESC⟩[31m<script>" in html.unescape(listed)


def test_thoughts_in_a_reply_are_folded(public: Method, val: Split) -> None:
    records = replied.records_of(val)
    records[7] |= {"reply": "<think>I see two cubes.</think>\nAnswer: 2"}
    records[8] |= {"reply": "<think>" + "I count again. " * 2000}
    replied.submit(public, val, replied.answers_of(val), records)
    page = page_of(Client(), f"{BOARD}questions/7/?entry=m{public.pk}")
    shown = dict(re.findall(r"<summary>([^<]*)</summary><pre[^>]*>([^<]*)</pre>", page))
    assert shown["Reply"] == "Answer: 2" and shown["Thoughts in the reply"] == "I see two cubes."
    assert "<details open><summary>Reply" in page and "<details><summary>Thoughts" in page
    cut = page_of(Client(), f"{BOARD}questions/8/?entry=m{public.pk}")
    assert "<summary>Reply<" not in cut and "10,007 more characters are in" in cut
    listed = page_of(Client(), f"{BOARD}questions/?entry=m{public.pk}")
    assert "<bdi>Answer: 2</bdi>" in listed and "two cubes" not in listed


def test_the_row_of_one_submission_is_named_so(row: Submission, val: Split) -> None:
    page = page_of(Client(), f"{BOARD}questions/?entry=m{row.method_id}&entry=s{row.pk}")
    assert f"submission {row.pk}</span>" in page and f"(submission {row.pk})</th>" in page


def test_questions_are_filtered_by_the_state_of_their_reply(row: Submission, val: Split) -> None:
    client, entry = Client(), f"entry=m{row.method_id}"
    for name, positions in (("failed", [3]), ("cut-off", [4]), ("refused", [5]), ("empty", [6])):
        page = page_of(client, f"{BOARD}questions/?{entry}&reply={name}")
        assert re.findall(r'aria-label="Question (\d+)"', page) == [str(at) for at in positions]
        assert f'name="reply" value="{name}"' in page
        found = json.loads(client.get(f"/api/v1/boards/scored/val/questions/?{entry}&reply={name}").content)
        assert [one["question_id"] for one in found["results"]] == positions
        assert [one["replies"][f"m{row.method_id}"]["state"] for one in found["results"]] == [name.replace("-", " ")]
    assert f"{val.questions - 4} questions" in page_of(client, f"{BOARD}questions/?{entry}&reply=answered")
    assert "1 question" in page_of(client, f"{BOARD}questions/?{entry}&reply=failed&show=all")
    assert "No question matches" in page_of(client, f"{BOARD}questions/?{entry}&reply=failed&show=right")


def test_complete_replies_without_an_answer_are_found(public: Method, val: Split) -> None:
    answers = replied.answers_of(val)
    answers[20], answers[21], answers[22] = None, "I cannot tell.", f"The answer is: {sent.truth_of(val)[22]}"
    row = replied.submit(public, val, answers, replied.records_of(val))
    page = page_of(Client(), f"{BOARD}questions/?entry=m{public.pk}&reply=no-answer-read")
    assert re.findall(r'aria-label="Question (\d+)"', page) == ["20", "21"]
    assert "no answer read 2" in page_of(Client(), f"/submissions/{row.pk}/")
    assert row.scores.get(split=val).answered == val.questions - 4  # they are answered


def test_bad_states_are_refused(row: Submission, val: Split, member: User) -> None:
    client = Client()
    page = page_of(client, f"{BOARD}questions/?entry=m{row.method_id}&reply=<b>", status=400)
    assert "Expected one of the states answered, cut-off, refused, empty, failed, no-answer-read" in page
    other = Method.objects.create(name="Without", owner=member, published="2026-01-01T00:00:00Z")
    sent.submitted(other, val, sent.truth_of(val))
    page = page_of(client, f"{BOARD}questions/?entry=m{other.pk}&reply=failed", status=404)
    assert "Expected rows with replies" in page
    assert "State of the reply" not in page_of(client, f"{BOARD}questions/?entry=m{other.pk}")


def test_three_clicks_lead_from_the_board_to_the_replies_of_the_worst_slice(row: Submission) -> None:
    client = Client()
    address = f"/submissions/{row.pk}/"
    assert f'href="{address}"' in page_of(client, f"{BOARD}?show=all") or address in page_of(client, BOARD)
    page = page_of(client, address)
    worst = re.search(r'<ol class="ranked"><li><a href="([^"]+)"', page)
    assert worst is not None and f"entry=s{row.pk}" in worst[1]
    listed = page_of(client, worst[1])
    assert 'class="excerpt"' in listed
    question = re.search(r'href="([^"]+)" aria-label="Question', listed)
    assert question is not None and '<article class="reply">' in page_of(client, question[1])


def test_a_slice_leads_to_the_questions_with_the_answers_of_its_row(row: Submission) -> None:
    page = page_of(Client(), f"{BOARD}slices/?by=type&entry=m{row.method_id}")
    [address, *_] = re.findall(rf'href="({BOARD}questions/\?type=[^"]+)"', page)
    assert f"entry=m{row.method_id}" in address and 'class="excerpt"' in page_of(Client(), address)


@pytest.mark.parametrize(
    "query", sample(["by=type", "by=length&bands=1..6,7..30", "by=group&by=spatial", "view=length-without"], gate=2)
)
def test_each_figure_of_a_slice_leads_to_as_many_questions(row: Submission, query: str) -> None:
    client, address = Client(), f"{BOARD}slices/?{query}&entry=m{row.method_id}"
    panels = [one["panel"] for one in client.get(address).context["panels"]]
    cells = [cell for panel in panels for line in (panel.whole, *panel.rows) for cell in line.cells if cell.n]
    assert cells
    for cell in cells[:12]:
        found = client.get(cell.address)
        assert found.status_code == 200 and found.context["page"].paginator.count == cell.n, cell.address
        assert [entry.key for entry in found.context["chosen"]] == [f"m{row.method_id}"]


def test_the_page_of_a_submission_summarises_its_replies(row: Submission, val: Split) -> None:
    page = page_of(Client(), f"/submissions/{row.pk}/")
    records = replied.records_of(val)
    n, latency = val.questions, [one["latency"] for one in records]
    assert f"answered {n - 4}" in page and "cut off 1" in page and "failed 1" in page
    assert f"{100 * (n - 1):,}, 100 for each question" in page
    assert f"${0.001 * (n - 1):.2f}, $1.00 for 1,000 questions" in page
    assert f"median 1.2 s, 90 % within {np.quantile(latency, 0.9):.2g} s" in page
    assert f"/submissions/{row.pk}/replies/" in page
    found = json.loads(Client().get(f"/api/v1/submissions/{row.pk}/").content)
    assert found["replies_url"] == f"/api/v1/submissions/{row.pk}/replies"
    assert found["scores"][0]["usage"]["answered"] == n - 4
    lines = b"".join(Client().get(found["replies_url"]).streaming_content)  # type: ignore[attr-defined]
    assert len(lines.splitlines()) == n


def test_failures_of_a_runner_are_counted_on_the_page(public: Method, val: Split, as_member: Client) -> None:
    answers: list[Any] = sent.truth_of(val)
    answers[:37] = ["Failed to obtain answer via API."] * 37
    row = sent.submitted(public, val, answers)
    page = page_of(as_member, f"/submissions/{row.pk}/")
    assert "37 answers are failures of the runner" in page and "Coverage" in page
    assert f"{val.questions - 37} of {val.questions}" in page_of(Client(), BOARD)
    assert json.loads(as_member.get(f"/api/v1/submissions/{row.pk}/").content)["failures"] == 37


def test_withheld_replies_are_shown_only_to_owners_and_staff(
    public: Method, withheld: Split, as_member: Client, admin_user: User
) -> None:
    row = replied.submit(public, withheld, replied.answers_of(withheld), replied.records_of(withheld))
    assert row.is_scored
    stranger, staff = Client(), Client()
    other = Client()
    other.force_login(User.objects.create_user("otto", "otto@example.org", "x"))
    staff.force_login(admin_user)
    board = "/leaderboards/scored/test/"
    for client, may in ((stranger, False), (other, False), (as_member, True), (staff, True)):
        for address in (f"/submissions/{row.pk}/replies/", f"/api/v1/submissions/{row.pk}/replies"):
            assert client.get(address).status_code == (200 if may else 404)
        page = page_of(client, f"/submissions/{row.pk}/")
        assert ("cut off 1" in page) is may and ("Replies as a file" in page) is may
        found = json.loads(client.get(f"/api/v1/submissions/{row.pk}/").content)
        assert ("replies_url" in found and found["replies_url"] is not None) is may
        is_staff = client is staff
        assert ("Accuracy among answered" in page) is is_staff
        for address in (
            f"{board}questions/?entry=m{public.pk}&reply=failed",
            f"{board}questions/7/?entry=m{public.pk}",
        ):
            assert client.get(address).status_code == (200 if is_staff else 403)
        assert client.get("/api/v1/boards/scored/test/questions/?reply=failed").status_code == (
            200 if is_staff else 403
        )
        assert ("Among answered" in page_of(client, board)) is is_staff
        assert ("coverage" in client.get(f"{board}board.csv").content.decode()) is is_staff


def test_replies_of_a_private_method_are_for_its_owner(method: Method, val: Split, as_member: Client) -> None:
    row = replied.submit(method, val, replied.answers_of(val), replied.records_of(val))
    for address in (f"/submissions/{row.pk}/replies/", f"/api/v1/submissions/{row.pk}/replies"):
        assert as_member.get(address).status_code == 200 and Client().get(address).status_code == 404
    assert Client().get(f"{BOARD}questions/7/?entry=m{method.pk}").status_code == 404


def test_wrong_verbs_and_numbers_are_refused(row: Submission, public: Method, val: Split, as_member: Client) -> None:
    assert Client().post(f"/submissions/{row.pk}/replies/").status_code in (403, 405)
    assert as_member.get("/submissions/999999/replies/").status_code == 404
    plain = sent.submitted(public, val, sent.truth_of(val), run="2")
    assert as_member.get(f"/submissions/{plain.pk}/replies/").status_code == 404


def test_more_questions_with_replies_need_no_more_queries(row: Submission) -> None:
    client, counts = Client(), []
    for query in ("&reply=failed", ""):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page_of(client, f"{BOARD}questions/?entry=m{row.method_id}{query}")
        counts.append(len(queries))
    assert counts[1] <= counts[0] + 1


def test_the_form_takes_replies(public: Method, val: Split, as_member: Client) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    def send(**more: Any) -> Any:
        file = SimpleUploadedFile("a.json", sent.as_file(replied.answers_of(val)).getvalue())
        replies = SimpleUploadedFile("replies.jsonl", replied.as_file(replied.records_of(val)).getvalue())
        data = {"file": file, "replies": replies, "method": public.pk, **more}
        return as_member.post("/submissions/new/?to=scored/val", data)

    checked = html.unescape(send(check="1").content.decode())
    assert f"{val.questions} records of replies are valid too" in checked and "1 failed, 1 cut off" in checked
    assert not Submission.objects.filter(method=public).exists()
    bad = SimpleUploadedFile("replies.jsonl", b"{}\n")
    assert "Line 1 of the replies: expected a question" in html.unescape(send(check="1", replies=bad).content.decode())
    assert send().status_code == 302
    [made] = Submission.objects.filter(method=public)
    assert made.replies_file and made.replies_size
