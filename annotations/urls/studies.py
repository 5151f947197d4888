"""URLs for creating and running studies."""

from django.urls import path

from annotations.views import studies, study_form

urlpatterns = [
    path("", studies.studies, name="studies"),
    path("new/", study_form.study_new, name="study_new"),
    path("<slug:code>/", studies.study, name="study"),
    path("<slug:code>/edit/", study_form.study_edit, name="study_edit"),
    path("<slug:code>/open/", studies.study_open, name="study_open"),
    path("<slug:code>/close/", studies.study_close, name="study_close"),
    path("<slug:code>/try/", studies.study_test_link, name="study_test_link"),
]
