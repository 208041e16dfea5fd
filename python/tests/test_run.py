"""Sweeps that are run: with players of the program, and with players of Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import spelrum
from spelrum import toml
from spelrum.sources import engine_table, extract

SOURCE = Path(__file__).resolve().parent.parent / "src"


def sweep(**more: Any) -> dict[str, Any]:
    return {
        "name": "first",
        "game": "tic-tac-toe",
        "games": 20,
        "openings": {"kind": "random", "plies": 2},
        "axes": {"depth": [1, 2]},
        "players": {"ab": {"algorithm": "alpha-beta", "depth": "$depth"}, "random": {"algorithm": "random"}},
        **more,
    }


def test_results_of_a_sweep(program: str, tmp_path: Path) -> None:
    db = tmp_path / "first.db"
    seen: list[spelrum.Progress] = []
    experiment = spelrum.run(sweep(), db=db, slots=2, progress=seen.append)
    assert (experiment.name, experiment.state, experiment.db) == ("first", "finished", db)
    rows = experiment.results.rows()
    assert [(row["depth"], row["player"], row["games"]) for row in rows] == [(1, "ab", 20), (2, "ab", 20)]
    assert all(0 <= row["score_low"] <= row["score"] <= row["score_high"] <= 1 for row in rows)
    assert seen[-1][:4] == ("first", 40, 40, 0)
    assert experiment.sql("SELECT count(*) AS n FROM games").rows() == [{"n": 40}]
    assert experiment.results.sql("SELECT NULL AS a, 'é' AS b, 0.5 AS c").rows() == [{"a": None, "b": "é", "c": 0.5}]
    assert experiment.sql("SELECT 1 AS x, 2 AS y WHERE 0").rows() == []
    assert experiment.report()["games_settled"] == 40
    games = experiment.games()
    assert len(games) == 40 and {game["game"] for game in games} == {"tic-tac-toe"}
    assert "<svg" in experiment.html() and "<iframe srcdoc=" in experiment._repr_html_()
    assert "<th>depth</th>" in experiment.results._repr_html_()
    assert "alpha-beta" in str(experiment) or "ab" in str(experiment)
    # The same again plays nothing and is the same experiment; another process finds it by its file.
    assert spelrum.run(sweep(), db=db).uuid == experiment.uuid == spelrum.load(db).uuid
    assert spelrum.run(sweep(), db=db, new=True).uuid != experiment.uuid


def test_frames(program: str, tmp_path: Path) -> None:
    experiment = spelrum.run(sweep(), db=tmp_path / "first.db")
    empty = experiment.sql("SELECT 1 AS x, 2 AS y WHERE 0")
    checked = 0
    for module, method in [("polars", "pl"), ("pandas", "df"), ("pyarrow", "arrow")]:
        try:
            __import__(module)
        except ImportError:
            continue
        frame = getattr(experiment.results, method)()
        assert frame.shape[0] == 2 and "score_low" in getattr(frame, "column_names", frame.columns)
        frame = getattr(empty, method)()
        assert list(getattr(frame, "column_names", frame.columns)) == ["x", "y"] and frame.shape[0] == 0
        checked += 1
    if not checked:
        pytest.skip("no library of frames is installed")


def test_a_file_and_a_text_as_sweep(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = toml.dumps(sweep())
    (tmp_path / "mine.toml").write_text(text)
    first = spelrum.run("mine.toml")
    assert first.db == tmp_path / "first.db" and not (tmp_path / "first.spelrum").exists()
    assert spelrum.run(text).uuid == first.uuid
    assert spelrum.run(tmp_path / "mine.toml").uuid == first.uuid


def test_errors_are_the_programs_own(program: str, tmp_path: Path) -> None:
    with pytest.raises(spelrum.Error, match="tic-tac-to") as caught:
        spelrum.run(sweep(game="tic-tac-to"), db=tmp_path / "first.db")
    assert caught.value.exit_code == 3
    with pytest.raises(spelrum.Error, match="no such table|unknown|nothing"):
        spelrum.run(sweep(), db=tmp_path / "first.db").sql("SELECT * FROM nothing").rows()
    with pytest.raises(spelrum.Error, match="cannot read the sweep"):
        spelrum.run(tmp_path / "missing.toml")
    with pytest.raises(spelrum.Error, match="no `name`"):
        spelrum.run({"game": "nim"})
    with pytest.raises(spelrum.Error, match="player `a` is"):
        spelrum.run(sweep(players={"a": len}), db=tmp_path / "first.db")
    with pytest.raises(spelrum.Error, match="(?s)depht.*`players.b`"):
        spelrum.run(sweep(players={"a": {"algorithm": "random"}, "b": {"algorithm": "alpha-beta", "depht": "$depth"}}), db=tmp_path / "first.db")
    with pytest.raises(spelrum.Error, match="missing.db"):
        spelrum.load(tmp_path / "missing.db")


def test_errors_name_what_was_written_in_python(program: str, tmp_path: Path) -> None:
    """And no line of a file that the package wrote for it."""

    def error(entry: dict[str, Any], game: str = "nim", **settings: Any) -> str:
        mine = spelrum.player(game, name="mine", **settings)(choose)
        with pytest.raises(spelrum.Error) as caught:
            spelrum.run(sweep(game="nim", axes={}, players={"m": {"player": mine, **entry}, "r": {"algorithm": "random"}}), db=db)
        assert "engines.toml" not in str(caught.value)
        return str(caught.value)

    db = tmp_path / "first.db"
    for wrong in ({"min": "x"}, 3, {"low": 1}, {"min": 5, "max": 1}, {}):
        message = error({"options": {"skill": 3}}, options={"skill": wrong})
        assert "`engines.mine`" in message and "`skill`" in message and "@spelrum.player" in message, message
    assert "`engines.mine`: `options` must be a table" in error({}, options=["skill"])
    message = error({"options": {"skil": 3}}, options={"skill": {"min": 1, "max": 3}})
    assert message.startswith("player `m`: mine declares no option `skil`; did you mean `skill`?")
    assert '@spelrum.player(options={"skil": {"min": 1, "max": 9}})' in message
    assert "mine declares no option `skill`; remove" in error({"options": {"skill": 3}})
    assert '@spelrum.player(options={"skill": {' in error({"options": {"skill": 30}}, options={"skill": {"min": 1, "max": 3}})
    message = error({}, options={"skill": {"min": 1, "max": 3}})
    assert message.startswith("player `m`: mine needs the option `skill`") and "'default': " in message
    message = error({}, game="chess")
    assert message.startswith("player `m`: mine plays chess, not nim") and '@spelrum.player("chess", "nim")' in message
    assert not db.exists()


def choose(state: spelrum.State) -> str:
    return state.legal[0]


def test_the_program_is_found(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spelrum import binary

    monkeypatch.setenv("SPELRUM", str(tmp_path / "nothing"))
    with pytest.raises(spelrum.Error, match="SPELRUM names"):
        binary.path()
    monkeypatch.delenv("SPELRUM")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr(binary, "__file__", str(tmp_path / "lib/python3/site-packages/spelrum/binary.py"))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(spelrum.Error, match="not there"):
        binary.path()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/spelrum").symlink_to(Path(program).resolve())
    assert binary.path() == str(tmp_path / "bin/spelrum")


def test_ctrl_c_keeps_finished_games(program: str, tmp_path: Path) -> None:
    code = f"""
    import spelrum
    slow = {{"algorithm": "mcts", "nodes": 100_000}}
    spelrum.run({{"name": "long", "game": "connect-four", "games": 100_000, "players": {{"a": slow, "b": slow}}}},
                db={str(tmp_path / "long.db")!r}, slots=1,
                progress=lambda now: print(now.games_settled, flush=True))
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "SPELRUM": program},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    while int(child.stdout.readline()) == 0:
        pass
    child.send_signal(signal.SIGINT)
    _, messages = child.communicate(timeout=60)
    assert b"KeyboardInterrupt" in messages and child.returncode != 0
    assert b"Ctrl-C again ends at once" in messages and b" games of long are kept; run the same again" in messages
    experiment = spelrum.load(tmp_path / "long.db")
    assert experiment.state == "running" and experiment.results.rows()[0]["games"] > 0
    done = subprocess.run(["ps", "-wweo", "args"], capture_output=True, text=True, check=False)
    assert str(tmp_path) not in done.stdout


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_the_program_ends_with_python(program: str, tmp_path: Path, sent: signal.Signals) -> None:
    """However Python ends, also while a player of it is at the board; finished games are kept."""
    (tmp_path / "mine.py").write_text(
        f"""
import os
import spelrum

@spelrum.player()
def mine(state):
    return state.legal[0]

spelrum.run({{"name": "long", "game": "connect-four", "games": 100_000,
             "players": {{"mine": mine, "a": {{"algorithm": "mcts", "nodes": 20_000}}}}}},
            db={str(tmp_path / "long.db")!r}, slots=2, progress=lambda now: print(now.games_settled, flush=True))
"""
    )
    child = subprocess.Popen(
        [sys.executable, "mine.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "SPELRUM": program},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdout is not None
    while int(child.stdout.readline()) == 0:
        pass
    child.send_signal(sent)
    child.communicate()
    assert child.returncode == -sent
    for _ in range(300):
        done = subprocess.run(["ps", "-wweo", "args"], capture_output=True, text=True, check=False)
        if str(tmp_path) not in done.stdout and "spelrum mine.py mine" not in done.stdout:
            break
        time.sleep(0.1)
    else:
        pytest.fail(f"still there: {done.stdout}")
    experiment = spelrum.load(tmp_path / "long.db")
    assert experiment.state == "running" and experiment.results.rows()[0]["games"] > 0


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt])
def test_progress_that_raises_leaves_no_program_behind(
    program: str, tmp_path: Path, raised: type[BaseException]
) -> None:
    def progress(now: spelrum.Progress) -> None:
        raise raised

    slow = {"algorithm": "mcts", "nodes": 100_000}
    long = {"name": "long", "game": "connect-four", "games": 100_000, "players": {"a": slow, "b": slow}}
    with pytest.raises(raised):
        spelrum.run(long, db=tmp_path / "long.db", slots=1, progress=progress)
    done = subprocess.run(["ps", "-wweo", "args"], capture_output=True, text=True, check=False)
    assert str(tmp_path) not in done.stdout


