"""Traces: spans of model calls, tools and agents, put together to the talk that they are parts of.

Each call of the model repeats the talk so far, so a message counts when it is there more often
than before. Tools are seen twice, as an answer in the talk and as a span of their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.messages import read_message
from memory_core.trajectories.shapes import Pictures, json_text, parsed

SpanKind: TypeAlias = Literal["model", "tool", "agent", "other"]


@dataclass
class Span:
    """One span, whatever the vendor."""

    id: str
    parent: str
    kind: SpanKind
    name: str
    start: Any = ""
    asked: list[Any] = field(default_factory=list)
    """Of a model call: the messages that went in, and those that came out."""
    answered: list[Any] = field(default_factory=list)
    arguments: str = ""
    """Of a tool: its arguments, its result, and the id of the call where it is known."""
    result: str = ""
    call_id: str = ""
    error: str | None = ""
    model: str = ""


def ordered(spans: Iterable[Span]) -> list[Span]:
    """By their start; a parent before its children."""
    return sorted(spans, key=lambda span: (str(type(span.start)), span.start, span.kind != "agent"))


def read_spans(spans: Sequence[Span], run: Run) -> Trajectory:
    """The run that the spans of one trace tell, sub-agents' runs beside it."""
    spans = _without_wrappers(spans)
    groups = _by_agent(spans)
    main, *others = groups or [list(spans)]
    _read(run, main)
    for group in others:
        child = Run(run.pictures, agent=_agent_of(group, spans))
        _read(child, group)
        trajectory = child.finish()
        if trajectory.steps:
            run.children.append(trajectory)
    return run.finish()


def _without_wrappers(spans: Sequence[Span]) -> list[Span]:
    """A model call within a model call is the same one, told twice: the inner one counts."""
    known = {span.id: span for span in spans}
    outer = set()
    for span in spans:
        above, seen = known.get(span.parent), {span.id}
        while span.kind == "model" and above is not None and above.id not in seen:
            seen.add(above.id)
            if above.kind == "model":
                outer.add(above.id)
            above = known.get(above.parent) if above.kind != "agent" else None
    return [replace(span, kind="other") if span.id in outer else span for span in spans]


def _by_agent(spans: Sequence[Span]) -> list[list[Span]]:
    """Model calls and tools by the nearest agent above them, the outermost that talks first."""
    known = {span.id: span for span in spans}
    groups: dict[str, list[Span]] = {}
    depths: dict[str, int] = {}
    for span in spans:
        if span.kind in ("model", "tool"):
            owner, depth = _owner(span, known)
            groups.setdefault(owner, []).append(span)
            depths[owner] = depth
    talking = [name for name, group in groups.items() if any(s.kind == "model" for s in group)]
    if not talking:
        return [[span for group in groups.values() for span in group]] if groups else []
    first = min(talking, key=lambda name: depths[name])
    quiet = [span for name, group in groups.items() if name not in talking for span in group]
    main = [span for span in spans if span in groups[first] or span in quiet]
    return [main, *(groups[name] for name in talking if name != first)]


def _owner(span: Span, known: dict[str, Span]) -> tuple[str, int]:
    """The nearest agent above a span, and how many agents stand above that one."""
    owner, depth, seen = "", 0, {span.id}
    above = known.get(span.parent)
    while above is not None and above.id not in seen:
        seen.add(above.id)
        if above.kind == "agent":
            depth += 1
            owner = owner or above.id
        above = known.get(above.parent)
    return owner, depth


def _agent_of(group: list[Span], spans: Sequence[Span]) -> str:
    known = {span.id: span for span in spans}
    owner, _ = _owner(group[0], known)
    return known[owner].name if owner in known else ""


