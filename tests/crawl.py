"""A crawler that requests every route of the resolver, with given values, and follows every link of a page.

Each answer is stored as a `Reply`, without the parts that are new in every answer (tokens of forms, cookies), so that
two sites can be compared byte by byte and header by header. The crawler also finds pages and APIs that are added later.
"""

import functools
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from django.conf import settings
from django.test import Client
from django.urls import Resolver404, ResolverMatch, URLPattern, URLResolver, get_resolver, resolve
from django.utils.regex_helper import normalize

MOST = 20_000  # limit of addresses; more addresses mean that links never end
NEW_IN_EVERY_ANSWER = {"Set-Cookie", "Date", "Expires"}
TOKENS = re.compile(rb'(csrfmiddlewaretoken\\?" value=\\?"|X-CSRFToken\\?"\s*:\s*\\?"|data-csrf-token=")\w*')
AT_THE_MOMENT = re.compile(rb'(?<=": )[0-9.]+|[0-9.]+ GB')  # measurements of the health page
LINK = re.compile(r"""\b(?:href|src|action|srcset|hx-(?:get|post))=["']([^"'\s]+)|\bdata-[a-z-]+=["']([/?][^"'\s]*)""")
QUOTED = re.compile(r'"((?:https?://testserver)?/[^"\s<>]*)"')  # in JSON and scripts
VARIANTS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("HEAD", {}),
    ("OPTIONS", {}),
    ("POST", {}),
    ("DELETE", {}),
    ("GET", {"HX-Request": "true"}),
    ("GET", {"Accept": "application/json"}),
    ("GET", {"Range": "bytes=0-9"}),
)

SAFE = {"GET", "HEAD", "OPTIONS"}  # other methods may log out
MOST_FILTERS = 1  # limit of filters in a link that is followed, because pages link to every combination

NAMING = {"slug", "name", "split"}  # parameters of an address that name a dataset or a split

Browser = Callable[[], Client]
Kind = tuple[object, ...]


class PlainClient(Client):
    """A client that does not record the contexts of templates, because recording takes longer than rendering."""

    def request(self, **request: Any) -> Any:
        """Return the site's answer to a request."""
        response = self.handler(self._base_environ(**request))
        self.cookies.update(response.cookies)
        return response


class Route(NamedTuple):
    """A route of the resolver: its name (or that of its view), its address with placeholders, and their names."""

    name: str
    template: str
    params: tuple[str, ...]


class Request(NamedTuple):
    """A request to the site."""

    method: str
    address: str
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def route(self) -> ResolverMatch | None:
        """Return the route of the address, or None if the address has no route."""
        return _find_route(urlsplit(self.address).path, settings.ROOT_URLCONF)

    @property
    def kind(self) -> Kind:
        """Return the parts that similar addresses share: view, dataset and split, and the first name in the query."""
        route, query = self.route, urlsplit(self.address).query.partition("=")[0]
        named = [(part, value) for part, value in route.kwargs.items() if part in NAMING] if route else []
        return (route.view_name if route else self.address, query, *named)


@functools.cache
def _find_route(path: str, urlconf: str) -> ResolverMatch | None:
    try:
        return resolve(unquote(path), urlconf)
    except Resolver404:
        return None


