"""What tests share: banks in temporary folders, the deterministic embedder, the long marks."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_core import HashEmbedder, MemoryBank

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the long ones out but in CI, where files with long ones are begun first.

    A file stays in one worker, and the last to be begun should be a quick one.
    """
    long = {item.path for item in items if item.get_closest_marker("long")}
    if IN_CI:
        items.sort(key=lambda item: item.path not in long)
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


Filled = Callable[[Callable[[MemoryBank], object]], MemoryBank]


@pytest.fixture(scope="session")
def filled_files(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Banks that were filled once, by the function that filled them."""
    known: dict[object, Path] = {}

    def find(fill: Callable[[MemoryBank], object]) -> Path:
        if fill not in known:
            path = tmp_path_factory.mktemp("filled") / "bank.duckdb"
            fill(MemoryBank.open(path, embedder=HashEmbedder(), actor="tester"))
            known[fill] = path
        return known[fill]

    return find


@pytest.fixture
def filled(filled_files: Callable[..., Path], bank_path: Path) -> Filled:
    """`filled(fill)` is a bank as `fill` leaves it; a copy, so that a test costs no commits."""

    def copy(fill: Callable[[MemoryBank], object]) -> MemoryBank:
        shutil.copy(filled_files(fill), bank_path)
        return MemoryBank.open(bank_path, embedder=HashEmbedder(), actor="tester")

    return copy


@pytest.fixture
def reopen(bank_path: Path) -> Callable[[], MemoryBank]:
    """Opens the same file as another process would: with nothing in memory."""
    return lambda: MemoryBank.open(bank_path, embedder=HashEmbedder(), actor="tester")


@pytest.fixture
def winnow_environment(tmp_path: Path, bank_path: Path) -> dict[str, str]:
    """With a home of its own, and the deterministic embedder."""
    return {"WINNOW_HOME": str(tmp_path / "home"), "WINNOW_MODEL": "hash",
            "WINNOW_BANK": str(bank_path)}  # fmt: skip


@pytest.fixture
def winnow(winnow_environment: dict[str, str]) -> Callable[..., object]:
    """`winnow("history", "--json")` runs the command on the bank of `bank_path`."""
    from tests.commands import call  # not for every test: it brings the whole library in

    return lambda *words, **more: call(words, {**winnow_environment, **more})


@pytest.fixture
def datasets() -> Path:
    """Outside data, by the environment variable WINNOW_DATASETS."""
    folder = os.environ.get("WINNOW_DATASETS", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("WINNOW_DATASETS does not name a folder with the outside data")
    return Path(folder)