def _read(run: Run, spans: list[Span]) -> None:
    told: Counter[str] = Counter()
    calls: list[tuple[str, str, str]] = []
    for span in spans:
        run.model = run.model or span.model
        if span.kind == "model":
            here: Counter[str] = Counter()
            for message in (*span.asked, *span.answered):
                for key, part in _keyed(message):
                    here[key] += 1
                    if here[key] > told[key]:
                        told[key] += 1
                        if not _is_known(run, part):
                            read_message(run, part)
                        calls += _calls_in(part)
            run.flush()
            if span.error and not span.answered:
                run.say("assistant", span.error)
                _blame(run, span.error)
        elif span.kind == "tool":
            _read_tool(run, span, calls, told)


def _is_known(run: Run, message: Any) -> bool:
    """Whether a message only tells results that spans of tools have told already."""
    quiet = Run(Pictures())
    read_message(quiet, message)
    steps = quiet.finish().steps
    if not steps or not all(step.unmatched == "result" for step in steps):
        return False
    named = quiet.orphans()
    return all(map(run.has_result, named)) if named else run.had_calls and not run.waits


def _blame(run: Run, error: str) -> None:
    if run.last is not None:
        run.last.error = error


def _keyed(message: Any) -> list[tuple[str, Any]]:
    """A message with a key that is the same wherever it is repeated; empty ones have none."""
    steps = _steps_of(message)
    keys = []
    for step in steps:
        if step.unmatched == "result":
            keys.append(f"result {step.tool} {step.observation}")
        else:
            keys.append(f"{step.role} {step.text} {step.tool} {_canonical(step.arguments)}")
    return [("\n".join(keys), message)] if keys else []


def _steps_of(message: Any) -> tuple[Any, ...]:
    quiet = Run(Pictures())
    read_message(quiet, message)
    return quiet.finish().steps


def _calls_in(message: Any) -> list[tuple[str, str, str]]:
    ids = _call_ids(message)
    calls = [step for step in _steps_of(message) if step.tool and step.unmatched != "result"]
    ids += [""] * (len(calls) - len(ids))
    return [
        (step.tool, _canonical(step.arguments), name)
        for step, name in zip(calls, ids, strict=False)
    ]


def _call_ids(message: Any) -> list[str]:
    run = Run(Pictures())
    read_message(run, message)
    return run.call_ids()


def _read_tool(run: Run, span: Span, calls: list[tuple[str, str, str]], told: Counter[str]) -> None:
    """The result goes to the call that asked for it; a tool that nobody asked for is a step."""
    written = _canonical(span.arguments)
    same = [call for call in calls if span.call_id and call[2] == span.call_id]
    same = same or [call for call in calls if call[0] == span.name and call[1] == written]
    same = same or [call for call in calls if call[0] == span.name]
    if same:
        calls.remove(same[0])
        call_id = same[0][2]
        if call_id and run.has_result(call_id):
            return
    else:
        call_id = span.call_id or f"span {span.id}"
        run.call(span.name, span.arguments, call_id)
    run.result(call_id, span.result, span.error, tool=span.name)
    told.update([f"result {span.name} {span.result}", f"result  {span.result}"])


def _canonical(arguments: str) -> str:
    value = parsed(arguments)
    if isinstance(value, dict | list):
        try:
            return json.dumps(value, sort_keys=True, default=str)
        except (TypeError, ValueError, RecursionError):
            return json_text(arguments)
    return arguments.strip()


def nested(flat: dict[str, Any]) -> dict[str, Any]:
    """Fields such as `a.0.b` as objects in lists in objects; what clashes keeps its long name."""
    root: dict[str, Any] = {}
    for name, value in flat.items():
        at: Any = root
        *path, last = name.split(".")
        for part in path:
            at = at.setdefault(part, {}) if isinstance(at, dict) else None
            if not isinstance(at, dict):
                break
        if isinstance(at, dict) and last not in at:
            at[last] = value
        else:
            root[name] = value
    return {name: _listed(value) for name, value in root.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {name: _listed(field) for name, field in value.items()}
    if inner and all(name.isdecimal() and len(name) < 7 for name in inner):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner
