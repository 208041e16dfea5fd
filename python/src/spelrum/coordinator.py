"""A coordinator's experiments, over its JSON API (docs/api.md)."""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Union, cast
from urllib.parse import quote, urlencode

import spelrum
from spelrum import players, toml
from spelrum.errors import Error
from spelrum.experiment import Row, Rows, results_statement
from spelrum.runner import Progress, _read, with_engines
from spelrum.sources import Engine

# The most seconds that an answer may stay silent, and that a coordinator may be away.
_SILENCE = 330.0
_AWAY = 60.0
# The same at the first contact, when the address may be wrong.
_FIRST_SILENCE = 20.0
_FIRST_AWAY = 3.0
# Seconds away until a notice.
_NOTICE = 3.0


class Coordinator:
    """A coordinator that :func:`connect` reached."""

    def __init__(self, url: str, token: Optional[str], ca: Optional[Union[str, Path]]) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._ca = ca
        handlers: list[Any] = [urllib.request.ProxyHandler({})]
        if self.url.startswith("https:"):
            import ssl

            try:
                context = ssl.create_default_context(cafile=None if ca is None else str(Path(ca).expanduser()))
            except OSError as error:
                # OpenSSL's own message does not name the file.
                reason = "it has no certificates in PEM" if isinstance(error, ssl.SSLError) else error.strerror
                raise Error(
                    f"cannot read the CA certificates {ca}: {reason}; give the file `ca.pem` that `spelrum certificate "
                    f"create` wrote for the coordinator (the argument `ca`, or the environment variable SPELRUM_CA)"
                ) from None
            handlers.append(urllib.request.HTTPSHandler(context=context))
        self._is_known = False
        self._opener = urllib.request.build_opener(*handlers)

    def submit(
        self, sweep: Union[Mapping[str, Any], str, Path], *, files: Optional[Mapping[str, str]] = None, new: bool = False
    ) -> RemoteExperiment:
        """Submits a sweep; one that is there already continues.

        Players of Python become external engines of their names, which the workers' engines files
        must have (``command = "python3"``, ``args = ["-m", "spelrum", "mine.py"]``).

        Args:
            sweep: a table, a file's path, or the text of a sweep, as for :func:`spelrum.run`.
            files: texts of the files that the sweep names, by their names there.
            new: begin a new experiment even if there is one of this name.

        Raises:
            Error: if the sweep is wrong, or the coordinator refuses it or is not reached.
        """
        table, text, file = _read(sweep)
        if table is not None:
            engines: dict[str, Engine] = {}
            text = toml.dumps(with_engines(table, engines))
        answer = self.call(
            "POST",
            "/experiments",
            # Made here, so that a repeated call submits once.
            {
                "experiment_uuid": str(uuid.uuid4()),
                "sweep_toml": text,
                "file_name": file.name if file else "sweep.toml",
                "files": dict(files or {}),
                "new_experiment": new,
            },
        )
        return RemoteExperiment(self, answer["experiment_uuid"], answer["name"])

    def experiment(self, name: str) -> RemoteExperiment:
        """The experiment of this name or UUID.

        Raises:
            Error: if there is none, or the coordinator is not reached.
        """
        answer = self.call("GET", f"/experiments/{quote(name, safe='')}")
        return RemoteExperiment(self, answer["uuid"], answer["name"])

    def status(self) -> dict[str, Any]:
        """Experiments, workers, and what needs attention.

        Raises:
            Error: if the coordinator is not reached.
        """
        return self.call("GET", "/status")

    def sql(self, statement: str) -> Rows:
        """A statement on the coordinator's database that only reads; at most 30 s of its time."""
        return Rows(statement, self._fetch)

    def call(
        self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, query: Optional[Mapping[str, Any]] = None
    ) -> dict[str, Any]:
        """A call of the API; ``path`` is what follows ``/api/v1``.

        Raises:
            Error: if it fails, with the coordinator's own words. Calls that a moment may mend are repeated before.
        """
        answer: dict[str, Any] = json.loads(self._send(method, path, body, query))
        return answer

    def _fetch(self, statement: str) -> tuple[list[str], list[Row]]:
        text = self._send("POST", "/sql", {"sql": statement, "rows_max": 0}, None)
        lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or "columns" not in lines[0] or not isinstance(lines[-1], dict):
            raise Error(f"the answer of {self.url} to the query broke off")
        if "problem" in lines[-1]:
            problem = lines[-1]["problem"]
            raise Error(problem.get("detail", str(problem)) if isinstance(problem, dict) else str(problem))
        columns = lines[0]["columns"]
        return columns, [dict(zip(columns, map(_plain, row))) for row in lines[1:-1]]

    def _send(
        self, method: str, path: str, body: Optional[Mapping[str, Any]], query: Optional[Mapping[str, Any]]
    ) -> str:
        url = f"{self.url}/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"accept": "application/json"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        silence = _SILENCE if self._is_known else _FIRST_SILENCE
        began = time.monotonic()
        is_told = False
        pause = 0.2
        while True:
            away = _AWAY
            try:
                with cast(HTTPResponse, self._opener.open(request, timeout=silence)) as response:
                    text = response.read().decode("utf-8")
                self._is_known = True
                return text
            except urllib.error.HTTPError as answer:
                with answer:
                    error, wait = _problem(answer)
            except (urllib.error.URLError, HTTPException, OSError) as lost:
                reason = getattr(lost, "reason", lost)
                message = f"cannot reach the coordinator at {self.url}: {getattr(reason, 'strerror', None) or reason}"
                wait = pause
                if type(reason).__name__ == "SSLCertVerificationError":
                    message += "; give its CA certificates (the argument `ca`, or the environment variable SPELRUM_CA)"
                elif not self._is_known:
                    if isinstance(reason, (ConnectionRefusedError, TimeoutError)):
                        message += "; is it running there? To start one: spelrum coordinator --db results.db"
                    away = _FIRST_AWAY
                elif not is_told and time.monotonic() - began > _NOTICE:
                    print(f"{message}; trying again for up to {_AWAY:.0f} s", file=sys.stderr, flush=True)
                    is_told = True
                error = Error(message)
                if type(reason).__name__ in ("SSLCertVerificationError", "gaierror") or isinstance(reason, str):
                    wait = None
            if wait is None or time.monotonic() + wait > began + away:
                raise error
            time.sleep(wait)
            pause = min(2 * pause, 5.0)

    def __repr__(self) -> str:
        return f"<Coordinator at {self.url}>"


