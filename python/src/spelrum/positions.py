"""Positions of any game, by the program's own rules."""

from __future__ import annotations

import atexit
import html
import json
import os
import subprocess
import threading
from typing import Any, Mapping, Optional

from spelrum import binary
from spelrum.errors import Error, IllegalMove


class Position:
    """A position of any game. It does not change: :meth:`play` returns another.

    Positions come from one process of the program, which starts with the first of them and ends with
    Python. The package's README has how many it makes in a second. In a notebook, it draws itself.

    Args:
        game: the game's name, such as ``"connect-four"``.
        notation: the position in the game's notation; None: the start.
        rules: the game's rules as a sweep names them, such as ``{"heaps": [1, 2]}``; others are as usual.

    Raises:
        Error: if there is no such game, rule or position, or no program.
    """

    __slots__ = ("_drawing", "game", "legal", "moves", "notation", "opening", "over", "result", "rules", "to_move")

    game: str
    """The game's name."""
    rules: Mapping[str, Any]
    """The rules that were given."""
    opening: Optional[str]
    """The notation that it began from; None: the start."""
    moves: tuple[str, ...]
    """The moves since: rules about repeated positions need them."""
    notation: str
    """The position, in the game's notation."""
    legal: list[str]
    """Legal moves, in the game's notation; empty if the game is over."""
    to_move: str
    """Who is to move: ``"first"`` or ``"second"``."""
    over: bool
    """Whether the game is over."""
    result: Optional[str]
    """If it is over: ``"first"``, ``"second"`` or ``"draw"``; else None."""

    def __init__(self, game: str, notation: Optional[str] = None, *, rules: Optional[Mapping[str, Any]] = None) -> None:
        problem = self._reach(game, dict(rules or {}), notation, ())
        if problem is not None:
            raise Error(problem)

    def _reach(
        self, game: str, rules: Mapping[str, Any], opening: Optional[str], moves: tuple[str, ...]
    ) -> Optional[str]:
        """Asks for the position; returns what is wrong with it."""
        self.game = game
        self.rules = rules
        self.opening = opening
        self.moves = moves
        self._drawing: Optional[dict[str, Any]] = None
        answer = _ask(self._question())
        if "error" in answer:
            return str(answer["error"])
        self.notation = answer["position"]
        self.legal = answer["legal"]
        self.to_move = answer["to_move"]
        self.over = answer["over"]
        self.result = answer.get("result")
        return None

    def play(self, *moves: str) -> Position:
        """The position after these moves.

        Raises:
            IllegalMove: if a move is not legal where it would be played.
            Error: if the program ended.
        """
        position = Position.__new__(Position)
        problem = position._reach(self.game, self.rules, self.opening, (*self.moves, *moves))
        if problem is not None:
            raise IllegalMove(problem)
        return position

    @property
    def board(self) -> str:
        """A drawing of the board in text."""
        return str(self._drawn()["board"])

    def _question(self) -> dict[str, Any]:
        question: dict[str, Any] = {"game": self.game, "after": self.moves}
        if self.rules:
            question["rules"] = self.rules
        if self.opening is not None:
            question["position"] = self.opening
        return question

    def _drawn(self) -> dict[str, Any]:
        if self._drawing is None:
            self._drawing = _ask({**self._question(), "draw": True})
        return self._drawing

    def _repr_svg_(self) -> str:
        return _svg(self._drawn()["sketch"])

    def _repr_html_(self) -> str:
        return f"<div>{self._repr_svg_()}<div>{html.escape(self._state())}</div></div>"

    def _state(self) -> str:
        if self.result is None:
            return f"{self.game}, {self.to_move} to move"
        return f"{self.game}, " + ("a draw" if self.result == "draw" else f"{self.result} has won")

    def __str__(self) -> str:
        return self.board

    def __repr__(self) -> str:
        return f"<Position of {self._state()}: {self.notation}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return (self.game, self.notation, self.result, self.rules) == (other.game, other.notation, other.result, other.rules)

    def __hash__(self) -> int:
        return hash((self.game, self.notation, self.result))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.game, self.rules, self.opening, self.moves)


def _rebuilt(game: str, rules: Mapping[str, Any], opening: Optional[str], moves: tuple[str, ...]) -> Position:
    start = Position(game, opening, rules=rules)
    return start.play(*moves) if moves else start


