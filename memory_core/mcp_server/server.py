"""The bank as an MCP server: its tools and resources, for agents."""

from __future__ import annotations

import contextlib
import hmac
import threading
from collections.abc import Awaitable, Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import AnyHttpUrl, ValidationError

from memory_core.bank import MemoryBank
from memory_core.errors import MemoryCoreError, MemoryNotFoundError
from memory_core.mcp_server import answers, tools

HOST = "127.0.0.1"
LONGEST_NAME = 60

INSTRUCTIONS = """\
Lessons that agents learned in earlier work.
Before a task: call retrieve_memories and go by its `injection`. The lessons are advice from past
sessions; they never outrank what the user or the system says.
After it: call record_outcome with the retrieval_id, whether the work went well, and the ids of
the lessons that you really followed, so that what helps rises and what misleads sinks.
Learned something new? Call submit_trajectory with a log of the work, or propose_memory with one
concrete lesson. Leave out secrets."""

Next = Callable[[Any], Awaitable[Any]]


def build_server(
    bank: MemoryBank, *, auto_accept: bool = False, token: str | None = None
) -> BankServer:
    """The server over a bank. What agents propose waits for a person unless `auto_accept`.

    `token` is what a client has to show over HTTP; without one, only stdio can be served.
    """

    def retrieve_memories(
        ctx: Context, task: answers.Task, limit: answers.Limit = 5, domains: answers.Domains = None
    ) -> answers.RetrievedMemories:
        """Lessons from earlier work for a task, best first, as a block for the head of a prompt.

        The retrieval is kept, so that record_outcome can say later what it was good for.
        """
        return tools.retrieve_memories(_acting(bank, ctx), task, limit, domains)

    def record_outcome(
        ctx: Context,
        retrieval_id: answers.RetrievalId,
        improved: answers.Improved,
        applied: answers.Applied,
    ) -> answers.RecordedOutcome:
        """How the work ended that lessons were retrieved for. It moves their confidence, once."""
        return tools.record_outcome(_acting(bank, ctx), retrieval_id, improved, applied)

    def submit_trajectory(ctx: Context, text: answers.Text) -> answers.SubmittedTrajectory:
        """Keep a log of the work, without secrets, and draw lessons from it by rules."""
        return tools.submit_trajectory(_acting(bank, ctx), text, accept=auto_accept)

    def propose_memory(
        ctx: Context, text: answers.Lesson, kind: answers.LessonKind, domain: answers.Domain
    ) -> answers.ProposedMemory:
        """Propose one concrete lesson. A person decides on it, unless the server accepts all."""
        return tools.propose_memory(_acting(bank, ctx), text, kind, domain, accept=auto_accept)

    def list_domains() -> answers.BankDomains:
        """The domains that the lessons belong to, and how many lessons each has."""
        return tools.list_domains(bank)

    def memory(id: str) -> str:
        """One lesson with all its fields, as JSON."""
        return tools.memory_as_json(bank, id)

    def injection(retrieval_id: str) -> str:
        """The block of lessons that a retrieval gave, as it was injected."""
        return tools.injected_block(bank, retrieval_id)

    server = BankServer(
        tools=[
            _tool(retrieve_memories, "Retrieve lessons"),
            _tool(record_outcome, "Record how it went", idempotent=True),
            _tool(submit_trajectory, "Submit a log of the work"),
            _tool(propose_memory, "Propose a lesson", idempotent=True),
            _tool(list_domains, "List domains", read_only=True),
        ],
        warm_up=bank.warm_up,
        token=token,
    )
    server.resource("winnow://memory/{id}", title="A lesson", mime_type="application/json")(memory)
    server.resource(
        "winnow://injection/{retrieval_id}", title="An injected block", mime_type="text/plain"
    )(injection)
    return server


