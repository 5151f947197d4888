"""A process of the web server. gunicorn starts, watches and replaces it; waitress's loop serves its connections."""

import os
import resource
import time
from datetime import timedelta
from types import FrameType, SimpleNamespace

from django.conf import settings
from gunicorn.workers.base import Worker

from generation.access import MEGABYTE
from webapp.serving.web_server import Server, SiteTask

TURN = 1.0  # seconds between two checks of the time
ENDING = 0.5  # seconds in which the threads end when the process stops
LINGER = 2.0  # seconds for which idle connections stay open when the process stops: a request may be on its way
FILES = 8192  # the most open files: connections, and buffered bodies and responses


class BufferedWorker(Worker):
    """A gunicorn worker whose threads get complete requests, so that slow clients do not block them."""

    servers: "list[Server]"

    def init_process(self) -> None:
        """Raise the limit on open files before the process starts to serve."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        self.servers = []
        super().init_process()

    def run(self) -> None:
        """Serve requests until gunicorn asks this process to stop, or gunicorn has died."""
        [listener] = self.sockets  # `process web` and quickstart have exactly one
        server = Server(
            self.wsgi,
            listener.sock,
            threads=self.cfg.threads,
            keep_alive=self.cfg.keepalive,
            largest=settings.UPLOAD_MB * MEGABYTE,
            access=self._log_access,
        )
        self.servers.append(server)
        tidied = time.monotonic()
        while self.alive and self.ppid == os.getppid():
            self.notify()
            server.turn(TURN)
            if time.monotonic() - tidied >= TURN:
                server.tidy()
                tidied = time.monotonic()
        self._stop(server)

    def _stop(self, server: Server) -> None:
        """Accept no more connections, and finish the responses that have begun, within gunicorn's graceful timeout."""
        from webapp.monitoring.health_probes import stopping  # it imports models, which needs a loaded site

        stopping.set()
        server.stop_accepting()
        begun = time.monotonic()
        last = self.cfg.graceful_timeout - ENDING
        while (waited := time.monotonic() - begun) < last and server.active_channels:
            if waited > LINGER and not server.is_busy:
                break
            self.notify()
            server.turn(0.1)
            server.tidy()
        server.end(seconds=ENDING)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.alive = False
        for server in self.servers:
            server.pull_trigger()

    def _log_access(self, answer: SiteTask) -> None:
        if answer.environ is None or not self.log.access_log_enabled:
            return
        sent = SimpleNamespace(status=answer.status, sent=answer.content_bytes_written, headers=answer.response_headers)
        request = SimpleNamespace(headers=list(answer.request.headers.items()))
        self.log.access(sent, request, answer.environ, timedelta(seconds=time.time() - answer.start_time))