def test_an_external_engine(program: str, tmp_path: Path) -> None:
    ours = spelrum.Program(program, "engine", "uci", "--player", "alpha-beta", protocol="uci", startup_timeout="20s")
    experiment = spelrum.run(
        {
            "name": "chess",
            "game": "chess",
            "games": 2,
            "max_plies": 10,
            "openings": {"kind": "random", "plies": 2},
            "players": {"ours": {"player": ours, "depth": 1}, "random": {"algorithm": "random"}},
        },
        db=tmp_path / "chess.db",
        slots=1,
    )
    assert experiment.results.rows()[0]["games"] == 2
    assert "[engines]" in (tmp_path / "chess.spelrum/engines.toml").read_text()
    with pytest.raises(spelrum.Error, match="a run has one engines file"):
        spelrum.run(sweep(players={"a": ours}), db=tmp_path / "a.db", engines="engines.toml")


# Players of Python.


def player_file(tmp_path: Path, source: str) -> dict[str, spelrum.Player]:
    """The players of a file, by their names."""
    import importlib.util

    file = tmp_path / f"players_{time.monotonic_ns()}.py"
    file.write_text("import spelrum\n" + textwrap.dedent(source))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if isinstance(value, spelrum.Player)}


def test_an_engines_file_names_the_players(tmp_path: Path) -> None:
    players = player_file(tmp_path, "@spelrum.player(files=['net.npz'])\ndef mine(state): pass\n")
    with pytest.raises(spelrum.Error, match=r"net\.npz, which is not there"):
        engine_table(players["mine"], tmp_path)
    (tmp_path / "net.npz").touch()
    table = engine_table(players["mine"], tmp_path / "unused")
    assert table["args"][:2] == ["-m", "spelrum"] and table["args"][3] == "mine"
    assert [file.name for file in table["files"]] == [table["args"][2], "net.npz"]
    assert table["directory"] == tmp_path and table["environment"]["PYTHONHASHSEED"] == "0"


