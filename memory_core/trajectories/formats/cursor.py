"""Cursor: JSONL of {role, message}; there are no ids, times or results of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import read_message
from memory_core.trajectories.shapes import mapping
from memory_core.trajectories.source import Source

_ASKED = re.compile(r"<user_query>\s*(.+?)\s*</user_query>", re.DOTALL)
"""The user's own words among the files and rules that Cursor puts around them."""


def _is_line(value: Any) -> bool:
    record = mapping(value)
    return record.get("role") in ("user", "assistant") and "type" not in record and (
        "content" in mapping(record.get("message"))
    )  # fmt: skip


def matches(source: Source) -> bool:
    return any(_is_line(value) for value in source.head)


def read(source: Source) -> Iterator[Trajectory]:
    run = Run(source.pictures, agent="Cursor")
    for value in source.records():
        if _is_line(value):
            read_message(run, {"role": value["role"], **_without_type(value["message"])})
    if asked := _ASKED.search(run.finish().task):
        run.task = asked[1]
    yield run.finish()


def _without_type(message: dict[str, Any]) -> dict[str, Any]:
    return {name: field for name, field in message.items() if name not in ("type", "role")}


FORMAT = Format("Cursor", matches, read)
