"""Players made for other libraries, as players of Spelrum.

Each adapter takes such a player and returns a function ``state -> move`` for :func:`spelrum.player`::

    @spelrum.player("connect-four")
    def mine(state):
        return adapted(state)

    adapted = spelrum.adapters.kaggle(agent)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Optional

from spelrum.errors import Error
from spelrum.players import Answer, Move
from spelrum.state import State

if TYPE_CHECKING:
    import chess

Choose = Callable[[State], Answer]

# The most characters of a language model's answers that are kept as a note.
_NOTE_MAX = 2000
# Who owns a cell, by its character in a position of Connect Four or tic-tac-toe.
_OWNERS = {".": 0, "r": 1, "x": 1, "y": 2, "o": 2}


def prompt(state: State) -> str:
    """The text by which :func:`text` asks for a move."""
    side = {"first": "the player who moves first", "second": "the player who moves second"}[state.to_move]
    played = f"Moves so far: {' '.join(state.moves)}\n" if state.moves else ""
    return (
        f"You play {state.game} and are {side}.\n\n{state.board.rstrip()}\n\n"
        f"Position: {state.position}\n{played}Legal moves: {' '.join(state.legal)}\n\n"
        "Think briefly, then answer with one of the legal moves in a last line of this form:\nMove: <move>"
    )


def parse(answer: str, legal: list[str]) -> Optional[str]:
    """The move in a language model's answer, or None.

    It is what follows the last ``Move:``; without that, the only legal move that the answer names.
    Capitals count only where they tell legal moves apart.
    """
    moves = {move.lower(): move for move in legal}
    exact = set(legal)
    marked = re.findall(r"move\W*:[\s*`'\"]*([^\s*`'\"]+)", answer, re.IGNORECASE)
    words = [word.strip("*`'\"()[].,;:!?") for word in ([marked[-1]] if marked else answer.split())]
    if len(moves) < len(legal):
        found = {word for word in words if word in exact}
    else:
        found = {moves[word.lower()] for word in words if word.lower() in moves}
    return found.pop() if len(found) == 1 else None


def text(
    ask: Callable[[str], str],
    *,
    prompt: Callable[[State], str] = prompt,
    attempts: int = 3,
    notes: bool = True,
) -> Choose:
    """A language model as a player.

    The model gets the board and the legal moves. If its answer has no legal move, it is asked again,
    with its answer and what was wrong.

    Args:
        ask: from a prompt to the model's answer; any library, or a stub.
        prompt: from a state to the prompt.
        attempts: how often a move is asked for at most.
        notes: whether the model's answers are kept as the move's note.

    If no attempt gives a legal move, the last answer is sent as it is: an illegal move, so that the
    sweep's ``retries`` apply, and the answer is kept with the game.
    """

    def choose(state: State) -> Move:
        asked = prompt(state)
        answers: list[str] = []
        for _ in range(attempts):
            answer = ask(asked)
            answers.append(answer)
            move = parse(answer, state.legal)
            if move is not None:
                break
            asked = (
                f"{prompt(state)}\n\nYou answered:\n{answer[-_NOTE_MAX:]}\n\nThat names no legal move. "
                f"Answer with one of: {' '.join(state.legal)}"
            )
        note = "\n---\n".join(answers)[-_NOTE_MAX:] if notes else None
        return Move(move or answers[-1][-_NOTE_MAX:] or "no answer", note=note)

    return choose


def chess_board(state: State) -> chess.Board:
    """The position of a game of chess as python-chess's board, with the moves since the opening."""
    import chess

    _expect(state, "chess")
    board = chess.Board(state.opening, chess960=bool(state.rules.get("chess960")))
    for move in state.moves:
        board.push_uci(move)
    return board


def python_chess(choose: Callable[[chess.Board], chess.Move]) -> Choose:
    """A function from python-chess's board to a move as a player of chess."""

    def adapted(state: State) -> str:
        return choose(chess_board(state)).uci()

    return adapted


class _Fields(dict[str, Any]):
    """A dictionary whose values are attributes too, as Kaggle's environments have them."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def kaggle(agent: Callable[..., int]) -> Choose:
    """An agent of Kaggle's environments ``connectx`` (as Connect Four) or ``tictactoe``.

    Args:
        agent: ``agent(observation, configuration)``, or with the observation alone.
    """
    import inspect

    takes_configuration = len(inspect.signature(agent).parameters) > 1

    def choose(state: State) -> str:
        cells, columns = _cells(state)
        configuration = _Fields(columns=columns, rows=len(cells) // columns, inarow=4 if columns == 7 else 3)
        seconds = state.limits.seconds
        configuration.update(timeout=2 if seconds is None else seconds, actTimeout=2 if seconds is None else seconds)
        observation = _Fields(
            board=cells, mark=1 if state.to_move == "first" else 2, step=len(cells) - cells.count(0)
        )
        observation.update(remainingOverageTime=60)
        action = agent(observation, configuration) if takes_configuration else agent(observation)
        return _move_of_action(state, int(action))

    return choose


def pettingzoo(policy: Callable[[dict[str, Any]], int]) -> Choose:
    """A policy for PettingZoo's ``connect_four_v3`` or ``tictactoe_v3``.

    Args:
        policy: from an observation (``observation`` and ``action_mask``, as numpy arrays) to an action.
    """

    def choose(state: State) -> str:
        import numpy

        cells, columns = _cells(state)
        board = numpy.array(cells).reshape(-1, columns)
        own = 1 if state.to_move == "first" else 2
        planes = [board == own, board == 3 - own]
        legal = {_action(state, move) for move in state.legal}
        actions = 7 if columns == 7 else 9
        observation = numpy.stack(planes, axis=-1).astype(numpy.int8)
        mask = numpy.array([action in legal for action in range(actions)], dtype=numpy.int8)
        action = int(policy({"observation": observation, "action_mask": mask}))
        return _move_of_action(state, action)

    return choose


def _cells(state: State) -> tuple[list[int], int]:
    """The board's cells, row by row from the top left: 0 empty, 1 and 2 the first and second player; and its columns."""
    _expect(state, "connect-four", "tic-tac-toe")
    return [_OWNERS[cell] for cell in state.position], 7 if state.game == "connect-four" else 3


