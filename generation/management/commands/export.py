"""`manage.py export`: writes a dataset for other tools."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from types import TracebackType
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from generation.engine import formats
from generation.engine.formats import Format, Option
from generation.exchange import exports
from generation.making.process_pool import stoppable
from generation.management.console import FAILED, INTERRUPTED, PlainCommand


class Command(PlainCommand):
    help = "Write a dataset into a folder, in a format that other people's tools read. Prints the folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", metavar="DATASET", help="its name in addresses")
        parser.add_argument(
            "--format", required=True, metavar="F", help=", ".join(each.name for each in formats.every())
        )
        parser.add_argument("--output", required=True, metavar="DIR", help="a folder that isn't there yet, or is empty")
        parser.add_argument(
            "--split", action="append", default=[], metavar="SPLIT",
            help="this split alone; may be given several times; default: all",
        )  # fmt: skip
        parser.add_argument("--no-images", action="store_true", help="leave the pictures out")
        parser.add_argument(
            "--withheld", action="store_true",
            help="with the answers of splits that withhold them: for yourself, not for others",
        )  # fmt: skip
        for name, owners in _options().items():
            _add_option(parser, name, owners)

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the folder. After Ctrl-C or a failure nothing is left."""
        found = self.find_dataset(options["dataset"])
        format_ = formats.find(options["format"], found.get_world())
        given = {name: value for name in _options() if (value := options[_key(name)]) is not None}
        values = formats.check_options(format_, given)
        output = Path(options["output"])
        exports.check_output(output, may_have=found.fingerprint)
        dataset = exports.StoredDataset(
            found,
            splits=options["split"],
            viewer=exports.Viewer(withheld=options["withheld"]),
            images=not options["no_images"],
        )
        self._write(dataset, output, format_=format_, values=values)
        self._say_what_is_missing(dataset)
        self.stdout.write(str(output))

    def _write(self, dataset: exports.StoredDataset, output: Path, *, format_: Format, values: dict[str, Any]) -> None:
        try:
            with stoppable(), ExportBar(dataset) as bar:
                exports.write(dataset, output, format_=format_, options=values, tick=bar.tick)
        except KeyboardInterrupt:
            if not self.from_command_line:
                raise
            raise CommandError("Stopped. Nothing was written.", returncode=INTERRUPTED) from None
        except OSError as error:
            raise CommandError(
                f"Expected to write {output}, got: {error}. Nothing was written.", returncode=FAILED
            ) from error

    def _say_what_is_missing(self, dataset: exports.StoredDataset) -> None:
        # Otherwise somebody would look for it in the folder.
        for line in dataset.notes():
            self.stderr.write(line)


class ExportBar:
    """A progress bar on standard error that counts scenes."""

    def __init__(self, dataset: exports.StoredDataset) -> None:
        self.bar = tqdm(
            total=dataset.scenes, desc=dataset.slug, unit=" scenes", file=sys.stderr,
            mininterval=0.1 if sys.stderr.isatty() else 10.0,
        )  # fmt: skip

    def __enter__(self) -> "ExportBar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.close()

    def tick(self, scenes: int) -> None:
        self.bar.update(scenes)


def _options() -> dict[str, dict[str, Option]]:
    """Return the options of all formats, by name, and for each the formats that have it."""
    found: dict[str, dict[str, Option]] = {}
    for format_ in formats.every():
        for option in format_.options:
            found.setdefault(option.name, {})[format_.name] = option
    return found


def _add_option(parser: ArgumentParser, name: str, owners: dict[str, Option]) -> None:
    """Add an option of some formats. Its value is None if it is not given."""
    about = "; ".join(f"{format_}: {option.about}" for format_, option in owners.items())
    if all(isinstance(option.default, bool) for option in owners.values()):
        parser.add_argument(f"--{name}", action="store_true", default=None, help=about)
    else:
        parser.add_argument(f"--{name}", metavar=name.upper(), help=about)


def _key(name: str) -> str:
    return name.replace("-", "_")
