"""The command `winnow` as tests call it: in this process, or in one of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import pytest

from memory_core.cli import main


@dataclass(frozen=True)
class Ended:
    """How a call ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one document on the standard output."""
        return json.loads(self.stdout)


Winnow = Callable[..., Ended]


def call(words: tuple[object, ...], environment: Mapping[str, str]) -> Ended:
    """Run the command here, with its own arguments, environment and outputs."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["winnow", *map(str, words)])
        for name, value in environment.items():
            patch.setenv(name, value)
        with redirect_stdout(out), redirect_stderr(errors), pytest.raises(SystemExit) as ended:
            main()
    said = []
    for stream in (out, errors):
        stream.flush()
        said.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Ended(int(ended.value.code or 0), *said)


def call_elsewhere(
    words: tuple[object, ...], environment: Mapping[str, str], **how: Any
) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "memory_core.cli", *map(str, words)],
        env={**os.environ, **environment}, capture_output=True, text=True, timeout=240, **how,
    )  # fmt: skip
