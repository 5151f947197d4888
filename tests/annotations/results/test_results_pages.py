"""Pages with the results of a study: only its owner and staff may see them."""

import csv
import io
import json
import random
import re
import subprocess
import uuid
from collections.abc import Iterator
from html import unescape
from typing import Any

import pandas as pd
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models.functions import Now
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from pytest_django.plugin import DjangoDbBlocker

from annotations.answering import exclusion_rules, slot_assignment
from annotations.models import Answer, EasyAnswer, Participant, Study
from annotations.results import study_statistics
from annotations.results.answer_files import lines
from annotations.studies import lifecycle
from annotations.views import results as views
from generation.models import Dataset
from generation.storage.split_index import SplitIndex
from tests.annotations import answered
from tests.clients import client_of
from tests.engine.formats.test_workbooks import cells_of
from tests.proof import sample
from webapp.models import User

pytestmark = pytest.mark.django_db
PAGES = ("results/", "results/live/", "people/", "answers.csv", "answers.xlsx", "answers.jsonl")
BUTTONS = ("people/apply-rules/", "people/1/exclude/", "people/1/take-back/", "people/1/erase/")


def text(response: Any) -> str:
    content = b"".join(response) if response.streaming else response.content
    return re.sub(r"\s+", " ", unescape(content.decode()))


