"""URLs of a split's published human baseline, below the URL of the split."""

from django.urls import path

from annotations.views import baselines
from generation import url_converters  # noqa: F401 - registers the `split:` and `position:` converters

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
