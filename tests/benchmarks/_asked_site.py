"""Serves a site with questions about colours and a model that answers them, until a line comes on standard input."""

import sys

from tests.asking import colour_site
from tests.asking.model_stub import serving
from tests.webapp.contrary import running


def main(questions: int, delay: float) -> None:
    """Print the addresses of both."""
    with running() as site, serving(colour_site.sees, delay=delay) as model:
        colour_site.fill(site, questions)
        sys.stdout.write(f"{site.address} {model.address}\n")
        sys.stdout.flush()
        sys.stdin.readline()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
