#!/usr/bin/env python3
"""Packs a wheel around a program that is built already: `pack.py BINARY FOLDER`.

`pip wheel .` comes to the same by maturin, which compiles the program first: as a package alone, whose shared crates
have other features than in the workspace, so that most of a release would be built a second time.
"""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Of no meaning: the same files give the same wheel.
DATE = (1980, 1, 1, 0, 0, 0)


def tags(binary: bytes) -> str:
    """The platforms of a program: any Linux, if it is static."""
    machine = platform.machine()
    # PT_INTERP, the dynamic linker's path, ends in the name of a C library's linker.
    is_static = not re.search(rb"/lib(64)?/ld-[a-z0-9._-]+\.so", binary[:4096])
    return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}" if is_static else f"linux_{machine}"


def metadata(version: str) -> str:
    """The wheel's METADATA, from pyproject.toml."""
    project = (HERE / "pyproject.toml").read_text()

    def field(key: str) -> str:
        found = re.search(rf'^{key} = "(.*)"$', project, re.MULTILINE)
        assert found, key
        return found[1]

    lines = [
        "Metadata-Version: 2.4",
        "Name: spelrum",
        f"Version: {version}",
        f"Summary: {field('description')}",
        f"Requires-Python: {field('requires-python')}",
        f"License-Expression: {field('license')}",
        "Description-Content-Type: text/markdown",
    ]
    extras = project.partition("[project.optional-dependencies]")[2].partition("\n\n")[0]
    for name, packages in re.findall(r"^(\w+) = \[(.*)\]$", extras, re.MULTILINE):
        lines.append(f"Provides-Extra: {name.replace('_', '-')}")
        lines += [
            f"Requires-Dist: {package}; extra == '{name.replace('_', '-')}'" for package in re.findall('"(.*?)"', packages)
        ]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()


def main(program: Path, folder: Path) -> Path:
    """Writes the wheel, and returns its path."""
    printed = subprocess.run([program, "--version"], capture_output=True, check=True, text=True).stdout
    found = re.search(r'^__version__ = "(.*)"$', (HERE / "src/spelrum/__init__.py").read_text(), re.MULTILINE)
    assert found
    version = found[1]
    if printed.split()[1] != version:
        sys.exit(f"error: {program} is `{printed.strip()}`, and the package {version}")
    binary = program.read_bytes()
    tag = f"py3-none-{tags(binary)}"
    files = {
        f"spelrum/{file.name}": file.read_bytes()
        for file in sorted((HERE / "src/spelrum").iterdir())
        if file.suffix == ".py" or file.name == "py.typed"
    }
    info = f"spelrum-{version}.dist-info"
    files[f"spelrum-{version}.data/scripts/spelrum"] = binary
    for license in ("LICENSE-APACHE", "LICENSE-MIT"):
        files[f"{info}/licenses/{license}"] = (HERE.parent / license).read_bytes()
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = "".join(
        ["Wheel-Version: 1.0\nGenerator: pack.py\nRoot-Is-Purelib: false\n"]
        + [f"Tag: py3-none-{part}\n" for part in tags(binary).split(".")]
    ).encode()
    record = f"{info}/RECORD"
    rows = []
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"spelrum-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}\n")
            write(archive, name, data)
        write(archive, record, "".join([*rows, f"{record},,\n"]).encode())
    return wheel


def write(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Adds a file, executable if it is a script."""
    entry = zipfile.ZipInfo(name, DATE)
    entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: pack.py BINARY FOLDER")
    print(main(Path(sys.argv[1]), Path(sys.argv[2])))
