"""Records to JSON and back: what the store keeps in text columns, and what exports carry."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from memory_core.errors import InvalidBatchError, StoreCorruptError
from memory_core.operations import (
    Add,
    Adjust,
    Delete,
    Merge,
    Modify,
    Operation,
    Restore,
    touched_ids,
)
from memory_core.records import (
    DETAIL_OF_KIND,
    Detail,
    Evidence,
    Kind,
    Memory,
    Provenance,
)

OPERATIONS: Mapping[str, type[Operation]] = {
    "add": Add,
    "modify": Modify,
    "delete": Delete,
    "merge": Merge,
    "adjust": Adjust,
    "restore": Restore,
}
_NAMES = {operation: name for name, operation in OPERATIONS.items()}
_KIND_OF_DETAIL: Mapping[type[Detail], Kind] = {t: kind for kind, t in DETAIL_OF_KIND.items()}


def dumps(value: object) -> str:
    """Compact JSON, the same text for the same value. NumPy's numbers are written as numbers."""
    return json.dumps(
        value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_number
    )


def _number(value: Any) -> object:
    if getattr(value, "shape", None) == ():
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def detail_to_dict(detail: Detail | None) -> dict[str, Any] | None:
    if detail is None:
        return None
    return {"kind": _KIND_OF_DETAIL[type(detail)], **dataclasses.asdict(detail)}


def detail_from_dict(value: Mapping[str, Any] | None) -> Detail | None:
    if value is None:
        return None
    fields = dict(value)
    return DETAIL_OF_KIND[fields.pop("kind")](**fields)


def evidence_from_list(value: list[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    return tuple(Evidence(item["trajectory_id"], tuple(item["steps"])) for item in value)


def provenance_to_dict(provenance: Provenance) -> dict[str, Any]:
    """Fields at their defaults are left out: most memories repeat a few short texts."""
    fields = dataclasses.asdict(provenance)
    return {name: value for name, value in fields.items() if value or name == "source"}


def provenance_from_dict(value: Mapping[str, Any]) -> Provenance:
    fields = dict(value)
    fields["evidence"] = evidence_from_list(fields.get("evidence", []))
    return Provenance(**fields)


def memory_to_dict(memory: Memory) -> dict[str, Any]:
    """All fields of a memory as plain JSON values; `memory_from_dict` is its inverse."""
    fields = {f.name: getattr(memory, f.name) for f in dataclasses.fields(memory)}
    fields["detail"] = detail_to_dict(memory.detail)
    fields["tags"] = list(memory.tags)
    fields["provenance"] = provenance_to_dict(memory.provenance)
    return fields


def memory_from_dict(value: Mapping[str, Any]) -> Memory:
    fields = dict(value)
    fields["detail"] = detail_from_dict(fields.get("detail"))
    fields["tags"] = tuple(fields.get("tags", ()))
    fields["provenance"] = provenance_from_dict(fields.get("provenance", {"source": "manual"}))
    return Memory(**fields)


def operation_to_dict(operation: Operation) -> dict[str, Any]:
    """An operation as plain JSON values, its type under `operation`."""
    fields = {f.name: getattr(operation, f.name) for f in dataclasses.fields(operation)}
    if isinstance(operation, Restore):
        fields["memory"] = memory_to_dict(operation.memory)
    if "detail" in fields:
        fields["detail"] = detail_to_dict(fields["detail"])
    if "provenance" in fields:
        fields["provenance"] = provenance_to_dict(fields["provenance"])
    fields["evidence"] = [dataclasses.asdict(item) for item in operation.evidence]
    return {"operation": _NAMES[type(operation)], **fields}


def check_proposable(operation: Operation) -> None:
    """Raise InvalidBatchError for an operation that no file can hold or that needs another one.

    Whether it breaks a rule of memories is not looked at.
    """
    if type(operation) not in _NAMES:
        raise InvalidBatchError(
            f"{type(operation).__name__} is not an operation; known: {', '.join(OPERATIONS)}."
        )
    if any(isinstance(i, int) and i < 0 for i in touched_ids(operation)):
        raise InvalidBatchError(
            "A proposal is decided on its own, so it cannot name a memory that another operation "
            "of its batch would add. Propose that one first."
        )
    try:
        written = dumps(operation_to_dict(operation))
        written.encode()
        operation_from_dict(json.loads(written))  # what cannot be read again would hide the others
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InvalidBatchError(
            f"This {type(operation).__name__} cannot be written down: {error}. Use text, whole "
            "numbers, finite numbers and the details that belong to kinds."
        ) from error


def operation_from_dict(value: Mapping[str, Any]) -> Operation:
    """The inverse of `operation_to_dict`. Raises StoreCorruptError for a type it does not know."""
    fields = dict(value)
    name = fields.pop("operation", None)
    if name not in OPERATIONS:
        raise StoreCorruptError(
            f"An operation has the unknown type {name!r}; known: {', '.join(OPERATIONS)}."
        )
    if name == "restore":
        fields["memory"] = memory_from_dict(fields["memory"])
    if "detail" in fields:
        fields["detail"] = detail_from_dict(fields["detail"])
    if "provenance" in fields:
        fields["provenance"] = provenance_from_dict(fields["provenance"])
    for listed in ("ids", "tags"):
        if fields.get(listed) is not None:
            fields[listed] = tuple(fields[listed])
    fields["evidence"] = evidence_from_list(fields.get("evidence", []))
    return OPERATIONS[name](**fields)
