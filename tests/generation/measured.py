"""The child process that reads imports; it notes its peak memory and processor time in the file `HOME/measured`."""

import os
import re
import time
from pathlib import Path

from generation.making import import_process
from generation.queue import sandbox

write_frame = sandbox.write_frame


def note() -> None:
    """Append the peak memory in megabytes and the processor time in seconds so far to the file."""
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    with Path(os.environ["HOME"], "measured").open("a") as file:
        file.write(f"{int(peak[1]) >> 10 if peak else 0} {time.process_time()}\n")


def write_and_note(content: bytes) -> None:
    """Note first: the parent may stop this process once it has read enough."""
    note()
    write_frame(content)


if __name__ == "__main__":
    sandbox.write_frame = write_and_note
    try:
        import_process.main()
    finally:
        note()
