"""Spelrum's Python layer: write players, run sweeps, read results.

A player is a function from a :class:`State` to a move::

    import spelrum

    @spelrum.player("connect-four")
    def mine(state):
        return state.random.choice(state.legal)

    experiment = spelrum.run({"name": "first", "game": "connect-four", "games": 100,
                              "players": {"mine": mine, "ab": {"algorithm": "alpha-beta", "depth": 2}}})
    experiment.results.df()

The games are played by the program ``spelrum``; this package starts it, speaks its protocol of
lines with players, and reads its results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spelrum.errors import Error, IllegalMove
from spelrum.players import RESIGN, Move, Player, Program, main, player
from spelrum.state import Clock, Limits, State

if TYPE_CHECKING:
    from spelrum import adapters
    from spelrum.coordinator import Coordinator, RemoteExperiment, connect
    from spelrum.experiment import Experiment, Rows, load
    from spelrum.positions import Position
    from spelrum.runner import Progress, run, worker

__version__ = "0.1.0"

__all__ = [
    "RESIGN",
    "Clock",
    "Coordinator",
    "Error",
    "Experiment",
    "IllegalMove",
    "Limits",
    "Move",
    "Player",
    "Position",
    "Program",
    "Progress",
    "RemoteExperiment",
    "Rows",
    "State",
    "adapters",
    "connect",
    "load",
    "main",
    "player",
    "run",
    "worker",
]

# Loaded when first used: a player's process needs none of it, and starts sooner.
_LAZY = {
    "Coordinator": "coordinator",
    "Experiment": "experiment",
    "Position": "positions",
    "Progress": "runner",
    "RemoteExperiment": "coordinator",
    "Rows": "experiment",
    "connect": "coordinator",
    "load": "experiment",
    "run": "runner",
    "worker": "runner",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name == "adapters":
        return importlib.import_module("spelrum.adapters")
    if name in _LAZY:
        value = getattr(importlib.import_module(f"spelrum.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'spelrum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
