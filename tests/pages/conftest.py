"""The dashboard under Streamlit's own test harness."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import MemoryBank

ROOT = Path(__file__).resolve().parents[2]


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
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        return app.switch_page(f"pages/{page}.py").run() if page else app

    return start
