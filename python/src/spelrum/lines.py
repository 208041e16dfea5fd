"""The protocol of lines, version 1, from the player's side: a JSON object a line."""

from __future__ import annotations

import json
import os
import select
import sys
from collections import deque
from typing import Any, Callable, Optional

from spelrum.errors import Error
from spelrum.players import RESIGN, Move, Player
from spelrum.state import State

_VERSION = 1
# What is sent of a traceback: the last characters, which have the error itself.
_TRACEBACK_MAX = 4000
# A line has at most 64 KiB; so much of it is an answer's.
_ANSWER_MAX = 60_000


class Ended(BaseException):
    """The runner closed the player's input while the player was asking back."""


class Connection:
    """A runner, on two file descriptors."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._rest = b""
        self._lines: deque[bytes] = deque()
        # Requests and results that came while an answer to `after` was awaited.
        self._waiting: deque[dict[str, Any]] = deque()
        self._asked = 0
        self._start: dict[str, Any] = {}

    @classmethod
    def standard(cls) -> Connection:
        """Standard input and output, which are the runner's from here on.

        What the player prints goes to standard error instead, also from libraries in other
        languages, and what it reads from standard input is empty.
        """
        if os.isatty(0):
            print("This is a player: it waits for a runner's lines on standard input.", file=sys.stderr)
        source, sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        return cls(source, sink)

    def serve(self, player: Player) -> None:
        """Plays until the input ends."""
        try:
            start = self._read()
            if start is None:
                return
            self._start = {**start, "options": {**player.defaults, **(start.get("options") or {})}}
            problem = _refusal(player, start)
            # Without a game, only the player's name is asked for.
            if problem is None and "game" in start:
                try:
                    player.prepare()
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    problem = _traceback(error)
            if problem is not None:
                self._send({"error": problem})
                return
            self._send(_hello(player))
            while True:
                states = self._gather(player)
                if states is None:
                    return
                self._answer(player, states)
        except (Ended, BrokenPipeError):
            return

    def refuse(self, error: BaseException) -> None:
        """Answers the runner's start with why there is no player."""
        message = str(error) if isinstance(error, Error) else _traceback(error)
        print(message, file=sys.stderr)
        if self._read() is not None:
            self._send({"error": message})

    def ask(self, request: int, moves: list[str]) -> dict[str, Any]:
        """Asks the runner what these moves lead to, from a request's position."""
        self._asked += 1
        ask = self._asked
        self._send({"id": request, "after": moves, "ask": ask})
        while True:
            line = self._read()
            if line is None:
                raise Ended
            if line.get("ask") == ask:
                return line
            if "after" not in line:
                self._waiting.append(line)

    def _gather(self, player: Player) -> Optional[list[State]]:
        """Waits for a request, and takes what else has come by then; None at the end."""
        states: list[State] = []
        while len(states) < player.parallel:
            if self._waiting:
                line: Optional[dict[str, Any]] = self._waiting.popleft()
            elif states and not self._has_line():
                break
            else:
                line = self._read()
            if line is None:
                return states or None
            if "id" in line:
                states.append(State(line, self._start, self))
            elif "result" in line:
                try:
                    player.end(line)
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    print(_traceback(error), file=sys.stderr)
        return states

    def _answer(self, player: Player, states: list[State]) -> None:
        try:
            answers = [_object(answer, player) for answer in player.choose_batch(states)]
        except (KeyboardInterrupt, Ended):
            raise
        # SystemExit too: a game that begins meanwhile must not find a process that ends.
        except BaseException as error:
            answers = [{"error": _traceback(error)}] * len(states)
        self._send(*({"id": state._request["id"], **answer} for state, answer in zip(states, answers)))

    def _send(self, *objects: dict[str, Any]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in objects)
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._sink, data) :]

    def _has_line(self) -> bool:
        """Whether a line can be read without waiting."""
        while not self._lines and select.select([self._source], [], [], 0)[0]:
            if not self._fill():
                break
        return bool(self._lines)

    def _fill(self) -> bool:
        data = os.read(self._source, 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines.extend(lines)
        return bool(data)

    def _read(self) -> Optional[dict[str, Any]]:
        """The next object, or None at the end of the input. Other lines are skipped."""
        while True:
            while not self._lines:
                if not self._fill():
                    return None
            try:
                line = json.loads(self._lines.popleft())
            except ValueError:
                continue
            if isinstance(line, dict):
                return line


def _refusal(player: Player, start: dict[str, Any]) -> Optional[str]:
    """Why the player cannot play what the runner starts, or None."""
    if start.get("spelrum") != _VERSION:
        return f"this player speaks version {_VERSION} of the protocol of lines, not {start.get('spelrum')}"
    if player.games and "game" in start and start["game"] not in player.games:
        return player.refusal(start["game"])
    missing = [] if "game" not in start else [name for name in player.required if name not in (start.get("options") or {})]
    if missing:
        return player.without(missing[0])
    return None


def _hello(player: Player) -> dict[str, Any]:
    hello = {
        "name": player.name,
        "version": player.version,
        "author": player.author,
        "parallel": player.parallel,
    }
    return {key: value for key, value in hello.items() if value is not None}


def _object(answer: Any, player: Player) -> dict[str, Any]:
    if isinstance(answer, str):
        return {"move": answer}
    if isinstance(answer, Move):
        try:
            # Numbers may be those of another library, such as numpy.
            said = {key: _SAID[key](value) for key, value in answer._asdict().items() if value is not None}
            if len(json.dumps(said, allow_nan=False)) > _ANSWER_MAX:
                raise ValueError(f"it is longer than {_ANSWER_MAX} characters")
            return said
        except (TypeError, ValueError, AttributeError) as error:
            return {"error": f"{player.name} returned {answer!r:.500}, of which not all can be sent: {error}"}
    if answer is RESIGN:
        return {"resign": True}
    kind = type(answer).__name__
    return {"error": f"{player.name} returned {answer!r:.200} ({kind}); a move is a text, one of state.legal"}


_SAID: dict[str, Callable[[Any], Any]] = {
    "move": str,
    "score": lambda score: int(round(score)),
    "depth": int,
    "nodes": int,
    "pv": lambda moves: [str(move) for move in moves],
    "note": str,
    "distribution": lambda chances: {str(move): float(chance) for move, chance in chances.items()},
}


def _traceback(error: BaseException) -> str:
    """The traceback from the player's own code on."""
    import traceback

    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_globals.get("__name__") in ("spelrum.lines", "spelrum.players"):
        frames = frames.tb_next
    text = "".join(traceback.format_exception(type(error), error, frames))
    return text.strip()[-_TRACEBACK_MAX:]
