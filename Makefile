# Two commands for a person: `make demo` and `make test`. Uses uv where it is, else venv + pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo test check bench soak clean install
install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
ifdef UV
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[dev]'
else
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
endif
	@touch $@

demo: $(STAMP)
	$(BIN)/python -m benchmarks.demo

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright --level error
	$(BIN)/lint-imports --no-cache

test: check
	$(BIN)/python -m pytest -m "not soak"

soak: $(STAMP)
	$(BIN)/python -m pytest -m soak

bench: $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
