"""A writer of TOML, for sweeps and engines files: Python's standard library has none."""

from __future__ import annotations

import json
import math
import re
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Mapping

from spelrum.errors import Error

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def dumps(table: Mapping[str, Any]) -> str:
    """A table as TOML.

    Tables at the top get a header, and all within them stands in lines of its own, in its order.
    Texts, numbers, booleans, lists, tuples, ranges and mappings are written as such; a
    :class:`pathlib.Path` as an absolute path; None leaves its key out.

    Raises:
        Error: if a value is of another type, or None in a list; the message names its place.
    """
    lines = []
    headers = []
    for key, value in table.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            headers.append(f"\n[{_key(key)}]")
            headers += [
                f"{_key(inner)} = {_value(item, f'{key}.{inner}')}" for inner, item in value.items() if item is not None
            ]
        else:
            lines.append(f"{_key(key)} = {_value(value, str(key))}")
    return "\n".join([*lines, *headers]) + "\n"


def _key(key: Any) -> str:
    text = str(key)
    return text if _BARE_KEY.fullmatch(text) else _text(text)


def _text(text: str) -> str:
    # Of the characters that JSON leaves as they are, TOML forbids only DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, place: str) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return repr(number) if math.isfinite(number) else {math.inf: "inf", -math.inf: "-inf"}.get(number, "nan")
    if isinstance(value, Path):
        return _text(str(value.expanduser().absolute()))
    if isinstance(value, Mapping):
        items = (f"{_key(key)} = {_value(item, f'{place}.{key}')}" for key, item in value.items() if item is not None)
        return "{ " + ", ".join(items) + " }"
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(_value(item, f"{place}[{index}]") for index, item in enumerate(value)) + "]"
    if callable(getattr(value, "item", None)):
        return _value(value.item(), place)
    raise Error(f"`{place}` is of type {type(value).__name__}, which a sweep cannot have: {value!r:.100}")
