"""Pages for researchers who run studies."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Group
from django.core import signing
from django.test import Client

from annotations.answering import exclusion_rules, slot_assignment
from annotations.models import Participant, Study
from annotations.studies import lifecycle
from annotations.views import study_form
from generation.engine.worlds.base import Published
from generation.models import Dataset
from generation.storage.split_index import SplitIndex
from tests.annotations.answered import claims_of
from tests.annotations.visitors import Visitor
from tests.clients import client_of
from tests.generation import small
from tests.proof import sample
from webapp.models import User

Posted = Callable[..., Any]


def browser_of(name: str, *, is_researcher: bool = True, is_staff: bool = False) -> Client:
    user, _ = User.objects.get_or_create(username=name, defaults={"is_staff": is_staff})
    if is_researcher:
        user.groups.add(Group.objects.get_or_create(name="researcher")[0])
    return client_of(user)


@pytest.fixture
def rosa(db: None) -> Client:
    """Give the browser of a researcher."""
    return browser_of("rosa")


@pytest.fixture
def form(shapes: Dataset) -> dict[str, Any]:
    """Give the fields of a completed form."""
    return {
        "title": "Shapes", "wanted": 4, "evenly": "", "per_question": 3, "per_session": 4,
        "easy": shapes.splits.get(name="val").pk, "practice": 6, "practice_right": 4, "hourly_pay": "12",
        "currency": "GBP", "consent": "Do you agree?", "instructions": "Look.", "completed": "DONE",
        "screened_out": "OUT", "full": "https://example.org/full", "seed": 0, "checks": 2, "attention": 2,
        "palette": "record", "lease_minutes": 10, "opens": "", "closes": "", "person_parameter": "PROLIFIC_PID",
        "study_parameter": "STUDY_ID", "session_parameter": "SESSION_ID",
    }  # fmt: skip


@pytest.fixture
def draft(rosa: Client, form: dict[str, Any]) -> Study:
    """Give a draft that was made with the form."""
    answer = rosa.post("/studies/new/?split=shapes/train", form)
    assert answer.status_code == 302, answer.content.decode()
    return Study.objects.get()


@pytest.fixture
def opened(draft: Study) -> Study:
    """Give the study of the draft after it was opened."""
    lifecycle.open_study(draft)
    return draft


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_the_form_does_not_name_link_only_datasets_of_others(rosa: Client, draft: Study) -> None:
    other = small.made("unlisted", with_images=False, visibility="link", splits={"train": {"scenes": 2}})
    easy = other.splits.get()
    new, edit = "/studies/new/?split=shapes/train", f"/studies/{draft.code}/edit/"
    assert all("unlisted" not in text_of(rosa.get(address)) for address in (new, edit))
    assert "unlisted/train" in text_of(rosa.get("/studies/new/?split=unlisted/train"))  # she knows its address
    Study.objects.filter(pk=draft.pk).update(easy=easy)  # as if she had chosen it while its dataset was public
    assert "unlisted/train" in text_of(rosa.get(edit))
    Dataset.objects.filter(pk=other.pk).update(visibility="public")
    assert "unlisted/train" in text_of(rosa.get(new))


# The form ---------------------------------------------------------------------------------------------------


def test_the_form_makes_a_draft(rosa: Client, form: dict[str, Any]) -> None:
    answer = rosa.post("/studies/new/?split=shapes/train", form, follow=True)
    study = Study.objects.get()
    assert answer.redirect_chain == [(f"/studies/{study.code}/", 302)]
    assert (study.state, str(study.split), study.owner.username, study.wanted) == ("draft", "shapes/train", "rosa", 4)
    assert "The study is ready to open." in text_of(answer)


def test_a_study_begins_with_a_choice_of_splits(rosa: Client, shapes: Dataset) -> None:
    page = text_of(rosa.get("/studies/new/"))
    assert 'value="shapes/train"' in page
    assert 'value="shapes/test"' not in page  # its answers are withheld, and she is not its owner


def test_a_new_form_has_useful_initial_values(rosa: Client, shapes: Dataset) -> None:
    answer = rosa.get("/studies/new/?split=shapes/train&wanted=4")
    first = answer.context["form"].initial
    assert first["easy"] == shapes.splits.get(name="val").pk
    codes = {first[name] for name in ("completed", "screened_out", "full")}
    assert len(codes) == 3
    assert all(len(code) == 8 for code in codes)
    assert "<h1>New study</h1>" in text_of(answer)


@pytest.mark.parametrize(("query", "wanted"), [("", 16), ("&filter=type%3Dcount", None), ("&filter=nonsense%3D1", 16)])
def test_a_new_form_asks_for_no_more_questions_than_there_are(
    rosa: Client, shapes: Dataset, query: str, wanted: int | None
) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(owner=User.objects.get(username="rosa"))
    index = SplitIndex.open(shapes.splits.get(name="train"))
    found = index.select({"type": {index.facets["type"].values.index("count")}})
    answer = rosa.get(f"/studies/new/?split=shapes/train{query}")
    assert answer.context["form"].initial["wanted"] == (wanted or len(found))
    assert ("There is no plan yet" in text_of(answer)) == ("nonsense" in query)


def test_the_plan_is_shown_with_the_form_by_get_and_by_post(rosa: Client, form: dict[str, Any]) -> None:
    by_get = text_of(rosa.get("/studies/new/?split=shapes/train&wanted=10&per_session=10&per_question=2"))
    assert "<dt>Answers wanted</dt><dd>20</dd>" in by_get
    assert "<dt>Sessions</dt><dd>2</dd>" in by_get
    by_post = text_of(rosa.post("/studies/new/?split=shapes/train", form | {"action": "plan", "wanted": 16}))
    assert "<dt>Answers wanted</dt><dd>48</dd>" in by_post
    assert "<dt>Sessions</dt><dd>12</dd>" in by_post
    assert Study.objects.count() == 0


def test_slices_are_shown_with_their_n(rosa: Client, shapes: Dataset) -> None:
    page = text_of(rosa.get("/studies/new/?split=shapes/train&wanted=16"))
    assert "95 % interval for each slice" in page
    assert "too few (n = " in page


def test_the_button_for_the_paper_fills_in_its_numbers_and_keeps_the_rest(rosa: Client, form: dict[str, Any]) -> None:
    answer = rosa.post("/studies/new/?split=shapes/train", form | {"action": "paper", "title": "Like CLEVR"})
    first = answer.context["form"].initial
    assert (first["wanted"], first["per_question"], first["title"]) == (5500, 3, "Like CLEVR")
    assert "Expected at most 16 questions, which are all of shapes/train, got 5,500." in text_of(answer)


def test_a_world_whose_paper_has_no_human_baseline_has_no_button_for_it(
    rosa: Client, shapes: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = text_of(rosa.get("/studies/new/?split=shapes/train"))
    assert "The human baseline of Johnson et al. 2017 has 5,500 questions with 3 participants each." in page
    monkeypatch.setattr(type(shapes.get_world()), "published", Published())
    assert "Use the paper’s numbers" not in text_of(rosa.get("/studies/new/?split=shapes/train"))


@pytest.mark.parametrize(
    ("field", "text", "said"),
    sample(
        [
            ("wanted", "17", "Expected at most 16 questions"),
            ("wanted", "x", "Enter a whole number"),
            ("completed", "two words", "Expected a code of at most 60 letters"),
            ("completed", "http://example.org/", "begins with https"),
            ("full", "javascript://example.org/", "begins with https"),
            ("practice_right", "7", "Expected at most 6"),
            ("study_parameter", "PROLIFIC_PID", "three different names of parameters"),
            ("study_parameter", "prolific_pid", "three different names of parameters"),
            ("person_parameter", "test", "which the site uses itself"),
            ("person_parameter", "Test", "which the site uses itself"),
            ("hourly_pay", "-1", "greater than or equal to 0"),
            ("easy", "999999", "not one of the available choices"),
            ("evenly", "weather", "not one of the available choices"),
            ("checks", "9999999999999999", "less than or equal to 50"),
            ("palette", "nothing", "not one of the available choices"),
        ],
        gate=6,
    ),
)
def test_a_wrong_value_gets_a_message_and_makes_no_study(
    rosa: Client, form: dict[str, Any], field: str, text: str, said: str
) -> None:
    answer = rosa.post("/studies/new/?split=shapes/train", form | {field: text})
    assert answer.status_code == 400
    assert any(said in error for errors in answer.context["form"].errors.values() for error in errors)
    assert "id_wanted" in text_of(answer)
    assert Study.objects.count() == 0


def test_without_practice_no_right_answers_are_needed_in_it(rosa: Client, form: dict[str, Any]) -> None:
    assert rosa.post("/studies/new/?split=shapes/train", form | {"practice": 0}).status_code == 302
    assert Study.objects.get().practice_right == 0


def test_a_draft_is_edited(rosa: Client, draft: Study, form: dict[str, Any]) -> None:
    assert f'value="{draft.title}"' in text_of(rosa.get(f"/studies/{draft.code}/edit/"))
    assert rosa.post(f"/studies/{draft.code}/edit/", form | {"wanted": 5}).status_code == 302
    draft.refresh_from_db()
    assert draft.wanted == 5


def test_open_studies_accept_new_texts_but_no_new_numbers(rosa: Client, opened: Study, form: dict[str, Any]) -> None:
    changes = {"wanted": 5, "per_question": 9, "easy": "", "consent": "Anew.", "completed": "OTHER"}
    assert rosa.post(f"/studies/{opened.code}/edit/", form | changes).status_code == 302
    opened.refresh_from_db()
    assert (opened.wanted, opened.per_question, opened.easy is None) == (4, 3, False)
    assert (opened.consent, opened.completed) == ("Anew.", "OTHER")
    assert list(opened.texts.filter(kind="consent").values_list("text", flat=True)) == ["Do you agree?", "Anew."]


def test_the_consent_shows_the_duration_of_the_plan(rosa: Client, form: dict[str, Any], shapes: Dataset) -> None:
    first = rosa.get("/studies/new/?split=shapes/train&wanted=4").context["form"].initial
    assert "It takes about {minutes} minutes." in first["consent"] and "12" not in first["consent"]
    rosa.post("/studies/new/?split=shapes/train", form | {"consent": first["consent"]})
    study = Study.objects.get()
    page = text_of(rosa.get(f"/studies/{study.code}/"))
    assert "<dd>about 4.8 minutes</dd>" in page and "Check these before you open" not in page
    rosa.post(f"/studies/{study.code}/open/")
    study.refresh_from_db()
    assert "It takes about 5 minutes." in study.consent
    assert study.texts.get(kind="consent").text == study.consent
    visitor = Visitor(study)
    assert "<li>It takes about 5 minutes." in visitor.look()
    rosa.post(f"/studies/{study.code}/edit/", form | {"consent": "Only {minutes} minutes"})
    assert "Only 5 minutes" in visitor.look()
    assert study.texts.filter(kind="consent").last().text == "Only 5 minutes"


def test_a_consent_that_states_another_duration_gets_a_warning(rosa: Client, form: dict[str, Any]) -> None:
    said = "The text says “12 minutes”, but a session takes about 4.8 minutes."
    texts = {"consent": "It takes about 12 minutes."}
    assert said in text_of(rosa.post("/studies/new/?split=shapes/train", form | texts | {"action": "plan"}))
    rosa.post("/studies/new/?split=shapes/train", form | texts)
    study = Study.objects.get()
    page = text_of(rosa.get(f"/studies/{study.code}/"))
    assert said in page and "Check these before you open" in page and f"/studies/{study.code}/edit/#id_consent" in page
    assert rosa.post(f"/studies/{study.code}/open/").status_code == 302  # a warning does not prevent opening
    assert "The texts for participants state another duration" in text_of(rosa.get(f"/studies/{study.code}/"))


def test_participants_of_an_earlier_study_are_kept_out(
    rosa: Client, opened: Study, form: dict[str, Any], client: Client
) -> None:
    assert rosa.post("/studies/new/?split=shapes/train", form | {"not_from": [opened.pk]}).status_code == 302
    later = Study.objects.exclude(pk=opened.pk).get()
    assert list(later.not_from.all()) == [opened]
    assert list(opened.not_from.all()) == []
    lifecycle.open_study(later)
    Participant.objects.create(study=opened, identity="ann")
    Participant.objects.create(study=opened, identity="tom", is_test=True)
    Participant.objects.create(study=opened, identity="late", stage=Participant.Stage.FULL)
    link = f"/s/{later.code}/?PROLIFIC_PID="
    answer = client.get(f"{link}ann")
    assert 400 <= answer.status_code < 500
    assert "did not take part in an earlier study" in text_of(answer)
    for name in ("ben", "tom", "late", ""):
        assert client.get(link + name).status_code in (302, 303)
    assert set(later.participants.values_list("identity", flat=True)) == {"ben", "tom", "late", ""}


def test_studies_of_others_keep_nobody_out(rosa: Client, opened: Study, form: dict[str, Any]) -> None:
    eve = browser_of("eve")
    eve.post("/studies/new/?split=shapes/train", form | {"not_from": [opened.pk]})
    assert not any(study.not_from.exists() for study in Study.objects.all())


# The overview -----------------------------------------------------------------------------------------------


def test_the_overview_shows_the_address_for_prolific(rosa: Client, draft: Study, settings: Any) -> None:
    settings.PUBLIC_URL = "https://studies.example.org"
    page = text_of(rosa.get(f"/studies/{draft.code}/"))
    address = (
        f"https://studies.example.org/s/{draft.code}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
        "&amp;STUDY_ID={{%STUDY_ID%}}&amp;SESSION_ID={{%SESSION_ID%}}"
    )
    assert address in page
    assert "Ask for <b>3</b> places" in page


def test_buttons_open_close_and_open_again(rosa: Client, draft: Study) -> None:
    for action, state in (("open", "open"), ("open", "open"), ("close", "closed"), ("open", "open")):
        assert rosa.post(f"/studies/{draft.code}/{action}/").status_code == 302
        draft.refresh_from_db()
        assert draft.state == state
    assert draft.slots.count() == 12


def test_problems_of_a_draft_are_shown_with_links_to_the_fields(rosa: Client, draft: Study) -> None:
    Study.objects.filter(pk=draft.pk).update(completed="", easy=None)
    answer = rosa.post(f"/studies/{draft.code}/open/")
    assert answer.status_code == 409
    page = text_of(answer)
    assert f'href="/studies/{draft.code}/edit/#id_completed"' in page
    assert f'href="/studies/{draft.code}/edit/#id_easy"' in page
    draft.refresh_from_db()
    assert draft.state == Study.State.DRAFT


def test_progress_counts_answers_and_participants_but_no_test_participants(rosa: Client, opened: Study) -> None:
    person = Participant.objects.create(study=opened, stage=Participant.Stage.COMPLETED)
    Participant.objects.create(study=opened, is_test=True)
    [slot] = claims_of(person)
    slot_assignment.answer(person, slot.question_id, slot_assignment.Reply(client="0" * 32, text="yes", visible=3000))  # type: ignore[arg-type]
    page = text_of(rosa.get(f"/studies/{opened.code}/"))
    assert "1 of 12 answers" in page
    assert "<dt>Participants</dt><dd>1</dd>" in page
    assert "<dt>Completed</dt><dd>1</dd>" in page
    row = text_of(rosa.get("/studies/"))
    assert '<td class="num">1</td><td class="num">12</td>' in row


def test_the_test_link_is_signed_for_this_study(rosa: Client, opened: Study) -> None:
    answer = rosa.get(f"/studies/{opened.code}/try/")
    assert answer.status_code == 302
    parts = urlsplit(answer["Location"])
    assert parts.path == f"/s/{opened.code}/"
    token = parse_qs(parts.query)["test"][0]
    assert signing.loads(token, salt="annotations.test") == opened.code


def test_a_draft_cannot_be_tried(rosa: Client, draft: Study) -> None:
    answer = rosa.get(f"/studies/{draft.code}/try/")
    assert answer.status_code == 409
    assert "got a draft" in text_of(answer)


# Access ----------------------------------------------------------------------------------------------------

PAGES = ("", "edit/", "try/")
BUTTONS = ("open/", "close/")


def test_other_accounts_get_404_and_visitors_must_sign_in(opened: Study, client: Client) -> None:
    other = browser_of("eve")
    for page in PAGES:
        address = f"/studies/{opened.code}/{page}"
        assert other.get(address).status_code == 404
        assert client.get(address)["Location"].startswith("/accounts/login/")
    for button in BUTTONS:
        assert other.post(f"/studies/{opened.code}/{button}").status_code == 404
    opened.refresh_from_db()
    assert opened.is_open


def test_staff_run_every_study(opened: Study) -> None:
    staff = browser_of("boss", is_researcher=False, is_staff=True)
    User.objects.filter(username="boss").update(is_superuser=True)
    assert "Shapes" in text_of(staff.get("/studies/"))
    assert staff.get(f"/studies/{opened.code}/").status_code == 200
    assert staff.get("/admin/annotations/study/").status_code == 200
    assert staff.get(f"/admin/annotations/study/{opened.pk}/change/").status_code == 200


def test_the_list_has_only_studies_of_the_account(opened: Study) -> None:
    assert "Shapes" not in text_of(browser_of("eve").get("/studies/"))
    assert "No studies yet" in text_of(browser_of("eve").get("/studies/"))


def test_the_page_of_a_split_links_its_owner_to_a_new_study(rosa: Client, shapes: Dataset) -> None:
    link = 'href="/studies/new/?split=shapes/train"'
    assert link not in text_of(rosa.get("/datasets/shapes/train/"))
    Dataset.objects.filter(pk=shapes.pk).update(owner=User.objects.get(username="rosa"))
    assert link in text_of(rosa.get("/datasets/shapes/train/"))


def test_a_former_researcher_keeps_her_studies(rosa: Client, opened: Study) -> None:
    User.objects.get(username="rosa").groups.clear()
    assert "Shapes" in text_of(rosa.get("/studies/"))
    assert rosa.get("/studies/new/").status_code == 403


def test_only_researchers_make_studies(client: Client, shapes: Dataset) -> None:
    member = browser_of("mia", is_researcher=False)
    for page in ("/studies/", "/studies/new/", "/studies/new/?split=shapes/train"):
        assert member.get(page).status_code == 403
        assert client.get(page)["Location"].startswith("/accounts/login/")


def test_no_study_is_made_of_withheld_or_missing_splits(rosa: Client, form: dict[str, Any]) -> None:
    for split in ("shapes/test", "shapes/nothing", "nothing", "/", "shapes/%00"):
        assert rosa.get(f"/studies/new/?split={split}").status_code == 404
        assert rosa.post(f"/studies/new/?split={split}", form).status_code == 404
    assert Study.objects.count() == 0


def test_buttons_accept_only_post_and_pages_only_get(rosa: Client, draft: Study) -> None:
    for button in BUTTONS:
        assert rosa.get(f"/studies/{draft.code}/{button}").status_code == 405
    for page in ("/studies/", f"/studies/{draft.code}/", f"/studies/{draft.code}/try/"):
        assert rosa.post(page).status_code == 405


def test_a_list_of_many_needs_few_queries(rosa: Client, draft: Study, django_assert_max_num_queries: Any) -> None:
    for number in range(5):
        Study.objects.create(split=draft.split, owner=draft.owner, title=f"Study {number}")
    with django_assert_max_num_queries(7):
        rosa.get("/studies/")


def test_only_researchers_see_studies_in_the_navigation(rosa: Client, client: Client, shapes: Dataset) -> None:
    link = '<a href="/studies/"'
    assert link in text_of(rosa.get("/datasets/"))
    assert link not in text_of(client.get("/datasets/"))
    assert link not in text_of(browser_of("mia", is_researcher=False).get("/datasets/"))


# Exclusion rules -------------------------------------------------------------------------------------------------


def test_opening_fixes_the_rules_of_the_form(rosa: Client, form: dict[str, Any]) -> None:
    fields = {"out_attention": "2", "out_checks": "", "out_fast": "1.5", "out_unfinished": "on"}
    rosa.post("/studies/new/?split=shapes/train", form | fields)
    study = Study.objects.get()
    at = f"/studies/{study.code}/"
    assert "The rules are fixed, with time and hash, when the study is opened." in text_of(rosa.get(at))
    rosa.post(f"{at}open/")
    study.refresh_from_db()
    assert exclusion_rules.rules_of(study).on == ["attention", "fast", "unfinished"]
    page = text_of(rosa.get(f"{at}edit/"))
    assert all(re.search(rf'<input[^>]*name="{name}"[^>]* disabled', page) for name in exclusion_rules.FIELDS)
    assert rosa.post(f"{at}edit/", form | {"out_attention": "1", "out_straight": "on"}).status_code == 302
    again = Study.objects.get()
    assert (again.rules, again.rules_digest) == (study.rules, study.rules_digest)
    assert (again.out_attention, again.out_straight) == (2, False)


def test_a_new_form_has_the_usual_rules(rosa: Client, shapes: Dataset) -> None:
    first = rosa.get("/studies/new/?split=shapes/train").context["form"].initial
    assert (first["out_attention"], first["out_fast"]) == (2, "1.5")
    assert not any(first[name] for name in ("out_checks", "out_straight", "out_colours", "out_unfinished"))


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("out_attention", "3", "Expected at most 2, the number in a session."),
        ("out_checks", "9", "Expected at most 2, the number in a session."),
        ("out_checks", "0", "greater than or equal to 1"),
        ("out_fast", "0", "greater than or equal to 0.1"),
        ("out_fast", "soon", "Enter a number."),
    ],
)
def test_a_bad_rule_gets_a_message_at_its_field(
    rosa: Client, form: dict[str, Any], field: str, typed: str, said: str
) -> None:
    answer = rosa.post("/studies/new/?split=shapes/train", form | {field: typed})
    assert answer.status_code == 400
    assert said in " ".join(answer.context["form"].errors[field])


def test_an_unticked_box_stays_unticked_when_the_plan_is_updated(
    rosa: Client, draft: Study, form: dict[str, Any]
) -> None:
    Study.objects.update(out_straight=True, out_colours=True)
    sent = form | {"action": "plan", "out_colours": "on"}
    page = text_of(rosa.post(f"/studies/{draft.code}/edit/", sent))
    boxes = re.findall(r'<input type="checkbox" name="(out_\w+)"[^>]* checked', page)
    assert boxes == ["out_colours"]


def test_an_old_form_does_not_change_a_draft_that_was_opened_in_another_tab(
    rosa: Client, draft: Study, form: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    find = study_form.find_study

    def find_and_open(*args: Any) -> Study:
        found = find(*args)
        lifecycle.open_study(Study.objects.get(pk=found.pk))
        return found

    monkeypatch.setattr(study_form, "find_study", find_and_open)
    answer = rosa.post(f"/studies/{draft.code}/edit/", form | {"wanted": 3, "out_attention": "1"})
    assert answer.status_code == 409 and "opened in the meantime" in text_of(answer)
    draft.refresh_from_db()
    assert (draft.state, draft.wanted, draft.out_attention, draft.rules != "") == ("open", 4, None, True)
