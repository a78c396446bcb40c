"""A run's tool calls as they can be compared: arguments by name, commands by program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_core.reflection.counting import is_call
from memory_core.reflection.phrases import words_of
from memory_core.run_records import Step, Trajectory

LOOKED_AT = 20_000
"""Most characters of one observation in which names are sought."""
_LONGEST_ARGUMENTS = 200_000
_MOST_VALUES = 200
_SHELLS = words_of(
    "bash shell exec run sh terminal local_shell bash_command execute_bash run_command run_shell "
    "run_shell_command exec_command execute_command run_terminal_cmd container.exec "
    "run_in_terminal"
)
_COMMAND_KEYS = ("command", "cmd", "keystrokes", "script")
_NESTED_COMMANDS = words_of("git docker kubectl npm pip cargo go gh brew apt conda poetry")
_ENDINGS = words_of(
    "finish submit final_answer finish_task mark_task_complete complete_task attempt_completion "
    "task_complete done end exit stop"
)
_THINKING = words_of("think thought plan todowrite update_plan todo_write reflect")
_READING = re.compile(
    r"^(?:[\w-]+(?:\.|__|[:/]))*(?:get|list|search|find|read|view|fetch|lookup|look|open_file|cat|ls|grep|query|show|describe"
    r"|check|verify|validate|calculate|think|inspect|browse|web|glob|session_status|status)"
    r"(?:$|[_\W]|(?<=[a-z])(?=[A-Z]))",
    re.IGNORECASE,
)
_WRITES = re.compile(r"(?<![0-9&])>(?![&=\s]*/dev/null)|\bsed\s+-i|\btee\b")
_READING_PROGRAMS = frozenset(
    f"git {word}" for word in words_of("log show diff status reflog blame fsck rev-parse grep")
) | words_of(
    "ls cat head tail grep rg find wc pwd echo which tree stat file du df env ps sed awk diff cd "
    "less more sort uniq cut type printenv date whoami test true"
)
_TOUCHES = re.compile(
    r"click|fill|select_option|upload|press|type|submit|check|drag", re.IGNORECASE
)
_REJECTED = re.compile(
    r"user (?:doesn['’]t|does not|did not|didn['’]t) want|rejected by the user|user (?:rejected"
    r"|declined|denied|cancell?ed|aborted)|(?:denied|declined|cancell?ed) by (?:the )?user"
    r"|^approval:",
    re.IGNORECASE,
)
_LINK = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*$")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool, with what came back."""

    number: int
    """Of its step."""
    tool: str
    values: Mapping[str, str]
    """Arguments by dotted name; a single one without a name is under "". In order."""
    observation: str
    error: str
    text: str
    """What the agent said with it."""
    command: str = ""
    """The command line, where the tool is a shell."""
    written: bool = False
    """Whether its arguments are words rather than names with values."""
    note: str = ""
    """What the agent called it, where the arguments have a description."""
    complete: bool = True
    """Whether the source holds its result."""
    words: frozenset[str] = field(default=frozenset(), compare=False)
    """Of its arguments, to tell how like two calls are."""

    @property
    def failed(self) -> bool:
        return bool(self.error)

    @property
    def refused_by_user(self) -> bool:
        """Whether a person stopped it, which says nothing about the tool."""
        return bool(self.error) and bool(_REJECTED.search(self.error[:2_000]))

    @property
    def only_value(self) -> str | None:
        """Its argument, where it has one."""
        return next(iter(self.values.values())) if len(self.values) == 1 else None

    @property
    def ends_the_run(self) -> bool:
        return self.tool.lower() in _ENDINGS

    @property
    def only_thinks(self) -> bool:
        return self.tool.lower() in _THINKING

    @property
    def programs(self) -> tuple[str, ...]:
        """The programs of a command line, with the first word of those that have commands."""
        return tuple(_programs(self.command)) if self.command else ()

    @property
    def only_reads(self) -> bool:
        """Whether it seems to change nothing."""
        if self.only_thinks:
            return True
        if self.command:
            return not _WRITES.search(self.command) and all(
                program in _READING_PROGRAMS or program.split()[0] in _READING_PROGRAMS
                for program in self.programs
            )
        lone = self.only_value
        if lone is not None and re.match(
            r"\s*(?:select|show|describe|explain|pragma)\b", lone, re.I
        ):
            return True
        if "brows" in self.tool.lower() and _TOUCHES.search(lone or self.tool):
            return False
        return bool(_READING.match(self.tool))


