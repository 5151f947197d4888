"""`python -m webapp.running.beat`: the clock of earlier releases, which has nothing left to do.

It stays, so that commands, units and files of Compose that start it still work.
"""

import signal
import sys

MESSAGE = (
    "The process beat has nothing left to do: background processes find regular work by themselves. You may stop it."
)
STOPPING = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    """Say once that there is nothing to do, and wait for SIGTERM or SIGINT."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    sys.stderr.write(f"{MESSAGE}\n")
    sys.stderr.flush()
    signal.sigwait(STOPPING)


if __name__ == "__main__":
    main()
