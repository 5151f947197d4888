"""A platform's names in the address of a study: placeholders that nobody replaced name nobody, odd ids stay ids."""

import importlib
from urllib.parse import quote

import pytest
from django.apps import apps
from django.http import QueryDict
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from annotations.answering.participants import erase, people_of, placeholders_of
from annotations.answering.platform_names import BadLink, PlatformNames, names_nobody, read_address
from annotations.models import Participant, Study
from annotations.views.studies import address_of
from tests.annotations.conftest import Begin

NAMES = ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID")
PLACEHOLDERS = [
    "{{%PROLIFIC_PID%}}", "{PROLIFIC_PID}", "{{PROLIFIC_PID}}", "{{ PROLIFIC_PID }}", "%SURVEY_CODE%",
    "%%SURVEY_CODE%%", "${e://Field/PROLIFIC_PID}", "${q://QID123/ChoiceTextEntryValue}",
    "${m://ExternalDataReference}", "[worker_id]", "<participant>", "&lt;participant&gt;", "<<pid>>", "[pid_value]",
    "[%RID%]", "[% RID %]", "[c_value]", "[[pid]]", "undefined", "Undefined", "null", "NULL", "(null)", "<null>",
    "None", "NaN", "nan", "nil", "[object Object]", "[object HTMLInputElement]", "object Object",
    "ASSIGNMENT_ID_NOT_AVAILABLE", "HIT_ID_NOT_AVAILABLE", "", "   ", "PROLIFIC_PID", "prolific_pid", "prolificPid",
    "participantId", "workerId", "session_id", "your_prolific_id", "YOUR PROLIFIC ID HERE",
    "%7B%7B%25PROLIFIC_PID%25%7D%7D", "%257B%257B%2525PROLIFIC_PID%2525%257D%257D", "%7BPROLIFIC_PID%7D",
    "{{%PROLIFIC_PID%", "{{%PROLIFIC_PID", "PROLIFIC_PID%}}", '"{{%PROLIFIC_PID%}}"', "{{%PROLIFIC_PID%}}/",
    "{{%PROLIFIC_PID%}}.", "P-{{%PROLIFIC_PID%}}", "$PROLIFIC_PID", "$pid", "$(pid)", "$1", "%s", "%d", "%(pid)s",
    "{0}", "{}", "{{}}", "[]", "<>", "#{pid}", "#pid#", "@pid@", "@{pid}", "*|EMAIL|*", "|pid|", "__PID__",
    "<%= pid %>", "<?php echo $pid; ?>", "{% pid %}", ":pid", ":participantId", "#c_0001#", "{TOKEN:ATTRIBUTE_1}",
    "{TOKEN}", '[url("sguid")]', "{!Contact.Id}", "[[data:pid]]", "xxxxx", "XXXXXXXXXXXXXXXXXXXXXXXX", "...", "-",
    "?", "00000000-0000-0000-0000-000000000000", "000000000000000000000000", "N/A", "n/a", "#N/A",
    "undefined,undefined", "null-null", "&#123;&#123;PROLIFIC_PID&#125;&#125;", "{{hidden:pid}}", "anonymous",
    "unknown", "false", "Infinity", "a\ufffdb", "｛PROLIFIC_PID｝", "«pid»", "{participant.id}",
    "{{participant.code}}", "$$publicId$$", "{% if x %}", "TODO", "insert_id_here", "[insert participant id]",
    "<insert your id>", "~pid~", "!pid!", "{{%PROLIFIC_PID%}}{{%PROLIFIC_PID%}}", "%PROLIFIC_PID%",
    "%participant_id", "%{pid}", "PROLIFIC_PID={{%PROLIFIC_PID%}}", "not set", "(not set)", "#VALUE!", "#REF!",
    "SESSION_ID",
]  # fmt: skip
IDS = [
    "5f3c0a9e1b2d4c6e8f0a1b2c", "612345678901234567890123", "A1B2C3D4E5F6G7", "A2XYZ0ABCDEFGH", "12345", "0", "1",
    "-5", "p1", "x1", "xx", "other", "me", "test", "null7", "None123", "nullius", "Nancy", "Nan Goldin",
    "undefined-7", "{3F2504E0-4F89-11D3-9A0C-0305E82C3301}", "3F2504E0-4F89-11D3-9A0C-0305E82C3301",
    "[5f3c0a9e1b2d4c6e8f0a1b2c]", "{5f3c0a9e1b2d4c6e8f0a1b2c}", "{{5f3c0a9e1b2d4c6e8f0a1b2c}}", "[12]",
    "R_2abcDEFghiJKL9", "anna@example.org", "<anna@example.org>", "null@example.org",
    "5f3c0a9e1b2d4c6e8f0a1b2c@email.prolific.com", "O'Brien", "José", "李明", "100%", "50%off%", "A{B}", "user_[12]",
    "x<3", "worker_7", "participant_12", "session-3", "a%20b", "Anna", "Mario", "Sid", "Seth", "Nora", "Noa",
    "user7", "id1", "5e12", "1e5", "==abc==", "dGVzdA==", "abc+/=", "+49151", "~tilde", "@anna", "#4",
    "null and void 3", "Nobody", "Namen", "Keynes", "Hitchens", "Valueva", "Theo", "Noname2", "Emptyness", "Idris",
    "Uidea", "5f3c0a9e1b2d4c6e8f0a1b2c-{{%SESSION_ID%}}",
]  # fmt: skip


