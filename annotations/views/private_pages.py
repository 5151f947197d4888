"""The parts that all views for participants share; their responses have no caching, no referrer and no cookies."""

import functools
import math
from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt

from annotations.answering import throttle
from annotations.answering.participant_flow import Elsewhere, FlowRefused, NoEntry, TooManyAnswers
from annotations.answering.participant_lookup import participant_at
from annotations.answering.platform_names import BadLink
from annotations.answering.session import Sitting
from annotations.answering.slot_assignment import NotGiven

LARGEST = 20_000  # bytes of the largest request
ANEW = "anew"  # the parameter that a visitor sends who says that somebody else used their platform id
FIELDS = 10  # at most this many parameters of a link are kept
NOTHING = "There is no study or participant at this address. Check that you have the whole address."
View = Callable[..., HttpResponseBase]


def private(view: View) -> View:
    """Wrap a view for participants: limit its requests, and turn errors into simple pages.

    No CSRF token is needed, because a request is authorised by its secret address and a signed token, not by a cookie.
    """

    @functools.wraps(view)
    def answered(request: HttpRequest, **parts: Any) -> HttpResponseBase:
        try:
            response = _early(request, parts.get("secret", "")) or view(request, **parts)
        except Http404:
            response = refuse(request, NOTHING, status=404) if wants_json(request) else page("missing", {}, status=404)
        except RequestDataTooBig:
            response = too_large(request)
        except (SuspiciousOperation, MultiPartParserError):
            response = refuse(request, "Expected the fields of a form, got something else.", status=400)
        except TooManyAnswers as error:
            response = too_many(request, str(error), wait=error.wait)
        except Elsewhere:
            response = page("elsewhere", {"fields": _fields(request)}, status=409)
        except NoEntry as error:
            response = page("no_entry", {"refused": error, **ending(error.code)}, status=409)
        except (NotGiven, FlowRefused, BadLink) as error:
            response = refuse(request, str(error), status=403 if isinstance(error, NotGiven) else 400)
        response.setdefault("Cache-Control", "no-store")
        response["Referrer-Policy"] = "no-referrer"
        return response

    return csrf_exempt(answered)


def _fields(request: HttpRequest) -> list[tuple[str, str]]:
    return [(name, str(text)) for name, texts in request.GET.lists() for text in texts if name != ANEW][:FIELDS]


def refuse(request: HttpRequest, message: str, *, status: int) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"error": message}, status=status)
    return page("refused", {"message": message}, status=status)


def ending(code: str) -> dict[str, Any]:
    return {"code": code, "is_address": code.startswith("https://")}


def too_large(request: HttpRequest) -> HttpResponse:
    return refuse(request, f"Expected at most {LARGEST:,} bytes, got more. Nothing was saved.", status=413)


def too_many(request: HttpRequest, message: str, *, wait: float) -> HttpResponse:
    response = refuse(request, message, status=429)
    response["Retry-After"] = str(math.ceil(wait))
    return response


def _early(request: HttpRequest, secret: str) -> HttpResponse | None:
    """Return a refusal if the request is too large or there are too many requests; otherwise None."""
    if _is_large(request):
        return too_large(request)
    wait = throttle.sessions.wait(secret) if secret else 0.0
    if not wait:
        return None
    message = f"Expected at most {throttle.REQUESTS} requests in {throttle.SPAN:g} seconds, got more. Wait a moment."
    return too_many(request, message, wait=wait)


def wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _is_large(request: HttpRequest) -> bool:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return not length.isdigit() or int(length) > LARGEST


def find_sitting(code: str, secret: str) -> Sitting:
    """Return the session of the participant with this address; raise `Http404` if there is none."""
    found = participant_at(code, secret)
    if found is None:
        raise Http404(NOTHING)
    return Sitting(found)


def page(name: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    # The context of the request is left out, so that a page is the same for signed-in visitors and others.
    return HttpResponse(render_to_string(f"annotations/taking/{name}.html", context), status=status)