def _action(state: State, move: str) -> int:
    """The number of a move: its column, or its cell row by row."""
    column = ord(move[0]) - ord("a")
    return column if state.game == "connect-four" else column + 3 * (int(move[1]) - 1)


def _move_of_action(state: State, action: int) -> str:
    for move in state.legal:
        if _action(state, move) == action:
            return move
    raise Error(f"action {action} is not legal here; legal moves: {' '.join(state.legal)}")


def _expect(state: State, *games: str) -> None:
    if state.game not in games:
        raise Error(f"this adapter is for {' and '.join(games)}, not {state.game}")


def open_spiel(make: Callable[[Any, int], Any]) -> Choose:
    """A bot or policy of OpenSpiel for Connect Four, tic-tac-toe, Nim, Othello (from its start position) or chess.

    Args:
        make: from a ``pyspiel.Game`` and the number of a player to a bot (``step(state)``) or a policy
            (``action_probabilities(state)``); called once for each game and side. Of a policy's actions one
            is drawn by the state's seed. A game of Nim begins at the position that is asked about.
    """
    made: dict[tuple[str, int], Any] = {}

    def choose(state: State) -> Answer:
        game, at, moves = _open_spiel_state(state)
        side = (str(game), at.current_player())
        if side not in made:
            made[side] = make(game, side[1])
        if not hasattr(made[side], "action_probabilities"):
            action = int(made[side].step(at))
            if action not in moves:
                raise Error(f"action {action} is not legal here; legal actions: {sorted(moves)}")
            return moves[action]
        chances = {moves[action]: float(chance) for action, chance in made[side].action_probabilities(at).items()}
        return Move(state.random.choices(list(chances), list(chances.values()))[0], distribution=chances)

    return choose


def _open_spiel_state(state: State) -> tuple[Any, Any, dict[int, str]]:
    """OpenSpiel's game and state, and each legal move by the number of its action."""
    import json

    import pyspiel

    _expect(state, "connect-four", "tic-tac-toe", "nim", "othello", "chess")
    if state.game in ("connect-four", "tic-tac-toe"):
        cells, columns = _cells(state)
        marks = ["xo."[owner - 1] for owner in cells]
        game = pyspiel.load_game(state.game.replace("-", "_"))
        described: dict[str, Any] = {"board": marks, "current_player": "x" if state.to_move == "first" else "o"}
        if columns == 7:
            # Its rows begin at the bottom.
            rows = [marks[row : row + 7] for row in range(35, -1, -7)]
            described.update(board=rows, is_terminal=False, winner="")
        at = game.new_initial_state(json.dumps(described))
        return game, at, {_action(state, move): move for move in state.legal}
    if state.game == "nim":
        heaps = [(heap, int(left)) for heap, left in enumerate(state.position.partition("/")[0].split(",")) if int(left)]
        sizes = ";".join(str(left) for _, left in heaps)
        game = pyspiel.load_game("nim", {"pile_sizes": sizes, "is_misere": bool(state.rules.get("misere"))})
        at = game.new_initial_state()
        piles = {chr(ord("a") + heap): number for number, (heap, _) in enumerate(heaps)}
        return game, at, {piles[move[0]] + len(heaps) * (int(move[1:]) - 1): move for move in state.legal}
    if state.game == "othello":
        game = pyspiel.load_game("othello")
        at = game.new_initial_state()
        if state.opening != "." * 27 + "wb" + "." * 6 + "bw" + "." * 27 + " b":
            raise Error("OpenSpiel's Othello has only the start position: leave `openings` out")
        actions = {"abcdefgh"[square % 8] + str(square // 8 + 1): square for square in range(64)}
        actions["pass"] = 64
        for move in state.moves:
            at.apply_action(actions[move])
        return game, at, {actions[move]: move for move in state.legal}
    if state.rules.get("chess960"):
        raise Error("this adapter has no Chess960")
    game = pyspiel.load_game("chess")
    at = game.new_initial_state(state.opening)
    for move in state.moves:
        at.apply_action(at.parse_move_to_action(move))
    return game, at, {at.parse_move_to_action(move): move for move in state.legal}
