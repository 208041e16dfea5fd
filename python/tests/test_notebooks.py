"""The notebooks, from the built wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SOURCE

PACKAGE = SOURCE.parent
NOTEBOOKS = sorted((PACKAGE / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's contents, the program among them."""
    from spelrum import Error, binary

    try:
        program = binary.path()
    except Error as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("wheel")
    packed = subprocess.run(
        [sys.executable, PACKAGE / "pack.py", program, folder], capture_output=True, check=True, text=True
    )
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target"]
    subprocess.run([*pip, folder / "installed", packed.stdout.strip()], check=True)
    return folder / "installed"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_the_wheel(installed: Path, tmp_path: Path, notebook: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for module in ("ipykernel", "matplotlib", "pandas", "numpy", "pyspiel"):
        pytest.importorskip(module)
    book = nbformat.read(notebook, as_version=4)
    nbformat.validate(book)
    assert not any(cell.get("outputs") for cell in book.cells), "notebooks are kept without their outputs"
    book.cells.append(nbformat.v4.new_code_cell("spelrum.__file__, __import__('spelrum.binary').binary.path()"))
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [str(installed), *(path for path in inherited if path and Path(path).resolve() != SOURCE)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    environment.pop("SPELRUM", None)
    environment["PATH"] = os.pathsep.join(
        folder for folder in environment["PATH"].split(os.pathsep) if not shutil.which("spelrum", path=folder)
    )
    client = nbclient.NotebookClient(book, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute(env=environment)
    used = book.cells.pop().outputs[0].data["text/plain"]
    assert used.count(str(installed)) == 2, used
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    shown = {kind for output in outputs for kind in output.get("data", {})}
    assert "text/html" in shown
    if notebook.stem == "first-study":
        assert "image/png" in shown and "image/svg+xml" in shown


def test_there_are_notebooks() -> None:
    assert {notebook.stem for notebook in NOTEBOOKS} == {"first-study", "open-spiel", "self-play"}
