"""Every address of the site."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from webapp import views

handler400 = "webapp.views.bad_request"
handler403 = "webapp.views.forbidden"
handler404 = "webapp.views.not_found"
handler500 = "webapp.views.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("health/", views.health, name="health"),
    path("health/web/", views.health_of_web, name="health_web"),
    path("login/<str:token>/", views.login_link, name="login_link"),
    path("docs/", views.docs, name="docs"),
    path("docs/<slug:name>/", views.docs, name="docs_page"),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("", include("generation.urls")),
    path("", include("annotations.urls")),
]