def test_players_become_engines() -> None:
    from spelrum.runner import with_engines

    mine = spelrum.player(name="mine")(lambda state: "a1")
    other = spelrum.player(name="mine")(lambda state: "a2")
    program = spelrum.Program("fish", protocol="uci")
    engines: dict[str, Any] = {}
    table = with_engines(
        {"players": {"a": mine, "b": {"player": mine, "depth": 3}, "c": program, "d": {"algorithm": "random"}}}, engines
    )
    assert table["players"] == {
        "a": {"algorithm": "lines", "engine": "mine"},
        "b": {"algorithm": "lines", "engine": "mine", "depth": 3},
        "c": {"algorithm": "uci", "engine": "c"},
        "d": {"algorithm": "random"},
    }
    assert engines == {"mine": mine, "c": program}
    with pytest.raises(spelrum.Error, match="two engines are named `mine`"):
        with_engines({"players": {"a": mine, "b": other}}, {})


def run_cell(source: str) -> dict[str, Any]:
    """Runs a notebook's cell, as IPython does: its lines are known, and no file has them."""
    import __main__
    import linecache

    name = f"<cell {time.monotonic_ns()}>"
    text = textwrap.dedent(source)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), vars(__main__))
    return vars(__main__)


def test_the_source_of_a_notebooks_player(tmp_path: Path) -> None:
    run_cell("import spelrum, math as m\nfrom random import Random\nimport os.path\nmoves = object()\n")
    run_cell("WEIGHTS = {'a': [1, 2.5]}\ndef helper(move):\n    return m.floor(WEIGHTS['a'][1]) + later(move)\n")
    run_cell("def later(move):\n    return 0 if move else helper(move)\n")
    cell = run_cell(
        """
        class Base:
            size = 3
        @spelrum.player("tic-tac-toe", name="net")
        class Net(Base):
            def choose(self, state: spelrum.State) -> str:
                moves = sorted(state.legal, key=lambda move: helper(move))
                assert os.path.sep and Random(1)
                return moves[self.size - 3]
        """
    )
    text = extract(cell["Net"])
    assert "import math as m" in text and "from random import Random as Random" in text and "object" not in text
    names: dict[str, Any] = {"__name__": "player"}
    exec(compile(text, "net.py", "exec"), names)
    state = type("State", (), {"legal": ["b1", "a1"]})
    assert names["Net"].target().choose(state) == "b1"
    table = engine_table(cell["Net"], tmp_path)
    assert table["directory"] == Path.cwd() and (Path.cwd() / table["args"][2]).read_text() == text
    cell = run_cell("model = object()\n@spelrum.player()\ndef bad(state):\n    return model\n")
    with pytest.raises(spelrum.Error, match="bad uses `model` of type object"):
        extract(cell["bad"])


