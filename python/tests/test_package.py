"""The package as a whole: its version, its imports, its wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import spelrum

PACKAGE = Path(__file__).resolve().parent.parent


def test_the_version_is_the_programs() -> None:
    workspace = (PACKAGE.parent / "Cargo.toml").read_text()
    found = re.search(r'^version = "(.*)"', workspace, re.MULTILINE)
    assert found and found[1] == spelrum.__version__


def test_all_names_are_there_and_have_words() -> None:
    for name in spelrum.__all__:
        assert name == "RESIGN" or getattr(spelrum, name).__doc__, name
    assert set(spelrum.__all__) <= set(dir(spelrum))


def test_a_player_loads_little() -> None:
    """What a player's process does not need is loaded later."""
    # Without `site`, which may load things of its own.
    code = f"import sys; sys.path.append({str(PACKAGE / 'src')!r}); import spelrum; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, check=True, text=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"subprocess", "urllib.request", "ssl", "inspect", "random", "tempfile", "sqlite3", "http"}


def test_the_wheel_has_the_program_and_the_package(program: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, PACKAGE / "pack.py", program, tmp_path], capture_output=True, check=True, text=True
    )
    wheel = Path(done.stdout.strip())
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert "spelrum/py.typed" in names and "spelrum/lines.py" in names
        script = next(name for name in names if name.endswith(".data/scripts/spelrum"))
        assert archive.read(script) == Path(program).read_bytes()
        assert archive.getinfo(script).external_attr >> 16 & 0o111
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert "Requires-Dist: polars; extra == 'polars'" in metadata
    assert wheel.stat().st_size < 25 * 2**20
