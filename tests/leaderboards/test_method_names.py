"""Names of methods: every way to name one has the same rules, and lists tell methods apart."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from generation.asking.console import Refused
from generation.engine.errors import BadTraining
from generation.models import Split
from tests.leaderboards import sent
from webapp.leaderboards import method_names
from webapp.leaderboards.entries import entries_of
from webapp.leaderboards.forms import MethodForm, SubmissionForm
from webapp.leaderboards.management.local_split import LocalSplit
from webapp.leaderboards.method_names import BadMethodName
from webapp.leaderboards.models import Method, Training
from webapp.leaderboards.training import orders
from webapp.models import User

pytestmark = pytest.mark.django_db

FAULTS = {
    "a\nb": "U+000A",
    "a\u200bb": "U+200B (zero width space)",
    "\u202eLSTM": "U+202E (right-to-left override)",
    "x" * 101: "at most 100 characters, got 101",
    "a\0b": "U+0000",
    " ": "",
    "lstm": "'lstm', which looks like 'LSTM', the name of another method of yours",
    "LЅTM": "which looks like 'LSTM'",
    "ＬＳＴＭ": "which looks like 'LSTM'",
}


def form_of(owner: User, name: str, **more: object) -> MethodForm:
    return MethodForm({"name": name, "made": "elsewhere", **more}, owner=owner)


def test_every_way_to_name_a_method_refuses_the_same_names(
    member: User, as_member: Client, val: Split, tmp_path: Path
) -> None:
    Method.objects.create(owner=member, name="LSTM")
    (tmp_path / "answers.txt").write_text("yes\n")
    local = LocalSplit.__new__(LocalSplit)
    local.split, local.owner = val, lambda name: member
    for name, words in FAULTS.items():
        form = form_of(member, name)
        assert form.save_if_valid() is None and words in form.errors["name"][0]
        came = as_member.post("/api/v1/methods/", {"name": name, "made": "elsewhere"}, content_type="application/json")
        assert came.status_code == 422 and words in came.json()["error"]["message"]
        with pytest.raises(CommandError) as refused:
            call_command(
                "submit", str(tmp_path / "answers.txt"), "--split", "scored/val", "--method", name, "--owner", "mira"
            )
        assert words in str(refused.value) and refused.value.returncode == 2
        with pytest.raises(Refused) as not_asked:
            local.check({"method": name}, b"yes\n")
        assert words in str(not_asked.value)
        with pytest.raises(Refused):
            local.submit({"method": name}, b"yes\n", None)
        if name.strip():
            with pytest.raises(BadTraining) as not_trained:
                orders.check_name(name, owner=member)
            assert words in str(not_trained.value)
    assert list(Method.objects.filter(owner=member).values_list("name", flat=True)) == ["LSTM"]


def test_another_form_of_a_name_finds_the_method(member: User, as_member: Client) -> None:
    made = Method.objects.create(owner=member, name="caffè net")
    other = "  caffe\u0300\u00a0 net "
    assert method_names.find(member, other) == made
    assert method_names.find_or_create(member, other, made="elsewhere") == (made, False)
    assert "name" in form_of(member, other).errors
    new, is_new = method_names.find_or_create(member, " zwei\u00a0 Wörter ", made="elsewhere")
    assert (new.name, is_new) == ("zwei Wörter", True)


def test_a_method_of_an_earlier_release_keeps_its_name(member: User) -> None:
    old = [Method.objects.create(owner=member, name=name, made="elsewhere") for name in ("a\u200bb", "ab", "x  y")]
    for method in old:
        assert method_names.find_or_create(member, method.name, made="elsewhere") == (method, False)
        form = MethodForm(
            {"name": method.name, "made": "elsewhere", "description": "more"}, instance=method, owner=member
        )
        assert form.save_if_valid() == method
        assert method_names.known_or_composed(method.name, owner=member) == method.name
    names = method_names.shown_names(old)
    assert names == {
        old[0].pk: f"a\u200bb (method {old[0].pk})",
        old[1].pk: f"ab (method {old[1].pk})",
        old[2].pk: "x  y",
    }


def test_accounts_do_not_share_names(member: User, admin_user: User) -> None:
    Method.objects.create(owner=admin_user, name="LSTM")
    assert method_names.read("lstm", owner=member) == "lstm"


def test_a_training_that_waits_reserves_its_name(member: User, val: Split) -> None:
    Training.objects.create(owner=member, method="toy", train=val, val=val, name="Toy net", seed=1)
    with pytest.raises(BadMethodName, match="'TOY NET', which looks like 'Toy net', the name of a training of yours"):
        method_names.read("TOY NET", owner=member)


def test_lists_number_methods_that_look_the_same(member: User, admin_user: User, as_member: Client, val: Split) -> None:
    methods = [
        Method.objects.create(owner=owner, name=name, made="elsewhere", anonymous=True)
        for owner, name in ((member, "LSTM"), (admin_user, "LSТМ"), (member, "Majority"), (member, "Other"))
    ]
    for method in methods:
        sent.submitted(method, val, sent.truth_of(val))
    Method.objects.update(published="2026-01-01T00:00Z")
    names = [entry.name for entry in entries_of(member, val)]
    assert set(names) == {f"LSTM (method {methods[0].pk})", f"LSТМ (method {methods[1].pk})", "Other", "Majority"}
    baseline = Method.objects.create(baseline="majority", name="Majority")
    shown = method_names.shown_names([*methods, baseline])
    assert (shown[methods[2].pk], shown[baseline.pk]) == (f"Majority (method {methods[2].pk})", "Majority")
    page = as_member.get(reverse("methods")).content.decode()
    assert f"LSTM (method {methods[0].pk})" in page and "<bdi>Other</bdi>" in page
    old = Method.objects.create(owner=member, name="lstm")
    labels = [label for _, label in SubmissionForm(user=member).fields["method"].choices]
    assert f"lstm (method {old.pk})" in labels and "Other" in labels