def calls_of(trajectory: Trajectory) -> tuple[Call, ...]:
    """The calls of a run in order, without those of sub-agents."""
    return tuple(_call(step) for step in trajectory.steps if is_call(step))


def _call(step: Step) -> Call:
    parsed = _parsed(step.arguments)
    note = ""
    if isinstance(parsed, dict):
        parsed = {str(key): value for key, value in parsed.items()}
        told = parsed.get("description") if len(parsed) > 1 else None
        if isinstance(told, str) and any(key in parsed for key in (*_COMMAND_KEYS, "prompt")):
            note = told
            del parsed["description"]
    values = dict(_flat(parsed))
    command = _command(step.tool, parsed)
    words = re.findall(r"\w+", " ".join(values.values())[:LOOKED_AT].lower())
    return Call(
        step.number,
        step.tool.strip(),
        values,
        step.observation,
        step.error,
        step.text,
        command,
        not isinstance(parsed, dict | list),
        note,
        step.unmatched != "call",
        frozenset(words),
    )


def _parsed(arguments: str) -> Any:
    """The arguments as JSON, or as they are written."""
    if len(arguments) <= _LONGEST_ARGUMENTS and arguments.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(arguments)
        except (ValueError, RecursionError):
            pass
    return arguments


def _flat(value: Any) -> Iterator[tuple[str, str]]:
    """Names with values, nested ones with a dot between."""
    waiting: list[tuple[str, Any]] = [("", value)]
    told = 0
    while waiting and told < _MOST_VALUES:
        name, one = waiting.pop()
        if isinstance(one, dict):
            inner = [(str(key), item) for key, item in one.items()]
        elif isinstance(one, list):
            inner = [(str(place), item) for place, item in enumerate(one[:_MOST_VALUES])]
        else:
            told += 1
            yield name, _shown(one)
            continue
        waiting += [(f"{name}.{key}" if name else key, item) for key, item in reversed(inner)]


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):  # a whole number of 5,000 digits
        return ""


def _command(tool: str, parsed: Any) -> str:
    """The command line of a call of a shell; empty for any other."""
    if isinstance(parsed, dict):
        for key in _COMMAND_KEYS:
            told = parsed.get(key)
            if isinstance(told, list) and told and all(isinstance(part, str) for part in told):
                shell = told[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh")
                return told[-1] if shell and len(told) > 1 else " ".join(told)
            if isinstance(told, str) and (key != "command" or _is_shell(tool)):
                return told
        return ""
    if not isinstance(parsed, str):
        return ""
    words = parsed.split(None, 1)
    if _is_shell(tool) and words:
        return parsed
    # Some logs name the program as the tool, and write the whole line as its arguments.
    return parsed if words and words[0] == tool and _is_program(tool) else ""


def _is_shell(tool: str) -> bool:
    return tool.lower().rsplit("__", 1)[-1] in _SHELLS


def _is_program(tool: str) -> bool:
    # `go to cabinet 2` is no command line.
    return tool in (_NESTED_COMMANDS - {"go"}) or tool in _READING_PROGRAMS or tool in (
        "python", "python3", "curl", "rm", "mv", "cp", "mkdir", "pytest", "make", "node", "psql",
    )  # fmt: skip


def _programs(command: str) -> Iterator[str]:
    text = command.split("<<", 1)[0][:2_000]
    for part in _LINK.split(text):
        words = part.split()
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("sudo", "time", "nohup")):
            words.pop(0)
        if not words or words[0] == "cd" or not re.match(r"[\w./~-]+$", words[0]):
            continue
        name = words[0].rsplit("/", 1)[-1]
        if name in _NESTED_COMMANDS:
            inner = next((word for word in words[1:] if re.match(r"[a-z][\w-]*$", word)), "")
            name = f"{name} {inner}".strip()
        if name:
            yield name


def likeness(first: Call, second: Call) -> float:
    """Share of the words of two calls' arguments that both have, in [0, 1]."""
    both = first.words | second.words
    return len(first.words & second.words) / len(both) if both else 1.0
