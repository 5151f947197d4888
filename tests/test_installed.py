"""`pip install .` installs the complete engine and `horsesense ask`; both work in an environment without the site."""

import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pytest

from generation.engine import ENGINE_VERSION
from generation.management.world_packages import write_world
from tests.asking import colour_site
from tests.asking.conftest import KEY, answers, arguments, truth
from tests.asking.model_stub import serving
from tests.engine.test_torch_stream import PYTHON as TORCH
from tests.skips import Unshared
from tests.webapp.commands import ROOT
from tests.webapp.contrary import TOKEN, running

NEEDED = 77  # the version of setuptools that pyproject.toml requires
OFFLINE = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
PROGRAM = """
import sys
import generation.engine
from generation.engine import ENGINE_VERSION, stream
spec = {"base": "clevr-mini", "images": {"width": 64, "height": 64, "samples": 1}, "scene": {"min_pixels": 0}}
batch = next(stream(spec, "val", 2))
print(generation.engine.__file__, batch.images.shape, ENGINE_VERSION, "django" in sys.modules)
"""


def builder() -> str:
    """Return a Python that can build the package without the network: this one, or the one with PyTorch."""
    try:
        if int(version("setuptools").partition(".")[0]) >= NEEDED:
            return sys.executable
    except PackageNotFoundError:
        pass
    if not TORCH.exists():
        raise Unshared(f"no setuptools from {NEEDED} on: `make torch` installs it, and runs this")
    return str(TORCH)


def run(*command: str | Path, cwd: Path) -> str:
    ended = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of a new environment with the engine; the packages that it needs are those of this Python."""
    tmp_path = tmp_path_factory.mktemp("installed")
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "generation", source / "generation", ignore=shutil.ignore_patterns("__pycache__"))
    options = [*OFFLINE, "--no-build-isolation", "--wheel-dir", "wheels"]
    run(builder(), "-m", "pip", "wheel", *options, source, cwd=tmp_path)
    run(sys.executable, "-m", "venv", "--without-pip", "new", cwd=tmp_path)
    python = tmp_path / "new/bin/python"
    [wheel] = tmp_path.glob("wheels/*.whl")
    run(sys.executable, "-m", "pip", "--python", python, "install", *OFFLINE, wheel, cwd=tmp_path)
    home = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    home.joinpath("ours.pth").write_text(f"{Path(np.__file__).parents[1]}\n")
    return python


@pytest.mark.full
@pytest.mark.slow
def test_the_engine_is_installed_and_streams(installed: Path, tmp_path: Path) -> None:
    where, said = run(installed, "-c", PROGRAM, cwd=tmp_path).strip().split(" ", 1)
    assert Path(where).is_relative_to(installed.parents[1])
    assert said == f"(2, 64, 64, 3) {ENGINE_VERSION} False"


@pytest.mark.full
@pytest.mark.slow
def test_a_new_world_is_found_after_it_is_installed(installed: Path, tmp_path: Path) -> None:
    write_world("twigs", tmp_path)
    run(builder(), "-m", "pip", "wheel", *OFFLINE, "--no-build-isolation", tmp_path / "twigs", cwd=tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "pip", "--python", installed, "install", *OFFLINE, wheel, cwd=tmp_path)
    program = "from generation.engine import stream; print(next(stream('twigs', 'val', 3)).images.shape)"
    assert run(installed, "-c", program, cwd=tmp_path).strip() == "(3, 6, 48, 3)"


@pytest.mark.full
@pytest.mark.slow
def test_the_installed_command_asks_a_model(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORSESENSE_TOKEN", TOKEN)
    monkeypatch.setenv("MODEL_API_KEY", KEY)
    with running() as site, serving(colour_site.sees) as model:
        colour_site.fill(site, 8)
        said = run(installed.with_name("horsesense"), "ask", *arguments(site, model, tmp_path / "asked"), cwd=tmp_path)
    assert answers(tmp_path / "asked") == truth(8)
    assert "right: 8 of 8 (100.0 %)" in said


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("package", ["engine", "asking"])
def test_every_file_of_a_package_is_installed(package: str, installed: Path) -> None:
    home = installed.parents[1]
    [there] = home.rglob(f"generation/{package}/__init__.py")
    ours = ROOT / "generation" / package
    files = {path.relative_to(ours) for path in ours.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert files <= {path.relative_to(there.parent) for path in there.parent.rglob("*")}
    assert not (there.parents[1] / "models").exists()
