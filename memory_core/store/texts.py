"""Texts and their vectors, each stored once for a model."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing

import numpy as np
import pyarrow as pa
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from memory_core.errors import EncodingDriftError
from memory_core.pool import StoredTexts
from memory_core.store.rows import batches, execute, only, registered, rows

ROWS_A_BATCH = 16_384


def text_hash(text: str) -> int:
    """First 64 bits of the text's BLAKE2b, by which a text is looked up without an index."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def blobs(vectors: NDArray[np.float32]) -> pa.Array:
    """(n, d) as n blobs of little-endian float32, without a Python object for each."""
    matrix = np.ascontiguousarray(vectors, dtype="<f4")
    width = matrix.shape[1] * 4
    offsets = np.arange(len(matrix) + 1, dtype=np.int64) * width
    return pa.Array.from_buffers(
        pa.large_binary(),
        len(matrix),
        [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(matrix.tobytes())],
    )


def _matrix(column: pa.Array, dimension: int) -> NDArray[np.float32]:
    """Blobs as (n, d) float32, read where they lie."""
    width = 64 if pa.types.is_large_binary(column.type) else 32
    offsets = np.frombuffer(column.buffers()[1], dtype=f"<i{width // 8}")
    first = int(offsets[column.offset])
    flat = np.frombuffer(
        column.buffers()[2], dtype="<f4", count=len(column) * dimension, offset=first
    )
    return flat.reshape(len(column), dimension)


def read_texts(
    connection: DuckDBPyConnection, text_ids: NDArray[np.int64], *, model: str, dimension: int
) -> Generator[StoredTexts]:
    """Texts and vectors by text id, in any order, streamed in batches."""
    registered(connection, "wanted", {"id": text_ids})
    found = batches(
        connection,
        """
        select text.id, text.text, embedding.vector
        from wanted
        join text on text.id = wanted.id
        join embedding on embedding.text_id = wanted.id and embedding.model = ?
        where octet_length(embedding.vector) = ?
        """,
        [model, dimension * 4],
        size=ROWS_A_BATCH,
    )
    with closing(found):
        for batch in found:
            if len(batch):
                ids = batch.column(0).to_numpy()
                yield ids, batch.column(1).to_pylist(), _matrix(batch.column(2), dimension)
    connection.unregister("wanted")


def find_texts(
    connection: DuckDBPyConnection, texts: Sequence[str], *, model: str
) -> dict[str, tuple[int, bool]]:
    """For each text that is stored: its id, and whether it has a vector by this model."""
    hashes = pa.array([text_hash(text) for text in texts], pa.int64())
    registered(connection, "sought", {"hash": hashes, "text": pa.array(texts, pa.string())})
    found = rows(
        connection,
        """
        select text.text, text.id, embedding.text_id is not null
        from text
        join sought on sought.hash = text.hash and sought.text = text.text
        left join embedding on embedding.text_id = text.id and embedding.model = ?
        """,
        [model],
    )
    connection.unregister("sought")
    return {text: (text_id, embedded) for text, text_id, embedded in found}


def put_texts(
    connection: DuckDBPyConnection,
    vectors: Mapping[str, NDArray[np.float32]],
    *,
    model: str,
    next_id: int,
) -> tuple[dict[str, int], int]:
    """Store those texts that are not stored yet; the id of each, and the next free one."""
    if not vectors:
        return {}, next_id
    known = find_texts(connection, list(vectors), model=model)
    ids = {text: text_id for text, (text_id, _) in known.items()}
    fresh = [text for text in vectors if text not in ids]
    for text in fresh:
        ids[text] = next_id
        next_id += 1
    if fresh:
        registered(
            connection,
            "fresh",
            {
                "id": pa.array([ids[text] for text in fresh], pa.int64()),
                "hash": pa.array([text_hash(text) for text in fresh], pa.int64()),
                "text": pa.array(fresh, pa.string()),
            },
        )
        execute(connection, "insert into text select id, hash, text from fresh")
        connection.unregister("fresh")
    bare = [text for text in vectors if text not in known or not known[text][1]]
    put_vectors(connection, ((np.array([ids[t]]), vectors[t][None, :]) for t in bare), model=model)
    return ids, next_id


def refuse_drift(model: str, current: str) -> None:
    """Raise EncodingDriftError where a bank has come to speak another model than it was opened in.

    Its vectors and those of `model` cannot be compared.
    """
    if model != current:
        raise EncodingDriftError(
            f"The bank was embedded anew by {current} since it was opened with {model}; open it "
            "again. Nothing was written."
        )


def put_text(
    connection: DuckDBPyConnection, text: str, vector: NDArray[np.float32], *, model: str
) -> int:
    """Store one text with its vector, where it is not yet; its id. Raises EncodingDriftError."""
    return keep_texts(connection, {text: vector}, model=model)[text]


def keep_texts(
    connection: DuckDBPyConnection, vectors: Mapping[str, NDArray[np.float32]], *, model: str
) -> dict[str, int]:
    """Store texts with their vectors, where they are not yet; their ids. Raises as `put_text`."""
    free, current = only(connection, "select text, model from counter")
    refuse_drift(model, current)
    ids, next_id = put_texts(connection, vectors, model=model, next_id=free)
    if next_id != free:
        execute(connection, "update counter set text = ?", [next_id])
    return ids


def put_vectors(
    connection: DuckDBPyConnection,
    parts: Iterable[tuple[NDArray[np.int64], NDArray[np.float32]]],
    *,
    model: str,
) -> None:
    """Store vectors (b, d) of text ids (b,)."""
    collected = list(parts)
    if not collected:
        return
    ids = np.concatenate([part[0] for part in collected])
    vectors = np.concatenate([part[1] for part in collected])
    registered(connection, "embedded", {"id": ids.astype(np.int64), "vector": blobs(vectors)})
    execute(connection, "insert into embedding select ?, id, vector from embedded", [model])
    connection.unregister("embedded")


def read_vectors(
    connection: DuckDBPyConnection, texts: Sequence[str], *, model: str, dimension: int
) -> dict[str, NDArray[np.float32]]:
    """The stored vectors of texts, by text; those without one are left out."""
    known = find_texts(connection, texts, model=model)
    ids = np.array([text_id for text_id, embedded in known.values() if embedded], dtype=np.int64)
    found: dict[str, NDArray[np.float32]] = {}
    if len(ids):
        for _, some, vectors in read_texts(connection, ids, model=model, dimension=dimension):
            found.update(zip(some, vectors.copy(), strict=True))
    return found
