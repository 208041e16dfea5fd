"""The writer of TOML, against readers of others."""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from spelrum import Error, toml

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")


def test_a_sweep_comes_back_as_it_was() -> None:
    sweep = {
        "name": "first",
        "players": {"a": {"algorithm": "alpha-beta", "depth": "$depth"}, "b c": {"vary": {"x": [1, 2]}}},
        "games": 10_000,
        "axes": {"depth": range(1, 4), "budget": [{"a": "1ms", "b": 2}, {"a": "3ms", "b": 4}], "x": (0.5, 1e300)},
        "stop": {"sprt": {"elo0": 0, "elo1": -5.5}},
        "override": [{"depth": 3, "games": 2}],
        "timing": {},
        "any_build": True,
        "left out": None,
        'quote " \\ \n\t\x00\x7f é 𝄞': 'the same: " \\ \n\t\x00\x7f é 𝄞',
    }
    read = tomllib.loads(toml.dumps(sweep))
    expected = {key: value for key, value in sweep.items() if value is not None}
    expected["axes"] = {**sweep["axes"], "depth": [1, 2, 3], "x": [0.5, 1e300]}  # type: ignore[dict-item]
    assert read == expected
    # The order of axes is the order of the grid.
    assert list(read["axes"]) == ["depth", "budget", "x"]


def test_numbers_of_any_kind() -> None:
    read = tomllib.loads(toml.dumps({"a": [1e-7, 1e16, -0.0, math.inf, -math.inf, 2**53]}))
    assert read["a"] == [1e-7, 1e16, -0.0, math.inf, -math.inf, 2**53]
    assert math.isnan(tomllib.loads(toml.dumps({"a": math.nan}))["a"])
    assert tomllib.loads(toml.dumps({"a": Path("book.epd")}))["a"] == str(Path.cwd() / "book.epd")


def test_numpy() -> None:
    numpy = pytest.importorskip("numpy")
    values = {"a": numpy.int64(3), "b": numpy.float32(0.5), "c": numpy.bool_(True), "d": list(numpy.arange(2))}
    assert tomllib.loads(toml.dumps(values)) == {"a": 3, "b": 0.5, "c": True, "d": [0, 1]}


def test_what_toml_lacks_is_named_by_its_place() -> None:
    with pytest.raises(Error, match=r"`players\.a\[1\]\.f` is of type function"):
        toml.dumps({"players": {"a": [1, {"f": test_numpy}]}})
    with pytest.raises(Error, match=r"`a\[0\]` is of type NoneType"):
        toml.dumps({"a": [None]})


def test_random_tables_come_back() -> None:
    draw = random.Random(5)

    def value(depth: int) -> Any:
        kind = draw.randrange(7 if depth else 5)
        if kind == 0:
            return draw.randrange(-(2**63), 2**63)
        if kind == 1:
            return draw.uniform(-1, 1) * 10.0 ** draw.randrange(-300, 300)
        if kind == 2:
            return draw.random() < 0.5
        if kind in (3, 4):
            return "".join(chr(draw.choice([0, 9, 10, 34, 39, 92, 127, 133, 65, 955, 0x2028, 0x1F600])) for _ in range(4))
        if kind == 5:
            return [value(depth - 1) for _ in range(draw.randrange(4))]
        return {value(0).__repr__(): value(depth - 1) for _ in range(draw.randrange(4))}

    for _ in range(300):
        table = {f"key {index}": value(4) for index in range(4)}
        assert tomllib.loads(toml.dumps(table)) == table
