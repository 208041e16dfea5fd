"""Positions, by the program's rules."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import threading
import xml.etree.ElementTree
from pathlib import Path

import pytest
from conftest import legal, mover, play, winner

import spelrum
from spelrum import positions
from spelrum.players import GAMES

SOURCE = Path(__file__).resolve().parent.parent / "src"


def test_random_games_follow_the_rules(program: str) -> None:
    chance = random.Random(5)
    for _ in range(20):
        position = spelrum.Position("tic-tac-toe")
        while not position.over:
            assert sorted(position.legal) == sorted(legal(position.notation))
            assert position.to_move == mover(position.notation)[1] and position.result is None
            move = chance.choice(position.legal)
            notation = play(position.notation, move)
            before, position = position, position.play(move)
            assert position.notation == notation and before.notation != notation
            assert position == spelrum.Position("tic-tac-toe", notation)
        assert position.legal == [] and position.result == winner(position.notation)
        assert position == spelrum.Position("tic-tac-toe").play(*position.moves)
        assert len({position, before}) == 2 and position != before and position != 5


def test_the_games_of_the_package_are_the_programs(program: str) -> None:
    with pytest.raises(spelrum.Error, match="the games are") as caught:
        spelrum.Position("zzzzzzzz")
    for game in GAMES:
        assert game in str(caught.value)
        position = spelrum.Position(game)
        for _ in range(3):
            position = position.play(position.legal[-1])
        assert position.opening is None and len(position.moves) == 3
        assert str(position) == position.board and game in repr(position)
        for text in (position._repr_svg_(), position._repr_html_()):
            xml.etree.ElementTree.fromstring(text)
    assert str(caught.value).count(",") == len(GAMES) - 1


def test_rules_openings_and_repetitions(program: str) -> None:
    heaps = spelrum.Position("nim", rules={"heaps": [1, 2]})
    assert heaps.legal != spelrum.Position("nim").legal and heaps != spelrum.Position("nim")
    chess = spelrum.Position("chess", "4k3/8/8/8/8/8/8/4K2R w - - 0 1")
    dance = ["h1h2", "e8d8", "h2h1", "d8e8"]
    repeated = chess.play(*dance, *dance)
    assert repeated.over and repeated.result == "draw" and "a draw" in repeated._repr_html_()
    assert not spelrum.Position("chess", repeated.notation).over
    copy = pickle.loads(pickle.dumps(repeated))
    assert copy.over and copy == repeated and copy.moves == repeated.moves


def test_what_is_wrong_is_named(program: str) -> None:
    start = spelrum.Position("tic-tac-toe")
    for moves in (["z9"], ["a1", "a1"], ["a1", "a2", "b1", "b2", "c1", "c2"]):
        with pytest.raises(spelrum.IllegalMove, match=moves[-1]):
            start.play(*moves)
    for wrong in ({"game": "tic-tac-to"}, {"game": "nim", "rules": {"heap": 1}}, {"game": "chess", "notation": "x"}):
        with pytest.raises(spelrum.Error):
            spelrum.Position(**wrong)
    with pytest.raises(spelrum.Error, match="texts and numbers"):
        start.play(b"a1")  # type: ignore[arg-type]
    with pytest.raises(spelrum.Error, match="texts and numbers"):
        spelrum.Position("nim", rules={"heaps": [float("nan")]})
    assert start.play("a1").notation == "x........"


def test_a_process_that_is_killed_is_started_again(program: str) -> None:
    start = spelrum.Position("tic-tac-toe")
    assert positions._rules is not None
    positions._rules.process.kill()
    positions._rules.process.wait()
    with pytest.raises(spelrum.Error, match="ended with code -9"):
        start.play("a1")
    assert start.play("a1").notation == "x........"


def test_threads_and_forks_get_their_own_answers(program: str) -> None:
    wrong: list[object] = []

    def walk(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(10):
            position, notation = spelrum.Position("tic-tac-toe"), "........."
            while not position.over:
                move = chance.choice(position.legal)
                position, notation = position.play(move), play(notation, move)
                if position.notation != notation:
                    wrong.append((position, notation))

    threads = [threading.Thread(target=walk, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    # The one of a thread that has ended still answers.
    walk(9)
    # A fork does not read its parent's answers.
    forks = [multiprocessing.get_context("fork").Process(target=walk, args=[seed]) for seed in range(2)]
    for fork in forks:
        fork.start()
    walk(10)
    for fork in forks:
        fork.join(30)
        assert fork.exitcode == 0
    assert not wrong


@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), 9)", "1 / 0", "os._exit(0)"])
def test_the_process_ends_with_python(program: str, tmp_path: Path, end: str) -> None:
    code = f"""
import os, spelrum
from spelrum import positions
spelrum.Position("nim")
print(positions._rules.process.pid, flush=True)
{end}
"""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "SPELRUM": program}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    # No other process holds this pipe, so that its end is that of the program.
    assert not Path(f"/proc/{int(done.stdout)}").exists() or _is_gone(int(done.stdout))


def _is_gone(pid: int) -> bool:
    import time

    for _ in range(100):
        try:
            if "(spelrum) Z" in Path(f"/proc/{pid}/stat").read_text():
                return True
        except OSError:
            return True
        time.sleep(0.1)
    return False
