"""gunicorn's own logs with secrets masked."""

import logging
from typing import Any

from gunicorn.glogging import Logger

from generation.queue.outages import OutageFilter
from webapp.monitoring.log_masking import MaskingFormatter


class MaskedLogger(Logger):
    """gunicorn's logger, which here masks secrets in its messages."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in [*self.error_log.handlers, *self.access_log.handlers]:
            plain = handler.formatter or logging.Formatter()
            handler.setFormatter(MaskingFormatter(plain._fmt, plain.datefmt))
            handler.addFilter(OutageFilter())
