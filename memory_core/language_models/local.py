"""Models on this machine without a server: a GGUF file, run by llama.cpp in a process beside us.

One process a file, started when it is first needed, used by all, and stopped with us. It listens
on the loopback interface alone, and answers only who knows its random key.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import secrets
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from threading import Lock, Thread
from typing import Any

from memory_core.errors import MissingDependencyError, ReflectionError

CONTEXT_VARIABLE = "WINNOW_LOCAL_CONTEXT"
"""Environment variable for the tokens that a local model reads and writes at most."""
DEFAULT_CONTEXT = 8192
"""Tokens; a larger context takes more memory."""
LONGEST_START = 180.0
"""Seconds that a model may take to load."""
_MAGIC = b"GGUF"
_PROGRAM = Path(__file__).with_name("local_server.py")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A model that is being served."""

    path: Path
    url: str
    """Of its OpenAI-compatible interface, with `/v1`."""
    key: str = field(repr=False)
    context: int
    """Tokens of question and answer together."""
    process: subprocess.Popen[str] = field(repr=False)

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        """End the process; nothing happens where it has ended already."""
        if self.process.stdin is not None:
            self.process.stdin.close()  # it ends with its input
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


_servers: dict[Path, LocalServer] = {}
_lock = Lock()


def local_server(path: str | Path) -> LocalServer:
    """The server of a GGUF file, started if it is not there; loading takes seconds.

    Raises MissingDependencyError without xllamacpp, and ReflectionError for a file that is not
    there, is no GGUF file, or cannot be loaded.
    """
    file = model_file(path)
    with _lock:
        server = _servers.get(file)
        if server is None or not server.alive:
            server = _servers[file] = _start(file)
        return server


def stop_local_servers() -> None:
    """Stop all that were started; they start again when they are needed."""
    with _lock:
        while _servers:
            _servers.popitem()[1].stop()


atexit.register(stop_local_servers)


def model_file(path: str | Path) -> Path:
    """Where a named GGUF file is. Raises ReflectionError."""
    file = Path(path).expanduser()
    if not str(path).strip():
        raise ReflectionError("Name the model's file: local:path/to/model.gguf.")
    try:
        if not file.is_file():
            what = "is a folder" if file.is_dir() else "is not there"
            raise ReflectionError(f"The model's file {file} {what}. Name a .gguf file.")
        with file.open("rb") as stream:
            magic = stream.read(len(_MAGIC))
    except (OSError, ValueError) as error:
        raise ReflectionError(f"The model's file {file} cannot be read: {error}.") from error
    if magic != _MAGIC:
        raise ReflectionError(f"{file} is no GGUF file; llama.cpp runs models of that format.")
    return file.resolve()


def _start(file: Path) -> LocalServer:
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingDependencyError(
            'A model on this machine needs xllamacpp: pip install "winnow-memory[local]"'
        )
    key, context = secrets.token_urlsafe(24), _context()
    process = subprocess.Popen(
        [sys.executable, "-P", str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    answer = _first_answer(process, {"path": str(file), "key": key, "context": context})
    if "url" not in answer:
        process.kill()
        process.wait()
        why = answer.get("error", "the program ended without a word")
        raise ReflectionError(
            f"llama.cpp could not load {file} ({why}). The file may be damaged, too large for this "
            "machine's memory, or of a newer kind of model: pip install -U xllamacpp."
        )
    return LocalServer(file, f"{answer['url']}/v1", key, int(answer["context"]), process)


def _context() -> int:
    named = os.environ.get(CONTEXT_VARIABLE, "")
    if not named:
        return DEFAULT_CONTEXT
    if not named.isdecimal() or int(named) < 512:
        raise ReflectionError(
            f"{CONTEXT_VARIABLE} is {named!r}; give it a number of tokens from 512 on."
        )
    return int(named)


def _first_answer(process: subprocess.Popen[str], wanted: dict[str, Any]) -> dict[str, Any]:
    """What the program says once the model is loaded, or cannot be; empty where it died."""
    lines: Queue[str] = Queue()
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    Thread(target=lambda: lines.put(stdout.readline()), daemon=True).start()
    try:
        stdin.write(json.dumps(wanted) + "\n")
        stdin.flush()
        line = lines.get(timeout=LONGEST_START)
    except OSError:
        return {}
    except Empty:
        return {"error": f"it took longer than {LONGEST_START:.0f} seconds"}
    answer: dict[str, Any] = json.loads(line) if line.strip() else {}
    return answer
