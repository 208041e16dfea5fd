"""A coordinator: a real one with a worker, and one that fails, written here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import SOURCE
from test_run import sweep

import spelrum
from spelrum import binary
from spelrum import coordinator as module

TOKEN = "spelrum_token_of_tests_0123456789abcdef"


@pytest.fixture
def alone(program: str, tmp_path: Path) -> Iterator[str]:
    """A coordinator with a token, and no worker."""
    command = [program, "coordinator", "--db", str(tmp_path / "all.db"), "--listen", "127.0.0.1:0"]
    child = subprocess.Popen(
        command,
        env={**os.environ, "SPELRUM_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    line = child.stdout.readline()
    yield "http://127.0.0.1:" + line.strip().rpartition(":")[2].strip("/")
    child.terminate()
    child.wait(20)


@pytest.fixture
def url(program: str, alone: str) -> Iterator[str]:
    """A coordinator with a token, and a worker."""
    worker = subprocess.Popen(
        [program, "worker", "--coordinator", alone, "--slots", "1"],
        env={**os.environ, "SPELRUM_TOKEN": TOKEN},
        stderr=subprocess.DEVNULL,
    )
    yield alone
    worker.terminate()
    worker.wait(20)


def test_a_sweep_on_a_coordinator(url: str) -> None:
    lab = spelrum.connect(url, token=TOKEN)
    experiment = lab.submit(sweep())
    seen: list[spelrum.Progress] = []
    assert experiment.wait(seconds=0.1, timeout=60, progress=seen.append) == "finished"
    assert seen[-1][:4] == ("first", 40, 40, 0)
    assert [(row["depth"], row["games"]) for row in experiment.results.rows()] == [(1, 20), (2, 20)]
    assert experiment.sql("SELECT 1e999 AS a, x'00ff' AS b, NULL AS c, 'é' AS d WHERE 1").rows() == [
        {"a": float("inf"), "b": "00ff", "c": None, "d": "é"}
    ]
    assert experiment.sql("SELECT 1 AS a WHERE 0").rows() == []
    assert len(experiment.report()["cells"]) == 2
    games = experiment.games()
    assert len(games) == 40 and games[0]["game"]["moves"]
    assert lab.submit(sweep()).uuid == experiment.uuid == lab.experiment("first").uuid
    assert lab.status()["experiments"][0]["name"] == "first"

    long = lab.submit(sweep(name="long", games=200_000))
    with pytest.raises(TimeoutError, match="long is still running"):
        long.wait(seconds=0.05, timeout=0.1)
    long.pause()
    assert long.wait() == "paused"
    long.resume()
    long.cancel()
    assert long.wait() == "cancelled"

    with pytest.raises(spelrum.Error, match="no experiment") as caught:
        lab.experiment("none/of these")
    assert caught.value.problem == "unknown-experiment"
    with pytest.raises(spelrum.Error, match="tic-tac-to") as caught:
        lab.submit(sweep(game="tic-tac-to"))
    assert caught.value.problem == "bad-sweep"
    with pytest.raises(spelrum.Error) as caught:
        lab.sql("SELEC").rows()
    assert caught.value.problem == "bad-query"
    with pytest.raises(spelrum.Error) as caught:
        spelrum.connect(url, token="wrong")
    assert caught.value.problem == "bad-token"


WORKER = f"""
import time
import spelrum

@spelrum.player("connect-four")
def mine(state):
    time.sleep(0.01)
    return state.random.choice(state.legal)

