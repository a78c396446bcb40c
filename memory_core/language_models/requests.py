"""Asking a language model: with a time limit, again where that helps, and failures in words.

Requests run in one event loop on a thread of their own, so that callers may sit in any thread,
with or without a loop, and can still be stopped while they wait.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlsplit

from memory_core.errors import ReflectionError
from memory_core.language_models.providers import NO_KEY, key_variable
from memory_core.masking import mask_of, mask_secrets

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

Waiting: TypeAlias = Callable[[str], None]
"""Called a few times a second with what is waited for; it may raise to stop."""
_T = TypeVar("_T")
_LOOK_EVERY = 0.2
_LONGEST_QUOTE = 300
_ATTEMPTS_AT_CUT = 2
"""Attempts where the connection breaks: each answer that is lost on the way was made, and paid."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a model is waited for."""

    timeout: float = 120.0
    """Seconds for one answer."""
    attempts: int = 4
    """Requests at most, where the server is busy, stumbles or limits the rate."""
    first_wait: float = 1.0
    """Seconds before the second attempt; each further wait is twice as long."""
    longest_wait: float = 60.0
    """Seconds; a server that asks for more gets no further attempt."""


class RequestRefusedError(ReflectionError):
    """The server does not take the request as it is; another form of it may do."""


class ContextExceededError(ReflectionError):
    """The question is longer than the model can read."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A model that is asked, and what is said about it."""

    model: Model
    spec: str
    patience: Patience = Patience()

    def ask(
        self,
        messages: Sequence[ModelMessage],
        parameters: ModelRequestParameters | None = None,
        *,
        max_tokens: int,
        waiting: Waiting = lambda doing: None,
    ) -> ModelResponse:
        """The model's answer. Raises ReflectionError in words that hold no key."""
        from pydantic_ai.direct import model_request
        from pydantic_ai.settings import ModelSettings

        patience = self.patience
        settings = ModelSettings(
            max_tokens=max_tokens, request_timeout=patience.timeout, max_retries=0,
            timeout=patience.timeout,
        )  # fmt: skip
        attempt = 1
        while True:
            request = _started(
                model_request(
                    self.model, list(messages),
                    model_settings=settings, model_request_parameters=parameters,
                )
            )  # fmt: skip
            _wait_for(request, waiting, f"waiting for {self.spec}")
            error = request.exception()
            if error is None:
                return request.result()
            pause = _pause(error, attempt, patience)
            if pause is None:
                # `from None`: the provider's own error may quote a key.
                raise in_words(error, self, attempt) from None
            _sleep(pause, waiting, f"{self.spec} is busy; trying again in {pause:.0f} s")
            attempt += 1

    def scrubbed(self, text: str) -> str:
        """What a server said, without anything that is or looks like a key, and not too long."""
        key = getattr(getattr(self.model, "client", None), "api_key", None)
        if isinstance(key, str) and len(key) > 5 and key != NO_KEY:
            text = text.replace(key, mask_of("API key"))
        text = " ".join(mask_secrets(text)[0].split())
        return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"

    def close(self) -> None:
        """Close the connections."""
        client: Any = getattr(self.model, "client", None)
        if client is not None and hasattr(client, "close"):
            with suppress(TimeoutError):  # it is no longer needed, closed or not
                _started(client.close()).exception(timeout=5)


# -- waiting -------------------------------------------------------------------------------------


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="language model requests", daemon=True).start()
    return loop


def _started(work: Coroutine[Any, Any, _T]) -> Future[_T]:
    return asyncio.run_coroutine_threadsafe(work, _loop())


def _wait_for(request: Future[Any], waiting: Waiting, doing: str) -> None:
    """Until a request has ended, one way or the other. Whatever `waiting` raises stops it."""
    try:
        while not request.done():
            waiting(doing)
            try:
                request.exception(timeout=_LOOK_EVERY)
            except TimeoutError:
                continue
    except BaseException:
        request.cancel()
        raise


def _sleep(seconds: float, waiting: Waiting, doing: str) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        waiting(doing)
        time.sleep(min(_LOOK_EVERY, left))


