"""Running sweeps on this machine."""

from __future__ import annotations

import difflib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence, Union

from spelrum import binary, toml
from spelrum.errors import Error
from spelrum.experiment import Experiment
from spelrum.players import GAMES, Player, Program, stop_loading
from spelrum.sources import Engine, engine_table

if TYPE_CHECKING:
    from spelrum.coordinator import Coordinator

Sweep = Union[Mapping[str, Any], str, Path]
"""A sweep: a table, a file, or (with a line break) the text of one."""

# The exit code of a finished sweep with failed games, and of a paused one.
_SOME_FAILED = 7
# Between two looks at the progress, in seconds.
_LOOK = 1.0
_ENGINES_FILE = "engines.toml"
# Tables of a sweep that set options of players.
_CHOOSING = {"find", "tune", "evolve"}
# A line of the program's log, and the one for a forfeited game.
_LOGGED = re.compile(r"\d\S+Z +(?:WARN|ERROR) +(.*)")
_FORFEIT = re.compile(r'a game was lost by forfeit number=\d+ engine="(.*?)" (.*)')
_LINE_END = " ⏎ "
# What is kept of a worker's log for its error, in bytes.
_LOG_MAX = 16_000


class Progress(NamedTuple):
    """How far an experiment is."""

    name: str
    """Its name."""
    games_settled: int
    """Games with a result, and games that finally failed."""
    games_planned: int
    """Games that it will have."""
    games_failed: int
    """Games that finally failed."""
    seconds: float
    """Time since the call of :func:`run`, in seconds."""


def run(
    sweep: Sweep,
    *,
    db: Optional[Union[str, Path]] = None,
    slots: Optional[int] = None,
    engines: Union[None, str, Path, Mapping[str, Engine]] = None,
    engine_logs: Union[None, str, Path] = None,
    progress: Union[bool, Callable[[Progress], None]] = True,
    new: bool = False,
    drop: bool = False,
    arguments: Sequence[str] = (),
) -> Experiment:
    """Plays a sweep on this machine, and returns its results. Run again, it resumes.

    A sweep that is a table has the keys of docs/sweeps.md. There a player may also be a
    :class:`Player`, a :class:`Program`, or a table that has either as ``player`` beside limits and
    options: ``{"player": mine, "move_time": "10ms"}``. What is written for them (the sweep, the
    engines file, source of a notebook's players) is kept in a folder beside the database, named
    after it. Ctrl-C lets the games under way end, a second one ends at once; finished games are kept.
    The program's warnings come as ``UserWarning``, each once and as soon as it prints it.

    Args:
        sweep: a table, a file's path, or the text of a sweep.
        db: the results database; else the sweep's name with ``.db`` in the current folder.
        slots: how many games to play at once; else as many as there are cores.
        engines: external engines by the names that the sweep has for them, or an engines file.
        engine_logs: a folder for all that engines and players of Python are sent, answer and print: a
            file for each process, and in it lines that begin with ``!`` for what it prints.
        progress: whether to show it, or a function that gets it about once a second.
        new: begin a new experiment even if the database has one of this name.
        drop: accept that cells which the sweep no longer has leave the reports.
        arguments: other arguments for ``spelrum run``, such as ``["--memory", "4GiB"]``.

    Raises:
        Error: if the sweep is wrong, or the program fails; with its message.
        KeyboardInterrupt: after Ctrl-C, once the program has ended.
    """
    stop_loading()
    table, text, file = _read(sweep)
    database = Path(db if db is not None else _name(table, text, file) + ".db").expanduser().absolute()
    named: dict[str, Engine] = dict(engines) if isinstance(engines, Mapping) else {}
    if table is not None:
        text = toml.dumps(with_engines(table, named))
    folder = database.with_suffix(".spelrum")
    engines_file = None if engines is None or isinstance(engines, Mapping) else Path(engines).absolute()
    if named and engines_file is not None:
        raise Error("give the engines of that file by a table too: a run has one engines file")
    if named or file is None:
        folder.mkdir(parents=True, exist_ok=True)
    written = []
    if named:
        engines_file = _write_engines(named, folder)
        written.append(engines_file)
    if file is None:
        file = folder / "sweep.toml"
        file.write_text(text, encoding="utf-8")
        written += [file] if table is not None else []

    command = ["run", str(file), "--db", str(database), "--json", "--quiet"]
    command += ["--slots", str(slots)] if slots is not None else []
    command += ["--engines", str(engines_file)] if engines_file is not None else []
    command += ["--engine-logs", str(Path(engine_logs).expanduser())] if engine_logs is not None else []
    command += ["--new"] if new else []
    command += ["--yes"] if drop else []
    shown = _shown(progress)
    name = _name(table, text, file)
    interrupted = False
    try:
        output, message, code = _play([*command, *arguments], database, name, shown)
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        if isinstance(shown, _Line):
            shown.close()
        if interrupted:
            _say_what_is_kept(database, name)
    try:
        report = json.loads(output)
    except ValueError:
        report = None
    if report is None or code not in (0, _SOME_FAILED):
        raise binary.error(_of_python(message.rstrip(), written), code, command)
    experiment = Experiment(database, report["experiment_uuid"], report["experiment"])
    _warn_of_crashes(experiment)
    return experiment


