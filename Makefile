# Two commands for a person: `make demo` and `make test`. Uses uv where it is, else venv + pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
UV := $(shell command -v uv 2>/dev/null)

ifdef UV
NEW_VENV = $(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
INSTALL = $(UV) pip install --quiet --python $(BIN)/python -c constraints.txt
else
NEW_VENV = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
endif

.PHONY: screenshots demo test tests check bench soak clean install
install: $(RUN)

# What running needs, and apart from it what developing needs: the demo shall not wait for type checkers.
$(RUN): pyproject.toml constraints.txt
	$(NEW_VENV)
	$(INSTALL) -e .
	@touch $@

$(DEV): $(RUN)
	$(INSTALL) -e '.[dev]'
	@touch $@

demo: $(RUN)
	$(BIN)/python -m benchmarks.demo

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright --level error
	$(BIN)/lint-imports --no-cache

test: $(DEV)
	$(MAKE) -j 2 check tests

# Most process tests wait more than they work: five at a time keep two cores busy. What is compiled is kept, whatever
# the environment says, and compiled once: each of the five would do it else.
tests: export PYTHONDONTWRITEBYTECODE =
tests: $(DEV)
	$(BIN)/python -m pytest --collect-only -q -m "not soak" > $(VENV)/.collected || { cat $(VENV)/.collected; exit 1; }
	$(BIN)/python -m pytest -m "not soak" -n 5 --dist worksteal

soak: $(DEV)
	$(BIN)/python -m pytest -m soak

screenshots: $(DEV)
	$(INSTALL) -e '.[browser]'
	$(BIN)/python -m benchmarks.screenshots

bench: $(DEV)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
