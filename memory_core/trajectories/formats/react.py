"""ReAct as text: thoughts, actions and observations, or commands of a text world.

One file may hold many episodes, each with its question or its task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from memory_core.run_records import Outcome, Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.shapes import mapping
from memory_core.trajectories.source import ABSENT, Source

_LABEL = re.compile(
    r"^[ \t>*#-]{0,4}\**(Thought|Action Input|Action|Observation|Question|Task|Reflections?|"
    r"Final Answer|Answer|Correct answer|STATUS)\**[ \t]*(\d*)\**[ \t]*:\**[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_TOOL = re.compile(r"\s*([A-Za-z_][\w .-]{0,60}?)\s*([\[(])(.*)[\])]\s*\.?\s*$", re.DOTALL)
_WORLD = re.compile(r"^(?:>|Action:)[ \t]*\S", re.MULTILINE)
_TASK = re.compile(r"^[ \t]*Your task is to:?[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
_COMMAND = re.compile(r"^>[ \t]*(.*)$", re.MULTILINE)
_RULE = re.compile(r"^[-=#*_ ]{6,}(?:BEGIN [A-Z ]+|END [A-Z ]+)?[-=#*_ ]{0,40}$", re.MULTILINE)
_AGAIN = re.compile(r"You have attempted to answer following question before.*", re.DOTALL)
_SCORE = re.compile(r"Your score \(min 0\.0, max 1\.0\):\s*([01](?:\.\d+)?)")
_WON = re.compile(r"answer is correct|task completed|you won|episode succeeded|\*\*\* success",
                  re.IGNORECASE)  # fmt: skip
_LOST = re.compile(r"answer is incorrect|you lost|episode failed|task failed", re.IGNORECASE)
_NEEDED = 2
"""Labels of each kind that make a text ReAct: one alone may be a quotation."""


@dataclass(frozen=True, slots=True)
class _Piece:
    label: str
    text: str


def _texts(source: Source) -> Iterator[tuple[str, str]]:
    """Names and texts: the whole, or the texts in a JSON object or list of them."""
    if source.value is ABSENT:
        yield "", source.text.replace("\r\n", "\n")
    elif isinstance(source.value, str):
        yield "", source.value
    else:
        value = source.value
        named: Any = mapping(value).items() if isinstance(value, dict) else enumerate(value or ())
        for name, text in named if isinstance(value, dict | list) else ():
            if isinstance(text, str) and "\n" in text:
                yield (name if isinstance(name, str) else ""), text.replace("\r\n", "\n")


def matches(source: Source) -> bool:
    return any(_is_labelled(text) or _is_world(text) for _, text in _texts(source))


def _is_labelled(text: str) -> bool:
    labels = [match[1].lower() for match in _LABEL.finditer(text[:200_000])]
    actions = labels.count("action")
    answers = labels.count("observation") + labels.count("final answer")
    thoughts = labels.count("thought")
    return actions >= 1 and answers >= 1 and actions + answers + thoughts > _NEEDED


def _is_world(text: str) -> bool:
    task = _TASK.search(text)
    return task is not None and _COMMAND.search(text, task.end()) is not None


def read(source: Source) -> Iterator[Trajectory]:
    for name, text in _texts(source):
        labelled = _is_labelled(text)
        if labelled or _is_world(text):
            for episode in (_labelled if labelled else _world)(text, source):
                if len(episode.steps) > 0:
                    yield replace(episode, name=episode.name or name)


# -- thoughts, actions, observations ------------------------------------------------------------


def _pieces(text: str) -> Iterator[_Piece]:
    labels = list(_LABEL.finditer(text))
    before = _RULE.sub("", text[: labels[0].start()] if labels else text).strip()
    if before:
        yield _Piece("", before)
    for index, label in enumerate(labels):
        end = labels[index + 1].start() if index + 1 < len(labels) else len(text)
        yield _Piece(label[1].lower(), _RULE.sub("", text[label.end() : end]).strip())


def _labelled(text: str, source: Source) -> Iterator[Trajectory]:
    run, begun, action = Run(source.pictures), False, ""
    for piece in _pieces(text):
        if piece.label in ("question", "task") and begun:
            run = yield_end(run, action)
            yield run.finish()
            run, begun, action = Run(source.pictures), False, ""
        if action and piece.label != "action input":
            _act(run, action, "")
            action = ""
        if piece.label == "action":
            action = piece.text
        elif piece.label == "action input":
            _act(run, action or "unnamed tool", piece.text)
            action = ""
        else:
            _read(run, piece)
        begun = begun or piece.label not in ("", "reflection", "reflections")
    yield yield_end(run, action).finish()


def yield_end(run: Run, action: str) -> Run:
    """The run with its last action, which nothing answered."""
    if action:
        _act(run, action, "")
    return run


def _act(run: Run, action: str, given: str) -> None:
    tool, arguments = (action, given) if given else call_in(action)
    run.call(tool, arguments)


def call_in(action: str) -> tuple[str, str]:
    """Tool and arguments of an action: `Search[Paris]`, or a command, whose verb is the tool."""
    told = _TOOL.match(action)
    if told and " " not in told[1]:
        return told[1], told[3].strip()
    return (action.split() or ["unnamed tool"])[0].strip(":,."), action.strip()


def _read(run: Run, piece: _Piece) -> None:
    text = run.pictures.out_of(piece.text)
    if piece.label in ("question", "task"):
        run.say("user", _AGAIN.sub("", text).strip())
        run.task = run.task or _AGAIN.sub("", text).strip()
        if again := _AGAIN.search(text):
            run.say("system", again[0].strip())
    elif piece.label == "thought":
        run.think(text)
    elif piece.label == "observation":
        run.result("", text)
        _judge(run, text)
    elif piece.label == "correct answer":
        run.outcome = replace(run.outcome, reason=f"correct answer: {text}")
    elif piece.label == "status":
        run.outcome = Outcome(text.upper().startswith("OK"), None, f"status {text}")
    elif piece.label.startswith("reflection") or not piece.label:
        run.say("system", text)
    else:  # an answer
        run.speak(text)


def _judge(run: Run, text: str) -> None:
    score = _SCORE.search(text)
    if score:
        run.outcome = Outcome(float(score[1]) >= 1, float(score[1]), score[0])
    elif _LOST.search(text):
        run.outcome = Outcome(False, None, text[:200])
    elif _WON.search(text):
        run.outcome = Outcome(True, None, text[:200])


# -- text worlds --------------------------------------------------------------------------------


def _world(text: str, source: Source) -> Iterator[Trajectory]:
    tasks = list(_TASK.finditer(text))
    for index, task in enumerate(tasks):
        begin = _scene_before(text, task.start(), tasks[index - 1].end() if index else 0)
        end = len(text)
        if index + 1 < len(tasks):
            end = _scene_before(text, tasks[index + 1].start(), task.end())
        yield _episode(text[begin : task.start()].strip(), task, text[task.end() : end], source)


def _scene_before(text: str, at: int, earliest: int) -> int:
    """Where the scene of a task begins: the paragraph in front of it."""
    gap = text.rfind("\n\n", earliest, max(earliest, at - 1))
    last_command = max((m.end() for m in _COMMAND.finditer(text, earliest, at)), default=earliest)
    return max(gap, last_command, earliest)


def _episode(scene: str, task: re.Match[str], text: str, source: Source) -> Trajectory:
    run = Run(source.pictures, task=task[1].strip())
    lines = _LABEL.sub("", scene).strip() if scene.lower().startswith("task") else scene
    run.say("user", f"{lines}\n{task[0].strip()}".strip())
    commands = list(_COMMAND.finditer(text))
    for index, command in enumerate(commands):
        end = commands[index + 1].start() if index + 1 < len(commands) else len(text)
        answer = text[command.end() : end]
        if told := re.search(r"^STATUS:[ \t]*(\w+)", answer, re.MULTILINE):
            run.outcome = Outcome(told[1].upper() == "OK", None, f"status {told[1]}")
            answer = answer[: told.start()]
        answer = run.pictures.out_of(_RULE.sub("", answer).strip())
        said = command[1].strip()
        if said.lower().startswith("think:"):
            run.think(said[6:].strip())
        elif said:
            run.call(*call_in(said), final=not answer)
            if answer:
                run.result("", answer)
                _judge(run, answer)
    return run.finish()


FORMAT = Format("ReAct text", matches, read)