@pytest.fixture
def study(begin_study: Begin) -> Study:
    """Give an open study with enough questions for everybody."""
    return begin_study(questions=4, per_question=40)


def read(query: str) -> PlatformNames:
    return read_address(Study(), QueryDict(query))


# What names nobody


def test_placeholders_and_words_for_nothing_name_nobody() -> None:
    assert [text for text in PLACEHOLDERS if not names_nobody(text, NAMES)] == []


def test_odd_ids_stay_ids() -> None:
    assert [text for text in IDS if names_nobody(text, NAMES)] == []


@given(st.from_regex(r"[A-Z]{1,12}(_[A-Z]{1,6})?|[a-z]{1,12}", fullmatch=True), st.integers(0, 3))
def test_a_name_in_the_marks_of_a_template_names_nobody_however_often_it_is_encoded(name: str, times: int) -> None:
    for marks in ("{{%%%s%%}}", "{%s}", "${%s}", "[%s]", "<%s>", "%%%s%%", "{{ %s }}", "#{%s}", "__%s__", "$%s"):
        text = marks % name
        for _ in range(times):
            text = quote(text)
        assert names_nobody(text)


@given(st.from_regex(r"[0-9a-f]{24}|A[0-9A-Z]{13}|[1-9][0-9]{2,9}|[0-9a-f]{32}", fullmatch=True))
def test_ids_of_platforms_are_ids(text: str) -> None:
    if sum(one.isdigit() for one in text) >= 3 and text.strip("0"):
        assert not names_nobody(text) and not names_nobody(f"[{text}]")


# What an address says


def test_letter_case_and_escapes_of_parameters_do_not_matter() -> None:
    full = PlatformNames("p1", "v1", "s1", "")
    for query in (
        "PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=v1",
        "prolific_pid=p1&study_id=s1&session_id=v1",
        "Prolific_Pid=p1&amp;Study_ID=s1&amp;SESSION_id=v1",
        "prolific_pid=+p1+&STUDY_ID=s1&%20SESSION_ID=%C2%A0v1",
    ):
        assert read(query) == full
    study = Study(person_parameter="id", session_parameter="ID", study_parameter="of")
    assert read_address(study, QueryDict("id=p1&ID=v1&OF=s1")) == full


def test_a_repeated_parameter_is_read_if_it_has_one_name() -> None:
    for query in (
        "a&PROLIFIC_PID=a",
        "{{%25PROLIFIC_PID%25}}&PROLIFIC_PID=a",
        "a&prolific_pid=null",
        "&PROLIFIC_PID=+a",
    ):
        assert read(f"PROLIFIC_PID={query}") == PlatformNames("a", "", "", "")
    for query in ("a&PROLIFIC_PID=b", "a&prolific_pid=b"):
        with pytest.raises(BadLink, match="PROLIFIC_PID: Expected one value in the address, got 2 different ones"):
            read(f"PROLIFIC_PID={query}")


