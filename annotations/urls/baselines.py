"""Addresses: the published human row of a split, below the split's own."""

from django.urls import path

from annotations.views import baselines
from generation import url_converters  # noqa: F401 - makes `split:` and `position:` known

PEOPLE = "datasets/<slug:slug>/<split:name>/people"

urlpatterns = [
    path(f"{PEOPLE}/", baselines.people, name="people"),
    path(f"{PEOPLE}/<position:number>/", baselines.version, name="people_version"),
    *(
        path(f"{PEOPLE}/<position:number>/slices.{kind}", baselines.slices, {"kind": kind}, name=f"people_{kind}")
        for kind in ("csv", "json")
    ),
    path(f"{PEOPLE}/<position:number>/predictions.jsonl", baselines.predictions, name="people_predictions"),
]
