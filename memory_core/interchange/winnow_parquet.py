"""Our own Parquet: a memory a row, with all its fields.

Columns are flat: detail, tags and provenance are JSON texts, for a nested column can make gigabytes
of a few bytes. What a file would unpack to is summed up before anything is unpacked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

from memory_core.errors import InterchangeError
from memory_core.interchange.entries import ImportEntry
from memory_core.interchange.fields import a_text, some_id
from memory_core.interchange.formats import ALL_FIELDS, Found, MemoryFormat, Written, each
from memory_core.interchange.source import (
    MAX_IMPORT_BYTES,
    Record,
    Source,
    Unfit,
    check_count,
    parse,
)
from memory_core.interchange.winnow_fields import FIELDS, lesson_of, to_fields
from memory_core.records import Memory
from memory_core.serialization import dumps

MAX_UNPACKED = 4 * MAX_IMPORT_BYTES
"""Bytes that all columns may have when unpacked; and the texts when they are told apart."""
_JSON = ("detail", "tags", "provenance")
_TEXTS = ("kind", "text", "domain", *_JSON)
_NUMBERS = {"id": "int64", "confidence": "float64", "usage_count": "int64",
            "success_count": "int64", "epoch": "int64", "pinned": "bool_"}  # fmt: skip
_COLUMNS = ("id", "kind", "text", "domain", "detail", "confidence", "usage_count", "success_count",
            "epoch", "tags", "pinned", "provenance")  # fmt: skip
_MOST_OF_A_FOOTER = 10_000_000


def matches(source: Source) -> bool:
    return source.is_parquet


def read(source: Source) -> Found:
    if not isinstance(source.content, bytes) or not source.is_parquet:
        raise Unfit("it is no Parquet file.")
    return each(_records(source.content), _one)


def _one(record: Record) -> Found:
    fields = dict(record.value)
    for name in _JSON:
        if fields.get(name) is not None:
            fields[name] = parse(fields[name])
    lesson = lesson_of(fields, a_text(fields.get("text"), "text"))
    yield ImportEntry(record.where, lesson=lesson, source_id=some_id(fields.get("id")))


def _records(content: bytes) -> Iterator[Record]:
    import pyarrow as pa

    try:
        yield from _rows(content)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InterchangeError(
            f"The Parquet file cannot be read ({str(error).splitlines()[0][:160]}); it may be cut "
            "short or damaged. Write it again."
        ) from error


def _rows(content: bytes) -> Iterator[Record]:
    import pyarrow.parquet as pq

    def opened(**options: Any) -> Any:
        return pq.ParquetFile(
            BytesIO(content),
            thrift_string_size_limit=_MOST_OF_A_FOOTER,
            thrift_container_size_limit=1_000_000,
            **options,
        )

    names = _checked(opened().metadata)
    # A text that is there a million times is kept once.
    file = opened(read_dictionary=[name for name in names if name in _TEXTS])
    number = budget = 0
    for group in range(file.metadata.num_row_groups):
        table = file.read_row_group(group, columns=names)
        budget += sum(_unpacked(table.column(name)) for name in names if name in _TEXTS)
        if budget > MAX_UNPACKED:
            raise _too_large()
        columns = [table.column(name).to_pylist() for name in names]
        for values in zip(*columns, strict=True):
            number += 1
            yield Record(f"row {number}", dict(zip(names, values, strict=True)))


def _checked(metadata: Any) -> list[str]:
    """The columns to read. Raises InterchangeError for a file that is too much, or another."""
    check_count(metadata.num_rows)
    unpacked = 0
    for group in range(metadata.num_row_groups):
        for column in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(column)
            unpacked += chunk.total_uncompressed_size
            check_count(chunk.num_values)
    if unpacked > MAX_UNPACKED:
        raise _too_large()
    schema = metadata.schema.to_arrow_schema()
    names = [name for name in schema.names if name in FIELDS]
    missing = [name for name in ("text", "kind", "domain") if name not in names]
    if missing or len(set(names)) < len(names):
        raise InterchangeError(
            "This Parquet file is not one of Winnow's: it needs the columns text, kind and domain, "
            f"each once; it has {', '.join(schema.names[:12]) or 'none'}."
        )
    for name in names:
        _check_type(name, schema.field(name).type)
    return names


def _check_type(name: str, kind: Any) -> None:
    import pyarrow as pa

    stored = kind.value_type if pa.types.is_dictionary(kind) else kind
    fits = (
        pa.types.is_string(stored) or pa.types.is_large_string(stored) or pa.types.is_null(stored)
        if name in _TEXTS
        else not pa.types.is_nested(stored) and not pa.types.is_binary(stored)
    )  # fmt: skip
    if not fits:
        wanted = "text" if name in _TEXTS else "numbers"
        raise InterchangeError(f"The column {name} must hold {wanted}; it holds {kind}.")


def _unpacked(column: Any) -> int:
    """Bytes that a column of texts has once each row has its own copy."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(
            chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        )
        if pa.types.is_dictionary(chunk.type):
            lengths = lengths.cast(pa.int64()).take(chunk.indices)
        total += pc.sum(lengths).as_py() or 0
    return total


def _too_large() -> InterchangeError:
    return InterchangeError(
        f"The Parquet file would unpack to more than {MAX_UNPACKED // 1_000_000} MB; import it in "
        "parts."
    )


def write(memories: Sequence[Memory], made_at: str) -> Written:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [to_fields(memory) for memory in memories]
    columns = {name: pa.array([row[name] for row in rows], getattr(pa, kind)())
               for name, kind in _NUMBERS.items()}  # fmt: skip
    for name in _TEXTS:
        values = [row[name] for row in rows]
        if name in _JSON:
            values = [None if value is None else dumps(value) for value in values]
        columns[name] = pa.array(values, pa.string())
    stream = BytesIO()
    pq.write_table(pa.table({name: columns[name] for name in _COLUMNS}), stream, compression="zstd")
    return Written(stream.getvalue())


FORMAT = MemoryFormat(
    "winnow-parquet",
    "Winnow Parquet",
    "the same fields as columns",
    ".parquet",
    matches,
    read,
    write,
    ALL_FIELDS,
    media_type="application/vnd.apache.parquet",
)