def test_python_against_the_program(program: str, tmp_path: Path) -> None:
    players = player_file(
        tmp_path,
        """
        @spelrum.player("tic-tac-toe")
        def chance(state):
            print("to standard error")
            return state.random.choice(state.legal)

        @spelrum.player("tic-tac-toe")
        def greedy(state):
            for move in state.legal:
                if state.after(move).result == state.to_move:
                    return spelrum.Move(move, score=100, note="wins")
            return state.random.choice(state.legal)

        @spelrum.player("tic-tac-toe", parallel=8)
        class Batch:
            def choose_batch(self, states):
                return [state.random.choice(state.legal) for state in states]
        """,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        experiment = spelrum.run(
            sweep(axes={}, players={**players, "random": {"algorithm": "random"}}), db=tmp_path / "first.db"
        )
    scores = {(row["player"], row["opponent"]): row["score"] for row in experiment.results.rows()}
    assert len(scores) == 6 and scores["chance", "greedy"] < 0.5 and scores["greedy", "random"] > 0.5


def test_a_player_that_raises_is_warned_of(program: str, tmp_path: Path) -> None:
    players = player_file(tmp_path, "@spelrum.player()\ndef bad(state):\n    return {}['missing']\n")
    with pytest.warns(UserWarning, match="KeyError: 'missing'"):
        experiment = spelrum.run(
            sweep(axes={}, players={**players, "random": {"algorithm": "random"}}), db=tmp_path / "first.db"
        )
    assert experiment.results.rows()[0]["score"] == 0.0


def test_a_built_in_player_that_loses_on_time_is_warned_of(program: str, tmp_path: Path) -> None:
    hasty = {"algorithm": "genetic-minimax", "depth": 4, "clock": "1us", "margin": "1us"}
    with pytest.warns(UserWarning, match="hasty lost .* games by time_forfeit: it exceeded its clock") as caught:
        spelrum.run(
            sweep(game="pentago", axes={}, players={"hasty": hasty, "random": {"algorithm": "random"}}),
            db=tmp_path / "first.db",
        )
    assert not any("None" in str(warning.message) for warning in caught)


def test_a_cause_is_shown_once(program: str, tmp_path: Path) -> None:
    source = "@spelrum.player()\ndef bad(state):\n    print('a print')\n    return {}['missing']\n"
    players = player_file(tmp_path, source)
    with pytest.warns(UserWarning) as caught:
        experiment = spelrum.run(
            sweep(axes={}, players={**players, "random": {"algorithm": "random"}}),
            db=tmp_path / "first.db",
            engine_logs=tmp_path / "logs",
        )
    first, last = [str(warning.message) for warning in caught]
    assert first == "bad loses games: KeyError: 'missing'"
    assert last.startswith("bad lost 20 games by crash") and "Traceback (most recent call last):\n  File" in last
    assert 'sql("SELECT * FROM forfeited")' in last and {warning.filename for warning in caught} == {__file__}
    # What it printed is with each lost game, and in the logs.
    outputs = experiment.results.sql("SELECT output FROM forfeited").rows()
    assert len(outputs) == 20 and all("! a print" in row["output"] for row in outputs)
    assert any("! a print" in file.read_text() for file in (tmp_path / "logs").iterdir())


def test_warnings_come_at_once(program: str, tmp_path: Path) -> None:
    source = "import time\n@spelrum.player()\ndef bad(state):\n    time.sleep(0.3)\n    return 1 / 0\n"
    players = player_file(tmp_path, source)
    with pytest.warns(UserWarning, match="bad loses games: ZeroDivisionError") as caught:
        counts: list[int] = []
        spelrum.run(
            sweep(axes={}, games=10, players={**players, "random": {"algorithm": "random"}}),
            db=tmp_path / "first.db",
            slots=1,
            progress=lambda now: counts.append(len(caught)),
        )
    assert 1 in counts


def test_messages_are_told_apart(tmp_path: Path) -> None:
    from spelrum.runner import _Messages

    file = tmp_path / "messages"
    with file.open("wb+") as stream:
        messages = _Messages(stream.fileno())
        with pytest.warns(UserWarning) as caught:
            for number in range(3):
                stream.write(f"2026-11-30T02:50:25.855686Z  WARN failed cell=2 number={number} mine: a ⏎ b\n".encode())
                stream.write(b"two\nlines\nhalf")
                stream.flush()
                messages.pass_on()
                stream.write(b"\n")
            stream.write(b"error: it is wrong\nhelp: mend it\n")
            stream.flush()
            messages.pass_on()
    texts = [str(warning.message) for warning in caught]
    assert texts[:3] == ["failed cell=2 number=0 mine: a\nb", "two\nlines", "half\ntwo\nlines"] and texts[3:] == ["half"]
    assert messages.error() == "error: it is wrong\nhelp: mend it"


def test_options_have_the_defaults_that_a_player_declares(program: str, tmp_path: Path) -> None:
    source = '''
        @spelrum.player(options={"skill": {"min": 1, "max": 9, "default": 4}, "style": {"values": ["a", "b"]}})
        def mine(state):
            return spelrum.Move(state.legal[0], note=f"{state.options['skill']} {state.options['style']}")
        '''
    players = player_file(tmp_path, source)
    db = tmp_path / "first.db"
    entry = {"player": players["mine"], "options": {"style": "$style"}}
    experiment = spelrum.run(
        sweep(axes={"style": ["a", "b"]}, games=2, players={"mine": entry, "r": {"algorithm": "random"}}), db=db
    )
    notes = experiment.sql("SELECT DISTINCT note FROM move_notes ORDER BY note").rows()
    assert notes == [{"note": "4 a"}, {"note": "4 b"}]


def test_rows_are_printed_as_a_table(program: str, tmp_path: Path) -> None:
    experiment = spelrum.run(sweep(), db=tmp_path / "first.db")
    assert str(experiment.sql("SELECT 'a' AS name, 1 AS n UNION ALL SELECT 'b ' || char(10) || 'c', 200")) == (
        "name    n\na       1\nb c   200"
    )
    assert str(experiment.sql("SELECT 1 AS x WHERE 0")) == "x"
    lines = str(experiment.sql(f"SELECT game_id, '{'y' * 100}' AS y FROM games UNION ALL SELECT game_id + 100, '' FROM games"))
    assert lines.endswith("\n… and 30 more") and max(map(len, lines.splitlines())) == len("game_id") + 2 + 60
    assert repr(experiment.sql("SELECT 1")) == "<Rows of 'SELECT 1'>"


def test_a_killed_program_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = tmp_path / "spelrum"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    monkeypatch.setenv("SPELRUM", str(killed))
    with pytest.raises(spelrum.Error, match="`spelrum run` was killed by signal 9, perhaps for lack of memory; run") as caught:
        spelrum.run(sweep(), db=tmp_path / "first.db")
    assert caught.value.exit_code == -9


@pytest.mark.parametrize("body", ["return 7", "return 'z9'", "raise SystemExit(3)", "import os; os._exit(4)"])
def test_hostile_players_lose_and_no_more(program: str, tmp_path: Path, body: str) -> None:
    players = player_file(tmp_path, f"@spelrum.player()\ndef bad(state):\n    {body}\n")
    with pytest.warns(UserWarning, match="bad lost 4 games by"):
        experiment = spelrum.run(
            sweep(axes={}, games=4, players={**players, "random": {"algorithm": "random"}}), db=tmp_path / "first.db"
        )
    assert experiment.results.rows()[0]["score"] == 0.0


def test_a_batch_of_the_wrong_length_loses(program: str, tmp_path: Path) -> None:
    source = "@spelrum.player()\nclass Bad:\n    def choose_batch(self, states): return ['a1'] * (len(states) + 1)\n"
    players = player_file(tmp_path, source)
    with pytest.warns(UserWarning, match="choose_batch of Bad returned"):
        spelrum.run(sweep(axes={}, games=4, players={**players, "random": {"algorithm": "random"}}), db=tmp_path / "a.db")


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_the_player_of_a_page_plays(program: str, tmp_path: Path, page: str) -> None:
    text = (SOURCE.parent.parent / page).read_text()
    code = text.split("```python\n")[1].split("```")[0].replace('"games": 100', '"games": 4')
    # The frames of other libraries are tested above.
    code = "\n".join(line for line in code.splitlines() if ".df()" not in line)
    (tmp_path / "page.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "SPELRUM": program}
    subprocess.run([sys.executable, "page.py"], cwd=tmp_path, env=environment, check=True)
    (results,) = tmp_path.glob("*.db")
    counted = spelrum.load(results).sql("SELECT count(*) AS games, count(DISTINCT cell_id) AS cells FROM games WHERE counted = 1")
    assert counted.rows()[0]["games"] == 4 * counted.rows()[0]["cells"]
