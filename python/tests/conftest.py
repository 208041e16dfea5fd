"""What all tests share: the program, and a runner of the protocol of lines that is written here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

import pytest

from spelrum import Error, binary

SOURCE = Path(__file__).resolve().parent.parent / "src"
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def winner(position: str) -> Optional[str]:
    """``first``, ``second``, ``draw`` or None of a position of tic-tac-toe."""
    for line in LINES:
        cells = {position[cell] for cell in line}
        if cells == {"x"} or cells == {"o"}:
            return "first" if cells == {"x"} else "second"
    return None if "." in position else "draw"


def legal(position: str) -> list[str]:
    """The empty cells of a position that is not over."""
    if winner(position):
        return []
    return ["abc"[cell % 3] + str(cell // 3 + 1) for cell in range(9) if position[cell] == "."]


def play(position: str, move: str) -> str:
    """The position after a move."""
    cell = "abc".index(move[0]) + 3 * (int(move[1]) - 1)
    return position[:cell] + mover(position)[0] + position[cell + 1 :]


def mover(position: str) -> tuple[str, str]:
    """The mark and the name of the side to move."""
    return ("x", "first") if position.count("x") == position.count("o") else ("o", "second")


class Runner:
    """A runner that plays tic-tac-toe with a player's process."""

    def __init__(self, command: list[str], folder: Path, game: Optional[str] = "tic-tac-toe") -> None:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.next_id = 0
        self.asked: dict[int, str] = {}
        played = {"game": game, "rules": {}} if game else {}
        self.send({"spelrum": 1, **played, "options": {"skill": 3}, "new": "ignored"})
        self.hello = self.receive()

    def send(self, *lines: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        """The next line that is not a question, which is answered."""
        assert self.process.stdout is not None
        while True:
            line: dict[str, Any] = json.loads(self.process.stdout.readline())
            if "after" not in line:
                return line
            self.send(self.answer(line))

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        position = self.asked[question["id"]]
        for move in question["after"]:
            if move not in legal(position):
                return {**question, "error": f"`{move}` is not a legal move here"}
            position = play(position, move)
        result = winner(position)
        answer = {**question, "position": position, "to_move": mover(position)[1], "legal": legal(position)}
        return {**answer, "over": result is not None, **({"result": result} if result else {})}

    def request(self, position: str = ".........", **more: Any) -> dict[str, Any]:
        self.next_id += 1
        self.asked[self.next_id] = position
        request = {
            "id": self.next_id,
            "match": 1,
            "position": position,
            "opening": ".........",
            "moves": [],
            "legal": legal(position),
            "to_move": mover(position)[1],
            "seed": 1234567890123 + self.next_id,
            "limits": {"depth": 3, "clock": {"seconds": 9.5, "increment": 0.1, "opponent": 8.0, "moves": 12}},
            "board": "\n".join(position[row : row + 3] for row in (0, 3, 6)),
        }
        return {**request, **more}

    def ask(self, position: str = ".........", **more: Any) -> dict[str, Any]:
        """The answer to one request."""
        self.send(self.request(position, **more))
        return self.receive()

    def end(self) -> tuple[int, str]:
        """Ends the input: the exit code, and what went to standard error."""
        output, messages = self.process.communicate(timeout=20)
        assert output == b"", "nothing but the protocol is on standard output"
        return self.process.returncode, messages.decode()


Start = Callable[..., Runner]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a player's file with a runner: ``start(source, NAME, …)``."""
    runners = []

    def start_one(source: str, *arguments: str, game: Optional[str] = "tic-tac-toe", direct: bool = False) -> Runner:
        file = tmp_path / "mine.py"
        file.write_text("import spelrum\n" + textwrap.dedent(source))
        door = [] if direct else ["-m", "spelrum"]
        runner = Runner([sys.executable, *door, "mine.py", *arguments], tmp_path, game)
        runners.append(runner)
        return runner

    yield start_one
    for runner in runners:
        runner.process.kill()
        runner.process.communicate()


@pytest.fixture
def program() -> str:
    """The program, or the test is skipped."""
    try:
        return binary.path()
    except Error as error:
        pytest.skip(str(error))
