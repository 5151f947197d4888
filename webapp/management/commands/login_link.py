"""`manage.py login_link`: prints a sign-in link for an account."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from generation.management.console import PlainCommand
from webapp.models import LoginLink, User, address_of


class Command(PlainCommand):
    help = "Print a link that logs an account in once, within a day."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", nargs="?", default="admin", help="the account (default: admin)")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"Expected the name of an active account, got {options['username']!r}.", returncode=2)
        print(f"{settings.PUBLIC_URL or 'http://127.0.0.1:8000'}{address_of(LoginLink.objects.make(user))}")
