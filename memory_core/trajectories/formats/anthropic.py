"""Anthropic Messages: a request, a list of messages, logs of both, or a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.exchanges import asked_in, exchanges, is_exchange
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import is_message, messages_in, read_messages
from memory_core.trajectories.outcomes import outcome_of
from memory_core.trajectories.shapes import items, mapping, objects, string, text_of
from memory_core.trajectories.source import Source
from memory_core.trajectories.streams import anthropic_messages

_PARTS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use"}
_LOOKED_AT = 200
_STREAM_MARKS = ("message_start", "content_block_")


def _is_theirs(message: Any) -> bool:
    """Whether a message has parts that only Anthropic's API writes."""
    said = mapping(message)
    parts = objects(said.get("content"))
    told = said.get("type") == "message" and said.get("role") == "assistant"
    reply = told and any(part.get("type") == "text" for part in parts)
    return bool(reply) or any(string(part.get("type")) in _PARTS for part in parts)


def _is_document(value: Any) -> bool:
    record = mapping(value)
    if _is_theirs(record):
        return True
    said = messages_in(record) or asked_in(record)
    body = mapping(mapping(record.get("request")).get("body")) or record
    named = "anthropic_version" in body or string(body.get("model")).startswith("claude")
    answered = mapping(mapping(record.get("response")).get("body")) or mapping(
        record.get("response")
    )
    return any(map(_is_theirs, said[:_LOOKED_AT])) or bool(said and named) or (
        is_exchange(record) and _is_theirs(answered)
    )  # fmt: skip


def matches(source: Source) -> bool:
    if source.head:
        head = items(source.value) or source.head
        return any(_is_document(value) for value in head[:_LOOKED_AT])
    begin = source.text[:100_000]
    return "data:" in begin and any(mark in begin for mark in _STREAM_MARKS)


def read(source: Source) -> Iterator[Trajectory]:
    if not source.head:
        run = Run(source.pictures)
        for message in anthropic_messages(source.text):
            run.model = run.model or string(message.get("model"))
            read_messages(run, [message])
        yield run.finish()
    elif any(is_exchange(value) for value in source.head):
        for talk in exchanges(source.records()):
            run = Run(source.pictures, model=talk.model)
            run.say("system", text_of(talk.system, run.pictures))
            read_messages(run, [*talk.messages, *talk.reply])
            yield run.finish()
    elif any(is_message(value) for value in source.head):
        run = Run(source.pictures)
        for value in source.records():
            run.model = run.model or string(mapping(value).get("model"))
            read_messages(run, [value])
        yield run.finish()
    else:
        for value in source.records():
            yield _document(mapping(value), source)


def _document(value: dict[str, Any], source: Source) -> Trajectory:
    model = string(value.get("model"))
    run = Run(source.pictures, model=model, outcome=outcome_of(value), name=string(value.get("id")))
    run.say("system", text_of(value.get("system"), run.pictures))
    read_messages(run, messages_in(value))
    return run.finish()


FORMAT = Format("Anthropic Messages", matches, read)