class _Rules:
    """A process of the program that answers questions about positions."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            # Its input ends with this process; a thread that ends is nothing to it.
            [binary.path(), "engine", "rules"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def ask(self, line: bytes) -> bytes:
        """The answer to a line; empty if the process has ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except BrokenPipeError:
            return b""
        return self.process.stdout.readline()

    def end(self) -> None:
        """Ends the process, if it is this process's own and not that of a parent that forked."""
        if self.owner == os.getpid():
            self.process.kill()
            self.process.communicate()


_lock = threading.Lock()
_rules: Optional[_Rules] = None


def _ask(question: Mapping[str, Any]) -> dict[str, Any]:
    """The program's answer to a question.

    Raises:
        Error: if the program ended, or is not there.
    """
    global _rules
    try:
        line = json.dumps(question, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise Error(f"a position is asked for by texts and numbers: {error}") from None
    with _lock:
        if _rules is None or _rules.owner != os.getpid():
            _rules = _Rules()
        try:
            text = _rules.ask(line)
        except BaseException:
            # Its answer may still come, and would be taken for that to another question.
            _end()
            raise
        if not text.endswith(b"\n"):
            code = _rules.process.wait()
            _end()
            raise Error(f"`spelrum engine rules` ended with code {code}; the next position starts it again", code)
    answer: dict[str, Any] = json.loads(text)
    return answer


@atexit.register
def _end() -> None:
    global _rules
    if _rules is not None:
        _rules.end()
        _rules = None


_CELL = 32
_GLYPHS = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟"))


def _svg(sketch: Mapping[str, Any]) -> str:
    """The drawing of a position that the program describes."""
    if "columns" not in sketch:
        return _text_svg(sketch)
    columns: int = sketch["columns"]
    cells: list[Optional[str]] = sketch.get("cells") or sketch["pieces"]
    rows = len(cells) // columns
    parts = []
    for index, cell in enumerate(cells):
        x, y = index % columns * _CELL, index // columns * _CELL
        dark = "pieces" in sketch and (index % columns + index // columns) % 2
        parts.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{"#ccc" if dark else "#fff"}" stroke="#999"/>')
        if cell is not None:
            parts.append(_piece(sketch.get(cell, cell), x + _CELL / 2, y + _CELL / 2))
    block = sketch.get("block", 0)
    if block and block < columns:
        lines = [f"M{x * _CELL} 0v{rows * _CELL}" for x in range(block, columns, block)]
        lines += [f"M0 {y * _CELL}h{columns * _CELL}" for y in range(block, rows, block)]
        parts.append(f'<path d="{"".join(lines)}" stroke="#000" stroke-width="2"/>')
    return _frame(columns * _CELL, rows * _CELL, parts)


def _piece(look: str, x: float, y: float) -> str:
    if look == "cross":
        return f'<path d="M{x - 9} {y - 9}l18 18M{x - 9} {y + 9}l18 -18" stroke="#000" stroke-width="3"/>'
    if look in ("ring", "disc"):
        fill = "#000" if look == "disc" else "#fff"
        return f'<circle cx="{x}" cy="{y}" r="11" fill="{fill}" stroke="#000" stroke-width="2"/>'
    return f'<text x="{x}" y="{y + 9}" font-size="26" text-anchor="middle" fill="#000">{_GLYPHS.get(look, html.escape(look))}</text>'


def _text_svg(sketch: Mapping[str, Any]) -> str:
    if "heaps" not in sketch:
        text = html.escape(sketch["text"])
        return _frame(12 + 9 * len(sketch["text"]), 24, [f'<text x="6" y="17" font-family="monospace">{text}</text>'])
    parts = []
    for row, objects in enumerate(sketch["heaps"]):
        parts += [f'<path d="M{10 + 10 * place} {row * 30 + 5}v20" stroke="#000" stroke-width="3"/>' for place in range(objects)]
        parts.append(f'<text x="{14 + 10 * objects}" y="{row * 30 + 20}" font-size="12" fill="#555">{objects}</text>')
    return _frame(50 + 10 * max([0, *sketch["heaps"]]), 30 * len(sketch["heaps"]), parts)


def _frame(width: float, height: float, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 2}" height="{height + 2}" viewBox="-1 -1 {width + 2} {height + 2}">'
        f'<rect x="-1" y="-1" width="{width + 2}" height="{height + 2}" fill="#fff"/>{"".join(parts)}</svg>'
    )
