"""`manage.py ask`: asks a model the questions of a split of this site, as `static/ask.py` does from another machine."""

from argparse import ArgumentParser, Namespace
from typing import Any

from django.core.management.base import CommandError

from generation.asking.command import accept_all_characters, add_options, ask, trouble_of
from generation.asking.console import SECRETS, Clock, Refused, Unreachable
from generation.management.console import BAD_INPUT, FAILED, GO_ON, INTERRUPTED, PlainCommand
from webapp.leaderboards.management.local_split import LocalSplit
from webapp.leaderboards.management.method_owner import find_owner
from webapp.models import User


class Command(PlainCommand):
    help = "Ask a model the questions of a split, and store every reply. /docs/asking/ describes the options."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_options(parser)
        parser.add_argument(
            "--owner",
            metavar="ACCOUNT",
            help="owner of the method; default: the account that has it, or the only superuser",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask the questions, write the files, print the report, and submit the answers if that is wanted."""
        if self.from_command_line:
            accept_all_characters()
        try:
            status = ask(Namespace(**options), Clock(), opened=self._opened)
        except Refused as refusal:
            raise CommandError(SECRETS.text(str(refusal)), returncode=BAD_INPUT) from refusal
        except Unreachable as error:
            raise CommandError(SECRETS.text(str(error)), returncode=FAILED) from error
        except OSError as error:
            raise CommandError(trouble_of(error), returncode=BAD_INPUT) from error
        except KeyboardInterrupt:
            if not self.from_command_line:
                raise
            raise CommandError(f"Stopped. All replies are kept. {GO_ON}", returncode=INTERRUPTED) from None
        if status:
            missing = "a score, got none" if options["submit"] else "a reply to each question, got failures"
            raise CommandError(f"Expected {missing}. {GO_ON}", returncode=status)

    def _opened(self, options: Namespace, clock: Clock) -> LocalSplit:
        def owner(method: str) -> User:
            return find_owner(options.owner, method=method)

        return LocalSplit(self.find_split(options.split), options, owner=owner)
