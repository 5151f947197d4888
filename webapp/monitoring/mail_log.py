"""Mails of a site without `EMAIL_URL`: written to standard output, without the links that they would deliver."""

from django.core.mail import EmailMessage
from django.core.mail.backends.console import EmailBackend as ConsoleBackend

from webapp.monitoring.logs import masked

HINT = "This mail was not sent: EMAIL_URL is not set. `manage.py login_link NAME` makes a link for somebody.\n"


class EmailBackend(ConsoleBackend):
    """Django's backend for the console; logs are read by more people than the one a link is for."""

    def write_message(self, message: EmailMessage) -> None:
        self.stream.write(HINT)
        self.stream.write(f"To: {', '.join(message.to)}\nSubject: {message.subject}\n\n")
        self.stream.write(masked(str(message.body)) + "\n")
