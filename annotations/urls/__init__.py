"""URLs of studies, of taking part in them, and of their results."""

from django.urls import include, path

TAKING = "s/"  # prefix of participants' URLs

urlpatterns = [
    path("studies/", include("annotations.urls.results")),
    path("studies/", include("annotations.urls.studies")),
    path(TAKING, include("annotations.urls.participation")),
    path("", include("annotations.urls.baselines")),
]
