"""How gunicorn writes its own logs: as it always does, but masked."""

import logging
from typing import Any

from gunicorn.glogging import Logger

from webapp.monitoring.logs import Masked


class MaskedLogger(Logger):
    """gunicorn's logger, which tells no address of a participant; one of requests, which nobody asked for, neither."""

    def setup(self, cfg: Any) -> None:
        """Set the handlers up."""
        super().setup(cfg)
        for handler in [*self.error_log.handlers, *self.access_log.handlers]:
            plain = handler.formatter or logging.Formatter()
            handler.setFormatter(Masked(plain._fmt, plain.datefmt))
