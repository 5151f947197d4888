"""The mail backend of a site without `EMAIL_URL`: it writes mails to standard output and masks the links in them."""

from django.core.mail import EmailMessage
from django.core.mail.backends.console import EmailBackend as ConsoleBackend

from webapp.monitoring.log_masking import mask

HINT = "This mail was not sent: EMAIL_URL is not set. `manage.py login_link NAME` makes a link for somebody.\n"


class EmailBackend(ConsoleBackend):
    """Django's console backend, with masked links, because other people than the recipient may read the logs."""

    def write_message(self, message: EmailMessage) -> None:
        self.stream.write(HINT)
        self.stream.write(f"To: {', '.join(message.to)}\nSubject: {message.subject}\n\n")
        self.stream.write(mask(str(message.body)) + "\n")
