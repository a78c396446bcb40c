"""A model by a string; what it does when something fails; and that no key is ever shown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_core import MissingDependencyError, ReflectionError
from memory_core.language_models import check_connection, language_model
from memory_core.language_models.local import local_server, stop_local_servers
from memory_core.language_models.requests import Asked, Patience
from tests.mcp_clients import in_a_loop
from tests.model_servers import ModelServer, Reply, failure, lessons, serving
from tests.small_model import small_model

KEY = "k3y-that-looks-like-no-other-7731"
QUICK = Patience(timeout=10, first_wait=0.01)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC", "OLLAMA"):
        for what in ("API_KEY", "BASE_URL"):
            monkeypatch.delenv(f"{name}_{what}", raising=False)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(Reply(text="ready")) as started:
        yield started


def asked(
    server: ModelServer, spec: str = "openai:some-model", patience: Patience = QUICK
) -> Asked:
    return Asked(language_model(spec, server.url), spec, patience)


def ask(server: ModelServer, spec: str = "openai:some-model", patience: Patience = QUICK) -> str:
    from pydantic_ai.messages import ModelRequest

    one = asked(server, spec, patience)
    try:
        response = one.ask([ModelRequest.user_text_prompt("Are you there?")], max_tokens=50)
    finally:
        one.close()
    return response.text or ""


# -- names, addresses, keys ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("openai:some-model", "/v1/chat/completions"),
        ("anthropic:claude-haiku-4-5", "/v1/messages"),
        ("ollama:llama3.2", "/v1/chat/completions"),
    ],
)
def test_each_provider_is_reached_by_its_own_language(
    server: ModelServer, spec: str, path: str
) -> None:
    assert ask(server, spec) == "ready"
    assert server.requests[0].path == path
    assert server.requests[0].body["model"] == spec.partition(":")[2]


@pytest.mark.parametrize("slash", ["", "/", "/v1", "/v1/"])
def test_an_address_may_end_with_or_without_the_version(server: ModelServer, slash: str) -> None:
    for spec in ("openai:x", "ollama:x", "anthropic:claude-haiku-4-5"):
        check_connection(spec, server.url + slash)
    assert {request.path for request in server.requests} == {
        "/v1/chat/completions", "/v1/messages",
    }  # fmt: skip


@pytest.mark.parametrize("spec", ["", "gpt-5", "openai:", ":x", "  "])
def test_a_string_that_names_no_model_is_refused_with_the_form(spec: str) -> None:
    with pytest.raises(ReflectionError, match=r"provider:name.*openai:"):
        language_model(spec)


def test_an_unknown_provider_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ReflectionError, match="ollama"):
        language_model("nobody:model")


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://host/v1", "http://", "http://host:port/", "file:///etc/passwd"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ReflectionError, match="address"):
        language_model("openai:x", url)


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(ReflectionError) as caught:
        language_model("openai:x", "https://me:hunter22@host/v1")
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "variable"),
    [("openai:gpt-5", "OPENAI_API_KEY"), ("anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY")],
)
def test_a_missing_key_is_told_by_the_name_of_its_variable(spec: str, variable: str) -> None:
    with pytest.raises(ReflectionError, match=variable):
        language_model(spec)


def sent_key(server: ModelServer) -> str:
    headers = server.requests[-1].headers
    return headers.get("x-api-key", "") or headers.get("authorization", "")


@pytest.mark.parametrize("spec", ["openai:x", "anthropic:claude-haiku-4-5", "ollama:x"])
def test_a_key_comes_from_the_environment_or_from_the_caller(
    server: ModelServer, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_connection(spec, server.url)
    assert KEY not in sent_key(server)
    check_connection(spec, server.url, api_key=lambda: KEY)
    assert KEY in sent_key(server)
    monkeypatch.setenv(f"{spec.partition(':')[0].upper()}_API_KEY", KEY)
    check_connection(spec, server.url)
    assert KEY in sent_key(server)


def test_a_key_of_the_environment_does_not_leave_the_machine_unencrypted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    outside = language_model("openai:x", "http://models.example:8000/v1")
    assert KEY not in outside.client.api_key  # type: ignore[attr-defined]
    secret = language_model("openai:x", "http://models.example:8000/v1", api_key=lambda: KEY)
    assert KEY not in secret.client.api_key  # type: ignore[attr-defined]
    meant = language_model("openai:x", "http://models.example:8000/v1", api_key=KEY)
    assert meant.client.api_key == KEY  # type: ignore[attr-defined]
    encrypted = language_model("openai:x", "https://models.example/v1")
    assert encrypted.client.api_key == KEY  # type: ignore[attr-defined]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_key_is_shown_even_where_the_server_repeats_it(status: int) -> None:
    with serving(failure(status, f"{KEY} and sk-proj-abcdefghijklmnop0123 are wrong")) as server:
        model = language_model("openai:x", server.url, api_key=KEY)
        with pytest.raises(ReflectionError) as caught:
            check_connection("openai:x", server.url, api_key=KEY)
    shown = "".join(traceback.format_exception(caught.value)) + repr(model)
    assert KEY not in shown
    assert "abcdefghijklmnop0123" not in shown
    assert "masked" in shown


# -- failures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["openai:x", "anthropic:claude-haiku-4-5", "ollama:x"])
@pytest.mark.parametrize(
    ("reply", "words", "requests"),
    [
        (failure(401), "refused the key", 1),
        (failure(403), "refused the key", 1),
        (failure(404), "There is no model", 1),
        (failure(429), "limits the rate after 4 attempts", 4),
        (failure(429, retry_after="3600"), "3600 seconds", 1),
        (failure(500), "failed after 4 attempts", 4),
        (failure(503), "failed after 4 attempts", 4),
        (failure(400, "maximum context length is 4096 tokens"), "cannot read that much", 1),
        (failure(422), "does not take the request", 1),
        (Reply(text="ready", cut=True), "broke off after 2 attempts", 2),
        (Reply(body=b"<html>Welcome!</html>"), "no reply", 1),
        (Reply(body=b'{"hello": 1}'), "no reply", 1),
        (Reply(body=b"[]"), "no reply", 1),
        (Reply(body=b""), "no reply", 1),
    ],
)
def test_every_failure_ends_in_a_sentence(
    spec: str, reply: Reply, words: str, requests: int
) -> None:
    with serving(reply) as server:
        with pytest.raises(ReflectionError, match=words):
            ask(server, spec)
        assert len(server.requests) == requests


@pytest.mark.parametrize("spec", ["openai:x", "anthropic:claude-haiku-4-5"])
def test_what_passes_is_tried_again(spec: str) -> None:
    busy = failure(429, retry_after_ms="20")
    with serving(busy, failure(500), busy, Reply(text="ready")) as server:
        assert ask(server, spec) == "ready"
        assert len(server.requests) == 4


def test_a_server_that_is_not_there_is_told_by_its_place() -> None:
    with serving() as gone:
        url = gone.url
    with pytest.raises(ReflectionError, match=rf"cannot be reached at {url[7:]}"):
        check_connection("openai:x", url)


def test_an_answer_that_takes_too_long_is_not_waited_for() -> None:
    with serving(Reply(text="ready", delay=5)) as server:
        with pytest.raises(ReflectionError, match=r"did not answer within 0\.2 seconds"):
            ask(server, patience=Patience(timeout=0.2))
        assert len(server.requests) == 1


def test_who_waits_may_stop() -> None:
    from pydantic_ai.messages import ModelRequest

    def stop(doing: str) -> None:
        if server.requests:
            raise InterruptedError(doing)

    with serving(Reply(text="ready", delay=5), Reply(text="ready")) as server:
        with pytest.raises(InterruptedError, match="waiting for openai:some-model"):
            asked(server).ask([ModelRequest.user_text_prompt("?")], max_tokens=5, waiting=stop)
        assert ask(server) == "ready"


def test_a_model_may_be_asked_from_within_an_event_loop(server: ModelServer) -> None:
    said = []

    async def within() -> None:
        said.append(check_connection("openai:x", server.url))

    in_a_loop(within)
    assert "openai:x answers" in said[0]


def test_no_proxy_stands_before_this_machine(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert check_connection("openai:x", server.url).startswith("openai:x answers")


def test_any_reply_at_all_is_a_connection() -> None:
    with serving(lessons(finish="length")) as server:
        assert "answers" in check_connection("openai:x", server.url)


# -- models on this machine ----------------------------------------------------------------------


def test_a_file_that_cannot_be_a_model_is_told_before_anything_starts(tmp_path: Path) -> None:
    words = tmp_path / "words.gguf"
    words.write_text("This is no model.")
    for path, told in (
        (tmp_path / "none.gguf", "is not there"),
        (tmp_path, "is a folder"),
        (words, "is no GGUF file"),
    ):
        with pytest.raises(ReflectionError, match=told):
            language_model(f"local:{path}")


def test_without_llama_cpp_its_install_line_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF and so on")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # as if it were not installed
    with pytest.raises(MissingDependencyError, match=r'pip install "winnow-memory\[local\]"'):
        language_model(f"local:{file}")


@pytest.mark.long
def test_a_damaged_model_is_told(tmp_path: Path) -> None:
    whole = small_model()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole.read_bytes()[:2_000_000])
    noise = tmp_path / "noise.gguf"
    noise.write_bytes(b"GGUF" + os.urandom(4000))
    for file in (cut, noise):
        with pytest.raises(ReflectionError, match="could not load"):
            language_model(f"local:{file}")


@pytest.mark.long
def test_a_local_model_has_one_server_until_it_is_stopped() -> None:
    spec = f"local:{small_model()}"
    assert "answers" in check_connection(spec, timeout=120)
    first = local_server(small_model())
    assert "answers" in check_connection(spec, timeout=120)
    assert local_server(small_model()) is first
    stop_local_servers()
    assert not first.alive
    again = local_server(small_model())
    assert again.alive
    assert again.process.pid != first.process.pid
    again.process.kill()  # as when the machine runs out of memory
    again.process.wait()
    assert "answers" in check_connection(spec, timeout=120)
    stop_local_servers()


@pytest.mark.long
def test_a_local_model_answers_only_who_knows_its_key() -> None:
    server = local_server(small_model())
    try:
        with pytest.raises(ReflectionError, match="refused the key"):
            check_connection("openai:x", server.url, api_key="another")
        assert server.key not in repr(server)
    finally:
        stop_local_servers()


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks processes up in /proc")
def test_a_local_model_does_not_outlive_who_started_it() -> None:
    program = (
        "import sys, time; from memory_core.language_models.local import local_server\n"
        "print(local_server(sys.argv[1]).process.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(small_model())], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert Path(f"/proc/{child}").exists()
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    _until_gone(child)


def _until_gone(pid: int) -> None:
    for _ in range(600):
        stat = Path(f"/proc/{pid}/stat")
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return  # dead; only nobody has asked how it ended
        except FileNotFoundError:
            return
        time.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")
