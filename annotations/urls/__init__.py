"""Addresses of studies: for those who run them, for those who take part, and of what came out."""

from django.urls import include, path

urlpatterns = [
    path("studies/", include("annotations.urls.results")),
    path("studies/", include("annotations.urls.studies")),
    path("s/", include("annotations.urls.taking")),
]
