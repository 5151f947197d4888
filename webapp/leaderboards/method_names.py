"""Names of methods: one reader for forms, the API, commands and trainings, and how lists tell methods apart.

The names of an account's methods never look the same. A method that is older than a rule keeps its name.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from django.db import transaction

from generation.engine.language.names import BadName, composed, looks, quote, read_name
from webapp.leaderboards.models import Method, Training
from webapp.models import User

LONGEST = 100  # characters, as both tables store


class BadMethodName(ValueError):
    def __init__(self, message: str, *, users: Sequence[Method | Training] = ()) -> None:
        super().__init__(message)
        self.users = users  # methods or trainings that look the same


def read(text: str, *, owner: User, spared: str = "") -> str:
    """Return the name of a new method of an account; raise `BadMethodName`.

    `spared` is a name that the account uses already: it is accepted as it is.
    """
    try:
        name = text if text == spared else read_name(text, most=LONGEST)
    except BadName as error:
        raise BadMethodName(f"{error}.") from error
    mine = looks(name)
    methods = Method.objects.filter(owner=owner.pk).only("name")
    trainings = Training.objects.under_way().filter(owner=owner.pk).only("name")
    for other in (*methods, *trainings):
        if other.name != spared and not mine.isdisjoint(looks(other.name)):
            kind = "another method" if isinstance(other, Method) else "a training"
            same = "the name" if other.name == name else f"which looks like {quote(other.name)}, the name"
            message = f"Expected a new name, got {quote(name)}, {same} of {kind} of yours."
            raise BadMethodName(message, users=(other,))
    return name


def spellings(text: str) -> list[str]:
    # An earlier release stored names as they came.
    found = dict.fromkeys((text, composed(text)))
    return [one for one in found if len(one) <= LONGEST and not any(map(_is_unstorable, one))]


def _is_unstorable(sign: str) -> bool:
    return sign == "\0" or "\ud800" <= sign <= "\udfff"


def known_or_composed(text: str, *, owner: User) -> str:
    """Return a name in composed form; one that the account uses already stays as it is."""
    name = composed(text)
    if name == text or text not in spellings(text):
        return name
    is_known = any(rows.filter(owner=owner.pk, name=text).exists() for rows in (Method.objects, Training.objects))
    return text if is_known else name


def find(owner: User, text: str) -> Method | None:
    rows = {method.name: method for method in Method.objects.filter(owner=owner.pk, name__in=spellings(text))}
    return next((rows[name] for name in spellings(text) if name in rows), None)


def find_or_create(owner: User, text: str, *, made: str) -> tuple[Method, bool]:
    """Return the account's method with this name, and whether it is new; raise `BadMethodName`."""
    with lock(owner):
        found = find(owner, text)
        if found is not None:
            return found, False
        return Method.objects.create(owner=owner, name=read(text, owner=owner), made=made), True


@contextmanager
def lock(owner: User) -> Iterator[None]:
    # Meanwhile, no other process can name a method of this account.
    with transaction.atomic():
        list(User.objects.select_for_update().filter(pk=owner.pk).values_list("pk"))
        yield


def shown_names(methods: Iterable[Method]) -> dict[int, str]:
    """Return the names that a list shows for methods, by their keys; names that look the same get a number."""
    rows = {method.pk: method for method in methods}
    owners: dict[str, set[int]] = {}
    for method in rows.values():
        for look in looks(method.name):
            owners.setdefault(look, set()).add(method.pk)
    return {
        pk: f"{method.name} (method {pk})"
        if not method.baseline and any(len(owners[look]) > 1 for look in looks(method.name))
        else method.name
        for pk, method in rows.items()
    }
