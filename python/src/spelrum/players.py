"""Players: functions, classes and programs."""

from __future__ import annotations

import sys
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence, Union

from spelrum.errors import Error
from spelrum.state import State


class Move(NamedTuple):
    """A move with what the player says about it. All but the move may be left out."""

    move: str
    """The move, in the game's own notation."""
    score: Optional[int] = None
    """Its value for the mover, a whole number; in chess in hundredths of a pawn."""
    depth: Optional[int] = None
    """Plies that the search looked ahead."""
    nodes: Optional[int] = None
    """Positions that it made."""
    pv: Optional[Sequence[str]] = None
    """The moves that it expects, this one first."""
    note: Optional[str] = None
    """A text that is kept with the move."""
    distribution: Optional[Mapping[str, float]] = None
    """Probabilities of moves, or other weights of them."""


class _Resign:
    def __repr__(self) -> str:
        return "spelrum.RESIGN"


RESIGN = _Resign()
"""The answer of a player that gives the game up."""

Answer = Union[str, Move, _Resign]
"""What a player returns for a state."""

GAMES = (
    "pentago",
    "tic-tac-toe",
    "nim",
    "connect-four",
    "chess",
    "othello",
    "hex",
    "mnk",
    "breakthrough",
    "ultimate-tic-tac-toe",
    "clobber",
    "amazons",
)
"""The games of the program, in its order."""

# Each player that this process has defined, in order.
_registry: list[Player] = []
# The name of the player that this process plays as ("" for the only one), or None.
_playing: Optional[str] = None


class Loaded(BaseException):
    """The end of loading a player's file: it came to a call that is for the file as a script."""


class Player:
    """A player that :func:`player` made. It is called as the function that it was made from."""

    def __init__(
        self,
        target: Callable[..., Any],
        games: Sequence[str],
        *,
        name: str,
        version: Optional[str],
        author: Optional[str],
        parallel: int,
        files: Sequence[str],
        environment: Mapping[str, str],
        options: Optional[Mapping[str, Any]],
        source: str,
    ) -> None:
        self.target = target
        self.games = tuple(games)
        self.name = name
        self.version = version
        self.author = author
        self.parallel = parallel
        self.files = tuple(files)
        self.environment = dict(environment)
        self.options = options
        self.source = source
        """The file, or the notebook's cell, that defines it."""
        self._instance: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.target(*arguments, **named)

    def __repr__(self) -> str:
        return f"<Player {self.name} of {', '.join(self.games) or 'any game'}>"

    @property
    def defaults(self) -> dict[str, Any]:
        """The values of options that a sweep leaves out."""
        return {name: rule["default"] for name, rule in self._rules().items() if "default" in rule}

    @property
    def required(self) -> list[str]:
        """Options that a sweep must set."""
        return [name for name, rule in self._rules().items() if "default" not in rule]

    def _rules(self) -> dict[str, Mapping[str, Any]]:
        # What is of another type is the program's to refuse.
        options = self.options if isinstance(self.options, Mapping) else {}
        return {name: rule for name, rule in options.items() if isinstance(rule, Mapping)}

    def refusal(self, game: str) -> str:
        """Why it does not play a game that it does not name."""
        games = ", ".join(f'"{name}"' for name in (*self.games, game))
        return (
            f"{self.name} plays {', '.join(self.games)}, not {game}: choose another player or game, or, "
            f"if it can play {game}, write @spelrum.player({games})"
        )

    def without(self, option: str) -> str:
        """Why it does not play without an option."""
        rule = {**self._rules()[option], "default": "…"}
        return (
            f"{self.name} needs the option `{option}`: set it in the sweep, or declare a default, "
            f"@spelrum.player(options={{{option!r}: {rule}}})"
        )

    def prepare(self) -> None:
        """Makes the player's object, if a class defines it: networks are loaded here."""
        if isinstance(self.target, type) and self._instance is None:
            self._instance = self.target()

    def choose_batch(self, states: list[State]) -> list[Answer]:
        """A move for each state.

        Raises:
            Exception: whatever the player raises, and TypeError for what is not a list of as many answers.
        """
        self.prepare()
        batch = getattr(self._instance, "choose_batch", None)
        if batch is None:
            choose = self.target if self._instance is None else self._instance.choose
            return [choose(state) for state in states]
        answers = list(batch(states))
        if len(answers) != len(states):
            raise TypeError(f"choose_batch of {self.name} returned {len(answers)} answers for {len(states)} states")
        return answers

    def end(self, match: dict[str, Any]) -> None:
        """Passes the end of a game on to a class that has a method ``end``."""
        end = getattr(self._instance, "end", None)
        if end is not None:
            end(match)