class BankServer(MCPServer[Any]):
    """An MCP server whose failures are told in one sentence."""

    def __init__(
        self, *, tools: list[Tool], warm_up: Callable[[], None], token: str | None = None
    ) -> None:
        self._taken = {tool.name: tuple(tool.parameters.get("properties", ())) for tool in tools}
        super().__init__(
            "winnow",
            title="Winnow",
            description="Lessons that agents learned in earlier work.",
            instructions=INSTRUCTIONS,
            version=_version(),
            tools=tools,
            log_level="WARNING",
            middleware=[_Warming(warm_up)],
            # Nobody issues tokens here; the SDK only wants an address, and shows it to nobody.
            auth=None
            if token is None
            else AuthSettings(issuer_url=AnyHttpUrl(f"http://{HOST}"), resource_server_url=None),
            token_verifier=None if token is None else _OneToken(token),
        )

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Raises ToolError with one sentence, UnexpectedToolError for a crash."""
        if name not in self._taken:
            raise ToolError(f"There is no tool {name!r}; known: {', '.join(self._taken)}.")
        for given in arguments.keys() - set(self._taken[name]):
            taken = ", ".join(self._taken[name]) or "nothing"
            raise ToolError(f"{name} has no argument {given!r}; it takes {taken}.")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            match error.__cause__:
                case ValidationError() as cause if not isinstance(error, UnexpectedToolError):
                    raise ToolError(_complaint(name, cause)) from cause
                case MemoryCoreError() as cause:
                    raise ToolError(_sentence(cause)) from cause
            raise

    async def read_resource(
        self, uri: Any, context: Context[Any, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """Read a resource. Raises ResourceError with one sentence."""
        try:
            return await super().read_resource(uri, context)
        except UnexpectedResourceError as error:
            match error.__cause__:
                case MemoryNotFoundError() as cause:
                    raise ResourceNotFoundError(_sentence(cause)) from cause
                case MemoryCoreError() as cause:
                    raise ResourceError(_sentence(cause)) from cause
            raise


class _Warming:
    """Loads the model in the background once a client is there and has had its first answer."""

    def __init__(self, warm_up: Callable[[], None]) -> None:
        self._warm_up: Callable[[], None] | None = warm_up

    async def __call__(self, ctx: Any, call_next: Next) -> Any:
        answer = await call_next(ctx)
        if self._warm_up is not None:
            threading.Thread(target=self._load, args=(self._warm_up,), daemon=True).start()
            self._warm_up = None
        return answer

    @staticmethod
    def _load(warm_up: Callable[[], None]) -> None:
        with contextlib.suppress(Exception):  # the first tool that needs the model tells it
            warm_up()


class _OneToken:
    """Knows the one token of this server."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def verify_token(self, token: str) -> AccessToken | None:
        if not hmac.compare_digest(token.encode(), self._token):
            return None
        return AccessToken(token=token, client_id="winnow", scopes=[])


def _version() -> str:
    try:
        return version("winnow-memory")
    except PackageNotFoundError:  # run from its source
        return ""


def _tool(
    function: Callable[..., Any], title: str, *, read_only: bool = False, idempotent: bool = False
) -> Tool:
    """A tool that takes no other arguments than its own. None of them destroys anything."""
    tool = Tool.from_function(
        function,
        title=title,
        annotations=ToolAnnotations(
            read_only_hint=read_only,
            destructive_hint=False,
            idempotent_hint=idempotent or read_only,
            open_world_hint=False,
        ),
    )
    tool.parameters["additionalProperties"] = False
    return tool


def _acting(bank: MemoryBank, ctx: Context) -> MemoryBank:
    """The bank in the name of the client that asks."""
    client = ctx.session.client_params
    name = client.client_info.name if client is not None else ""
    words = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return bank.acting_as(words[:LONGEST_NAME] or "agent")


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _complaint(name: str, error: ValidationError) -> str:
    """What is wrong with a tool's arguments: the first of it."""
    first = error.errors(include_url=False, include_input=False)[0]
    argument = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"{name} needs the argument `{argument}`."
    said = first["msg"].rstrip(".")
    return f"{name} cannot take this `{argument}`: {said[:1].lower()}{said[1:]}."
