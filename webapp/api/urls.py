"""All URLs of the API; version 1 keeps its names."""

from django.urls import URLPattern
from ninja import NinjaAPI

from generation import (
    __version__,
    url_converters,  # noqa: F401 - registers the `split:` and `position:` converters
)
from webapp.api import board_analysis, boards, datasets, leaderboard_methods, questions, studies, submissions
from webapp.api.authentication import EVERYBODY
from webapp.api.description_page import DescriptionPage
from webapp.api.errors import handle_errors
from webapp.api.files import downloads
from webapp.api.openapi_operations import described_view, upload_views

ABOUT = """The data and actions of the site's pages, for programs. `/docs/api/` has examples and describes tokens,
limits and errors. Responses leave out whatever you may not see."""

api = NinjaAPI(
    title="Horsesense",
    version=__version__,
    description=ABOUT,
    urls_namespace="api",
    auth=EVERYBODY,
    docs=DescriptionPage(),
)
handle_errors(api)
_modules = (datasets, questions, downloads, submissions, leaderboard_methods, boards, board_analysis, studies)
for module in _modules:
    api.add_router("", module.router)

urlpatterns, app_name, namespace = api.urls
_uploads = upload_views(module.router for module in _modules)
_patterns = [found for found in urlpatterns if isinstance(found, URLPattern)]
_routes = {str(found.pattern): _uploads[str(found.name)] for found in _patterns if found.name in _uploads}
for _pattern in _patterns:
    _pattern.callback = described_view(_pattern.callback)
    if str(_pattern.pattern) in _routes:  # a path has one route for each HTTP method
        _pattern.callback.takes_uploads = _routes[str(_pattern.pattern)]  # type: ignore[attr-defined]
