"""How fast logs are read, and in how much memory: 50 MB of JSONL, and secrets in 5 MB of text.

    python benchmarks/trajectories.py

Each log is read in a process of its own, whose largest memory is told.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_core import find_secrets, read_trajectories

SIZE = 50_000_000
WORDS = [
    "".join(random.Random(n).choices("abcdefghijklmnopqrstuvwxyz", k=2 + n % 7))
    for n in range(3_000)
]
CHOICE = random.Random(1)


def words(count: int) -> str:
    return " ".join(CHOICE.choices(WORDS, k=count))


def codex(number: int) -> Iterator[dict[str, Any]]:
    call = {
        "type": "function_call",
        "name": "shell",
        "call_id": f"c{number}",
        "arguments": json.dumps({"command": words(12)}),
    }
    told = {"type": "function_call_output", "call_id": f"c{number}", "output": words(80)}
    for payload in (call, told):
        yield {"timestamp": "2026-01-01", "type": "response_item", "payload": payload}


def claude_code(number: int) -> Iterator[dict[str, Any]]:
    use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": words(10)}}
    said = {
        "id": f"m{number}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": words(20)}, use],
    }
    told = {"type": "tool_result", "tool_use_id": f"t{number}", "content": words(60)}
    head = {"sessionId": "s", "timestamp": "2026-01-01", "cwd": "/w", "version": "2"}
    yield {
        **head,
        "type": "assistant",
        "uuid": f"a{number}",
        "parentUuid": f"u{number - 1}",
        "message": said,
    }
    yield {
        **head,
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": f"a{number}",
        "message": {"role": "user", "content": [told]},
        "toolUseResult": {"stdout": words(60)},
    }


def chat(number: int) -> Iterator[dict[str, Any]]:
    function = {"name": "f", "arguments": json.dumps({"q": words(5)})}
    yield {
        "role": "assistant",
        "content": words(20),
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }
    yield {"role": "tool", "tool_call_id": f"c{number}", "content": words(60)}


LOGS = {"Codex CLI": codex, "Claude Code": claude_code, "OpenAI chat": chat}


def write(path: Path, name: str) -> None:
    with path.open("w") as file:
        number = size = 0
        while size < SIZE - 5_000:
            for record in LOGS[name](number):
                size += file.write(json.dumps(record) + "\n")
            number += 1


def measure(path: Path) -> None:
    raw = path.read_bytes()
    begun, worked = time.perf_counter(), time.process_time()
    reading = read_trajectories(raw, path.name)
    seconds, busy = time.perf_counter() - begun, time.process_time() - worked
    steps = sum(len(run.steps) for run in reading.trajectories)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000
    print(
        f"{reading.format:12} {len(raw) / 1e6:5.1f} MB  {steps:7,} steps  {seconds:5.1f} s "
        f"(CPU {busy:.1f} s)  {largest:4.0f} MB at most"
    )


def main() -> None:
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in LOGS:
            path = Path(folder) / "log.jsonl"
            write(path, name)
            subprocess.run([sys.executable, __file__, str(path)], check=True)
    text = "\n".join(words(12) for _ in range(90_000))[:5_000_000]
    for said, tried in (("plain text", text), ("passwords", 'password="x1y2z3" ' * 270_000)):
        begun = time.process_time()
        found = len(find_secrets(tried))
        print(
            f"secrets in {len(tried) / 1e6:.1f} MB of {said}: {time.process_time() - begun:.2f} s"
            f" CPU, {found:,} found"
        )


if __name__ == "__main__":
    main()
