"""The decorators that compile the loops of the renderers."""

from pathlib import Path

from generation.engine.numba_compiler import compiler

FILES = sorted(Path(__file__).parent.rglob("*.py"))
compiled = compiler("render", files=FILES)
inlined = compiler("render", files=FILES, is_inlined=True)
