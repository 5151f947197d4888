"""What all answers to participants have in common: nobody keeps them or learns their address, none needs a cookie."""

import functools
from collections.abc import Callable
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

from annotations.assign import NotGiven
from annotations.flow import Elsewhere, Refused
from annotations.models import Participant

LARGEST = 20_000  # bytes that somebody sends
NOTHING = "There is no such study, or nobody takes part under this address. Check that you have all of it."
View = Callable[..., HttpResponseBase]


def private(view: View) -> View:
    """Return a view whose answers stay with the participant, and whose refusals are pages as bare as the others.

    It needs no CSRF token: what it changes is authorised by its address and a signed token, not by a cookie.
    """

    @functools.wraps(view)
    def answered(request: HttpRequest, **parts: Any) -> HttpResponseBase:
        try:
            response = view(request, **parts) if not _is_large(request) else too_large(request)
        except Http404:
            response = refuse(request, NOTHING, status=404)
        except RequestDataTooBig:
            response = too_large(request)
        except (SuspiciousOperation, MultiPartParserError):
            response = refuse(request, "Expected the fields of a form, got something else.", status=400)
        except Elsewhere:
            response = render(request, "annotations/taking/elsewhere.html", status=409)
        except (NotGiven, Refused) as error:
            response = refuse(request, str(error), status=403 if isinstance(error, NotGiven) else 400)
        response.setdefault("Cache-Control", "no-store")
        response["Referrer-Policy"] = "no-referrer"
        return response

    return csrf_exempt(answered)


def refuse(request: HttpRequest, message: str, *, status: int) -> HttpResponse:
    """Return what is wrong: a page, or JSON for a script."""
    if wants_json(request):
        return JsonResponse({"error": message}, status=status)
    return render(request, "annotations/taking/refused.html", {"message": message}, status=status)


def too_large(request: HttpRequest) -> HttpResponse:
    """Return that more was sent than anybody has to say."""
    return refuse(request, f"Expected at most {LARGEST:,} bytes, got more. Nothing of it was kept.", status=413)


def wants_json(request: HttpRequest) -> bool:
    """Return whether a script asks."""
    return request.headers.get("Accept", "").startswith("application/json")


def _is_large(request: HttpRequest) -> bool:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return not length.isdigit() or int(length) > LARGEST


def find_participant(code: str, secret: str) -> Participant:
    """Return who has this address, with their study; raise `Http404` where nobody has."""
    rows = Participant.objects.select_related("study__split__dataset", "study__split__parent", "study__easy__dataset")
    found = rows.filter(study__code=code, secret=secret).first() if "\0" not in code + secret else None
    if found is None:
        raise Http404(NOTHING)
    return found
