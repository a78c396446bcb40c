# `make run` and `make test` need Python 3.11+ and make, and nothing else.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test check bench clean

run: .venv/.dashboard
	$(BIN)/winnow run

# Three workers on two cores: browser tests wait more than they work. By file, as files share banks.
test: .venv/.dev
	$(BIN)/python -m pytest -n 3 --dist loadfile

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
	touch $@

clean:
	rm -rf .venv
