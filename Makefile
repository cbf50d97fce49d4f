# Everything runs in .venv, which the first command makes. `make help` lists the commands.

# Cached bytecode halves the time of a command, and the tests start hundreds of them; some machines
# disable it.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3.14 python3,$(if $(shell command -v $(name)),$(name))))
# One more test process than cores, because tests of servers wait for a fifth of their time.
# WORKERS=0 runs all tests in one process, for a debugger.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS ?= $(shell expr 1 + $(CORES))
PYTEST_ARGS ?=
# Each process gets a contiguous part of the tests, so that few fixtures of a module are made twice.
# A process that has finished takes tests from another one.
PARALLEL = -n $(WORKERS) --dist worksteal
# For a few tests that mostly wait, for downloads or for servers that they kill: each has its own
# process. WORKERS=0 shows the output of a campaign while it runs.
TOGETHER = -n $(if $(filter 0,$(WORKERS)),0,3)
# Slow tests wait for processes that start, are killed and lose their connections.
WAITING = -n $(if $(filter 0,$(WORKERS)),0,4)
IN_MEMORY = -p tests.support.in_memory
# For campaigns in which one test takes as long as its setting says: no limit fits every setting.
UNLIMITED := -o faulthandler_timeout=0
REALISATIONS ?= 2
# The clients for `make clients` and `make conformance`; empty: all.
LANGUAGES ?=
DEMO_ARGS ?=
# Address at which `make demo-web` shows the competition.
WEB ?= 127.0.0.1:8080
# Folder of the demo's data, for the commands that it suggests at its end.
DEMO_FILES := build/demo
# The number of times that `make crash-test` kills the server, and the seed of its random numbers.
CRASHES ?= 12
SEED ?= 0
# The campaign of tests/campaigns that `make robustness` runs (empty: all), and its duration as a
# multiple of that in CI.
CAMPAIGN ?=
EFFORT ?= 1
# The number of submissions that `make chaos-test` sends through a bad network.
CHAOS_LIVES ?= 40

VENV := .venv
BIN := $(VENV)/bin
KERNELS := evaluators/vidscore_evaluators/kernels
LOOPS := $(KERNELS)/loops.so
# Marks that users' requirements are installed, and that the developers' are, in one environment.
USABLE := $(VENV)/.usable
ENVIRONMENT := $(VENV)/.installed
INSTALLED := $(ENVIRONMENT) $(LOOPS)
LOWEST := build/lowest-venv
BENCH := build/bench-venv
BROWSER := build/browser
BROWSER_ENVIRONMENT := $(BROWSER)/.installed
INTEGRATIONS := build/integrations
RELEASE := build/release
SITE_TOOLS := tools/docs_site
SITE := build/site-venv
SITE_ENVIRONMENT := $(SITE)/.installed
BENCH_ENVIRONMENT := $(BENCH)/.installed
BENCH_INSTALLED := $(BENCH_ENVIRONMENT) $(LOOPS)
# The fuzzer, outside the environment: it does not exist for every Python, and nothing else needs it.
FUZZER := build/fuzz
FUZZER_INSTALLED := $(FUZZER)/.installed
CASE ?= spotgeo
BENCH_ARGS ?=
BASELINE := protos/vidscore/baseline.binpb

# Long or network-bound checks, each at its short setting; `make campaigns` runs them all.
CAMPAIGNS := test-trust test-loops test-lowest test-installs test-image test-browser attack-test \
	crash-test chaos-test robustness clients conformance
# Run in parallel: the type checker uses one processor and takes as long as all others together.
CHECKS := check-types check-style check-imports check-protos check-generated check-wheels
# The steps of `.ci/run` after the suite. The other campaigns run only at night, as do the parts that
# these leave out. Tests that wait run in parallel: `faults` and `packages` join several campaigns.
GATE := test-slow conformance faults packages test-browser
# Campaigns that take even longer and check code that rarely changes; not in CI.
LONG_CAMPAIGNS := test-nightly planted-test sanitize-clients conformance-defaults test-pythons \
	test-release test-integrations
