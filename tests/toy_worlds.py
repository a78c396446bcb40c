"""Small worlds and agents for tests of the loop; each is a real one of its protocol."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memory_core import Action, Hit, Observation, Task


@dataclass
class Corridor:
    """Walk east so many steps to win; every step is worth a point. West loses."""

    length: int = 3
    at: int = 0
    closed: int = 0

    def reset(self, task: Task) -> Observation:
        self.at = 0
        return self._seen("You stand in a corridor.")

    def step(self, action: str) -> Observation:
        if action == "go west":
            return self._seen("You fall.", lost=True)
        if action == "go east":
            self.at += 1
        return self._seen(f"You are at {self.at}.")

    def close(self) -> None:
        self.closed += 1

    def _seen(self, text: str, *, lost: bool = False) -> Observation:
        won = self.at >= self.length
        return Observation(
            text,
            actions=("go east", "go west", "wait"),
            reward=float(self.at),
            done=lost or won,
            success=None if not (lost or won) else won,
            description=f"Place {self.at}\nA corridor.",
            inventory="You carry nothing.",
        )


@dataclass
class Scripted:
    """Does what it was told, and then the last of it; follows the first memory it was given."""

    actions: Sequence[str] = ("go east",)
    name: str = "scripted"
    prompts: list[str] = field(default_factory=list)
    done: int = 0
    hits: Sequence[Hit] = ()

    def begin(self, task: Task, injection: str, hits: Sequence[Hit]) -> None:
        self.prompts.append(injection)
        self.hits, self.done = hits, 0

    def act(self, observation: Observation) -> Action:
        text = self.actions[min(self.done, len(self.actions) - 1)]
        self.done += 1
        return Action(text, followed=tuple(hit.memory.id for hit in self.hits[:1]))


@dataclass
class Failing:
    """An agent that fails at a step, by whatever `fail` does."""

    at: int
    fail: Callable[[], object]
    name: str = "failing"
    done: int = 0

    def begin(self, task: Task, injection: str, hits: Sequence[Hit]) -> None:
        self.done = 0

    def act(self, observation: Observation) -> Action:
        if self.done == self.at:
            self.fail()
        self.done += 1
        return Action("go east")


class Remote:
    """A corridor in a process of its own."""

    _WORLD = (
        "import sys\n"
        "at = 0\n"
        "for line in sys.stdin:\n"
        "    at += line.strip() == 'go east'\n"
        "    print(at, flush=True)\n"
    )

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", self._WORLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def reset(self, task: Task) -> Observation:
        return self._asked("look")

    def step(self, action: str) -> Observation:
        return self._asked(action)

    def _asked(self, line: str) -> Observation:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise EOFError("the world has gone away")
        return Observation(f"at {answer.strip()}", reward=float(answer))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
