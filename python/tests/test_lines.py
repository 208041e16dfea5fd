"""The protocol of lines, against a runner that is written in conftest.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import Runner, Start, legal, play, winner

RANDOM = """
@spelrum.player("tic-tac-toe")
def mine(state):
    return state.random.choice(state.legal)
"""


@pytest.mark.parametrize("direct", [False, True])
def test_a_whole_game_is_played_and_follows_from_its_seeds(start: Start, direct: bool) -> None:
    games = []
    for _ in range(2):
        runner = start(RANDOM + "spelrum.main()\n", direct=direct)
        assert runner.hello == {"name": "mine", "parallel": 1}
        position = "........."
        moves: list[str] = []
        while winner(position) is None:
            answer = runner.ask(position, moves=moves)
            assert answer["id"] == runner.next_id and answer["move"] in legal(position)
            moves.append(answer["move"])
            position = play(position, answer["move"])
        runner.send({"match": 1, "result": "win", "termination": "three_in_a_row", "moves": moves})
        assert runner.end() == (0, "")
        games.append(moves)
    assert games[0] == games[1]


def test_a_state_has_all_of_the_request(start: Start) -> None:
    runner = start(
        """
        @spelrum.player("tic-tac-toe", "nim", name="seer", version="2", author="me")
        def mine(state):
            assert state.position == "x........" and state.opening == "........." and state.moves == ["a1"]
            assert state.legal[0] == "b1" and state.to_move == "second" and state.board == "x..\\n...\\n..."
            assert state.limits == spelrum.Limits(3, None, None, spelrum.Clock(9.5, 0.1, 8.0, 12))
            assert state.seed == 1234567890124 and state.match == 1 and state.game == "tic-tac-toe"
            assert state.rules == {} and state.options == {"skill": 3}
            assert state.refused == "`z` is not a legal move here"
            assert not state.over and state.result is None
            return spelrum.Move("b2", score=-3, depth=2, nodes=10, pv=["b2", "c3"], note="é", distribution={"b2": 1.0})
        """
    )
    assert runner.hello == {"name": "seer", "version": "2", "author": "me", "parallel": 1}
    answer = runner.ask("x........", moves=["a1"], refused="`z` is not a legal move here")
    assert answer == {
        "id": 1, "move": "b2", "score": -3, "depth": 2, "nodes": 10, "pv": ["b2", "c3"], "note": "é",
        "distribution": {"b2": 1.0},
    }  # fmt: skip


def test_a_player_asks_back(start: Start) -> None:
    runner = start(
        """
        @spelrum.player()
        def mine(state):
            for move in state.legal:
                child = state.after(move)
                assert child.moves == [*state.moves, move] and child.random is state.random
                if child.over and child.result == state.to_move:
                    assert child.legal == []
                    return move
                assert child.position == child.board
                for reply in child.legal:
                    assert child.after(reply).position == state.after(move, reply).position
            try:
                state.after("z9")
            except spelrum.IllegalMove as error:
                return spelrum.Move(state.legal[0], note=str(error))
        """
    )
    assert runner.ask("xx.oo....") == {"id": 1, "move": "c1"}
    assert runner.ask("xox......") == {"id": 2, "move": "a2", "note": "`z9` is not a legal move here"}


def test_prints_and_reads_do_not_disturb_the_protocol(start: Start) -> None:
    runner = start(
        """
        import os, sys
        print("while loading")
        @spelrum.player()
        def mine(state):
            print("thinking")
            os.system("echo of another process")
            os.write(1, b"raw\\n")
            assert sys.stdin.read() == ""
            return state.legal[0]
        """
    )
    assert runner.ask() == {"id": 1, "move": "a1"}
    code, messages = runner.end()
    assert code == 0
    for text in ("while loading", "thinking", "of another process", "raw"):
        assert text in messages


def test_a_player_that_raises_says_where_and_plays_on(start: Start) -> None:
    runner = start(
        """
        class Broken(Exception):
            pass
        @spelrum.player()
        def mine(state):
            if state.position == ".........":
                raise Broken("no idea " + "x" * 10_000)
            return state.legal[0]
        """
    )
    error = runner.ask()["error"]
    assert len(error) <= 4000
    runner.send({**runner.request(), "position": "short"})
    assert runner.ask("x........") != error
    runner = start(
        """
        @spelrum.player()
        def mine(state):
            return helper(state)
        def helper(state):
            return {}["missing"]
        """
    )
    error = runner.ask()["error"]
    assert error.startswith("Traceback") and "mine.py" in error and error.endswith("KeyError: 'missing'")
    assert "lines.py" not in error and "players.py" not in error


@pytest.mark.parametrize("raised", ["SystemExit(3)", "GeneratorExit", "asyncio.CancelledError"])
def test_what_would_end_the_process_is_an_error_too(start: Start, raised: str) -> None:
    source = f"""
        import asyncio
        @spelrum.player()
        class Mine:
            def choose(self, state):
                if state.position == ".........":
                    raise {raised}
                return state.legal[0]
            def end(self, match):
                raise {raised}
        """
    runner = start(source)
    name = raised.partition("(")[0].rpartition(".")[2]
    error = runner.ask()["error"]
    assert error.startswith("Traceback") and name in error
    runner.send({"match": 1, "result": "loss", "termination": "crash", "moves": []})
    assert runner.ask("x........")["move"] == "b1"
    assert runner.end()[0] == 0
    # While it is loaded, and made.
    assert name in start(f"import asyncio\nraise {raised}\n").hello["error"]
    made = f"import asyncio\n@spelrum.player()\nclass A:\n    def __init__(self): raise {raised}\n    def choose(self, s): pass\n"
    assert name in start(made).hello["error"]


def test_an_option_that_no_sweep_sets(start: Start) -> None:
    source = "@spelrum.player(options={'level': {'min': 1, 'max': 9%s}})\ndef mine(state):\n    return str(state.options)\n"
    assert "needs the option `level`: set it in the sweep, or declare a default" in start(source % "").hello["error"]
    assert start(source % ", 'default': 5").ask()["move"] == "{'level': 5, 'skill': 3}"


@pytest.mark.parametrize("value, kind", [("None", "NoneType"), ("7", "int"), ("['a1']", "list"), ("b'a1'", "bytes")])
def test_nonsense_is_named(start: Start, value: str, kind: str) -> None:
    runner = start(f"@spelrum.player()\ndef mine(state):\n    return {value}\n")
    assert f"({kind}); a move is a text" in runner.ask()["error"]


def test_what_a_player_says_of_its_search_is_sent_or_named(start: Start) -> None:
    runner = start(
        """
        class Number:
            def __round__(self): return 7
            def __float__(self): return 0.25
            def __int__(self): return 3
        nan = float("nan")
        said = [
            dict(score=1.6, depth=Number(), nodes=2.0, pv=("a1",), distribution={"a1": Number()}),
            dict(score=nan), dict(distribution={"a1": nan}), dict(pv=5), dict(distribution=[1]), dict(depth="x"),
            dict(note="x" * 70_000),
        ]
        @spelrum.player()
        def mine(state):
            return spelrum.Move("a1", **said.pop(0))
        """
    )
    assert runner.ask() == {
        "id": 1, "move": "a1", "score": 2, "depth": 3, "nodes": 2, "pv": ["a1"], "distribution": {"a1": 0.25},
    }  # fmt: skip
    for _ in range(6):
        assert "of which not all can be sent" in runner.ask()["error"]


def test_a_player_resigns_and_a_wrong_text_is_left_to_the_runner(start: Start) -> None:
    runner = start("@spelrum.player()\ndef mine(state):\n    return spelrum.RESIGN if state.moves else 'z'\n")
    assert runner.ask() == {"id": 1, "move": "z"}
    assert runner.ask("x........", moves=["a1"]) == {"id": 2, "resign": True}


def test_a_batch_gets_all_requests_that_wait(start: Start) -> None:
    runner = start(
        """
        class Net:
            def __init__(self):
                self.sizes = []
            def choose_batch(self, states):
                self.sizes.append(len(states))
                if "nothing" in states[0].options:
                    return []
                return [spelrum.Move(s.after(s.legal[0]).moves[-1], note=str(self.sizes)) for s in states]
            def end(self, match):
                print("over", match["result"])
                raise RuntimeError("at the end")
        net = spelrum.player(parallel=8)(Net)
        """
    )
    assert runner.hello == {"name": "Net", "parallel": 8}
    runner.send(*(runner.request("x........") for _ in range(20)))
    answers = [runner.receive() for _ in range(20)]
    assert [answer["id"] for answer in answers] == list(range(1, 21))
    assert {answer["move"] for answer in answers} == {"b1"}
    assert answers[-1]["note"] == "[8, 8, 4]"
    runner.send({"match": 1, "result": "loss"})
    code, messages = runner.end()
    assert code == 0 and messages.startswith("over loss\n") and messages.endswith("RuntimeError: at the end\n")


def test_requests_that_come_while_a_player_asks_back_are_kept(start: Start) -> None:
    runner = start(
        """
        @spelrum.player(parallel=4)
        class Net:
            def choose_batch(self, states):
                return [state.after(state.legal[0]).moves[-1] for state in states]
        """
    )
    assert runner.process.stdout is not None
    runner.send(runner.request())
    question = runner.process.stdout.readline()
    import json

    runner.send(runner.request("x........"), {"match": 9, "result": "draw"}, runner.answer(json.loads(question)))
    assert runner.receive() == {"id": 1, "move": "a1"}
    assert runner.receive() == {"id": 2, "move": "b1"}


def test_a_batch_of_the_wrong_length_and_one_that_raises(start: Start) -> None:
    runner = start(
        """
        @spelrum.player()
        class Net:
            def choose_batch(self, states):
                if states[0].position == ".........":
                    return ["a1"] * 3
                raise RuntimeError("out of memory")
        """
    )
    runner.send(runner.request(), runner.request())
    errors = [runner.receive()["error"], runner.receive()["error"]]
    assert all("choose_batch of Net returned 3 answers for" in error for error in errors)
    assert "RuntimeError: out of memory" in runner.ask("x........")["error"]


def test_what_cannot_be_played_is_refused(start: Start) -> None:
    assert start(RANDOM, game="chess").hello["error"].startswith("mine plays tic-tac-toe, not chess: ")
    assert "defines: mine; `other` is asked for" in start(RANDOM, "other").hello["error"]
    assert "defines: none" in start("").hello["error"]
    two = RANDOM + RANDOM.replace("mine", "second")
    assert "defines: mine, second" in start(two).hello["error"]
    assert start(two, "second").hello["name"] == "second"
    assert start(two + "spelrum.main()\n", "second", direct=True).hello["name"] == "second"
    assert start(two + "spelrum.main('mine')\n", direct=True).hello["name"] == "mine"
    assert "SyntaxError" in start("def").hello["error"]
    assert "ZeroDivisionError" in start("1 / 0").hello["error"]
    broken = "@spelrum.player()\nclass A:\n    def __init__(self): 1 / 0\n    def choose(self, state): pass\n"
    assert "ZeroDivisionError" in start(broken).hello["error"]


def test_a_start_without_a_game_asks_for_the_name_alone(start: Start) -> None:
    source = "@spelrum.player('nim')\nclass A:\n    def __init__(self): 1 / 0\n    def choose(self, state): pass\n"
    runner = start(source, game=None)
    assert runner.hello == {"name": "A", "parallel": 1}
    assert runner.end() == (0, "")


def test_a_file_that_runs_a_sweep_is_loaded_up_to_it(start: Start) -> None:
    runner = start(RANDOM + "spelrum.run({'players': {'mine': mine}})\nraise RuntimeError\n")
    assert runner.hello["name"] == "mine"
    for call in ("spelrum.worker([mine])", "spelrum.connect('http://127.0.0.1:1')"):
        assert start(RANDOM + call + "\nraise RuntimeError\n").hello["name"] == "mine"
    runner = start("spelrum.run({})\n" + RANDOM)
    assert "define players above it" in runner.hello["error"]


def test_lines_that_are_no_objects_and_the_end_in_the_middle(start: Start) -> None:
    runner = start("@spelrum.player()\ndef mine(state):\n    return state.after('a1').moves[0]\n")
    assert runner.process.stdin is not None and runner.process.stdout is not None
    runner.process.stdin.write(b'nonsense\n[1]\n\xff\n\r\n{"unknown":1}\n')
    assert runner.ask() == {"id": 1, "move": "a1"}
    runner.send(runner.request())
    runner.process.stdout.readline()
    assert runner.end() == (0, "")


def test_a_file_with_main_is_only_a_module_when_imported(tmp_path: Path) -> None:
    import subprocess

    (tmp_path / "mine.py").write_text("import spelrum\n" + RANDOM + "spelrum.main()\n")
    code = "import mine; print(mine.mine.name, mine.mine.games)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parent.parent / "src")},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"mine ('tic-tac-toe',)\n"


def test_the_decorator_refuses_what_is_no_player() -> None:
    import spelrum

    with pytest.raises(spelrum.Error, match="with parentheses"):
        spelrum.player(lambda state: "a1")  # type: ignore[arg-type]
    with pytest.raises(spelrum.Error, match="choose_batch"):
        spelrum.player()(type("Empty", (), {}))
    with pytest.raises(spelrum.Error, match="no name"):
        spelrum.player()(lambda state: "a1")
    with pytest.raises(spelrum.Error, match="no game `conect-four`; did you mean `connect-four`?"):
        spelrum.player("nim", "conect-four")
    with pytest.raises(spelrum.Error, match="the games are .*othello"):
        spelrum.player("go")
    with pytest.raises(spelrum.Error, match="no game"):
        spelrum.player(["nim"])  # type: ignore[arg-type]
    made = spelrum.player("nim", name="first")(lambda state: state)
    assert made(5) == 5 and repr(made) == "<Player first of nim>"


def test_the_runner_of_these_tests_knows_the_rules() -> None:
    assert winner("xxxoo....") == "first" and winner("ooox.x.x.") == "second" and winner("xoxxoxoxo") == "draw"
    assert legal("xxxoo....") == [] and play("x........", "c3") == "x.......o"
    assert Runner.__doc__
