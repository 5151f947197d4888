"""All URLs of the site."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from generation import url_converters  # noqa: F401 - registers `position:`
from webapp import views
from webapp.accounts import views as account_views
from webapp.api import urls as api

handler400 = "webapp.views.bad_request"
handler403 = "webapp.views.forbidden"
handler404 = "webapp.views.not_found"
handler500 = "webapp.views.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("health/", views.health, name="health"),
    path("health/web/", views.health_of_web, name="health_web"),
    path("health/ready/", views.readiness, name="health_ready"),
    path("health/live/", views.health_of_process, name="health_live"),
    path("metrics", views.show_metrics, name="metrics"),
    path("login/<str:token>/", views.login_link, name="login_link"),
    path("docs/", views.docs, name="docs"),
    path("docs/<slug:name>/", views.docs, name="docs_page"),
    path("favicon.ico", views.favicon, name="favicon"),
    path("static/ask.py", views.script, {"name": "ask.py"}, name="ask_script"),
    path("static/submit.py", views.script, {"name": "submit.py"}, name="submit_script"),
    path("account/", account_views.page, name="own_account"),
    path("account/tokens/", account_views.new_token, name="token_new"),
    path("account/tokens/<position:number>/revoke/", account_views.revoke_token, name="token_revoke"),
    path("account/sign-in-links/", account_views.sign_in_links, name="sign_in_links"),
    path("api/v1/", (api.urlpatterns, api.app_name, api.namespace)),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("", include("generation.urls")),
    path("", include("annotations.urls")),
    path("", include("webapp.leaderboards.urls")),
]
