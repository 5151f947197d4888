"""`manage.py lexicon`: learns words and sentences from published files, for use in new datasets."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from generation.engine.errors import BadRecord
from generation.engine.worlds import usable
from generation.management.console import BAD_INPUT, PlainCommand


class Command(PlainCommand):
    help = "Learn the words, sentences and answers of published files that you have, for the `lexicon` of a spec."
    needs_tables = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        path: dict[str, Any] = {"metavar": "PATH", "type": Path}
        parser.add_argument("path", **path, help="a folder of published files, as tasks_1-20_v1-2/en")
        parser.add_argument("--english", **path, help="the same in English; by default what lies in en/ beside it")
        parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="the file to write")

    def handle(self, *args: Any, **options: Any) -> None:
        world = next(world for world in usable() if world.has_lexicons)
        output: Path = options["output"]
        try:
            learnt = world.learn_lexicon(options["path"], english=options["english"])
            text = json.dumps(learnt.data, indent=1, ensure_ascii=False)
            output.write_text(f"{text}\n", encoding="utf-8")
        except BadRecord as error:
            raise CommandError(str(error), returncode=BAD_INPUT) from error
        except OSError as error:
            raise CommandError(
                f"Expected a file that can be written, got: {error.strerror} ({output}).", returncode=BAD_INPUT
            ) from error
        self.stdout.write(f"{output}: {learnt.about}")
