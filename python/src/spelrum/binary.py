"""The program ``spelrum``: where it is, and how it is called."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Sequence

from spelrum.errors import Error


def path() -> str:
    """The program: what the environment variable ``SPELRUM`` names, else the one that was installed
    with this package, else the one in ``PATH``.

    Raises:
        Error: if there is none.
    """
    named = os.environ.get("SPELRUM")
    if named:
        if shutil.which(named) is None:
            raise Error(f"SPELRUM names {named}, which is not a program")
        return named
    # `PREFIX/lib/python3.X/site-packages/spelrum` and `PREFIX/bin/spelrum`; by `pip install --target`, `PREFIX/spelrum`.
    parents = list(Path(__file__).resolve().parents)
    folders = [parent / "bin" for parent in [*parents[1:2], *parents[3:6]]] + [Path(sys.executable).parent]
    for folder in folders:
        program = folder / "spelrum"
        if program.is_file() and os.access(program, os.X_OK):
            return str(program)
    found = shutil.which("spelrum")
    if found is None:
        raise Error(
            "the program `spelrum` is not there: install the package from a wheel that has it, put it into PATH, "
            "or name it by the environment variable SPELRUM"
        )
    return found


def command(*arguments: str) -> list[str]:
    """The command line of a program that the calling thread waits for. It ends as by SIGTERM when
    this thread or process ends, however that ends: by SIGKILL too.

    Raises:
        Error: if there is no program.
    """
    return [path(), "--color", "never", "--ends-with", str(os.getpid()), *arguments]


def call(*arguments: str) -> str:
    """Runs the program and returns what it prints.

    Raises:
        Error: if it fails, with its message and exit code.
    """
    done = subprocess.run(command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        raise error(done.stderr.decode("utf-8", "replace"), done.returncode, arguments)
    return done.stdout.decode("utf-8", "replace")


def error(message: str, exit_code: int, arguments: Sequence[str]) -> Error:
    """The error that a failed call comes to."""
    text = message.strip()
    text = text[len("error: ") :] if text.startswith("error: ") else text
    if exit_code < 0:
        reason = ", perhaps for lack of memory" if exit_code == -signal.SIGKILL else ""
        again = "; run the same again: it resumes" if arguments[0] == "run" else "; try again"
        ended = f"`spelrum {arguments[0]}` was killed by signal {-exit_code}{reason}{again}"
        return Error(f"{ended}\n{text}".strip(), exit_code)
    return Error(text or f"`spelrum {arguments[0]}` ended with code {exit_code} and no message", exit_code)
