"""The house: who may import whom, what loads when, and what never appears."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory_core

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = sorted((ROOT / "memory_core").rglob("*.py"))
PAGES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
HEAVY = {
    "torch", "transformers", "sentence_transformers", "sklearn", "scipy", "umap", "plotly",
    "pandas", "bm25s", "Stemmer", "streamlit", "pydantic_ai", "openai", "anthropic", "numba",
}  # fmt: skip
OF_OUR_OWN = HEAVY - {"pandas"}
"""What nothing else loads for us: DuckDB loads pandas at its first statement, where it is there."""
PAGES_MAY_IMPORT = {"pages", "streamlit", "plotly", "pandas", "numpy"} | sys.stdlib_module_names


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def imports(file: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of each import in a file; the name is empty for `import module`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((module, alias.name) for alias in node.names)


def test_imports_point_down(monkeypatch: pytest.MonkeyPatch):
    from importlinter.cli import lint_imports

    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT))
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_every_module_has_its_place_among_the_layers():
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    placed = {module.strip() for layer in layers for module in layer.split("|")}
    parts = {f"memory_core.{file.relative_to(ROOT / 'memory_core').parts[0]}" for file in LIBRARY}
    assert {part.removesuffix(".py") for part in parts} - {"memory_core.__init__"} <= placed


def test_only_the_store_imports_duckdb():
    importers = {
        name_of(file)
        for file in (*LIBRARY, *PAGES)
        if any(module.split(".")[0] == "duckdb" for module, _ in imports(file))
    }
    assert importers
    assert all(name.startswith("memory_core/store/") for name in importers)


@pytest.mark.parametrize("file", PAGES, ids=name_of)
def test_pages_use_the_public_names_only(file: Path):
    for module, name in imports(file):
        package = module.split(".")[0]
        if package == "memory_core":
            assert module == "memory_core"
            assert name in memory_core.__all__
        else:
            assert package in PAGES_MAY_IMPORT


def test_every_public_name_is_there():
    assert all(hasattr(memory_core, name) for name in memory_core.__all__)
    assert sorted(set(memory_core.__all__)) == sorted(memory_core.__all__)


def loaded_after(code: str) -> set[str]:
    """The top-level modules that a fresh process has loaded after some code."""
    code += "\nimport sys; print(*{name.split('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_importing_the_library_loads_nothing_heavy():
    assert not HEAVY & loaded_after("import memory_core")


def test_nor_does_using_it_without_a_model(tmp_path: Path):
    code = f"""
from memory_core import Add, Batch, HashEmbedder, MemoryBank
bank = MemoryBank.open({str(tmp_path / "bank.duckdb")!r}, embedder=HashEmbedder())
bank.commit(bank.plan(Batch([Add("Use uv.", "tool", "python")])))
found = bank.retrieve("uv")
bank.record_outcome(found, improved=True, applied=[1])
found.why_not(1), bank.history(1), bank.infer_domains("uv")
"""
    assert not OF_OUR_OWN & loaded_after(code)


def test_a_saved_query_needs_no_model(tmp_path: Path):
    """Whoever saved it had one; its vector comes from the file."""
    code = f"""
from memory_core import MemoryBank, MiniLMEmbedder
import numpy as np

class Counting(MiniLMEmbedder):
    def embed(self, texts):
        return np.eye(384, dtype=np.float32)[[len(text) for text in texts]]

path = {str(tmp_path / "bank.duckdb")!r}
MemoryBank.open(path, embedder=Counting()).save_query("rebase")
found = MemoryBank.open(path, embedder=MiniLMEmbedder()).retrieve("rebase")
"""
    assert not OF_OUR_OWN & loaded_after(code)


@pytest.mark.parametrize("file", PAGES, ids=name_of)
def test_no_page_lets_html_through(file: Path):
    assert "unsafe_allow_html" not in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", [*LIBRARY, *PAGES], ids=name_of)
def test_nothing_is_evaluated_or_unpickled(file: Path):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"eval", "exec", "compile", "__import__"}
    modules = {module.split(".")[0] for module, _ in imports(file)}
    assert not modules & {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
    allowed = re.search(r"allow_pickle\s*=\s*True", file.read_text(encoding="utf-8"))
    assert allowed is None


@pytest.mark.parametrize("file", LIBRARY, ids=name_of)
def test_modules_are_named_for_an_idea(file: Path):
    vague = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc"}
    assert not vague & set(file.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("file", LIBRARY, ids=name_of)
def test_every_module_says_what_it_holds(file: Path):
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
