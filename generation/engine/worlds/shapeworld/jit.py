"""The compiler of this world's loops."""

from pathlib import Path

from generation.engine.numba_compiler import compiler

HERE = Path(__file__).parent
compiled = compiler(
    "shapeworld", files=[HERE / name for name in ("jit.py", "shape_geometry.py", "footprints.py", "picture.py")]
)
