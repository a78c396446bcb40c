"""Servers that speak as OpenAI, Anthropic and Ollama do, and say what a test has written.

Real HTTP on the loopback interface: statuses, headers, delays and connections that break are on
the wire, and so is every request, for the test to look at.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer. Lessons come in the form that the request asks for; `text` comes as words."""

    lessons: Sequence[Mapping[str, Any]] | None = None
    text: str | None = None
    arguments: str | None = None
    """The arguments of the tool call, as they stand, broken or not."""
    status: int = 200
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the answer."""
    cut: bool = False
    """Whether the connection breaks in the middle of the body."""
    finish: str = "stop"
    """`length`: the token limit was reached."""
    body: bytes | None = None
    """The whole body, where it is to be no reply at all."""
    tokens: tuple[int, int] = (100, 20)


def lessons(*entries: Mapping[str, Any], **more: Any) -> Reply:
    return Reply(lessons=entries, **more)


def failure(status: int, error: str = "no", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, error=error, headers=named)


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def text(self) -> str:
        """Everything that the model would read, except the form of the reply."""
        told: list[str] = []
        system = self.body.get("system", "")
        parts = system if isinstance(system, list) else [system]
        for message in self.body["messages"]:
            content = message["content"]
            parts += content if isinstance(content, list) else [content]
        for part in parts:
            told.append(part if isinstance(part, str) else part.get("text", ""))
        return "\n".join(told)

    @property
    def user(self) -> str:
        """What stands in the user's messages."""
        told = []
        for message in self.body["messages"]:
            if message["role"] == "user":
                content = message["content"]
                for part in content if isinstance(content, list) else [content]:
                    told.append(part if isinstance(part, str) else part["text"])
        return "\n".join(told)

    @property
    def form(self) -> str:
        if self.body.get("tools"):
            return "tool"
        return "schema" if self.body.get("response_format") else "text"


class ModelServer:
    """Answers requests with the replies that are put in; the last one again and again."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self.refuses_forms: set[str] = set()
        """Forms of requests that are answered with a 400: tool, schema."""
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def put(self, *replies: Reply) -> None:
        """What is said from now on."""
        with self._lock:
            self.replies = list(replies)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def next_reply(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            if request.form in self.refuses_forms:
                return failure(400, f"{request.form} is not supported")
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def serving(*replies: Reply) -> Iterator[ModelServer]:
    server = ModelServer(*(replies or (lessons(),)))
    try:
        yield server
    finally:
        server.close()


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length))
            request = Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            reply = server.next_reply(request)
            time.sleep(reply.delay)
            self._answer(reply, _body_of(request, reply))

        def _answer(self, reply: Reply, body: bytes) -> None:
            try:
                self.send_response(reply.status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if reply.cut else body)
                self.wfile.flush()
            except OSError:
                self.close_connection = True  # the client waits no longer
            if reply.cut:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            pass

    return Handler


def _body_of(request: Request, reply: Reply) -> bytes:
    if reply.body is not None:
        return reply.body
    if reply.status != 200:
        kind = {401: "authentication_error", 429: "rate_limit_error"}.get(reply.status, "error")
        return json.dumps(
            {"type": "error", "error": {"type": kind, "message": reply.error}}
        ).encode()
    said = None if reply.lessons is None else json.dumps({"lessons": list(reply.lessons)})
    said = said if reply.arguments is None else reply.arguments
    maker = _anthropic_body if request.path.endswith("/messages") else _openai_body
    return json.dumps(maker(request, reply, said)).encode()


def _openai_body(request: Request, reply: Reply, said: str | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    finish = reply.finish
    if said is not None and request.form == "tool":
        call = {"name": "lessons", "arguments": said}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
        finish = "tool_calls" if finish == "stop" else finish
    elif said is not None:
        message["content"] = said
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1,
        "model": request.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": reply.tokens[0], "completion_tokens": reply.tokens[1],
                  "total_tokens": sum(reply.tokens)},
    }  # fmt: skip


def _anthropic_body(request: Request, reply: Reply, said: str | None) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    stop = {"stop": "end_turn", "length": "max_tokens"}[reply.finish]
    if reply.text is not None:
        content.append({"type": "text", "text": reply.text})
    if said is not None and request.form == "tool":
        call = {"type": "tool_use", "id": "toolu_1", "name": "lessons", "input": json.loads(said)}
        content.append(call)
        stop = "tool_use" if stop == "end_turn" else stop
    elif said is not None:
        content.append({"type": "text", "text": said})
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": request.body["model"],
        "content": content, "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": reply.tokens[0], "output_tokens": reply.tokens[1]},
    }  # fmt: skip
