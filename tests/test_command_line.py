"""What holds for all commands of `winnow`: where they print, JSON, how they end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from memory_core import Add, Batch, MemoryBank, write_memories
from memory_core.cli import app
from memory_core.places import data
from tests.commands import Winnow, call_elsewhere
from tests.conftest import Filled

COMMANDS = ("run", "demo", "retrieve", "add", "review", "outcome", "reflect", "compress", "map",
            "export", "import", "audit", "history", "undo", "reembed", "mcp")  # fmt: skip
SERVERS = {"run", "mcp"}
"""They print no result: one opens a page, and the output of the other is a protocol."""


@pytest.fixture
def lessons(filled: Filled) -> MemoryBank:
    return filled(_lessons)


def _lessons(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add("Rebase with --onto to move a branch.", "tool", "git"),
        Add("Count the rows before and after a join.", "procedural", "data"),
    ], "two lessons")))  # fmt: skip
    bank.propose(Batch([Add("Look at 3 logs.", "tool", "ops")]))
    bank.record(bank.retrieve("branch"))
    bank.fit_map()


def calls(bank: MemoryBank, folder: Path) -> dict[str, tuple[object, ...]]:
    """A good call of each command that prints a result."""
    file = folder / "lessons.jsonl"
    file.write_bytes(write_memories(bank.snapshot(), "winnow").content)
    log = sorted((data() / "trajectories").iterdir())[0]
    return {
        "retrieve": ("a branch",),
        "outcome": (bank.retrievals()[0].id, "--improved", "--applied", "G0"),
        "reflect": (log,),
        "add": ("Look twice at 2 things.", "--kind", "tool", "--domain", "x"),
        "review": (),
        "audit": (),
        "compress": (),
        "map": (),
        "import": (file, "--dry-run"),
        "export": (),
        "history": (),
        "undo": (1, "--dry-run"),
        "reembed": (),
    }


def test_all_commands_are_there_and_each_says_what_it_does() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert set(COMMANDS) <= set(commands)
    assert all(command.help for command in commands.values())


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - SERVERS - {"demo"}))
def test_json_is_one_document_and_nothing_else_is_on_the_output(
    winnow: Winnow, lessons: MemoryBank, tmp_path: Path, name: str
) -> None:
    words = calls(lessons, tmp_path)[name]
    ended = winnow(name, *words, "--json")
    assert ended.returncode in ({0, 3} if name in {"audit", "import"} else {0}), ended.stderr
    json.loads(ended.stdout, parse_constant=pytest.fail)  # no NaN, which is no JSON
    assert winnow(name, *words).stdout


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - SERVERS - {"demo"}))
def test_an_error_is_one_sentence_or_one_document_on_the_error_output(
    winnow: Winnow, lessons: MemoryBank, tmp_path: Path, name: str
) -> None:
    words, gone = calls(lessons, tmp_path)[name], str(tmp_path / "gone.duckdb")
    told = winnow(name, *words, WINNOW_BANK=gone)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("winnow: ")
    assert gone in told.stderr
    document = winnow(name, *words, "--json", WINNOW_BANK=gone)
    assert (document.returncode, document.stdout) == (1, "")
    error = json.loads(document.stderr)
    assert error["error"].endswith("Error")
    assert f"winnow: {error['message']}\n" == told.stderr
    assert not Path(gone).exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_wrong_usage_ends_with_two(winnow: Winnow, lessons: MemoryBank, name: str) -> None:
    ended = winnow(name, "--no-such-option")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--no-such-option" in ended.stderr


@pytest.mark.parametrize(
    "words",
    [("bogus", "--json"), ("retrieve", "--json"), ("history", "--last", "0", "--json"),
     ("add", "x", "--kind", "odd", "--domain", "x", "--json"),
     ("compress", "--yes", "--dry-run", "--json"), ("audit", "--rule", "odd", "--json")],
)  # fmt: skip
def test_wrong_usage_is_a_document_for_who_asked_for_json(
    winnow: Winnow, lessons: MemoryBank, words: tuple[str, ...]
) -> None:
    ended = winnow(*words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert json.loads(ended.stderr)["error"] == "UsageError"
    assert json.loads(ended.stderr)["message"]


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_a_fault_of_winnow_itself_is_a_sentence_too(
    winnow: Winnow, lessons: MemoryBank, monkeypatch: pytest.MonkeyPatch, json_too: tuple[str, ...]
) -> None:
    def broken(bank: MemoryBank) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(MemoryBank, "revisions", broken)
    ended = winnow("history", *json_too)
    assert (ended.returncode, ended.stdout) == (70, "")
    assert "ZeroDivisionError: by nothing" in ended.stderr
    assert "Traceback" not in ended.stderr
    monkeypatch.setenv("WINNOW_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        winnow("history", *json_too)


def test_a_full_document_tells_what_a_format_cannot_hold(
    winnow: Winnow, lessons: MemoryBank, tmp_path: Path
) -> None:
    told = winnow("export", "--format", "grpo", "--json").json
    content = write_memories(lessons.snapshot(), "grpo")
    assert told["content"] == content.content.decode()
    assert told["lost"] == list(content.lost) != []
    file = tmp_path / "out.parquet"
    told = winnow("export", "--format", "winnow-parquet", "-o", file, "--json").json
    assert (told["content"], told["output"]) == (None, str(file))
    refused = winnow("export", "--format", "winnow-parquet", "--json")
    assert (refused.returncode, refused.stdout) == (1, "")


def test_an_import_that_leaves_something_out_ends_with_three(
    winnow: Winnow, bank: MemoryBank, tmp_path: Path
) -> None:
    file = tmp_path / "state.json"
    file.write_text(json.dumps({"G0": "Look at 2 logs.", "G1": "word " * 40}), encoding="utf-8")
    assert winnow("import", file).returncode == 3
    assert len(bank.snapshot()) == 1


@pytest.mark.long
def test_a_process_of_its_own_has_a_clean_output(
    lessons: MemoryBank, winnow_environment: dict[str, str]
) -> None:
    ended = call_elsewhere(("history", "--json"), winnow_environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [one["number"] for one in json.loads(ended.stdout)] == [1]
    ended = call_elsewhere(("undo", 9), winnow_environment)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no revision 9" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_reader_that_has_seen_enough_is_no_error(
    bank: MemoryBank, winnow_environment: dict[str, str], unbuffered: str
) -> None:
    """As `winnow export | head -1` does, with more than a pipe holds."""
    import fcntl

    bank.commit(bank.plan(Batch([
        Add(f"Lesson {i} of many, which fill a pipe.", "tool", "git") for i in range(900)
    ])))  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_core.cli", "export"],
        env={**os.environ, **winnow_environment, "PYTHONUNBUFFERED": unbuffered},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    if hasattr(fcntl, "F_SETPIPE_SZ"):  # 64 KB, where a system gives more than that
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 65_536)
    assert process.stdout.readline().startswith(b"{")
    process.stdout.close()
    assert process.wait(120) == 141
    assert process.stderr.read() == b""


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("words", [("export",), ("history", "--json"), ("--help",)])
def test_an_output_that_takes_nothing_is_told(
    lessons: MemoryBank, winnow_environment: dict[str, str], words: tuple[str, ...]
) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123 - it is no file of ours
        ended = subprocess.run(
            [sys.executable, "-m", "memory_core.cli", *words],
            env={**os.environ, **winnow_environment},
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=240,
        )  # fmt: skip
    assert ended.returncode == 1
    assert "No space left on device" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error_and_nothing_is_written_into_the_bank_for_them(
    lessons: MemoryBank, winnow_environment: dict[str, str], closed: str
) -> None:
    words = "add 'Close 3 streams.' --kind tool --domain shell"
    ended = subprocess.run(
        ["sh", "-c", f'"$0" -m memory_core.cli {words} {closed}', sys.executable],
        env={**os.environ, **winnow_environment}, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Close 3 streams." in {memory.text for memory in lessons.snapshot()}


@pytest.mark.long
def test_a_shell_completes_commands_and_options(winnow_environment: dict[str, str]) -> None:
    def completed(line: str) -> set[str]:
        words = line.split(" ")
        environment = {**winnow_environment, "_WINNOW_COMPLETE": "complete_bash",
                       "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}  # fmt: skip
        return set(call_elsewhere((), environment).stdout.split())

    assert completed("winnow re") == {"retrieve", "reflect", "review", "reembed"}
    assert completed("winnow compress --strategy h") == {"hybrid"}