@pytest.fixture(scope="module")
def kept_run(rows: int, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """Give the key of a study that was answered at random; the changes of each test are rolled back."""
    with django_db_blocker.unblock():
        study = answered.answered(Dataset.objects.get(pk=rows), random.Random(3))
    yield study.pk
    with django_db_blocker.unblock():
        answered.delete(study)


@pytest.fixture
def run(kept_run: int, made: Dataset) -> Study:
    """Give a study that was answered at random, whose owner also owns the dataset."""
    Dataset.objects.filter(pk=made.pk).update(owner=answered.owner())
    found = Study.objects.get(pk=kept_run)
    assert found.split == made.splits.get(name="val")
    return found


@pytest.fixture
def at(run: Study) -> str:
    return f"/studies/{run.code}/"


@pytest.fixture
def rosa(run: Study) -> Client:
    """Give a browser in which the study's owner is logged in."""
    return client_of(run.owner)


@pytest.fixture
def first(run: Study) -> Participant:
    found = run.participants.order_by("pk").first()
    assert found is not None
    return found


@pytest.fixture
def others(db: None) -> list[Client]:
    """Give a browser that is not logged in, and one of another account."""
    member = Client()
    member.force_login(User.objects.create_user("member", "member@example.org", "x"))
    return [Client(), member]


# Access


@pytest.mark.parametrize("page", PAGES)
def test_owner_and_staff_get_the_page_and_strangers_404(
    rosa: Client, admin_client: Client, others: list[Client], at: str, page: str
) -> None:
    assert [client.get(at + page).status_code for client in (rosa, admin_client, *others)] == [200, 200, 404, 404]
    assert rosa.get(f"/studies/nosuch1234/{page}").status_code == 404
    assert rosa.put(at + page).status_code == 405


@pytest.mark.parametrize("button", BUTTONS)
def test_strangers_change_nothing(others: list[Client], rosa: Client, at: str, button: str) -> None:
    before = list(Participant.objects.order_by("pk").values())
    for client in others:
        assert client.post(at + button, {"reason": "because", "confirm": "yes"}).status_code == 404
    assert rosa.get(at + button).status_code == 405
    assert list(Participant.objects.order_by("pk").values()) == before


@pytest.mark.parametrize("number", ["0", "7", "9" * 400, "x", "٣"])
def test_an_unknown_participant_number_gets_404(rosa: Client, at: str, number: str) -> None:
    for button in ("exclude", "take-back", "erase"):
        assert rosa.post(f"{at}people/{number}/{button}/", {"reason": "x", "confirm": "yes"}).status_code == 404


def test_the_owner_of_a_study_gets_404_if_the_dataset_became_private(rosa: Client, run: Study, at: str) -> None:
    Dataset.objects.update(owner=None)
    assert [rosa.get(at + page).status_code for page in PAGES] == [404] * len(PAGES)


# Results


def test_results_show_the_counted_figures(rosa: Client, run: Study, at: str) -> None:
    page = text(rosa.get(f"{at}results/"))
    top, far = study_statistics.headline(study_statistics.gather(run)), study_statistics.progress(run)
    assert f"{far.answers} of {run.slots.count()}" in page
    assert f"{top.ties} of {top.majority.n} questions" in page
    assert f"{top.refusals} of {top.answers} times" in page
    assert top.single.text in page
    for row in study_statistics.confusion(study_statistics.gather(run))[:5]:
        assert f"<td>{row.right}</td><td>{row.given}</td>" in page
    assert "Nobody is excluded." in page


def test_figures_with_and_without_exclusions_are_shown_together(rosa: Client, run: Study, at: str) -> None:
    rosa.post(f"{at}people/2/exclude/", {"reason": "Pressed one key."})
    page = text(rosa.get(f"{at}results/"))
    assert re.findall(r'<th scope="row">([^<]*)</th><td class="num">(\d+)</td>', page) == 2 * [
        ("None", "0"), ("By the stated rules", "0"), ("Current exclusions", "1"),
    ]  # fmt: skip
    assert "The current exclusions differ from the rules: P002 is excluded without a rule." in page
    assert "The answers of 1 participant were excluded: Pressed one key (n = 1)." in page


def test_methods_text_has_the_figures(rosa: Client, run: Study, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 0)
    page = text(rosa.get(f"{at}results/"))
    top = study_statistics.headline(study_statistics.gather(run))
    share = f"{100 * top.majority.right / top.majority.n:.1f} % (n = {top.majority.n})"
    assert f"We drew {run.questions.count()} questions uniformly at random" in page
    assert f"is right on {share} of questions" in page
    assert "Nobody’s answers were excluded." in page
    assert f"Krippendorff’s alpha (nominal) is {top.alpha:.3f}" in page


def test_questions_to_look_at_are_linked_and_filtered(rosa: Client, run: Study, at: str) -> None:
    found = study_statistics.gather(run)
    tied = study_statistics.ties(found)
    assert tied
    page = text(rosa.get(f"{at}results/?flag=split"))
    shown = [int(number) for number in re.findall(r'href="/datasets/rows/val/q/(\d+)/"', page)]
    assert sorted(shown) == tied
    assert set(tied) <= {int(n) for n in re.findall(r"/q/(\d+)/", text(rosa.get(f"{at}results/?page=x")))}
    every = {int(n) for n in re.findall(r"/q/(\d+)/", text(rosa.get(f"{at}results/?flag=every")))}
    counted = Answer.objects.counted().filter(question__study=run)
    assert every == set(counted.values_list("question__position", flat=True))


def test_pages_of_a_draft_and_of_a_study_without_answers_have_a_message(rosa: Client, run: Study) -> None:
    draft = Study.objects.create(split=run.split, owner=run.owner, title="Draft")
    assert "No participants yet" in text(rosa.get(f"/studies/{draft.code}/results/"))
    assert rosa.get(f"/studies/{draft.code}/results/live/").status_code == 404
    assert "No participants yet" in text(rosa.get(f"/studies/{draft.code}/people/"))
    empty = answered.opened(run.split, [run.questions.values_list("position", flat=True)[0]])
    assert "No answers yet" in text(rosa.get(f"/studies/{empty.code}/results/"))


def test_pages_need_a_limited_number_of_queries(
    rosa: Client, run: Study, at: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for page in ("results/", "people/"):
        rosa.get(at + page)
        with django_assert_max_num_queries(26):
            rosa.get(at + page)


# Participants


def test_participants_are_listed_with_their_number_of_answers(rosa: Client, run: Study, at: str) -> None:
    page = text(rosa.get(f"{at}people/"))
    for number, person in enumerate(run.participants.order_by("pk"), start=1):
        given = Answer.objects.current().filter(participant=person).count()
        assert re.search(rf'id="P{number:03}">.*?<td class="num">{given}</td>', page)
    assert page.count("(test link)") == 1


def test_participants_are_listed_with_their_ids_on_the_platform(rosa: Client, first: Participant, at: str) -> None:
    Participant.objects.filter(pk=first.pk).update(identity="5f0c0ffee", study_there="57d1e")
    page = text(rosa.get(f"{at}people/"))
    assert "5f0c0ffee" in page and "57d1e" in page


def test_the_page_names_placeholders_that_nobody_replaced(
    rosa: Client, run: Study, first: Participant, at: str
) -> None:
    assert "did not replace" not in text(rosa.get(f"{at}people/"))
    Participant.objects.filter(pk=first.pk).update(placeholders="PROLIFIC_PID={{%PROLIFIC_PID%}}\nSESSION_ID=")
    Participant.objects.filter(study=run, is_test=True).update(placeholders="STUDY_ID=null")
    page = text(rosa.get(f"{at}people/"))
    assert '<code>PROLIFIC_PID=<bdi>{{%PROLIFIC_PID%}}</bdi></code> <span class="count">1 participant</span>' in page
    assert "<code>SESSION_ID=<bdi></bdi></code> (empty)" in page and "<code>STUDY_ID=" not in page
    assert f'href="{at}#where">page of the study</a>' in page


def test_excluding_needs_a_reason_and_can_be_undone(rosa: Client, run: Study, first: Participant, at: str) -> None:
    refused = rosa.post(f"{at}people/1/exclude/", {"reason": "  "})
    first.refresh_from_db()
    assert (refused.status_code, first.excluded) == (400, None)
    assert "Expected a reason" in text(refused)
    done = rosa.post(f"{at}people/1/exclude/", {"reason": "does not see colours"})
    first.refresh_from_db()
    assert done.headers["Location"] == f"{at}people/?page=1#P001"
    assert first.excluded is not None and first.reason == "does not see colours"
    assert not Answer.objects.counted().filter(participant=first).exists()
    assert "Excluded: does not see colours" in text(rosa.get(f"{at}people/"))
    rosa.post(f"{at}people/1/take-back/")
    first.refresh_from_db()
    assert (first.excluded, first.reason) == (None, "")
    assert Answer.objects.counted().filter(participant=first).exists()


def test_excluding_again_changes_neither_time_nor_reason(rosa: Client, first: Participant, at: str) -> None:
    rosa.post(f"{at}people/1/exclude/", {"reason": "does not see colours"})
    first.refresh_from_db()
    rosa.post(f"{at}people/1/exclude/", {"reason": "another"})
    assert Participant.objects.get(pk=first.pk).excluded == first.excluded
    assert Participant.objects.get(pk=first.pk).reason == "does not see colours"


def test_erasing_needs_a_ticked_box(rosa: Client, first: Participant, at: str) -> None:
    Participant.objects.filter(pk=first.pk).update(identity="5f0c0ffee", comment="I am Rosa")
    assert "I am Rosa" in text(rosa.get(f"{at}people/"))
    assert rosa.post(f"{at}people/1/erase/").status_code == 400
    assert Participant.objects.get(pk=first.pk).identity == "5f0c0ffee"
    rosa.post(f"{at}people/1/erase/", {"confirm": "yes"})
    page = text(rosa.get(f"{at}people/"))
    assert "5f0c0ffee" not in page and "I am Rosa" not in page


def test_an_export_lists_submissions_to_approve_and_stores_nothing(rosa: Client, first: Participant, at: str) -> None:
    Participant.objects.filter(pk=first.pk).update(identity="5f0", session="s-1", stage="completed")
    before = list(Participant.objects.order_by("pk").values())
    rows = "Submission id,Participant id,Status,Completion code,Time taken\ns-1,5f0,AWAITING REVIEW,,600\ns-2,5f1,,,\n"
    Study.objects.update(reward="2.50")
    page = text(rosa.post(f"{at}people/", {"file": SimpleUploadedFile("export.csv", rows.encode())}))
    assert re.search(r'<textarea id="approve"[^>]*>s-1</textarea>', page)
    assert "GBP 15.00" in page and "This site does not know these submissions: s-2." in page
    assert "less than" not in page
    assert list(Participant.objects.order_by("pk").values()) == before


def test_pay_below_the_stated_pay_gets_a_warning(rosa: Client, first: Participant, at: str) -> None:
    Participant.objects.filter(pk=first.pk).update(identity="5f0", session="s-1", stage="completed")
    Study.objects.update(reward="1.50", hourly_pay=12)
    rows = "Submission id,Participant id,Status,Completion code,Time taken\ns-1,5f0,AWAITING REVIEW,,601\n"
    page = text(rosa.post(f"{at}people/", {"file": SimpleUploadedFile("export.csv", rows.encode())}))
    assert "GBP 8.99" in page
    assert "less than the GBP 12.00 an hour that you stated" in page
    assert "a session should pay GBP 2.01" in page  # 601 s at 12 an hour are 2.0033, rounded up


def test_a_bad_export_is_refused_with_a_message(rosa: Client, at: str) -> None:
    sent = {"file": SimpleUploadedFile("export.csv", b"a,b\n1,2\n")}
    refused = rosa.post(f"{at}people/", sent)
    assert refused.status_code == 400
    assert "Expected the columns Submission id, Participant id" in text(refused)
    assert rosa.post(f"{at}people/", {}).status_code == 400


# Files


def test_files_have_every_answer(rosa: Client, run: Study, at: str) -> None:
    reply = rosa.get(f"{at}answers.csv")
    assert reply.headers["Content-Disposition"] == f'attachment; filename="study-{run.code}-answers.csv"'
    content = b"".join(reply)  # type: ignore[arg-type]
    assert content.startswith(b"\xef\xbb\xbfparticipant,kind,")
    rows = list(csv.DictReader(content.decode("utf-8-sig").splitlines()))
    assert list(pd.read_csv(io.BytesIO(content)).columns) == list(rows[0])
    objects = [json.loads(line) for line in b"".join(rosa.get(f"{at}answers.jsonl")).splitlines()]  # type: ignore[arg-type]
    assert objects == [line._asdict() for line in lines(run)]
    assert [row["answer"] for row in rows] == [one["answer"] for one in objects]
    workbook = rosa.get(f"{at}answers.xlsx")
    assert workbook.headers["Content-Disposition"] == f'attachment; filename="study-{run.code}-answers.xlsx"'
    assert cells_of(b"".join(workbook)) == [list(rows[0]), *(list(one.values()) for one in objects)]  # type: ignore[arg-type]


# Rules


def freeze(run: Study, **fields: Any) -> None:
    """Freeze these rules for a study, as opening does."""
    Study.objects.filter(pk=run.pk).update(rules="", easy=run.split, **fields)
    exclusion_rules.freeze(Study.objects.get(pk=run.pk))
    run.refresh_from_db()


def test_pages_show_rules_with_hash_and_the_command_that_checks_it(rosa: Client, run: Study, at: str) -> None:
    freeze(run, out_fast="2.5")
    for page in (text(rosa.get(at)), text(rosa.get(f"{at}results/")), text(rosa.get(f"{at}people/"))):
        assert "a median answer time below 2.5 s, with at least 10 answers" in page
        [command] = set(re.findall(r"<code>(printf .*?)</code>", page))
        said = subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
        assert said.split()[0] == run.rules_digest
        assert f'SHA-256 <code class="hash">{run.rules_digest}</code>' in page


def test_the_page_names_whom_the_rules_exclude_before_it_excludes_them(rosa: Client, run: Study, at: str) -> None:
    freeze(run, out_unfinished=True)
    Participant.objects.update(stage="completed")
    Participant.objects.filter(pk=run.participants.order_by("pk")[1].pk).update(stage="questions")
    assert "1 participant is still answering; the rules apply at the end" in text(rosa.get(f"{at}people/"))
    Answer.objects.update(received="2026-01-01T00:00:00Z")
    page = text(rosa.get(f"{at}people/"))
    assert "1 participant meets an exclusion rule and is not excluded yet:" in page
    assert "<b>P002</b>: did not finish" in page
    assert "P002 is not excluded yet, although a rule excludes them" in text(rosa.get(f"{at}results/"))
    answer = rosa.post(f"{at}people/apply-rules/", follow=True)
    assert "1 participant is excluded by the rules: P002." in text(answer)
    assert "Excluded by rule: did not finish" in text(answer)
    assert list(run.participants.exclude(excluded=None)) == [run.participants.order_by("pk")[1]]
    assert "Every participant who meets a rule is excluded" in text(answer)
    rosa.post(f"{at}people/2/take-back/")
    assert "Included again, although a rule excludes them" in text(rosa.get(f"{at}people/"))


# The list of questions


def listed_questions(page: str) -> list[int]:
    return sorted(int(number) for number in re.findall(r'<tr id="q(\d+)"', page))


def test_every_row_of_a_breakdown_links_to_its_questions(rosa: Client, run: Study, at: str) -> None:
    page = text(rosa.get(f"{at}results/"))
    rows = re.findall(r'<a href="(\?by=[^"#]*)#look">.*?</th><td class="num" colspan="2">too few \(n = (\d+)\)', page)
    rows += re.findall(r'<a href="(\?by=[^"#]*)#look">[^<]*</a></th><td class="num"><b>.*?n = (\d+)<', page)
    assert len({query.split("&")[0] for query, _ in rows}) == 3
    for query, n in rows:
        found = text(rosa.get(f"{at}results/{query}"))
        assert len(listed_questions(found)) == int(n), query
        assert found.count("chip remove") == 1
    index = SplitIndex.open(run.split)
    facet = index.facets["type"]
    asked = study_statistics.gather(run).asked.nonzero()[0].tolist()
    for code, value in enumerate(facet.values):
        page = text(rosa.get(f"{at}results/", {"by": "type", "value": value, "flag": "every"}))
        assert set(listed_questions(page)) >= {one for one in asked if facet.codes[one] == code}


def test_every_row_of_the_wrong_answers_links_to_its_questions(rosa: Client, run: Study, at: str) -> None:
    found = study_statistics.gather(run)
    truth = {position: found.vocabulary[int(found.truth[position])] for position in found.votes.questions.tolist()}
    for row in study_statistics.confusion(found):
        page = text(rosa.get(f"{at}results/", {"right": row.right, "given": row.given, "flag": "every"}))
        rows = Answer.objects.counted().filter(question__study=run, text=row.given)
        positions = set(rows.values_list("question__position", flat=True))
        assert listed_questions(page) == sorted(one for one in positions if truth[one] == row.right)
        assert page.count("chip remove") == 2


def test_flags_and_filters_combine_and_each_can_be_removed(rosa: Client, run: Study, at: str) -> None:
    value = SplitIndex.open(run.split).facets["type"].values[0]
    page = rosa.get(f"{at}results/", {"by": "type", "value": value, "flag": "wrong"}).content.decode()
    assert f'href="?by=type&amp;value={value}&amp;flag=split#look"' in page or (
        f'href="?flag=split&amp;by=type&amp;value={value}#look"' in page
    )
    assert '<a class="chip remove" href="?flag=wrong#look"' in page
    wrong = set(listed_questions(text(rosa.get(f"{at}results/?flag=wrong"))))
    of_type = set(listed_questions(text(rosa.get(f"{at}results/", {"by": "type", "value": value, "flag": "every"}))))
    assert set(listed_questions(page)) == wrong & of_type


@pytest.mark.parametrize(
    ("query", "said"),
    sample(
        [
            ({"by": "weather", "value": "rain"}, "Expected by to be one of"),
            ({"by": "type", "value": "<script>alert(1)</script>"}, "Expected value to be one of"),
            ({"by": "type"}, "got nothing."),
            ({"value": "count"}, "Expected by to be one of"),
            ({"by": "a\0b", "value": "\0"}, "Expected by to be one of"),
            ({"by": "x" * 5000, "value": "y"}, "Expected by to be one of"),
            ({"right": "purple elephants"}, "Expected right to be one of"),
            ({"given": "' OR 1=1"}, "Expected given to be one of"),
            ({"flag": "x"}, "Expected flag to be one of"),
        ],
        gate=4,
    ),
)
def test_unknown_filters_are_refused_in_short_messages(rosa: Client, at: str, query: dict[str, str], said: str) -> None:
    answer = rosa.get(f"{at}results/", query)
    assert answer.status_code == 400
    assert said in text(answer)
    assert b"<script>alert" not in answer.content and "x" * 100 not in text(answer)
    assert b"data-live" not in answer.content


def test_withheld_facets_are_not_shown_and_not_accepted_as_filters(
    rosa: Client, run: Study, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "may_see_facet", lambda user, split, facet: facet.name != "type")
    assert "by=type" not in text(rosa.get(f"{at}results/"))
    answer = rosa.get(f"{at}results/?by=type&value=count")
    assert (
        answer.status_code == 400 and "type" not in text(answer).split("Expected by to be one of")[1].split(", got")[0]
    )


def test_each_question_has_its_raw_answers_with_their_participants(rosa: Client, run: Study, at: str) -> None:
    rosa.post(f"{at}people/2/exclude/", {"reason": "odd"})
    page = text(rosa.get(f"{at}results/?flag=every"))
    names = {one.pk: f"P{number:03}" for number, one in enumerate(run.participants.order_by("pk"), start=1)}
    shown = set(listed_questions(page))
    rows = Answer.objects.current().filter(question__study=run, question__position__in=shown)
    for row in rows.select_related("participant", "question"):
        said = row.text or row.get_refusal_display()
        line = f"<b>{names[row.participant_id]}</b> {said} "
        part = page.split(f'<details id="raw{row.question.position}">')[1].split("</details>")[0]
        assert (line in part) is not row.participant.is_test
        if row.participant.excluded is not None:
            assert "excluded" in part.split(line)[1].split("</li>")[0]


# Live updates


@pytest.fixture
def timeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the state of a study the same while time passes; otherwise it changes every five minutes."""
    monkeypatch.setattr(study_statistics, "A_WHILE", 10**12)


def find_live_address(page: str) -> str:
    found = re.search(r'data-live="([^"]*)"', page)
    return unescape(found[1]) if found else ""


@pytest.mark.usefixtures("timeless")
def test_the_live_part_is_equal_to_the_part_of_the_page(rosa: Client, run: Study, at: str) -> None:
    page = rosa.get(f"{at}results/?flag=every").content.decode()
    address = find_live_address(page)
    assert "js/live.js" in page and "flag=every" in address
    part = rosa.get(address.replace("seen=", "seen=x")).content.decode()
    assert part.strip() in page
    assert rosa.get(address).status_code == 204


@pytest.mark.usefixtures("timeless")
@pytest.mark.parametrize("what", sample(["answer", "undo", "exclude", "take back", "check", "finish", "close"], gate=3))
def test_the_live_part_is_sent_again_after_each_kind_of_change(rosa: Client, run: Study, at: str, what: str) -> None:
    person, question = run.participants.order_by("pk")[0], run.questions.all()[0]
    slot_assignment.exclude(run.participants.order_by("pk")[2], reason="odd")
    address = find_live_address(rosa.get(f"{at}results/").content.decode())
    assert rosa.get(address).status_code == 204
    match what:
        case "answer":
            new = Participant.objects.create(study=run)
            answered.put(new, run, question.position, "yes")
        case "undo":
            row = Answer.objects.current().filter(participant=person)[0]
            slot_assignment.answer(
                person, row.question_id, slot_assignment.Reply(client=uuid.uuid4(), text="no", turn=row.turn + 1)
            )
        case "exclude":
            slot_assignment.exclude(person, reason="odd")
        case "take back":
            slot_assignment.take_back(run.participants.order_by("pk")[2])
        case "check":
            EasyAnswer.objects.create(participant=person, kind="check", number=0, client=uuid.uuid4(), is_right=True)
        case "finish":
            Participant.objects.filter(pk=person.pk).update(stage="completed", finished=Now())
        case "close":
            lifecycle.close(run)
    part = rosa.get(address)
    assert part.status_code == 200
    assert (find_live_address(part.content.decode()) == "") is (what == "close")


@pytest.mark.usefixtures("timeless")
def test_the_live_part_needs_few_queries_if_nothing_changed(
    rosa: Client, run: Study, at: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    address = find_live_address(rosa.get(f"{at}results/").content.decode())
    with django_assert_max_num_queries(10):
        assert rosa.get(address).status_code == 204


def test_the_live_part_is_sent_again_after_a_while(
    rosa: Client, run: Study, at: str, timeless: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = find_live_address(rosa.get(f"{at}results/").content.decode())
    assert rosa.get(address).status_code == 204
    monkeypatch.setattr(study_statistics, "A_WHILE", 1)
    assert rosa.get(address).status_code == 200


def test_the_page_of_a_closed_study_has_no_live_part(rosa: Client, run: Study, at: str) -> None:
    lifecycle.close(run)
    page = text(rosa.get(f"{at}results/"))
    assert "data-live" not in page and "live.js" not in page
