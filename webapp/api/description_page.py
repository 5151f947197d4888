"""The page that lists all addresses of the API, and on which they can be tried."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI, Swagger


class DescriptionPage(Swagger):
    # Ninja's own page would load its scripts from another site, because ninja is not among the apps.
    def render_page(self, request: HttpRequest, api: NinjaAPI, **parts: Any) -> HttpResponse:
        chosen = {**self.settings, "url": self.get_openapi_url(api, parts)}
        return render(request, "webapp/api_description.html", {"title": api.title, "settings": chosen})