class Program:
    """An external engine as a player: a program that speaks lines, UCI, UGI, GTP or XBoard.

    Args:
        command: the program: a path, or a name that is looked up in ``PATH``.
        arguments: its arguments.
        protocol: ``"lines"``, ``"uci"``, ``"ugi"``, ``"gtp"`` or ``"xboard"``.
        settings: any other key of an engines file, such as ``files``, ``memory`` or ``environment``.
    """

    def __init__(self, command: str, *arguments: str, protocol: str = "lines", **settings: Any) -> None:
        self.command = command
        self.arguments = arguments
        self.protocol = protocol
        self.settings = settings


def player(
    *games: str,
    name: Optional[str] = None,
    version: Optional[str] = None,
    author: Optional[str] = None,
    parallel: Optional[int] = None,
    files: Iterable[str] = (),
    environment: Optional[Mapping[str, str]] = None,
    options: Optional[Mapping[str, Any]] = None,
) -> Callable[[Callable[..., Any]], Player]:
    """Makes a player of a function ``state -> move``, or of a class.

    A class is made into an object once for each process, without arguments. It has a method
    ``choose(state)``, or ``choose_batch(states)``, which returns a move for each state, and may have
    ``end(match)``, which gets each game's result.

    Args:
        games: the games that it plays, such as ``"connect-four"``; none: any game.
        name: its name in results; else the function's or the class's.
        version: a text that results show beside the name.
        author: who wrote it.
        parallel: how many moves it may be asked for at once; 32 with ``choose_batch``, else 1.
        files: files that decide how it plays beside its source, such as weights: paths from the
            source's folder. Another content makes it another player in results.
        environment: variables that its process needs beside ``PATH`` and ``PYTHONPATH``.
        options: options that sweeps may set, as an engines file has them, and the values of those that a
            sweep leaves out: ``{"skill": {"min": 1, "max": 9, "default": 5}}``. Without a default, a sweep
            must set it.

    Raises:
        Error: if there is no such game, a class has neither ``choose`` nor ``choose_batch``, or no name
            is given or found.
    """
    source = sys._getframe(1).f_code.co_filename
    if games and callable(games[0]):
        raise Error("write @spelrum.player() with parentheses, and the games inside, or none for any game")
    for game in games:
        if game not in GAMES:
            raise Error(f"there is no game `{game}`; {_remedy(game)}")

    def decorate(target: Callable[..., Any]) -> Player:
        batched = isinstance(target, type) and hasattr(target, "choose_batch")
        if isinstance(target, type) and not batched and not hasattr(target, "choose"):
            raise Error(f"class {target.__name__} needs a method choose(state) or choose_batch(states)")
        own_name = name or getattr(target, "__name__", None)
        if not own_name or own_name == "<lambda>":
            raise Error("this player has no name of its own: give one, @spelrum.player(..., name=\"mine\")")
        made = Player(
            target,
            games,
            name=own_name,
            version=version,
            author=author,
            parallel=parallel or (32 if batched else 1),
            files=tuple(files),
            environment=environment or {},
            options=options,
            source=source,
        )
        # A cell of a notebook that runs again replaces its player.
        _registry[:] = [other for other in _registry if (other.name, other.source) != (made.name, source)]
        _registry.append(made)
        return made

    return decorate


def _remedy(game: Any) -> str:
    import difflib

    near = difflib.get_close_matches(str(game).lower(), GAMES, 1)
    return f"did you mean `{near[0]}`?" if near else f"the games are {', '.join(GAMES)}"


def find(name: str) -> Player:
    """The player of this name, or the only one, if the name is empty.

    Raises:
        Error: if there is none, or several and no name.
    """
    found = [made for made in _registry if name in ("", made.name)]
    if len(found) != 1:
        names = ", ".join(made.name for made in _registry) or "none"
        raise Error(f"which player? The file defines: {names}" + (f"; `{name}` is asked for" if name else ""))
    return found[0]


def stop_loading() -> None:
    """Ends the loading of a player's file that calls ``run``, ``worker`` or ``connect``, since this process only plays.

    Raises:
        Loaded: if the player that this process plays is defined.
        Error: if it is not defined yet.
    """
    if _playing is None:
        return
    try:
        find(_playing)
    except Error as problem:
        raise Error(f"spelrum.run, worker or connect comes before the player: define players above it, or in a file of their own ({problem})") from None
    raise Loaded


def main(name: str = "") -> None:
    """Plays as a player of this file until standard input ends, if the file is run as a program.

    As the last line of a file, it makes ``python mine.py`` a program that speaks the protocol of
    lines; in an imported file it does nothing. ``python -m spelrum mine.py`` plays without it.

    Args:
        name: which player, if the file defines several; else the first argument of the command line.

    Raises:
        Error: if the file defines several players and none is named.
    """
    if sys._getframe(1).f_globals.get("__name__") != "__main__":
        return
    from spelrum.lines import Connection

    connection = Connection.standard()
    connection.serve(find(name or (sys.argv[1] if len(sys.argv) > 1 else "")))
