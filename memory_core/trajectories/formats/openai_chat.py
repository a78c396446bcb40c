"""OpenAI chat and its kin: messages with a role; the arguments of calls are JSON text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.exchanges import (
    answer_of,
    exchanges,
    is_exchange,
    reply_in,
)
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import is_item, is_message, messages_in, read_messages
from memory_core.trajectories.outcomes import outcome_of
from memory_core.trajectories.shapes import first_string, mapping, objects, string
from memory_core.trajectories.source import Source
from memory_core.trajectories.streams import openai_message

_LOOKED_AT = 200


def _is_document(value: Any) -> bool:
    record = mapping(value)
    if {"epoch", "input"} <= set(record) or "agent_type" in record:
        return False  # a sample of Inspect, or an agent of Letta: these know more about it
    said = messages_in(record)
    talk = bool(said) and not any(map(is_item, said[:_LOOKED_AT]))
    return talk or _is_completion(record)


def _is_completion(record: dict[str, Any]) -> bool:
    return any(isinstance(choice.get("message"), dict) for choice in objects(record.get("choices")))


def matches(source: Source) -> bool:
    head = source.head
    if not head:
        return bool('"choices"' in source.text and openai_message(source.text))
    if any(map(is_item, source.value[:_LOOKED_AT] if isinstance(source.value, list) else head)):
        return False
    talk = sum(map(is_message, head)) * 2 >= len(head)
    return talk or any(_is_document(value) or _is_chat_log(value) for value in head)


def _is_chat_log(value: Any) -> bool:
    record = mapping(value)
    if record.get("object") == "response":  # it knows more about its own input and output
        return False
    return is_exchange(record) and not any(map(is_item, answer_of(record)))


def read(source: Source) -> Iterator[Trajectory]:
    head = source.head
    if not head:
        message = openai_message(source.text)
        yield _talk(source, [message], string(message.get("model")))
    elif any(_is_chat_log(value) for value in head) and not any(map(_is_document, head)):
        for exchange in exchanges(source.records()):
            yield _talk(source, [*exchange.messages, *exchange.reply], exchange.model)
    elif sum(map(is_message, head)) * 2 >= len(head):
        yield _talk(source, source.records())
    else:
        for value in source.records():
            if _is_document(value):
                yield _document(value, source)


def _talk(source: Source, messages: Any, model: str = "") -> Trajectory:
    run = Run(source.pictures, model=model)
    read_messages(run, messages)
    return run.finish()


def _document(value: dict[str, Any], source: Source) -> Trajectory:
    run = Run(
        source.pictures,
        name=first_string(value, "id", "task_id", "instance_id", "session_id", "conversation_id"),
        model=string(value.get("model")),
        agent=string(value.get("agent")),
        task=first_string(value, "task", "instruction"),
        outcome=outcome_of(value),
    )
    read_messages(run, messages_in(value))
    read_messages(run, reply_in(value) or reply_in(value.get("response")))
    return run.finish()


FORMAT = Format("OpenAI chat", matches, read)
