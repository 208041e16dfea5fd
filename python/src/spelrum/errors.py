"""Errors of this package."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """A request that failed, with the program's or the coordinator's own message.

    Attributes:
        exit_code: the program's exit code (``spelrum --help`` lists them), or None.
        problem: the type of a coordinator's problem, such as ``unknown-experiment``, or None.
    """

    def __init__(self, message: str, exit_code: Optional[int] = None, problem: Optional[str] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.problem = problem


class IllegalMove(ValueError):
    """A move given to :meth:`spelrum.State.after` that the game's rules do not allow."""