def with_engines(sweep: Mapping[str, Any], engines: dict[str, Engine]) -> dict[str, Any]:
    """The sweep with players of Python as external engines, which are added to ``engines``.

    Raises:
        Error: if two engines have the same name, a player does not play the sweep's game, or its options
            are not those that it declares.
    """
    game = sweep.get("game")
    game = game.get("name") if isinstance(game, Mapping) else game
    described: dict[str, Any] = {}
    for name, entry in (sweep.get("players") or {}).items():
        settings = dict(entry) if isinstance(entry, Mapping) else {}
        engine = settings.pop("player", None) if settings else entry
        if engine is None:
            described[name] = entry
            continue
        if not isinstance(engine, (Player, Program)):
            raise Error(
                f"player `{name}` is {engine!r:.100}: give a table, a function under @spelrum.player(), "
                f"or a spelrum.Program"
            )
        engine_name = engine.name if isinstance(engine, Player) else name
        _add(engines, engine_name, engine)
        # Another text may be an axis.
        if isinstance(engine, Player) and engine.games and game in GAMES and game not in engine.games:
            raise Error(f"player `{name}`: {engine.refusal(game)}")
        if isinstance(engine, Player):
            _check_options(name, engine, settings.get("options") or {}, is_all=not _CHOOSING & sweep.keys())
        protocol = "lines" if isinstance(engine, Player) else engine.protocol
        described[name] = {"algorithm": protocol, "engine": engine_name, **settings}
    return {**sweep, "players": described}


def _check_options(name: str, player: Player, options: Any, is_all: bool) -> None:
    """Compares a sweep's options with those that a player declares; other types are the program's to refuse."""
    if not isinstance(options, Mapping) or not isinstance(player.options, (Mapping, type(None))):
        return
    declared = {str(option).lower(): str(option) for option in player.options or {}}
    given = {str(option).lower() for option in options}
    for option in options:
        if str(option).lower() not in declared:
            near = difflib.get_close_matches(str(option).lower(), declared, 1)
            remedy = f"did you mean `{declared[near[0]]}`? " if near else ""
            raise Error(
                f"player `{name}`: {player.name} declares no option `{option}`; {remedy}remove it from the sweep, or "
                f'declare it: @spelrum.player(options={{"{option}": {{"min": 1, "max": 9}}}})'
            )
    for option in player.required if is_all else []:
        if option.lower() not in given:
            raise Error(f"player `{name}`: {player.without(option)}")


