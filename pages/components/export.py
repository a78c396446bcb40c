"""Tables as files. A cell is never a formula, whatever its text begins with."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from typing import Any

import streamlit as st

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def as_csv(frame: Any) -> bytes:
    """A data frame as UTF-8 CSV; texts that a spreadsheet would run get an apostrophe in front."""
    from pandas.api.types import is_numeric_dtype

    safe = frame.copy()
    safe.columns = [_safe(name) for name in safe.columns]
    for place, name in enumerate(frame.columns):
        if not is_numeric_dtype(frame[name]):
            safe.isetitem(place, [_safe(value) for value in frame[name].astype(object)])
    named = frame.index.name is not None
    if named:
        safe.index = safe.index.map(_safe).rename(_safe(frame.index.name))
    # All texts in quotes: one with a carriage return would else begin a row of its own.
    written = safe.to_csv(index=named, quoting=csv.QUOTE_NONNUMERIC)
    return bytes(written.encode("utf-8-sig"))


def _safe(value: Any) -> Any:
    return "'" + value if isinstance(value, str) and value.startswith(_FORMULA) else value


def as_json(frame: Any) -> bytes:
    """A data frame as a JSON list of objects, texts as they are; what is missing is null."""
    rows = frame.reset_index() if frame.index.name is not None else frame
    # Plain Python values: an exact number stays exact, and a text stays the text that it was.
    columns = {str(name): rows[name].astype(object).tolist() for name in rows.columns}
    records = [
        {name: _plain(value) for name, value in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]
    return (json.dumps(records, ensure_ascii=False, indent=1) + "\n").encode()


def _plain(value: Any) -> Any:
    import pandas as pd

    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "item"):
        return _plain(value.item())
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value if isinstance(value, str | int | bool) else str(value)


def table_downloads(frame: Any, name: str, *, key: str = "") -> None:
    """Buttons that give a table as CSV and as JSON, written when one is clicked.

    `frame` is a data frame, or a function that makes it; its index is left out unless it has a
    name. `name` is the files' name and tells the tables of a page apart, with `key` where one
    name stands on it twice.
    """
    mark = f"{name}{key}"
    made: Callable[[], Any] = frame if callable(frame) else lambda: frame
    with st.container(horizontal=True, gap="small", key=f"downloads-{mark}"):
        st.download_button(
            "CSV", lambda: as_csv(made()), f"{name}.csv", "text/csv", key=f"csv-{mark}",
            type="tertiary", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "JSON", lambda: as_json(made()), f"{name}.json", "application/json",
            key=f"json-{mark}", type="tertiary", on_click="ignore",
        )  # fmt: skip
