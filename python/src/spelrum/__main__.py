"""``python -m spelrum FILE [NAME]``: plays as a player of a file, over the protocol of lines."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

from spelrum import players
from spelrum.errors import Error
from spelrum.lines import Connection


def load(file: Path, name: str) -> players.Player:
    """Loads a file as a module, up to its first call of ``run``, ``worker`` or ``connect``, and finds the player.

    The module's ``__name__`` is not ``__main__``, so that what stands under such an ``if`` is left out.

    Raises:
        Error: if the file defines no such player.
    """
    players._playing = name
    sys.path.insert(0, str(file.resolve().parent))
    module_name = file.stem if file.stem.isidentifier() and file.stem not in sys.modules else "__player__"
    spec = importlib.util.spec_from_file_location(
        module_name, file, loader=importlib.machinery.SourceFileLoader(module_name, str(file))
    )
    if spec is None or spec.loader is None:
        raise Error(f"{file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except players.Loaded:
        pass
    return players.find(name)


def main(arguments: list[str]) -> int:
    """The command line; returns the exit code."""
    usage = "usage: python -m spelrum FILE [PLAYER]"
    if arguments in (["-h"], ["--help"]):
        print(f"{usage}\n\nPlays as a player that FILE defines with @spelrum.player(), for a program that asks for moves.")
        return 0
    if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
        print(usage, file=sys.stderr)
        return 2
    connection = Connection.standard()
    try:
        player = load(Path(arguments[0]), arguments[1] if len(arguments) > 1 else "")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        connection.refuse(error)
        return 3
    connection.serve(player)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
