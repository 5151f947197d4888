"""The shipped proxy on a separate port, in front of a site of a test."""

import http.client
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

from tests.faults.servers import free_port, wait_for
from tests.services import missing
from tests.webapp.commands import ROOT


class Proxy:
    """A Caddy with webapp/Caddyfile, for http only. It runs during a `with` block.

    Parameters
    ----------
    folder : Path
        Folder of its log and its configuration.
    site : int
        Port of the site. The site need not run.
    port : int, optional
        Port of the proxy; a free port by default.
    debug : bool
        Whether it logs every request.
    """

    def __init__(self, folder: Path, *, site: int, port: int | None = None, debug: bool = False) -> None:
        program = shutil.which("caddy")
        if program is None:
            missing("caddy", "apt install caddy")
        folder.mkdir(parents=True, exist_ok=True)
        self.port, self.log, self.file = port or free_port(), folder / "caddy.log", folder / "Caddyfile"
        text = (ROOT / "webapp/Caddyfile").read_text().replace("web:8000", f"127.0.0.1:{site}")
        text = re.sub(r"^http:// \{.*?^\}", "", text, flags=re.MULTILINE | re.DOTALL)
        self.file.write_text(text.replace("admin off", "admin off\n\tdebug") if debug else text)
        self.command = [program, "run", "--config", str(self.file), "--adapter", "caddyfile"]
        self.environment = {**os.environ, "HOME": str(folder), "PUBLIC_URL": f"http://localhost:{self.port}"}

    def __enter__(self) -> "Proxy":
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=output, stderr=output)
        wait_for(self._answer, what="Caddy")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.wait(30)

    def _answer(self) -> None:
        """Send a request that the proxy answers without the site."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("TRACE", "/", headers={"Host": f"localhost:{self.port}"})
        connection.getresponse().read()
        connection.close()
