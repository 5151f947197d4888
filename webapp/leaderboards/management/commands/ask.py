"""`manage.py ask`: asks a model the questions of a split of this site, as `static/ask.py` does from another machine."""

from argparse import ArgumentParser, Namespace
from typing import Any

from django.core.management.base import CommandError

from generation.management.console import BAD_INPUT, FAILED, GO_ON, INTERRUPTED, PlainCommand
from webapp.leaderboards.management.local_split import LocalSplit, ask_script
from webapp.leaderboards.management.method_owner import find_owner


class Command(PlainCommand):
    help = "Ask a model the questions of a split, and store every reply. /docs/asking/ describes the options."

    def add_arguments(self, parser: ArgumentParser) -> None:
        ask_script().add_options(parser)
        parser.add_argument(
            "--owner",
            metavar="ACCOUNT",
            help="owner of the method; default: the account that has it, or the only superuser",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask the questions, write the files, print the report, and submit the answers if that is wanted."""
        script = ask_script()
        if self.from_command_line:
            script.accept_all_characters()
        try:
            status = script.ask(Namespace(**options), script.Clock(), opened=self._opened)
        except script.Refused as refusal:
            raise CommandError(script.SECRETS.text(str(refusal)), returncode=BAD_INPUT) from refusal
        except script.Unreachable as error:
            raise CommandError(script.SECRETS.text(str(error)), returncode=FAILED) from error
        except OSError as error:
            raise CommandError(script.trouble_of(error), returncode=BAD_INPUT) from error
        except KeyboardInterrupt:
            if not self.from_command_line:
                raise
            raise CommandError(f"Stopped. All replies are kept. {GO_ON}", returncode=INTERRUPTED) from None
        if status:
            missing = "a score, got none" if options["submit"] else "a reply to each question, got failures"
            raise CommandError(f"Expected {missing}. {GO_ON}", returncode=status)

    def _opened(self, options: Namespace, clock: object) -> LocalSplit:
        def owner(method: str) -> Any:
            return find_owner(options.owner, method=method)

        return LocalSplit(self.find_split(options.split), options, owner=owner)
