"""Inspect: a log of an evaluation, its samples as chats with scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.messages import read_messages
from memory_core.trajectories.shapes import (
    first_string,
    items,
    mapping,
    number,
    objects,
    string,
    text_of,
)
from memory_core.trajectories.source import Source, found_in

_GRADES: dict[str, tuple[bool | None, float | None]] = {
    "C": (True, 1.0), "I": (False, 0.0), "P": (None, 0.5), "N": (False, 0.0),
    "true": (True, 1.0), "false": (False, 0.0), "yes": (True, 1.0), "no": (False, 0.0),
}  # fmt: skip
_ATTACHED = "attachment://"


def _is_log(value: dict[str, Any]) -> bool:
    return isinstance(value.get("eval"), dict) and isinstance(value.get("samples"), list)


def _is_sample(value: dict[str, Any]) -> bool:
    """A sample by itself, as it lies in an `.eval` file."""
    return "epoch" in value and "input" in value and isinstance(value.get("messages"), list)


def matches(source: Source) -> bool:
    return bool(found_in(source.head, _is_log, 1) or found_in(source.head, _is_sample, 1))


def read(source: Source) -> Iterator[Trajectory]:
    for value in source.records():
        logs = found_in(value, _is_log, 1)
        for log in logs:
            for sample in objects(log.get("samples")):
                yield _run(sample, mapping(log["eval"]), source)
        if not logs:
            for sample in found_in(value, _is_sample, 1):
                yield _run(sample, {}, source)


def _run(sample: dict[str, Any], facts: dict[str, Any], source: Source) -> Trajectory:
    attached = mapping(sample.get("attachments"))
    sample = {name: _opened(sample.get(name), attached) for name in
              ("id", "epoch", "input", "messages", "output", "scores", "error")}  # fmt: skip
    given = sample["input"]
    run = Run(
        source.pictures,
        name=f"sample {sample['id']}, epoch {sample['epoch']}",
        agent=string(facts.get("task")),
        model=string(facts.get("model")) or string(mapping(sample["output"]).get("model")),
        task=given if isinstance(given, str) else "",
        outcome=_outcome(mapping(sample["scores"]), mapping(sample["error"])),
    )
    read_messages(run, [_renamed(message) for message in objects(sample["messages"])])
    return run.finish()


def _renamed(message: dict[str, Any]) -> dict[str, Any]:
    """Calls of Inspect name their tool `function`; a call that it could not parse has an error."""
    calls = [
        {"id": call.get("id"), "name": call.get("function"), "arguments": call.get("arguments"),
         "parse_error": call.get("parse_error")}
        for call in objects(message.get("tool_calls"))
    ]  # fmt: skip
    return {**message, "tool_calls": calls} if calls else message


def _opened(value: Any, attached: dict[str, Any], depth: int = 0) -> Any:
    """A value with what was attached put in its place."""
    if isinstance(value, str) and value.startswith(_ATTACHED):
        return attached.get(value.removeprefix(_ATTACHED), value)
    if not attached or depth > 12:
        return value
    if isinstance(value, list):
        return [_opened(item, attached, depth + 1) for item in value]
    if isinstance(value, dict):
        return {name: _opened(item, attached, depth + 1) for name, item in value.items()}
    return value


def _outcome(scores: dict[str, Any], error: dict[str, Any]) -> Outcome:
    for name, scored in scores.items():
        score = mapping(scored)
        value = score.get("value")
        if isinstance(value, list | dict):
            inner = items(value) or list(mapping(value).values())
            value = inner[0] if inner else None
        told = text_of(score.get("explanation"), Run().pictures).strip()
        reason = f"{name}: {told}" if told else name
        if isinstance(value, bool):
            return Outcome(value, float(value), reason)
        if (amount := number(value)) is not None:
            return Outcome(amount >= 1, amount, reason)
        if string(value) in _GRADES:
            success, reward = _GRADES[string(value)]
            return Outcome(success, reward, reason)
    told = first_string(error, "message")
    return Outcome(False, None, told) if told else Outcome()


FORMAT = Format("Inspect", matches, read)
