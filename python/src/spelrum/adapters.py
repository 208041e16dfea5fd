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
    """A bot or policy of OpenSpiel for Connect Four, tic-tac-toe, Nim, chess, Othello, Hex without its swap, m,n,k
    games, Breakthrough, ultimate tic-tac-toe, Clobber or Amazons; these from Othello on from their start positions.

    Args:
        make: from a ``pyspiel.Game`` and the number of a player to a bot (``step(state)``) or a policy
            (``action_probabilities(state)``); called once for each game and side. Of a policy's actions one
            is drawn by the state's seed. A move that has several actions there, as in Amazons, is asked for action
            by action, and has no distribution. A game of Nim begins at the position that is asked about.
    """
    made: dict[tuple[str, int], Any] = {}

    def choose(state: State) -> Answer:
        game, at, moves = _open_spiel_state(state)
        side = (str(game), at.current_player())
        if side not in made:
            made[side] = make(game, side[1])
        actions: tuple[int, ...] = ()
        while True:
            chances = None
            if hasattr(made[side], "action_probabilities"):
                chances = {action: float(chance) for action, chance in made[side].action_probabilities(at).items()}
                action = state.random.choices(list(chances), list(chances.values()))[0]
            else:
                action = int(made[side].step(at))
            if action not in at.legal_actions():
                raise Error(f"action {action} is not legal here; legal actions: {at.legal_actions()}")
            actions += (action,)
            if actions in moves:
                break
            at.apply_action(action)
        if chances is None or len(actions) > 1:
            return moves[actions]
        # A choice that other actions follow has no chance as a move.
        is_whole = all((action,) in moves for action in chances)
        distribution = {moves[action,]: chance for action, chance in chances.items()} if is_whole else None
        return Move(moves[actions], distribution=distribution)

    return choose


def _open_spiel_state(state: State) -> tuple[Any, Any, dict[tuple[int, ...], str]]:
    """OpenSpiel's game and state, and each legal move by the numbers of its actions."""
    import json

    import pyspiel

    _expect(state, "connect-four", "tic-tac-toe", "nim", "chess", *_FROM_START)
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
        return game, at, {(_action(state, move),): move for move in state.legal}
    if state.game == "nim":
        heaps = [(heap, int(left)) for heap, left in enumerate(state.position.partition("/")[0].split(",")) if int(left)]
        sizes = ";".join(str(left) for _, left in heaps)
        game = pyspiel.load_game("nim", {"pile_sizes": sizes, "is_misere": bool(state.rules.get("misere"))})
        at = game.new_initial_state()
        piles = {chr(ord("a") + heap): number for number, (heap, _) in enumerate(heaps)}
        return game, at, {(piles[move[0]] + len(heaps) * (int(move[1:]) - 1),): move for move in state.legal}
    if state.game == "chess":
        if state.rules.get("chess960"):
            raise Error("this adapter has no Chess960")
        game = pyspiel.load_game("chess")
        at = game.new_initial_state(state.opening)
        for move in state.moves:
            at.apply_action(at.parse_move_to_action(move))
        return game, at, {(at.parse_move_to_action(move),): move for move in state.legal}
    parameters, actions = _FROM_START[state.game]
    game = pyspiel.load_game(state.game.replace("-", "_"), parameters(state.rules))
    at = game.new_initial_state()
    for move in state.moves:
        for action in actions(at, state.rules, move):
            if action not in at.legal_actions():
                break
            at.apply_action(action)
    moves = {actions(at, state.rules, move): move for move in state.legal}
    if at.is_terminal() or {first for first, *_ in moves} != set(at.legal_actions()):
        raise Error(f"OpenSpiel's {state.game} has only its usual start position: leave `openings` out")
    return game, at, moves


def _cell(move: str) -> tuple[int, int]:
    """The column and the row of a cell, from 0 on."""
    return ord(move[0]) - ord("a"), int(move[1:]) - 1


def _of_board(columns: str) -> Callable[[Any, dict[str, Any], str], tuple[int, ...]]:
    """A stone on a cell, of a board with rows from the top."""

    def actions(at: Any, rules: dict[str, Any], move: str) -> tuple[int, ...]:
        column, row = _cell(move)
        return (column + rules.get(columns, 8) * row,)

    return actions


def _of_othello(at: Any, rules: dict[str, Any], move: str) -> tuple[int, ...]:
    return (64,) if move == "pass" else _of_board("")(at, rules, move)


def _of_steps(mirrored: bool) -> Callable[[Any, dict[str, Any], str], tuple[int, ...]]:
    """A step from cell to cell, by OpenSpiel's text of it; Black begins there, at the top, where White begins here."""

    def actions(at: Any, rules: dict[str, Any], move: str) -> tuple[int, ...]:
        cells = re.findall(r"([a-z])(\d+)", move)
        rows = [rules["rows"] + 1 - int(row) if mirrored else int(row) for _, row in cells]
        text = "".join(f"{column}{row}" for (column, _), row in zip(cells, rows))
        texts = {at.action_to_string(action).rstrip("*"): action for action in at.legal_actions()}
        return (texts.get(text, -1),)

    return actions


def _of_boards(at: Any, rules: dict[str, Any], move: str) -> tuple[int, ...]:
    """Ultimate tic-tac-toe: the board, where it is free, and the cell there."""
    column, row = _cell(move)
    cell = (column % 3 + 3 * (row % 3),)
    is_free = at.action_to_string(at.legal_actions()[0]).startswith("Choose")
    return (column // 3 + 3 * (row // 3), *cell) if is_free else cell


def _of_amazons(at: Any, rules: dict[str, Any], move: str) -> tuple[int, ...]:
    """From where, to where, and the arrow; rows are counted from the top."""
    size = rules["size"]
    return tuple(ord(column) - ord("a") + size * (size - int(row)) for column, row in re.findall(r"([a-z])(\d+)", move))


def _hex_parameters(rules: dict[str, Any]) -> dict[str, Any]:
    if rules["swap"]:
        raise Error("this adapter has no swap: write game = { name = \"hex\", swap = false }")
    return {"board_size": rules["size"]}


def _mnk_parameters(rules: dict[str, Any]) -> dict[str, Any]:
    if rules["overlines"] != "win":
        raise Error("OpenSpiel's lines may be longer: write overlines = \"win\"")
    return {"m": rules["columns"], "n": rules["rows"], "k": rules["in_a_row"]}


def _breakthrough_parameters(rules: dict[str, Any]) -> dict[str, Any]:
    if rules["pawn_rows"] != 2:
        raise Error("OpenSpiel's Breakthrough has two rows of pawns: write pawn_rows = 2")
    return {"rows": rules["rows"], "columns": rules["columns"]}


# OpenSpiel's games that begin at their start position: their parameters and the actions of a move, by the rules.
_FROM_START: dict[str, tuple[Callable[..., dict[str, Any]], Callable[..., tuple[int, ...]]]] = {
    "othello": (lambda rules: {}, _of_othello),
    "hex": (_hex_parameters, _of_board("size")),
    "mnk": (_mnk_parameters, _of_board("columns")),
    "breakthrough": (_breakthrough_parameters, _of_steps(mirrored=True)),
    "ultimate-tic-tac-toe": (lambda rules: {}, _of_boards),
    "clobber": (lambda rules: {"rows": rules["rows"], "columns": rules["columns"]}, _of_steps(mirrored=False)),
    "amazons": (lambda rules: {"board_size": rules["size"]}, _of_amazons),
}