class RemoteExperiment:
    """An experiment of a coordinator."""

    def __init__(self, coordinator: Coordinator, uuid: str, name: str) -> None:
        self.coordinator = coordinator
        self.uuid = uuid
        """The experiment's UUID."""
        self.name = name
        """The experiment's name."""

    def progress(self) -> dict[str, Any]:
        """How far it is: ``state``, ``games_planned``, ``games_settled``, ``games_failed`` and more.

        Raises:
            Error: as all methods here, if the coordinator refuses the call or is not reached.
        """
        return self._call("GET", "progress")

    def wait(
        self, *, seconds: float = 1.0, timeout: Optional[float] = None, progress: Optional[Callable[[Progress], None]] = None
    ) -> str:
        """Waits until no game is left to play, and returns the state: ``finished``, ``cancelled`` or ``paused``.

        Args:
            seconds: how often it looks.
            timeout: the most seconds to wait; None: no limit.
            progress: a function that gets the progress at each look.

        Raises:
            TimeoutError: if the time is over; the experiment goes on.
        """
        began = time.monotonic()
        while True:
            now = self.progress()
            passed = time.monotonic() - began
            if progress is not None:
                progress(Progress(self.name, now["games_settled"], now["games_planned"], now["games_failed"], passed))
            if now["state"] != "running":
                return str(now["state"])
            if timeout is not None and passed >= timeout:
                raise TimeoutError(f"{self.name} is still running after {passed:.0f} s")
            time.sleep(seconds)

    @property
    def results(self) -> Rows:
        """A row for each cell: axes, players, games, score and its 95% interval."""
        return self.sql(results_statement(self.uuid, self.sql))

    def sql(self, statement: str) -> Rows:
        """A statement on the coordinator's database that only reads; at most 30 s of its time."""
        return self.coordinator.sql(statement)

    def report(self) -> dict[str, Any]:
        """The figures of its report."""
        return self._call("GET", "report")

    def games(self) -> list[dict[str, Any]]:
        """Each counted game with its moves, as the API has whole games.

        Raises:
            Error: if not all games could be read.
        """
        text = self.coordinator._send("GET", f"/experiments/{self.uuid}/games.jsonl", None, {"moves": "true"})
        games: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines() if line.strip()]
        if games and set(games[-1]) == {"problem"}:
            raise Error(f"not all games could be read: {games[-1]['problem']}")
        return games

    def pause(self) -> None:
        """Hands out no more of its games until it is resumed."""
        self._call("POST", "steer", {"action": "pause"})

    def resume(self) -> None:
        """Hands out its games again."""
        self._call("POST", "steer", {"action": "resume"})

    def cancel(self) -> None:
        """Ends it permanently; counted games stay."""
        self._call("POST", "steer", {"action": "cancel"})

    def _call(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> dict[str, Any]:
        return self.coordinator.call(method, f"/experiments/{self.uuid}/{path}", body)

    def __repr__(self) -> str:
        return f"<RemoteExperiment {self.name} at {self.coordinator.url}>"


def connect(
    url: Optional[str] = None, token: Optional[str] = None, ca: Optional[Union[str, Path]] = None
) -> Coordinator:
    """A coordinator, after a first call that shows that it answers.

    Args:
        url: such as ``https://lab:7878``; else the environment variable ``SPELRUM_COORDINATOR``.
        token: else ``SPELRUM_TOKEN``, or none.
        ca: a file of CA certificates (PEM) to verify it with; else ``SPELRUM_CA``, or those of this system.

    Raises:
        Error: if it is not reached within seconds, cannot be verified, refuses the token, or is not a coordinator.
    """
    players.stop_loading()
    url = url or os.environ.get("SPELRUM_COORDINATOR")
    if not url or "://" not in url:
        raise Error(f"give the coordinator's URL, such as http://127.0.0.1:7878, not {url!r}")
    coordinator = Coordinator(url, token or os.environ.get("SPELRUM_TOKEN"), ca or os.environ.get("SPELRUM_CA"))
    try:
        coordinator.status()
    except ValueError:
        raise Error(f"the server at {url} is not a Spelrum coordinator") from None
    return coordinator


def _problem(answer: urllib.error.HTTPError) -> tuple[Error, Optional[float]]:
    """The error of an answer, and after how many seconds a repeated call may help."""
    text = answer.read().decode("utf-8", "replace")
    try:
        problem = json.loads(text)
        kind = str(problem["type"]).rpartition(":")[2]
        parts = [problem.get("detail") or problem.get("title"), problem.get("remedy")]
    except (ValueError, KeyError, TypeError):
        return Error(f"the server answered {answer.code}: {text[:200]}"), None
    place = (problem.get("place") or {}).get("line")
    message = (f"line {place}: " if place else "") + "; ".join(part for part in parts if part)
    version = answer.headers.get("spelrum-version")
    if version and version.split()[0] != spelrum.__version__:
        message += f" (the coordinator is Spelrum {version}, this package {spelrum.__version__})"
    retry = problem.get("retry_after_ms")
    return Error(message, None, kind), None if retry is None else retry / 1000


def _plain(value: Any) -> Any:
    """A value of an answer to SQL, as Python has it."""
    if isinstance(value, dict):
        if "blob" in value:
            return value["blob"]
        return float(value["real"])
    return value
