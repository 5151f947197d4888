"""`manage.py generate`: makes a dataset from a spec."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from generation.engine.errors import BadSpec
from generation.engine.items import Media
from generation.engine.worlds import get_world
from generation.making import dataset_jobs
from generation.making.creation import SlugTaken, check_secrets
from generation.management.console import WatchingCommand, add_workers
from generation.models import Dataset
from generation.specs import loading


class Command(WatchingCommand):
    help = "Make a dataset from a spec: a preset's name or a JSON file. Prints its content hash."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("spec", metavar="SPEC", help="a preset's name or a JSON file")
        parser.add_argument("--name", metavar="SLUG", help="name in addresses; default: the preset's or file's")
        parser.add_argument("--seed", type=int, metavar="N", help="another seed than the spec's")
        parser.add_argument(
            "--scenes", type=_number_of_scenes, action="append", default=[], metavar="SPLIT=N",
            help="another number of scenes for one split; 0 leaves it out; may be given several times",
        )  # fmt: skip
        parser.add_argument(
            "--scenes-from", type=Path, metavar="FILE",
            help="ask about the scenes of a published file, in place of scenes of ours",
        )  # fmt: skip
        parser.add_argument(
            "--secret", type=_named, action="append", default=[], metavar="SPLIT=HEX",
            help="the published secret of a split, to prove that it was made as claimed",
        )  # fmt: skip
        add_workers(parser)
        parser.add_argument("--no-images", action="store_true", help="scenes and questions only")
        parser.add_argument("--resume", action="store_true", help="go on with a dataset that was stopped")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the dataset. After Ctrl-C it can be resumed."""
        dataset = self._dataset(options)
        if dataset.state != Dataset.State.COMPLETE:
            self.make(dataset, workers=options["workers"] or settings.MACHINE_PROCESSES)
        self.stdout.write(dataset.fingerprint)

    def _dataset(self, options: dict[str, Any]) -> Dataset:
        """Return the dataset to make: a new one or, with `--resume`, an existing one."""
        source = loading.load(options["spec"], scenes_from=options["scenes_from"])
        slug = _slug(source.name) if options["name"] is None else options["name"]
        scenes = _each_once(options["scenes"], option="--scenes")
        secrets = _each_once(options["secret"], option="--secret")
        data = loading.change(source.data, files=source.files, seed=options["seed"], scenes=scenes)
        check_secrets(secrets, splits=data["splits"])
        existing = Dataset.objects.filter(slug=slug).first()
        if existing is not None:
            if not options["resume"]:
                raise SlugTaken(
                    f"Expected a new name, got {slug!r}, which exists ({existing.state}). Go on with it: --resume. "
                    "Or choose another: --name.",
                    where="slug",
                )
            _check_same(existing, data, secrets=secrets, images=not options["no_images"])
            return self._gone_on_with(existing)
        self.say_what_is_left_out(data, source.files)
        return dataset_jobs.start(
            data,
            slug=slug,
            files=source.files,
            visibility=Dataset.Visibility.PUBLIC,
            images=not options["no_images"],
            secrets=secrets,
        )

    def say_what_is_left_out(self, data: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
        world = get_world(str(data["world"]))
        spec = world.read_spec(data, files=files)
        found = {name: world.left_out(spec, name) for name in spec.splits}
        for sentence in dict.fromkeys(sentence for sentences in found.values() for sentence in sentences):
            names = [name for name, sentences in found.items() if sentence in sentences]
            self.stderr.write(f"Left out of {', '.join(names)}: {sentence}", str)

    def _gone_on_with(self, dataset: Dataset) -> Dataset:
        if dataset.state != Dataset.State.COMPLETE:
            if dataset.with_images:
                dataset.read_spec().check_here()
            dataset_jobs.resume(dataset)
        return dataset


def _check_same(dataset: Dataset, data: Mapping[str, Any], *, secrets: Mapping[str, str], images: bool) -> None:
    """Raise `BadSpec` unless the dataset was started with the same spec, secrets and images."""
    if dataset.state == Dataset.State.DELETING:
        raise BadSpec("Expected a dataset to go on with, got one that is being deleted.", where=dataset.slug)
    if dataset.spec_data != data:
        raise BadSpec(
            "Expected the spec that the dataset was begun with, got another one. Give the same SPEC, --seed "
            "and --scenes, or choose another --name.",
            where=dataset.slug,
        )
    stored = dict(dataset.splits.values_list("name", "secret"))
    for name, secret in secrets.items():
        if stored[name] != secret.lower():
            begun = "another one" if stored[name] else "one, but it was begun without"
            raise BadSpec(
                f"Expected the secret that {name} was begun with, got {begun}. Leave it out, or choose another --name.",
                where="--secret",
            )
    if dataset.with_images != (images and dataset.get_world().media == Media.IMAGE):
        advice = "Leave out --no-images" if dataset.with_images else "Give --no-images"
        raise BadSpec(
            f"Expected {'images' if dataset.with_images else 'no images'}, as the dataset was begun. {advice}, "
            "or choose another --name.",
            where=dataset.slug,
        )


def _each_once(pairs: Sequence[tuple[str, Any]], *, option: str) -> dict[str, Any]:
    """Return the values of an option by split; raise `BadSpec` if a split is given twice."""
    said = dict(pairs)
    if len(said) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadSpec(f"Expected each split once, got {twice} again.", where=option)
    return said


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ArgumentTypeError(f"expected SPLIT=VALUE, got {text!r}")
    return name, value


def _number_of_scenes(text: str) -> tuple[str, int]:
    name, value = _named(text)
    if not re.fullmatch(r"[0-9]{1,9}", value):
        raise ArgumentTypeError(f"expected a number of scenes for {name}, got {value!r}")
    return name, int(value)
