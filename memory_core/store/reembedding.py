"""All texts of a bank through another model: the way out when the first is gone."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import numpy as np
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from memory_core.embedding import Embedder, dimension_of, embed_by
from memory_core.store import Store
from memory_core.store.revisions import read_head
from memory_core.store.rows import execute, only, rows
from memory_core.store.schema import write_setting
from memory_core.store.texts import put_vectors
from memory_core.store.vectors import model_of

TEXTS_AT_ONCE = 512


def reembed(store: Store, embedder: Embedder, progress: Callable[[int, int], None]) -> int:
    """Embed every text, then let the bank speak the new model; the number of texts."""
    model = model_of(embedder)
    with store.reading("re-embed") as connection:
        if read_head(connection).model == model:
            return 0
    # Vectors by the new model lie beside the old ones until all are there: nothing slow happens
    # in a transaction, and an interrupted run goes on where it was.
    while True:
        with store.reading("re-embed") as connection:
            bare = _without(connection, model, TEXTS_AT_ONCE)
        if bare:
            vectors = embed_by(embedder, [text for _, text in bare])
            with store.writing("re-embed") as connection:
                _put(connection, bare, vectors, model)
                total, left = _count(connection), len(_without(connection, model, None))
            progress(total - left, total)
            continue
        with store.writing("re-embed") as connection:
            # Texts that another process added meanwhile still lack a vector.
            if not _without(connection, model, 1):
                _switch(connection, model, dimension_of(embedder))
                return _count(connection)


def _put(
    connection: DuckDBPyConnection,
    bare: list[tuple[int, str]],
    vectors: NDArray[np.float32],
    model: str,
) -> None:
    """Store vectors, but for those that another process has stored since."""
    still = {text_id for text_id, _ in _without(connection, model, None)}
    keep = np.array([text_id in still for text_id, _ in bare])
    ids = np.array([text_id for text_id, _ in bare], dtype=np.int64)
    put_vectors(connection, [(ids[keep], vectors[keep])], model=model)


def _switch(connection: DuckDBPyConnection, model: str, dimension: int) -> None:
    if read_head(connection).model != model:
        execute(connection, "update counter set model = ?, bank = ?", [model, uuid4().hex])
        write_setting(connection, "dimension", str(dimension))


def _count(connection: DuckDBPyConnection) -> int:
    (count,) = only(connection, "select count(*) from text")
    return int(count)


def _without(
    connection: DuckDBPyConnection, model: str, limit: int | None
) -> list[tuple[int, str]]:
    query = """
        select id, text from text
        where id not in (select text_id from embedding where model = ?) order by id
    """
    return rows(connection, query + (f"limit {limit}" if limit else ""), [model])
