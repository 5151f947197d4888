"""The training process, which also knows the toy."""

import sys

from generation.engine.learners import training_process
from tests.leaderboards.training import toys

if __name__ == "__main__":
    toys.register()
    sys.exit(training_process.main())
