"""How the tracer's loops are compiled."""

from pathlib import Path

from generation.engine.compiling import compiler, digest_of

FILES = sorted(Path(__file__).parent.glob("*.py"))
DIGEST = digest_of(FILES)
compiled = compiler("render", files=FILES)