# If set, as by the nightly run: the gate's campaigns run with the parts that the gate leaves out.
EVERY ?=
IN_GATE = campaign$(if $(EVERY),, and not nightly)
# The Pythons on which `make test-pythons` runs the suite.
PYTHONS ?=
# The campaigns that `make nightly` runs; empty: all.
NIGHTLY ?=
# If set, it continues the last run that was stopped.
RESUME ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv lock loops demo demo-web docs trust-study attack-study test test-slow faults packages bench bench-quick bench-scale profile check docs-site format release proto proto-baseline proto-dependencies campaigns nightly gate-names prebuild clean \
	$(CAMPAIGNS) long-campaigns $(LONG_CAMPAIGNS) $(CHECKS)

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- the environment -------------------------------------------------------------------------

# CI tests the versions of requirements.lock; elsewhere the newest compatible ones are installed.
LOCKED := $(if $(filter true,$(CI)),--locked)
INSTALL_INPUTS := requirements.lock pyproject.toml hatch_build.py clients/python/pyproject.toml \
	clients/python/vidscore_client/_version.py tools/bootstrap.py
LOOPS_INPUTS := hatch_build.py $(wildcard $(KERNELS)/*.[ch])
# The project with all of its extras.
EVERYTHING := '.[server,postgresql,video,web,plot,parquet,dataframes,mqtt,mcap,nats,kafka,dask,s3]'
HAS_PYTHON = test -n "$(PYTHON)" || { echo "no python3 found; name one: make PYTHON=/path/to/python3.11" >&2; exit 1; }

venv: $(INSTALLED) ## make .venv, or bring it up to date

$(USABLE): $(INSTALL_INPUTS) $(LOOPS_INPUTS)
	@$(HAS_PYTHON)
	@echo "Installing vidscore into $(VENV); this machine stays as it is otherwise"
	@$(PYTHON) tools/bootstrap.py $(VENV) --editable ./clients/python --editable '.[server,web]'
	@touch $@

$(ENVIRONMENT): $(INSTALL_INPUTS)
	@$(HAS_PYTHON)
	@echo "Installing vidscore and what develops it into $(VENV)"
	@$(PYTHON) tools/bootstrap.py $(VENV) $(LOCKED) --editable ./clients/python --editable $(EVERYTHING) --group dev
	@touch $(USABLE) $@

# For every platform. It names no package index: installers choose their own.
lock: $(ENVIRONMENT) ## update requirements.lock and the requirements of the docs site to the newest compatible versions
	@build/uv/bin/uv pip compile --quiet --upgrade pyproject.toml --no-sources --all-extras \
		--group dev --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--no-emit-package vidscore-client --output-file requirements.lock
	@build/uv/bin/uv pip compile --quiet --upgrade $(SITE_TOOLS)/requirements.in --universal \
		--python-version 3.11 --generate-hashes --no-header --no-annotate \
		--output-file $(SITE_TOOLS)/requirements.txt

loops: $(ENVIRONMENT) ## compile the C loops; other commands do this if a source has changed
	@$(BIN)/python hatch_build.py

$(LOOPS): $(LOOPS_INPUTS) | $(ENVIRONMENT)
	@$(BIN)/python hatch_build.py

# --- for users -------------------------------------------------------------------------------

demo: $(USABLE) ## two simulated systems stream to a running server and get their scores
	@$(BIN)/vidscore demo --files $(DEMO_FILES) $(DEMO_ARGS)
	@echo "make demo-web shows its competition at an address, in a browser."

demo-web: $(USABLE) ## the same competition on a site, with tokens to sign in, until Ctrl-C
	@$(BIN)/vidscore demo --web $(WEB) $(DEMO_ARGS)

# --- tests -----------------------------------------------------------------------------------

# Without the tests of wheels, which `make check` runs.
test: $(INSTALLED) ## the default suite (WORKERS=n, PYTEST_ARGS="-k name")
	@$(BIN)/python -m pytest $(PARALLEL) $(IN_MEMORY) --ignore tests/packaging/test_wheels.py $(PYTEST_ARGS)

test-slow: $(INSTALLED) ## tests of a second or more, such as kills and restarts; CI runs them, too
	@$(BIN)/python -m pytest $(WAITING) --dist worksteal $(IN_MEMORY) -m "slow and not nightly and not campaign and not lowest" $(PYTEST_ARGS)

# The profile is in tests/conftest.py.
test-nightly: $(INSTALLED) ## long campaign: properties with ten times the examples, and longer variants of tests
	@$(BIN)/python -m pytest $(PARALLEL) $(UNLIMITED) --hypothesis-profile nightly \
		-m "(nightly or hypothesis or not slow) and not campaign and not lowest" $(PYTEST_ARGS)

campaigns: ## every campaign at its short setting
	@failed=; for campaign in $(CAMPAIGNS); do \
		echo "== campaign $$campaign"; \
		$(MAKE) --no-print-directory $$campaign || failed="$$failed $$campaign"; \
	done; test -z "$$failed" || { echo "campaigns that failed:$$failed" >&2; exit 1; }

# Builds that the campaigns of the gate need; each campaign makes what is missing.
prebuild: $(INSTALLED) $(SITE_ENVIRONMENT) $(BROWSER_ENVIRONMENT)
	@for client in clients/*/Makefile; do $(MAKE) --no-print-directory -C $$(dirname $$client) runner; done

# The steps of `.ci/run` after `make check` and `make test`; each has its own time limit.
gate-names:
	@echo $(GATE)

nightly: $(INSTALLED) ## campaigns that take too long for CI (NIGHTLY="crash-test", RESUME=1); writes docs/nightly.md
	@$(BIN)/python -m tools.nightly $(if $(RESUME),--resume) $(NIGHTLY)

# Old releases have warnings that later releases fixed, so warnings are not errors here.
test-lowest: $(INSTALLED) ## campaign: the suite on the oldest supported release of each dependency
	@mkdir -p build
	@$(BIN)/python tools/lower_bounds.py > build/lowest.txt
	@$(PYTHON) tools/bootstrap.py $(LOWEST) \
		--requirement build/lowest.txt --build-constraint build/lowest.txt \
		--editable ./clients/python --editable $(EVERYTHING) --group test
	@$(LOWEST)/bin/python -m pytest -n $(WORKERS) -m "not campaign" -W default \
		--ignore tests/house --ignore tests/docs $(PYTEST_ARGS)

test-pythons: $(INSTALLED) ## long campaign: the suite on other Pythons: PYTHONS="python3.13 /path/to/python3.14"
	@test -n "$(PYTHONS)" || { echo 'name them: make test-pythons PYTHONS="python3.12 python3.13"' >&2; exit 1; }
	@mkdir -p build
	@failed=; for python in $(PYTHONS); do \
		echo "== $$($$python --version)"; environment=build/$$(basename $$python)-venv; \
		$$python tools/bootstrap.py $$environment \
			--editable ./clients/python --editable $(EVERYTHING) --group test && \
		$$environment/bin/python -m pytest -n $(WORKERS) --ignore tests/house --ignore tests/docs $(PYTEST_ARGS) || \
		failed="$$failed $$python"; \
	done; test -z "$$failed" || { echo "Pythons that failed:$$failed" >&2; exit 1; }

# Tests a copy, so that other commands keep the normal library. Guarded arrays are copies, so the
# tests of memory do not apply.
test-loops: $(INSTALLED) ## campaign: the evaluators, with loops that stop at undefined behaviour or access out of bounds
	@rm -rf build/checked && mkdir -p build/checked
	@cp -R evaluators/vidscore_evaluators build/checked/
	@$(BIN)/python hatch_build.py build/checked/vidscore_evaluators/kernels \
		-fsanitize=undefined -fsanitize-trap=undefined
	@PYTHONPATH=$(CURDIR)/build/checked $(BIN)/python -m pytest $(PARALLEL) \
		-m "not campaign and not lowest" -p tests.support.guarded_arrays tests/evaluators \
		--ignore tests/evaluators/masks/test_mask_memory.py \
		$(PYTEST_ARGS)

test-installs: $(INSTALLED) ## campaign: documented ways to install, in a fresh environment (EVERY=1)
	@$(BIN)/python -m pytest $(TOGETHER) -m "$(IN_GATE)" tests/packaging/test_installs.py $(PYTEST_ARGS)

test-image: $(INSTALLED) ## campaign: the Dockerfile's steps, run without Docker, serve and are healthy
	@$(BIN)/python -m pytest -m campaign tests/packaging/test_image.py $(PYTEST_ARGS)

packages: $(INSTALLED) ## test-installs and test-image in parallel (EVERY=1)
	@$(BIN)/python -m pytest $(WAITING) --dist worksteal -m "$(IN_GATE)" tests/packaging/test_installs.py \
		tests/packaging/test_image.py $(PYTEST_ARGS)

# In a separate environment: playwright contains a Node.js of 100 MB, and is not in the lock file.
$(BROWSER_ENVIRONMENT): $(INSTALL_INPUTS)
	@$(HAS_PYTHON)
	@$(PYTHON) tools/bootstrap.py $(BROWSER)/venv --editable ./clients/python --editable $(EVERYTHING) --group test --group browser
	@npm install --silent --no-audit --no-fund --prefix $(BROWSER) axe-core@4.14.1
	@touch $@

# The browser is Debian's, and uses one core per test process.
test-browser: $(INSTALLED) $(BROWSER_ENVIRONMENT) docs-site ## campaign: the pages in Chromium: content, clicks and accessibility by axe (EVERY=1)
	@$(BROWSER)/venv/bin/python -m pytest $(PARALLEL) --maxprocesses $(firstword $(filter 1 2 3,$(CORES)) 4) -m "$(IN_GATE)" tests/browser $(PYTEST_ARGS)

# The integrated packages are large, and FiftyOne is not compatible with the others.
test-integrations: ## long campaign: docs/integrations.md against the real packages
	@$(HAS_PYTHON)
	@for name in requirements requirements-fiftyone; do \
		$(PYTHON) tools/bootstrap.py $(INTEGRATIONS)/$$name --editable ./clients/python --editable '.[server,postgresql,parquet,dataframes]' \
			--group test --requirement tests/integrations/$$name.txt && \
		$(INTEGRATIONS)/$$name/bin/python -m pytest -n 0 -m campaign tests/integrations $(PYTEST_ARGS) || exit 1; \
	done

test-release: $(INSTALLED) ## long campaign: make release in a clone, and the wheels in an empty environment
	@$(BIN)/python -m pytest -n 0 -m campaign tests/packaging/test_release.py $(PYTEST_ARGS)

clients: $(INSTALLED) ## campaign: build and unit-test the client of each language (LANGUAGES="go rust")
	@$(BIN)/python -m tools.clients $(LANGUAGES)

# Prints a line per language to stdout, and the result of each scenario to stderr.
conformance: $(INSTALLED) ## campaign: test every client against one contract (LANGUAGES="go rust", EVERY=1)
	@$(BIN)/python -m tests.conformance $(if $(EVERY),--every) $(LANGUAGES)

long-campaigns: ## every long campaign
	@failed=; for campaign in $(LONG_CAMPAIGNS); do \
		echo "== long campaign $$campaign"; \
		$(MAKE) --no-print-directory $$campaign || failed="$$failed $$campaign"; \
	done; test -z "$$failed" || { echo "long campaigns that failed:$$failed" >&2; exit 1; }

sanitize-clients: $(INSTALLED) ## long campaign: C++ under AddressSanitizer and UBSan, Go under its race detector
	@$(MAKE) --no-print-directory -C clients/cpp sanitize SANITIZER=address,undefined
	@GOFLAGS=-race $(MAKE) --no-print-directory -C clients/go test
	@GOFLAGS=-race $(BIN)/python -m tests.conformance go

conformance-defaults: $(INSTALLED) ## long campaign: default settings detect silent connections
	@$(BIN)/python -m tests.conformance --default-keepalive --scenario silent-connection --scenario silent-score $(LANGUAGES)

# --- speed -----------------------------------------------------------------------------------

bench: $(BENCH_INSTALLED) ## the whole benchmark suite (BENCH_ARGS="--case name"); writes docs/benchmarks.md
	@$(BENCH)/bin/python -m bench --page docs/benchmarks.md $(BENCH_ARGS)

bench-quick: $(BENCH_INSTALLED) ## the shortest run that its goals allow; fails if a goal is newly missed
	@$(BENCH)/bin/python -m bench --quick --page build/benchmarks-quick.md $(BENCH_ARGS)

bench-scale: $(INSTALLED) ## throughput for a Parquet archive by number of workers, in about an hour (BENCH_ARGS="--detections 10000000"); writes docs/scale.md
	@$(BIN)/python -m bench.scale --page docs/scale.md $(BENCH_ARGS)

profile: $(BENCH_INSTALLED) ## where one case of the suite spends its time: CASE=spotgeo
	@$(BENCH)/bin/python -m bench --profile --case $(CASE) $(BENCH_ARGS)

# Peers are in a separate environment, because vidscore does not need them.
$(BENCH_ENVIRONMENT): $(INSTALL_INPUTS) bench/requirements.txt
	@$(HAS_PYTHON)
	@echo "Installing vidscore and its peers into $(BENCH)"
	@$(PYTHON) tools/bootstrap.py $(BENCH) --editable ./clients/python --editable '.[server,postgresql,web]' \
		--requirement bench/requirements.txt
	@touch $@

crash-test: $(INSTALLED) ## campaign: kill the server while clients stream (CRASHES=500, SEED=n)
	@CRASHES=$(CRASHES) SEED=$(SEED) $(BIN)/python -m pytest $(TOGETHER) $(UNLIMITED) -m campaign \
		tests/crash tests/server/domain/test_stateful.py $(PYTEST_ARGS)

chaos-test: $(INSTALLED) ## campaign: the SDK through a network that breaks (CHAOS_LIVES=200)
	@CHAOS_LIVES=$(CHAOS_LIVES) $(BIN)/python -m pytest $(UNLIMITED) -n 0 -m campaign tests/clients/python/test_chaos.py $(PYTEST_ARGS)

# If there is no fuzzer for this Python, the tests that need it are skipped, or fail in CI.
$(FUZZER_INSTALLED): pyproject.toml | $(ENVIRONMENT)
	@mkdir -p $(FUZZER)
	@build/uv/bin/uv pip install --quiet --python $(BIN)/python --target $(FUZZER) --group fuzz \
		|| echo "atheris cannot be installed here: fuzzing is left out" >&2
	@touch $@

robustness: $(INSTALLED) $(FUZZER_INSTALLED) ## campaign: faults of disks and networks, power cuts, races, fuzzed inputs (CAMPAIGN=disk, EFFORT=10, SEED=n)
	@SEED=$(SEED) EFFORT=$(EFFORT) $(BIN)/python -m pytest $(PARALLEL) $(UNLIMITED) -m campaign \
		$(if $(CAMPAIGN),tests/campaigns/test_$(CAMPAIGN).py,--ignore tests/campaigns/test_planted.py tests/campaigns) $(PYTEST_ARGS)

# Tests that share what takes long to make (instrumented readers, a library with a sanitizer, the
# clients) are a group and share a process. The longest campaigns begin first, so that they do not run
# alone at the end, and the many short ones fill the gaps. Long runs against a model are in the nightly
# run; the suites have short ones.
LONGEST_FAULTS := $(addprefix tests/campaigns/test_,sanitized_loops.py network.py fuzzing.py)
FAULTS := $(LONGEST_FAULTS) tests/crash $(filter-out $(LONGEST_FAULTS) %_planted.py,$(wildcard tests/campaigns/test_*.py))
faults: $(INSTALLED) $(FUZZER_INSTALLED) ## crashes of servers and all robustness campaigns, at their short settings
	@CRASHES=$(CRASHES) SEED=$(SEED) EFFORT=$(EFFORT) \
		$(BIN)/python -m pytest $(WAITING) --dist loadgroup --no-loadscope-reorder $(UNLIMITED) -m campaign \
		$(FAULTS) $(PYTEST_ARGS)

planted-test: $(INSTALLED) $(FUZZER_INSTALLED) ## long campaign: each robustness campaign finds the bugs that are planted for it
	@$(BIN)/python -m pytest $(PARALLEL) -m campaign tests/campaigns/test_planted.py $(PYTEST_ARGS)

# Each realisation has 800 scenes; docs/trust.md shows five.
test-trust: $(INSTALLED) ## campaign: compare criteria with the figures of the paper (REALISATIONS=n, WORKERS=n)
	@REALISATIONS=$(REALISATIONS) WORKERS=$(WORKERS) $(BIN)/python -m pytest $(UNLIMITED) -n 0 -m campaign tests/evaluators/trust/test_paper.py $(PYTEST_ARGS)

# The bounds for the gains are the figures of docs/hidden-truth.md.
attack-test: $(INSTALLED) ## campaign: adaptive re-submission gains no more than the documentation says
	@$(BIN)/python -m pytest $(PARALLEL) -m campaign tests/server/domain/test_board_attacks.py $(PYTEST_ARGS)

# --- releases --------------------------------------------------------------------------------

# The bytes of the libraries depend on the compiler, so its version is that of the lock file.
release: ## build all wheels and source distributions into dist/, twice, and check them
	@$(HAS_PYTHON)
	@$(PYTHON) tools/bootstrap.py $(RELEASE)/venv --constraint requirements.lock --group release
	@$(RELEASE)/venv/bin/python -m tools.release

# --- the gate --------------------------------------------------------------------------------

check: $(INSTALLED) ## all static checks
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(CHECKS)

check-style: $(INSTALLED)
	@echo "== ruff"
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .

check-types: $(INSTALLED)
	@echo "== mypy"
	@$(BIN)/mypy --no-error-summary

check-imports: $(INSTALLED)
	@echo "== import-linter"
	@$(BIN)/lint-imports --no-logo

check-protos: proto-dependencies
	@echo "== buf lint, format, breaking"
	@$(BIN)/buf lint
	@$(BIN)/buf format --diff --exit-code protos
	@$(BIN)/buf build --path protos/vidscore --output build/protos.binpb
	@$(BIN)/buf breaking build/protos.binpb --exclude-imports --against $(BASELINE)

check-generated: $(INSTALLED)
	@echo "== generated code"
	@$(BIN)/python -m tools.generate_protos --check

check-wheels: $(INSTALLED)
	@echo "== wheels"
	@$(BIN)/python -m pytest --quiet tests/packaging/test_wheels.py

# --- what developers run ---------------------------------------------------------------------

docs: $(INSTALLED) ## update what is generated from code: tables, outputs and picture of the pages, types of the library
	@$(BIN)/python -m tools.refresh_docs

# Sphinx is in a separate environment, because vidscore does not need it.
$(SITE_ENVIRONMENT): $(INSTALL_INPUTS) $(SITE_TOOLS)/requirements.txt
	@$(HAS_PYTHON)
	@$(PYTHON) tools/bootstrap.py $(SITE) --requirement $(SITE_TOOLS)/requirements.txt
	@$(PYTHON) tools/bootstrap.py $(SITE) --editable ./clients/python --editable '.[server,web]'
	@touch $@

docs-site: $(SITE_ENVIRONMENT) $(LOOPS) ## the documentation as a site with search, in build/site; a dead link is an error
	@$(SITE)/bin/python -m tools.docs_site build/site

trust-study: $(INSTALLED) ## run the study of docs/trust.md and write its figures to the page
	@$(BIN)/python -m tools.trust_study

attack-study: $(INSTALLED) ## attack a board under each policy and write the gains to docs/hidden-truth.md
	@$(BIN)/python -m tools.attack_study --fresh

format: proto-dependencies ## format all sources
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format .
	@$(BIN)/buf format --write protos

proto: $(INSTALLED) ## generate the Python code of the protos
	@$(BIN)/python -m tools.generate_protos

proto-dependencies: $(INSTALLED)
	@$(BIN)/python -m tools.generate_protos --dependencies

# Run only for a release: after it, an incompatible change of the protos fails the gate.
proto-baseline: proto-dependencies ## make the current protos the baseline of the compatibility check
	@$(BIN)/buf build --exclude-source-info --path protos/vidscore --output $(BASELINE)

clean: ## remove everything that was built, including the environment
	rm -rf build dist $(VENV) $(LOOPS)
