"""Language models: by a string, and whether one answers."""

from __future__ import annotations

import time

from memory_core.language_models.providers import ApiKey, key_variable, language_model
from memory_core.language_models.requests import Asked, Patience

__all__ = ["ApiKey", "check_connection", "key_variable", "language_model"]


def check_connection(
    spec: str, base_url: str = "", *, api_key: ApiKey = None, timeout: float = 30.0
) -> str:
    """Ask a model for one word; a sentence that says that it answers, and how fast.

    Raises ReflectionError, in words, where it does not, and MissingDependencyError.
    """
    asked = Asked(
        language_model(spec, base_url, api_key=api_key), spec, Patience(timeout, attempts=1)
    )
    import pydantic_ai.direct  # noqa: F401  # takes seconds that are not the model's
    from pydantic_ai.messages import ModelRequest

    began = time.perf_counter()
    try:
        asked.ask([ModelRequest.user_text_prompt("Answer with the word: ready.")], max_tokens=16)
    finally:
        asked.close()
    return f"{spec} answers, in {time.perf_counter() - began:.1f} s."
