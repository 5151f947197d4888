"""The training process: it carries out the order of a folder, and continues after it was stopped."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generation.engine.learners import model_files, training_process
from generation.engine.learners.training_process import MODEL, ORDER
from tests.engine.learners import made_examples
from tests.engine.learners.test_example_writer import write_by_items
from tests.engine.learners.test_networks import PYTHON
from tests.skips import Unshared
from tests.webapp.commands import ROOT

EPOCHS = 2
FILES = 2 * EPOCHS + 2  # two files for the checkpoint after each epoch, and two for the model


def order_in(folder: Path, *, method: str = "bag-of-words", device: str = "cpu", threads: int = 1) -> Path:
    """Return a folder with an order, and with examples for it."""
    examples = made_examples.pictures(8)
    for name in ("train", "val"):
        write_by_items(folder / name, examples)
    write_by_items(folder / "test", examples.without_answers())
    config = {"epochs": EPOCHS, "batch": 4}
    order = {"method": method, "config": config, "seed": 3, "threads": threads, "device": device, "predict": ["test"]}
    (folder / ORDER).write_text(json.dumps(order))
    return folder


def results_of(folder: Path) -> list[bytes]:
    """Return the files that a complete training writes."""
    names = (MODEL, "model.json", "predictions-test.jsonl")
    return [(folder / name).read_bytes() for name in names]


def test_an_unexpected_error_of_a_tied_process_ends_it_with_a_traceback_and_no_signal(tmp_path: Path) -> None:
    (tmp_path / ORDER).write_text("{}")
    command = [sys.executable, "-m", training_process.__name__, str(tmp_path), "--tied"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as process:
        assert process.stdout is not None and process.stderr is not None
        said = process.stderr.read()  # its standard input stays open until it has ended
        assert process.wait() == 1
    assert said.strip().endswith(b"KeyError: 'method'")


@pytest.mark.parametrize("written", range(FILES))
def test_a_training_continues_whichever_file_the_disk_had_no_room_for(
    written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, stopped = order_in(tmp_path / "whole"), order_in(tmp_path / "stopped")
    done = training_process.run(whole)
    write, files = model_files.write_whole, list[Path]()

    def fill_up(path: Path, content: bytes) -> None:
        if len(files) == written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        files.append(path)
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(model_files, "write_whole", fill_up)
        with pytest.raises(OSError, match="No space left"):
            training_process.run(stopped)
    assert len(files) == written and not (stopped / MODEL).exists()
    assert training_process.run(stopped) == done
    assert results_of(stopped) == results_of(whole)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            "OSError('libcudart.so.13: cannot open shared object file')",
            "Expected PyTorch that can be loaded, got: libcudart.so.13: cannot open shared object file. Install it "
            "again: delete .venv-torch, then make torch",
        ),
        (
            "ModuleNotFoundError('No module named torch')",
            "Expected PyTorch, which networks need, got none. Install it: make torch",
        ),
    ],
)
def test_a_torch_that_cannot_be_loaded_is_one_message(
    error: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = order_in(tmp_path / "order", method="lstm")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").write_text(f"raise {error}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(sys, "argv", ["training_process", str(folder)])
    assert training_process.main() == 2
    assert json.loads(capsys.readouterr().out) == {"error": {"kind": "NoTorch", "message": message}}


def run_with_torch(*command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the Python with PyTorch."""
    if not PYTHON.exists():
        raise Unshared("no PyTorch: `make torch` installs it, and runs this")
    return subprocess.run([str(PYTHON), *command], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.full
def test_a_training_on_a_gpu_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    folder = order_in(tmp_path, method="lstm", device="cuda")
    hidden = "import os, sys; os.environ['CUDA_VISIBLE_DEVICES'] = ''; from generation.engine.learners import "
    ended = run_with_torch("-c", f"{hidden}training_process; sys.exit(training_process.main())", str(folder))
    error: dict[str, Any] = json.loads(ended.stdout)["error"]
    assert (ended.returncode, error["kind"]) == (2, "NoTorch")
    assert error["message"] == "device: Expected a GPU that PyTorch can use, got none. Use --device cpu."


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("threads", [1, 3])
def test_a_training_uses_the_threads_of_its_order(threads: int, tmp_path: Path) -> None:
    folder = order_in(tmp_path, method="lstm", threads=threads)
    program = "training_process.main(); import torch; print(torch.get_num_threads(), torch.get_default_device())"
    ended = run_with_torch("-c", f"from generation.engine.learners import training_process; {program}", str(folder))
    lines = ended.stdout.splitlines()
    assert "done" in json.loads(lines[-2]), ended.stderr
    assert lines[-1].split()[0] == str(threads)
