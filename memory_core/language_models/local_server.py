"""The program that serves one GGUF file until its input ends; `local.py` starts it.

Run as a file, not as a module: it needs nothing of the library. A process of its own, so that a
model that crashes or runs out of memory takes nothing else with it; and as its input ends with
its parent's life, it never outlives that, however it ended.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO
from urllib.request import ProxyHandler, Request, build_opener


def main() -> None:
    """Read a line of JSON (path, key, context), answer one (url, context; or error), and serve."""
    wanted: dict[str, Any] = json.loads(sys.stdin.readline())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # llama.cpp may write there whatever it likes
    try:
        served = _serve(wanted)
    except Exception as error:
        _tell(answers, {"error": f"{type(error).__name__}: {error}"})
        return
    url = served.listening_address
    _tell(answers, {"url": url, "context": _context(url, wanted)})
    sys.stdin.read()
    # Without the destructors: they wait for the requests that are still being answered.
    os._exit(0)


def _serve(wanted: dict[str, Any]) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = wanted["path"]
    parameters.n_ctx = wanted["context"]
    parameters.n_parallel = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    # Any page in a browser on this machine could ask a server without a key.
    parameters.api_keys = [wanted["key"]]
    parameters.endpoint_slots = False
    parameters.ui = False
    parameters.verbosity = 0
    return xllamacpp.Server(parameters)


def _context(url: str, wanted: dict[str, Any]) -> int:
    """Tokens that the model reads: what was wanted, or what it was trained for, if that is less."""
    request = Request(f"{url}/v1/models", headers={"Authorization": f"Bearer {wanted['key']}"})
    # Not through a proxy, whatever the environment says: it is this very process.
    with build_opener(ProxyHandler({})).open(request, timeout=30) as response:
        known = json.load(response)["data"][0].get("meta") or {}
    sizes = (wanted["context"], known.get("n_ctx"), known.get("n_ctx_train"))
    return min(size for size in sizes if isinstance(size, int) and size > 0)


def _tell(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
