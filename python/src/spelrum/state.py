"""What a player sees when it is asked for a move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Protocol

from spelrum.errors import IllegalMove

if TYPE_CHECKING:
    import random


class Clock(NamedTuple):
    """Time for a whole game, in seconds."""

    seconds: float
    """Time left to the player that is asked."""
    increment: float
    """Time added after each move."""
    opponent: Optional[float]
    """Time left to the opponent, if it has a clock."""
    moves: Optional[int]
    """Moves until more time is added; None: the time is for the rest of the game."""


class Limits(NamedTuple):
    """Limits of a move; None: no such limit."""

    depth: Optional[int]
    """Plies to look ahead."""
    nodes: Optional[int]
    """Positions to make."""
    seconds: Optional[float]
    """Wall time of this move, in seconds."""
    clock: Optional[Clock]
    """Time for the game."""


class Asker(Protocol):
    """Answers questions about a request that is not answered yet."""

    def ask(self, request: int, moves: list[str]) -> dict[str, Any]:
        """The runner's answer to ``after``: a JSON object."""
        ...


class State:
    """A position in which a move is asked, or one that :meth:`after` leads to.

    A state is complete: a player needs to remember nothing between moves.
    """

    __slots__ = ("_asker", "_path", "_random", "_request", "_start", "legal", "over", "position", "result", "to_move")

    legal: list[str]
    """Legal moves, in the game's own notation; empty if the game is over."""
    position: str
    """The position, in the game's own notation."""
    to_move: str
    """Who is to move: ``"first"`` or ``"second"``."""
    over: bool
    """Whether the game is over here."""
    result: Optional[str]
    """If it is over: ``"first"``, ``"second"`` or ``"draw"``; else None."""

    def __init__(self, request: dict[str, Any], start: dict[str, Any], asker: Asker) -> None:
        self._request = request
        self._start = start
        self._asker = asker
        self._path: list[str] = []
        self._random: Optional[random.Random] = None
        self.legal = request["legal"]
        self.position = request["position"]
        self.to_move = request["to_move"]
        self.over = False
        self.result = None

    @property
    def game(self) -> str:
        """The game's name, such as ``"connect-four"``."""
        return str(self._start["game"])

    @property
    def rules(self) -> dict[str, Any]:
        """The game's rules with their values, by the names that sweeps use."""
        rules: dict[str, Any] = self._start.get("rules") or {}
        return rules

    @property
    def options(self) -> dict[str, Any]:
        """Options of this player: what the sweep sets, and the defaults that the player declares."""
        options: dict[str, Any] = self._start.get("options") or {}
        return options

    @property
    def match(self) -> int:
        """A number of this game: the same for all its moves, and for no other game of this process."""
        return int(self._request.get("match", 0))

    @property
    def opening(self) -> str:
        """The position from which this game began."""
        return str(self._request["opening"])

    @property
    def moves(self) -> list[str]:
        """Moves played since the opening, those of :meth:`after` included."""
        return [*self._request["moves"], *self._path]

    @property
    def board(self) -> str:
        """A drawing of the board in text; of a state from :meth:`after` its notation."""
        return self.position if self._path else str(self._request.get("board", self.position))

    @property
    def limits(self) -> Limits:
        """Limits of this move."""
        limits = self._request.get("limits") or {}
        clock = limits.get("clock")
        return Limits(
            limits.get("depth"),
            limits.get("nodes"),
            limits.get("seconds"),
            clock and Clock(clock["seconds"], clock.get("increment", 0.0), clock.get("opponent"), clock.get("moves")),
        )

    @property
    def seed(self) -> int:
        """A number below 2^53 that depends only on the cell, the game's number and the ply.

        A player that takes all its random numbers from it repeats its games on any machine.
        """
        return int(self._request["seed"])

    @property
    def random(self) -> random.Random:
        """Random numbers that follow from :attr:`seed`."""
        if self._random is None:
            from random import Random

            self._random = Random(self.seed)
        return self._random

    @property
    def refused(self) -> Optional[str]:
        """Why the last answer to this request was refused, if the sweep lets the player try again; else None."""
        refused = self._request.get("refused")
        return None if refused is None else str(refused)

    def after(self, *moves: str) -> State:
        """The state after these moves, by the game's rules. The player's time runs on.

        Raises:
            IllegalMove: if a move is not legal where it would be played.
        """
        path = [*self._path, *moves]
        answer = self._asker.ask(self._request["id"], path)
        if "error" in answer:
            raise IllegalMove(answer["error"])
        state = State.__new__(State)
        state._request, state._start, state._asker = self._request, self._start, self._asker
        state._path = path
        state._random = self.random
        state.legal = answer["legal"]
        state.position = answer["position"]
        state.to_move = answer["to_move"]
        state.over = answer["over"]
        state.result = answer.get("result")
        return state

    def __repr__(self) -> str:
        return f"<State of {self.game}: {self.position}, {self.to_move} to move>"
