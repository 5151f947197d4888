"""The pages of boards, methods, submissions and suites; each number is compared with counting by hand."""

import csv
import html
import io
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from generation.models import Dataset, Split
from tests.leaderboards import sent
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.disclosure import limits
from webapp.leaderboards.models import Method, Submission, Suite
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
BOARD = "/leaderboards/scored/val/"


def page_of(client: Client, address: str, *, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status, response.content[:2000]
    return html.unescape(response.content.decode())


def rows_of(client: Client, address: str = BOARD, query: str = "") -> list[dict[str, Any]]:
    response = client.get(f"{address}board.json{query}")
    assert response.status_code == 200
    return json.loads(response.content)["rows"]


def publish_method(owner: User, name: str, **more: Any) -> Method:
    return Method.objects.create(name=name, owner=owner, published="2026-01-01T00:00:00Z", **more)


def test_an_empty_board_has_a_message(val: Split) -> None:
    page = page_of(Client(), BOARD)
    assert "Nothing is scored yet" in page and "Submit predictions" in page


def test_each_number_of_a_board_is_equal_to_counting_by_hand(member: User, val: Split) -> None:
    for number, wrong in enumerate((0.1, 0.5)):
        made = publish_method(member, f"Noise {number}")
        answers = sent.noisy(val, wrong=wrong, seed=number)
        sent.submitted(made, val, answers)
        [row] = [row for row in rows_of(Client()) if row["name"] == made.name]
        right = sent.right_of(val, answers)
        assert row["accuracy"]["accuracy"] == round(right / val.questions, 6)
        assert row["accuracy"]["n"] == val.questions
        assert f"{100 * right / val.questions:.1f}" in page_of(Client(), BOARD)
    assert [row["rank"] for row in rows_of(Client())] == [1, 2]


def test_runs_are_one_row_with_mean_and_deviation(member: User, val: Split) -> None:
    made = publish_method(member, "Three runs")
    rights = []
    for seed in range(3):
        answers = sent.noisy(val, wrong=0.3, seed=seed)
        sent.submitted(made, val, answers, run=f"seed {seed}")
        rights.append(sent.right_of(val, answers))
    [row] = rows_of(Client())
    shares = [right / val.questions for right in rights]
    mean = sum(shares) / 3
    deviation = (sum((share - mean) ** 2 for share in shares) / 2) ** 0.5
    assert row["accuracy"]["accuracy"] == round(mean, 6)
    assert row["accuracy"]["deviation"] == round(deviation, 6)
    assert (row["accuracy"]["runs"], len(row["submissions"])) == (3, 3)
    page = page_of(Client(), BOARD)
    assert "3 runs" in page and f"± {100 * deviation:.1f}" in page
    assert len(rows_of(Client(), query="?show=all")) == 3


def test_a_run_that_is_submitted_again_replaces_the_old_one(member: User, val: Split) -> None:
    made = publish_method(member, "Again")
    sent.submitted(made, val, sent.noisy(val, wrong=0.8), run="1")
    sent.submitted(made, val, sent.truth_of(val), run="1")
    [row] = rows_of(Client())
    assert row["accuracy"]["accuracy"] == 1.0 and row["accuracy"]["runs"] == 1


def test_best_and_latest_choose_among_configurations(member: User, val: Split) -> None:
    made = publish_method(member, "Curve")
    sent.submitted(made, val, sent.noisy(val, wrong=0.1), train_size=1000)
    sent.submitted(made, val, sent.noisy(val, wrong=0.6), train_size=100)
    [best], [latest] = rows_of(Client()), rows_of(Client(), query="?show=latest")
    assert best["circumstances"] == "1,000 examples" and latest["circumstances"] == "100 examples"
    assert len(rows_of(Client(), query="?show=each")) == 2


def test_ties_share_a_rank_and_the_next_one_is_skipped(member: User, val: Split) -> None:
    for name, wrong in (("One", 0.0), ("Two", 0.0), ("Three", 0.9)):
        sent.submitted(publish_method(member, name), val, sent.noisy(val, wrong=wrong))
    assert [row["rank"] for row in rows_of(Client())] == [1, 1, 3]


def test_only_the_owner_sees_private_methods(method: Method, val: Split, as_member: Client) -> None:
    row = sent.submitted(method, val, sent.truth_of(val))
    assert method.name in page_of(as_member, BOARD) and "private" in page_of(as_member, BOARD)
    for address in (method.get_absolute_url(), row.get_absolute_url()):
        assert Client().get(address).status_code == 404
        assert as_member.get(address).status_code == 200
    assert method.name not in page_of(Client(), BOARD) and rows_of(Client()) == []
    assert as_member.post(f"/methods/{method.pk}/publish/").status_code == 302
    assert method.name in page_of(Client(), BOARD) and Client().get(row.get_absolute_url()).status_code == 200
    assert as_member.post(f"/methods/{method.pk}/hide/").status_code == 302
    assert method.name not in page_of(Client(), BOARD)


def test_anonymous_methods_do_not_name_their_owner(member: User, val: Split) -> None:
    made = publish_method(member, "Nameless", anonymous=True)
    sent.submitted(made, val, sent.truth_of(val))
    for address in (BOARD, made.get_absolute_url(), "/methods/", f"{BOARD}board.json", f"{BOARD}board.csv"):
        assert member.username not in page_of(Client(), address)


@pytest.mark.parametrize("query", ["?show=x", "?sort=x", "?made=x", "?q=" + "x" * 200])
def test_bad_parameters_and_unknown_files_are_refused(val: Split, query: str) -> None:
    assert "Expected" in page_of(Client(), BOARD + query, status=400)
    assert Client().get(f"{BOARD}board.exe").status_code == 404


def test_rows_are_filtered_and_sorted(member: User, val: Split) -> None:
    sent.submitted(publish_method(member, "Alpha", made="zero-shot"), val, sent.noisy(val, wrong=0.6))
    sent.submitted(publish_method(member, "Beta", made="trained"), val, sent.noisy(val, wrong=0.1))
    names = [row["name"] for row in rows_of(Client(), query="?sort=method")]
    assert names == ["Alpha", "Beta"]
    [row] = rows_of(Client(), query="?made=zero-shot")
    assert (row["name"], row["rank"]) == ("Alpha", 2)
    [row] = rows_of(Client(), query="?q=BET")
    assert row["name"] == "Beta"
    assert "No row matches these filters" in page_of(Client(), f"{BOARD}?q=gamma")


def test_tables_as_files_have_every_figure(member: User, val: Split) -> None:
    answers = sent.noisy(val, wrong=0.4)
    sent.submitted(publish_method(member, "=cmd|' /C calc'!A0 & 50 %"), val, answers)
    [line] = list(csv.DictReader(io.StringIO(Client().get(f"{BOARD}board.csv").content.decode())))
    assert line["method"].startswith("'=")
    assert float(line["accuracy"]) == round(sent.right_of(val, answers) / val.questions, 6)
    assert int(line["accuracy_n"]) == val.questions
    latex = Client().get(f"{BOARD}board.tex").content.decode()
    assert r"\toprule" in latex and r"\& 50 \%" in latex and val.fingerprint[:16] in latex
    assert latex.count(r"\\") == 2


def test_a_withheld_board_shows_one_figure_by_the_ladder(member: User, withheld: Split, as_member: Client) -> None:
    made = publish_method(member, "Guess")
    for wrong in (60, 30, 27):  # 50, 75 and 77.5 % of 120 are right, and the step is 9.2 points
        right = sent.truth_of(withheld)
        row = sent.submitted(made, withheld, right[:-wrong] + ["nothing"] * wrong)
    [found] = rows_of(as_member, "/leaderboards/scored/test/")
    nothing = {"low": None, "high": None, "deviation": None}
    assert found["accuracy"] == {"n": 120, "accuracy": 0.736, "runs": 1, **nothing}
    assert (found["accuracy_read"], found["unreadable"], found["shared"], found["tasks"]) == (None, None, None, None)
    assert found["columns"] == {}
    assert row.get_absolute_url() not in page_of(as_member, "/leaderboards/scored/test/")
    page = page_of(as_member, row.get_absolute_url())
    assert "points higher than the published figure" in page and "73.6 %" in page
    for address in ("/leaderboards/scored/test/", row.get_absolute_url(), made.get_absolute_url(), "/submissions/"):
        page = page_of(as_member, address)
        assert "73.6" in page and "77.5" not in page and "75.0" not in page


def test_withheld_splits_allow_three_scores_a_day(method: Method, withheld: Split, as_member: Client) -> None:
    address = "/submissions/new/?to=scored/test"
    sent.submitted(method, withheld, ["nothing"])  # this submission is refused, so it does not count
    for run in range(3):
        sent.submitted(method, withheld, sent.noisy(withheld, wrong=0.5, seed=run), run=str(run))
    assert limits.remaining(method.owner, withheld).scores == 0
    assert limits.remaining(method.owner, withheld).next_at is not None
    file = sent.as_file(sent.truth_of(withheld))
    file.name = "a.json"
    response = as_member.post(address, {"file": file, "method": method.pk})
    assert response.status_code == 429 and "scores a day" in response.content.decode()
    assert Submission.objects.filter(method=method).count() == 4


def test_a_member_makes_a_method_checks_a_file_and_submits_it(val: Split, as_member: Client) -> None:
    began = as_member.get("/submissions/new/?to=scored/val")
    assert began["Location"] == "/methods/new/?to=scored/val"
    made = as_member.post("/methods/new/", {"name": "Mine", "made": "few-shot", "shots": "5", "to": "scored/val"})
    method = Method.objects.get(name="Mine")
    assert made["Location"] == f"/submissions/new/?to=scored/val&method={method.pk}"
    answers = sent.noisy(val, wrong=0.2)
    file = sent.as_file(answers)
    file.name = "a.json"
    checked = as_member.post("/submissions/new/?to=scored/val", {"file": file, "method": method.pk, "check": "1"})
    assert "is valid:" in checked.content.decode() and not Submission.objects.filter(method=method).exists()
    file = sent.as_file(answers)
    file.name = "a.json"
    response = as_member.post("/submissions/new/?to=scored/val", {"file": file, "method": method.pk, "run": "7"})
    [row] = Submission.objects.filter(method=method)
    assert response["Location"] == row.get_absolute_url()
    assert "This submission is waiting to be scored" in page_of(as_member, row.get_absolute_url())
    assert "No background process is running" in page_of(as_member, f"/submissions/{row.pk}/progress/")
    scoring.RUNNER.take_turn()
    page = page_of(as_member, row.get_absolute_url())
    assert "Scored" in page and f"{100 * sent.right_of(val, answers) / val.questions:.1f}" in page
    sent_back = b"".join(as_member.get(f"/submissions/{row.pk}/file/").streaming_content)
    assert [json.loads(line)["answer"] for line in sent_back.splitlines()] == answers
    assert Client().get(f"/submissions/{row.pk}/file/").status_code == 404
    assert "Mine" in page_of(as_member, "/submissions/") and "few-shot (5)" in page_of(as_member, "/methods/")


def test_who_makes_a_method_says_how_it_was_made(as_member: Client) -> None:
    assert '<option value="" selected>choose one</option>' in page_of(as_member, "/methods/new/")
    refused = as_member.post("/methods/new/", {"name": "Mine", "made": ""}).content.decode()
    assert "Expected how the method was made, got nothing." in refused
    assert not Method.objects.filter(name="Mine").exists()
    as_member.post("/methods/new/", {"name": "Mine", "made": "zero-shot"})
    page = page_of(as_member, f"{Method.objects.get(name='Mine').get_absolute_url()}edit/")
    assert '<option value="zero-shot" selected>' in page and "choose one" not in page


def test_the_page_of_a_new_method_links_to_the_boards(val: Split, as_member: Client) -> None:
    made = as_member.post("/methods/new/", {"name": "Mine", "made": "zero-shot"}, follow=True)
    page, method = made.content.decode(), Method.objects.get(name="Mine")
    assert made.redirect_chain[0][0] == method.get_absolute_url()
    assert "Mine is created." in page and "Next, choose a split" in page
    [form] = re.findall(r'href="([^"]+to=scored/val&amp;method=\d+)"', page)
    assert 'href="/leaderboards/scored/val/"' in page and 'href="/leaderboards/"' in page
    opened = as_member.get(form.replace("&amp;", "&"))
    assert opened.status_code == 200 and f'value="{method.pk}" selected' in opened.content.decode()
    Method.objects.update(published=timezone.now())
    assert "Next, choose a split" not in page_of(Client(), method.get_absolute_url())
    sent.submitted(method, val, sent.noisy(val, wrong=0.3))
    assert "Next, choose a split" not in page_of(as_member, method.get_absolute_url())


def test_a_score_links_to_its_slices_and_states_who_sees_it(method: Method, val: Split, as_member: Client) -> None:
    row = sent.submitted(method, val, sent.noisy(val, wrong=0.3))
    shown = page_of(as_member, f"/submissions/{row.pk}/")
    [beside_score] = re.findall(rf'href="([^"]+/slices/[^"]+)" aria-label="Slices of {val}"', shown)
    [below_weakest] = re.findall(r'href="([^"]+/slices/[^"]+)">All slices<', shown)
    assert beside_score == below_weakest == f"{BOARD}slices/?entry=s{row.pk}"
    assert method.name in page_of(as_member, beside_score)
    assert "Only you and staff see this submission" in shown
    Method.objects.filter(pk=method.pk).update(published=row.finished)
    assert "Only you and staff see this submission" not in page_of(as_member, f"/submissions/{row.pk}/")


def test_a_refused_submission_shows_the_errors_and_the_next_step(method: Method, val: Split, as_member: Client) -> None:
    row = sent.submitted(method, val, sent.truth_of(val)[:-40])
    page = page_of(as_member, row.get_absolute_url())
    assert "Refused" in page and "160" in page and "Submit again" in page and "/template.jsonl" in page
    assert "Questions 120–159 have no answer." in page and "All errors" not in page
    assert as_member.get(f"/submissions/{row.pk}/findings/").status_code == 404


def test_a_refused_submission_links_to_all_errors_if_the_page_has_too_many(
    method: Method, val: Split, as_member: Client
) -> None:
    row = sent.refused(method, val, answered=range(0, val.questions, 2))
    page, address = page_of(as_member, row.get_absolute_url()), f"/submissions/{row.pk}/findings/"
    assert "And 60 more." in page and f'<a href="{address}">All errors</a>' in page
    listed = page_of(as_member, address)
    assert listed.splitlines() == [f"Question {number} has no answer." for number in range(1, val.questions, 2)]
    assert Client().get(address).status_code == 404


def test_a_completed_template_is_accepted(method: Method, val: Split, as_member: Client) -> None:
    lines = b"".join(Client().get(f"{BOARD}template.jsonl").streaming_content).decode().splitlines()
    rows = [json.loads(line) | {"answer": answer} for line, answer in zip(lines, sent.truth_of(val), strict=True)]
    file = io.BytesIO("\n".join(json.dumps(row) for row in rows).encode())
    file.name = "filled.jsonl"
    as_member.post("/submissions/new/?to=scored/val", {"file": file, "method": method.pk})
    scoring.RUNNER.take_turn()
    score = Submission.objects.get(method=method).scores.get(split=val)
    assert score.right == score.n == val.questions


def test_methods_and_submissions_are_deleted_by_their_owner(method: Method, val: Split, as_member: Client) -> None:
    row = sent.submitted(method, val, sent.truth_of(val))
    for address in (f"/submissions/{row.pk}/delete/", f"/methods/{method.pk}/delete/"):
        assert Client().post(address).status_code in (302, 404)
        assert "You cannot undo this" in page_of(as_member, address)
    assert as_member.post(f"/submissions/{row.pk}/delete/").status_code == 302
    assert not Submission.objects.filter(pk=row.pk).exists()
    assert as_member.post(f"/methods/{method.pk}/delete/").status_code == 302
    assert not Method.objects.filter(pk=method.pk).exists()


def test_submissions_that_count_today_cannot_be_deleted(method: Method, withheld: Split, as_member: Client) -> None:
    row = sent.submitted(method, withheld, sent.truth_of(withheld))
    for address in (f"/submissions/{row.pk}/delete/", f"/methods/{method.pk}/delete/"):
        assert as_member.post(address).status_code == 409
    assert Submission.objects.filter(pk=row.pk).exists()


def test_a_suite_shows_splits_together(member: User, val: Split, scored: Dataset, as_member: Client) -> None:
    fields = {
        "title": "Seen and unseen", "slug": "both", "is_public": "on",
        "members": "scored/val = seen\nscored/train = unseen", "gaps": "drop = seen - unseen",
    }  # fmt: skip
    assert as_member.post("/suites/new/", fields)["Location"] == "/suites/both/"
    train = scored.splits.select_related("dataset", "parent").get(name="train")
    made = publish_method(member, "Two")
    shares = []
    for split in (val, train):
        answers = sent.noisy(split, wrong=0.3)
        sent.submitted(made, split, answers)
        shares.append(sent.right_of(split, answers) / split.questions)
    [row] = json.loads(Client().get("/suites/both/board.json").content)["rows"]
    assert row["columns"]["seen"]["accuracy"] == round(shares[0], 6)
    assert row["mean"] == pytest.approx(sum(shares) / 2, abs=1e-6)
    assert row["gaps"]["drop"] == pytest.approx(shares[0] - shares[1], abs=1e-6)
    low, high = row["gap_intervals"]["drop"]
    assert low < shares[0] - shares[1] < high
    csv_file = Client().get("/suites/both/board.csv").content.decode()
    assert "drop,drop_low,drop_high,drop_harmonic" in csv_file and f"{low},{high}" in csv_file
    assert row["harmonic_means"]["drop"] == pytest.approx(2 / sum(1 / share for share in shares), abs=1e-6)
    page = page_of(Client(), "/suites/both/")
    assert f"{50 * sum(shares):.1f}" in page and "drop" in page
    assert f"{100 * low:+.1f} to {100 * high:+.1f}".replace("-", "−") in page
    assert r"\bottomrule" in Client().get("/suites/both/board.tex").content.decode()
    assert "Seen and unseen" in page_of(Client(), "/leaderboards/")
    assert "seen - unseen" in page_of(as_member, "/suites/both/edit/")
    assert Client().post("/suites/both/delete/").status_code == 302 and Suite.objects.exists()
    assert as_member.post("/suites/both/delete/").status_code == 302 and not Suite.objects.exists()


def test_one_zip_contains_the_files_of_a_suite(method: Method, val: Split, scored: Dataset, as_member: Client) -> None:
    import zipfile

    fields = {"title": "Both", "slug": "both", "members": "scored/val\nscored/train"}
    as_member.post("/suites/new/", fields)
    train = scored.splits.get(name="train")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for split in (val, train):
            archive.writestr(f"mine/{split.name}.json", sent.as_file(sent.truth_of(split)).getvalue())
    packed.seek(0)
    packed.name = "both.zip"
    response = as_member.post("/submissions/new/?to=suite/both", {"file": packed, "method": method.pk})
    assert response.status_code == 302, response.content
    scoring.RUNNER.take_turn()
    rows = Submission.objects.filter(method=method)
    assert {row.split.name for row in rows} == {"val", "train"} and len({row.batch for row in rows}) == 1
    assert all(row.is_scored for row in rows)


@pytest.mark.parametrize(
    ("field", "text"),
    [("members", "scored/val"), ("members", "scored/val\nnothing/here"), ("members", "scored/val\nscored/val"),
     ("gaps", "gap = one - two"), ("slug", "New Slug"), ("slug", "new")],
)  # fmt: skip
def test_a_bad_suite_is_refused(val: Split, as_member: Client, field: str, text: str) -> None:
    fields = {"title": "Both", "slug": "both", "members": "scored/val\nscored/train", field: text}
    response = as_member.post("/suites/new/", fields)
    assert response.status_code == 400 and not Suite.objects.exists()


def test_boards_need_a_fixed_number_of_queries(member: User, val: Split, django_assert_max_num_queries: Any) -> None:
    for number in range(6):
        sent.submitted(publish_method(member, f"Method {number}"), val, sent.noisy(val, wrong=0.1 * number))
    with django_assert_max_num_queries(12):
        assert Client().get(BOARD).status_code == 200


@pytest.mark.parametrize(
    "address", ["/methods/999/", "/submissions/999/", "/suites/none/", "/leaderboards/scored/none/"]
)
def test_unknown_addresses_get_404(val: Split, address: str) -> None:
    assert Client().get(address).status_code == 404


def test_baselines_are_described_on_the_board(val: Split) -> None:
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()
    page = re.sub(r"\s+", " ", page_of(Client(), BOARD))
    for said in (
        "It sees nothing. It is fitted on the reference split",
        "It sees the question's type.",
        "its figure is the share expected of guesses",
    ):
        assert said in page
    assert all(row["rank"] is None for row in rows_of(Client()))


def test_staff_see_methods_and_submissions_in_the_admin_pages(method: Method, val: Split, admin_client: Client) -> None:
    row = sent.submitted(method, val, sent.truth_of(val))
    for address, shown in (
        ("method/", method.name), (f"method/{method.pk}/change/", method.name),
        ("submission/", "done"), (f"submission/{row.pk}/change/", row.digest), ("suite/", "suite"),
    ):  # fmt: skip
        assert shown in page_of(admin_client, f"/admin/leaderboards/{address}")