def test_each_name_that_is_not_replaced_is_reported_with_its_text() -> None:
    found = read("prolific_pid=5f0&STUDY_ID={{%25STUDY_ID%25}}&SESSION_ID=")
    assert found == PlatformNames("5f0", "", "", "SESSION_ID=\nSTUDY_ID={{%STUDY_ID%}}")
    assert read("").placeholders == "" and read("PROLIFIC_PID").placeholders == "PROLIFIC_PID="


def test_the_address_on_the_page_of_the_study_names_nobody(study: Study) -> None:
    names = read(address_of(study, "").partition("?")[2])
    assert names[:3] == ("", "", "") and names.placeholders.count("\n") == 2


# Two people


def test_two_people_with_the_same_placeholder_get_two_sessions(study: Study) -> None:
    for text in (
        "{{%PROLIFIC_PID%}}",
        "%SURVEY_CODE%",
        "undefined",
        "null",
        "",
        " ",
        "[object Object]",
        "PROLIFIC_PID",
    ):
        query = "&".join(f"{name}={quote(text)}" for name in NAMES)
        first, second = (Client().get(f"/s/{study.code}/?{query}") for _ in range(2))
        assert (first.status_code, second.status_code) == (303, 303)
        assert first["Location"] != second["Location"]
    assert not study.participants.exclude(identity="", session="", study_there="").exists()
    found = placeholders_of(people_of(study))
    assert {(one.parameter, one.text, one.people) for one in found} >= {
        ("PROLIFIC_PID", "undefined", 2), ("SESSION_ID", "", 4), ("PROLIFIC_PID", "", 4)
    }  # fmt: skip
    assert not any(one.namesakes for one in people_of(study))


def test_somebody_with_an_id_and_a_placeholder_for_the_session_does_not_get_the_page_of_another(study: Study) -> None:
    query = "?PROLIFIC_PID=5f0&SESSION_ID=%7B%7B%25SESSION_ID%25%7D%7D"
    assert Client().get(f"/s/{study.code}/{query}").status_code == 303
    again = Client().get(f"/s/{study.code}/{query}")
    assert again.status_code == 409 and "Location" not in again


def test_the_button_for_somebody_else_keeps_each_value_of_a_repeated_parameter(study: Study) -> None:
    for _ in range(2):
        page = Client().get(f"/s/{study.code}/?PROLIFIC_PID=5f0&PROLIFIC_PID=null").content.decode()
    assert 'name="PROLIFIC_PID" value="5f0"' in page and 'name="PROLIFIC_PID" value="null"' in page


def test_erasing_removes_placeholders(study: Study) -> None:
    person = Participant.objects.create(study=study, placeholders="PROLIFIC_PID=[Rosa]")
    erase(person)
    assert person.placeholders == ""


def test_the_update_removes_placeholders_that_were_stored_as_names(study: Study) -> None:
    named = {"identity": "{{%PROLIFIC_PID%}}", "session": "{{%SESSION_ID%}}", "study_there": "{{%STUDY_ID%}}"}
    unnamed = Participant.objects.create(study=study, **named)
    real = Participant.objects.create(study=study, identity="5f0", session="v1", study_there="%STUDY_ID%")
    migration = importlib.import_module("annotations.migrations.0009_placeholders")
    for _ in range(2):
        migration.move_placeholders(apps, None)
    unnamed.refresh_from_db()
    real.refresh_from_db()
    assert (unnamed.identity, unnamed.session, unnamed.study_there) == ("", "", "")
    assert unnamed.placeholders.split("\n") == [f"{name}={{{{%{name}%}}}}" for name in NAMES]
    assert (real.identity, real.session, real.study_there, real.placeholders) == (
        "5f0",
        "v1",
        "",
        "STUDY_ID=%STUDY_ID%",
    )
