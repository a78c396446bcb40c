"""The dashboard under Streamlit's own test harness."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from memory_core import MemoryBank

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def packages_scanned_once() -> Iterator[None]:
    """Each run of AppTest reads the metadata of all installed packages, in search of components.

    That took a quarter of the time of the tests of pages; what is installed does not change.
    """
    with pytest.MonkeyPatch.context() as patch:
        scan = functools.cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """AppTest leaves the app as `__main__`; child processes of later tests would run it again."""
    kept = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = kept


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's own folder, empty."""
    monkeypatch.setenv("WINNOW_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WINNOW_BANK", raising=False)
    monkeypatch.setenv("WINNOW_MODEL", "hash")
    return tmp_path / "home"


@pytest.fixture
def open_app(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Opens the dashboard on a bank, at a page and with what stands in the address."""

    def start(bank: MemoryBank | Path | None, page: str = "", **address: str) -> AppTest:
        if bank is not None:
            path = bank if isinstance(bank, Path) else Path(os.fspath(bank.path))
            monkeypatch.setenv("WINNOW_BANK", str(path))
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        for name, value in address.items():
            app.query_params[name] = value
        if page:
            app.switch_page(f"pages/{page}.py")
        return app.run()

    return start