def worker(
    players: Iterable[Player] = (),
    coordinator: Union[None, str, Coordinator] = None,
    *,
    token: Optional[str] = None,
    ca: Optional[Union[str, Path]] = None,
    slots: Optional[int] = None,
    name: Optional[str] = None,
    engines: Optional[Mapping[str, Engine]] = None,
    engine_logs: Union[None, str, Path] = None,
    exit_when_done: bool = False,
    folder: Union[str, Path] = "worker.spelrum",
    arguments: Sequence[str] = (),
) -> None:
    """Plays games for a coordinator on this machine, and offers it players of Python, until Ctrl-C.

    Ctrl-C lets the games under way end, hands back the rest and returns; a second one ends at once. Sweeps
    name the players as :meth:`spelrum.Coordinator.submit` does: ``algorithm = "lines"``, ``engine = "mine"``.

    Args:
        players: players that this machine can play beside those of the program.
        coordinator: its URL, or what :func:`spelrum.connect` returned; else the environment variable
            ``SPELRUM_COORDINATOR``.
        token: else that of the connection, or ``SPELRUM_TOKEN``.
        ca: a file of CA certificates (PEM), as for :func:`spelrum.connect`.
        slots: how many games to play at once; else as many as there are cores.
        name: the worker's name in results; else the host's.
        engines: other external engines by the names that sweeps have for them.
        engine_logs: a folder for all that players are sent, answer and print, as for :func:`run`.
        exit_when_done: whether to return when there is nothing left to play.
        folder: where the engines file and the source of a notebook's players are written.
        arguments: other arguments for ``spelrum worker``, such as ``["--label", "gpu"]``.

    Raises:
        Error: if two engines have one name, or the program fails; with its message.
        KeyboardInterrupt: after a second Ctrl-C, once the program has ended.
    """
    stop_loading()
    named: dict[str, Engine] = dict(engines or {})
    for player in players:
        if not isinstance(player, Player):
            raise Error(f"{player!r:.100} is not a player: put @spelrum.player() above it, or name it in `engines`")
        _add(named, player.name, player)
    environment = dict(os.environ)
    if coordinator is not None and not isinstance(coordinator, str):
        token, ca = token or coordinator._token, ca or coordinator._ca
        coordinator = coordinator.url
    for variable, value in (("SPELRUM_TOKEN", token), ("SPELRUM_CA", ca)):
        if value is not None:
            environment[variable] = str(value)
    folder = Path(folder).expanduser().absolute()
    command = ["worker"]
    command += ["--coordinator", coordinator] if coordinator is not None else []
    command += ["--slots", str(slots)] if slots is not None else []
    command += ["--name", name] if name is not None else []
    command += ["--engine-logs", str(Path(engine_logs).expanduser())] if engine_logs is not None else []
    command += ["--exit-when-done"] if exit_when_done else []
    written = []
    if named:
        folder.mkdir(parents=True, exist_ok=True)
        written.append(_write_engines(named, folder))
        command += ["--engines", str(written[0])]
    _work([*command, *arguments], environment, written)


