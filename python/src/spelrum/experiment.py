"""An experiment in a results database."""

from __future__ import annotations

import csv
import html
import io
import json
from pathlib import Path
from typing import Any, Callable, Optional, Union

from spelrum import binary

Row = dict[str, Any]
"""A row of SQL: values by the names of their columns."""


# How many rows are shown, and how much of a text in a line.
_ROWS_MAX = 50
_TEXT_MAX = 60


class Rows:
    """The rows of a statement in SQL; ``print`` shows the first of them.

    Each method asks anew, so a running experiment shows its latest results.
    """

    def __init__(self, statement: str, fetch: Callable[[str], tuple[list[str], list[Row]]]) -> None:
        self.statement = statement
        self._fetch = fetch

    def rows(self) -> list[Row]:
        """A dictionary for each row. NULL, and numbers that JSON lacks, are None; blobs are hexadecimal digits.

        Raises:
            Error: if the statement is wrong.
        """
        return self._fetch(self.statement)[1]

    def sql(self, statement: str) -> Rows:
        """Another statement on the same database: docs/sql.md has its tables and views."""
        return Rows(statement, self._fetch)

    def pl(self) -> Any:
        """The rows as a polars DataFrame (``pip install spelrum[polars]``)."""
        import polars

        columns, rows = self._fetch(self.statement)
        return polars.DataFrame(rows, schema=None if rows else columns, infer_schema_length=None)

    def df(self) -> Any:
        """The rows as a pandas DataFrame (``pip install spelrum[pandas]``)."""
        import pandas

        columns, rows = self._fetch(self.statement)
        return pandas.DataFrame(rows, columns=columns)

    def arrow(self) -> Any:
        """The rows as a pyarrow Table (``pip install spelrum[arrow]``)."""
        import pyarrow

        columns, rows = self._fetch(self.statement)
        return pyarrow.table({column: [row[column] for row in rows] for column in columns})

    def _repr_html_(self) -> str:
        columns, rows = self._fetch(self.statement)
        head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
        lines = [
            "<tr>" + "".join(f"<td>{html.escape(_cell(row[column]))}</td>" for column in columns) + "</tr>"
            for row in rows[:_ROWS_MAX]
        ]
        more = f"<p>{len(rows)} rows, of which these are the first {len(lines)}</p>" if len(rows) > len(lines) else ""
        return f"<table><tr>{head}</tr>{''.join(lines)}</table>{more}"

    def __str__(self) -> str:
        columns, rows = self._fetch(self.statement)
        lines = [columns, *([_line(row[column]) for column in columns] for row in rows[:_ROWS_MAX])]
        # Numbers stand to the right.
        widths = [
            max(len(line[at]) for line in lines)
            * (-1 if any(isinstance(row[column], str) for row in rows) else 1)
            for at, column in enumerate(columns)
        ]
        shown = ["  ".join(f"{cell:{'>' if width > 0 else '<'}{abs(width)}}" for cell, width in zip(line, widths)) for line in lines]
        more = [f"… and {len(rows) - _ROWS_MAX} more"] if len(rows) > _ROWS_MAX else []
        return "\n".join([*(line.rstrip() for line in shown), *more])

    def __repr__(self) -> str:
        return f"<Rows of {self.statement!r}>"


class Experiment:
    """An experiment in a results database of this machine. In a notebook it shows its report with plots."""

    def __init__(self, db: Path, uuid: str, name: str) -> None:
        self.db = db
        """The results database."""
        self.uuid = uuid
        """The experiment's UUID."""
        self.name = name
        """The experiment's name."""

    @property
    def results(self) -> Rows:
        """A row for each cell: axes, players, games, score and its 95% interval.

        Raises:
            Error: if the database cannot be read.
        """
        return self.sql(results_statement(self.uuid, self.sql))

    def sql(self, statement: str) -> Rows:
        """A statement on the database that only reads: docs/sql.md has its tables, views and functions."""
        return Rows(statement, self._fetch)

    def report(self) -> dict[str, Any]:
        """The figures of ``spelrum report --json``, which its help describes.

        Raises:
            Error: if the database cannot be read.
        """
        report: dict[str, Any] = json.loads(self._call("report", "--format", "json"))
        return report

    def html(self) -> str:
        """The report with plots, as a page.

        Raises:
            Error: if the database cannot be read.
        """
        return self._call("report", "--format", "html")

    def games(self) -> list[dict[str, Any]]:
        """Each counted game with its moves: the columns of docs/export.md.

        Raises:
            Error: if the database cannot be read.
        """
        return [json.loads(line) for line in self._call("games", "--format", "jsonl").splitlines()]

    @property
    def state(self) -> str:
        """``running``, ``paused``, ``finished`` or ``cancelled``.

        Raises:
            Error: if the database cannot be read.
        """
        return str(json.loads(self._call("status", "--json"))["experiments"][0]["state"])

    def _call(self, command: str, *arguments: str) -> str:
        return binary.call(command, self.uuid, "--db", str(self.db), *arguments)

    def _fetch(self, statement: str) -> tuple[list[str], list[Row]]:
        door = ["sql", "--db", str(self.db)]
        # The name of a column comes from a statement, which may begin with a dash.
        rows = [json.loads(line) for line in binary.call(*door, "--jsonl", "--", statement).splitlines()]
        if rows:
            return list(rows[0]), rows
        return next(csv.reader(io.StringIO(binary.call(*door, "--csv", "--", statement))), []), []

    def __str__(self) -> str:
        return self._call("report")

    def __repr__(self) -> str:
        return f"<Experiment {self.name} in {self.db}>"

    def _repr_html_(self) -> str:
        # A page of its own, so that its styles and the notebook's do not meet.
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


def load(db: Union[str, Path], experiment: Optional[str] = None) -> Experiment:
    """An experiment of a results database that is there already.

    Args:
        db: the results database.
        experiment: its name or UUID; may be left out if the database has only one.

    Raises:
        Error: if there is no such database or experiment, or there are several and none is named.
    """
    database = Path(db).expanduser().absolute()
    named = [experiment] if experiment else []
    report = json.loads(binary.call("report", *named, "--db", str(database), "--format", "json"))
    return Experiment(database, report["experiment_uuid"], report["experiment"])


def results_statement(uuid: str, sql: Callable[[str], Rows]) -> str:
    """The statement for the results of an experiment: its own view, which has a column for each axis."""
    row = sql(f"SELECT experiment_id, results_view FROM experiments WHERE uuid = '{uuid}'").rows()[0]
    if row["results_view"]:
        return f'SELECT * FROM "{row["results_view"]}"'
    return f"SELECT * FROM results WHERE experiment_id = {row['experiment_id']}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _line(value: Any) -> str:
    text = " ".join(_cell(value).split())
    return text if len(text) <= _TEXT_MAX else text[: _TEXT_MAX - 1] + "…"
