"""URLs for taking part in a study."""

from django.urls import path

from annotations.views import answering, participation

urlpatterns = [
    path("<str:code>/", participation.join, name="study_join"),
    path("<str:code>/<str:secret>/", participation.session, name="study_session"),
    path("<str:code>/<str:secret>/on/", participation.go_on, name="study_go_on"),
    path("<str:code>/<str:secret>/answer/", answering.answer, name="study_answer"),
    path("<str:code>/<str:secret>/here/", answering.here, name="study_here"),
    path("<str:code>/<str:secret>/picture/<str:token>/", answering.picture, name="study_picture"),
    path("<str:code>/<str:secret>/pair/<int:number>/", answering.pair, name="study_pair"),
]
