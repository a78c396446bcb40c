"""Asking a model for lessons: in the form that it can answer in, within what it can read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from memory_core.language_models.requests import Asked, RequestRefusedError, Waiting
from memory_core.reflection.entries import MOST_ASKED_FOR, reply_model
from memory_core.reflection.prompt import instructions
from memory_core.reflection.replies import Reply, read_response
from memory_core.reflection_records import TokenUsage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import ModelRequestParameters

Form: TypeAlias = Literal["tool", "schema", "free tool", "text"]
"""How the reply is asked for: a call of one tool, JSON of a schema, a tool or words, words."""
_TOOL_FIRST: tuple[Form, ...] = ("tool", "schema", "free tool", "text")
_SCHEMA_FIRST: tuple[Form, ...] = ("schema", "tool", "text")
_CHARACTERS_PER_TOKEN = 3
"""Fewer than usual, so that a request fits for certain; in bytes, as other scripts take more."""
_UNKNOWN_CONTEXT = 16_384
_OLLAMA_CONTEXT = 4096
"""What it cuts requests down to, without a word, unless it is told otherwise."""
_MOST_CONTEXT = 100_000
"""Tokens of one request at most, whatever the model could read: they cost money and attention."""
MOST_REPLY = 8192
"""Tokens of an answer; models that think aloud need many before they say anything."""
_SCHEMA_TOKENS = 700
_LEAST_ROOM = 1500


@dataclass
class Reading:
    """What a model can read and answers in; learned while asking."""

    context: int = 0
    """Tokens of question and answer; 0 until it is known."""
    most_reply: int = MOST_REPLY
    """Tokens of an answer at most."""
    refused: list[Form] = field(default_factory=list)
    """Forms that the server does not take."""

    def learn(self, asked: Asked, context: int | None) -> None:
        """Find out, once, how much the model can read."""
        if not self.context:
            self.context = min(context or _context_of(asked), _MOST_CONTEXT)

    @property
    def reply(self) -> int:
        """Tokens that an answer may have."""
        return min(self.most_reply, self.context // 4)

    @property
    def room(self) -> int:
        """Bytes that memories and runs may take in a request."""
        fixed = len(instructions(several_runs=True, labelled=False)) // 4 + _SCHEMA_TOKENS
        return max(_LEAST_ROOM, (self.context - self.reply - fixed) * _CHARACTERS_PER_TOKEN)

    def shrink(self) -> bool:
        """Take the model to read half as much; false where that would be too little."""
        if self.room <= _LEAST_ROOM:
            return False
        self.context //= 2
        return True


def _context_of(asked: Asked) -> int:
    if asked.spec.startswith("ollama:"):
        named = os.environ.get("OLLAMA_CONTEXT_LENGTH", "")
        return int(named) if named.isdecimal() and int(named) >= 1024 else _OLLAMA_CONTEXT
    return asked.model.context_window or _UNKNOWN_CONTEXT


def ask_for_lessons(
    asked: Asked, reading: Reading, question: str, *, several_runs: bool, waiting: Waiting
) -> tuple[Reply, TokenUsage]:
    """The model's reply to one question, and what it cost. Raises ReflectionError.

    A server that does not take one form of the request is asked in the next.
    """
    from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

    first: RequestRefusedError | None = None
    for form in _forms(asked, reading):
        system = instructions(several_runs=several_runs, labelled=form == "text")
        request = ModelRequest(parts=[SystemPromptPart(system), UserPromptPart(question)])
        try:
            response = asked.ask(
                [request], _parameters(form, several_runs),
                max_tokens=reading.reply, waiting=waiting,
            )  # fmt: skip
        except RequestRefusedError as error:
            first = first or error
            reading.refused.append(form)
            continue
        return read_response(response), usage_of(response)
    reading.refused.clear()  # it was not the form
    raise first or RequestRefusedError(f"{asked.spec} takes no form of request.")


def _forms(asked: Asked, reading: Reading) -> Sequence[Form]:
    schemas = bool(asked.model.profile.get("supports_json_schema_output", False))
    on_machine = asked.spec.startswith(("local:", "ollama:"))
    forms = _SCHEMA_FIRST if on_machine and schemas else _TOOL_FIRST
    return [form for form in forms if form not in reading.refused and (form != "schema" or schemas)]


def _parameters(form: Form, several_runs: bool) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if form == "text":
        return ModelRequestParameters()
    model = reply_model(several_runs=several_runs)
    schema, meaning = model.model_json_schema(), (model.__doc__ or "").strip()
    if form == "schema":
        # A grammar holds small models to it; without, they repeat themselves to the token limit.
        schema["properties"]["lessons"]["maxItems"] = MOST_ASKED_FOR
        wanted = OutputObjectDefinition(json_schema=schema, name="lessons", description=meaning)
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    tool = ToolDefinition(
        name="lessons", description=meaning, parameters_json_schema=schema, kind="output"
    )
    return ModelRequestParameters(
        output_mode="tool", output_tools=[tool], allow_text_output=form == "free tool"
    )


def usage_of(response: ModelResponse) -> TokenUsage:
    """Tokens of one response, and its price where that is known."""
    usage = response.usage
    try:
        cost: float | None = float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        cost = None
    return TokenUsage(1, usage.input_tokens, usage.output_tokens, cost)
