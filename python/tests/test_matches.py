"""Whole matches: on a coordinator whose processes are killed, of a language model, and of another library's players."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, Iterator

import pytest

import spelrum

SOURCE = Path(__file__).resolve().parent.parent / "src"
# Where this package and the libraries beside it are.
PATHS = os.pathsep.join([str(SOURCE), *filter(None, [os.environ.get("PYTHONPATH")])])
TOKEN = "spelrum_token_of_tests_0123456789abcdef"
# What each game came to, and the hash of its moves.
PLAYED = "SELECT number, player, score, termination, moves_hash FROM game_players WHERE side = 0 ORDER BY number"
TEN_LINES = """\
import json, random, sys

for line in sys.stdin:
    message = json.loads(line)
    if "spelrum" in message:
        print(json.dumps({"name": "mine"}), flush=True)
    elif "legal" in message:
        chance = random.Random(message["seed"])
        move = chance.choice(message["legal"])
        print(json.dumps({"id": message["id"], "move": move}), flush=True)
"""

MODEL = """\
import random

import spelrum

draw = random.Random(1)

@spelrum.player()
def model(state):
    def ask(prompt):
        kind = draw.random()
        if kind < 0.05:
            return "Move: z9"
        if kind < 0.06:
            return "Let me think."
        legal = prompt.partition("Legal moves: ")[2].splitlines()[0].split()
        return "Move: " + draw.choice(legal)

    return spelrum.adapters.text(ask, attempts=1)(state)
"""
SPIEL = """\
import pyspiel

import spelrum
from spelrum import adapters

@spelrum.player()
def uniform(state):
    return adapters.open_spiel(lambda game, player: pyspiel.make_uniform_random_bot(player, state.seed % 1000))(state)

def bot(game, player):
    return pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 7), 2.0, 30, 10, False, 7, False)

@spelrum.player()
def searching(state):
    return adapters.open_spiel(bot)(state)
"""


class Lab:
    """A coordinator and its workers, each of which can be killed and started again."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder
        self.environment = {**os.environ, "SPELRUM_TOKEN": TOKEN}
        self.listen = "127.0.0.1:0"
        self.coordinator = self.start_coordinator()
        self.workers = [self.start_worker() for _ in range(3)]

    @property
    def url(self) -> str:
        return f"http://{self.listen}"

    def start_coordinator(self) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [self.program, "coordinator", "--db", str(self.folder / "all.db"), "--listen", self.listen],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert child.stdout is not None
        line = child.stdout.readline()
        # Once it has a port, it comes back at the same one.
        self.listen = "127.0.0.1:" + line.strip().rpartition(":")[2].strip("/")
        return child

    def start_worker(self) -> subprocess.Popen[bytes]:
        engines = ["--engines", str(self.folder / "engines.toml")]
        command = [self.program, "worker", "--coordinator", self.url, "--slots", "1", *engines]
        return subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)

    def end(self) -> None:
        processes: list[subprocess.Popen[Any]] = [*self.workers, self.coordinator]
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(30)


@pytest.fixture
def lab(program: str, tmp_path: Path) -> Iterator[Lab]:
    (tmp_path / "mine.py").write_text(TEN_LINES)
    (tmp_path / "engines.toml").write_text(
        f'[engines.mine]\nprotocol = "lines"\ncommand = "{sys.executable}"\nargs = ["mine.py"]\nfiles = ["mine.py"]\n'
    )
    started = Lab(program, tmp_path)
    yield started
    started.end()


def test_games_survive_kills_and_come_out_the_same(lab: Lab, program: str, tmp_path: Path) -> None:
    """The player of docs/lines.md against ours on three workers: a worker is killed, then the coordinator."""
    sweep = {
        "name": "killed",
        "game": "connect-four",
        "games": 300,
        "seed": 5,
        "openings": {"kind": "random", "plies": 4},
        "players": {
            "mine": {"algorithm": "lines", "engine": "mine", "reproducible": True},
            "ours": {"algorithm": "alpha-beta", "depth": 3},
        },
    }
    kills = 0

    def kill(progress: spelrum.Progress) -> None:
        nonlocal kills
        if kills == 0 and progress.games_settled >= 20:
            kills = 1
            lab.workers[0].kill()
            lab.workers[0].wait()
            lab.workers[0] = lab.start_worker()
        elif kills == 1 and progress.games_settled >= 60:
            kills = 2
            lab.coordinator.kill()
            lab.coordinator.wait()
            lab.coordinator = lab.start_coordinator()

    experiment = spelrum.connect(lab.url, token=TOKEN).submit(sweep)
    assert experiment.wait(seconds=0.02, timeout=300, progress=kill) == "finished"
    assert kills == 2
    games = experiment.sql(PLAYED).rows()

    # The same sweep on this machine alone, where nothing is killed.
    own = tmp_path / "own.toml"
    own.write_text(spelrum.toml.dumps(sweep))
    command = [program, "run", str(own), "--db", str(tmp_path / "own.db"), "--engines", str(tmp_path / "engines.toml")]
    subprocess.run(command, check=True, capture_output=True)
    assert games == spelrum.load(tmp_path / "own.db").sql(PLAYED).rows()
    assert [game["number"] for game in games] == list(range(300))
    assert {game["termination"] for game in games} <= {"four_in_a_row", "full_board"}


