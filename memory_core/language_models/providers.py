"""Language models by a string and, where it is not the usual one, an address.

`openai:NAME` (and every server that speaks its language, by `base_url`), `anthropic:NAME`,
`ollama:NAME`, `local:path/to/model.gguf`; any other name is one of pydantic-ai's providers, such as
`groq:NAME` or `openrouter:NAME`.

Keys come from the environment, or from the caller for the length of a call. They are kept in the
client that sends them and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from memory_core.errors import MissingDependencyError, ReflectionError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

ApiKey: TypeAlias = str | Callable[[], str | None] | None
"""A key, something that fetches it when it is needed, or None: from the environment."""
NO_KEY = "api-key-not-set"
"""What is sent in a key's place to servers that want none."""
OPENAI_URL = "https://api.openai.com/v1"
OLLAMA_URL = "http://localhost:11434/v1"
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class _Provider:
    """How a provider is reached."""

    build: Callable[[str, str, str], Model]
    """From the model's name, the address (empty: the usual one) and the key (empty: none)."""
    key_variable: str = ""
    url_variable: str = ""
    home: str = ""
    """The host of its own server."""
    key_needed: bool = True
    """Whether its own server, at the usual address, refuses requests without a key."""


def parse_spec(spec: str) -> tuple[str, str]:
    """Provider and model's name of a string such as `openai:gpt-5`. Raises ReflectionError."""
    provider, colon, name = spec.strip().partition(":")
    if not colon or not provider.strip() or not name.strip():
        known = ", ".join(f"{known}:…" for known in PROVIDERS)
        raise ReflectionError(f"{spec!r} names no model; write provider:name, such as {known}.")
    return provider.strip().lower(), name.strip()


def language_model(spec: str, base_url: str = "", *, api_key: ApiKey = None) -> Model:
    """The model that a string names; a local one is started. Nothing is asked of it yet.

    Raises ReflectionError where the string, the address or a key is missing or wrong, and
    MissingDependencyError where a package is.
    """
    provider, name = parse_spec(spec)
    known = PROVIDERS.get(provider)
    given = ((api_key() if callable(api_key) else api_key) or "").strip()
    try:
        if known is None:
            return _other(provider, name, base_url, given)
        named = os.environ.get(known.url_variable, "") if known.url_variable else ""
        url = clean_url(base_url or named)
        if known.home and urlsplit(url).hostname == known.home:
            url = ""
        readable = url.startswith("http://") and not is_loopback(url)
        if readable and not isinstance(api_key, str):
            key = ""  # a key that nobody meant for this address is not sent for all to read
        else:
            key = given or _key(provider, known, url)
        return known.build(name, url, key)
    except ImportError as error:
        raise MissingDependencyError(
            f"{provider} needs a package that is not installed: "
            f'pip install "pydantic-ai-slim[{provider if known is None else "openai,anthropic"}]"'
        ) from error


def key_variable(spec: str) -> str:
    """The environment variable that a model's key is read from; empty where it needs none."""
    provider, _ = parse_spec(spec)
    known = PROVIDERS.get(provider)
    return known.key_variable if known else f"{provider.upper().replace('-', '_')}_API_KEY"


