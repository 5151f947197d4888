"""How this world's loops are compiled."""

from pathlib import Path

from generation.engine.compiling import compiler

HERE = Path(__file__).parent
compiled = compiler(
    "shapeworld", files=[HERE / name for name in ("compiled.py", "forms.py", "footprints.py", "picture.py")]
)
