"""Fitted maps, their coordinates by text, and the names that people gave to clusters on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from memory_core.errors import StoreCorruptError
from memory_core.map_records import ClusterName, Honesty, Method, Projection
from memory_core.settings import MapSettings
from memory_core.store.rows import execute, first, json_text, only, registered, rows, table
from memory_core.store.texts import find_texts, read_texts, refuse_drift


@dataclass(frozen=True, slots=True)
class NewMap:
    """A fitted map before it is stored."""

    revision: int
    model: str
    method: Method
    settings: MapSettings
    honesty: Honesty
    texts: Sequence[str]
    positions: NDArray[np.float64]
    """(len(texts), 2)."""


@dataclass(frozen=True, slots=True)
class Points:
    """Where a stored map put its texts."""

    text_ids: NDArray[np.int64]
    texts: list[str]
    positions: NDArray[np.float64]
    """(len(texts), 2)."""


_PROJECTION = """
    select id, revision, model, method, parameters, report, actor, made_at,
        (select count(*) from point where projection_id = projection.id)
    from projection
"""


def put_map(
    connection: DuckDBPyConnection, new: NewMap, *, actor: str, made_at_us: int
) -> Projection:
    """Store a map. Raises EncodingDriftError where the bank speaks another model by now."""
    (current,) = only(connection, "select model from counter")
    refuse_drift(new.model, current)
    known = find_texts(connection, list(new.texts), model=new.model)
    if missing := [text for text in new.texts if text not in known]:
        raise StoreCorruptError(
            f"{len(missing)} of the texts on the map are no longer in the bank, which has been "
            "replaced by another. Nothing was written."
        )
    (number,) = only(connection, "select coalesce(max(id), 0) + 1 from projection")
    execute(
        connection,
        "insert into projection values (?, ?, ?, ?, ?, ?, ?, ?)",
        [number, new.revision, new.model, new.method,
         json_text(asdict(new.settings), "parameters"), json_text(asdict(new.honesty), "report"),
         actor, made_at_us],
    )  # fmt: skip
    registered(
        connection,
        "points",
        {
            "text_id": pa.array([known[text][0] for text in new.texts], pa.int64()),
            "x": new.positions[:, 0],
            "y": new.positions[:, 1],
        },
    )
    execute(connection, "insert into point select ?, text_id, x, y from points", [number])
    connection.unregister("points")
    return Projection(
        number, new.revision, new.model, new.method, new.settings, new.honesty, actor, made_at_us,
        len(new.texts),
    )  # fmt: skip


def _projection(row: Sequence[object]) -> Projection:
    number, revision, model, method, parameters, report, actor, made_at, size = row
    return Projection(
        number, revision, model, method,  # type: ignore[arg-type]
        MapSettings(**json.loads(str(parameters))), Honesty(**json.loads(str(report))),
        actor, made_at, size,  # type: ignore[arg-type]
    )  # fmt: skip


def read_projections(connection: DuckDBPyConnection) -> tuple[Projection, ...]:
    """All maps, oldest first."""
    return tuple(_projection(row) for row in rows(connection, _PROJECTION + "order by id"))


def latest_projection(
    connection: DuckDBPyConnection, model: str | None = None
) -> Projection | None:
    """The last map of a model's vectors, or of any."""
    which, values = ("where model = ?", [model]) if model else ("", [])
    row = first(connection, _PROJECTION + which + " order by id desc limit 1", values)
    return None if row is None else _projection(row)


def read_points(connection: DuckDBPyConnection, projection_id: int) -> Points:
    """A map's texts with their coordinates."""
    found = table(
        connection,
        """
        select text.id, text.text, point.x, point.y
        from point join text on text.id = point.text_id
        where point.projection_id = ? order by text.id
        """,
        [projection_id],
    )
    ids, texts, x, y = (found.column(place) for place in range(4))
    return Points(
        np.array(ids.to_numpy(), dtype=np.int64),
        texts.to_pylist(),
        np.stack([np.array(x.to_numpy()), np.array(y.to_numpy())], axis=1).astype(np.float64),
    )


def read_point_vectors(
    connection: DuckDBPyConnection, text_ids: NDArray[np.int64], *, model: str, dimension: int
) -> NDArray[np.float32]:
    """(m, dimension) the vectors of text ids (m,), ascending, in their order."""
    matrix = np.zeros((len(text_ids), dimension), dtype=np.float32)
    count = 0
    with closing(read_texts(connection, text_ids, model=model, dimension=dimension)) as stored:
        for ids, _, vectors in stored:
            matrix[np.searchsorted(text_ids, ids)] = vectors
            count += len(ids)
    if count != len(text_ids):
        raise StoreCorruptError(
            f"{len(text_ids)} texts are on the map and {count} have vectors. The bank is damaged; "
            "restore a copy, or run `winnow reembed`."
        )
    return matrix


# -- names ----------------------------------------------------------------------------------------


def read_cluster_names(connection: DuckDBPyConnection) -> tuple[ClusterName, ...]:
    """What people named, oldest first."""
    found = rows(
        connection,
        "select name, memory_ids, actor, made_at from cluster_name order by made_at, name",
    )
    return tuple(
        ClusterName(name, tuple(json.loads(ids)), actor, made_at)
        for name, ids, actor, made_at in found
    )


def replace_cluster_names(
    connection: DuckDBPyConnection, gone: Sequence[ClusterName], new: ClusterName | None
) -> None:
    """Take out some names, and put in one."""
    for old in gone:
        execute(
            connection,
            "delete from cluster_name where name = ? and memory_ids = ? and made_at = ?",
            [old.name, json_text(old.ids, "memory_ids"), old.made_at_us],
        )
    if new is not None:
        execute(
            connection,
            "insert into cluster_name values (?, ?, ?, ?)",
            [new.name, json_text(new.ids, "memory_ids"), new.actor, new.made_at_us],
        )
