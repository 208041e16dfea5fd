"""Adapters, against the libraries that they are for, where these are installed."""

from __future__ import annotations

import random
from typing import Any, Optional

import pytest
from conftest import legal, mover, play, winner

import spelrum
from spelrum import adapters


class NoAsker:
    def ask(self, request: int, moves: list[str]) -> dict[str, Any]:
        raise AssertionError


def state(game: str, position: str, moves: list[str], legal: list[str], to_move: str, **more: Any) -> spelrum.State:
    opening = more.pop("opening", position)
    request = {"id": 1, "position": position, "opening": opening, "moves": moves, "legal": legal, "to_move": to_move}
    start = {"spelrum": 1, "game": game, "rules": more.pop("rules", {}), "options": {}}
    return spelrum.State({**request, "board": f"board of {game}", "limits": {}, "seed": 5, **more}, start, NoAsker())


def tic_tac_toe(position: str) -> spelrum.State:
    return state("tic-tac-toe", position, [], legal(position), mover(position)[1])


@pytest.mark.parametrize(
    "answer, moves, expected",
    [
        ("I play the middle.\nMove: d", ["c", "d"], "d"),
        ("**Move:** `D`.", ["c", "d"], "d"),
        ("Move: c\n… no, better:\nmove: **d**", ["c", "d"], "d"),
        ("e2e4", ["e2e4", "d2d4"], "e2e4"),
        ("I choose (e7e8Q)!", ["e7e8q", "e7e8n"], "e7e8q"),
        ("Either e2e4 or d2d4", ["e2e4", "d2d4"], None),
        ("Move: z", ["c", "d"], None),
        ("Move: z although c is legal", ["c", "d"], None),
        ("", ["c", "d"], None),
        ("a3-3l", ["a3-3l", "a3-3r"], "a3-3l"),
        ("Move: B", ["b", "B"], "B"),
    ],
)
def test_answers_of_a_language_model(answer: str, moves: list[str], expected: Optional[str]) -> None:
    assert adapters.parse(answer, moves) == expected


def test_a_language_model_thinks_again() -> None:
    prompts: list[str] = []
    answers = ["Move: z9", "hm", "Move: b2"]

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return answers[len(prompts) - 1]

    move = adapters.text(ask)(tic_tac_toe("x........"))
    assert move == spelrum.Move("b2", note="Move: z9\n---\nhm\n---\nMove: b2")
    assert "board of tic-tac-toe" in prompts[0] and "b1 c1 a2" in prompts[0] and "moves second" in prompts[0]
    assert "You answered:\nMove: z9" in prompts[1] and "You answered:\nhm" in prompts[2]
    prompts.clear()
    assert adapters.text(ask, attempts=2, notes=False)(tic_tac_toe("x........")) == spelrum.Move("hm")


def test_a_stub_with_illegal_answers_finishes_its_games() -> None:
    draw = random.Random(1)
    choose = adapters.text(lambda prompt: "Move: z" if draw.random() < 0.05 else "Move: " + _choices(prompt)[0])
    for _ in range(100):
        position = "........."
        while winner(position) is None:
            move = choose(tic_tac_toe(position))
            assert isinstance(move, spelrum.Move)
            position = play(position, move.move)


def _choices(prompt: str) -> list[str]:
    return prompt.partition("Legal moves: ")[2].splitlines()[0].split()


def test_python_chess() -> None:
    chess = pytest.importorskip("chess")
    fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    moves = ["g1f3", "b8c6", "f1c4", "g8f6"]
    made = chess.Board(fen)
    for move in moves:
        made.push_uci(move)
    at = state("chess", made.fen(), moves, [move.uci() for move in made.legal_moves], "first", opening=fen)
    board = adapters.chess_board(at)
    assert board.fen() == made.fen() and len(board.move_stack) == 4
    choose = adapters.python_chess(lambda board: board.parse_san("O-O"))
    assert choose(at) == "e1g1"
    # Chess960 writes castling as the king's and the rook's square.
    at = state("chess", made.fen(), moves, [], "first", opening=fen, rules={"chess960": True, "start": 518})
    assert choose(at) == "e1h1"
    with pytest.raises(spelrum.Error, match="for chess, not tic-tac-toe"):
        adapters.chess_board(tic_tac_toe("........."))


