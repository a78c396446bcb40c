"""OpenHands: a stream of events, each an action or what one gave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memory_core.run_records import Outcome, Role, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.outcomes import outcome_of
from memory_core.trajectories.shapes import (
    first_string,
    items,
    json_text,
    mapping,
    parsed,
    string,
    text_of,
    verdict_of,
)
from memory_core.trajectories.source import Source

_HOUSEKEEPING = {"recall", "change_agent_state", "agent_state_changed", "null", "condensation",
                 "condensation_request", "pause", "stop", "start", "user_rejected"}  # fmt: skip
_NOISE = {
    "thought", "impl_source", "translated_ipython_code", "hidden", "blocking", "is_static",
    "confirmation_state", "security_risk", "is_input", "wait_for_response", "kind",
}  # fmt: skip
"""Arguments that an action always has, and that say nothing about it."""
_DONE = {"true": True, "false": False}


def _is_event(value: Any) -> bool:
    event = mapping(value)
    return isinstance(event.get("source"), str) and (
        "action" in event or "observation" in event or string(event.get("kind")).endswith("Event")
    )


def _events_of(row: Any) -> list[Any]:
    """The events in a row of an evaluation, which holds them beside the verdict."""
    for name in ("history", "events", "trajectory"):
        events = _flat(mapping(row).get(name))
        if any(map(_is_event, events[:5])):
            return events
    return []


def _flat(value: Any) -> list[Any]:
    """Older files pair each action with its observation."""
    return [part for item in items(value) for part in (item if isinstance(item, list) else [item])]


def matches(source: Source) -> bool:
    some = source.head[:6]
    return sum(map(_is_event, some)) * 2 > len(some) or any(map(_events_of, some))


def read(source: Source) -> Iterator[Trajectory]:
    if any(map(_events_of, source.head[:6])):
        for row in source.records():
            if events := _events_of(row):
                yield _run(events, row, source)
    else:
        yield _run(source.records(), {}, source)


def _run(events: Iterable[Any], row: dict[str, Any], source: Source) -> Trajectory:
    run = Run(
        source.pictures,
        name=string(row.get("instance_id")),
        agent="OpenHands",
        task=string(row.get("instruction")),
        outcome=outcome_of(row),
    )
    for event in events:
        if _is_event(event):
            (_read_new if "kind" in event else _read)(run, event)
    return run.finish()


def _read(run: Run, event: dict[str, Any]) -> None:
    _note_model(run, event)
    arguments = mapping(event.get("args"))
    action = string(event.get("action"))
    if "observation" in event and not action:
        _read_observation(run, event)
    elif action in ("message", "system"):
        speaker: Role = "system" if action == "system" else _speaker(event)
        run.say(speaker, text_of(arguments.get("content") or event.get("message"), run.pictures))
    elif action and action not in _HOUSEKEEPING:
        kept = {k: v for k, v in arguments.items() if k not in _NOISE and v not in (None, "", [])}
        thought = text_of(arguments.get("thought"), run.pictures)
        final = action in ("finish", "reject")
        if final:
            _note_end(run, arguments, event)
            thought = thought or first_string(arguments, "final_thought")
            thought = thought or string(event.get("message"))
        call_id, written = string(event.get("id")), json_text(kept) if kept else ""
        run.call(action, written, call_id, text=thought, final=final)


def _speaker(event: dict[str, Any]) -> Role:
    speakers: dict[str, Role] = {"user": "user", "agent": "assistant"}
    return speakers.get(string(event.get("source")), "system")


def _note_model(run: Run, event: dict[str, Any]) -> None:
    if not run.model:
        called = mapping(event.get("tool_call_metadata"))
        run.model = string(mapping(called.get("model_response")).get("model"))


def _note_end(run: Run, arguments: dict[str, Any], event: dict[str, Any]) -> None:
    if run.outcome.success is None and run.outcome.reward is None:
        done = string(arguments.get("task_completed")).lower()
        reason = done or string(event.get("action"))
        run.outcome = Outcome(_DONE.get(done), None, reason)


def _read_observation(run: Run, event: dict[str, Any]) -> None:
    kind, extras = string(event.get("observation")), mapping(event.get("extras"))
    text = text_of(event.get("content") or "", run.pictures)
    if kind in _HOUSEKEEPING:
        if string(extras.get("agent_state")) == "error":
            run.outcome = Outcome(False, None, first_string(extras, "reason") or text or "error")
        return
    error = verdict_of(mapping(extras.get("metadata")), text)
    if error == "":
        error = verdict_of(extras, text)
    if kind == "error" or extras.get("error") is True:
        error = text or "error"
    cause = event.get("cause")
    run.result("" if cause is None else string(cause), text, error)


def _read_new(run: Run, event: dict[str, Any]) -> None:
    """Events of the later SDK, which name their kind."""
    kind = string(event.get("kind"))
    call_id = string(event.get("tool_call_id"))
    if kind == "ActionEvent":
        call, tool = mapping(event.get("tool_call")), string(event.get("tool_name"))
        arguments = parsed(call.get("arguments") or mapping(call.get("function")).get("arguments"))
        arguments = arguments or event.get("action")
        kept = {k: v for k, v in mapping(arguments).items() if k not in _NOISE}
        thought = text_of(event.get("thought"), run.pictures)
        run.think(text_of(event.get("reasoning_content"), run.pictures))
        written = json_text(kept) if kept else ""
        run.call(tool, written, call_id, text=thought, final=tool == "finish")
    elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
        seen = mapping(event.get("observation"))
        text = text_of(
            seen.get("content") or seen.get("output") or event.get("error"), run.pictures
        )
        error = verdict_of(seen, text) if kind == "ObservationEvent" else text or kind
        run.result(call_id, text, error, tool=string(event.get("tool_name")))
    elif kind == "MessageEvent":
        run.say(_speaker(event), text_of(mapping(event.get("llm_message")).get("content"),
                                         run.pictures))  # fmt: skip
    elif kind == "SystemPromptEvent":
        run.say("system", text_of(event.get("system_prompt"), run.pictures))


FORMAT = Format("OpenHands events", matches, read)
