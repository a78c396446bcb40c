"""Vectors of texts: from memory, from the store, or from the model, in that order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from memory_core.embedding import (
    Embedder,
    dimension_of,
    embed_by,
    fingerprint_of,
    name_of,
)
from memory_core.records import DIMENSION
from memory_core.store import Store
from memory_core.store.texts import read_vectors

KEPT = 4_096
AT_ONCE = 64
"""Texts between two calls of `progress`: about a second of a model's work, on a busy machine."""
Progress = Callable[[int, int], None]
"""Called with how many texts are embedded, and how many there are in all."""


def model_of(embedder: Embedder) -> str:
    """What the store calls a model: name, fingerprint and, where it is not 384, dimension."""
    dimension = dimension_of(embedder)
    suffix = "" if dimension == DIMENSION else f"/{dimension}"
    return f"{name_of(embedder)}@{fingerprint_of(embedder)}{suffix}"


class VectorCache:
    """Embeds texts, each once. The model is loaded only for a text that the store lacks."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self.model = model_of(embedder)
        self._store = store
        self._embedder = embedder
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = RLock()

    def of(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """The unit vector (d,) of each text. What `progress` raises ends it."""
        with self._lock:
            found = {text: self._kept[text] for text in texts if text in self._kept}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        # Looking in the file costs as much as a text through a model that is loaded already.
        if missing and not getattr(self._embedder, "ready", True):
            with self._store.reading("vectors") as connection:
                found |= read_vectors(
                    connection, missing, model=self.model, dimension=dimension_of(self._embedder)
                )
            missing = [text for text in missing if text not in found]
        step = AT_ONCE if progress else max(len(missing), 1)
        for start in range(0, len(missing), step):
            block = missing[start : start + step]
            if progress:
                progress(start, len(missing))
            found |= zip(block, embed_by(self._embedder, block), strict=True)
        if missing and progress:
            progress(len(missing), len(missing))
        with self._lock:
            for text, vector in found.items():
                if text not in self._kept:
                    self._kept[text] = vector.copy()  # a row alone would hold its whole matrix
                self._kept.move_to_end(text)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    def token_count(self, text: str) -> int | None:
        """Tokens of a text by the model; None while it is not loaded, or has no tokens."""
        count = getattr(self._embedder, "token_count", None)
        return None if count is None else count(text)

    def warm_up(self) -> None:
        """Have the model loaded."""
        if not getattr(self._embedder, "ready", True):
            embed_by(self._embedder, ["warm up"])
