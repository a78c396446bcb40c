"""Files that are too large, packed to deceive, nested without end, or no text."""

from __future__ import annotations

import gzip
import io
import json
import time
import zipfile

import pytest
from sample_runs import TALK, codex, openai_chat

from memory_core import UnreadableTrajectoryError, read_trajectories
from memory_core.trajectories import decoding


def packed(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in entries.items():
            out.writestr(name, content)
    return file.getvalue()


def test_a_file_above_the_limit_is_refused() -> None:
    with pytest.raises(UnreadableTrajectoryError, match="MB"):
        read_trajectories(b" " * (decoding.MAX_BYTES + 1))


def test_a_zip_bomb_is_stopped_while_it_unpacks() -> None:
    bomb = packed({"samples/1.json": b"0" * (decoding.MAX_UNPACKED + 10)})
    assert len(bomb) < 1_000_000
    with pytest.raises(UnreadableTrajectoryError, match="unpacks to more"):
        read_trajectories(bomb, "run.eval")


def test_a_gzip_bomb_is_stopped_while_it_unpacks() -> None:
    bomb = gzip.compress(b"0" * (decoding.MAX_UNPACKED + 10), compresslevel=9)
    with pytest.raises(UnreadableTrajectoryError, match="unpacks to more"):
        read_trajectories(bomb)


def test_a_packed_log_is_read() -> None:
    assert read_trajectories(gzip.compress(codex(TALK).encode())) == read_trajectories(codex(TALK))
    both = packed(
        {
            "a/one.jsonl": codex(TALK).encode(),
            "b/two.json": openai_chat(TALK).encode(),
            "x.bin": b"\x00",
        }
    )
    assert len(read_trajectories(both, "runs.zip").trajectories) == 2


@pytest.mark.parametrize(
    "raw",
    [packed({"notes.bin": b"\x00\x01"}), packed({}), packed({"a.json": b"{}"})[:-30]],
    ids=["no text", "empty", "cut"],  # a zip holds the time, and workers must agree on names
)
def test_a_zip_without_a_run_is_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableTrajectoryError):
        read_trajectories(raw, "x.zip")


@pytest.mark.parametrize("raw", [bytes(range(256)) * 20, b"\x89PNG\r\n\x1a\n" + b"\x00\x07" * 400])
def test_binary_files_are_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableTrajectoryError, match="binary"):
        read_trajectories(raw)


@pytest.mark.parametrize("deep", ["[" * 200_000, '{"a":' * 100_000, "[" * 5_000 + "]" * 5_000])
def test_json_that_is_nested_without_end(deep: str) -> None:
    assert read_trajectories(deep).format == "raw text"


def test_runs_within_runs_without_end_are_cut() -> None:
    run: dict[str, object] = {
        "id": "r",
        "run_type": "llm",
        "trace_id": "t",
        "inputs": {"input": "x"},
        "outputs": {},
    }
    for number in range(120):
        run = {
            "id": str(number),
            "run_type": "chain",
            "trace_id": "t",
            "child_runs": [run],
            "inputs": {"input": "x"},
        }
    assert read_trajectories(json.dumps(run)).trajectories


def test_fences_that_never_end_take_no_longer_than_their_text() -> None:
    begun = time.monotonic()
    assert read_trajectories("```a\nx\n" * 50_000).format == "raw text"
    assert time.monotonic() - begun < 20
