"""A program that estimates the memory of a network's training: `python -m generation.engine.learners.memory_process`.

It reads a JSON object from the standard input: the method, its settings as `config`, the `device`, and the size of the
examples as `shape`. It prints `{"bytes": N}`, or `{"error": {...}}` like the training process. It is a separate process
because a web process never loads PyTorch.
"""

import json
import sys

from generation.engine.errors import EngineError
from generation.engine.learners import find_learner
from generation.engine.learners.base import DataShape
from generation.engine.learners.training_process import prepare_torch, print_line


def main() -> int:
    """Print the estimate for the standard input; return 0, or 2 after an error for users."""
    asked = json.load(sys.stdin)
    try:
        prepare_torch(1, asked["device"])
        learner = find_learner(asked["method"])
        found = learner.estimate_memory(learner.read_config(asked["config"]), DataShape(**asked["shape"]))
    except EngineError as error:
        print_line({"error": {"kind": type(error).__name__, "message": str(error)}})
        return 2
    print_line({"bytes": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
