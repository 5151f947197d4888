"""Views of the front page, the documentation, health and sign-in links, and the error pages."""

import sys
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotations.urls import TAKING
from annotations.views.private_pages import too_large
from generation.access import is_researcher
from generation.browsing.dataset import newest_cards
from generation.site_addresses import site_address
from webapp import documentation
from webapp.api.errors import NOTHING, Problem, is_api
from webapp.front_page_example import example_for
from webapp.models import LoginLink
from webapp.monitoring import metrics
from webapp.monitoring.health import kept, kept_of_web, ready_report

HOME_CARDS = 4
RETRY_AFTER = 30  # seconds
AWAY = Problem(
    503, "The database does not answer. Please try again in a minute.", headers={"Retry-After": str(RETRY_AFTER)}
)
OUR_MISTAKE = Problem(500, "An error on our side. It is in the log, and nothing was stored.")
DAY = 86_400  # seconds
FAVICON = settings.BASE_DIR / "static" / "favicon.ico"
SCRIPTS = settings.BASE_DIR / "static"
BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    context = {
        "cards": newest_cards(request.user, most=HOME_CARDS),
        "example": example_for(request.user),
        "is_researcher": is_researcher(request.user),
    }
    return render(request, "webapp/home.html", context)


@require_safe
@never_cache
def health(request: HttpRequest) -> JsonResponse:
    return _state(kept.get())


@require_safe
@never_cache
def health_of_web(request: HttpRequest) -> JsonResponse:
    return _state(kept_of_web.get())


@require_safe
@never_cache
def health_of_process(request: HttpRequest) -> JsonResponse:
    # A process that does not answer must be restarted.
    return _state({"ok": True})


@require_safe
@never_cache
def readiness(request: HttpRequest) -> JsonResponse:
    """Return whether this process can take requests.

    The status is 503 if the process is about to stop, or the database is outdated or does not answer.
    """
    return _state(ready_report())


@require_safe
@never_cache
def show_metrics(request: HttpRequest) -> HttpResponse:
    if not metrics.may_read(request):
        raise Http404
    return metrics.answer()


def _state(state: dict[str, Any]) -> JsonResponse:
    headers = {} if state["ok"] else {"Retry-After": str(RETRY_AFTER)}
    return JsonResponse(state, status=200 if state["ok"] else 503, headers=headers, json_dumps_params={"indent": 2})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def login_link(request: HttpRequest, token: str) -> HttpResponse:
    """Return a page with a button that signs the user in. A program that only fetches the link does not use it up."""
    link = LoginLink.objects.usable(token).select_related("user").first()
    if link is None or (request.method == "POST" and not link.use()):
        return render(request, "webapp/login_link_spent.html", status=410)
    if request.method != "POST":
        return render(request, "webapp/login_link.html", {"account": link.user})
    login(request, link.user, backend=BACKEND)
    return redirect("home")


@require_safe
def docs(request: HttpRequest, name: str = "index") -> HttpResponse:
    try:
        page = documentation.page(name)
    except documentation.NoSuchDocument as error:
        raise Http404(str(error)) from error
    site = site_address(request)
    return render(request, "webapp/docs.html", {"page": page.at(site), "contents": documentation.contents()})


@require_safe
@cache_control(max_age=DAY, public=True)
def favicon(request: HttpRequest) -> HttpResponse:
    return HttpResponse(FAVICON.read_bytes(), content_type="image/x-icon")


@require_safe
def script(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponse((SCRIPTS / name).read_bytes(), content_type="text/x-python; charset=utf-8")


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the error page for an invalid request or one that is too large."""
    if is_api(request):
        return _refused(exception).response
    if isinstance(exception, RequestDataTooBig):
        if request.path_info.startswith(f"/{TAKING}"):
            return too_large(request)
        return render(request, "413.html", status=413)
    return render(request, "400.html", status=400)


def _refused(exception: Exception | None) -> Problem:
    if isinstance(exception, RequestDataTooBig):
        return Problem(413, str(exception) or "Expected a smaller request. Nothing was stored.")
    return Problem(400, "Expected a valid request, got one whose address, headers or form can't be read.")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if is_api(request):
        return Problem(403, "This account may not do this.").response
    return render(request, "403.html", status=403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403.html", {"csrf_reason": reason}, status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if is_api(request):
        return Problem(404, NOTHING).response
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the error page for an error of the site or a missing database; it uses neither database nor session."""
    is_away = isinstance(sys.exception(), OperationalError | InterfaceError)
    if is_api(request):
        return (AWAY if is_away else OUR_MISTAKE).response
    if is_away:
        page = render_to_string("503.html", {"bare": True})
        return HttpResponse(page, status=503, headers={"Retry-After": RETRY_AFTER})
    return HttpResponse(render_to_string("500.html", {"bare": True}), status=500)
