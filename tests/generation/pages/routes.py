"""The routes of the site, and values for the parts of their addresses."""

from annotations.models import Participant, Study
from annotations.studies import lifecycle
from generation.browsing.pictures import version_of
from generation.models import Dataset
from tests import crawl
from webapp.models import User


def routes() -> list[crawl.Route]:
    """Return all routes of the site except the admin pages."""
    return [route for route in crawl.routes() if not route.template.startswith("/admin/")]


def parts_of(shapes: Dataset, owner: User) -> dict[str, str]:
    """Return values for the parts of addresses: of a dataset, of a new open study of it, and of its participant."""
    train, val = (shapes.splits.get(name=name) for name in ("train", "val"))
    ends = {"completed": "DONE", "screened_out": "OUT", "full": "FULL", "consent": "May we?", "instructions": "Look."}
    study = Study.objects.create(split=train, easy=val, owner=owner, title="Shapes", wanted=8, **ends)
    lifecycle.open_study(study)
    person = Participant.objects.create(study=study, stage=Participant.Stage.QUESTIONS)
    of_dataset = {"slug": "shapes", "name": "train", "number": "1", "position": "1", "version": version_of(shapes)}
    return of_dataset | {"code": study.code, "secret": person.secret}


def address_of(route: crawl.Route, parts: dict[str, str]) -> str:
    return route.template % {name: parts.get(name, "1") for name in route.params}
