"""Where things lie: the dashboard's files, the demo library's sources, a person's own folder."""

from __future__ import annotations

import os
from pathlib import Path

HOME_VARIABLE = "WINNOW_HOME"
BANK_VARIABLE = "WINNOW_BANK"


def home() -> Path:
    """The folder for demo and recent banks: WINNOW_HOME, or `.winnow` in the home folder."""
    return Path(os.environ.get(HOME_VARIABLE) or Path.home() / ".winnow").expanduser()


def demo_bank() -> Path:
    """Where the demo bank is built."""
    return home() / "demo.duckdb"


def dashboard() -> Path:
    """The folder that holds app.py, pages and data: within the package once it is installed."""
    package = Path(__file__).resolve().parent
    installed = package / "dashboard"
    # Beside the package in a checkout, where an editable install would leave stale copies.
    checkout = package.parent
    return checkout if (checkout / "app.py").is_file() else installed


def data() -> Path:
    """The sources of the demo library and the sample trajectories."""
    return dashboard() / "data"


def sample_runs() -> tuple[Path, ...]:
    """Files with runs to try things on, by name; each in another format."""
    return tuple(sorted(path for path in (data() / "trajectories").iterdir() if path.is_file()))