CONNECT_FOUR = "." * 28 + "...y..." + "..ryr.."


def test_kaggle() -> None:
    seen: list[Any] = []

    def agent(observation: Any, configuration: Any) -> int:
        seen.append((observation, configuration))
        return 3

    at = state("connect-four", CONNECT_FOUR, [], list("abcdefg"), "first")
    assert adapters.kaggle(agent)(at) == "d"
    observation, configuration = seen[0]
    assert observation.board == observation["board"] == [0] * 31 + [2, 0, 0, 0] + [0, 0, 1, 2, 1, 0, 0]
    assert (observation.mark, observation.step) == (1, 4)
    assert (configuration.columns, configuration.rows, configuration.inarow) == (7, 6, 4)
    assert adapters.kaggle(lambda observation: observation.board.index(0))(tic_tac_toe("xo.......")) == "c1"
    with pytest.raises(spelrum.Error, match="action 0 is not legal here; legal moves: b1"):
        adapters.kaggle(lambda observation: 0)(tic_tac_toe("x........"))


def test_kaggles_own_agent() -> None:
    connectx = pytest.importorskip("kaggle_environments.envs.connectx.connectx")
    at = state("connect-four", CONNECT_FOUR, [], list("abcdefg"), "first")
    assert adapters.kaggle(connectx.negamax_agent)(at) in list("abcdefg")


@pytest.mark.parametrize("name", ["connect_four_v3", "tictactoe_v3"])
def test_pettingzoos_own_observations(name: str) -> None:
    """Random games in its environment: the adapter's observations are the environment's."""
    numpy = pytest.importorskip("numpy")
    environments = pytest.importorskip(f"pettingzoo.classic.{name}")
    draw = random.Random(7)
    columns, signs, game = (7, ".ry", "connect-four") if name == "connect_four_v3" else (3, ".xo", "tic-tac-toe")
    for _ in range(20):
        environment = environments.env()
        environment.reset(seed=1)
        position = "." * (42 if columns == 7 else 9)
        agents = list(environment.possible_agents)
        for agent in environment.agent_iter():
            observation, _, termination, truncation, _ = environment.last()
            if termination or truncation:
                break
            moves = [move for move in _empty(position, columns)]
            at = state(game, position, [], moves, ["first", "second"][agents.index(agent)])
            actions = []

            def policy(given: dict[str, Any]) -> int:
                assert numpy.array_equal(given["observation"], observation["observation"])
                assert numpy.array_equal(given["action_mask"], observation["action_mask"])
                actions.append(draw.choice([int(a) for a in numpy.flatnonzero(given["action_mask"])]))
                return actions[-1]

            move = adapters.pettingzoo(policy)(at)
            cell = _cell(position, str(move), columns)
            position = position[:cell] + signs[1 + agents.index(agent)] + position[cell + 1 :]
            environment.step(actions[-1])


def _empty(position: str, columns: int) -> list[str]:
    if columns == 7:
        return [letter for letter, cell in zip("abcdefg", position) if cell == "."]
    return legal(position)


def _cell(position: str, move: str, columns: int) -> int:
    column = ord(move[0]) - ord("a")
    if columns == 3:
        return column + 3 * (int(move[1]) - 1)
    return max(cell for cell in range(column, 42, 7) if position[cell] == ".")