def _work(command: Sequence[str], environment: Mapping[str, str], written: Sequence[Path]) -> None:
    """Runs a worker to its end, and shows what it logs."""
    child = subprocess.Popen(
        binary.command(*command),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stderr is not None
    interrupts = 0
    log = b""
    while True:
        try:
            data = os.read(child.stderr.fileno(), 1 << 16)
            if not data:
                code = child.wait()
                break
            log = (log + data)[-_LOG_MAX:]
            print(data.decode("utf-8", "replace"), end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            interrupts += 1
            child.send_signal(signal.SIGINT)
        except BaseException:
            child.terminate()
            # What it says while it ends must not fill the pipe.
            child.communicate()
            raise
    child.stderr.close()
    if interrupts > 1:
        raise KeyboardInterrupt
    if code != 0:
        _, error, message = log.decode("utf-8", "replace").rpartition("error: ")
        raise binary.error(_of_python((error + message).rstrip(), written), code, command)


def _write_engines(named: Mapping[str, Engine], folder: Path) -> Path:
    """Writes an engines file, and the sources of a notebook's players, into a folder."""
    file = folder / _ENGINES_FILE
    tables = {name: engine_table(engine, folder) for name, engine in named.items()}
    file.write_text(toml.dumps({"engines": tables}), encoding="utf-8")
    return file


def _of_python(message: str, written: Sequence[Path]) -> str:
    """A message about files that were written here from tables, with their keys in place of lines."""
    for file in written:
        for place, number in re.findall(rf"({re.escape(str(file))}:(\d+)(?::\d+)?)", message):
            above = file.read_text(encoding="utf-8").splitlines()[: int(number)]
            headers = [line[1:-1] for line in above if line.startswith("[")]
            key = above[-1].partition(" = ")[0]
            message = message.replace(place, f"`{'.'.join([*headers[-1:], key])}`")
        if file.name == _ENGINES_FILE and "engines file" in message:
            declaration = '(options={"skill": {"min": 1, "max": 9}})' if "`options" in message else ""
            message += f"\n(the engines file is written from @spelrum.player{declaration} and spelrum.Program: change it there)"
    return message


def _add(engines: dict[str, Engine], name: str, engine: Engine) -> None:
    """Adds an engine under its name, which no other has."""
    if engines.setdefault(name, engine) is not engine:
        raise Error(f"two engines are named `{name}`: give one another, @spelrum.player(..., name=…)")


def _read(sweep: Sweep) -> tuple[Optional[Mapping[str, Any]], str, Optional[Path]]:
    """The sweep as a table or as text, and its file if it has one."""
    if isinstance(sweep, Mapping):
        return sweep, "", None
    if isinstance(sweep, str) and "\n" in sweep:
        return None, sweep, None
    file = Path(sweep).expanduser().absolute()
    try:
        return None, file.read_text(encoding="utf-8"), file
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"cannot read the sweep {file}: {error}") from None


def _name(table: Optional[Mapping[str, Any]], text: str, file: Optional[Path]) -> str:
    """The name of the sweep's experiment."""
    if table is not None:
        name = table.get("name")
    else:
        # Keys without a header come first; a text that is no TOML is refused by the program.
        top = re.split(r"^\s*\[", text, maxsplit=1, flags=re.MULTILINE)[0]
        match = re.search(r"^\s*name\s*=\s*[\"']([^\"']+)[\"']", top, re.MULTILINE)
        name = match and match[1]
    if not isinstance(name, str) or not name or "/" in name:
        raise Error("the sweep has no `name`" + (f": {file}" if file else ""))
    return name


def _play(
    command: Sequence[str], database: Path, name: str, show: Optional[Callable[[Progress], None]]
) -> tuple[str, str, int]:
    """Runs the program to its end: what it printed, its error, and its exit code."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as said:
        messages = _Messages(said.fileno())
        # A group of its own: Ctrl-C reaches the program once, from here, and not its engines.
        child = subprocess.Popen(
            binary.command(*command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=said,
            start_new_session=True,
        )
        interrupted = False
        while True:
            # Whatever is raised here, by a look as well, ends the program.
            try:
                is_over = _ends_within(child, _LOOK)
                messages.pass_on()
                if is_over:
                    break
                _look(database, name, began, show)
            except KeyboardInterrupt:
                if not interrupted:
                    print("\nfinishing the games under way; Ctrl-C again ends at once", file=sys.stderr, flush=True)
                interrupted = True
                child.send_signal(signal.SIGINT)
            except BaseException:
                child.terminate()
                try:
                    child.wait()
                except BaseException:
                    child.terminate()  # The second one ends it at once.
                    raise
                raise
        if interrupted:
            raise KeyboardInterrupt
        _look(database, name, began, show)
        output.seek(0)
        return output.read().decode("utf-8", "replace"), messages.error(), child.returncode


class _Messages:
    """What the program prints on standard error: warnings, which are passed on once each, and its error."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._read = 0
        self._seen: set[str] = set()
        self._plain: list[str] = []
        self._error: list[str] = []

    def pass_on(self) -> None:
        """Warns of what has come since the last call."""
        # The program writes where the file's own offset is.
        data = os.pread(self._file, 1 << 24, self._read)
        data = data[: data.rfind(b"\n") + 1]
        self._read += len(data)
        block: list[str] = []
        for line in data.decode("utf-8", "replace").splitlines():
            logged = _LOGGED.match(line)
            if self._error or line.startswith("error: "):
                self._error.append(line)
            elif logged is None:
                block.append(line)
            else:
                self._warn(logged[1])
        self._plain += block
        if block:
            self._warn("\n".join(block).strip())

    def _warn(self, text: str) -> None:
        forfeit = _FORFEIT.match(text)
        if forfeit is not None:
            # The traceback comes once, at the end.
            text = f"{forfeit[1]} loses games: {forfeit[2].rpartition(_LINE_END)[2]}"
        # Texts that differ only in fields such as the game's number count as one.
        key = forfeit[1] if forfeit is not None else re.sub(r" \w+=\d+", "", text)
        if key not in self._seen and "games were lost by forfeit: more" not in text:
            self._seen.add(key)
            # The line that called `run`.
            warnings.warn(text.replace(_LINE_END, "\n"), stacklevel=5)

    def error(self) -> str:
        """Why the program failed."""
        return "\n".join(self._error or self._plain)


def _say_what_is_kept(database: Path, name: str) -> None:
    experiment = _status(database, name)
    if experiment is not None:
        games = experiment["games_settled"]
        print(f"{games} games of {name} are kept; run the same again: it resumes", file=sys.stderr, flush=True)


def _status(database: Path, name: str) -> Optional[dict[str, Any]]:
    """The newest experiment of this name, or None if there is none yet or it cannot be read."""
    try:
        status = json.loads(binary.call("status", name, "--db", str(database), "--json")) if database.is_file() else {}
        experiment: dict[str, Any] = status["experiments"][-1]
        return experiment
    except (Error, ValueError, LookupError):
        return None


def _ends_within(child: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _look(database: Path, name: str, began: float, show: Optional[Callable[[Progress], None]]) -> None:
    experiment = None if show is None else _status(database, name)
    if show is None or experiment is None:
        return  # It is only being made, or this look came too late: the run itself says what is wrong.
    show(
        Progress(
            name,
            experiment["games_settled"],
            experiment["games_planned"],
            experiment["games_failed"],
            time.monotonic() - began,
        )
    )


class _Line:
    """Progress in a line of its own, or in a notebook by tqdm, if it is there."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._is_shown = False
        if "ipykernel" in sys.modules:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # Without ipywidgets its bar is of text.
                    from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(unit="game")

    def __call__(self, progress: Progress) -> None:
        if self._bar is not None:
            self._bar.total = progress.games_planned
            self._bar.update(progress.games_settled - self._bar.n)
            return
        failed = f", {progress.games_failed} failed" if progress.games_failed else ""
        text = f"{progress.name}: {progress.games_settled} of {progress.games_planned} games{failed}"
        print(f"\r{text}, {progress.seconds:.0f} s ", end="", file=sys.stderr, flush=True)
        self._is_shown = True

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._is_shown:
            print(file=sys.stderr)


def _shown(progress: Union[bool, Callable[[Progress], None]]) -> Optional[Callable[[Progress], None]]:
    if callable(progress):
        return progress
    # A log gets no line that is written over.
    return _Line() if progress and ("ipykernel" in sys.modules or sys.stderr.isatty()) else None


def _warn_of_crashes(experiment: Experiment) -> None:
    """Warns of players that forfeited games, with the last message of each."""
    rows = experiment.sql(
        "SELECT player, kind, count(*) AS games, max(game_id), message FROM forfeited WHERE experiment_id ="
        f" (SELECT experiment_id FROM experiments WHERE uuid = '{experiment.uuid}') GROUP BY player, kind"
    ).rows()
    for row in rows:
        lost = f"{row['player']} lost {row['games']} games by {row['kind']}"
        if row["message"] is None:  # A built-in player, which prints nothing.
            warnings.warn(
                f"{lost}: it exceeded its clock and its `margin`; give a greater `margin` or clock, or fewer `slots`",
                stacklevel=3,
            )
            continue
        message = str(row["message"]).replace(_LINE_END, "\n")
        warnings.warn(
            f"{lost}, the last one so: {message}\n"
            '(all of them, with what the player printed: experiment.results.sql("SELECT * FROM forfeited").rows())',
            stacklevel=3,
        )
