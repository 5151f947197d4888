"""Compiled functions are cached, and compiled again after a change of any file that they depend on."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import generation.engine

SCRIPT = (
    "from generation.engine.render.rays import ground_distance as f; print(f(0.0, 0.5, -1.0), len(f.stats.cache_hits))"
)


def run(folder: Path) -> list[str]:
    """Return the output of the script: a distance, and how many compiled functions came from the cache."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_changed_constant_in_another_file_causes_a_new_compilation(tmp_path):
    source = Path(generation.engine.__file__).parent
    target = tmp_path / "generation" / "engine"
    shutil.copytree(source / "render", target / "render", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("numba_compiler.py", "compilation_watch.py", "errors.py", "__init__.py"):
        shutil.copy(source / name, target / name)
    (tmp_path / "generation" / "__init__.py").touch()
    assert run(tmp_path) == ["0.5", "0"]
    assert run(tmp_path) == ["0.5", "1"]
    shapes = target / "render" / "shapes.py"
    shapes.write_text(shapes.read_text().replace("NEAR = 1e-4", "NEAR = 0.75"))
    assert run(tmp_path) == ["1e+30", "0"]
