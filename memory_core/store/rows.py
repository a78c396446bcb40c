"""Rows in and out of DuckDB, the same for versions 1 and 2, and what no row may hold."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection

from memory_core.serialization import dumps
from memory_core.validation import check_string

_NUL_IN_JSON = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def json_text(value: object, name: str) -> str:
    """A value as JSON. Raises InvalidMemoryError for text in it that nothing can hold."""
    text = dumps(value)
    check_string("\x00" if _NUL_IN_JSON.search(text) else text, name)
    return text


def execute(connection: DuckDBPyConnection, query: str, values: Sequence[object] = ()) -> None:
    """Run a statement whose rows nobody wants. All of a store's text passes here or `registered`.

    Raises InvalidMemoryError for a value that DuckDB would store wrongly or stumble over.
    """
    rows(connection, query, values)


def rows(
    connection: DuckDBPyConnection, query: str, values: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    """All rows that a statement gives."""
    for value in values:
        if isinstance(value, str):
            check_string(value, "value")
    # DuckDB 2 refuses the next statement until all rows of this one have been fetched.
    return connection.execute(query, _bound(values)).fetchall()


def _bound(values: Sequence[object]) -> list[object]:
    """Values as DuckDB can bind them: it knows no scalars of NumPy."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def first(
    connection: DuckDBPyConnection, query: str, values: Sequence[object] = ()
) -> tuple[Any, ...] | None:
    """The first row, or None where there is none."""
    found = rows(connection, query, values)
    return found[0] if found else None


def only(
    connection: DuckDBPyConnection, query: str, values: Sequence[object] = ()
) -> tuple[Any, ...]:
    """The row of a query that always has one, such as a count."""
    (row,) = rows(connection, query, values)
    return row


def registered(connection: DuckDBPyConnection, name: str, columns: Mapping[str, object]) -> None:
    """Make columns readable as a table: one bound list of 1,000 values costs far more."""
    for title, column in columns.items():
        for value in column if isinstance(column, list) else ():
            if isinstance(value, str):
                check_string(value, title)
    connection.register(name, pa.table(dict(columns)))


def table(connection: DuckDBPyConnection, query: str, values: Sequence[object] = ()) -> pa.Table:
    """All rows as an Arrow table."""
    return _arrow(connection, query, values).to_arrow_table()


def batches(
    connection: DuckDBPyConnection, query: str, values: Sequence[object], *, size: int
) -> Generator[Any]:
    """The rows as they come, in batches of about `size`. Close it if it is not read to its end."""
    reader = _arrow(connection, query, values).to_arrow_reader(size)
    try:
        yield from reader
    finally:
        reader.close()  # a reader that lives on keeps the file open, and locked


def _arrow(connection: DuckDBPyConnection, query: str, values: Sequence[object]) -> Any:
    # A relation is what DuckDB 2 wants; in version 1 it is twenty times as slow over blobs.
    if hasattr(connection, "complete"):
        return connection.sql(query, params=_bound(values))
    return connection.execute(query, _bound(values))
