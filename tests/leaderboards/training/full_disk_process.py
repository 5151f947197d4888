"""The training process, which also knows the toy, on a disk that is full after two epochs."""

import sys
from pathlib import Path

from generation.engine.learners import model_files, training_process
from tests.leaderboards.training import toys

ROOM = 4  # files: two for the checkpoint after each epoch


class FullDisk:
    """Writes the files for which there is room. Then it writes to a device of Linux that is always full."""

    def __init__(self) -> None:
        self.files = 0
        self.write = model_files.write_whole

    def write_whole(self, path: Path, content: bytes) -> None:
        self.files += 1
        self.write(path, content) if self.files <= ROOM else Path("/dev/full").write_bytes(content)


if __name__ == "__main__":
    toys.register()
    model_files.write_whole = FullDisk().write_whole
    sys.exit(training_process.main())
