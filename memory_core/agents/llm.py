"""An agent that asks a language model what to do, with the injected memories before everything."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from memory_core.language_models.providers import ApiKey, language_model, parse_spec
from memory_core.language_models.requests import Asked, Patience
from memory_core.loop_records import Action, Observation, Task
from memory_core.reflection.asking import usage_of
from memory_core.reflection_records import TokenUsage
from memory_core.retrieval import Hit

MOST_REPLY = 2048
"""Tokens of one answer; models that think aloud need many before they say anything."""
MOST_HISTORY = 12_000
"""Characters of what has happened that a request repeats; of more, the middle is left out."""
RULES = """\
You act in an environment, one action at a time, to complete a task.
The guidelines above, if any, were learned in earlier sessions. Follow those that fit; ignore the \
rest.
Answer in exactly this form:
Thought: one sentence on what to do next
Guidelines: the labels of the guidelines you follow now, such as G0, G2, or none
Action: one action, exactly as it stands in the list of possible actions, if there is one"""

_ACTION = re.compile(r"^[\s>*#-]*action\**\s*:\**\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^[\s>*#-]*thought\**\s*:\**\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_FOLLOWED = re.compile(r"^[\s>*#-]*guidelines\**\s*:\**\s*(.*)$", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"\bG\s?(\d+)\b", re.IGNORECASE)
_ALOUD = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


class LLMAgent:
    """Any provider's model, by a string such as `openai:gpt-5-mini` or `local:model.gguf`."""

    def __init__(
        self, model: str, *, base_url: str = "", api_key: ApiKey = None, timeout: float = 120.0
    ) -> None:
        """The model is reached at the first action. Raises ReflectionError for a wrong string."""
        parse_spec(model)
        self.name = model
        self.usage = TokenUsage(cost=0.0)
        """Of all sessions together; the cost is None where a price is not known."""
        self._base_url, self._api_key = base_url, api_key
        self._patience = Patience(timeout)
        self._asked: Asked | None = None
        self.begin(Task(""), "", ())

    def begin(self, task: Task, injection: str, hits: Sequence[Hit]) -> None:
        """A new session: nothing is remembered but what is injected."""
        self._task = task
        self._system = f"{injection}\n\n{RULES}".strip()
        self._ids = {hit.rank - 1: hit.memory.id for hit in hits}
        self._history: list[str] = []
        self._last = ""

    def act(self, observation: Observation) -> Action:
        """Ask for the next action. Raises ReflectionError where the model cannot be asked."""
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        if self._asked is None:
            model = language_model(self.name, self._base_url, api_key=self._api_key)
            self._asked = Asked(model, self.name, self._patience)
        said = f"> {self._last}\n{observation.text}" if self._last else observation.text
        self._history.append(said)
        question = UserPromptPart(self._question(observation))
        response = self._asked.ask(
            [ModelRequest(parts=[SystemPromptPart(self._system), question])],
            max_tokens=MOST_REPLY,
        )
        self.usage += usage_of(response)
        action = read_reply(_words(response), observation.actions, self._ids)
        self._last = action.text
        return action

    def close(self) -> None:
        """Close the connections."""
        if self._asked is not None:
            self._asked.close()
            self._asked = None

    def _question(self, now: Observation) -> str:
        parts = [f"Task: {self._task.text}", "What has happened:\n" + _shortened(self._history)]
        if now.inventory:
            parts.append(f"Inventory: {now.inventory}")
        if now.actions:
            parts.append("Possible actions:\n" + "\n".join(f"- {one}" for one in now.actions))
        return "\n\n".join(parts)


def read_reply(text: str, admissible: Sequence[str], ids: Mapping[int, int]) -> Action:
    """An action out of a model's words; `ids` maps the number of a label to its memory.

    Where the words do not name an admissible action, they are passed on as they are: the
    environment answers to that better than a guess would.
    """
    plain = _ALOUD.sub("", text).strip()
    thought = next(iter(_THOUGHT.findall(plain)), "")
    labels = _LABEL.findall(" ".join(_FOLLOWED.findall(plain)))
    followed = dict.fromkeys(ids[int(n)] for n in labels if int(n) in ids)
    said = (_ACTION.findall(plain) or [line for line in plain.splitlines() if line.strip()])[-1:]
    chosen = _clean(said[0]) if said else ""
    return Action(_admissible(chosen, admissible), thought, tuple(followed))


def _clean(said: str) -> str:
    return said.strip().strip("`*\"'“”[]>.- ").strip()


def _admissible(said: str, admissible: Sequence[str]) -> str:
    """The admissible action that was meant; what was said where that is none."""
    by_words = {" ".join(one.lower().split()): one for one in admissible}
    plain = " ".join(said.lower().split())
    if plain in by_words:
        return by_words[plain]
    named = [words for words in by_words if re.search(rf"\b{re.escape(words)}\b", plain)]
    return by_words[max(named, key=len)] if named else said


def _shortened(history: Sequence[str]) -> str:
    """The first answer and as many of the last ones as there is room for."""
    first, *rest = history
    kept: list[str] = []
    room = MOST_HISTORY - len(first)
    for said in reversed(rest):
        room -= len(said)
        if room < 0:
            kept.append("…")
            break
        kept.append(said)
    return "\n\n".join([first, *reversed(kept)])


def _words(response: Any) -> str:
    parts = (part for part in response.parts if part.part_kind == "text")
    return "\n".join(part.content for part in parts)