class Reply(NamedTuple):
    """The site's answer, without the parts that are new in every answer."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def is_page(self) -> bool:
        """Return whether the answer is HTML or JSON, which may have links."""
        return dict(self.headers).get("Content-Type", "").startswith(("text/html", "application/json"))

    def contains(self, text: str) -> bool:
        """Return whether the body or a header contains a text."""
        return text.encode() in self.body or any(text in value for _, value in self.headers)


Replies = dict[Request, Reply]
Observe = Callable[[Request], AbstractContextManager[Any]]


def routes() -> list[Route]:
    """Return every route of the site, including those of packages."""
    return list(_routes(get_resolver().url_patterns, prefixes=[("/", [])], names=""))


def _routes(patterns: Sequence[Any], *, prefixes: list[tuple[str, list[str]]], names: str) -> Iterator[Route]:
    for one in patterns:
        forms = [
            (before + template, [*params, *own])
            for before, params in prefixes
            for template, own in normalize(one.pattern.regex.pattern.removeprefix("^"))
        ]
        if isinstance(one, URLResolver):
            space = f"{names}{one.namespace}:" if one.namespace else names
            yield from _routes(one.url_patterns, prefixes=forms, names=space)
        elif isinstance(one, URLPattern):
            for template, params in forms:
                yield Route(names + (one.name or one.lookup_str), template, tuple(params))


def addresses(route: Route, values: Mapping[str, Sequence[str]], *, combined: bool = True) -> list[str]:
    """Return the addresses of a route; placeholders without values get `x` and `1`.

    If `combined`, with every combination of values. If not, each address has at most one value that is not the first.
    """
    filled = [values.get(param, ("x", "1")) for param in route.params]
    return [
        route.template % dict(zip(route.params, chosen, strict=True))
        for chosen in product(*filled)
        if combined or sum(one != choice[0] for one, choice in zip(chosen, filled, strict=True)) <= 1
    ]


def crawl(
    browser: Browser,
    *,
    values: Mapping[str, Sequence[str]],
    queries: Sequence[str],
    combined: bool = True,
    changes: bool = True,
    variants: Sequence[tuple[str, Mapping[str, str]]] = VARIANTS,
    most: int = MOST,
    most_links: int = MOST,
    observe: Observe = lambda request: nullcontext(),
) -> Replies:
    """Return all answers of the site to one kind of visitor.

    Parameters
    ----------
    browser : callable
        Returns a new client that is logged in as the visitor, because some routes log out.
    values : mapping of str to sequence of str
        Values for placeholders of routes, by name: slugs, splits, positions.
    queries : sequence of str
        Queries with their question marks. They are tried on every page of a route that has one of these placeholders.
    combined : bool
        Whether to request every combination of values, or to change one value at a time.
    changes : bool
        Whether to try methods that may change the site. Those of an owner do change it.
    variants : sequence of (str, mapping)
        The other methods and headers that are tried.
    most : int
        Number of addresses of a route for which other methods, headers and queries are tried.
    most_links : int
        Limit of followed links that lead to the same view of the same split with the same kind of query.
    observe : callable
        Returns a context manager in which a request is sent.
    """
    client, hand, replies = browser(), browser(), Replies()
    waiting: deque[str] = deque()

    def get(address: str) -> Reply:
        request = Request("GET", address)
        if request not in replies:
            replies[request] = reply_of(client, request, observe=observe)
            assert len(replies) < MOST, f"Expected an end, got ever more addresses, as {address}."
            waiting.extend(_links(address, replies[request]))
        return replies[request]

    for route in routes():
        tried = 0
        for address in addresses(route, values, combined=combined):
            reply = get(address)
            if reply.status == 404 or tried >= most:
                continue
            tried += 1
            for method, headers in variants:
                if method not in SAFE and not changes:
                    continue
                request = Request(method, address, tuple(headers.items()))
                before = dict(hand.cookies)
                replies[request] = reply_of(client if method in SAFE else hand, request, observe=observe)
                if dict(hand.cookies) != before:  # logged out, perhaps
                    hand = browser()
            if reply.status == 200 and reply.is_page and any(param in values for param in route.params):
                for query in queries:
                    get(address + query)
    for address in _take_new_addresses(waiting, replies, most=most_links):
        get(address)
    return replies


def _take_new_addresses(waiting: deque[str], replies: Replies, *, most: int) -> Iterator[str]:
    """Yield waiting addresses that were not requested yet, until none is left; at most `most` of one kind."""
    followed: Counter[Kind] = Counter()
    while waiting:
        request = Request("GET", waiting.popleft())
        if request not in replies and followed[request.kind] < most:
            followed[request.kind] += 1
            yield request.address


def reply_of(client: Client, request: Request, *, observe: Observe = lambda request: nullcontext()) -> Reply:
    """Send a request and return the site's answer."""
    with observe(request):
        response = client.generic(request.method, request.address, headers=dict(request.headers), secure=False)
        body = b"".join(response.streaming_content) if response.streaming else response.content
    if request.address.startswith("/health/"):
        body = AT_THE_MOMENT.sub(b"0", body)
    headers = sorted((name, value) for name, value in response.items() if name not in NEW_IN_EVERY_ANSWER)
    return Reply(response.status_code, tuple(headers), TOKENS.sub(rb"\1", body))


def _links(base: str, reply: Reply) -> Iterator[str]:
    """Yield the addresses of this site that an answer links to, without static files and links with many filters."""
    found = [value for name, value in reply.headers if name == "Location"]
    if reply.is_page:
        text = reply.body.decode(errors="replace")
        found += [one or other for one, other in LINK.findall(text)] + QUOTED.findall(text)
    for link in dict.fromkeys(found):
        address = _own_address("/" if link.startswith("/") else base, link)
        if address is not None:
            yield address


@functools.cache
def _own_address(base: str, link: str) -> str | None:
    """Return the address of a link, or None if it leads to another site, to a static file, or has many filters."""
    parts = urlsplit(urljoin(f"http://testserver{base}", link.replace("&amp;", "&").split("#")[0]))
    ours = parts.netloc == "testserver" and parts.scheme == "http" and not parts.path.startswith("/static/")
    if not ours or parts.query.count("=") > MOST_FILTERS or "next=" in parts.query:
        return None
    return parts._replace(scheme="", netloc="").geturl() or "/"