def test_a_language_model_loses_no_sweep(program: str, tmp_path: Path) -> None:
    """A stub that answers one of twenty requests with an illegal move, and one of a hundred with none."""
    (tmp_path / "model.py").write_text(MODEL)
    model = spelrum.Program(
        sys.executable,
        *("-m", "spelrum", "model.py"),
        directory=str(tmp_path),
        environment={"PYTHONPATH": PATHS},
    )
    player = {"player": model, "retries": 1}
    table = {
        "name": "model",
        "game": "tic-tac-toe",
        "games": 200,
        "openings": {"kind": "random", "plies": 2},
        "players": {"model": player, "ours": {"algorithm": "random"}},
    }
    with warnings.catch_warnings():
        # Of the games that both tries lost.
        warnings.simplefilter("ignore")
        experiment = spelrum.run(table, db=tmp_path / "model.db")
    assert experiment.state == "finished"
    statement = "SELECT termination, count(*) AS games FROM games GROUP BY termination"
    endings = {row["termination"]: row["games"] for row in experiment.sql(statement).rows()}
    assert sum(endings.values()) == 200 and 0 < endings["illegal_move"] < 20, endings
    assert set(endings) <= {"three_in_a_row", "full_board", "illegal_move"}
    told = "SELECT sum(refused) AS refused, count(note) AS notes FROM move_notes"
    [notes] = experiment.sql(told).rows()
    assert notes["refused"] > 10 and notes["notes"] > 400, notes
    [forfeit, *_] = experiment.sql("SELECT message FROM forfeited").rows()
    assert "z9" in forfeit["message"] or "Let me think" in forfeit["message"], forfeit


@pytest.mark.parametrize(
    "game",
    [
        "connect-four",
        "othello",
        {"name": "hex", "size": 4, "swap": False},
        {"name": "mnk", "columns": 5, "rows": 4, "in_a_row": 4},
        {"name": "breakthrough", "columns": 5, "rows": 6},
        "ultimate-tic-tac-toe",
        {"name": "clobber", "columns": 5, "rows": 4},
        {"name": "amazons", "size": 6},
    ],
    ids=lambda game: game if isinstance(game, str) else game["name"],
)
def test_open_spiels_players_meet_each_other(program: str, tmp_path: Path, game: object) -> None:
    """Both libraries have the same moves and endings, or a game would fail."""
    pytest.importorskip("pyspiel")
    (tmp_path / "spiel.py").write_text(SPIEL)
    players = {
        name: spelrum.Program(
            sys.executable,
            *("-m", "spelrum", "spiel.py", name),
            directory=str(tmp_path),
            environment={"PYTHONPATH": PATHS},
        )
        for name in ("uniform", "searching")
    }
    table = {"name": "spiel", "game": game, "games": 2, "openings": {"kind": "start"}, "players": players}
    experiment = spelrum.run(table, db=tmp_path / "spiel.db")
    [row] = experiment.results.rows()
    assert row["games"] == 2
    [endings] = experiment.sql("SELECT sum(failure IS NOT NULL) AS failed FROM games").rows()
    assert endings == {"failed": 0}


def test_the_page_on_players_runs(program: str, tmp_path: Path) -> None:
    """The blocks of docs/players.md, as one file."""
    page = (SOURCE.parent.parent / "docs/players.md").read_text()
    blocks = [block.partition("```")[0] for block in page.split("```python\n")[1:]]
    assert len(blocks) == 3
    used = """
table = {"name": "doors", "game": "tic-tac-toe", "games": 4, "players": {"model": model, "random": {"algorithm": "random"}}}
table["openings"] = {"kind": "random", "plies": 2}
print(spelrum.run(table).results.rows()[0]["games"])
"""
    # Players are defined before the first run.
    first, *others = blocks
    head, run, _ = first.partition("experiment = spelrum.run(")
    (tmp_path / "page.py").write_text(head + "\n".join(others) + used + run + first[len(head + run) :])
    environment = {**os.environ, "SPELRUM": str(Path(program).resolve()), "PYTHONPATH": PATHS}
    ran = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("4\n") and "Who is stronger" in ran.stdout, ran.stdout