def clean_url(base_url: str) -> str:
    """An address without what does not belong there. Raises ReflectionError."""
    url = base_url.strip().rstrip("/")
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ReflectionError(f"The address is not one: {error}.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ReflectionError("The address must begin with http:// or https:// and name a server.")
    if parts.username or parts.password:
        raise ReflectionError("Leave name and password out of the address; keys have variables.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = host if port is None else f"{host}:{port}"
    return urlunsplit((parts.scheme, place, parts.path, "", ""))


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    return urlsplit(url).hostname in _LOOPBACK


def _key(provider: str, known: _Provider, url: str) -> str:
    """The key that the environment holds; empty where none is needed."""
    key = os.environ.get(known.key_variable, "").strip() if known.key_variable else ""
    if not key and known.key_needed and not url:
        raise ReflectionError(
            f"There is no key for {provider}. Set the environment variable {known.key_variable} "
            "(or put it among Streamlit's secrets) and start again."
        )
    return key


def _client(url: str) -> Any:
    """Straight to this machine, whatever proxies are set; None for the usual client elsewhere."""
    if not url or not is_loopback(url):
        return None
    from httpx2 import AsyncHTTPTransport
    from pydantic_ai.models import create_async_httpx2_client

    return create_async_httpx2_client(transport=AsyncHTTPTransport())


def _with_version(url: str) -> str:
    """These servers speak under /v1; who gives a bare host means that."""
    return url if urlsplit(url).path.strip("/") else f"{url}/v1"


def _openai(name: str, url: str, key: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if not url:
        provider = OpenAIProvider(base_url=OPENAI_URL, api_key=key)
        return OpenAIChatModel(name, provider=provider)
    address = _with_version(url)
    other = OpenAICompatibleProvider(
        "openai-compatible", base_url=address, api_key=key or NO_KEY, http_client=_client(url)
    )
    return OpenAIChatModel(name, provider=other)


def _anthropic(name: str, url: str, key: str) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    if not url:
        return AnthropicModel(name, provider=AnthropicProvider(api_key=key))
    from anthropic import AsyncAnthropic

    client = AsyncAnthropic(
        base_url=url.removesuffix("/v1"), api_key=key or NO_KEY, http_client=_client(url)
    )
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _ollama(name: str, url: str, key: str) -> Model:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    address = _with_version(url or OLLAMA_URL)
    provider = OllamaProvider(base_url=address, api_key=key or NO_KEY, http_client=_client(address))
    return OllamaModel(name, provider=provider)


def _local(path: str, url: str, key: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from memory_core.language_models.local import local_server

    server = local_server(path)
    provider = OpenAICompatibleProvider(
        "local", base_url=server.url, api_key=server.key, http_client=_client(server.url)
    )
    profile = merge_profile(
        provider.model_profile(server.path.stem),
        OpenAIModelProfile(
            supports_json_schema_output=True,
            supports_json_object_output=True,
            openai_supports_strict_tool_definition=False,
            may_tokenize_special_tokens_in_content=True,
            context_window=server.context,
        ),
    )
    return OpenAIChatModel(server.path.stem, provider=provider, profile=profile)


PROVIDERS: Mapping[str, _Provider] = {
    "openai": _Provider(_openai, "OPENAI_API_KEY", "OPENAI_BASE_URL", "api.openai.com"),
    "anthropic": _Provider(
        _anthropic, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "api.anthropic.com"
    ),
    "ollama": _Provider(_ollama, "OLLAMA_API_KEY", "OLLAMA_BASE_URL", key_needed=False),
    "local": _Provider(_local, key_needed=False),
}
"""The providers that are tried in the tests; pydantic-ai knows more."""


def _other(provider: str, name: str, base_url: str, key: str) -> Model:
    """A provider that pydantic-ai knows by name, with its own variables."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider, infer_provider_class

    if base_url:
        raise ReflectionError(
            f"An address goes with {', '.join(PROVIDERS)} only. A server that speaks OpenAI's "
            f"language is openai:{name} with its address."
        )
    try:
        if not key:
            return infer_model(f"{provider}:{name}")
        made: Any = infer_provider_class(provider)
        return infer_model(
            f"{provider}:{name}",
            provider_factory=lambda wanted: (
                made(api_key=key) if wanted == provider else infer_provider(wanted)
            ),
        )
    except (UserError, ValueError, TypeError) as error:
        known = ", ".join(PROVIDERS)
        raise ReflectionError(
            f"{provider}:{name} cannot be used: {_first_line(error)} Known without more: {known}."
        ) from None


def _first_line(error: Exception) -> str:
    from memory_core.masking import mask_secrets

    line = mask_secrets(str(error).strip().partition("\n")[0][:300])[0]
    return line if line.endswith(".") else f"{line}."
