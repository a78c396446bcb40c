"""What tests share: banks in temporary folders, the deterministic embedder, the long marks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_core import HashEmbedder, MemoryBank

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if IN_CI:
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="long: runs with CI=true"))


@pytest.fixture
def bank_path(tmp_path: Path) -> Path:
    return tmp_path / "bank.duckdb"


@pytest.fixture
def bank(bank_path: Path) -> MemoryBank:
    """A new, empty bank with the deterministic embedder."""
    return MemoryBank.open(bank_path, embedder=HashEmbedder(), actor="tester")


@pytest.fixture
def reopen(bank_path: Path) -> Callable[[], MemoryBank]:
    """Opens the same file as another process would: with nothing in memory."""
    return lambda: MemoryBank.open(bank_path, embedder=HashEmbedder(), actor="tester")


@pytest.fixture
def datasets() -> Path:
    """Outside data, by the environment variable WINNOW_DATASETS."""
    folder = os.environ.get("WINNOW_DATASETS", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("WINNOW_DATASETS does not name a folder with the outside data")
    return Path(folder)
