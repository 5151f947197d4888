"""The decorators that compile the loops of the renderers."""

from pathlib import Path

from generation.engine.numba_compiler import compiler, digest_of

FILES = sorted(Path(__file__).parent.rglob("*.py"))
DIGEST = digest_of(FILES)
compiled = compiler("render", files=FILES)
inlined = compiler("render", files=FILES, is_inlined=True)
