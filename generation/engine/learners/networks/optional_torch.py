"""PyTorch, if this program has imported it before.

The names, settings and needs of networks can be read without PyTorch, so a web process never loads PyTorch.
Only `generation.engine.learners.training_process` and tests import PyTorch, before they import a network.
"""

import sys
from typing import Any

from generation.engine.errors import NoTorch


class _AbsentModule:
    """Stands for `torch.nn.Module`, so that modules of networks can be imported."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise NoTorch("Expected PyTorch, which networks need, got none. Install it: make torch")


class _Absent:
    """Stands for a package that was not imported."""

    Module = _AbsentModule

    def __getattr__(self, name: str) -> Any:
        raise NoTorch("Expected PyTorch, which networks need, got none. Install it: make torch")


torch: Any = sys.modules.get("torch", _Absent())
nn: Any = sys.modules.get("torch.nn", _Absent())
functional: Any = sys.modules.get("torch.nn.functional", _Absent())
DispatchMode: Any = torch.utils._python_dispatch.TorchDispatchMode if "torch" in sys.modules else _AbsentModule
