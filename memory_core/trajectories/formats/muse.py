"""MUSE's history: numbered lines that say who speaks; what the agent runs stands in `<code>`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_core.run_records import Trajectory
from memory_core.trajectories.building import Run
from memory_core.trajectories.formats.format import Format
from memory_core.trajectories.source import Source

_HEAD = re.compile(
    r"^[ \t]*\d+\.[ \t]*\|[ \t]*=+[ \t]*([A-Z][A-Z _-]{1,30}?)(?: MESSAGE)?[ \t]*=+[ \t]*$",
    re.MULTILINE,
)
_NUMBER = re.compile(r"^[ \t]*\d+\.[ \t]*\|[ \t]?", re.MULTILINE)
_CODE = re.compile(r"<code>\s*(.*?)\s*(?:</code>|\Z)", re.DOTALL)


def matches(source: Source) -> bool:
    return _HEAD.search(source.text) is not None


def read(source: Source) -> Iterator[Trajectory]:
    run = Run(source.pictures, agent="MUSE")
    text = source.text.replace("\r\n", "\n")
    heads = list(_HEAD.finditer(text))
    for index, head in enumerate(heads):
        end = heads[index + 1].start() if index + 1 < len(heads) else len(text)
        said = _NUMBER.sub("", text[head.end() : end]).strip("\n")
        _read(run, head[1].strip(), run.pictures.out_of(said.strip()))
    yield run.finish()


def _read(run: Run, speaker: str, said: str) -> None:
    if "SYSTEM" in speaker:
        run.say("system", said)
    elif any(name in speaker for name in ("ASSISTANT", "AGENT", "MODEL", "AI")):
        code = _CODE.search(said)
        if code is None:
            run.say("assistant", said)
        else:
            around = (said[: code.start()] + said[code.end() :]).strip()
            run.call("code", code[1], text=around)
    elif run.last is not None and run.last.waits:
        run.result("", said)
    elif "USER" in speaker or "HUMAN" in speaker:
        run.say("user", said)
    else:
        run.result("", said)


FORMAT = Format("MUSE history", matches, read)