def _pause(error: BaseException, attempt: int, patience: Patience) -> float | None:
    """Seconds after which the same request may succeed; None where it will not, or not soon."""
    from pydantic_ai import exceptions as failures

    passing = (
        failures.ModelRateLimitError,
        failures.ModelUnavailableError,
        failures.ModelServerError,
        failures.ModelConnectionError,
    )
    if attempt >= patience.attempts or not isinstance(error, passing):
        return None
    if isinstance(error, failures.ModelTimeoutError) or (
        isinstance(error, failures.ModelConnectionError) and error.phase == "connect"
    ):
        return None  # whoever is not there will not be there in a second
    if isinstance(error, failures.ModelConnectionError) and attempt >= _ATTEMPTS_AT_CUT:
        return None
    asked_for: float | None = error.retry_after
    if asked_for is not None:
        return asked_for if asked_for <= patience.longest_wait else None
    doubled: float = patience.first_wait * 2 ** (attempt - 1)
    return min(doubled * random.uniform(0.8, 1.2), patience.longest_wait)


# -- failures in words ---------------------------------------------------------------------------

_CONTEXT_SIGNS = ("context size", "context length", "context window", "maximum context", "n_ctx")


def in_words(error: BaseException, asked: Asked, attempts: int) -> ReflectionError:
    """What a failed request means for a person, without any key."""
    from pydantic_ai import exceptions as failures

    said = _said(error, asked)
    told = f" The server says: {said}" if said else ""
    tries = f" after {attempts} attempts" if attempts > 1 else ""
    wait = _asks_to_wait(error)
    match error:
        case failures.ModelContextWindowExceededError():
            return ContextExceededError(f"{asked.spec} cannot read that much at once.{told}")
        case failures.ModelAuthenticationError():
            return ReflectionError(f"{asked.spec} refused the key. {_about_key(asked)}{told}")
        case failures.ModelNotFoundError():
            return ReflectionError(
                f"There is no model {asked.spec!r} at {_host(asked)}. Check the name and the "
                f"address.{told}"
            )
        case failures.ModelQuotaExceededError():
            return ReflectionError(f"The account of {asked.spec} has nothing left.{told}")
        case failures.ModelRateLimitError():
            return ReflectionError(
                f"{asked.spec} limits the rate{tries}.{wait} What is done is kept; try "
                f"again later.{told}"
            )
        case failures.ModelRequestTimeout() | failures.ModelTimeoutError():
            return ReflectionError(
                f"{asked.spec} did not answer within {asked.patience.timeout:g} seconds. What is "
                "done is kept; try again, or allow it more time."
            )
        case failures.ModelConnectionError(phase="connect"):
            return ReflectionError(
                f"{asked.spec} cannot be reached at {_host(asked)}. Does a server run there, and "
                "is there a network?"
            )
        case failures.ModelConnectionError():
            return ReflectionError(
                f"The connection to {asked.spec} broke off{tries}. What is done is kept; try again."
            )
        case failures.ModelServerError() | failures.ModelUnavailableError():
            return ReflectionError(
                f"The server of {asked.spec} failed{tries}.{wait} What is done is kept; try "
                f"again.{told}"
            )
        case failures.ModelHTTPError() if any(sign in said.lower() for sign in _CONTEXT_SIGNS):
            return ContextExceededError(f"{asked.spec} cannot read that much at once.{told}")
        case failures.ModelRequestRejectedError() | failures.UserError():
            return RequestRefusedError(f"{asked.spec} does not take the request.{told}")
        case failures.ModelHTTPError():
            return ReflectionError(f"{asked.spec} answered HTTP {error.status_code}.{told}")
    if not isinstance(error, failures.ModelAPIError):
        told = ""  # the words of a library that stumbled over the reply, not the server's
    return ReflectionError(
        f"{asked.spec} answered something that is no reply ({type(error).__name__}). Does the "
        f"address lead to a server of this kind?{told}"
    )


def _said(error: BaseException, asked: Asked) -> str:
    """The server's own words in an error, scrubbed."""
    body = getattr(error, "body", None)
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and body.get(name):
            body = body[name]
    text = body if isinstance(body, str) else str(body or getattr(error, "message", "") or error)
    return asked.scrubbed(text)


def _asks_to_wait(error: BaseException) -> str:
    seconds = getattr(error, "retry_after", None)
    return f" It asks to wait {seconds:.0f} seconds." if seconds else ""


def _about_key(asked: Asked) -> str:
    variable = key_variable(asked.spec)
    if not variable:
        return "Check the key that its provider's variable holds."
    url = str(getattr(asked.model, "base_url", ""))
    if url.startswith("http://"):
        return (
            f"Check {variable}; over plain http it is sent to this machine only. Where it is a "
            "page that asks, the key may also come from Streamlit's secrets."
        )
    return f"Check {variable}, and whether that account may use the model."


def _host(asked: Asked) -> str:
    url = str(getattr(asked.model, "base_url", ""))
    return urlsplit(url).netloc.rpartition("@")[2] or "its provider"
