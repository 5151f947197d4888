"""Addresses of studies: for those who run them, for those who take part, and of what came out."""

from django.urls import include, path

TAKING = "s/"  # what the addresses of participants begin with

urlpatterns = [
    path("studies/", include("annotations.urls.results")),
    path("studies/", include("annotations.urls.studies")),
    path(TAKING, include("annotations.urls.taking")),
    path("", include("annotations.urls.baselines")),
]
