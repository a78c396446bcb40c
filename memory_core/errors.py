"""What can go wrong, as a tree. Every message says what was wrong, where, and what to do.

MemoryCoreError
├── InvalidMemoryError          a memory's own fields break a rule
├── MemoryNotFoundError         no memory (or query, retrieval, proposal) has this id
├── RevisionNotFoundError       the bank has no such revision
├── InvalidBatchError           a batch holds refused operations
├── StalePlanError              what the plan touches has changed since it was made
├── StoreError                  the bank's file
│   ├── StoreBusyError          another process holds it for too long
│   ├── StoreFullError          no space left on the device
│   ├── StorePermissionError    the operating system forbids it
│   ├── StoreCorruptError       not a bank, cut short, or damaged
│   └── NewerStoreError         written by a newer version
├── EncodingDriftError          the bank was embedded by another model
├── UnreadableTrajectoryError   no format fits
├── ReflectionError             a reflector failed
├── LoopError                   an agent or its environment failed
├── InterchangeError            an import or export failed
└── MissingDependencyError      an optional package is not installed
"""

from __future__ import annotations


class MemoryCoreError(Exception):
    """Root of all errors that this library raises on purpose."""


class InvalidMemoryError(MemoryCoreError):
    """A memory's fields break a rule; the message names the field and the rule."""


class MemoryNotFoundError(MemoryCoreError):
    """No memory, query, retrieval or proposal has the id that was asked for."""


class RevisionNotFoundError(MemoryCoreError):
    """The bank has no such revision."""


class InvalidBatchError(MemoryCoreError):
    """A batch holds operations that are refused; the message lists them with their reasons."""


class StalePlanError(MemoryCoreError):
    """Memories that the plan touches have changed since it was made; plan again."""


class StoreError(MemoryCoreError):
    """The bank's file could not be read or written."""


class StoreBusyError(StoreError):
    """Another process held the bank for longer than the wait allows."""


class StoreFullError(StoreError):
    """The device has no space left; nothing was written."""


class StorePermissionError(StoreError):
    """The operating system forbids reading or writing the bank or its folder."""


class StoreCorruptError(StoreError):
    """The file is not a bank, was cut short, or is damaged."""


class NewerStoreError(StoreError):
    """The bank was written by a newer version of Winnow or DuckDB."""


class EncodingDriftError(MemoryCoreError):
    """The bank's vectors come from another model than the one given."""


class UnreadableTrajectoryError(MemoryCoreError):
    """No known format fits the text."""


class ReflectionError(MemoryCoreError):
    """A reflector failed; the trajectory is kept."""


class LoopError(MemoryCoreError):
    """An agent or its environment failed; the run so far is kept."""


class InterchangeError(MemoryCoreError):
    """An import or an export failed; the bank is unchanged."""


class MissingDependencyError(MemoryCoreError):
    """An optional package is missing; the message carries its install line."""