lab = spelrum.connect(token={TOKEN!r})
spelrum.worker([mine], lab, slots=2, name="notebook")
print("returned")
"""


@pytest.mark.parametrize("presses", [1, 2])
def test_a_worker_offers_players_until_ctrl_c(alone: str, tmp_path: Path, presses: int) -> None:
    (tmp_path / "mine.py").write_text(WORKER)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "SPELRUM_COORDINATOR": alone, "SPELRUM": binary.path()}
    child = subprocess.Popen(
        [sys.executable, "mine.py"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    lab = spelrum.connect(alone, token=TOKEN)
    mine = {"algorithm": "lines", "engine": "mine", "reproducible": True}
    experiment = lab.submit(
        {"name": "long", "game": "connect-four", "games": 10_000, "players": {"mine": mine, "ab": {"algorithm": "random"}}}
    )
    while experiment.progress()["games_settled"] < 4:
        assert child.poll() is None
        time.sleep(0.1)
    for _ in range(presses):
        child.send_signal(signal.SIGINT)
        time.sleep(0.05)
    output, messages = child.communicate(timeout=60)
    if presses == 1:
        assert (child.returncode, output) == (0, b"returned\n"), messages
        assert b"ending" in messages
    else:
        assert output == b"" and messages.endswith(b"KeyboardInterrupt\n")
    rows = experiment.sql("SELECT DISTINCT w.name FROM games JOIN workers AS w USING (worker_id)").rows()
    assert rows == [{"name": "notebook"}]
    done = subprocess.run(["ps", "-wweo", "args"], capture_output=True, text=True, check=False)
    assert f"{tmp_path}/worker.spelrum" not in done.stdout
    # What it had not played is free at once for another.
    assert lab.status()["experiments"][0]["state"] == "running"


def test_what_is_wrong_with_a_worker(alone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mine = spelrum.player("nim", name="mine")(len)
    with pytest.raises(spelrum.Error, match="is not a player"):
        spelrum.worker([len])  # type: ignore[list-item]
    with pytest.raises(spelrum.Error, match="two engines are named `mine`"):
        spelrum.worker([mine], engines={"mine": spelrum.Program("x")})
    with pytest.raises(spelrum.Error, match="token"):
        spelrum.worker(coordinator=alone, token="spelrum_another_token_of_tests_0123456789")
    with pytest.raises(spelrum.Error, match="URL"):
        spelrum.worker(coordinator="nonsense://")
    with pytest.raises(spelrum.Error, match="unexpected argument"):
        spelrum.worker(coordinator=alone, arguments=["--nonsense"])
    assert not (tmp_path / "worker.spelrum").exists()
    # Nothing to play: it returns.
    spelrum.worker(coordinator=alone, token=TOKEN, exit_when_done=True)


class Failing(BaseHTTPRequestHandler):
    """Answers what ``script`` says, one after the other."""

    script: list[tuple[int, bytes]] = []
    bodies: list[Any] = []

    def do_GET(self) -> None:
        length = int(self.headers.get("content-length", 0))
        self.bodies.append(json.loads(self.rfile.read(length) or b"null"))
        status, answer = self.script.pop(0)
        if status == 0:
            return  # The connection ends without an answer.
        self.send_response(status)
        self.send_header("content-length", str(len(answer) + (9 if status == 201 else 0)))
        self.send_header("spelrum-version", "0.0.9")
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def failing() -> Iterator[tuple[str, type[Failing]]]:
    Failing.script, Failing.bodies = [], []
    server = HTTPServer(("127.0.0.1", 0), Failing)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", Failing
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_coordinator_that_is_away_for_a_moment(failing: tuple[str, type[Failing]]) -> None:
    url, server = failing
    busy = b'{"type":"urn:spelrum:problem:busy","title":"busy","detail":"later","retry_after_ms":10}'
    # Without an answer, busy, and an answer that breaks off.
    server.script = [(200, b"{}"), (0, b""), (503, busy), (201, b"{}"), (200, b'{"experiment_uuid":"u","name":"n"}')]
    lab = spelrum.connect(url)
    assert lab.submit("name = 'n'\n").uuid == "u"
    # The same UUID each time: it is submitted once.
    assert len({body["experiment_uuid"] for body in server.bodies[1:]}) == 1 and len(server.bodies) == 5


def test_what_stays_wrong_is_said(failing: tuple[str, type[Failing]], monkeypatch: pytest.MonkeyPatch) -> None:
    url, server = failing
    server.script = [(200, b"<html>")]
    with pytest.raises(spelrum.Error, match="not a Spelrum coordinator"):
        spelrum.connect(url)
    server.script = [(404, b"<html>")]
    with pytest.raises(spelrum.Error, match="the server answered 404: <html>"):
        spelrum.connect(url)
    problem = b'{"type":"urn:spelrum:problem:bad-sweep","title":"t","detail":"d","remedy":"r","place":{"line":3}}'
    server.script = [(422, problem)]
    with pytest.raises(spelrum.Error, match=r"line 3: d; r \(the coordinator is Spelrum 0.0.9, this package"):
        spelrum.connect(url)
    server.script = [(200, b"{}"), (200, b'{"columns":["a"]}\n[1]\n'), (200, b'{"columns":["a"]}\n{"problem":{"detail":"x"}}\n')]
    lab = spelrum.connect(url)
    with pytest.raises(spelrum.Error, match="broke off"):
        lab.sql("SELECT 1").rows()
    with pytest.raises(spelrum.Error, match="x"):
        lab.sql("SELECT 1").rows()
    monkeypatch.setattr(module, "_FIRST_AWAY", 0.5)
    began = time.monotonic()
    with pytest.raises(spelrum.Error, match="cannot reach the coordinator at http://127.0.0.1:9"):
        spelrum.connect("http://127.0.0.1:9")
    assert time.monotonic() - began >= 0.2
    with pytest.raises(spelrum.Error, match="give the coordinator's URL"):
        spelrum.connect("lab:7878")


def test_a_first_contact_fails_soon() -> None:
    began = time.monotonic()
    with pytest.raises(spelrum.Error, match="Connection refused; is it running there.*spelrum coordinator"):
        spelrum.connect("http://127.0.0.1:9")
    assert time.monotonic() - began < 10


def test_a_coordinator_that_goes_away_is_told_of_and_awaited(
    failing: tuple[str, type[Failing]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url, server = failing
    monkeypatch.setattr(module, "_FIRST_AWAY", 0.0)
    monkeypatch.setattr(module, "_NOTICE", 0.3)
    server.script = [(200, b"{}"), (0, b""), (0, b""), (0, b""), (200, b"{}")]
    assert spelrum.connect(url).status() == {}
    assert capsys.readouterr().err.count("trying again for up to 60 s") == 1


def test_certificates_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "not.pem").write_text("nothing")
    for name, reason in [("missing.pem", "No such file"), ("not.pem", "it has no certificates"), ("", "Is a directory")]:
        with pytest.raises(spelrum.Error, match=f"{name}: {reason}.*spelrum certificate create"):
            spelrum.connect("https://127.0.0.1:9", ca=tmp_path / name)


def test_a_certificate_that_is_not_trusted(program: str, tmp_path: Path) -> None:
    subprocess.run([program, "certificate", "create", "127.0.0.1"], cwd=tmp_path, capture_output=True, check=True)
    files = ["--tls-cert", "coordinator.pem", "--tls-key", "coordinator.key"]
    command = [program, "coordinator", "--db", "all.db", "--listen", "127.0.0.1:0", *files]
    environment = {**os.environ, "SPELRUM_TOKEN": TOKEN}
    child = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert child.stdout is not None
    url = "https://127.0.0.1:" + child.stdout.readline().strip().rpartition(":")[2].strip("/")
    try:
        with pytest.raises(spelrum.Error, match="certificate verify failed.*; give its CA certificates"):
            spelrum.connect(url, token=TOKEN)
        assert spelrum.connect(url, token=TOKEN, ca=tmp_path / "ca.pem").status()["experiments"] == []
    finally:
        child.terminate()
        child.communicate(timeout=20)
