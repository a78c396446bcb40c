"""OpenAI's Responses API, its items, and the state of a run of the Agents SDK."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.exchanges import asked_in, exchanges, is_exchange
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import is_item, is_message, read_message, read_messages
from memory_core.trajectories.outcomes import outcome_of
from memory_core.trajectories.shapes import items, mapping, objects, string, text_of
from memory_core.trajectories.source import Source
from memory_core.trajectories.streams import finished_response

_LOOKED_AT = 200


def _is_state(value: Any) -> bool:
    record = mapping(value)
    return "$schemaVersion" in record and "generated_items" in record


def _is_response(value: Any) -> bool:
    record = mapping(value)
    put_out = items(record.get("output"))
    return record.get("object") == "response" or any(
        is_item(item) or (is_message(item) and mapping(item).get("type") == "message")
        for item in put_out[:20]
    )


def _is_document(value: Any) -> bool:
    said = [item for name in ("input", "items", "messages", "history", "new_items")
            for item in items(mapping(value).get(name))[:_LOOKED_AT]]  # fmt: skip
    return _is_state(value) or _is_response(value) or any(map(is_item, said))


def matches(source: Source) -> bool:
    head = source.value if isinstance(source.value, list) else source.head
    if not head:
        return "response.completed" in source.text and bool(finished_response(source.text))
    return any(
        is_item(value) or _is_document(value) or (is_exchange(value) and _is_log(value))
        for value in head[:_LOOKED_AT]
    )


def _is_log(value: Any) -> bool:
    reply = mapping(mapping(value).get("response"))
    return _is_response(reply) or _is_response(reply.get("body"))


def read(source: Source) -> Iterator[Trajectory]:
    head = source.head
    if not head:
        yield _document(finished_response(source.text), source)
    elif any(is_exchange(value) and _is_log(value) for value in head):
        for talk in exchanges(source.records()):
            run = Run(source.pictures, model=talk.model)
            run.say("system", text_of(talk.system, run.pictures))
            read_messages(run, _with_types([*talk.messages, *talk.reply]))
            yield run.finish()
    elif any(map(_is_document, head)):
        for value in source.records():
            if _is_document(value):
                yield (_state if _is_state(value) else _document)(mapping(value), source)
    else:
        run = Run(source.pictures)
        for value in source.records():
            read_messages(run, _with_types([value]))
        yield run.finish()


def _with_types(messages: list[Any]) -> list[Any]:
    """An answer goes with the call that follows it: it is an item of the same turn."""
    return [
        {**message, "type": "message"}
        if isinstance(message, dict) and message.get("role") == "assistant"
        else message
        for message in messages
    ]


def _document(value: dict[str, Any], source: Source) -> Trajectory:
    run = Run(
        source.pictures, name=string(value.get("id")), model=string(value.get("model")),
        outcome=outcome_of(value),
    )  # fmt: skip
    run.say("system", text_of(value.get("instructions"), run.pictures))
    lists = (items(value.get(name)) for name in ("items", "messages", "history", "new_items"))
    asked = asked_in({"input": value.get("input")}) or items(value.get("input"))
    said = [*asked, *next((found for found in lists if found), []), *items(value.get("output"))]
    read_messages(run, _with_types(said))
    return run.finish()


def _state(value: dict[str, Any], source: Source) -> Trajectory:
    agent = mapping(value.get("current_agent"))
    run = Run(source.pictures, agent=string(agent.get("name")))
    asked = value.get("original_input")
    said = [{"role": "user", "content": asked}] if isinstance(asked, str) else items(asked)
    read_messages(run, _with_types(said))
    told = objects(value.get("generated_items")) or objects(value.get("session_items"))
    for item in told:
        run.agent = run.agent or string(mapping(item.get("agent")).get("name"))
        raw = mapping(item.get("raw_item"))
        if "output" in item and "output" not in raw:
            raw = {**raw, "output": item["output"]}
        for one in _with_types([raw]):
            read_message(run, one)
    return run.finish()


FORMAT = Format("OpenAI Responses", matches, read)