def _spelrums(name: str, at: Any) -> tuple[str, list[str], str]:
    """Position, legal moves and mover in Spelrum's notation, of a state of OpenSpiel."""
    actions, side = at.legal_actions(), at.current_player()
    if name == "connect_four":
        position = str(at).replace("\n", "").replace("x", "r").replace("o", "y")
        return position, ["abcdefg"[action] for action in actions], ["first", "second"][side]
    if name == "tic_tac_toe":
        position = str(at).replace("\n", "")
        return position, legal(position), ["first", "second"][side]
    if name == "nim":
        piles = str(at).partition(": ")[2].split()
        moves = ["abcd"[action % len(piles)] + str(action // len(piles) + 1) for action in actions]
        return ",".join(piles) + "/" + "wb"[side], moves, ["first", "second"][side]
    moves = ["pass" if action == 64 else "abcdefgh"[action % 8] + str(action // 8 + 1) for action in actions]
    return "", moves, ["first", "second"][side]


@pytest.mark.parametrize("name", ["connect_four", "tic_tac_toe", "nim", "othello"])
@pytest.mark.parametrize("is_policy", [False, True])
def test_open_spiels_own_games(name: str, is_policy: bool) -> None:
    """Random games in OpenSpiel: its bot sees the same state, and its move is the same in Spelrum's notation."""
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python import policy

    game = pyspiel.load_game("nim(pile_sizes=3;4;5,is_misere=true)" if name == "nim" else name)
    passes = 0
    for seed in range(40 if name == "othello" else 6):
        seen: list[str] = []
        draw = random.Random(seed)

        class Bot:
            def step(self, at: Any) -> int:
                seen.append(str(at))
                return int(draw.choice(at.legal_actions()))

        choose = adapters.open_spiel(
            lambda game, player: policy.UniformRandomPolicy(game) if is_policy else Bot()
        )
        at = game.new_initial_state()
        moves: list[str] = []
        start = "." * 27 + "wb" + "." * 6 + "bw" + "." * 27 + " b"
        while not at.is_terminal():
            position, legal_moves, to_move = _spelrums(name, at)
            asked = state(
                name.replace("_", "-"), position, list(moves), legal_moves, to_move, opening=start, rules={"misere": True},
                seed=100 * seed + len(moves)
            )
            answer = choose(asked)
            if is_policy:
                assert isinstance(answer, spelrum.Move) and answer.distribution is not None
                assert set(answer.distribution) == set(legal_moves) and answer.move in legal_moves
            elif name != "nim":
                assert seen[-1] == str(at)
            moves.append(answer.move if isinstance(answer, spelrum.Move) else str(answer))
            passes += moves[-1] == "pass"
            at.apply_action(dict(zip(legal_moves, at.legal_actions()))[moves[-1]])
    assert passes or name != "othello"


def test_open_spiels_chess() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    chess = pytest.importorskip("chess")
    fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    board = chess.Board(fen)
    moves: list[str] = []
    choose = adapters.open_spiel(lambda game, player: pyspiel.make_uniform_random_bot(player, 3))
    while not board.is_game_over() and len(moves) < 80:
        side = "first" if board.turn else "second"
        legal_moves = [move.uci() for move in board.legal_moves]
        moves.append(str(choose(state("chess", board.fen(), list(moves), legal_moves, side, opening=fen))))
        board.push_uci(moves[-1])
    assert len(moves) > 10
    for game, rules, expected in [
        ("othello", {}, "only its usual start position"),
        ("hex", {"size": 5, "swap": True}, "swap = false"),
        ("mnk", {"columns": 5, "rows": 5, "in_a_row": 4, "overlines": "no-win"}, 'overlines = "win"'),
        ("breakthrough", {"columns": 5, "rows": 6, "pawn_rows": 1}, "pawn_rows = 2"),
        ("pentago", {}, "not pentago"),
    ]:
        with pytest.raises(spelrum.Error, match=expected):
            choose(state(game, "x", [], ["a1"], "first", rules=rules))
    # A position that the moves since the opening do not lead to.
    hexes = {"size": 3, "swap": False}
    with pytest.raises(spelrum.Error, match="leave `openings` out"):
        choose(state("hex", "r........ b", [], ["b1"], "second", rules=hexes))
