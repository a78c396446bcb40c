"""All texts of a bank through another model: the way out when the first is gone."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import numpy as np
from duckdb import DuckDBPyConnection

from memory_core.embedding import Embedder, dimension_of, embed_by
from memory_core.store import Store
from memory_core.store.revisions import read_head
from memory_core.store.schema import write_setting
from memory_core.store.texts import put_vectors
from memory_core.store.vectors import model_of

TEXTS_AT_ONCE = 512


def reembed(store: Store, embedder: Embedder, progress: Callable[[int, int], None]) -> int:
    """Embed every text, then let the bank speak the new model; the number of texts."""
    model = model_of(embedder)
    with store.reading("re-embed") as connection:
        same = read_head(connection).model == model
        total = _count(connection)
    if same:
        return 0
    done = 0
    # Vectors by the new model lie beside the old ones until all are there: nothing slow happens
    # in a transaction, and an interrupted run goes on where it was.
    while bare := _some_without(store, model):
        vectors = embed_by(embedder, [text for _, text in bare])
        with store.writing("re-embed") as connection:
            ids = np.array([text_id for text_id, _ in bare])
            put_vectors(connection, [(ids, vectors)], model=model)
        done += len(bare)
        progress(done, total)
    with store.writing("re-embed") as connection:
        complete = not _without(connection, model, 1)
        if complete:
            connection.execute("update counter set model = ?, bank = ?", [model, uuid4().hex])
            write_setting(connection, "dimension", str(dimension_of(embedder)))
    # Texts that another process added meanwhile still lack a vector.
    return total if complete else reembed(store, embedder, progress)


def _some_without(store: Store, model: str) -> list[tuple[int, str]]:
    with store.reading("re-embed") as connection:
        return _without(connection, model, TEXTS_AT_ONCE)


def _count(connection: DuckDBPyConnection) -> int:
    row = connection.execute("select count(*) from text").fetchone()
    return int(row[0]) if row else 0


def _without(connection: DuckDBPyConnection, model: str, limit: int) -> list[tuple[int, str]]:
    return connection.execute(
        """
        select id, text from text
        where id not in (select text_id from embedding where model = ?) order by id limit ?
        """,
        [model, limit],
    ).fetchall()
