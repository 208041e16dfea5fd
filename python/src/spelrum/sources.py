"""The files from which players run in processes of their own, and the engines file that names them."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import os
import site
import symtable
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any, Mapping, Union

from spelrum.errors import Error
from spelrum.players import Player, Program

Engine = Union[Player, Program, Mapping[str, Any]]
"""What an engines file can name."""

# The longest text of a value of a notebook that is copied into a player's file.
_LITERAL_MAX = 100_000


def engine_table(engine: Engine, folder: Path) -> Mapping[str, Any]:
    """An engine's entry in an engines file. Source of a notebook's players is written into ``folder``."""
    if isinstance(engine, Program):
        return {"protocol": engine.protocol, "command": engine.command, "args": engine.arguments, **engine.settings}
    if not isinstance(engine, Player):
        return engine
    source = _source_file(engine, folder)
    # Where the player finds its files: beside its source, or where the notebook finds them.
    base = source.parent if os.path.isfile(engine.source) else Path.cwd()
    files = [source, *(base / file for file in engine.files)]
    for file in files:
        if not file.is_file():
            raise Error(f"{engine.name} names the file {file}, which is not there")
    return {
        "protocol": "lines",
        "command": sys.executable,
        "args": ["-m", "spelrum", os.path.relpath(source, base), engine.name],
        "directory": base,
        "files": files,
        # Sets come in the same order in every process, so that a player that follows its seed repeats itself.
        "environment": {"PYTHONHASHSEED": "0", **_python_path(), **engine.environment},
        "options": _without_defaults(engine.options),
        # Networks are loaded meanwhile.
        "startup_timeout": "5m",
    }


def _without_defaults(options: Any) -> Any:
    """Options as an engines file has them; those of another type are the program's to refuse."""
    if not isinstance(options, Mapping):
        return options
    return {
        name: {key: value for key, value in rule.items() if key != "default"} if isinstance(rule, Mapping) else rule
        for name, rule in options.items()
    }


def _python_path() -> dict[str, str]:
    """Where an engine, which gets no environment, finds this package, unless it is installed."""
    here = str(Path(__file__).resolve().parent.parent)
    inherited = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    installed = [str(Path(entry).resolve()) for entry in [*site.getsitepackages(), site.getusersitepackages()]]
    entries = inherited if here in installed or here in inherited else [here, *inherited]
    return {"PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in entries)} if entries else {}


def _source_file(player: Player, folder: Path) -> Path:
    if os.path.isfile(player.source):
        return Path(player.source).resolve()
    file = folder / f"{player.name}.py"
    text = extract(player)
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return file.resolve()


def extract(player: Player) -> str:
    """The source of a player that a notebook defines, with the imports, functions, classes and plain
    values that it uses.

    Raises:
        Error: if it uses something that has no source, such as a trained model.
    """
    target = inspect.unwrap(player.target)
    if isinstance(target, type):
        names = dict(vars(sys.modules[target.__module__]))
    else:
        names = dict(getattr(target, "__globals__", {}))
        if getattr(target, "__closure__", None):
            raise Error(f"{player.name} is defined within a function: define it at the top of a cell, or in a file")
    pieces: dict[str, str] = {}
    _collect(getattr(target, "__name__", player.name), player, names, pieces, player.name)
    return "".join(["# Written by spelrum.run, from a notebook.\n", *pieces.values()])


def _collect(name: str, value: Any, names: Mapping[str, Any], pieces: dict[str, str], player: str) -> None:
    """Adds what a name stands for to the pieces, after all that it uses."""
    if name in pieces:
        return
    plain = inspect.unwrap(value.target if isinstance(value, Player) else value)
    origin = getattr(plain, "__module__", None)
    if isinstance(plain, ModuleType):
        pieces[name] = f"import {plain.__name__}\n" if plain.__name__ == name else f"import {plain.__name__} as {name}\n"
        return
    own_name = getattr(plain, "__name__", None)
    if origin != "__main__" and not isinstance(value, Player):
        for known in (own_name, name):
            if known and origin and getattr(sys.modules.get(origin), known, None) is value:
                pieces[name] = f"from {origin} import {known} as {name}\n"
                return
    if inspect.isfunction(plain) or isinstance(plain, type):
        source = _definition(plain, player)
        pieces[name] = ""  # It may use itself.
        for used in _globals_of(source):
            if used in names:
                _collect(used, names[used], names, pieces, player)
            elif not hasattr(builtins, used):
                raise Error(f"{player} uses `{used}`, which is not defined")
        del pieces[name]
        pieces[name] = source + ("" if name == own_name else f"{name} = {own_name}\n")
        return
    text = repr(value)
    try:
        if len(text) <= _LITERAL_MAX and ast.literal_eval(text) == value:
            pieces[name] = f"{name} = {text}\n"
            return
    except (ValueError, SyntaxError):
        pass
    raise Error(
        f"{player} uses `{name}` of type {type(value).__name__}, which its own process cannot get from the notebook: "
        f"make it within the player, or put the player into a file of its own"
    )


def _definition(plain: Any, player: str) -> str:
    """The text of a function or class of a notebook, with its decorators."""
    functions = [plain] if inspect.isfunction(plain) else [f for f in vars(plain).values() if inspect.isfunction(f)]
    cells = [functions[0].__code__.co_filename] if functions else list(linecache.cache)
    for cell in reversed(cells):
        text = "".join(linecache.getlines(cell))
        try:
            nodes = list(ast.walk(ast.parse(text))) if functions or not os.path.isfile(cell) else []
        except SyntaxError:
            continue
        for node in reversed(nodes):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == plain.__name__:
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                lines = text.splitlines(keepends=True)[first - 1 : node.end_lineno]
                return textwrap.dedent("".join(lines)).rstrip() + "\n"
    raise Error(f"the source of `{plain.__name__}`, which {player} uses, is not known: put the player into a file")


def _globals_of(source: str) -> list[str]:
    """The names that a definition takes from its module, in a fixed order."""
    found: set[str] = set()

    def visit(table: symtable.SymbolTable, is_top: bool) -> None:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (symbol.is_global() or is_top):
                found.add(symbol.get_name())
        for child in table.get_children():
            visit(child, False)

    visit(symtable.symtable(source, "cell", "exec"), True)
    return sorted(found)
